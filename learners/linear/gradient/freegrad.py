"""FreeGrad, which adapts to the size of weights and of gradients."""

from ...estimator.parameters import check_option, check_scale
from ..parts.by_feature import FreeGradRule
from ..parts.losses import LOSSES
from .feature_learner import FeatureLearner


class FreeGrad(FeatureLearner):
    """FreeGrad for each feature: neither the size of the weights nor that of the gradients has to be known.

    On a row with gradient ``g = -y c(m) x``, for ``g_j != 0``: the first time ``h₁ = h = |g_j|`` and
    ``V = g_j²``, later g_j is cut to [-h, h] and then ``h = max(h, |g_j|)``; ``G += g_j``, ``V += g_j²``.
    With ``a = h |G|``

        w_j = -ε G h₁² (2V + a)/(2 (V + a)² √V) exp(G²/(2V + 2a)).

    Parameters
    ----------
    epsilon : float, default=1.0
        ε > 0: how large the first weights are.
    loss : str, default="logistic"
        One of those of `OnlineGradientDescent`. With more than two classes "logistic" is the softmax, and the
        others are of the margin over the best wrong class.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    Vowpal Wabbit's ``--freegrad``, without its restarts and its projection. The exponent is cut at 700.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Mhammedi, Koolen (2020), "Lipschitz and comparator-norm adaptivity in online learning", COLT, eq. 9.

    Examples
    --------
    >>> FreeGrad().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.232, 0.232]]
    """

    def __init__(self, epsilon: float = 1.0, loss: str = "logistic", epochs: int = 1) -> None:
        self.epsilon = epsilon
        self.loss = loss
        self.epochs = epochs

    def _check_parameters(self):
        check_scale(self, "epsilon")
        check_option(self, "loss", LOSSES)

    def _rule(self):
        return FreeGradRule(float(self.epsilon))
