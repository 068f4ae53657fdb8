"""The Passive-Aggressive algorithms PA, PA-I and PA-II."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ..estimator.parameters import check_option, check_positive
from ..numeric.rows import new_state
from ..numeric.vector import SMALLEST_NORMAL
from .first_order import FirstOrderClassifier
from .linear_classifier import WeightedClassifier


class PARule(NamedTuple):
    """The step of Crammer et al. (2006), ``τ = min(C, l/(‖x‖² + 1/(2C)))``.

    `largest_step` is the C of PA-I (else infinity), `slack` the 1/(2C) of PA-II (else 0).
    """

    largest_step: float
    slack: float
    margin_limit: float = 1.0

    def step(self, y, m, squares, weight):
        """See `first_order`; a class weight is a factor of C."""
        l = 1.0 - m
        # A score that overflowed gives no step. No step reaches a row of zeros, nor one whose squares leave
        # the normal range of float64.
        if not (0.0 < l < np.inf and SMALLEST_NORMAL <= squares < np.inf):
            return False, 0.0
        tau = min(self.largest_step * weight, l / (squares + self.slack / weight))
        if not tau < np.inf:
            return False, 0.0
        return True, tau


class PassiveAggressive(FirstOrderClassifier, WeightedClassifier):
    """Passive-Aggressive: the smallest change of w after which the row's hinge loss ``l = 1 - m`` is zero.

    With more than two classes ``w_y += τ x`` and ``w_ỹ -= τ x``, with ỹ the best wrong class and 2‖x‖² in
    place of ‖x‖².

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
    A row of zeros, or one whose ‖x‖² is no normal float64 (2.2e-308 to 1.8e308), is passed over, and so is
    one whose score or τ overflows.

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

    def _begin_with(self, zeros):
        self._weights = zeros
        self._buffer = new_state(len(zeros), place=1) if zeros.ndim == 1 else None

    def _rule(self):
        largest_step = float(self.C) if self.variant == "PA-I" else np.inf
        slack = 0.5 / float(self.C) if self.variant == "PA-II" else 0.0
        return PARule(largest_step, slack)
