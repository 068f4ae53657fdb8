"""BSGD: stochastic gradient descent with a budget, which is kept by removing or merging support vectors."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..estimator.parameters import Positive, Several
from ..numeric.compiled import compiled, register_jitable
from ..numeric.margins import signed
from ..numeric.vector import exponential
from .kernel_classifier import KernelClassifier
from .support.block_view import add, move, replace, score_of
from .values.products import products_of_row

# Merging, for the rbf kernel, replaces two support vectors x_a and x_b with the coefficients a and b by one
# vector, the point ``h x_a + (1 - h) x_b`` between them that changes the score function f least.

_SECTION = (math.sqrt(5.0) - 1.0) / 2.0
# The golden-section search for the weight h ends when its interval is shorter than this.
_SHORTEST = 1e-10
# Tolerances of comparisons, so that rounding errors decide neither the first step of the search for h, which
# compares two coefficients, nor the choice among merging partners with equal losses.
_EQUAL_MAXIMA, _EQUAL_LOSSES = 1.0 + 1e-12, 1e-9


@register_jitable
def _coefficient(a, b, exponent, h):
    """Return the coefficient of the vector that two vectors with coefficients a and b are merged into.

    It is ``a κ^((1-h)²) + b κ^(h²)``, where h is the weight of the first and κ = exp(exponent) is their
    kernel value.
    """
    return a * exponential(exponent * (1.0 - h) * (1.0 - h)) + b * exponential(exponent * h * h)


@compiled
def _best_shares(a, b, exponents, shares):
    """Find the weight h to merge a support vector x_a with each partner x_b into ``h x_a + (1 - h) x_b``.

    A golden-section search finds the h in [0, 1] that gives the merged vector the largest |coefficient|, and
    writes it into `shares`. All intervals have the same width and the inner loop has no branch, so it
    vectorizes over the partners.
    """
    width, tolerance = 1.0, _EQUAL_MAXIMA
    low, at_c, at_d = np.zeros_like(b), np.empty_like(b), np.empty_like(b)
    for i in range(b.shape[0]):
        at_c[i] = abs(_coefficient(a, b[i], exponents[i], 1.0 - _SECTION))
        at_d[i] = abs(_coefficient(a, b[i], exponents[i], _SECTION))
    while width >= _SHORTEST:
        shorter = _SECTION * width
        for i in range(b.shape[0]):
            is_upper = at_c[i] <= tolerance * at_d[i]
            first = low[i] + (1.0 - _SECTION) * width if is_upper else low[i]
            h = first + (_SECTION if is_upper else 1.0 - _SECTION) * shorter
            value, kept = abs(_coefficient(a, b[i], exponents[i], h)), at_d[i] if is_upper else at_c[i]
            low[i], at_c[i], at_d[i] = first, kept if is_upper else value, value if is_upper else kept
        width, tolerance = shorter, 1.0
    for i in range(b.shape[0]):
        shares[i] = low[i] + 0.5 * width


@register_jitable
def _best_partner(a, b, exponents, numbers):
    """Return the index of the partner whose merger changes f least (ties: the oldest), and its best h."""
    shares, losses = np.empty_like(b), np.empty_like(b)
    _best_shares(a, b, exponents, shares)
    least, best = np.inf, 0
    for i in range(b.shape[0]):
        merged = _coefficient(a, b[i], exponents[i], shares[i])
        losses[i] = a * a + b[i] * b[i] + 2.0 * a * b[i] * exponential(exponents[i]) - merged * merged
        if losses[i] < least:
            least, best = losses[i], i
    for i in range(b.shape[0]):
        if losses[i] <= least + _EQUAL_LOSSES * a * a and numbers[i] < numbers[best]:
            best = i
    return best, shares[best]


@register_jitable
def _keep_now(view, rows, norms, slot, t):
    """Copy row t of the block into `slot` of the support set now, not at the end of the block.

    Then ``view.rows[t]`` may be overwritten by a merged vector.
    """
    rows[slot] = view.rows[t]
    norms[slot] = view.norms[t]
    view.origin[slot] = slot


@register_jitable
def _drop(view, rows, norms, n, slot, t):
    """Remove the support vector in `slot` while row t is learned; the last support vector moves to `slot`."""
    last = n - 1
    if slot != last:
        move(view, last, slot, t)
        rows[slot] = rows[last]
        norms[slot] = norms[last]
        view.origin[slot] = slot


@compiled
def _merge_or_drop(view, rows, norms, n, p, t):
    """Merge the support vector in slot p with a partner q of the same sign; remove it if no q exists.

    ``z = h x_p + (1 - h) x_q`` takes q's slot and row number. Row t of the block has already been stored
    (`_keep_now`), so z overwrites row t in the block, and the kernel values of z with later rows are computed
    like those of any row. Return the number of kernel evaluations: those of p with the other support vectors
    of its sign, except for values with row t, which are known.
    """
    products = np.empty((1, rows.shape[0]), rows.dtype)
    products_of_row(rows, p, 0, n, products)
    slots, exponents = np.empty(n, np.int64), np.empty(n)
    count = evaluations = 0
    gamma, a, new = view.function[1], view.alpha[p], view.first + t
    for i in range(n):
        if i != p and (view.alpha[i] > 0.0) == (a > 0.0):
            distance = (norms[p] + norms[i]) - (products[0, i] + products[0, i])
            slots[count], exponents[count] = i, -gamma * max(distance, rows.dtype.type(0))
            count += 1
            evaluations += view.born[i] != new and view.born[p] != new
    if count > 0:
        slots = slots[:count]
        best, h = _best_partner(a, view.alpha[slots], exponents[:count], view.born[slots])
        partner = slots[best]
        merged = _coefficient(a, view.alpha[partner], exponents[best], h)
        for k in range(rows.shape[1]):
            view.rows[t, k] = h * rows[p, k] + (1.0 - h) * rows[partner, k]
        products_of_row(view.rows, t, t, t + 1, view.later)
        view.norms[t] = view.later[0, t]
        number = view.born[partner]
        replace(view, partner, t, merged)
        view.born[partner] = number
        _keep_now(view, rows, norms, partner, t)
    _drop(view, rows, norms, n, p, t)
    return evaluations


# Without mergers all |α| are 1/(λ t), except for rounding. So two values of α² k(x, x) count as equal if they
# differ by no more than this factor.
_EQUAL = 1.0 + 1e-9


@register_jitable
def _shrink(view, n, round_):
    """Take the gradient step for the regularizer in round t: ``α *= 1 - 1/t``."""
    for i in range(n):
        view.alpha[i] *= 1.0 - 1.0 / round_


@register_jitable
def _smallest(alpha, own, born, n, bound):
    """Return the slot with the smallest ``α² k(x, x)`` (ties: the oldest), or -1 if `bound` is smaller."""
    least = bound
    for i in range(n):
        least = min(least, alpha[i] * alpha[i] * own[i])
    p = -1
    for i in range(n):
        if alpha[i] * alpha[i] * own[i] <= _EQUAL * least and (p < 0 or born[i] < born[p]):
            p = i
    return p


@compiled
def _learn_removing(view, own, n, codes, scores, budget, lam):
    """Learn a block of rows; beyond the budget, remove a support vector. `own` has k(x, x) by slot."""
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y, round_ = signed(codes[t]), view.first + t + 1
        scores[t] = score_of(view, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        _shrink(view, n, round_)
        if not m < 1.0 or not view.own[t] < np.inf:
            continue
        a = y / (lam * round_)
        updates += 1
        if n < budget:
            own[n] = view.own[t]
            n = add(view, n, t, a)
            continue
        # The row with the smallest α² k(x, x) is removed. If that is the new row, it is not added.
        p = _smallest(view.alpha, own, view.born, n, a * a * view.own[t])
        if p >= 0:
            own[p] = view.own[t]
            replace(view, p, t, a)
    return n, mistakes, updates, evaluations


@compiled
def _learn_merging(view, rows, norms, ones, n, codes, scores, budget, lam):
    """Learn a block of rows; beyond the budget, merge two support vectors, or remove one.

    `rows` are the support vectors, `norms` their squared norms, `ones` their k(x, x) for `_smallest`, all 1.
    """
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y, round_ = signed(codes[t]), view.first + t + 1
        scores[t] = score_of(view, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        _shrink(view, n, round_)
        if not m < 1.0 or not view.own[t] < np.inf:
            continue
        updates += 1
        n = add(view, n, t, y / (lam * round_))
        _keep_now(view, rows, norms, n - 1, t)
        if n > budget:
            p = _smallest(view.alpha, ones, view.born, n, np.inf)
            evaluations += _merge_or_drop(view, rows, norms, n, p, t)
            n -= 1
    return n, mistakes, updates, evaluations


@dataclass(eq=False, repr=False)
class BSGD(KernelClassifier):
    """Budgeted stochastic gradient descent: Pegasos with a kernel, merging or removing support vectors.

    Row t of the stream, counted from 1, multiplies all coefficients α by ``1 - 1/t``. If its margin
    ``m = y f(x)`` is below 1, the row joins the support set with ``α = y/(lam t)``. If the set then exceeds
    its budget, let p be the support vector with the smallest ``α² k(x, x)`` (ties, within 1e-9: the oldest).

    - "removal": p is removed;
    - "merging": p and another support vector q become ``z = h x_p + (1 - h) x_q`` with the coefficient
      ``a = α_p κ^((1-h)²) + α_q κ^(h²)``, ``κ = k(x_p, x_q)``. h in [0, 1] maximizes ``|a|``, found by golden
      section to 1e-10. q has the same sign as p and the smallest loss ``α_p² + α_q² + 2 α_p α_q κ - a²``
      (ties: the oldest). If there is no such q, p is removed.

    Merging takes a kernel evaluation of p with each other support vector of its sign, except the new row.

    Parameters
    ----------
    budget : int, default=100
        Largest number of support vectors, >= 2.
    lam : float, default=0.01
        Regularization λ, > 0.
    maintenance : {"merging", "removal"}, default="merging"
        "merging" takes the rbf kernel only.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    epochs : int, default=1
        Passes that `fit` makes; t counts the rows of all passes.

    Attributes
    ----------
    support_vectors_ : ndarray or csr_matrix of shape ``(n_support_, d)``
        With "merging" an ndarray. A merged vector is no row of the stream; `support_` has the row number of
        q for it.

    Notes
    -----
    Merged vectors are dense. With "merging", all support vectors are therefore stored as dense rows, and CSR
    rows cost as much as dense ones.

    The rule is the published formula. It was checked against an independent implementation of that formula,
    but neither against the paper's text nor against public code. That partners have the sign of p is a
    decision of this project. With the rbf kernel and "removal" all coefficients are equal up to rounding, so
    the oldest is removed.

    See Also
    --------
    NORMA
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Wang, Crammer, Vucetic (2012), "Breaking the curse of kernelization: budgeted stochastic gradient descent
    for large-scale SVM training", JMLR 13.

    Examples
    --------
    >>> learner = BSGD(budget=2, lam=1.0).fit([[0.0], [3.0], [0.2], [2.8]], [0, 1, 0, 1])
    >>> learner.support_vectors_.round(3).tolist()
    [[0.1], [2.9]]
    """

    budget: Several = 100
    lam: Positive = 0.01
    maintenance: Literal["merging", "removal"] = "merging"

    _keeps_companions = True

    def _check_parameters(self):
        if self.maintenance == "merging" and self.kernel != "rbf":
            raise ValueError(
                f"BSGD: maintenance='merging' takes kernel='rbf', got {self.kernel!r}; "
                "'removal' takes any kernel"
            )

    def _allocate(self, n_features):
        super()._allocate(n_features)
        # Both parameters are read once per stream: setting them later must change neither the size of a full
        # support set nor the way its rows are stored, which is dense if they are merged.
        self._budget, self._merges = int(self.budget), self.maintenance == "merging"

    def _new_store(self, dtype, sparse):
        return super()._new_store(dtype, sparse and not self._merges)

    def _learn_block(self, view, n, codes, scores):
        support, settings = self._support, (n, codes, scores, self._budget, float(self.lam))
        if not self._merges:
            return _learn_removing(view, support.companions, *settings)
        # The companions are k(x, x) of each support vector: 1 with the rbf kernel, the only one for merging.
        support.companions[:] = 1.0
        return _learn_merging(view, support.rows.in_loops(None), support.norms, support.companions, *settings)
