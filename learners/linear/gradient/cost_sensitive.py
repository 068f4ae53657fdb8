"""Cost-sensitive online gradient descent."""

import numpy as np
from numpy.typing import NDArray

from ...estimator.parameters import check_option, check_positive
from ...numeric.loops import learning_loop
from ...numeric.margins import signed
from ...numeric.rows import add_scaled, dot, n_rows, new_state, row
from ..linear_classifier import LinearClassifier
from ..parts.losses import has_entries


@learning_loop
def _learn(X, codes, scores, w, thresholds, steps):
    """One pass; by code, the margin below which a row is an update, and its step."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, code = row(X, t), codes[t]
        y = signed(code)
        scores[t] = dot(w, x)
        m = y * scores[t]
        mistakes += not m > 0.0
        if m < thresholds[code] and (m != 0.0 or has_entries(x)):
            add_scaled(w, y * steps[code], x)
            updates += 1
    return mistakes, updates


class CSOGD(LinearClassifier):
    """Cost-sensitive online gradient descent: an error on a row of ``classes_[1]`` costs ρ times another's.

    With ρ_y = ρ for ``classes_[1]`` and 1 for ``classes_[0]``: ``w += η y x`` where ``m < ρ_y`` (I, the cost
    is in the margin), or ``w += η ρ_y y x`` where ``m < 1`` (II, it is in the slope).

    Parameters
    ----------
    variant : {"CSOGD-I", "CSOGD-II"}, default="CSOGD-I"
        Which of the two losses.
    rho : float, default=2.0
        ρ > 0. For costs c_p and c_n of errors on rows of ``classes_[1]`` and ``classes_[0]`` it is
        ``c_p/c_n``; for the sum of sensitivity and specificity with weights η_p and η_n it is
        ``η_p T_n/(η_n T_p)``, T_p and T_n being how many rows there are of each.
    eta : float, default=0.1
        Step η > 0, the same in every round.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w.

    Notes
    -----
    A row of zeros is no update. II is `OnlineGradientDescent` with rate="constant" and ``class_weight``. The
    rules are those of a public Python port, which was read, not run.

    See Also
    --------
    OnlineGradientDescent
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Wang, Zhao, Hoi (2014), "Cost-sensitive online classification", IEEE Transactions on Knowledge and Data
    Engineering 26.

    Examples
    --------
    >>> CSOGD(rho=3.0).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.1, 0.1]]
    """

    def __init__(self, variant: str = "CSOGD-I", rho: float = 2.0, eta: float = 0.1, epochs: int = 1) -> None:
        self.variant = variant
        self.rho = rho
        self.eta = eta
        self.epochs = epochs

    def _check_parameters(self):
        check_option(self, "variant", ("CSOGD-I", "CSOGD-II"))
        check_positive(self, "rho")
        check_positive(self, "eta")

    _state = ("_weights",)

    def _allocate(self, n_features):
        self._weights = new_state(n_features)

    def _loop(self):
        costs, ones, eta = np.array([1.0, float(self.rho)]), np.ones(2), float(self.eta)
        if self.variant == "CSOGD-I":
            return _learn, (self._weights, costs, eta * ones)
        return _learn, (self._weights, ones, eta * costs)

    @property
    def coef_(self) -> NDArray[np.float64]:
        return self._weights.reshape(1, -1)
