"""Online model selection: move to a more complex kernel when the stream shows that it pays.

Two LASVM of neighboring complexity learn the same rows. A two-sample t-test of their mean 0/1 losses shows
whether the more complex one is better. The first γ is chosen by cross-validation of LASVM on the first rows
of the stream.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.special import ndtri, stdtr

from ..estimator.online_classifier import OnlineClassifier
from ..estimator.parameters import Count, Positive, between, check_positive
from ..kernel.kernel_classifier import RowCachingClassifier, block_ranges
from ..kernel.support.block_view import score_of
from ..kernel.support.cached_support import CachedSupport
from ..numeric.compiled import compiled, register_jitable
from ..numeric.margins import signed
from ..numeric.rows import as_rows, count_rows, row_range
from .lasvm import INTERCEPT, LASVM, learn, learn_row, new_solution
from .solvers.lasvm_steps import LasvmSettings


class ComplexityTest(NamedTuple):
    """The t-test that compares two models: statistics of their losses since the last switch, parameters."""

    #: (1,): number of losses of each model since the last switch.
    n: np.ndarray
    #: (2,): mean and variance of the losses of the simpler and of the more complex model.
    means: np.ndarray
    variances: np.ndarray
    #: Smallest number of losses of each model with which the test is made.
    least: float
    #: `p_value`: significance level of the two-sided test; `critical`: the normal quantile for this level.
    p_value: float
    critical: float
    #: Whether the variances are squared in the t statistic, as in the formula that Levi and Ullman print.
    squared: bool


def new_test(p_value, least, squared):
    """Return a `ComplexityTest` that has no losses yet; `least` is the number of losses before a test."""
    numbers = np.zeros(1), np.zeros(2), np.zeros(2)
    p_value = float(p_value)
    critical = float(-ndtri(p_value / 2.0))
    return ComplexityTest(*numbers, float(least), p_value, critical, bool(squared))


def clear_losses(test):
    """Set the statistics of the losses back to 0, as after a switch."""
    for numbers in (test.n, test.means, test.variances):
        numbers[:] = 0.0


@register_jitable
def note_losses(test, simple, complex_):
    """Update the statistics with the losses of both models on one row, 0.0 or 1.0."""
    test.n[0] += 1.0
    N = test.n[0]
    for k, loss in enumerate((simple, complex_)):
        test.means[k] = (test.means[k] * (N - 1.0) + loss) / N
        deviation = (loss - test.means[k]) ** 2
        test.variances[k] = (test.variances[k] * (N - 1.0) + deviation) / N


@register_jitable
def _spreads(test):
    """Return the variances of both models' losses, or the squares of these if ``test.squared``."""
    first, second = test.variances[0], test.variances[1]
    if test.squared:
        return first * first, second * second
    return first, second


@register_jitable
def may_be_significant(test):
    """Return whether `is_significant` can be true, by a faster test with the normal distribution.

    Student's t has heavier tails: a difference that is not significant by the normal distribution is not
    significant by Student's t.
    """
    N = test.n[0]
    gain = test.means[0] - test.means[1]
    first, second = _spreads(test)
    spread = (first + second) / N
    return test.least <= N and spread > 0.0 and gain >= 0.0 and gain > test.critical * math.sqrt(spread)


def is_significant(test):
    """Return whether the more complex model's mean loss is smaller by Welch's two-sided t-test."""
    N, (first, second), (a, b) = test.n[0], test.means, _spreads(test)
    freedom = (N - 1.0) * (a + b) ** 2 / (a**2 + b**2)
    if not freedom > 0.0:
        return False
    return bool(2.0 * stdtr(freedom, -(first - second) / math.sqrt((a + b) / N)) < test.p_value)


# γ is chosen on the first _ROWS rows, among _GAMMAS, by the errors of a cross-validation with _FOLDS folds.
_ROWS, _FOLDS = 100, 5
# The candidates for γ; 0.004 is the γ of the first level that Levi and Ullman print.
_GAMMAS = tuple(sorted([0.004, *(2.0**k for k in range(-15, 4, 2))]))


