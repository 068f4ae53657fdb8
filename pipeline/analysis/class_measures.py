"""Compute measures such as F1 from counts by class, for many cells or points of curves at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class ClassCounts:
    """How often each of K classes was predicted correctly, was predicted, and occurred, shape (n, K)."""

    right: Floats
    predicted: Floats
    occurred: Floats

    @property
    def total(self) -> Floats:
        """Return the number of rows, shape (n,)."""
        total: Floats = self.occurred.sum(axis=1)
        return total


def _ratio(above: Floats, below: Floats, otherwise: float = np.nan) -> Floats:
    """Divide two arrays, with `otherwise` as the result of a division by 0."""
    ratio: Floats = np.divide(above, below, out=np.full(np.shape(above), otherwise), where=below != 0)
    return ratio


def _nonzero(difference: Floats, of: Floats) -> Floats:
    """Return differences of sums of the size `of`, with 0 for those that are rounding errors.

    Fading counts are rounded. Whole-stream and windowed counts are integers, whose differences are exact.
    """
    rounding = (np.abs(difference) < 1e-9 * of) & (difference != np.rint(difference))
    return np.where(rounding, 0.0, difference)


def accuracy(counts: ClassCounts) -> Floats:
    """Return the share of correct predictions."""
    return _ratio(counts.right.sum(axis=1), counts.total)


def error(counts: ClassCounts) -> Floats:
    """Return the share of wrong predictions."""
    return _ratio(counts.total - counts.right.sum(axis=1), counts.total)


def balanced_accuracy(counts: ClassCounts) -> Floats:
    """Return the mean recall of the classes that occurred."""
    recalls = _ratio(counts.right, counts.occurred, 0.0)
    return _ratio(recalls.sum(axis=1), (counts.occurred > 0).sum(axis=1))


def macro_f1(counts: ClassCounts) -> Floats:
    """Return the mean F1 of the classes that occurred or were predicted."""
    either = counts.predicted + counts.occurred
    return _ratio(_ratio(2 * counts.right, either, 0.0).sum(axis=1), (either > 0).sum(axis=1))


def precision(counts: ClassCounts) -> Floats:
    """Return the precision of class 1 of two; 0 if it was never predicted, NaN if it never occurred."""
    known = _ratio(counts.right[:, 1], counts.predicted[:, 1], 0.0)
    return np.where(counts.occurred[:, 1] > 0, known, np.nan)


def recall(counts: ClassCounts) -> Floats:
    """Return the recall of class 1 of two; NaN if it never occurred."""
    return _ratio(counts.right[:, 1], counts.occurred[:, 1])


def f1(counts: ClassCounts) -> Floats:
    """Return the F1 of class 1 of two; NaN if it never occurred."""
    known = _ratio(2 * counts.right[:, 1], counts.predicted[:, 1] + counts.occurred[:, 1])
    return np.where(counts.occurred[:, 1] > 0, known, np.nan)


def g_mean(counts: ClassCounts) -> Floats:
    """Return the geometric mean of the recalls of two classes; NaN if one of them never occurred."""
    mean: Floats = np.sqrt(_ratio(counts.right, counts.occurred).prod(axis=1))
    return mean


def mcc(counts: ClassCounts) -> Floats:
    """Return Matthews' correlation (Gorodkin's for more classes); 0 if predictions or labels are constant."""
    n = counts.total
    chance = (counts.predicted * counts.occurred).sum(axis=1)
    together = _nonzero(n * counts.right.sum(axis=1) - chance, n**2)
    predicted, occurred = (
        _nonzero(n**2 - (each**2).sum(axis=1), n**2) for each in (counts.predicted, counts.occurred)
    )
    return np.where(n > 0, _ratio(together, np.sqrt(predicted) * np.sqrt(occurred), 0.0), np.nan)


def kappa(counts: ClassCounts) -> Floats:
    """Return Cohen's κ; NaN if all predictions and all labels are the same class."""
    n = counts.total
    chance = (counts.predicted * counts.occurred).sum(axis=1)
    together = _nonzero(n * counts.right.sum(axis=1) - chance, n**2)
    return _ratio(together, _nonzero(n**2 - chance, n**2))


def beyond(right: Floats, reference: Floats, total: Floats) -> Floats:
    """Return (p - p₀)/(1 - p₀) for accuracy p and a reference classifier's p₀; NaN if p₀ is 1.

    `right` and `reference` are counts of correct predictions, `total` counts rows, each of shape (n,).

    κ-M: A. Bifet, G. de Francisci Morales, J. Read, G. Holmes, B. Pfahringer, "Efficient online evaluation of
    big data stream classifiers", KDD (2015). κ-temporal: I. Žliobaitė, A. Bifet, J. Read, B. Pfahringer,
    G. Holmes, "Evaluation methods and decision theory for classification of streaming data with temporal
    dependence", Machine Learning 98 (2015).
    """
    return _ratio(_nonzero(right - reference, total), _nonzero(total - reference, total))


#: The function that computes each measure, by its name in `Scoring.measure`.
CLASS_MEASURES: Mapping[str, Callable[[ClassCounts], Floats]] = {
    function.__name__: function
    for function in (error, accuracy, balanced_accuracy, macro_f1, precision, recall, f1, g_mean, mcc, kappa)
}
#: Measures relative to a simple reference classifier, and for each the prefix of the columns that count the
#: reference's correct predictions.
REFERENCE_OF: Mapping[str, str] = {"kappa_m": "majority", "kappa_temporal": "before"}
