"""Noise as a value: what is done to the labels, or the rows, that a learner is given, and how it is called.

A model of noise is a class derived from `Noise`, uniform label noise, in a file of its own, and a line in
`parse.MODELS`. Values of noise are small, hashable and picklable; what they need of a task is in
`Circumstances`.
"""

from __future__ import annotations

from .by_class import ClassNoise, PairNoise
from .features import FeatureNoise
from .margin import MarginNoise
from .parse import noise_of, parse_noise
from .uniform import CLEAN, Circumstances, Noise
from .window import WindowNoise

__all__ = [
    "CLEAN",
    "Circumstances",
    "ClassNoise",
    "FeatureNoise",
    "MarginNoise",
    "Noise",
    "PairNoise",
    "WindowNoise",
    "noise_of",
    "parse_noise",
]
