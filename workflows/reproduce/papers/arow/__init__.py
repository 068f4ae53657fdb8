"""The paper of Crammer, Kulesza, Dredze (2013), "Adaptive regularization of weight vectors" (AROW)."""

from ...paper import declared
from .claims import CLAIMS
from .exhibits import EXHIBITS

PAPER = declared("arow", EXHIBITS, CLAIMS)
