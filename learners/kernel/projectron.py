"""The Projectron and the Projectron++."""

import math
from dataclasses import dataclass

import numpy as np

from ..estimator.parameters import NonNegative, Positive
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from ..numeric.rows import borrowed, count_rows, squared_norms_of_rows
from .kernel_classifier import KernelClassifier, MulticlassKernelClassifier, kernel_function
from .support.block_view import add, add_pair, score_classes, score_of
from .support.inverse_factor import (
    grow_factor,
    likely_next,
    project,
    projected,
    projected_norm,
    room_to_project,
)
from .values.functions import function_in_loops, own_values

# The compiled loops use their arguments without counting references (`borrowed`), which saves time. Therefore
# the caller allocates a loop's temporary arrays and keeps them until the loop ends.


@compiled
def _learn(work, view, n, codes, scores, eta, U, plus, rounding):
    """Learn a block of rows by the Projectron (Orabona, Keshet and Caputo 2008) or, if `plus`, Projectron++.

    A row with a mistake is stored if its distance from the span exceeds `eta` or, with U > 0, the threshold
    of eq. 13. On a margin error, U replaces 1/eta, so that the step makes progress towards any function of
    norm at most U.
    """
    mistakes = updates = evaluations = 0
    view, work = borrowed(view), borrowed(work)
    # `ahead` is a later row that is projected together with the current one, which is faster than one by one.
    # If the current row becomes a support vector, the projection of the later row cannot be used.
    ahead, joining = -1, False
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        evaluations += n
        m = y * scores[t]
        mistake = not m > 0.0
        mistakes += mistake
        if not (mistake or (plus and m < 1.0)):
            continue
        evaluations += 1
        if not view.own[t] < np.inf:
            continue
        # Project row t, unless it was projected together with an earlier row. Then compute the squared norm
        # of the projection and the squared distance δ² of the row from it (eqs. 8 and 9).
        place = 1 if t == ahead else 0
        if place == 0:
            ahead = -1 if joining else likely_next(view, n, t, y, codes, 1.0 if plus else 0.0)
            project(view, n, t, ahead, work)
        norm = projected_norm(n, place, work)
        squared_distance = max(0.0, view.own[t] - norm)
        if squared_distance < rounding * view.own[t]:
            squared_distance = 0.0
        distance = math.sqrt(squared_distance)
        l = 1.0 - m
        if mistake:
            updates += 1
            threshold = (2.0 * l - norm - 0.5) / (2.0 * U) if U > 0.0 else eta
            joining = distance > threshold
            if not joining:
                d = projected(n, place, work)
                for i in range(n):
                    view.alpha[i] += y * d[i]
            else:
                grow_factor(view, n, place, work, squared_distance)
                n = add(view, n, t, y)
                ahead = -1
        else:
            norm = view.own[t] - squared_distance
            gain = l
            if distance > 0.0:
                gain = l - U * distance if U > 0.0 else l - distance / eta
            if gain > 0.0 and norm > 0.0:
                updates += 1
                τ = min(l / norm, 2.0 * gain / norm, 1.0)
                d = projected(n, place, work)
                for i in range(n):
                    view.alpha[i] += τ * y * d[i]
    return n, mistakes, updates, evaluations


@compiled
def _learn_classes(work, view, n, codes, scores, eta, rounding):
    """Learn rows of more than two classes; a step adds to the right class, subtracts from the best wrong."""
    mistakes = updates = evaluations = 0
    view, work = borrowed(view), borrowed(work)
    for t in range(codes.shape[0]):
        y, s = codes[t], scores[t]
        z = score_classes(view, n, t, y, s)
        evaluations += n
        if s[y] - s[z] > 0.0:
            continue
        mistakes += 1
        evaluations += 1
        if not view.own[t] < np.inf:
            continue
        updates += 1
        project(view, n, t, -1, work)
        squared_distance = view.own[t] - projected_norm(n, 0, work)
        if squared_distance < rounding * view.own[t]:
            squared_distance = 0.0
        if math.sqrt(squared_distance) <= eta:
            d = projected(n, 0, work)
            for i in range(n):
                view.alpha[y, i] += d[i]
                view.alpha[z, i] -= d[i]
        else:
            grow_factor(view, n, 0, work, squared_distance)
            n = add_pair(view, n, t, 1.0, y, z)
    return n, mistakes, updates, evaluations


# For each dtype of the kernel values: a squared distance below this share of k(x, x) is a rounding error.
_ROUNDING = {np.dtype(np.float64): 1e-12, np.dtype(np.float32): 1e-6}


@dataclass(eq=False, repr=False)
class _Projecting(KernelClassifier):
    """Base of the learners that project rows onto the span of the support set."""

    eta: NonNegative = 0.1
    U: Positive | None = None

    _keeps_factor = _seldom_joins = only_adds = True

    algorithm_version = 2

    def _pass(self, X, codes, scores):
        self.check_rows(X)
        return super()._pass(X, codes, scores)

    def check_rows(self, X):
        if self.U is None:
            return
        # The threshold that U defines needs k(x, x) <= 1.
        norms = np.empty(count_rows(X))
        squared_norms_of_rows(X, norms)
        own = np.empty(len(norms))
        # A kernel changed by `set_params` waits for the next `fit`.
        function = self._support._function if self._support else kernel_function(self)
        own_values(function_in_loops(function, norms.dtype), norms, own)
        if own.max(initial=0.0) > 1.0 + 1e-6:
            worst, name = int(own.argmax()), type(self).__name__
            raise ValueError(
                f"{name}: U needs k(x, x) <= 1, but row {worst} (counted from 0) has {own[worst]:g}; "
                "scale the rows, or give eta instead of U"
            )

    def _project(self, view, n, codes, scores, plus):
        rounding, U = _ROUNDING[view.values.dtype], 0.0 if self.U is None else float(self.U)
        work = room_to_project(view)
        return _learn(work, view, n, codes, scores, float(self.eta), U, plus, rounding)


