"""Mechanic, which tunes the scale of gradient descent."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ...estimator.parameters import Count, NonNegative, Scale
from .whole_vector import NORM, OWN, SCALE, WholeVectorLearner

# The decay factors of the bettors, β_i = 1 - 10^-i for i = 1 … 17. β_17 is 1 in float64, and is used for all
# larger i.
_BETAS = 1.0 - 0.1 ** np.arange(1.0, 18.0)


class MechanicRule(NamedTuple):
    """The update rule of `Mechanic`, whose weights ``-S Δ`` are stored as ``scale · v``: v is Δ, scale is -S.

    It stores the s_i, m_i, V_i and R_i of each bettor i, followed by the number of rows with a gradient.
    """

    s_init: float
    lam: float
    eps: float
    falls: bool

    def step(self, numbers, gv, gg):
        """Update the bettors (Cutkosky, Defazio & Mehta 2023, Algorithm 1); return the factor of g in Δ."""
        s, m, V, R = numbers[OWN:-1:4], numbers[OWN + 1 :: 4], numbers[OWN + 2 :: 4], numbers[OWN + 3 :: 4]
        S = s.sum()
        # h = q·Δ by the formulas of `Mechanic`; gv is g·Δ, gg is ‖g‖², and w is -S Δ.
        h = gv - self.lam * S * math.sqrt(gg) / (S * math.sqrt(numbers[NORM]) + self.eps) * S * numbers[NORM]
        for i in range(s.size):
            beta = _BETAS[min(i, _BETAS.size - 1)]
            R[i] = beta * R[i] + min(max(h, -m[i]), m[i]) * s[i]
            m[i] = max(beta * m[i], abs(h) + self.eps)
            V[i] = beta * beta * V[i] + h * h
            s[i] = (self.s_init * m[i] / s.size + max(0.0, R[i])) / (math.sqrt(V[i]) + self.eps)
        numbers[SCALE] = -s.sum()
        numbers[-1] += 1.0
        return 1.0 / math.sqrt(numbers[-1]) if self.falls else 1.0


@dataclass(eq=False, repr=False)
class Mechanic(WholeVectorLearner):
    """Mechanic for gradient descent: w is the sum of all gradients times a scale that n bettors learn.

    ``w = -S Δ`` with ``S = Σ_i s_i``. On a row with gradient ``g = -y c(m) x`` (c(m) is minus the loss's
    slope at the margin m): ``q = g + λ S ‖g‖/(‖w‖ + ε) w``, ``h = q·Δ``, then ``Δ += g``. Then for i = 1..n,
    with ``β_i = 1 - 10^-i``, in this order: ``R_i = β_i R_i + clip(h, -m_i, m_i) s_i``,
    ``m_i = max(β_i m_i, |h| + ε)``, ``V_i = β_i² V_i + h²``,
    ``s_i = (s_init m_i/n + max(0, R_i))/(√V_i + ε)``.

    Parameters
    ----------
    n : int, default=6
        Number of bettors, n >= 1.
    s_init : float, default=1e-6
        The s_i before the first row, > 0.
    lam : float, default=0.01
        λ >= 0: how strongly w is pulled to 0.
    eps : float, default=1e-8
        ε > 0: keeps denominators above 0.
    rate : {"constant", "sqrt"}, default="constant"
        "sqrt": ``Δ += g/√k`` for the k-th row with a gradient.
    loss : {"hinge", "logistic"}, default="hinge"
        As in `OnlineGradientDescent`. With more than two classes "logistic" is the softmax, and the hinge
        takes the margin over the best wrong class; norms are of the whole (K, d) matrix.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    optax's ``mechanize`` computes Δ from w and loses part of it while S is small, unless its ``eps`` is tiny.
    A row whose ‖g‖² or ``g·Δ`` leaves the range of float64 is skipped.

    References
    ----------
    Cutkosky, Defazio, Mehta (2023), "Mechanic: a learning rate tuner", NeurIPS, Algorithm 1.

    Examples
    --------
    >>> Mechanic(s_init=0.1).fit([[1.0, 0.0], [1.0, 1.0]], [0, 1]).coef_.round(3).tolist()
    [[-0.0, 0.1]]
    """

    n: Count = 6
    s_init: Scale = 1e-6
    lam: NonNegative = 0.01
    eps: Scale = 1e-8
    rate: Literal["constant", "sqrt"] = "constant"
    loss: Literal["hinge", "logistic"] = "hinge"
    epochs: int = 1

    def _start(self):
        rule = MechanicRule(float(self.s_init), float(self.lam), float(self.eps), self.rate == "sqrt")
        return rule, [rule.s_init, 0.0, 0.0, 0.0] * self.n + [0.0]
