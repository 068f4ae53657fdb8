"""D-Adaptation."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ...estimator.parameters import Scale
from .whole_vector import NORM, OWN, WholeVectorLearner

_D, _FIRST, _N = OWN, OWN + 1, OWN + 2


class AdaptationRule(NamedTuple):
    """The rule of `DAdaptationSGD`. It stores that class's d, g₀ (norm of the first gradient) and N."""

    def step(self, numbers, gv, gg):
        """Update d and N (Defazio & Mishchenko 2023, Alg. 2, no momentum); return -a, for the step -a g."""
        if numbers[_FIRST] == 0.0:
            numbers[_FIRST] = math.sqrt(gg)
        a = numbers[_D] / numbers[_FIRST]
        numbers[_N] -= a * gv
        length = math.sqrt(max(numbers[NORM] - a * (2.0 * gv - a * gg), 0.0))
        if length > 0.0:
            numbers[_D] = max(numbers[_D], 2.0 * numbers[_N] / length)
        return -a


@dataclass(eq=False, repr=False)
class DAdaptationSGD(WholeVectorLearner):
    """D-Adaptation for gradient descent: steps grow with a lower bound d of the distance to the optimum.

    On a row with gradient ``g = -y c(m) x`` (c(m) is minus the loss's slope at the margin m), where g₀ is the
    norm of the first gradient: ``a = d/g₀``, ``N -= a g·w``, ``w -= a g``, ``d = max(d, 2N/‖w‖)``.

    Parameters
    ----------
    d0 : float, default=1e-6
        d₀ > 0, the first d. The first steps are proportional to it.
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
    This is the authors' ``dadapt_sgd.py`` without momentum and weight decay. ‖w‖ is computed from its last
    value and the step. A row whose ‖g‖² leaves the range of float64 is skipped.

    References
    ----------
    Defazio, Mishchenko (2023), "Learning-rate-free learning by D-Adaptation", ICML.

    Examples
    --------
    >>> DAdaptationSGD(d0=0.1).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.1, 0.1]]
    """

    d0: Scale = 1e-6
    loss: Literal["hinge", "logistic"] = "hinge"
    epochs: int = 1

    def _start(self):
        return AdaptationRule(), (float(self.d0), 0.0, 0.0)
