"""The choice of the first γ: a cross-validation of LASVM on the first rows of a stream."""

import numpy as np
import scipy.sparse as sp

from ..numeric.rows import count_rows
from .lasvm import LASVM

# γ is chosen on this many rows, among these values, by the errors in this many folds.
_ROWS, _FOLDS = 100, 5
# The levels that Levi and Ullman print begin with 0.004.
_GAMMAS = tuple(sorted([0.004, *(2.0**k for k in range(-15, 4, 2))]))


class FirstRows:
    """Copies of the first rows of a stream and of their labels.

    Parameters
    ----------
    n_features : int
    """

    def __init__(self, n_features):
        self._n_features = n_features
        self._rows, self._codes = [], []

    def __len__(self):
        return sum(len(codes) for codes in self._codes)

    @property
    def missing(self):
        """How many rows are still to come."""
        return _ROWS - len(self)

    def add(self, X, codes):
        """Keep a copy of rows, as `as_rows` returned them, and of their labels."""
        if isinstance(X, tuple):
            data, indices, indptr = X
            part = slice(indptr[0], indptr[-1])
            shape = count_rows(X), self._n_features
            self._rows.append(
                sp.csr_matrix((data[part], indices[part], indptr - indptr[0]), shape, copy=True)
            )
        else:
            self._rows.append(X.copy())
        self._codes.append(codes.copy())

    def take(self, dtype, sparse):
        """Return all rows, as one matrix of a kind, and their labels."""
        if sparse:
            rows = sp.vstack([sp.csr_matrix(part) for part in self._rows], format="csr")
        else:
            rows = np.concatenate(
                [part.toarray() if isinstance(part, sp.csr_matrix) else part for part in self._rows]
            )
        return rows.astype(dtype, copy=False), np.concatenate(self._codes)


def choose_gamma(X, codes, settings, classes):
    """Return the γ with the fewest errors (ties: the smallest), and the kernel evaluations it took.

    Parameters
    ----------
    X : ndarray or csr_matrix
    codes : ndarray of int32
        Labels as positions in `classes`.
    settings : LasvmSettings
        Of the `LASVM`.
    classes : ndarray of shape (2,)
    """
    tried = [_errors_in_folds(gamma, X, codes, settings, classes) for gamma in _GAMMAS]
    errors, evaluations = zip(*tried, strict=True)
    return _GAMMAS[int(np.argmin(errors))], sum(evaluations)


def _errors_in_folds(gamma, X, codes, settings, classes):
    """Return the errors on rows held out, over all folds, and kernel evaluations."""
    folds, errors, evaluations = np.arange(len(codes)) % _FOLDS, 0, 0
    for fold in range(_FOLDS):
        rest, held_out = folds != fold, folds == fold
        C, tau, intercept = settings
        model = LASVM(C, tau, intercept, finish=True, gamma=gamma, cache_mb=1.0)
        model.begin(classes, X.shape[1])
        model.learn_rows(X[rest], codes[rest])
        model.end_of_pass(last=True)
        scores = model.score_rows(X[held_out])
        errors += int(np.count_nonzero(~(np.where(codes[held_out] == 1, scores, -scores) > 0.0)))
        evaluations += model.n_kernel_evaluations_ + len(scores) * model.n_support_
    return errors, evaluations
