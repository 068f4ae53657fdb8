"""Online model selection: kernels of growing complexity, as the stream shows that they are worth it."""

import math

import numpy as np
import scipy.sparse as sp
from scipy.special import ndtri, stdtr

from ..estimator.parameters import (
    check_between,
    check_bool,
    check_count,
    check_nonnegative,
    check_option,
    check_positive,
)
from ..kernel.kernel_classifier import RowCachingClassifier, check_kernel_offset
from ..kernel.support.block_view import score_of
from ..kernel.support.cached_support import KernelRows
from ..numeric.compiled import compiled
from ..numeric.rows import as_rows, count_rows, row_range
from .lasvm import INTERCEPT, LASVM, learn, learn_row, new_solution

# γ of the first level is chosen on this many examples, among these values, by the errors in this many folds.
_FIRST, _FOLDS = 100, 5
_GAMMAS = tuple(2.0**k for k in range(-15, 4, 2))

# What is known of the losses since the last switch: how many, their means and variances.
_N, _MEAN, _VARIANCE = 0, 1, 3


@compiled
def _learn_two(
    K1, K2, n1, n2, codes, scores, settings, again, solution1, solution2, losses, judged, critical, m
):
    """Lines 7 to 19 of the algorithm of Levi and Ullman, up to the row that may be one for a switch.

    With `judged` that was the first row, which then is learnt without being scored again. Returns how many
    rows are learnt, whether a switch may be due, both numbers of rows kept, mistakes, updates, evaluations.
    """
    C, tau, intercept = settings
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = 1.0 if codes[t] == 1 else -1.0
        f1, f2 = score_of(K1.walk, n1, t), score_of(K2.walk, n2, t)
        if not (judged and t == 0):
            scores[t] = f1 + solution1[INTERCEPT]
            wrong1, wrong2 = not y * scores[t] > 0.0, not y * (f2 + solution2[INTERCEPT]) > 0.0
            mistakes += wrong1
            evaluations += n1 + n2
            losses[_N] += 1.0
            N = losses[_N]
            for k, loss in enumerate((1.0 * wrong1, 1.0 * wrong2)):
                losses[_MEAN + k] = (losses[_MEAN + k] * (N - 1.0) + loss) / N
                deviation = (loss - losses[_MEAN + k]) ** 2
                losses[_VARIANCE + k] = (losses[_VARIANCE + k] * (N - 1.0) + deviation) / N
            gain = losses[_MEAN] - losses[_MEAN + 1]
            spread = (losses[_VARIANCE] + losses[_VARIANCE + 1]) / N
            # Student's t has heavier tails than the normal distribution: what is not significant there
            # is not here.
            if m <= N and spread > 0.0 and gain >= 0.0 and gain > critical * math.sqrt(spread):
                return t, True, n1, n2, mistakes, updates, evaluations
        n1, joined = learn_row(K1, n1, t, codes[t], f1, C, tau, intercept, again, solution1)
        updates += joined
        n2, joined2 = learn_row(K2, n2, t, codes[t], f2, C, tau, intercept, again, solution2)
        evaluations += joined + joined2
    return codes.shape[0], False, n1, n2, mistakes, updates, evaluations


class _Model:
    """An LASVM of one level: its rows, and what it knows besides."""

    def __init__(self, kept):
        self.kept, self.solution = kept, new_solution()


