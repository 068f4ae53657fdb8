"""Distance over gradients: DoG and DoWG."""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ...estimator.parameters import Scale
from .whole_vector import NORM, OWN, WholeVectorLearner

_R, _V = OWN, OWN + 1


class DistanceRule(NamedTuple):
    """The rule of `DoG`, or of `DoWG` if `weighted` is true. It stores the r and v of these classes."""

    weighted: bool

    def weight(self, numbers):
        """Update r, the largest ‖w‖ so far (at least r_ε); return w's weight in the mean: r or r² (DoWG)."""
        r = numbers[_R] = max(numbers[_R], math.sqrt(numbers[NORM]))
        return r * r if self.weighted else r

    def step(self, numbers, gv, gg):
        """Update v; return the factor of the gradient in the step: -r/√v for DoG, -r²/√v for DoWG."""
        reach = numbers[_R] * numbers[_R] if self.weighted else numbers[_R]
        numbers[_V] += reach * gg if self.weighted else gg
        return -reach / math.sqrt(numbers[_V])


class _DistanceLearner(WholeVectorLearner):
    """Base of `DoG` and `DoWG`."""

    r_eps: Scale

    def _start(self):
        return DistanceRule(isinstance(self, DoWG)), (float(self.r_eps), 0.0)


@dataclass(eq=False, repr=False)
class DoG(_DistanceLearner):
    """DoG (distance over gradients): gradient descent whose steps follow from the distance covered so far.

    On a row with gradient ``g = -y c(m) x`` (c(m) is minus the loss's slope at the margin m):
    ``r = max(r, ‖w‖)``, then ``v += ‖g‖²`` and ``w -= r/√v g``. r starts at r_ε, v at 0.

    Parameters
    ----------
    r_eps : float, default=0.1
        r_ε > 0, the distance assumed at first. The authors' 1e-6 is for long training of deep networks: on a
        stream of 2,000 rows, weights hardly leave 0 with it.
    average : bool, default=False
        Predict with the mean of the w before each row, weighted by r. Gradients are still taken at w, so
        ``n_updates_`` counts the updates of w, and ``n_mistakes_`` the mistakes of the mean.
    loss : {"hinge", "logistic"}, default="hinge"
        As in `OnlineGradientDescent`. With more than two classes "logistic" is the softmax, and the hinge
        takes the margin over the best wrong class; norms are of the whole (K, d) matrix.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The weights that predict.

    Notes
    -----
    ‖w‖ is computed from its last value and the step. A row whose ‖g‖² leaves the range of float64 is skipped.

    See Also
    --------
    DoWG : Weighs gradients by distances.

    References
    ----------
    Ivgi, Hinder, Carmon (2023), "DoG is SGD's best friend: a parameter-free dynamic step size schedule",
    ICML.

    Examples
    --------
    >>> DoG().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.1, 0.0707]]
    """

    r_eps: Scale = 0.1
    average: bool = False
    loss: Literal["hinge", "logistic"] = "hinge"
    epochs: int = 1


@dataclass(eq=False, repr=False)
class DoWG(_DistanceLearner):
    """DoWG (distance over weighted gradients): as `DoG`, but later gradients have larger weights.

    On a row with gradient ``g = -y c(m) x`` (c(m) is minus the loss's slope at the margin m):
    ``r = max(r, ‖w‖)``, then ``v += r² ‖g‖²`` and ``w -= r²/√v g``.

    Parameters
    ----------
    r_eps : float, default=0.1
        r_ε > 0, see `DoG`.
    average : bool, default=False
        As in `DoG`, but the mean is weighted by r².
    loss : {"hinge", "logistic"}, default="hinge"
        As in `DoG`.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The weights that predict.

    Notes
    -----
    Its steps can be far too long: on the digits data with the softmax, the scores depend on rounding errors.

    References
    ----------
    Khaled, Mishchenko, Jin (2023), "DoWG unleashed: an efficient universal parameter-free gradient descent
    method", NeurIPS, Algorithm 1.

    Examples
    --------
    >>> DoWG().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.1, 0.0707]]
    """

    r_eps: Scale = 0.1
    average: bool = False
    loss: Literal["hinge", "logistic"] = "hinge"
    epochs: int = 1
