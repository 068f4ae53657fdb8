"""FTRL-Proximal, the learner of click rates."""

from ...estimator.parameters import check_nonnegative, check_option, check_scale
from ..parts.by_feature import FTRLRule
from .feature_learner import FeatureLearner


class FTRLProximal(FeatureLearner):
    """Follow the regularised leader: a step size for each feature, and weights that are exactly 0.

    On a row with gradient ``g = -y c(m) x``, for every j with ``g_j != 0``: ``σ = (√(n_j + g_j²) - √n_j)/α``,
    ``z_j += g_j - σ w_j``, ``n_j += g_j²``. ``w_j = 0`` where ``|z_j| <= λ₁``, else
    ``w_j = -(z_j - sgn(z_j) λ₁)/((β + √n_j)/α + λ₂)``.

    With more than two classes "logistic" is the softmax, and the hinge is of the margin over the best wrong
    class; z and n are of each class and feature.

    Parameters
    ----------
    alpha : float, default=0.1
        Step size α > 0.
    beta : float, default=1.0
        β >= 0: keeps the first steps small.
    l1 : float, default=0.0
        Weight λ₁ >= 0 of the L1 norm.
    l2 : float, default=0.0
        Weight λ₂ >= 0 of the L2 norm.
    loss : {"logistic", "hinge"}, default="logistic"
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    Vowpal Wabbit's ``--ftrl`` is the same rule in float32. River's is not: it computes w before z takes the
    new gradient, and a feature whose |z| falls to λ₁ keeps its old weight.

    α, β, λ₁ and λ₂ are those with which learning began: `set_params` holds from the next `fit` on.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    McMahan et al. (2013), "Ad click prediction: a view from the trenches", KDD, Algorithm 1.

    Examples
    --------
    >>> FTRLProximal().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.0333, 0.0333]]
    """

    def __init__(
        self,
        alpha: float = 0.1,
        beta: float = 1.0,
        l1: float = 0.0,
        l2: float = 0.0,
        loss: str = "logistic",
        epochs: int = 1,
    ) -> None:
        self.alpha = alpha
        self.beta = beta
        self.l1 = l1
        self.l2 = l2
        self.loss = loss
        self.epochs = epochs

    def _check_parameters(self):
        check_scale(self, "alpha")
        check_nonnegative(self, "beta")
        check_nonnegative(self, "l1")
        check_nonnegative(self, "l2")
        check_option(self, "loss", ("logistic", "hinge"))

    def _rule(self):
        return FTRLRule(1.0 / float(self.alpha), float(self.beta), float(self.l1), float(self.l2))
