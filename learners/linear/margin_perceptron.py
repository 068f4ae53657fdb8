"""Perceptrons with margins, which can predict by a vote of all their weight vectors so far."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..estimator.online_classifier import OnlineClassifier
from ..estimator.parameters import Count, NonNegative, Positive
from ..numeric.compiled import compiled
from ..numeric.lanes import invert
from ..numeric.rows import count_rows, dot, entry, n_entries, n_rows, row, row_range
from .first_order import step
from .perceptron import VotingClassifier


class MarginRule(NamedTuple):
    """The rule of `MarginPerceptron`: update with step η if ``m <= τ_y`` (`tau_plus` for K > 2 classes)."""

    tau_plus: float
    tau_minus: float
    eta: float
    skips_zero_rows: bool = True

    def step(self, y, m, squares, weight):
        """Return ``(is_update, step)`` for a row with margin m; `weight` multiplies η."""
        return invert(m > (self.tau_plus if y > 0.0 else self.tau_minus)), self.eta * weight


class BoundedRule(NamedTuple):
    """A `MarginRule` with at most `bound` updates per row; after a row's first, λ is added to its margin.

    ``caused[t]`` is the number of updates that row t of a pass has caused, in all passes so far;
    ``number[0]`` is the t of the current row.
    """

    rule: MarginRule
    bound: int
    lam: float
    caused: NDArray[np.int32]
    number: NDArray[np.int64]
    skips_zero_rows: bool = True

    def step(self, y, m, squares, weight):
        """Return ``(is_update, step)`` as in Khardon & Wachman (2007), and count the row's updates."""
        before = self.caused[self.number[0]]
        is_update, alpha = step(self.rule, y, m + (self.lam if before > 0 else 0.0), squares, weight)
        is_update = is_update & (before < self.bound)
        self.caused[self.number[0]] += is_update
        self.number[0] += 1
        return is_update, alpha


class Longest(NamedTuple):
    """Predicts with the weights that lasted most rounds: w or `best`. `lasted` counts the rounds of both."""

    best: NDArray[np.float64]
    lasted: NDArray[np.int64]

    def predict(self, s, x):
        """Return the score by the weights that lasted longest, given the score s by the current w."""
        return s if self.lasted[0] > self.lasted[1] else dot(self.best, x)

    def update(self, w, a, x):
        """Before an update of w, copy w to `best` if it lasted longer; then count the rounds of w from 0."""
        if self.lasted[0] > self.lasted[1]:
            self.best[:] = w
            self.lasted[1] = self.lasted[0]
        self.lasted[0] = 0

    def end_round(self):
        """Add 1 to the rounds that w has lasted."""
        self.lasted[0] += 1


# Positions in `sizes`, the field of `Votes` with the number of stored updates, and of their non-zeros.
_UPDATES, _ENTRIES = 0, 1


class Votes(NamedTuple):
    """All weight vectors w_k so far, stored as the updates between them; w_k lasted ``rounds[k]`` rounds.

    Update k added ``steps[k]`` times the row in entries starts[k] … starts[k + 1] - 1 of `values`, `columns`.
    `dense` is a buffer in which `predict` stores a row as a vector; between calls it contains zeros.
    """

    values: NDArray[np.float64]
    columns: NDArray[np.int32]
    starts: NDArray[np.int64]
    steps: NDArray[np.float64]
    rounds: NDArray[np.int64]
    sizes: NDArray[np.int64]
    dense: NDArray[np.float64]

    def predict(self, s, x):
        """Return the sum of the votes ``Σ_k c_k sgn(w_k·x)``, where w_k lasted c_k rounds.

        For update k, w_{k+1}·x is w_k·x plus ``steps[k]`` times the product of the update's row and x.
        """
        values, columns, starts, steps, rounds, sizes, dense = self
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

    def update(self, w, a, x):
        """Store the update ``w += a x``, which creates one more weight vector."""
        values, columns, starts, steps, rounds, sizes, _ = self
        n, place = sizes[_UPDATES], sizes[_ENTRIES]
        for k in range(n_entries(x)):
            j, x_j = entry(x, k)
            if x_j != 0.0:
                values[place], columns[place] = x_j, j
                place += 1
        steps[n], starts[n + 1], rounds[n + 1] = a, place, 0
        sizes[_UPDATES], sizes[_ENTRIES] = n + 1, place

    def end_round(self):
        """Add 1 to the rounds that the last weight vector has lasted."""
        self.rounds[self.sizes[_UPDATES]] += 1


