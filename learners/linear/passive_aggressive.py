"""The Passive-Aggressive algorithms PA, PA-I and PA-II."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..estimator.parameters import Positive
from ..numeric.arrays import is_sparse_row
from ..numeric.compiled import INLINE
from ..numeric.lanes import holds_anywhere
from ..numeric.loops import learning_loop
from ..numeric.margins import signed
from ..numeric.rows import add_scaled, by_types, dot, n_rows, new_state, row
from ..numeric.vector import SMALLEST_NORMAL, lane_pass
from .first_order import FirstOrderClassifier, squares_at, step
from .linear_classifier import WeightedClassifier
from .parts.classes import weight_of, weights_by_code


class PARule(NamedTuple):
    """The rule of `PassiveAggressive`, with the step size ``τ = min(C, l/(‖x‖² + 1/(2C)))``.

    `largest_step` is the C of PA-I (else infinity), `slack` the 1/(2C) of PA-II (else 0).
    """

    largest_step: float
    slack: float
    margin_limit: float = 1.0

    def step(self, y, m, squares, weight):
        """Return ``(is_update, τ)`` for a row with margin m and ``‖x‖² = squares``; `weight` multiplies C."""
        l = 1.0 - m
        # A row is skipped if its score overflowed, if all its entries are 0, or if its ‖x‖² is outside
        # the normal range of float64.
        is_loss = (l > 0.0) & (l < np.inf) & (squares >= SMALLEST_NORMAL) & (squares < np.inf)
        if not holds_anywhere(is_loss):
            return is_loss, l
        tau = min(self.largest_step * weight, l / (squares + self.slack / weight))
        return is_loss & (tau < np.inf), tau


# A postponed update ``w += a·last`` is the pair (True, a); this pair means that no update is postponed.
_NOTHING_WAITS = (False, 0.0)


def _copy_and_score(w, last, x):
    return [None, x], [w * x, x * x]


def _add_copy_and_score(w, last, x, a):
    w = w + a * last
    return [w, x], [w * x, x * x]


_score_dense = lane_pass(2, _copy_and_score)
_update_and_score_dense = lane_pass(2, _add_copy_and_score)


@by_types(**INLINE)
def _update_and_score(w, last, waiting, x):
    """Apply the postponed update, if any; then return ``(w·x, ‖x‖², _NOTHING_WAITS)`` for the row x.

    A dense row is copied to `last`, and its update is applied while the next row is scored, in one pass over
    `w`. Updates with CSR rows are not postponed; the ‖x‖² returned for them is 0, and `_squares_at_hand`
    computes it.
    """
    if is_sparse_row(x):
        return lambda w, last, waiting, x: (dot(w, x), 0.0, _NOTHING_WAITS)

    def dense(w, last, waiting, x):
        waits, a = waiting
        if waits:
            s, squares = _update_and_score_dense((w, last), x, (a,))
        else:
            s, squares = _score_dense((w, last), x, ())
        return s, squares, _NOTHING_WAITS

    return dense


@by_types(**INLINE)
def _squares_at_hand(rule, m, squares, x):
    """Return ``‖x‖²``: for a dense row the `squares` already computed; for a CSR row compute it here."""
    if is_sparse_row(x):
        return lambda rule, m, squares, x: squares_at(rule, m, x)
    return lambda rule, m, squares, x: squares


@by_types(**INLINE)
def _update(w, a, x):
    """Apply the update ``w += a x`` if x is a CSR row; if it is dense, return the update as postponed."""
    if is_sparse_row(x):

        def at_once(w, a, x):
            add_scaled(w, a, x)
            return _NOTHING_WAITS

        return at_once
    return lambda w, a, x: (True, a)


@learning_loop
def _learn(X, codes, scores, w, last, rule, weights):
    """Make one pass; the update of a dense row is postponed until the next row is read."""
    mistakes = updates = 0
    waiting = _NOTHING_WAITS
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t], squares, waiting = _update_and_score(w, last, waiting, x)
        m = y * scores[t]
        mistakes += not m > 0.0
        squares = _squares_at_hand(rule, m, squares, x)
        is_update, tau = step(rule, y, m, squares, weight_of(weights, codes[t]))
        if is_update:
            waiting = _update(w, tau * y, x)
            updates += 1
    waits, a = waiting
    if waits:
        add_scaled(w, a, last)
    return mistakes, updates


@dataclass(eq=False, repr=False)
class PassiveAggressive(FirstOrderClassifier, WeightedClassifier):
    """Passive-Aggressive: the smallest change of w after which the row's hinge loss ``l = 1 - m`` is zero.

    m is the margin ``y w·x`` of the row x with label y (±1). With more than two classes ``w_y += τ x`` and
    ``w_ỹ -= τ x``, with ỹ the best wrong class and 2‖x‖² in place of ‖x‖².

    Parameters
    ----------
    variant : {"PA", "PA-I", "PA-II"}, default="PA-I"
        ``w += τ y x`` with ``τ = l/‖x‖²`` (PA, no slack), ``min(C, l/‖x‖²)`` (PA-I) or ``l/(‖x‖² + 1/(2C))``
        (PA-II).
    C : float, default=1.0
        Aggressiveness, > 0; PA does not use it.
    class_weight : dict of label to float, default=None
        Weight ω > 0 by label, 1 for labels not named: C becomes ``C ω_y``. No step goes beyond the margin;
        scikit-learn multiplies τ instead, so its steps can. PA has no C and ignores the weights.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    A row is skipped if all its entries are 0, if its ‖x‖² is not a normal float64 (2.2e-308 to 1.8e308), or
    if its score or τ overflows.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (2006), "Online passive-aggressive algorithms", JMLR 7.

    Examples
    --------
    >>> PassiveAggressive(variant="PA").fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 1.0]]
    """

    variant: Literal["PA", "PA-I", "PA-II"] = "PA-I"
    C: Positive = 1.0
    class_weight: Mapping[Any, float] | None = None
    epochs: int = 1

    _state = ("_weights", "_buffer")

    def _begin_with(self, zeros):
        self._weights = zeros
        self._buffer = new_state(len(zeros), place=1) if zeros.ndim == 1 else None

    def _loop(self):
        return _learn, (self._weights, self._buffer, self._rule(), weights_by_code(self))

    def _rule(self):
        largest_step = float(self.C) if self.variant == "PA-I" else np.inf
        slack = 0.5 / float(self.C) if self.variant == "PA-II" else 0.0
        return PARule(largest_step, slack)
