"""Noise in the features: labels stay, rows change."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .uniform import Circumstances, Codes, Noise

# What is drawn, and the deviations it is scaled by, are rounded to steps far above the last digits that
# mathematical libraries differ in, and far below anything that matters: rows are the same on every machine.
_STEPS = 1 << 20


@dataclass(frozen=True)
class FeatureNoise(Noise):
    """A training row has, with one probability, normal noise added to its features.

    Attributes
    ----------
    rate : float in (0, 1]
        Probability that a row is changed.
    scale : float > 0, default=1.0
        Standard deviation of what is added, in standard deviations of the feature.

    Examples
    --------
    >>> FeatureNoise(0.3, scale=2.0).slug, FeatureNoise(0.3).label
    ('features_0.3_scale=2', '30% features noise')
    """

    scale: float = 1.0

    model: ClassVar[str] = "features"
    place: ClassVar[int] = 5
    relabels: ClassVar[bool] = False

    @property
    def further(self) -> dict[str, Any]:
        """The scale."""
        return {} if self.scale == 1.0 else {"scale": self.scale}

    @property
    def kind(self) -> str:
        """Its model and scale."""
        return self.model if self.scale == 1.0 else f"{self.model} ×{self.scale:.6g}"

    def corrupt(
        self,
        codes: Codes,
        n_classes: int,
        rng: np.random.RandomState,
        about: Circumstances = Circumstances(),  # noqa: B008
    ) -> Codes:
        """Return a copy of the labels."""
        return codes.copy()

    def changed(self, n: int, rng: np.random.RandomState) -> NDArray[np.bool_]:
        """Return which of n rows are changed."""
        return rng.random_sample(n) < self.rate

    def added(self, spread: NDArray[np.float64], n: int, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Return what is added to values.

        Parameters
        ----------
        spread : ndarray of float64, shape (d,)
            Standard deviation of the feature that each value is of.
        n : int
            Rows that have these features.
        rng : numpy.random.RandomState

        Returns
        -------
        ndarray of float64, shape (n, d)
        """
        drawn = np.round(rng.standard_normal((n, len(spread))) * _STEPS) / _STEPS
        return drawn * (self.scale * spread)
