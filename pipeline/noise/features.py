"""Noise in the features of training rows; labels stay unchanged."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .uniform import UNKNOWN, Circumstances, Codes, Noise

# Random values are rounded to multiples of 1 / _STEPS, so that noise is the same on every machine:
# mathematical libraries differ in much later digits. The rounding is too fine to matter otherwise.
_STEPS = 1 << 20
# Number of rows that get noise at a time, so that temporary arrays take little memory.
_BLOCK = 1 << 12


@dataclass(frozen=True)
class FeatureNoise(Noise):
    """Add normal noise to all features of a training row, with probability `rate` in (0, 1].

    The standard deviation of the noise is `scale` > 0 times that of the feature.
    """

    scale: float = 1.0

    model: ClassVar[str] = "features"
    place: ClassVar[int] = 5
    relabels: ClassVar[bool] = False

    @property
    def further(self) -> dict[str, Any]:
        return {} if self.scale == 1.0 else {"scale": self.scale}

    @property
    def kind(self) -> str:
        return self.model if self.scale == 1.0 else f"{self.model} ×{self.scale:.6g}"

    def corrupt(
        self, codes: Codes, n_classes: int, rng: np.random.RandomState, about: Circumstances = UNKNOWN
    ) -> Codes:
        """Return a copy of the labels, because this noise does not change them."""
        return codes.copy()

    def change_features(self, X: Any, rng: np.random.RandomState) -> NDArray[np.bool_]:
        """Add noise to rows of X in place; return a mask of the changed rows, shape (n,).

        In a CSR matrix only stored values are changed, so that it stays sparse. A row counts as changed if
        noise is drawn for a value whose feature has spread > 0, even if rounding leaves the value as it was.
        """
        drawn = self.drawn(X.shape[0], rng)
        rows = np.flatnonzero(drawn)
        spread = feature_spread(X)
        if isinstance(X, np.ndarray):
            for start in range(0, len(rows), _BLOCK):
                some = rows[start : start + _BLOCK]
                X[some] += self.added(spread, len(some), rng).astype(X.dtype)
            return drawn & (spread > 0).any()
        lengths = np.diff(X.indptr)
        stored = np.repeat(drawn, lengths)
        spreads = spread[X.indices[stored]]
        X.data[stored] += self.added(spreads, 1, rng)[0].astype(X.dtype)
        changed = np.zeros_like(drawn)
        changed[np.repeat(rows, lengths[rows])[spreads > 0]] = True
        return changed

    def drawn(self, n: int, rng: np.random.RandomState) -> NDArray[np.bool_]:
        """Draw at random which of n rows get noise; return a mask, shape (n,)."""
        return rng.random_sample(n) < self.rate

    def added(self, spread: NDArray[np.float64], n: int, rng: np.random.RandomState) -> NDArray[np.float64]:
        """Draw noise to add to n rows, shape (n, d); `spread` has the standard deviation of each feature."""
        drawn = np.round(rng.standard_normal((n, len(spread))) * _STEPS) / _STEPS
        return drawn * (self.scale * spread)


def feature_spread(X: Any) -> NDArray[np.float64]:
    """Return the standard deviation of each feature over all rows, rounded to single precision, shape (d,).

    Rounding makes results reproducible: the last bits of sums depend on the order of the rows and, on some
    machines, on the width of vector instructions.
    """
    n, d = X.shape
    if isinstance(X, np.ndarray):
        mean, squares = np.zeros(d), np.zeros(d)
        for start in range(0, n, _BLOCK):
            mean += X[start : start + _BLOCK].sum(axis=0, dtype=np.float64)
        mean /= n
        for start in range(0, n, _BLOCK):
            squares += ((X[start : start + _BLOCK] - mean) ** 2).sum(axis=0)
    else:
        values = X.data.astype(np.float64)
        mean = np.bincount(X.indices, values, minlength=d) / n
        squares = np.bincount(X.indices, (values - mean[X.indices]) ** 2, minlength=d)
        # Add the squared deviations of the zeros, which a CSR matrix does not store.
        # Without stored values, `bincount` returns integers.
        squares = squares + (n - np.bincount(X.indices, minlength=d)) * mean**2
    spread: NDArray[np.float64] = np.sqrt(squares / n).astype(np.float32).astype(np.float64)
    return spread
