"""Perceptrons with margins, and the votes of their hypotheses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from ..estimator.online_classifier import OnlineClassifier
from ..estimator.parameters import check_count, check_nonnegative, check_option, check_positive
from ..numeric.compiled import INLINE, compiled
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import add_scaled, count_rows, dot, entry, n_entries, n_rows, row, row_range
from .parts.classes import add_to_pair, score_classes, weight_of, weights_by_code
from .perceptron import Perceptron

# Where `sizes` has how many updates there are, and how many entries these have.
_UPDATES, _ENTRIES = 0, 1


@register_jitable
def votes(x, values, columns, starts, steps, rounds, sizes, dense):
    """Return ``Σ_k c_k sgn(w_k·x)``, c_k being rounds of hypotheses; `dense` is 0 before and after.

    ``w_k·x`` is the one before and what the k-th update added.
    """
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        dense[j] = x_j
    total = s = 0.0
    for k in range(sizes[_UPDATES]):
        product = 0.0
        for e in range(starts[k], starts[k + 1]):
            product += values[e] * dense[columns[e]]
        s += steps[k] * product
        if s > 0.0:
            total += rounds[k + 1]
        elif s < 0.0:
            total -= rounds[k + 1]
    for k in range(n_entries(x)):
        j, _ = entry(x, k)
        dense[j] = 0.0
    return total


@register_jitable
def add_voter(x, step, values, columns, starts, steps, rounds, sizes, dense):
    """Note an update ``w += step x``, after which there is one more hypothesis."""
    n, place = sizes[_UPDATES], sizes[_ENTRIES]
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        if x_j != 0.0:
            values[place], columns[place] = x_j, j
            place += 1
    steps[n], starts[n + 1], rounds[n + 1] = step, place, 0
    sizes[_UPDATES], sizes[_ENTRIES] = n + 1, place


@register_jitable
def count_round(rounds, sizes):
    """Count a round of the last hypothesis."""
    rounds[sizes[_UPDATES]] += 1


@compiled
def _count_entries(X):
    count = 0
    for t in range(n_rows(X)):
        count += n_entries(row(X, t))
    return count


@compiled
def _score(X, scores, values, columns, starts, steps, rounds, sizes, dense):
    for t in range(n_rows(X)):
        scores[t] = votes(row(X, t), values, columns, starts, steps, rounds, sizes, dense)


class Voters:
    """The arrays of all hypotheses, with the room for more.

    Parameters
    ----------
    n_features : int
    """

    def __init__(self, n_features):
        self._n_features = n_features
        self._values, self._columns = np.empty(0), np.empty(0, np.int32)
        self._starts, self._steps = np.zeros(1, np.int64), np.empty(0)
        # Those of w = 0 are first, which votes for neither.
        self._rounds, self._sizes = np.zeros(1, np.int64), np.zeros(2, np.int64)

    def reserve(self, X, n):
        """Make room for `n` rows, all of which may be updates."""
        updates, entries = self._sizes[_UPDATES] + n, self._sizes[_ENTRIES] + _count_entries(X)
        if updates > len(self._steps):
            capacity = max(updates, 2 * len(self._steps))
            self._steps = np.append(self._steps, np.empty(capacity - len(self._steps)))
            for name in ("_starts", "_rounds"):
                array = getattr(self, name)
                setattr(self, name, np.append(array, np.zeros(capacity + 1 - len(array), np.int64)))
        if entries > len(self._values):
            more = max(entries, 2 * len(self._values)) - len(self._values)
            self._values = np.append(self._values, np.empty(more))
            self._columns = np.append(self._columns, np.empty(more, np.int32))

    def in_loops(self):
        """Return the arrays as loops take them, and scratch."""
        kept = self._values, self._columns, self._starts, self._steps, self._rounds, self._sizes
        return *kept, np.zeros(self._n_features)

    def score(self, X, scores):
        """Write the votes for every row into `scores`."""
        _score(X, scores, *self.in_loops())

    def n_bytes(self):
        """Return the bytes of the updates and of the rounds of hypotheses."""
        updates, entries = self._sizes.tolist()
        return entries * (8 + 4) + updates * 3 * 8 + 8


# Rows at a time for which room is made, should all of them be updates.
_ROWS_TOGETHER = 256

_ALWAYS = 2**62


@register_jitable
def _has_entries(x):
    for k in range(n_entries(x)):
        _, x_k = entry(x, k)
        if x_k != 0.0:
            return True
    return False


@register_jitable(**INLINE)
def _asks(m, x, y, rule, caused, number):
    """Return whether a row of margin m is an update, and record it.

    `caused` has how many updates each row of a pass has been, or is empty; ``number[0]`` is that of this row.
    """
    tau_plus, tau_minus, _, bound, lam, _ = rule
    i = number[0]
    before = 0
    if caused.shape[0] > 0:
        before = caused[i]
        number[0] += 1
    if before >= bound or not (m != 0.0 or _has_entries(x)):
        return False
    if m + (lam if before > 0 else 0.0) > (tau_plus if y > 0.0 else tau_minus):
        return False
    if caused.shape[0] > 0:
        caused[i] += 1
    return True


@register_jitable(**INLINE)
def _step(rule, code):
    """Return η ω_y."""
    return rule[2] * weight_of(rule[5], code)


@learning_loop
def _learn(X, codes, scores, w, rule, caused, number):
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t] = dot(w, x)
        m = y * scores[t]
        mistakes += not m > 0.0
        if _asks(m, x, y, rule, caused, number):
            add_scaled(w, _step(rule, codes[t]) * y, x)
            updates += 1
    return mistakes, updates


@learning_loop
def _learn_averaged(X, codes, scores, w, u, rounds, rule, caused, number):
    """Predict with the mean of the hypotheses so far, ``w - u/rounds``: see `Perceptron`."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = dot(w, x)
        scores[t] = s - dot(u, x) / max(rounds[0], 1)
        mistakes += not y * scores[t] > 0.0
        if _asks(y * s, x, y, rule, caused, number):
            step = _step(rule, codes[t]) * y
            add_scaled(w, step, x)
            add_scaled(u, step * rounds[0], x)
            updates += 1
        rounds[0] += 1
    return mistakes, updates


