"""Normal Herd (NHERD)."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..estimator.parameters import Scale
from .gaussian import GaussianClassifier
from .parts.covariance import Projection, Shape


class NHERDRule(NamedTuple):
    """The rule of `NHERD`, with the step of Crammer & Lee (2010)."""

    C: float
    margin_limit: float = 1.0

    def step(self, m, v, weight):
        """Return ``(is_update, α, β, γ)``: the step sizes of μ, Σ and Σ⁻¹ for margin m and variance v."""
        C = self.C
        q = 1.0 + C * v
        alpha = (1.0 - m) / (v + 1.0 / C)
        beta = (C / q) * (1.0 + 1.0 / q)  # (C²v + 2C)/(1 + Cv)², without squares that overflow
        gamma = C * (1.0 + q)
        # Skip rows with infinite γ, which would turn a variance of 0 into NaN.
        return gamma < np.inf, alpha, beta, gamma


@dataclass(eq=False, repr=False)
class NHERD(GaussianClassifier):
    """Normal Herd: move every weight vector of a Gaussian towards a margin of 1 on the row.

    On a row x with label y (±1), margin ``m = y μ·x`` and hinge loss ``l = 1 - m > 0``, with ``v = xᵀΣx``:
    ``μ += l/(v + 1/C) y Σx``, ``Σ -= (C²v + 2C)/(1 + Cv)² Σx xᵀΣ``, that is ``Σ⁻¹ += (C²v + 2C) x xᵀ``. The
    mean moves as AROW's with r = 1/C, the covariance shrinks faster.

    With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the
    block of class z and ỹ the best wrong class. The paper and LIBOL have two classes only.

    Parameters
    ----------
    C : float, default=1.0
        Aggressiveness, > 0. If ``C ‖x‖²`` is near 1e15, rounding errors dominate a full Σ: scale such
        features down.
    covariance : {"diagonal", "full"}, default="diagonal"
        "full" stores a (d, d) matrix, or (Kd, Kd) for K classes; memory and time per row grow with its size.
    projection : {"covariance", "precision"}, default="covariance"
        For a diagonal Σ: keep the diagonal of the updated Σ (the paper's "drop",
        ``σ_j -= (C²v + 2C)/(1 + Cv)² σ_j² x_j²``) or that of the updated Σ⁻¹ (its "project",
        ``1/σ_j += (C²v + 2C) x_j²``). The paper's third way, "exact", is not offered.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The mean μ.
    sigma_ : ndarray of float64, shape (d,) or (d, d); (K, d) or (Kd, Kd) for more than two classes
        Σ, or its diagonal; starts at 1.

    References
    ----------
    Crammer, Lee (2010), "Learning via Gaussian herding", NIPS.

    Examples
    --------
    >>> model = NHERD().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1])
    >>> model.coef_.tolist(), model.sigma_.tolist()
    ([[-0.5, 0.5]], [0.25, 0.25])
    """

    C: Scale = 1.0
    covariance: Shape = "diagonal"
    projection: Projection = "covariance"
    epochs: int = 1

    def _rule(self):
        return NHERDRule(float(self.C))
