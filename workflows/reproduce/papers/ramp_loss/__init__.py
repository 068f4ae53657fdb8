"""The paper of Wang and Vucetic (2010), "Fast online training of ramp loss support vector machines"."""

from ...paper import declared
from .claims import CLAIMS
from .exhibits import EXHIBITS
from .measures import PAPER as NAME

PAPER = declared(NAME, EXHIBITS, CLAIMS)