@learning_loop
def _learn_longest(X, codes, scores, w, best, lasted, rule, caused, number):
    """`lasted` has the rounds of w and of `best`, the earlier hypothesis that lasted longest."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = dot(w, x)
        scores[t] = s if lasted[0] > lasted[1] else dot(best, x)
        mistakes += not y * scores[t] > 0.0
        if _asks(y * s, x, y, rule, caused, number):
            if lasted[0] > lasted[1]:
                best[:] = w
                lasted[1] = lasted[0]
            add_scaled(w, _step(rule, codes[t]) * y, x)
            lasted[0] = 0
            updates += 1
        lasted[0] += 1
    return mistakes, updates


@learning_loop
def _learn_voted(
    X, codes, scores, w, values, columns, starts, steps, rounds, sizes, dense, rule, caused, number
):
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t] = votes(x, values, columns, starts, steps, rounds, sizes, dense)
        mistakes += not y * scores[t] > 0.0
        if _asks(y * dot(w, x), x, y, rule, caused, number):
            step = _step(rule, codes[t]) * y
            add_scaled(w, step, x)
            add_voter(x, step, values, columns, starts, steps, rounds, sizes, dense)
            updates += 1
        count_round(rounds, sizes)
    return mistakes, updates


@learning_loop
def _learn_classes(X, codes, scores, W, rule, caused, number):
    """The right block gains η x and the best wrong one loses it."""
    mistakes = updates = 0
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        score_classes(W, x, sums, s)
        z = best_wrong(s, y)
        m = s[y] - s[z]
        mistakes += not m > 0.0
        if _asks(m, x, 1.0, rule, caused, number):
            add_to_pair(W, _step(rule, y), x, y, z)
            updates += 1
    return mistakes, updates


@learning_loop
def _learn_classes_averaged(X, codes, scores, W, U, rounds, rule, caused, number):
    """Predict with the mean of the hypotheses so far, ``W - U/rounds``, as with two classes."""
    mistakes = updates = 0
    sums, missing = np.empty(W.shape[1]), np.empty(W.shape[1])
    last = np.empty(scores.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        score_classes(U, x, missing, s)
        score_classes(W, x, sums, last)
        for z in range(s.shape[0]):
            s[z] = last[z] - missing[z] / max(rounds[0], 1)
        z = best_wrong(s, y)
        mistakes += not s[y] - s[z] > 0.0
        z = best_wrong(last, y)
        if _asks(last[y] - last[z], x, 1.0, rule, caused, number):
            step = _step(rule, y)
            add_to_pair(W, step, x, y, z)
            add_to_pair(U, step * rounds[0], x, y, z)
            updates += 1
        rounds[0] += 1
    return mistakes, updates


class MarginPerceptron(Perceptron):
    """The Perceptron with margins (PAUM where they differ): where ``m <= τ_y``, ``w += η y x``.

    A margin for rows that are right, but only just, makes steps that noise has less part in. A row of zeros
    is no update. With more than two classes ``m = s_y - s_ỹ <= τ``, and ``w_y += η x``, ``w_ỹ -= η x``.

    Parameters
    ----------
    tau_plus, tau_minus : float, default=1.0
        τ of the rows of ``classes_[1]`` and ``classes_[0]``, >= 0; the same for more than two classes. Only
        their ratio to `eta` matters. With 0 it is the `Perceptron`.
    eta : float, default=1.0
        Step η, > 0.
    output : {"last", "average", "longest", "voted"}, default="last"
        What predicts (all updates follow the last hypothesis' own margin). "average": the mean of w after
        each round. "longest": the w that lasted most rounds, of equal ones the first. "voted": all of them,
        ``Σ_k c_k sgn(w_k·x)`` with c_k the rounds that w_k lasted, the update's own among them; memory and
        time of a row grow with the updates. The last two are for two classes.
    alpha_bound : int, default=None
        Maximal number of updates per row, >= 1, over all passes; None: unlimited.
    lam : float, default=0.0
        λ >= 0: added to the margin of a row that has caused an update.
    class_weight : dict of label to float, default=None
        ω > 0 by label, 1 for those that it does not name: an update is ``w += ω_y η y x``.
    epochs : int, default=1
        Passes that `fit` makes. In the first one `alpha_bound` and `lam` do nothing: no row comes again.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The weights that predict; with "voted" the last ones, which do not alone.

    Notes
    -----
    The rules are the published formulas, not checked against the papers' texts or public code; "voted" is.
    PAUM's bias, with its steps η y R², is left out.

    See Also
    --------
    Perceptron
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Li, Zaragoza, Herbrich, Shawe-Taylor, Kandola (2002), "The Perceptron algorithm with uneven margins",
    ICML. Krauth, Mézard (1987), "Learning algorithms with optimal stability in neural networks", J. Phys. A
    20. Khardon, Wachman (2007), "Noise tolerant variants of the Perceptron algorithm", JMLR 8 (α-bound,
    λ-trick, longest survivor). Freund, Schapire (1999), "Large margin classification using the perceptron
    algorithm", Machine Learning 37 (voted).

    Examples
    --------
    >>> MarginPerceptron().fit([[1.0, 0.0], [0.5, 0.0]], [1, 0]).coef_.tolist()
    [[0.5, 0.0]]
    """

    _state = ("_weights", "_u", "_best", "_lasted", "_number", "_caused")

    def __init__(
        self,
        tau_plus: float = 1.0,
        tau_minus: float = 1.0,
        eta: float = 1.0,
        output: str = "last",
        alpha_bound: int | None = None,
        lam: float = 0.0,
        class_weight: Mapping[Any, float] | None = None,
        epochs: int = 1,
    ) -> None:
        self.tau_plus = tau_plus
        self.tau_minus = tau_minus
        self.eta = eta
        self.output = output
        self.alpha_bound = alpha_bound
        self.lam = lam
        self.class_weight = class_weight
        self.epochs = epochs

    @property
    def average(self) -> bool:  # type: ignore[override]
        return self.output == "average"

    @property
    def _scores_tell(self):
        # A vote is finite for every row.
        return self.output != "voted"

    @property
    def scores_are_linear(self) -> bool:
        """Whether one hypothesis predicts, or a mean of them; votes are of signs."""
        return self.output != "voted"

    def _check_parameters(self):
        check_nonnegative(self, "tau_plus")
        check_nonnegative(self, "tau_minus")
        check_positive(self, "eta")
        check_option(self, "output", ("last", "average", "longest", "voted"))
        if self.alpha_bound is not None:
            check_count(self, "alpha_bound")
        check_nonnegative(self, "lam")

    def _allocate_classes(self, n_features, n_classes):
        if self.output in ("longest", "voted"):
            raise ValueError(
                f"MarginPerceptron: output must be 'last' or 'average' with {n_classes} classes, "
                f"got {self.output!r}"
            )
        if self.tau_plus != self.tau_minus:
            raise ValueError(
                f"MarginPerceptron: tau_minus must be tau_plus with {n_classes} classes, "
                f"got {self.tau_minus!r} and {self.tau_plus!r}"
            )
        super()._allocate_classes(n_features, n_classes)

    def _begin_with(self, zeros):
        super()._begin_with(zeros)
        is_longest = self.output == "longest"
        self._best = np.zeros_like(zeros) if is_longest else None
        self._lasted = np.zeros(2, np.int64) if is_longest else None
        self._voters = Voters(len(zeros)) if self.output == "voted" else None
        # The row's number in its pass; updates that each row has caused, where that matters.
        self._number = np.zeros(1, np.int64)
        self._counts_caused = self.alpha_bound is not None or self.lam > 0.0
        self._caused = np.zeros(0, np.int32)

    def end_of_pass(self, last: bool) -> None:
        # What comes after the last pass is new.
        if not last:
            self._number[0] = 0

    def _rule(self):
        bound = _ALWAYS if self.alpha_bound is None else int(self.alpha_bound)
        margins, eta, lam = (float(self.tau_plus), float(self.tau_minus)), float(self.eta), float(self.lam)
        return (*margins, eta, bound, lam, weights_by_code(self)), self._caused, self._number

    def _loop(self):
        if self._voters is not None:
            return _learn_voted, (self._weights, *self._voters.in_loops(), *self._rule())
        if self._best is not None:
            return _learn_longest, (self._weights, self._best, self._lasted, *self._rule())
        if self._u is not None:
            rounds = np.array([self.n_examples_])
            return _learn_averaged, (self._weights, self._u, rounds, *self._rule())
        return _learn, (self._weights, *self._rule())

    def _loop_of_classes(self):
        if self._u is not None:
            rounds = np.array([self.n_examples_])
            return _learn_classes_averaged, (self._weights, self._u, rounds, *self._rule())
        return _learn_classes, (self._weights, *self._rule())

    def _run(self, X, codes, scores, *noted):
        if self._counts_caused:
            missing = int(self._number[0]) + len(codes) - len(self._caused)
            self._caused = np.append(self._caused, np.zeros(max(0, missing), np.int32))
        if self._voters is None:
            return super()._run(X, codes, scores, *noted)
        outcome = np.zeros(2, np.int64)
        for start in range(0, count_rows(X), _ROWS_TOGETHER):
            stop = min(start + _ROWS_TOGETHER, count_rows(X))
            rows = row_range(X, start, stop)
            self._voters.reserve(rows, stop - start)
            outcome += super()._run(rows, codes[start:stop], scores[start:stop], *noted)
        return outcome.tolist()

    def learn_along(self, X, codes, stops):
        # What is counted by row or by hypothesis grows.
        if self._voters is not None or self._counts_caused:
            return OnlineClassifier.learn_along(self, X, codes, stops)
        return super().learn_along(X, codes, stops)

    def _score(self, X, scores):
        if self._voters is not None:
            self._voters.score(X, scores)
        else:
            super()._score(X, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        if self._best is not None and self._lasted[0] <= self._lasted[1]:
            return self._best.reshape(1, -1)
        return super().coef_

    @property
    def model_bytes_(self) -> int:
        return super().model_bytes_ + (self._voters.n_bytes() if self._voters else 0)
