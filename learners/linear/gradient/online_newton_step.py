"""The online Newton step."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from ...estimator.parameters import Scale, one_of
from ...numeric.loops import learning_loop
from ...numeric.margins import signed
from ...numeric.rows import by_types, dot, entry, n_entries, n_rows, row
from ..linear_classifier import CovarianceClassifier
from ..parts.covariance import Shape, is_usable, variance
from ..parts.full_covariance import subtract_outer
from ..parts.losses import LOSSES, has_gradient, slope

# The losses that are exp-concave if weights are bounded; the regret bound of the algorithm needs this.
_LOSSES = ("logistic", "squared_hinge")


@by_types()
def _step(w, sigma, x, s, y, c, gamma):
    """Make the step ``A += g gᵀ``, ``w -= A⁻¹ g/γ`` for ``g = -y c x``; return False if it is skipped."""
    if sigma.ndim == 1:

        def diagonal(w, sigma, x, s, y, c, gamma):
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                g = c * x_j
                more = 1.0 + sigma[j] * g * g
                if g != 0.0 and more < np.inf:
                    sigma[j] /= more
                    w[j] += y * (sigma[j] * g) / gamma
            return True

        return diagonal

    def full(w, sigma, x, s, y, c, gamma):
        v = variance(sigma, x, s)
        # With Σ the old A⁻¹ and v = xᵀΣx, the new A⁻¹ is Σ - c²/(1 + c²v) Σx xᵀΣ (Sherman-Morrison).
        more = 1.0 + c * c * v
        if not (is_usable(v) and more < np.inf):
            return False
        step = y * c / (gamma * more)
        for j in range(w.shape[0]):
            w[j] += step * s[0, j]
        subtract_outer(sigma, s, c * c / more)
        return True

    return full


@learning_loop
def _learn(X, codes, scores, w, sigma, s, loss, gamma):
    """Make one pass of Hazan, Agarwal & Kale (2007) without the projection; `sigma` is the paper's A⁻¹."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        f = scores[t] = dot(w, x)
        mistakes += not y * f > 0.0
        c = slope(loss, y * f)
        if has_gradient(c, f, x):
            updates += _step(w, sigma, x, s, y, c, gamma)
    return mistakes, updates


@dataclass(eq=False, repr=False)
class OnlineNewtonStep(CovarianceClassifier):
    """The online Newton step, without its projection: ``A += g gᵀ``, then ``w -= A⁻¹ g/γ``.

    g is the gradient ``-y c(m) x`` (c(m) is minus the loss's slope at the margin m). A starts at εI.

    Parameters
    ----------
    gamma : float, default=1.0
        γ > 0: steps are divided by it.
    epsilon : float, default=1.0
        ε > 0: A starts at ε I.
    loss : {"logistic", "squared_hinge"}, default="logistic"
        As in `OnlineGradientDescent`, whose other losses are not exp-concave.
    covariance : {"full", "diagonal"}, default="full"
        A as a matrix (d² operations per row), or its diagonal only.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w.
    sigma_ : ndarray of float64, shape (d, d) or (d,)
        A⁻¹.

    Notes
    -----
    The rule is the published formula. It was checked by solving with A at every row, not against the paper's
    text or public code. The regret bound requires the projection and does not hold here. The diagonal form,
    whose steps fall like 1/t, can end worse than chance; it is included for completeness.

    References
    ----------
    Hazan, Agarwal, Kale (2007), "Logarithmic regret algorithms for online convex optimization", Machine
    Learning 69.

    Examples
    --------
    >>> OnlineNewtonStep().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(3).tolist()
    [[-0.4, 0.4]]
    """

    gamma: Scale = 1.0
    epsilon: Scale = 1.0
    loss: Annotated[str, one_of(_LOSSES)] = "logistic"
    covariance: Shape = "full"
    epochs: int = 1

    def _scale(self):
        return 1.0 / float(self.epsilon)

    def _loop(self):
        loss = LOSSES.index(self.loss)
        return _learn, (self._weights, self._sigma, self._buffer, loss, float(self.gamma))
