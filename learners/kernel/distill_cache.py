"""Perceptron and MIRA with a cache that throws out what has become redundant."""

import math

import numpy as np

from ..estimator.parameters import check_count, check_nonnegative, check_positive
from ..numeric.compiled import compiled
from . import multiclass
from .kernel_classifier import MulticlassKernelClassifier
from .support.block_view import move, move_in_gram, put, put_in_gram, score_of


@compiled
def _insert(S, n, t, score, a):
    """Insert row t with coefficient `a`; ``S.extra[i]`` is f(x_i) without the row's own term.

    The own term is never added, since taking it away again would leave rounding to decide ties.
    """
    put_in_gram(S, n, n, t)
    put(S, n, t, a)
    for i in range(n):
        S.extra[i] += a * S.values[t, i]
    S.extra[n] = score
    return n + 1


@compiled
def _most_redundant(S, n):
    """Return the cached row with the largest margin without itself (ties: the oldest), and that margin."""
    chosen, largest = -1, -math.inf
    for i in range(n):
        margin = math.copysign(1.0, S.alpha[i]) * S.extra[i]
        if margin > largest or (margin == largest and S.born[i] < S.born[chosen]):
            chosen, largest = i, margin
    return chosen, largest


@compiled
def _remove(S, n, r, t):
    """Remove the row in slot r while row t is learnt; the last slot's takes its place."""
    for i in range(n):
        S.extra[i] -= S.alpha[r] * S.square[r, i]
    last = n - 1
    if r != last:
        move(S, last, r, t)
        move_in_gram(S, last, last, r)
    return last


@compiled
def _learn(S, n, codes, scores, beta, budget, mira):
    """Figures 1 and 2 of Crammer, Kandola and Singer (2003); a `budget` > 0 replaces the test of figure 2."""
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = 1.0 if codes[t] == 1 else -1.0
        scores[t] = score_of(S, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        if m > beta:
            continue
        evaluations += mira
        own = S.own[t]
        if not own < np.inf:
            continue
        τ = 1.0
        if mira:
            τ = min(max((beta - m) / own, 0.0), 1.0) if own > 0.0 else 0.0
        if not τ > 0.0:
            continue
        updates += 1
        n, cached = _insert(S, n, t, scores[t], τ * y), True
        while n > 0:
            r, margin = _most_redundant(S, n)
            # With beta = 0 the printed >= would remove the first row at once, and every other.
            redundant = margin >= beta if beta > 0.0 else margin > 0.0
            if not (n > budget if budget > 0 else redundant):
                break
            newest = S.born[r] == S.first + t
            n = _remove(S, n, r, t)
            # Values with row t itself are at hand.
            evaluations += 0 if newest else n - cached
            cached = cached and not newest
    return n, mistakes, updates, evaluations


class _DistillCache(MulticlassKernelClassifier):
    """A learner with a cache of rows from which redundant ones are removed."""

    _keeps_square = True

    def _check_own_parameters(self):
        if self.budget is not None:
            check_count(self, "budget")

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # A small budget keeps the rows furthest on the wrong side: 12 of scikit-learn's check data are noise.
        tags.classifier_tags.poor_score = self.budget is not None
        return tags

    def _distill(self, walk, n, codes, scores, mira):
        budget = 0 if self.budget is None else int(self.budget)
        learn = _learn if scores.ndim == 1 else multiclass.learn_distill_cache
        return learn(walk, n, codes, scores, float(self.beta), budget, mira)


class DistillCachePerceptron(_DistillCache):
    """The aggressive Perceptron with a cache: redundant rows are removed, wherever they came from.

    Where ``m <= beta`` the row is inserted with α = y. Then, while some cached row has a margin of at least
    beta without its own term, the one with the largest such margin is removed (ties: the oldest; the new row
    itself may go). With a budget the removal has no test: it happens when the cache is over its budget.

    Of more than two classes, α is 1 for the right and -1 for the best wrong one, and margins are
    ``s_y - s_ỹ``.

    A removal takes one kernel evaluation for each row that stays, but for the values with the current row,
    which its prediction took.

    Parameters
    ----------
    beta : float, default=0.1
        Tolerance, >= 0. With 0 a margin must be above 0 for a removal.
    budget : int, default=None
        Rows in the cache at most, >= 1; None: as many as are not redundant.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    epochs : int, default=1
        Passes that `fit` makes.

    Notes
    -----
    The cache's Gram matrix is kept: 8 n² bytes for n rows.

    See Also
    --------
    DistillCacheMIRA
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Crammer, Kandola, Singer (2003), "Online classification on a budget", NIPS 16, figures 1 and 2; the choice
    of the largest margin is left open there.

    Examples
    --------
    >>> X, y = [[0.0], [3.0], [0.1], [2.9], [0.2]], [0, 1, 0, 1, 0]
    >>> DistillCachePerceptron(beta=0.5).fit(X, y).support_.tolist()
    [0, 1]
    """

    def __init__(self, beta=0.1, budget=None, kernel="rbf", gamma=1.0, degree=3, coef0=1.0, epochs=1):
        self.beta = beta
        self.budget = budget
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.epochs = epochs

    def _check_own_parameters(self):
        super()._check_own_parameters()
        check_nonnegative(self, "beta")

    def _walk(self, walk, n, codes, scores):
        return self._distill(walk, n, codes, scores, False)

    _walk_classes = _walk


class DistillCacheMIRA(_DistillCache):
    """MIRA with a cache: as `DistillCachePerceptron`, with ``α = y min(1, (beta - m)/k(x, x))``.

    The step makes the row's margin beta, or is 1. A row with ``m <= beta`` takes one kernel evaluation more,
    k(x, x). Of more than two classes it is the ultraconservative one:
    the smallest change of all classes' α (at most 1 for the right one, at most 0 for the others, their sum 0)
    that lifts the margin as far.

    Parameters
    ----------
    beta : float, default=0.1
        Tolerance, > 0 (with 0 the first row's step is 0, and so is every other's).
    budget : int, default=None
        Rows in the cache at most, >= 1; None: as many as are not redundant.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    epochs : int, default=1
        Passes that `fit` makes.

    Notes
    -----
    As for `DistillCachePerceptron`.

    See Also
    --------
    DistillCachePerceptron
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Crammer, Kandola, Singer (2003), "Online classification on a budget", NIPS 16; Crammer, Singer (2003),
    "Ultraconservative online algorithms for multiclass problems", JMLR 3 (MIRA).

    Examples
    --------
    >>> DistillCacheMIRA(beta=0.5, budget=2).fit([[0.0], [5.0], [0.1], [4.9]], [0, 1, 0, 1]).n_support_
    2
    """

    def __init__(self, beta=0.1, budget=None, kernel="rbf", gamma=1.0, degree=3, coef0=1.0, epochs=1):
        self.beta = beta
        self.budget = budget
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.epochs = epochs

    def _check_own_parameters(self):
        super()._check_own_parameters()
        check_positive(self, "beta")

    def _walk(self, walk, n, codes, scores):
        return self._distill(walk, n, codes, scores, True)

    _walk_classes = _walk
