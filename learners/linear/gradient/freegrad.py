"""FreeGrad, which adapts to the size of weights and of gradients."""

import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from ...estimator.parameters import Scale, one_of
from ..parts.losses import LOSSES, exp_of_negative
from .feature_learner import RICHEST, FeatureLearner

# Larger exponents are replaced by this one: e^700 is near the largest float64.
_LARGEST_EXPONENT = 700.0


class FreeGradRule(NamedTuple):
    """The rule of `FreeGrad`. Stored per weight: h₁ and h (first and largest |g|), G and V (Σg and Σg²)."""

    epsilon: float
    size: int = 4

    def follow(self, w, numbers, i, g):
        """Update weight i, given its gradient g, by eq. 9 of Mhammedi and Koolen (2020)."""
        first, largest = numbers[4 * i], numbers[4 * i + 1]
        total, squares = numbers[4 * i + 2], numbers[4 * i + 3]
        clipped = g
        if first == 0.0:
            first = largest = abs(g)
            squares = g * g
        else:
            clipped = min(max(g, -largest), largest)
            largest = max(largest, abs(g))
        total += clipped
        squares += clipped * clipped
        # A gradient is skipped if Σg² underflows to 0 or overflows.
        if 0.0 < squares < np.inf:
            both = squares + largest * abs(total)
            exponent = min(total / (2.0 * both) * total, _LARGEST_EXPONENT)
            new = total / math.sqrt(squares) * (first / both * first) * ((squares + both) / (2.0 * both))
            new *= -self.epsilon / exp_of_negative(-exponent)
            if abs(new) < RICHEST:
                numbers[4 * i], numbers[4 * i + 1] = first, largest
                numbers[4 * i + 2], numbers[4 * i + 3] = total, squares
                w[i] = new


@dataclass(eq=False, repr=False)
class FreeGrad(FeatureLearner):
    """FreeGrad for each feature, which needs no bound on the weights or on the gradients.

    On a row with gradient ``g = -y c(m) x`` (c(m) is minus the loss's slope at the margin m), for
    ``g_j != 0``: the first time ``h₁ = h = |g_j|`` and ``V = g_j²``, later g_j is clipped to [-h, h] and then
    ``h = max(h, |g_j|)``; ``G += g_j``, ``V += g_j²``. With ``a = h |G|``

        w_j = -ε G h₁² (2V + a)/(2 (V + a)² √V) exp(G²/(2V + 2a)).

    Parameters
    ----------
    epsilon : float, default=1.0
        ε > 0: the scale of the first weights.
    loss : str, default="logistic"
        One of those of `OnlineGradientDescent`. With more than two classes "logistic" is the softmax, and the
        others take the margin over the best wrong class.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    This is Vowpal Wabbit's ``--freegrad`` without its restarts and its projection. The exponent of the
    formula is limited to 700.

    References
    ----------
    Mhammedi, Koolen (2020), "Lipschitz and comparator-norm adaptivity in online learning", COLT, eq. 9.

    Examples
    --------
    >>> FreeGrad().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.232, 0.232]]
    """

    epsilon: Scale = 1.0
    loss: Annotated[str, one_of(LOSSES)] = "logistic"
    epochs: int = 1

    def _rule(self):
        return FreeGradRule(float(self.epsilon))
