"""How far rows are from the boundary of a fixed reference classifier: where noise by margin falls."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