@compiled
def _count_entries(X):
    count = 0
    for t in range(n_rows(X)):
        count += n_entries(row(X, t))
    return count


class Voters:
    """Creates the arrays of a `Votes` and enlarges them for further updates."""

    def __init__(self, n_features):
        self._n_features = n_features
        self._values, self._columns = np.empty(0), np.empty(0, np.int32)
        self._starts, self._steps = np.zeros(1, np.int64), np.empty(0)
        # `_rounds[0]` counts the rounds of the first weight vector, w = 0, which votes for neither class.
        self._rounds, self._sizes = np.zeros(1, np.int64), np.zeros(2, np.int64)

    def widen(self, n_features):
        """Set the number of features of later rows."""
        self._n_features = n_features

    def reserve(self, X, n):
        """Enlarge the arrays for the `n` rows of X, all of which may cause updates."""
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
            self._columns = np.append(self._columns, np.zeros(more, np.int32))

    def in_loops(self, to_learn):
        """Return the arrays as a `Votes`, the form in which compiled loops use them.

        To predict, the sizes are copied before the arrays are read: another thread may learn meanwhile, but
        arrays only grow.
        """
        sizes = self._sizes if to_learn else self._sizes.copy()
        kept = self._values, self._columns, self._starts, self._steps, self._rounds
        return Votes(*kept, sizes, np.zeros(self._n_features))

    def n_bytes(self):
        """Return the size in bytes of the stored updates and numbers of rounds."""
        updates, entries = self._sizes.tolist()
        return entries * (8 + 4) + updates * 3 * 8 + 8


# Rows are learned in batches of this many. Before each, the arrays of `Votes` are enlarged in case all of its
# rows cause updates.
_ROWS_TOGETHER = 256

_UNLIMITED = 2**62


