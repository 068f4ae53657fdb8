"""LASVM: an online support vector machine."""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from ..estimator.parameters import Positive
from ..kernel.kernel_classifier import RowCachingClassifier
from ..kernel.support.block_view import score_of
from ..kernel.support.cached_support import is_stored
from ..numeric.compiled import compiled, register_jitable
from ..numeric.margins import signed
from .solvers.lasvm_steps import LasvmSettings, extremes, finish_reprocess, process, reprocess

# If there is an intercept, the first examples of each class, up to this number, are always stored, whatever
# their gradients.
_SEEDS = 5

# Positions in the solution array: the intercept; from SEEN on, the number of examples seen of each class.
INTERCEPT, SEEN = 0, 1

# The gradient of an example is a sum of terms α k, with kernel values k. A difference of gradients below this
# share of Σ|α| times the largest k is a rounding error.
_ROUNDING = 1e-14
# Limits of the steps of `optimize`: in total and per stored row; the larger one counts. If the kernel matrix
# is so badly conditioned that these steps do not suffice, more would hardly help.
_MOST_STEPS, _MOST_STEPS_EACH = 100_000, 1000


def new_solution():
    """Return a new solution array: the intercept, then the number of examples seen of each class, all 0."""
    return np.zeros(3)


@register_jitable
def learn_row(view, n, t, code, f, settings, again, solution):
    """Learn row t, whose score without the intercept is `f`, by LASVM's steps PROCESS and REPROCESS.

    Return the number of stored rows, and whether row t was stored. An intercept needs rows of both classes.
    With an intercept, the first few rows of each class are therefore always stored, without REPROCESS.
    """
    y = signed(code)
    seed = settings.intercept and solution[SEEN + code] < _SEEDS
    solution[SEEN + code] += 1.0
    before = n
    if view.block.own[t] < np.inf and not (again and is_stored(view, n, t)):
        n = process(view, n, t, y, y - f, settings, seed)
    joined = n > before
    if not seed:
        reprocess(view, n, settings)
    return finish_reprocess(view, n, t, settings, not seed, solution), joined


@compiled
def learn(view, n, codes, scores, settings, again, solution):
    """Learn a block of rows by LASVM (Bordes et al. 2005, 3.2): for each, PROCESS, then one REPROCESS."""
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        f = score_of(view.block, n, t)
        scores[t] = f + solution[INTERCEPT]
        evaluations += n
        mistakes += not y * scores[t] > 0.0
        n, joined = learn_row(view, n, t, codes[t], f, settings, again, solution)
        updates += joined
    return n, mistakes, updates, evaluations + updates


@compiled
def optimize(view, n, settings, solution):
    """Optimize over the stored rows: REPROCESS until no pair is τ-violating, then remove idle rows.

    A pair is τ-violating if a step could move it and its gradients differ by more than τ. Return the number
    of stored rows, and the largest difference of gradients that remains (at least 0).
    """
    C, tau, intercept = settings
    largest = total = 0.0
    for s in range(n):
        largest = max(largest, view.diagonal[s])
        total += abs(view.block.alpha[s])
    settings = LasvmSettings(C, max(tau, _ROUNDING * largest * max(total, C)), intercept)
    for _ in range(max(_MOST_STEPS, _MOST_STEPS_EACH * n)):
        if not reprocess(view, n, settings):
            break
    i, j, high, low = extremes(view, n, settings)
    gap = max(high - low, 0.0) if (i >= 0 and j >= 0) or not intercept else 0.0
    return finish_reprocess(view, n, 0, settings, True, solution), gap


