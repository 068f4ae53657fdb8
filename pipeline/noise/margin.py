"""Label noise near the decision boundary of a fixed reference classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .uniform import Circumstances, Codes, Noise

# Tolerance of the reference classifier's fit. Its margins decide which labels are replaced, so they must not
# depend on the machine or the order of rows. The fit is therefore more exact than a classifier needs: tiny
# differences change a label only if its random number almost equals its probability. scikit-learn's default
# solver would not do: with this tolerance, its margins on a9a change by 0.4% of their median in another
# order.
_TOLERANCE = 1e-10
_MOST_STEPS = 10_000
# Models of at most this many weights are fitted by Newton's method with the full Hessian, to 12 exact digits.
# For larger ones the Hessian is too large; Newton's method with conjugate gradients gives 6 digits.
_MOST_WEIGHTS = 1000
# Relative distances from the boundary are cut at this value, because exp(-700) = 1e-304 is still above 0 in
# float64.
_FARTHEST = 700.0


def reference_margins(X: Any, codes: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return the margin of each row under logistic regression fitted to all rows and their clean codes.

    For two classes the margin is the score, positive for the larger code. For more classes it is the score of
    the row's class minus the best score of another class. All margins are 0 if there is only one class. The
    model is scikit-learn's LogisticRegression with C = 1, on features scaled to standard deviation 1 and, if
    the matrix is dense, mean 0.
    """
    # Imported here, so that studies without margin noise do not wait for the import.
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

    The probability of row i is p_i = min(1, c exp(-abs(m_i)/q)), where m_i is the margin under a fixed
    reference classifier, q is the median of abs(m_i), and c makes the mean of p_i equal to `rate`.
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
    # Limit the distances, so that no value underflows to 0: `rest` below, a sum of these values, is a
    # divisor.
    near = np.exp(-np.minimum(distance / q, _FARTHEST))
    # Values with the nearest rows first. `rest[i]` is the sum of ``falling[i:]``, always added in one order,
    # so that it is the same on every machine.
    falling = np.sort(near)[::-1]
    rest = np.cumsum(falling[::-1])[::-1]
    n = len(near)
    # Find c = shared[k]. If the k nearest rows get probability 1, the others share the remaining sum rate·n -
    # k in proportion to `near`. k is the smallest number for which no probability exceeds 1.
    shared = (rate * n - np.arange(n)) / rest
    k = int(np.argmax(shared * falling <= 1.0))
    chances: NDArray[np.float64] = np.minimum(1.0, shared[k] * near)
    return chances
