"""Perceptron and MIRA with a cache of rows from which redundant rows are removed."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..estimator.parameters import Count, NonNegative, Positive
from ..numeric.compiled import INLINE, compiled, register_jitable
from .mira import KernelMIRARule
from .perceptron import KernelPerceptronRule
from .rules import MulticlassRuleClassifier
from .support.block_view import move_in_gram, move_row, replace_in_gram, replace_row

# In the functions below, `rest` contains the score f_z(x_i) of each cached row i for each class z, computed
# from all cached rows but row i. The term of row i is never added to it: if it were added and subtracted
# again, rounding would decide ties. `rest` and the coefficients have shape (slots,) for two classes and
# (K, slots) for more; Numba compiles only the branch for their dimension.


@register_jitable(**INLINE)
def _add_term(rest, n, a, values):
    """Add the term ``a values[i]`` of one row to the score ``rest[i]`` of each of `n` rows, for one class."""
    for i in range(n):
        rest[i] += a * values[i]


@register_jitable(**INLINE)
def _add(view, alpha, rest, n, t, s, a):
    """Add row t with scores `s` and coefficients `a` to the `n` cached rows; return n + 1."""
    replace_in_gram(view, n, n, t)
    replace_row(view, n, t)
    if alpha.ndim == 1:
        alpha[n], rest[n] = a, s
        _add_term(rest, n, a, view.values[t])
    else:
        for z in range(alpha.shape[0]):
            alpha[z, n], rest[z, n] = a[z], s[z]
            if a[z] != 0.0:
                _add_term(rest[z], n, a[z], view.values[t])
    return n + 1


@compiled
def _most_redundant(alpha, rest, born, n):
    """Find the cached row with the largest margin without its own term (ties: the oldest).

    Return its slot and that margin.
    """
    chosen, largest = -1, -math.inf
    for i in range(n):
        if alpha.ndim == 1:
            margin = math.copysign(1.0, alpha[i]) * rest[i]
        else:
            # The class y of row i is the only one with a coefficient above 0.
            y, right, wrong = 0, -math.inf, -math.inf
            for z in range(alpha.shape[0]):
                if alpha[z, i] > alpha[y, i]:
                    y = z
            for z in range(alpha.shape[0]):
                if z == y:
                    right = rest[z, i]
                else:
                    wrong = max(wrong, rest[z, i])
            margin = right - wrong
        if margin > largest or (margin == largest and born[i] < born[chosen]):
            chosen, largest = i, margin
    return chosen, largest


@register_jitable(**INLINE)
def _remove(view, alpha, rest, n, r, t):
    """Remove the row in slot r while row t of the block is learned; the last row moves to slot r."""
    last = n - 1
    if alpha.ndim == 1:
        _add_term(rest, n, -alpha[r], view.square[r])
        alpha[r], rest[r] = alpha[last], rest[last]
    else:
        for z in range(alpha.shape[0]):
            if alpha[z, r] != 0.0:
                _add_term(rest[z], n, -alpha[z, r], view.square[r])
            alpha[z, r], rest[z, r] = alpha[z, last], rest[z, last]
    if r != last:
        move_row(view, last, r, t)
        move_in_gram(view, last, last, r)
    return last


@register_jitable(**INLINE)
def _add_and_distill(view, alpha, rest, n, t, s, a, beta, budget):
    """Add row t, then remove rows as figure 2 of Crammer, Kandola and Singer (2003) does.

    Row t joins the `n` cached rows with scores `s` and coefficients `a`, floats or arrays of shape (K,). Then
    redundant rows are removed: those whose margin without their own term is at least `beta`. With a
    `budget` > 0, rows are instead removed while there are more than `budget`. Return the number of rows left,
    and the kernel evaluations of the removals.
    """
    n, cached, evaluations = _add(view, alpha, rest, n, t, s, a), True, 0
    while n > 0:
        r, margin = _most_redundant(alpha, rest, view.born, n)
        # With beta = 0 the paper's >= would remove the first row at once (its margin is 0), and so each later
        # one.
        redundant = margin >= beta if beta > 0.0 else margin > 0.0
        if not (n > budget if budget > 0 else redundant):
            break
        newest = view.born[r] == view.first + t
        n = _remove(view, alpha, rest, n, r, t)
        # Kernel values with row t are not counted here, since its prediction has already counted them.
        evaluations += 0 if newest else n - cached
        cached = cached and not newest
    return n, evaluations


class _Distillation(NamedTuple):
    """Maintain the cache: add a row, then remove redundant rows or, with a budget, surplus rows."""

    rest: np.ndarray
    beta: float
    budget: int

    def join(self, view, n, t, s, a):
        n, evaluations = _add_and_distill(view, view.alpha, self.rest, n, t, s, a, self.beta, self.budget)
        return n, True, evaluations


@dataclass(eq=False, repr=False)
class _DistillCache(MulticlassRuleClassifier):
    """A learner with a cache of rows from which redundant ones are removed."""

    beta: float = 0.1
    budget: Count | None = None

    _keeps_square = _keeps_companions = True

    @property
    def _scores_poorly(self):
        # With a small budget only rows of small margin remain.
        return self.budget is not None

    def _maintenance(self):
        budget = 0 if self.budget is None else int(self.budget)
        return _Distillation(self._support.companions, float(self.beta), budget)


class DistillCachePerceptron(_DistillCache):
    """The aggressive Perceptron with a cache: any row that has become redundant is removed.

    A row whose margin ``m = y f(x)`` is at most beta is inserted with the coefficient α = y. A cached row is
    redundant if its margin, computed without its own term, is at least beta. While there is one, the row with
    the largest such margin is removed (it may be the new row; ties, up to rounding errors: the oldest). With
    a budget, redundancy is not tested: that row is removed whenever the cache exceeds its budget.

    With more than two classes, α is 1 for the right and -1 for the best wrong class, and the margin is the
    difference of their scores.

    A removal takes one kernel evaluation per remaining row, except for values with the current row, which its
    prediction computed.

    Parameters
    ----------
    beta : float, default=0.1
        Tolerance, >= 0. With 0 a margin must be above 0 for a removal.
    budget : int, default=None
        Largest number of cached rows, >= 1; None: all rows that are not redundant.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    Notes
    -----
    The cache's Gram matrix takes 8 n² bytes for n rows.

    See Also
    --------
    KernelPerceptron : Without deletion; its `margin` is beta.
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

    beta: NonNegative = 0.1

    def _rule(self):
        return KernelPerceptronRule(float(self.beta))


class DistillCacheMIRA(_DistillCache):
    """MIRA with a cache: as `DistillCachePerceptron`, with ``α = y min(1, (beta - m)/k(x, x))``.

    The step is that of `KernelMIRA`, also with more than two classes; m is the margin. A row with
    ``m <= beta`` takes one more kernel evaluation, k(x, x).

    Parameters
    ----------
    beta : float, default=0.1
        Tolerance, > 0 (with 0 every step would be 0).
    budget : int, default=None
        Largest number of cached rows, >= 1; None: all rows that are not redundant.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    See Also
    --------
    KernelMIRA : Without deletion.
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

    beta: Positive = 0.1

    def _rule(self):
        return KernelMIRARule(float(self.beta))
