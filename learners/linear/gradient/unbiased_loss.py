"""Gradient descent on a loss corrected for known rates of flipped labels."""

from dataclasses import dataclass

import numpy as np

from ...estimator.parameters import NonNegative
from .gradient_descent import GradientDescent


@dataclass(eq=False, repr=False)
class UnbiasedLoss(GradientDescent):
    """Online gradient descent on a loss whose mean over random label flips is the loss of the true label.

    With y the given label, ``ρ_y`` the flip rate of its class, ``ρ_-y`` that of the other class, the slope
    c(m) of `OnlineGradientDescent` is replaced by::

        c̃(m) = [(1 - ρ_-y) c(m) + ρ_y c(-m)] / (1 - ρ₊ - ρ₋).

    With ``ρ₊ = ρ₋ = 0`` this is `OnlineGradientDescent`.

    Parameters
    ----------
    rho_plus : float, default=0.0
        ρ₊ >= 0: the share of rows of ``classes_[1]`` that are labelled as the other class.
    rho_minus : float, default=0.0
        ρ₋ >= 0: the share of rows of ``classes_[0]`` that are labelled as the other class; ρ₊ + ρ₋ < 1.
    eta : float, default=1.0
        This and the next five parameters are those of `OnlineGradientDescent`.
    loss : str, default="logistic"
    rate : {"sqrt", "constant", "adagrad"}, default="sqrt"
    average : bool, default=False
    l2 : float, default=0.0
    delta : float, default=1e-8
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        The weights that predict.

    Notes
    -----
    The logistic loss stays convex. The hinge does not: for m > 1 its slope is ``ρ_y/(1 - ρ₊ - ρ₋)``, the loss
    is unbounded below, and every row causes an update; use ``l2`` with it. More than two classes would need
    the matrix of all flip rates.

    References
    ----------
    Natarajan, Dhillon, Ravikumar, Tewari (2013), "Learning with noisy labels", NIPS, Lemma 1.

    Examples
    --------
    >>> UnbiasedLoss(rho_plus=0.25, loss="unhinged").fit([[1.0], [-1.0]], [1, 0]).coef_.round(3).tolist()
    [[2.374]]
    """

    rho_plus: NonNegative = 0.0
    rho_minus: NonNegative = 0.0
    eta: float = 1.0
    loss: str = "logistic"
    rate: str = "sqrt"
    average: bool = False
    l2: float = 0.0
    delta: float = 1e-8
    epochs: int = 1

    def _check_parameters(self):
        if not float(self.rho_plus) + float(self.rho_minus) < 1.0:
            raise ValueError(
                "UnbiasedLoss: rho_plus + rho_minus must be below 1, "
                f"got {self.rho_plus!r} + {self.rho_minus!r}"
            )

    def _factors(self):
        # The shares of flipped labels in classes 0 and 1.
        flipped = np.array([self.rho_minus, self.rho_plus], np.float64)
        return np.column_stack([1.0 - flipped[::-1], flipped]) / (1.0 - flipped.sum())
