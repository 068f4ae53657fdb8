"""Define models of noise, which change labels or features of training rows at a given rate.

A model is a class derived from `Noise`, which is uniform label noise, and has an entry in `parse.MODELS`. Its
instances are immutable, small, hashable and picklable. An object of `Circumstances` tells a model about the
task: the names of its classes, and the rows' distances from a decision boundary.
"""

from __future__ import annotations

from .by_class import ClassNoise, PairNoise
from .features import FeatureNoise
from .margin import MarginNoise, reference_margins
from .parse import noise_of, parse_noise
from .uniform import CLEAN, Circumstances, Noise, WindowNoise

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
    "reference_margins",
]
