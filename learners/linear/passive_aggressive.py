"""The Passive-Aggressive algorithms PA, PA-I and PA-II."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numba.extending import overload

from ..estimator.parameters import check_option, check_positive
from ..numeric.arrays import is_sparse_row
from ..numeric.compiled import INLINE
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import add_scaled, dot, in_kernels_only, n_rows, new_state, row, squared_norm
from ..numeric.vector import SMALLEST_NORMAL, lane_pass
from .multiclass_classifier import WeightedClassifier
from .parts.classes import add_to_pair, new_class_state, score_classes, weight_of, weights_by_code


def _widen(ir, w, z, x):
    return [None, x], [ir.fmul(w, x), ir.fmul(x, x)]


def _add_and_widen(ir, w, z, x, a):
    w = ir.fadd(w, ir.fmul(a, z))
    return [w, x], [ir.fmul(w, x), ir.fmul(x, x)]


_score_dense = lane_pass(2, _widen)
_add_and_score_dense = lane_pass(2, _add_and_widen)


def _add_and_score(w, z, waits, a, x):
    """Make the update ``w += a z`` if it `waits`; return ``(w·x, ‖x‖²)``, in a kernel.

    An update with a dense row waits in `z` until the next row is there: both are then one pass over `w`, and
    memory is read during the update. With CSR rows nothing waits, and the norm, which is not free, is left
    to `_norm_at_hand`.
    """
    raise in_kernels_only("_add_and_score")


@overload(_add_and_score, jit_options=INLINE)
def _add_and_score_of_kind(w, z, waits, a, x):
    if is_sparse_row(x):
        return lambda w, z, waits, a, x: (dot(w, x), 0.0)

    def dense(w, z, waits, a, x):
        if waits:
            return _add_and_score_dense((w, z), x, (a,))
        return _score_dense((w, z), x, ())

    return dense


def _norm_at_hand(norm, x):
    """Return ``‖x‖²`` of a row for which `_add_and_score` returned `norm`, in a kernel."""
    raise in_kernels_only("_norm_at_hand")


@overload(_norm_at_hand, jit_options=INLINE)
def _norm_at_hand_of_kind(norm, x):
    if is_sparse_row(x):
        return lambda norm, x: squared_norm(x)
    return lambda norm, x: norm


def _add_later(w, a, x):
    """Add ``a x`` of the row scored last: a CSR row at once; return whether it waits, in a kernel."""
    raise in_kernels_only("_add_later")


@overload(_add_later, jit_options=INLINE)
def _add_later_of_kind(w, a, x):
    if is_sparse_row(x):

        def csr(w, a, x):
            add_scaled(w, a, x)
            return False

        return csr
    return lambda w, a, x: True


@learning_loop
def _learn(X, codes, scores, w, z, largest_step, slack, weights):
    """One pass of Crammer et al. (2006): ``τ = min(C, l / (‖x‖² + 1/(2C)))``.

    `largest_step` is the C of PA-I (else infinity), `slack` the 1/(2C) of PA-II (else 0); a class's weight is
    a factor of its C.
    """
    mistakes = updates = 0
    waits, step = False, 0.0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t], norm = _add_and_score(w, z, waits, step, x)
        waits = False
        m = y * scores[t]
        mistakes += not m > 0.0
        l = 1.0 - m
        # A score that overflowed says nothing of the step.
        if 0.0 < l < np.inf:
            norm = _norm_at_hand(norm, x)
            # A row of zeros cannot be moved towards; nor one whose squares leave the normal range of float64.
            if SMALLEST_NORMAL <= norm < np.inf:
                weight = weight_of(weights, codes[t])
                tau = min(largest_step * weight, l / (norm + slack / weight))
                if tau < np.inf:
                    step = y * tau
                    waits = _add_later(w, step, x)
                    updates += 1
    if waits:
        add_scaled(w, step, z)
    return mistakes, updates


@learning_loop
def _learn_classes(X, codes, scores, W, largest_step, slack, weights):
    """The step along Δf = f(x, y) - f(x, ỹ), whose ‖Δf‖² is 2‖x‖²."""
    mistakes = updates = 0
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        score_classes(W, x, sums, s)
        z = best_wrong(s, y)
        m = s[y] - s[z]
        mistakes += not m > 0.0
        l = 1.0 - m
        if 0.0 < l < np.inf:
            norm = 2.0 * squared_norm(x)
            if SMALLEST_NORMAL <= norm < np.inf:
                weight = weight_of(weights, y)
                tau = min(largest_step * weight, l / (norm + slack / weight))
                if tau < np.inf:
                    add_to_pair(W, tau, x, y, z)
                    updates += 1
    return mistakes, updates


class PassiveAggressive(WeightedClassifier):
    """Passive-Aggressive: the smallest change of w after which the row's hinge loss ``l = 1 - m`` is zero.

    With more than two classes ``w_y += τ x`` and ``w_ỹ -= τ x``, ỹ being the best wrong class, with 2‖x‖² in
    place of ‖x‖².

    Parameters
    ----------
    variant : {"PA", "PA-I", "PA-II"}, default="PA-I"
        ``w += τ y x`` with ``τ = l/‖x‖²`` (PA, no slack), ``min(C, l/‖x‖²)`` (PA-I) or ``l/(‖x‖² + 1/(2C))``
        (PA-II).
    C : float, default=1.0
        Aggressiveness, > 0; PA does not use it.
    class_weight : dict of label to float, default=None
        ω > 0 by label, 1 for those that it does not name: C becomes ``C ω_y``. So no step goes beyond the
        margin, as those of scikit-learn do, which multiplies τ. PA, which has no C, does not use it.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    A row of zeros, or one whose ‖x‖² is no normal float64 (2.2e-308 to 1.8e308), is passed over, and so is
    one whose score or τ overflows.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (2006), "Online passive-aggressive algorithms", JMLR 7.

    Examples
    --------
    >>> PassiveAggressive(variant="PA").fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 1.0]]
    """

    def __init__(
        self,
        variant: str = "PA-I",
        C: float = 1.0,
        class_weight: Mapping[Any, float] | None = None,
        epochs: int = 1,
    ) -> None:
        self.variant = variant
        self.C = C
        self.class_weight = class_weight
        self.epochs = epochs

    def _check_parameters(self):
        check_option(self, "variant", ("PA", "PA-I", "PA-II"))
        check_positive(self, "C")

    _state = ("_weights", "_buffer")

    def _allocate(self, n_features):
        self._weights, self._buffer = new_state(n_features), new_state(n_features, place=1)

    def _allocate_classes(self, n_features, n_classes):
        self._weights, self._buffer = new_class_state(n_features, n_classes), None

    def _loop(self):
        return _learn, (self._weights, self._buffer, *self._limits())

    def _loop_of_classes(self):
        return _learn_classes, (self._weights, *self._limits())

    def _limits(self):
        largest_step = float(self.C) if self.variant == "PA-I" else np.inf
        slack = 0.5 / float(self.C) if self.variant == "PA-II" else 0.0
        return largest_step, slack, weights_by_code(self)
