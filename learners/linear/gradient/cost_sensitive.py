"""Cost-sensitive online gradient descent."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ...estimator.parameters import Positive
from ..first_order import FirstOrderClassifier


class CostRule(NamedTuple):
    """The rule of `CSOGD`: the cost ρ_y is the margin to reach if `in_margin`, else it multiplies η."""

    eta: float
    in_margin: bool
    skips_zero_rows: bool = True

    def step(self, y, m, squares, weight):
        """Return ``(is_update, step)`` for a row with margin m; `weight` is its cost ρ_y."""
        if self.in_margin:
            return m < weight, self.eta
        return m < 1.0, self.eta * weight


@dataclass(eq=False, repr=False)
class CSOGD(FirstOrderClassifier):
    """Cost-sensitive online gradient descent: an error on a row of ``classes_[1]`` costs ρ times as much.

    The cost ρ_y is ρ for rows of ``classes_[1]`` and 1 for rows of ``classes_[0]``. In CSOGD-I the cost is
    the margin to reach: ``w += η y x`` if the margin m is below ρ_y. In CSOGD-II the cost is a factor of the
    loss's slope: ``w += η ρ_y y x`` if ``m < 1``.

    Parameters
    ----------
    variant : {"CSOGD-I", "CSOGD-II"}, default="CSOGD-I"
        Which of the two rules.
    rho : float, default=2.0
        ρ > 0. If errors on rows of ``classes_[1]`` and ``classes_[0]`` cost c_p and c_n, set it to
        ``c_p/c_n``. To maximize the sum of sensitivity and specificity with weights η_p and η_n, set it to
        ``η_p T_n/(η_n T_p)``, where T_p and T_n are the numbers of rows of the two classes.
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
    A row of zeros causes no update. CSOGD-II is `OnlineGradientDescent` with rate="constant" and
    ``class_weight``. The rules were taken from the source of a public Python port, which was not run.

    See Also
    --------
    OnlineGradientDescent

    References
    ----------
    Wang, Zhao, Hoi (2014), "Cost-sensitive online classification", IEEE Transactions on Knowledge and Data
    Engineering 26.

    Examples
    --------
    >>> CSOGD(rho=3.0).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.1, 0.1]]
    """

    variant: Literal["CSOGD-I", "CSOGD-II"] = "CSOGD-I"
    rho: Positive = 2.0
    eta: Positive = 0.1
    epochs: int = 1

    algorithm_version = 2

    def _rule(self):
        return CostRule(float(self.eta), self.variant == "CSOGD-I")

    def _weights_by_code(self):
        return np.array([1.0, float(self.rho)])
