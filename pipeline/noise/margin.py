"""Label noise near the decision boundary of a fixed reference classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .uniform import Circumstances, Codes, Noise

# The margins decide which labels are replaced, so the fit must not depend on the machine. It is therefore
# more exact than a classifier needs: a difference in the last digits changes a label only if its random
# number almost equals its probability. scikit-learn's default solver is too rough: with this tolerance, its
# margins on a9a change by 0.4% of their median if the rows come in another order.
_TOLERANCE = 1e-10
_MOST_STEPS = 10_000
# Up to this many weights Newton's method with the full Hessian is used, which finds 12 digits. Above it the
# Hessian is too large, and conjugate gradients find 6.
_MOST_WEIGHTS = 1000
# exp(-700) = 1e-304 is still above zero in float64.
_FARTHEST = 700.0


def reference_margins(X: Any, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the margin of each row under logistic regression fitted to all rows and their clean codes.

    For two classes it is the score, positive for the larger code. For more classes it is the score of the
    row's class minus the best score of another class. All margins are 0 if there is only one class. The model
    is scikit-learn's LogisticRegression with C = 1 on features of standard deviation 1 and, if the matrix is
    dense, mean 0.
    """
    # Imported here, so that studies without this noise do not wait for the import.
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


@dataclass(frozen=True)
class MarginNoise(Noise):
    """Replace labels with a probability that falls with the row's distance from a decision boundary.

    For row i it is p_i = min(1, c exp(-abs(m_i)/q)), where m_i is the margin under a fixed reference
    classifier, q is the median of abs(m_i), and c makes the mean of p_i equal to `rate`.
    """

    model: ClassVar[str] = "margin"
    place: ClassVar[int] = 3

    def chances(self, codes: Codes, about: Circumstances) -> NDArray[np.float64]:
        if about.margins is None:
            raise ValueError("margin noise needs the margins of a reference classifier")
        return margin_chances(about.margins(), self.rate)


def margin_chances(margins: NDArray[np.float64], rate: float) -> NDArray[np.float64]:
    """Return min(1, c exp(-abs(m)/q)) for each margin m: q is the median of abs(m), c makes the mean `rate`.

    All values equal `rate` if at least half of the margins are 0, because q is then 0.
    """
    distance = np.abs(margins)
    q = float(np.median(distance)) if len(distance) else 0.0
    if not q > 0.0:
        return np.full(len(distance), rate)
    # Distances are limited, so that neither `near` nor `rest`, the divisor below, contains a 0.
    near = np.exp(-np.minimum(distance / q, _FARTHEST))
    # Nearest rows first. `rest[i]` is the sum of ``falling[i:]``, added in the same order on every machine.
    falling = np.sort(near)[::-1]
    rest = np.cumsum(falling[::-1])[::-1]
    n = len(near)
    # If the k nearest rows have probability 1, the other rows share the remaining sum rate·n - k in
    # proportion to `near`. k is the smallest number for which none of these exceeds 1.
    shared = (rate * n - np.arange(n)) / rest
    k = int(np.argmax(shared * falling <= 1.0))
    chances: NDArray[np.float64] = np.minimum(1.0, shared[k] * near)
    return chances