class FirstRows:
    """Copies of the first rows of a stream and of their labels, with which γ is chosen."""

    def __init__(self, n_features):
        self._n_features = n_features
        self._rows, self._codes = [], []

    def widen(self, n_features):
        """Accept rows with `n_features` features from now on; rows so far get zeros for the new features."""
        self._n_features = n_features
        self._rows = [sp.csr_matrix(rows) for rows in self._rows]
        for rows in self._rows:
            rows.resize(rows.shape[0], n_features)

    def __len__(self):
        return sum(len(codes) for codes in self._codes)

    @property
    def missing(self):
        """The number of rows that are still needed to choose γ."""
        return _ROWS - len(self)

    def add(self, X, codes):
        """Keep a copy of rows (a matrix or a CSR tuple) and of their labels."""
        if isinstance(X, tuple):
            data, indices, indptr = X
            part = slice(indptr[0], indptr[-1])
            shape = count_rows(X), self._n_features
            X = sp.csr_matrix((data[part], indices[part], indptr - indptr[0]), shape)
        self._rows.append(X.copy())
        self._codes.append(codes.copy())

    def take(self, dtype, sparse):
        """Return all rows as one matrix, dense or CSR, and their labels."""
        if sparse:
            rows = sp.vstack([sp.csr_matrix(part) for part in self._rows], format="csr")
        else:
            rows = np.concatenate(
                [part.toarray() if isinstance(part, sp.csr_matrix) else part for part in self._rows]
            )
        return rows.astype(dtype, copy=False), np.concatenate(self._codes)


def choose_gamma(X, codes, settings, classes):
    """Return the γ with the fewest errors (ties: the smallest), and the kernel evaluations for all γ.

    `codes` are the labels as positions in `classes`; `settings` are those of the `LASVM`.
    """
    tried = [_errors_in_folds(gamma, X, codes, settings, classes) for gamma in _GAMMAS]
    errors, evaluations = zip(*tried, strict=True)
    return _GAMMAS[int(np.argmin(errors))], sum(evaluations)


def _errors_in_folds(gamma, X, codes, settings, classes):
    """Cross-validate `LASVM` with this γ; return its errors on held-out rows, and kernel evaluations."""
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


class Progress(NamedTuple):
    """How far `learn_two` has learned a block of rows, and what it has counted."""

    #: Number of rows learned.
    learned: int
    #: Whether the loop ended at a row at which a switch to the more complex model may be due. This row has
    #: been scored but not learned.
    may_switch: bool
    #: Numbers of rows that the simpler and the more complex model store.
    sizes: tuple[int, int]
    mistakes: int
    updates: int
    evaluations: int


@compiled
def learn_two(view1, view2, solution1, solution2, sizes, codes, scores, settings, again, test, scored):
    """Learn rows with both models until a switch to the more complex one may be due.

    This is lines 7 to 19 of the algorithm of Levi and Ullman. The row at which a switch may be due is scored
    but not learned. The next call begins with this row and with `scored` True, and learns it without scoring
    it again.
    """
    n1, n2 = sizes
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        f1, f2 = score_of(view1.block, n1, t), score_of(view2.block, n2, t)
        if not (scored and t == 0):
            scores[t] = f1 + solution1[INTERCEPT]
            evaluations += n1 + n2
            wrong1, wrong2 = not y * scores[t] > 0.0, not y * (f2 + solution2[INTERCEPT]) > 0.0
            mistakes += wrong1
            note_losses(test, 1.0 * wrong1, 1.0 * wrong2)
            if may_be_significant(test):
                return Progress(t, True, (n1, n2), mistakes, updates, evaluations)
        n1, joined1 = learn_row(view1, n1, t, codes[t], f1, settings, again, solution1)
        n2, joined2 = learn_row(view2, n2, t, codes[t], f2, settings, again, solution2)
        updates += joined1
        evaluations += joined1 + joined2
    return Progress(codes.shape[0], False, (n1, n2), mistakes, updates, evaluations)


