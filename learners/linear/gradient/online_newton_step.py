"""The online Newton step."""

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from ...estimator.parameters import Scale, one_of
from ...numeric.compiled import register_jitable
from ...numeric.loops import learning_loop
from ...numeric.margins import signed
from ...numeric.rows import dot, entry, method, n_entries, n_rows, row
from ..linear_classifier import CovarianceClassifier
from ..parts.covariance import Shape, is_usable, variance
from ..parts.full_covariance import subtract_outer
from ..parts.losses import LOSSES, has_gradient, slope

# The losses that are exp-concave if weights are bounded; the regret bound of the algorithm needs this.
_LOSSES = ("logistic", "squared_hinge")


class DiagonalForm(NamedTuple):
    """Only the diagonal of A, stored as its inverse."""

    gamma: float

    def newton_step(self, w, A, buffer, x, y, c):
        for k in range(n_entries(x)):
            j, x_j = entry(x, k)
            g = c * x_j
            more = 1.0 + A[j] * g * g
            if g != 0.0 and more < np.inf:
                A[j] /= more
                w[j] += y * (A[j] * g) / self.gamma
        return True


class FullForm(NamedTuple):
    """The whole matrix, stored as its inverse."""

    gamma: float

    def newton_step(self, w, A, buffer, x, y, c):
        v = variance(A, x, buffer)
        # With Σ the old A⁻¹ and v = xᵀΣx, the new A⁻¹ is Σ - c²/(1 + c²v) Σx xᵀΣ (Sherman-Morrison).
        more = 1.0 + c * c * v
        if not (is_usable(v) and more < np.inf):
            return False
        step = y * c / (self.gamma * more)
        for j in range(w.shape[0]):
            w[j] += step * buffer[0, j]
        subtract_outer(A, buffer, c * c / more)
        return True


# Make the step ``A += g gᵀ``, ``w -= A⁻¹ g/γ`` for ``g = -y c x``; return False if it is skipped.
_newton_step = method("newton_step")
# Move w along ``A⁻¹ x`` until the score ``w·x`` has changed by `change`.
_move_score = method("move_score")


@register_jitable
def _clipped(f, C):
    """Return the score f clipped to [-C, C], but NaN if f is infinite or NaN, so that bad rows are seen."""
    return min(max(f, -C), C) + 0.0 * f


@learning_loop
def learn_by_newton_steps(X, codes, scores, w, A, buffer, form, loss, C):
    """Make one pass of Newton steps, as Hazan, Agarwal & Kale (2007) without their projection.

    `form` says how A is stored. If C is not None, scores are clipped to [-C, C], and w moves along A⁻¹x until
    it gives the clipped score (Luo, Agarwal, Cesa-Bianchi & Langford 2016, Algorithm 1).
    """
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        f = s = dot(w, x)
        if C is not None:
            s = _clipped(f, C)
            if f != s:
                _move_score(form, w, A, buffer, x, s - f)
        scores[t] = s
        mistakes += not y * s > 0.0
        c = slope(loss, y * s)
        if has_gradient(c, s, x):
            updates += _newton_step(form, w, A, buffer, x, y, c)
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
        form = (FullForm if self._sigma.ndim == 2 else DiagonalForm)(float(self.gamma))
        loss = LOSSES.index(self.loss)
        return learn_by_newton_steps, (self._weights, self._sigma, self._buffer, form, loss, None)