@dataclass(eq=False, repr=False)
class LASVM(RowCachingClassifier):
    """LASVM: a support vector machine whose optimizer gets one example at a time.

    It climbs the dual objective ``Σ α_i y_i - ½ Σ α_i α_j k(x_i, x_j)``, α_i between 0 and C y_i, by steps on
    two coefficients (with an intercept, which keeps Σ α = 0) or on one. PROCESS stores an example if a step
    can move its α from 0 towards C y, judged by the gradients ``y - f(x)``, and makes the best step with it.
    REPROCESS makes the best step among the stored examples, then drops those with α = 0 that no step would
    move. Dropped examples are lost: the objective after one pass is a little below a batch solver's, after
    two or three passes it is not.

    The kernel value of two support vectors counts as one evaluation, made when the later of the two was
    predicted; a row that is stored takes one more, k(x, x). Values that the cache has lost are computed again
    but not counted again.

    Parameters
    ----------
    C : float, default=1.0
        Bound of the coefficients, > 0.
    tau : float, default=1e-3
        A pair (i, j) whose gradients differ by no more than this is not moved, > 0.
    fit_intercept : bool, default=True
        Whether there is an intercept. If so, scores are 0 until there are examples of both classes, and the
        first five of each class are always stored.
    finish : bool, default=False
        Whether `fit` (and a study, before it tests) ends with `optimize`.
    kernel, gamma, degree, coef0 : default="rbf", 1.0, 3, 1.0
        The kernel, as for `KernelPerceptron`.
    cache_mb : float, default=200.0
        Limit in MiB, >= 0, of the cached rows of kernel values between support vectors; two rows are always
        cached. It affects time only.
    epochs : int, default=1
        Passes that `fit` makes. An example that is still a support vector is not processed again.

    Attributes
    ----------
    intercept_ : ndarray of float64, shape (1,)
        0 without an intercept.
    dual_objective_ : float
        The objective that the learner maximizes.
    gap_ : float
        Difference of the gradients of the most violating pair at the end of `optimize`, 0 if no pair
        violates; not set before. At most tau, unless the steps ran out or rounding errors are larger.

    Notes
    -----
    `n_updates_` counts the examples that were stored.

    See Also
    --------
    KernelClassifier : More attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Bordes, Ertekin, Weston, Bottou (2005), "Fast kernel classifiers with online and active learning", JMLR 6,
    section 3. The rule by which an example is stored, and the steps without an intercept, are those of the
    authors' code.

    Examples
    --------
    >>> X, y = [[0.0], [1.0], [0.2], [0.8], [3.0], [-2.0]], [0, 1, 0, 1, 1, 0]
    >>> learner = LASVM(C=10.0, finish=True).fit(X, y)
    >>> learner.n_support_, learner.predict([[0.4], [0.6]]).tolist()
    (4, [0, 1])
    """

    C: Positive = 1.0
    tau: Positive = 1e-3
    fit_intercept: bool = True
    finish: bool = False

    def _allocate(self, n_features):
        super()._allocate(n_features)
        vars(self).pop("gap_", None)
        self._solution = new_solution()
        # The parameters are read once per stream, because the solution is valid for these values only.
        self._settings = LasvmSettings(float(self.C), float(self.tau), bool(self.fit_intercept))

    def _learn_block(self, view, n, codes, scores):
        return learn(view, n, codes, scores, self._settings, self._is_again, self._solution)

    def _score(self, X, scores):
        super()._score(X, scores)
        scores += self._solution[INTERCEPT]

    def end_of_pass(self, last: bool) -> None:
        super().end_of_pass(last)
        if last and self.finish:
            self.optimize()

    def optimize(self) -> Self:
        """Optimize over the support vectors until no pair is tau-violating, then drop those that cannot move.

        These have α = 0 and a gradient that makes no violating pair, as after each step of learning. Others
        with α = 0 stay.

        The objective reaches its maximum over the current support vectors, unless the steps run out: there
        are at most 1000 per support vector, or 100,000 if that is more. `optimize` can be called at any time;
        learning may go on afterwards.

        Returns
        -------
        self
        """
        check_is_fitted(self)
        if self._store is not None:
            view = self._store.open_empty_block()
            size, self.gap_ = optimize(view, self._support.size, self._settings, self._solution)
            self._store.commit(size)
            self.n_support_ = size
        return self

    @property
    def intercept_(self) -> NDArray[np.float64]:
        return self._solution[INTERCEPT : INTERCEPT + 1].copy()

    @property
    def dual_objective_(self) -> float:
        if self._store is None:
            return 0.0
        return float(self._support.alpha @ (self._store.gradients + self._store.labels)) / 2.0