class OnlineModelSelection(RowCachingClassifier):
    """OMS-LASVM: two `LASVM` of neighbouring complexity; the more complex one takes over when it is better.

    The levels of the rbf kernel are gamma_init, 2 gamma_init, 4 gamma_init, …, those of the polynomial one
    its degrees 1, 2, 3, …. The score is that of the simpler of the two. Each example is first scored by both;
    when the mean 0/1 loss since the last switch is smaller for the more complex one, significantly so by
    Welch's t-test, that one becomes the simpler of the two, and the next level is begun with its support
    vectors, the oldest first.

    Kernel evaluations are those of both, counted as for `LASVM`, and those of the cross-validation.

    Parameters
    ----------
    C : float, default=1.0
        Bound of the coefficients, > 0.
    p_value : float, default=0.1
        Level of the two-sided test, between 0 and 1.
    min_examples : int, default=30
        No switch before this many examples since the last one, >= 1: the variances of a few losses tell
        nothing.
    kernel : {"rbf", "poly"}, default="rbf"
    gamma_init : "cv" or float, default="cv"
        γ of the first level of the rbf kernel, > 0. With "cv" it is the γ among 2⁻¹⁵, 2⁻¹³, …, 2³ with the
        fewest errors (ties: the smallest) in a 5-fold cross-validation on the first 100 examples, or on the
        first pass if it is shorter; both levels then learn these anew. Until then γ is 1/n_features and
        nothing is switched.
    gamma, coef0 : float, default=1.0
        Of the polynomial kernel.
    tau : float, default=1e-3
    fit_intercept : bool, default=True
        As for `LASVM`.
    cache_mb : float, default=200.0
        As for `LASVM`; each of the two gets half.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    complexity_ : int
        Level in use, from 1.
    gamma_ : float
    degree_ : int
        The kernel in use: γ, or degree of the polynomial kernel.
    switches_ : list of int
        The numbers (of all passes) of the examples that made the level rise, to 2, 3, ….
    intercept_ : ndarray of float64, shape (1,)

    Notes
    -----
    Where the paper prints the square of the variances under the root, the t-test has the variances. There is
    no test while both are 0. The rbf kernel takes the squared distance. `support_`, `dual_coef_`,
    `n_support_` and `n_updates_` are those of the level in use, `model_bytes_` is that of both.

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

    algorithm_version = 2

    def __init__(
        self,
        C=1.0,
        p_value=0.1,
        min_examples=30,
        kernel="rbf",
        gamma_init="cv",
        gamma=1.0,
        coef0=1.0,
        tau=1e-3,
        fit_intercept=True,
        cache_mb=200.0,
        epochs=1,
    ):
        self.C = C
        self.p_value = p_value
        self.min_examples = min_examples
        self.kernel = kernel
        self.gamma_init = gamma_init
        self.gamma = gamma
        self.coef0 = coef0
        self.tau = tau
        self.fit_intercept = fit_intercept
        self.cache_mb = cache_mb
        self.epochs = epochs

    def _check_parameters(self):
        check_positive(self, "C")
        check_between(self, "p_value", 0, 1)
        check_count(self, "min_examples")
        check_option(self, "kernel", ("rbf", "poly"))
        if not (isinstance(self.gamma_init, str) and self.gamma_init == "cv"):
            check_positive(self, "gamma_init", or_else="'cv'")
        check_positive(self, "gamma")
        check_kernel_offset(self)
        check_positive(self, "tau")
        check_bool(self, "fit_intercept")
        check_nonnegative(self, "cache_mb")

    def _allocate(self, n_features):
        super()._allocate(n_features)
        self._models, self._losses = None, np.zeros(5)
        # What is learnt holds for these alone.
        self._settings = float(self.C), float(self.tau), bool(self.fit_intercept)
        self._family = self.kernel, float(self.gamma), float(self.coef0)
        self.complexity_, self.switches_ = 1, []
        self._first = None
        self._gamma_init = self.gamma_init
        if self.kernel == "rbf" and self.gamma_init == "cv":
            # Rows and labels on which γ will be chosen.
            self._first, self._gamma_init = [], 1.0 / n_features

    @property
    def gamma_(self):
        return self._function(self.complexity_)[1]

    @property
    def degree_(self):
        return self._function(self.complexity_)[3]

    @property
    def intercept_(self):
        return self._models[0].solution[:1].copy() if self._models else np.zeros(1)

    @property
    def model_bytes_(self):
        return sum(model.kept.n_bytes() for model in self._models or ())

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
        return _Model(
            KernelRows(self._function(level), self.n_features_in_, self._dtype, self._sparse, cache_mb)
        )

    def _begin_models(self):
        self._models = [self._begin_model(self.complexity_), self._begin_model(self.complexity_ + 1)]
        self._support = self._models[0].kept

    def _pass(self, X, codes, scores):
        if self._models is None:
            self._sparse = isinstance(X, tuple)
            self._dtype = (X[0] if self._sparse else X).dtype
            self._begin_models()
        mistakes = updates = start = 0
        n = count_rows(X)
        while start < n:
            waiting = self._first is not None
            stop = min(n, start + self._block_rows)
            if waiting:
                stop = min(stop, start + _FIRST - sum(len(y) for _, y in self._first))
            block = row_range(X, start, stop), codes[start:stop]
            wrong, changed = self._learn_block(*block, scores[start:stop], self.n_examples_ + start, waiting)
            mistakes += wrong
            updates += changed
            start = stop
            if waiting:
                self._remember(*block)
        self.n_support_ = self._support.size
        return mistakes, updates

    def _learn_block(self, X, codes, scores, number, waiting):
        mistakes = updates = start = 0
        judged, critical = False, -ndtri(self.p_value / 2.0)
        least = math.inf if waiting else float(self.min_examples)
        while start < len(codes):
            rows = row_range(X, start, len(codes))
            first = number + start - self._pass_start
            met = [model.kept.meet(rows, len(codes) - start, first)[1] for model in self._models]
            simple, other = self._models
            learnt, alarm, n1, n2, wrong, changed, evaluations = _learn_two(
                *met,
                simple.kept.size,
                other.kept.size,
                codes[start:],
                scores[start:],
                self._settings,
                self._is_again,
                simple.solution,
                other.solution,
                self._losses,
                judged,
                critical,
                least,
            )
            simple.kept.settle(None, met[0], n1)
            other.kept.settle(None, met[1], n2)
            mistakes += wrong
            updates += changed
            self.n_kernel_evaluations_ += evaluations
            start += learnt
            judged = alarm
            if alarm and self._is_significant():
                self._switch(number + start)
        return mistakes, updates

    def _is_significant(self):
        """Tell whether Welch's two-sided t-test finds the mean losses different."""
        N, (first, second), (a, b) = self._losses[_N], self._losses[_MEAN:_VARIANCE], self._losses[_VARIANCE:]
        freedom = (N - 1.0) * (a + b) ** 2 / (a**2 + b**2)
        return (
            freedom > 0.0 and 2.0 * stdtr(freedom, -(first - second) / math.sqrt((a + b) / N)) < self.p_value
        )

    def _switch(self, number):
        """Use the more complex model, and begin one of the next level with its support vectors."""
        self.complexity_ += 1
        self.switches_.append(int(number))
        self._losses[:] = 0.0
        simple, model = self._models[1], self._begin_model(self.complexity_ + 1)
        order = np.argsort(simple.kept.born)
        codes = (simple.kept.labels[order] > 0.0).astype(np.int32)
        rows, numbers = simple.kept.matrix(order), simple.kept.born[order]
        self._teach(model, as_rows(rows), codes, numbers)
        self._models, self._support = [simple, model], simple.kept
        # The row at hand was predicted by the one that is gone: the new one's values with it come on top.
        self.n_kernel_evaluations_ += model.kept.size

    def _teach(self, model, X, codes, numbers):
        """Let a new model learn rows of the given numbers."""
        for start, stop in self._blocks(len(codes)):
            packed, kept = model.kept.meet(row_range(X, start, stop), stop - start, start)
            settings = *self._settings, False, model.solution
            size, *_, evaluations = learn(
                kept, model.kept.size, codes[start:stop], np.empty(stop - start), *settings
            )
            model.kept.settle(packed, kept, size)
            self.n_kernel_evaluations_ += evaluations
        model.kept.born[:] = numbers[model.kept.born]

    def _remember(self, X, codes):
        """Keep copies of first rows; choose γ when there are enough."""
        if isinstance(X, tuple):
            data, indices, indptr = X
            part = slice(indptr[0], indptr[-1])
            X = sp.csr_matrix(
                (data[part], indices[part], indptr - indptr[0]), (len(codes), self.n_features_in_)
            )
        elif self._sparse:
            X = sp.csr_matrix(X)
        if not self._sparse and sp.issparse(X):
            X = X.toarray()
        self._first.append((X.astype(self._dtype, copy=True), codes.copy()))
        if sum(len(y) for _, y in self._first) == _FIRST:
            self._choose()

    def _choose(self):
        """Choose γ by cross-validation on the first rows, which both models then learn anew."""
        X, codes = zip(*self._first, strict=True)
        X, codes = sp.vstack(X, format="csr") if self._sparse else np.concatenate(X), np.concatenate(codes)
        errors = [self._errors_in_folds(gamma, X, codes) for gamma in _GAMMAS]
        self._gamma_init, self._first = _GAMMAS[int(np.argmin(errors))], None
        self._losses[:] = 0.0
        self._begin_models()
        for model in self._models:
            self._teach(model, as_rows(X), codes, np.arange(len(codes)))

    def _errors_in_folds(self, gamma, X, codes):
        folds, errors = np.arange(len(codes)) % _FOLDS, 0
        for fold in range(_FOLDS):
            rest, held_out = folds != fold, folds == fold
            model = LASVM(*self._settings, finish=True, gamma=gamma, cache_mb=1.0)
            model.begin(self.classes_, self.n_features_in_)
            model.learn_rows(X[rest], codes[rest])
            model.end_of_pass(last=True)
            scores = model.score_rows(X[held_out])
            errors += int(np.count_nonzero(~(np.where(codes[held_out] == 1, scores, -scores) > 0.0)))
            self.n_kernel_evaluations_ += model.n_kernel_evaluations_ + len(scores) * model.n_support_
        return errors

    def inner_learners(self):
        return [LASVM(self.C, self.tau, self.fit_intercept, kernel=self.kernel)]

    def _score(self, X, scores):
        super()._score(X, scores)
        scores += self.intercept_

    def end_of_pass(self, last):
        if self._first:
            self._choose()
            self.n_support_ = self._support.size
        super().end_of_pass(last)
