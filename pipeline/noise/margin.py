"""Label noise near the boundary of a fixed reference classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .uniform import Circumstances, Codes, Noise

# The minimum defines the noise, so it is found to more digits than a classifier needs: where the solver ends
# and how a machine's libraries round then decide no label but one whose draw all but ties. scikit-learn's
# default solver, asked for the same, ends on a9a with margins that differ by 0.4% of their median when rows
# come in another order.
_TOLERANCE = 1e-10
_MOST_STEPS = 10_000
# Newton's method with the whole Hessian, which has so many rows, finds 12 digits; where that would be large,
# conjugate gradients find 6.
_MOST_WEIGHTS = 1000


def reference_margins(X: Any, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the margin of each row under logistic regression fitted to all of them.

    Parameters
    ----------
    X : ndarray or CSR matrix of shape (n, d)
    codes : ndarray of int32, shape (n,)
        Clean class codes.

    Returns
    -------
    ndarray of float64, shape (n,)
        Of two classes the score, positive on the side of the larger code; of more the score of the row's
        class less the best of the others. 0 everywhere if all rows are of one class.

    Notes
    -----
    scikit-learn's LogisticRegression with C = 1; features have standard deviation 1 and, where the matrix is
    dense, mean 0.
    """
    # Here: a study without noise by margin does not wait for it.
    from sklearn.linear_model import LogisticRegression
    from sklearn.preprocessing import StandardScaler

    found = np.unique(codes)
    if len(found) < 2:
        return np.zeros(len(codes))
    scaled = StandardScaler(with_mean=isinstance(X, np.ndarray)).fit_transform(X.astype(np.float64))
    n_weights = scaled.shape[1] * (1 if len(found) == 2 else len(found))
    solver = "newton-cholesky" if n_weights <= _MOST_WEIGHTS else "newton-cg"
    fitted = LogisticRegression(C=1.0, solver=solver, tol=_TOLERANCE, max_iter=_MOST_STEPS).fit(scaled, codes)
    scores = np.asarray(fitted.decision_function(scaled), np.float64)
    if scores.ndim == 1:
        return scores
    each, own = np.arange(len(codes)), np.searchsorted(found, codes)
    of_class = scores[each, own]
    scores[each, own] = -np.inf
    margins: NDArray[np.float64] = of_class - scores.max(axis=1)
    return margins


# e to the power of minus this is still a number, 1e-304.
_FARTHEST = 700.0


@dataclass(frozen=True)
class MarginNoise(Noise):
    """Labels are replaced with a probability that falls with the row's distance from a boundary.

    Attributes
    ----------
    rate, level
        As in `Noise`; the rate is the mean of the probabilities.

    Notes
    -----
    p_i = min(1, c exp(-abs(m_i)/q)), with m_i the margin of a fixed reference classifier, q the median of
    abs(m_i), and c such that the mean of p_i is `rate`.

    Examples
    --------
    >>> MarginNoise(0.1).slug, MarginNoise(0.1).label
    ('margin_0.1', '10% margin noise')
    """

    model: ClassVar[str] = "margin"
    place: ClassVar[int] = 3

    def chances(self, codes: Codes, about: Circumstances) -> NDArray[np.float64]:
        """Return p_i of each row."""
        if about.margins is None:
            raise ValueError("margin noise needs the margins of a reference classifier")
        return margin_chances(about.margins(), self.rate)


def margin_chances(margins: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """Return min(1, c exp(-abs(m)/q)), q the median of abs(m), with c such that the mean is `rate`.

    Parameters
    ----------
    margins : ndarray of float64, shape (n,)
    rate : float in (0, 1]

    Returns
    -------
    ndarray of float64, shape (n,)
        All equal where half of the margins or more are 0: then none is nearer than the others.

    Examples
    --------
    >>> margin_chances(np.array([0.0, -1.0, 9.0]), 0.3).round(3).tolist()
    [0.658, 0.242, 0.0]
    >>> margin_chances(np.array([0.0, 1.0, 9.0]), 0.5).round(3).tolist()
    [1.0, 0.5, 0.0]
    """
    distance = np.abs(margins)
    q = float(np.median(distance)) if len(distance) else 0.0
    if not q > 0.0:
        return np.full(len(distance), rate)
    # A probability of 0 would leave nothing to share.
    near = np.exp(-np.minimum(distance / q, _FARTHEST))
    # The nearest first; `rest` is what those from each on add up to, in one order on every machine.
    falling = np.sort(near)[::-1]
    rest = np.cumsum(falling[::-1])[::-1]
    n = len(near)
    # With the k nearest at 1 the others share what is left. k is the first for which they stay below 1.
    shared = (rate * n - np.arange(n)) / rest
    k = int(np.argmax(shared * falling <= 1.0))
    chances: NDArray[np.float64] = np.minimum(1.0, shared[k] * near)
    return chances