class Level(CachedSupport):
    """The LASVM of one level of complexity: its stored rows and its solution."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.solution = new_solution()

    def learn(self, X, codes, numbers, settings, blocks):
        """Let this new model learn rows X, whose stream numbers are `numbers`; return kernel evaluations."""
        evaluations = 0
        for start, stop in blocks:
            view = self.open_block(row_range(X, start, stop), stop - start, start)
            block = codes[start:stop], np.empty(stop - start)
            size, *_, taken = learn(view, self.support.size, *block, settings, False, self.solution)
            self.commit(size)
            evaluations += taken
        born = self.support.born
        born[:] = numbers[born]
        return evaluations


@dataclass(eq=False, repr=False)
class OnlineModelSelection(RowCachingClassifier):
    """OMS-LASVM: two `LASVM` of neighboring complexity; the more complex one takes over when it is better.

    The levels of complexity are γ = gamma_init, 2 gamma_init, 4 gamma_init, … for the rbf kernel, and the
    degrees 1, 2, 3, … for the polynomial one. Two models of successive levels score each example, then both
    learn it. The learner's score is that of the simpler model. When a t-test finds the mean 0/1 loss since
    the last switch significantly smaller for the more complex model, the learner switches: the more complex
    model becomes the simpler one, and a new model of the next level learns the support vectors of that one,
    the oldest first.

    Kernel evaluations are those of both models, counted as for `LASVM`, and those of the cross-validation.

    Parameters
    ----------
    C : float, default=1.0
        Bound of the coefficients, > 0.
    p_value : float, default=0.1
        Significance level of the two-sided test, between 0 and 1.
    min_examples : int, default=30
        No switch before this many examples since the last one, >= 1: the variances of a few losses say
        nothing.
    kernel : {"rbf", "poly"}, default="rbf"
    gamma_init : "cv" or float, default="cv"
        γ of the first level of the rbf kernel, > 0. With "cv" it is the γ among 2⁻¹⁵, 2⁻¹³, …, 2³ and 0.004
        (the paper's first level) with the fewest errors (ties: the smallest) in a 5-fold cross-validation on
        the first 100 examples, or on the first pass if it is shorter. Two new models then learn these rows
        again. Until then γ is 1/n_features and there is no switch.
    gamma, coef0 : float, default=1.0
        Parameters of the polynomial kernel.
    tau : float, default=1e-3
    fit_intercept : bool, default=True
        As for `LASVM`.
    cache_mb : float, default=200.0
        As for `LASVM`; each of the two models gets half.
    epochs : int, default=1
        Passes that `fit` makes.
    test : {"welch", "printed"}, default="welch"
        What the square root in the t statistic contains: the variances of the losses, as in Welch's test, or
        their squares, as the paper prints it. The default is Welch's because the paper names the test with
        unequal variances. Variances of such losses are below 1/4 and their squares far smaller, so with
        "printed" the complexity rises much earlier, and on less evidence.

    Attributes
    ----------
    complexity_ : int
        Level in use, from 1.
    gamma_ : float
    degree_ : int
        The kernel in use: γ, or degree of the polynomial kernel.
    switches_ : list of int
        Numbers of the examples, counted through all passes, at which the level rose to 2, 3, ….
    intercept_ : ndarray of float64, shape (1,)

    Notes
    -----
    There is no test while both variances are 0. The degrees of freedom are Welch's, computed from the numbers
    under the root. The rbf kernel is ``exp(-γ ‖x - z‖²)``, with the distance squared. `support_`,
    `dual_coef_`, `n_support_` and `n_updates_` are those of the simpler model, `model_bytes_` is the size of
    both.

    See Also
    --------
    LASVM
    KernelClassifier : More attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Levi, Ullman (2009), "Learning model complexity in an online environment", CRV, sections 2 and 3.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.RandomState(0).uniform(-1, 1, (500, 2))
    >>> learner = OnlineModelSelection(kernel="poly", C=10.0).fit(X, X[:, 0] * X[:, 1] > 0)
    >>> learner.degree_, len(learner.switches_)
    (2, 1)
    """

    C: Positive = 1.0
    p_value: Annotated[float, between(0, 1)] = 0.1
    min_examples: Count = 30
    kernel: Literal["rbf", "poly"] = field(default="rbf", kw_only=True)
    degree: ClassVar[int] = 1  # type: ignore[misc]  # no parameter here: each level sets its degree
    gamma_init: str | float = "cv"
    tau: Positive = 1e-3
    fit_intercept: bool = True
    test: Literal["welch", "printed"] = "welch"

    algorithm_version = 3

    def _check_parameters(self):
        if not (isinstance(self.gamma_init, str) and self.gamma_init == "cv"):
            check_positive(self, "gamma_init", or_else="'cv'")

    def _allocate(self, n_features):
        super()._allocate(n_features)
        self._models: Any = None
        # The parameters are read once per stream, because the solution is valid for these values only.
        self._settings = LasvmSettings(float(self.C), float(self.tau), bool(self.fit_intercept))
        self._test = new_test(self.p_value, self.min_examples, self.test == "printed")
        self._family = self.kernel, float(self.gamma), float(self.coef0)
        self.complexity_, self.switches_ = 1, []
        # The rows on which γ is chosen; None if γ is known.
        self._first: FirstRows | None = None
        self._gamma_init = self.gamma_init
        if self.kernel == "rbf" and self.gamma_init == "cv":
            self._first, self._gamma_init = FirstRows(n_features), 1.0 / n_features

    @property
    def gamma_(self) -> float:
        return self._function(self.complexity_)[1]

    @property
    def degree_(self) -> int:
        return self._function(self.complexity_)[3]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        return self._models[0].solution[:1].copy() if self._models else np.zeros(1)

    @property
    def model_bytes_(self) -> int:
        return sum(model.n_bytes() for model in self._models or ())

    def counters(self) -> dict[str, int]:
        return super().counters() | {"complexity": self.complexity_}

    def switches(self) -> list[int]:
        return self.switches_

    def _function(self, level):
        kernel, gamma, coef0 = self._family
        if kernel == "rbf":
            return "rbf", float(self._gamma_init) * 2.0 ** (level - 1), 0.0, 1
        return "poly", gamma, coef0, level

    def _begin_model(self, level):
        cache_mb = float(self.cache_mb) / 2
        return Level(self._function(level), self.n_features_in_, self._dtype, self._sparse, cache_mb)

    def _use(self, simple, other):
        """Make `simple` and `other` the two models in use; the learner's scores are those of `simple`."""
        self._models, self._store = (simple, other), simple

    def _begin_models(self):
        self._use(self._begin_model(self.complexity_), self._begin_model(self.complexity_ + 1))

    def _pass(self, X, codes, scores):
        if self._models is None:
            self._sparse = isinstance(X, tuple)
            self._dtype = (X[0] if self._sparse else X).dtype
            self._begin_models()
        mistakes = updates = start = 0
        n = count_rows(X)
        while start < n:
            stop = min(n, start + self._block_rows)
            if self._first is not None:
                stop = min(stop, start + self._first.missing)
            block = row_range(X, start, stop), codes[start:stop]
            wrong, changed = self._learn_with_both(*block, scores[start:stop], self.n_examples_ + start)
            mistakes += wrong
            updates += changed
            start = stop
            if self._first is not None:
                self._first.add(*block)
                if not self._first.missing:
                    self._choose_gamma(self._first)
        self.n_support_ = self._support.size
        return mistakes, updates

    def _learn_with_both(self, X, codes, scores, number):
        """Let both models learn a block of rows, and switch to the more complex one when the test says so.

        `number` is the number of the block's first row in the stream.
        """
        test = self._test if self._first is None else self._test._replace(least=math.inf)
        mistakes = updates = start = 0
        scored = False
        while start < len(codes):
            block = row_range(X, start, len(codes)), len(codes) - start, number + start - self._pass_start
            simple, other = self._models
            progress = learn_two(
                simple.open_block(*block),
                other.open_block(*block),
                simple.solution,
                other.solution,
                (simple.support.size, other.support.size),
                codes[start:],
                scores[start:],
                self._settings,
                self._is_again,
                test,
                scored,
            )
            for model, size in zip(self._models, progress.sizes, strict=True):
                model.commit(size)
            mistakes += progress.mistakes
            updates += progress.updates
            self.n_kernel_evaluations_ += progress.evaluations
            start += progress.learned
            scored = progress.may_switch
            if scored and is_significant(test):
                self._switch(number + start)
        return mistakes, updates

    def _switch(self, number):
        """Use the more complex model, and start one of the next level with its support vectors."""
        self.complexity_ += 1
        self.switches_.append(int(number))
        clear_losses(self._test)
        _, simple = self._models
        other, support = self._begin_model(self.complexity_ + 1), simple.support
        order = np.argsort(support.born)
        codes = (simple.labels[order] > 0.0).astype(np.int32)
        self._teach(other, support.matrix(order), codes, support.born[order])
        self._use(simple, other)
        # The current row was scored by the old pair of models; the new model has to score it, too.
        self.n_kernel_evaluations_ += other.support.size

    def _teach(self, model, X, codes, numbers):
        """Let a new model learn the rows of a matrix; `numbers` are their numbers in the stream."""
        blocks = block_ranges(len(codes), self._block_rows)
        self.n_kernel_evaluations_ += model.learn(as_rows(X), codes, numbers, self._settings, blocks)

    def _choose_gamma(self, first):
        """Choose γ by cross-validation on the first rows, then let two new models learn these rows.

        The new models replace the two that learned these rows with a first guess, γ = 1/n_features.
        """
        X, codes = first.take(self._dtype, self._sparse)
        self._gamma_init, evaluations = choose_gamma(X, codes, self._settings, self.classes_)
        self.n_kernel_evaluations_ += evaluations
        self._first = None
        clear_losses(self._test)
        self._begin_models()
        for model in self._models:
            self._teach(model, X, codes, np.arange(len(codes)) - self._pass_start)

    def inner_learners(self) -> list[OnlineClassifier]:
        return [LASVM(self.C, self.tau, self.fit_intercept, kernel=self.kernel)]

    def _score(self, X, scores):
        super()._score(X, scores)
        scores += self.intercept_

    def end_of_pass(self, last: bool) -> None:
        if self._first:
            self._choose_gamma(self._first)
            self.n_support_ = self._support.size
        super().end_of_pass(last)
