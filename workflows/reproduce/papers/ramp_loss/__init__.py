"""Wang and Vucetic (2010): support vector machines with the ramp loss, online."""

from ...paper import declared
from .claims import CLAIMS
from .exhibits import EXHIBITS
from .measures import PAPER as NAME

PAPER = declared(NAME, EXHIBITS, CLAIMS)
