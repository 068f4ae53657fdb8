"""Pair noise: each class is taken for the next one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .uniform import Noise


@dataclass(frozen=True)
class PairNoise(Noise):
    """A label of class k becomes class k + 1, the last one the first, with one probability.

    Of two classes it is uniform noise. Attributes are those of `Noise`.

    Examples
    --------
    >>> noise = PairNoise(0.3)
    >>> noise.slug, noise.short, noise.opening
    ('pair_0.3', '30% pair', 'At 30% pair noise')
    >>> noise.corrupt(np.array([0, 1, 2, 0, 1, 2], np.int32), 3, np.random.RandomState(4)).tolist()
    [0, 1, 2, 0, 1, 0]
    """

    model: ClassVar[str] = "pair"
    place: ClassVar[int] = 2

    def shifts(self, n: int, n_classes: int, rng: np.random.RandomState) -> int:
        """Return 1."""
        return 1