@dataclass(eq=False, repr=False)
class MarginPerceptron(VotingClassifier):
    """The Perceptron with margins (PAUM if they differ by class): if ``m <= τ_y``, ``w += η y x``.

    With y the label (±1), m is the margin ``y w·x``. Rows that are right by less than τ also cause updates,
    which makes w less sensitive to noise. A row of zeros causes none. With more than two classes, if
    ``m = s_y - s_ỹ <= τ``, ``w_y += η x``, ``w_ỹ -= η x``.

    Parameters
    ----------
    tau_plus, tau_minus : float, default=1.0
        τ >= 0 for rows of ``classes_[1]`` and of ``classes_[0]``; equal for more than two classes. Only
        the ratios of these and of `lam` to `eta` matter. With 0 this is the `Perceptron`.
    eta : float, default=1.0
        Step η, > 0.
    output : {"last", "average", "longest", "voted"}, default="last"
        The hypotheses that predict; updates always depend on the margin of the last one. "average": the mean
        of w after each round. "longest": the w that lasted most rounds, on a tie the first. "voted": all w,
        ``Σ_k c_k sgn(w_k·x)`` with c_k the rounds that w_k lasted, including the round of its update; memory
        and time per row grow with the updates. "longest" and "voted" are for two classes only.
    alpha_bound : int, default=None
        Maximal number of updates per row, >= 1, over all passes; None: unlimited.
    lam : float, default=0.0
        λ >= 0: added to the margin of a row that has caused an update.
    class_weight : dict of label to float, default=None
        Weight ω > 0 by label, 1 for labels not named: an update is ``w += ω_y η y x``.
    epochs : int, default=1
        Passes that `fit` makes. In the first pass `alpha_bound` and `lam` have no effect.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The weights that predict; with "voted" those of the last hypothesis.

    Notes
    -----
    The rules are the published formulas; only "voted" was checked against public code. PAUM's bias, with its
    steps η y R², is left out.

    See Also
    --------
    Perceptron

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

    tau_plus: NonNegative = 1.0
    tau_minus: NonNegative = 1.0
    eta: Positive = 1.0
    output: Literal["last", "average", "longest", "voted"] = "last"
    alpha_bound: Count | None = None
    lam: NonNegative = 0.0
    class_weight: Mapping[Any, float] | None = None
    epochs: int = 1

    _state = ("_weights", "_u", "_best", "_lasted", "_number", "_caused")
    _growing = ("_caused",)

    @property
    def average(self) -> bool:  # type: ignore[override]
        return self.output == "average"

    @property
    def _scores_tell(self):
        # Votes are finite even for a row with NaN, so the scores do not show that a row is not finite.
        return not self._votes

    @property
    def scores_are_linear(self) -> bool:
        """Whether one weight vector scores all rows; false if all weight vectors vote."""
        return not self._votes

    @property
    def _votes(self):
        # A changed `output` waits for the next `fit`, so the parameter counts only before learning begins.
        return self._voters is not None if hasattr(self, "_voters") else self.output == "voted"

    def _allocate_classes(self, n_features, n_classes):
        if self.output in ("longest", "voted"):
            raise ValueError(
                f"MarginPerceptron: output must be 'last' or 'average' with {n_classes} classes, "
                f"got {self.output!r}"
            )
        if self.tau_plus != self.tau_minus:
            raise ValueError(
                f"MarginPerceptron: tau_minus must equal tau_plus with {n_classes} classes, "
                f"got {self.tau_minus!r} and {self.tau_plus!r}"
            )
        super()._allocate_classes(n_features, n_classes)

    def _begin_with(self, zeros):
        super()._begin_with(zeros)
        is_longest = self.output == "longest"
        self._best = np.zeros_like(zeros) if is_longest else None
        self._lasted = np.zeros(2, np.int64) if is_longest else None
        self._voters = Voters(len(zeros)) if self.output == "voted" else None
        # `_number` is the current row's position in the pass. `_caused` counts the updates of each row, if
        # `alpha_bound` or `lam` needs them.
        self._number = np.zeros(1, np.int64)
        self._counts_caused = self.alpha_bound is not None or self.lam > 0.0
        self._caused = np.zeros(0, np.int32)

    def end_of_pass(self, last: bool) -> None:
        # The next pass reads the same rows, so their numbers start at 0 again. After the last pass they do
        # not: rows learned later are other rows, with other numbers.
        if not last:
            self._number[0] = 0

    def begin_within_pass(self, row: int) -> None:
        self._number[0] = row

    def check_state(self) -> None:
        super().check_state()
        # Compiled code reads `_caused` at this number without a check.
        if self.__sklearn_is_fitted__() and self._number[0] < 0:
            raise ValueError(f"MarginPerceptron: the number of the next row is {self._number[0]}, below 0")

    def _rule(self):
        rule = MarginRule(float(self.tau_plus), float(self.tau_minus), float(self.eta))
        if not self._counts_caused:
            return rule
        bound = _UNLIMITED if self.alpha_bound is None else int(self.alpha_bound)
        return BoundedRule(rule, bound, float(self.lam), self._caused, self._number)

    def _output(self, to_learn=False):
        if self._voters is not None:
            return self._voters.in_loops(to_learn)
        if self._best is not None:
            return Longest(self._best, self._lasted)
        return super()._output(to_learn)

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
        # The model grows during a pass (update counts of rows, stored weight vectors), so its size must be
        # read at each checkpoint.
        if self._voters is not None or self._counts_caused:
            return OnlineClassifier.learn_along(self, X, codes, stops)
        return super().learn_along(X, codes, stops)

    @property
    def coef_(self) -> NDArray[np.float64]:
        if self._best is not None and self._lasted[0] <= self._lasted[1]:
            return self._best.reshape(1, -1)
        return super().coef_

    @property
    def model_bytes_(self) -> int:
        return super().model_bytes_ + (self._voters.n_bytes() if self._voters else 0)
