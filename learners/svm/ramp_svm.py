"""Online support vector machines with the ramp loss: OnlineSVMR, OnlineASVMR and one that retrains."""

import math
from dataclasses import KW_ONLY, dataclass
from typing import Annotated

import numpy as np

from ..estimator.parameters import NonNegative, Positive, Size, between
from ..kernel.kernel_classifier import RowCachingClassifier
from ..kernel.support.cached_support import add, cache_row, is_stored
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from .solvers.ramp import (
    MOST_ROUNDS,
    MOST_STEPS_OF_A_ROW,
    RampSupport,
    best_alpha,
    remove_far_ones,
    rules_of,
    score_of_support,
    start_over,
    take_steps,
)

# Special values of arguments of `learn`: with ``most=ALL`` there is no limit for remembered rows, with
# ``initial=REMEMBER`` rows are only stored.
ALL = -1
REMEMBER = -1.0


@compiled
def learn(view, n, codes, scores, rules, most, within_margin, initial, again):
    """Learn a block of rows by Algorithm 1 of Wang and Vucetic (2010).

    `most` limits the number of remembered rows that are no support vectors (Algorithm 2); ALL: no limit.
    `within_margin` skips rows with ``|f(x)| > 1`` (Algorithm 3). With ``initial > 0`` training starts from
    scratch after each row, with this share of the rows as the first active set V. With ``initial = REMEMBER``
    rows are only stored.
    """
    cached = view.cached
    mistakes = updates = evaluations = queried = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t], n_support = score_of_support(view, n, t)
        evaluations += n_support
        mistakes += not y * scores[t] > 0.0
        if within_margin and not abs(scores[t]) <= 1.0:
            continue
        known = again and is_stored(cached, n, t)
        queried += not known
        if known or not cached.block.own[t] < math.inf:
            continue
        g = 1.0 - y * scores[t]
        i, n = n, add(cached, n, t, y, g)
        view.active[i] = False
        evaluations += 1
        if initial > 0.0 or (initial == 0.0 and 0.0 <= g <= 2.0):
            updates += 1
            cache_row(cached, n, i, t)
            view.active[i] = True
            α = best_alpha(0.0, g, cached.diagonal[i], rules.C)
            if initial > 0.0:
                start_over(cached.block.alpha, cached.gradients, view.active, n, math.ceil(initial * n))
                evaluations += n - 1
                i = -1
            evaluations += n * take_steps(view, n, rules, i, α, MOST_ROUNDS, MOST_STEPS_OF_A_ROW)
        if most >= 0:
            n = remove_far_ones(view, n, t, most)
    return n, mistakes, updates, evaluations, queried


@dataclass(eq=False, repr=False)
class RampSVM(RowCachingClassifier):
    """Base of the online SVMs with the ramp loss: the examples they remember, and their attributes.

    A subclass defines ``_learn_block(view, n, codes, scores)``, with a `RampView`, which returns the number
    of remembered examples, mistakes, updates and kernel evaluations. The attributes are those of
    `OnlineRampSVM`.
    """

    algorithm_version = 2

    _store_class = RampSupport

    C: Positive = 1.0
    _: KW_ONLY
    tol: NonNegative = 1e-3
    min_gain: NonNegative = 1e-5

    def _allocate(self, n_features):
        super()._allocate(n_features)
        # The parameters are read once per stream, because the solution is valid for these values only.
        self._rules = rules_of(self)

    def _pass(self, X, codes, scores):
        outcome = super()._pass(X, codes, scores)
        self.n_support_ = int(np.count_nonzero(self._support.alpha))
        return outcome

    def _support_to_score(self):
        return self._store.support_vectors() if self._store else None

    def _order(self):
        order = super()._order()
        return order[self._support.alpha[order] != 0.0] if self._support else order

    @property
    def n_stored_(self) -> int:
        return self._support.size if self._support else 0

    @property
    def n_active_(self) -> int:
        return int(self._store.active.sum()) if self._store else 0

    @property
    def objective_(self) -> float:
        return self._store.objective(self._rules.C) if self._store else 0.0


