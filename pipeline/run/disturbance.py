"""Rows of a cell with noise in their features: a copy, in the order of the stream."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import take_rows
from ..noise import FeatureNoise
from .splits import Fold

# Rows are looked at so many at a time: what is made of them beside the copy then takes little memory.
_BLOCK = 1 << 12


def disturbed(part: Fold, noise: FeatureNoise, rng: np.random.RandomState) -> tuple[Fold, NDArray[np.bool_]]:
    """Return the training rows as the learner is given them.

    Parameters
    ----------
    part : Fold
        The clean rows, in their order.
    noise : FeatureNoise
    rng : numpy.random.RandomState
        The cell's noise generator.

    Returns
    -------
    Fold
        Of a matrix of its own, whose rows are in that order.
    changed : ndarray of bool, shape (n,)
    """
    X = take_rows(part.X, part.rows)
    order = np.arange(len(part.rows))
    changed = noise.changed(len(order), rng)
    spread = feature_spread(X)
    if isinstance(X, np.ndarray):
        rows = np.flatnonzero(changed)
        for start in range(0, len(rows), _BLOCK):
            some = rows[start : start + _BLOCK]
            X[some] += noise.added(spread, len(some), rng).astype(X.dtype)
        return Fold(X, order, part.codes, None, part.block_rows()), changed
    stored = np.repeat(changed, np.diff(X.indptr))
    X.data[stored] += noise.added(spread[X.indices[stored]], 1, rng)[0].astype(X.dtype)
    renumbered = part.renumbered
    if renumbered is not None:
        # The same values under other numbers of features, in the same places.
        numbers = take_rows(renumbered, part.rows)
        renumbered = type(X)((X.data, numbers.indices, numbers.indptr), shape=numbers.shape)
    return Fold(X, order, part.codes, renumbered, part.block_rows()), changed


def feature_spread(X: Any) -> NDArray[np.float64]:
    """Return the standard deviation of each feature over all rows, to the digits of single precision.

    Sums differ in their last bits with the order of the rows, and on some machines with the width of their
    vectors; single precision leaves these bits out.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)

    Returns
    -------
    ndarray of float64, shape (d,)
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
        # And of the zeros that are not stored.
        squares += (n - np.bincount(X.indices, minlength=d)) * mean**2
    spread: NDArray[np.float64] = np.sqrt(squares / n).astype(np.float32).astype(np.float64)
    return spread


def shares_by_class(
    touched: NDArray[np.bool_], codes: NDArray[np.int32], n_classes: int
) -> list[float | None]:
    """Return which share of the examples of each class is touched, None for a class without any."""
    n, hits = (np.bincount(of, minlength=n_classes).tolist() for of in (codes, codes[touched]))
    return [hit / each if each else None for hit, each in zip(hits, n, strict=True)]