@dataclass(eq=False, repr=False)
class Projectron(_Projecting, MulticlassKernelClassifier):
    """The Projectron: a mistake's row is projected onto the span of the support set if that costs little.

    Let K_S be the kernel matrix of the support set, k_t the kernel values of row t with it, ``d = K_S⁻¹ k_t``
    the coefficients of the projection, and δ the distance of k(x, ·) from the span. On a mistake with
    ``δ <= eta``, ``α += y d`` and the support set does not change; on any other mistake the row joins it with
    α = y. With eta > 0 the support set is finite for any stream in a bounded region. With eta = 0 predictions
    are the kernel Perceptron's.

    With more than two classes, ``d`` (or 1, if the row joins) is added to the coefficients of the right class
    and subtracted from those of the best wrong class.

    A mistake takes one kernel evaluation, k(x, x), besides those of its prediction.

    Parameters
    ----------
    eta : float, default=0.1
        Largest δ with which a row is projected instead of stored, >= 0 (some implementations compare δ²). If
        eta is at least √k(x, x), which is 1 with the rbf kernel, no row is stored and nothing is learned.
    U : float, default=None
        A bound on the norm of the functions to compete with, > 0. It replaces `eta` by the largest threshold
        with which each mistake makes progress, ``(2l - ‖P k‖² - 0.5)/(2U)`` for the hinge loss l and the
        projection P k of the row. It needs k(x, x) <= 1 and two classes. With k(x, x) = 1, as with the rbf
        kernel, U must exceed 0.75, or no row is ever stored.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    Raises
    ------
    ValueError
        While learning with U, for rows whose k(x, x) exceeds 1; nothing is learned then.

    Notes
    -----
    The inverse of the Cholesky factor of K_S is stored in float64: 4 n² bytes for n support vectors, read
    once per mistake or per two mistakes. A δ² below 1e-12 k(x, x) (1e-6 for float32 kernel values) is
    rounding and counts as 0. With an `eta` near 0 and nearly dependent float64 rows, rounding influences
    which rows join, and projections have few digits.

    See Also
    --------
    ProjectronPlusPlus
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Orabona, Keshet, Caputo (2008), "The Projectron: a bounded kernel-based Perceptron", ICML: algorithm 2,
    eqs. 8 to 11 and 13.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [0.1], [0.9]], [0, 1, 1, 0]
    >>> Projectron(eta=0.0).fit(X, y).n_support_, Projectron(eta=0.2).fit(X, y).n_support_
    (4, 2)
    """

    @property
    def _takes_many_classes(self) -> bool:  # type: ignore[override]
        return self.U is None

    def _allocate_classes(self, n_features, n_classes):
        self._refuse_norm(n_classes)
        super()._allocate_classes(n_features, n_classes)

    def _refuse_norm(self, n_classes):
        if self.U is not None:
            raise ValueError(f"Projectron: U is for two classes, not {n_classes}; give eta instead")

    def _learn_block(self, view, n, codes, scores):
        return self._project(view, n, codes, scores, False)

    def _learn_block_of_classes(self, view, n, codes, scores):
        self._refuse_norm(scores.shape[1])
        work, rounding = room_to_project(view), _ROUNDING[view.values.dtype]
        return _learn_classes(work, view, n, codes, scores, float(self.eta), rounding)


@dataclass(eq=False, repr=False)
class ProjectronPlusPlus(_Projecting):
    """The Projectron++: a Projectron that also learns rows inside the margin, if their δ is small enough.

    A mistake is handled as in `Projectron`, which also defines d and δ. Let ``m = y f(x)`` be the margin,
    ``l = 1 - m`` the hinge loss and ``p² = k(x, x) - δ²``. On a margin error (0 < m < 1) with
    ``l - δ/eta > 0``, ``α += τ y d`` with ``τ = min(l/p², 2(l - δ/eta)/p², 1)``; the support set does not
    grow.

    A mistake or margin error takes one kernel evaluation, k(x, x), besides those of its prediction.

    Parameters
    ----------
    eta : float, default=0.1
        Largest δ with which a mistake's row is projected instead of stored, >= 0.
    U : float, default=None
        A bound on the norm of the functions to compete with, as for `Projectron`: on a mistake the threshold
        is then that of eq. 13, and on a margin error 1/U replaces `eta`.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    Raises
    ------
    ValueError
        While learning with U, for rows whose k(x, x) exceeds 1; nothing is learned then.

    See Also
    --------
    Projectron : Notes on memory and rounding.
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Orabona, Keshet, Caputo (2008), "The Projectron: a bounded kernel-based Perceptron", ICML, section 4.1.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [0.1], [0.9]], [0, 1, 0, 1]
    >>> learner = ProjectronPlusPlus(eta=0.5).fit(X, y)
    >>> learner.n_support_, learner.n_mistakes_, learner.n_updates_
    (2, 2, 4)
    """

    def _learn_block(self, view, n, codes, scores):
        return self._project(view, n, codes, scores, True)