@dataclass(eq=False, repr=False)
class OnlineRampSVM(RampSVM):
    """OnlineSVMR: the SVM with the ramp loss of all rows so far, optimized again after each row.

    The ramp loss is ``min(2, max(0, 1 - y f(x)))``: a row beyond the margin of the other class has the loss
    2, like a row on that margin, and is no support vector. There is no bias. A row with
    ``0 <= 1 - y f(x) <= 2`` is an update: it joins the active set V, on which coordinate steps are made,
    largest gain first. Then V becomes the rows with ``1 - y f(x) <= 2``, and so on until V does not change.
    Other rows are only remembered.

    A row takes a kernel evaluation with each support vector to predict and one with itself; each change of a
    coefficient takes one with every remembered row.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss and bound of the coefficients, > 0.
    max_non_support : int, default=None
        Largest number of remembered rows that are no support vectors: those with the smallest ``|f(x)|`` are
        kept (Algorithm 2). None: all; the paper takes 100 or 1000.
    tol : float, default=1e-3
        Tolerance of the KKT conditions, >= 0.
    min_gain : float, default=1e-5
        Steps that gain less in the dual objective are not taken, >= 0. With noise this leaves larger
        violations of the KKT conditions than `tol`, and saves many steps; with 0 only the tolerance counts.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    cache_mb : float, default=200.0
        Limit in MiB, >= 0, of the cached rows of kernel values. It affects time only.
    epochs : int, default=1
        Passes that `fit` makes. A row that is still remembered is not learned again.

    Attributes
    ----------
    n_stored_ : int
        Examples remembered, support vectors or not.
    n_active_ : int
        Remembered examples in the active set V.
    objective_ : float
        ``½ ‖w‖² + C Σ R(y f(x))`` over the remembered examples (eq. 7), R being the ramp loss.

    Notes
    -----
    Every row in V meets its KKT condition (eq. 3) within `tol`, or no step on the row would gain `min_gain`.
    A row that was only remembered may join V with the next update. An update also ends if optimizing on a new
    V has not lowered the objective; the remaining violations are within the tolerance. So a row with
    ``1 - y f(x)`` of about 2 may be in V or not: the larger `min_gain`, the wider that range. An update also
    ends after 100,000 steps, and the next one continues. That happens if C is large and the kernel is wide,
    so that rows nearly depend on one another: a step on one coefficient then does little, and a larger
    `min_gain` saves time.

    See Also
    --------
    ActiveRampSVM : Asks for the labels within the margin only.
    OfflineRampSVM : The same problem in one batch.
    KernelClassifier : More attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Wang, Vucetic (2010), "Fast online training of ramp loss support vector machines", ICDM, Algorithms 1, 2.

    Examples
    --------
    >>> learner = OnlineRampSVM().fit([[0.0], [10.0], [1.0], [0.5]], [0, 1, 0, 1])
    >>> learner.support_.tolist(), learner.n_stored_
    ([0, 1, 2], 4)
    """

    max_non_support: Size | None = None

    def _learn_block(self, view, n, codes, scores):
        most = ALL if self.max_non_support is None else int(self.max_non_support)
        return learn(view, n, codes, scores, self._rules, most, False, 0.0, self._is_again)[:4]


@dataclass(eq=False, repr=False)
class ActiveRampSVM(RampSVM):
    """OnlineASVMR: the online SVM with the ramp loss that asks for a label only if ``|f(x)| <= 1``.

    All other rows are skipped after their prediction. The result equals that of `OnlineRampSVM` on the
    queried rows alone. Mistakes are counted on all rows.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss and bound of the coefficients, > 0.
    tol, min_gain : default=1e-3, 1e-5
        When optimization stops, as for `OnlineRampSVM`.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    cache_mb, epochs : default=200.0, 1
        As for `OnlineRampSVM`.

    Attributes
    ----------
    n_queried_ : int
        Number of labels asked for. In a later pass, labels of remembered rows are not asked for again.
    n_stored_, n_active_, objective_
        As for `OnlineRampSVM`.

    See Also
    --------
    OnlineRampSVM : Kernel evaluations and optimality.
    Greedy : An active strategy for any learner.
    KernelClassifier : More attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Wang, Vucetic (2010), "Fast online training of ramp loss support vector machines", ICDM, Algorithm 3.

    Examples
    --------
    >>> learner = ActiveRampSVM(C=10.0).fit([[0.0], [10.0], [0.1], [0.0]], [0, 1, 0, 1])
    >>> learner.n_queried_
    4
    """

    asks_for_labels = True

    def _allocate(self, n_features):
        super()._allocate(n_features)
        self.n_queried_ = 0

    def _learn_block(self, view, n, codes, scores):
        *outcome, queried = learn(view, n, codes, scores, self._rules, ALL, True, 0.0, self._is_again)
        self.n_queried_ += queried
        return outcome

    def counters(self) -> dict[str, int]:
        return super().counters() | {"queried": self.n_queried_}


@dataclass(eq=False, repr=False)
class RetrainedRampSVM(RampSVM):
    """The naive online SVM with the ramp loss: after each row it trains from scratch on all rows so far.

    It shows what `OnlineRampSVM` saves, and is for short streams: each row takes a training by the CCCP, as
    in `OfflineRampSVM`. Every row is an update.

    Kernel evaluations are counted as if each training started from nothing: one per row with itself, one with
    every row for each change of a coefficient, and one with each support vector to predict. This is the
    number in the paper's Fig. 4a; the implementation computes fewer.

    Parameters
    ----------
    C : float, default=1.0
        Weight of the loss and bound of the coefficients, > 0.
    initial : float, default=0.1
        Share of the rows so far, the first ones, that form the first active set of each training; > 0, <= 1.
    tol, min_gain : default=1e-3, 1e-5
        When optimization stops, as for `OnlineRampSVM`.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    cache_mb, epochs : default=200.0, 1
        As for `OnlineRampSVM`.

    Attributes
    ----------
    n_stored_, n_active_, objective_
        As for `OnlineRampSVM`.

    See Also
    --------
    OfflineRampSVM : One training on all rows.
    KernelClassifier : More attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Wang, Vucetic (2010), "Fast online training of ramp loss support vector machines", ICDM, section V.B and
    Fig. 4a.

    Examples
    --------
    >>> learner = RetrainedRampSVM().fit([[0.0], [10.0], [0.1], [0.0]], [0, 1, 0, 1])
    >>> learner.n_updates_, learner.predict([[0.2], [9.0]]).tolist()
    (4, [0, 1])
    """

    initial: Annotated[float, between(0.0, 1.0, include_high=True)] = 0.1

    def _learn_block(self, view, n, codes, scores):
        initial = float(self.initial)
        return learn(view, n, codes, scores, self._rules, ALL, False, initial, self._is_again)[:4]
