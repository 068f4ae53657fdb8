"""Adaptive Regularization of Weights."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

from ..estimator.parameters import CountOrAll, Scale
from ..numeric.compiled import register_jitable
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong
from ..numeric.rows import entry, n_entries, n_rows, row
from ..numeric.vector import class_sums
from .gaussian import GaussianClassifier
from .linear_classifier import WeightedClassifier
from .parts.classes import score_classes, weight_of, weights_by_code
from .parts.covariance import Projection, Shape, is_usable, update_one


class AROWRule(NamedTuple):
    """AROW's update rule (Crammer et al. 2013, Fig. 1); its comments give the paper's equation numbers."""

    r: float
    hinge: bool
    margin_limit: float = 1.0

    def step(self, m, v, weight):
        """Return ``(is_update, α, β, γ)``: the step sizes for μ, Σ and Σ⁻¹. The class weight divides r."""
        r = self.r / weight
        beta = 1.0 / (v + r)  # β of eqs. 15 and 16 of the paper, for both losses
        l = 1.0 - m
        # α of the paper: eq. 23 for the hinge, eqs. 12 and 16 for the squared hinge
        alpha = min(1.0 / (2.0 * r), l / v) if self.hinge else l * beta
        return True, alpha, beta, 1.0 / r


_class_variances = class_sums(lambda sigma, x: sigma * x * x)

# This value replaces the variance of a class if it is 0, so that computing the multiplier α of the class does
# not divide by 0. An update does not move the weights of such a class.
_SMALLEST_VARIANCE = 1e-150


@register_jitable
def violated(f, y, n_constraints):
    """Return up to `n_constraints` wrong classes with margin < 1, highest score first (ties: lowest code)."""
    wrong = np.empty(f.shape[0], np.int64)
    n = 0
    for z in range(f.shape[0]):
        if z != y and 1.0 - (f[y] - f[z]) > 0.0:
            wrong[n] = z
            n += 1
    order = np.argsort(-f[wrong[:n]], kind="mergesort")
    return wrong[:n][order[:n_constraints]]


@register_jitable
def multipliers(f, y, wrong, variances, r, hinge, alpha):
    """Solve the dual of AROW's eq. 27 exactly: write the multipliers α > 0, and return their number n.

    They belong to the first n classes in `wrong`; the α of other classes are 0. Let l_z = 1 - (f_y - f_z) be
    the loss against class z, v_z its variance, and A = Σα. Since Δf_zᵀΣΔf_u = v_y for z ≠ u, the optimality
    conditions are ``α_z = max(0, (l_z - cA)/v_z)`` with c = v_y + r for the squared hinge. For the hinge
    c = v_y and A <= 1/(2r); if this limit is reached, ``α_z = max(0, (l_z - θ)/v_z)`` with θ such that
    A = 1/(2r). So the classes with α > 0 are those with the largest l, and adding them one by one finds them
    all. The iterative solver of Hildreth converges to the same α, but the more slowly, the smaller v_z/c is.
    """
    largest = 1.0 / (2.0 * r)
    n, total = _active(f, y, wrong, variances, variances[y] + (0.0 if hinge else r), 1.0, 0.0, alpha)
    if hinge and total > largest:
        n, total = _active(f, y, wrong, variances, 1.0, 0.0, largest, alpha)
    return n


@register_jitable
def _active(f, y, wrong, variances, c, one, bound, alpha):
    """Find the classes with α > 0 in the order of `wrong`; write their α, return their number and Σα.

    These α satisfy ``α_z v_z (one + c S) = one l_z + bound + c Σ_u (l_z - l_u)/v_u``, where u runs over the
    classes with α > 0 and S = Σ_u 1/v_u. With one = 1 and bound = 0 this is ``α_z = (l_z - cA)/v_z`` of
    `multipliers`; with one = 0, c = 1 and bound = A it is ``α_z = (l_z - θ)/v_z``. It is solved in this form
    because the difference l_z - cA would lose digits to cancellation.
    """
    first = wrong[0]
    largest = 1.0 - (f[y] - f[first])
    n, inverse, lag = 0, 0.0, 0.0  # n classes u found so far; over them, Σ 1/v_u and Σ (l_first - l_u)/v_u
    for z in wrong:
        below = f[first] - f[z]
        if n > 0 and not one * (largest - below) + bound + c * (lag - below * inverse) > 0.0:
            break
        v = max(variances[z], _SMALLEST_VARIANCE)
        inverse += 1.0 / v
        lag += below / v
        n += 1
    total = 0.0
    for z in wrong[:n]:
        below = f[first] - f[z]
        gain = one * (largest - below) + bound + c * (lag - below * inverse)
        alpha[z] = max(gain / (max(variances[z], _SMALLEST_VARIANCE) * (one + c * inverse)), 0.0)
        total += alpha[z]
    return n, total


@register_jitable
def update_classes(mu, sigma, x, steps, v, r, precision):
    """Move the mean, ``μ_z += steps_z Σ_z x``, and shrink the variances of all classes along x.

    `v` is the sum of the variances of all classes. If `precision` is true, the diagonal of Σ⁻¹ is updated,
    ``1/σ_zj += x_j²/r``, otherwise that of Σ (eq. 29), ``σ_zj -= σ_zj² x_j²/(v + r)``.
    """
    beta, gamma, width = 1.0 / (v + r), 1.0 / r, np.uintp(steps.shape[0])
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        for z in range(width):
            update_one(mu, sigma, j * width + z, x_j, steps[z], beta, gamma, precision)


@learning_loop
def _learn_top_k(X, codes, scores, mu, sigma, n_constraints, rule, precision, weights):
    """Make one pass of top-k AROW (the paper's Fig. 2): eq. 27 moves μ, eqs. 29 and 30 shrink Σ."""
    mistakes = updates = 0
    width = mu.shape[1]
    sums, variances, steps, alpha = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(mu, x, sums, f)
        z = best_wrong(f, y)
        m = f[y] - f[z]
        mistakes += not m > 0.0
        if 1.0 - m > 0.0:
            _class_variances((sigma,), x, (), variances)
            if is_usable(variances[y] + variances[z]):
                r = rule.r / weight_of(weights, y)
                wrong = violated(f, y, n_constraints)
                n = multipliers(f, y, wrong, variances, r, rule.hinge, alpha)
                # μ moves by the covariance times Σ_z α_z Δf_z, over the wrong classes z: the step of the
                # right class is the sum of the α_z, that of a wrong class is -α_z.
                steps[:] = 0.0
                for z in wrong[:n]:
                    steps[y] += alpha[z]
                    steps[z] = -alpha[z]
                update_classes(mu, sigma, x, steps, variances[: f.shape[0]].sum(), r, precision)
                updates += 1
    return mistakes, updates


@dataclass(eq=False, repr=False)
class AROW(GaussianClassifier, WeightedClassifier):
    """Adaptive Regularization of Weights: a Gaussian over weight vectors, robust to noise.

    On a row x with label y (±1), margin ``m = y μ·x`` and hinge loss ``l = 1 - m > 0``, with ``v = xᵀΣx``:
    ``β = 1/(v + r)``, ``μ += l β y Σx``, ``Σ -= β Σx xᵀΣ``.

    With more than two classes, where f(x, z) is x in the block of class z and l the loss of the best wrong
    class ỹ, there are two rules (§3.3 of the paper). Top-1: the rule above with ``Δf = f(x, y) - f(x, ỹ)``
    for y x. Top-k: the new μ minimizes the squared distance under Σ⁻¹ plus the losses against k wrong classes
    (eq. 27, solved exactly), and Σ shrinks along the sum of f(x, z) over all z (eqs. 29, 30):
    ``1/σ_zj += x_j²/r`` or, with projection "covariance", ``σ_zj -= σ_zj² x_j²/(Σ_u xᵀΣ_u x + r)``.

    Parameters
    ----------
    r : float, default=1.0
        Regularization, > 0: the larger, the smaller each step. If ``‖x‖²/r`` is near 1e15, rounding
        errors dominate Σ: scale such features down.
    loss : {"squared_hinge", "hinge"}, default="squared_hinge"
        With "hinge" (AROW-H) ``μ += min(1/(2r), l/v) y Σx``, and Σ as before.
    covariance : {"diagonal", "full"}, default="diagonal"
        "full" stores a (d, d) matrix, or (Kd, Kd) for K classes; memory and time per row grow with its size.
    projection : {"covariance", "precision"}, default="covariance"
        For a diagonal Σ: keep the diagonal of the updated Σ (``σ_j -= β σ_j² x_j²``) or that of the updated
        Σ⁻¹ (``1/σ_j += x_j²/r``).
    constraints : int >= 1 or "all", default=1
        Number of best wrong classes that an update considers: top-1, top-k or all. More than one needs a
        diagonal Σ: with a full Σ that starts at I, the sum of all f(x, z) is orthogonal to every Δf. With two
        classes there is only one wrong class.
    class_weight : dict of label to float, default=None
        Weight ω > 0 by label, 1 for labels not named: r becomes ``r/ω_y``, for the mean and for Σ, so that
        the loss and the confidence of a row count ω times.
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
    Crammer, Kulesza, Dredze (2013), "Adaptive regularization of weight vectors", Machine Learning 91, Fig. 1,
    eqs. 12, 15, 16 and 23; multi-class: Figs. 2 and 3, eqs. 27 to 32.

    Examples
    --------
    >>> AROW(r=1.0).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 0.5]]
    """

    r: Scale = 1.0
    loss: Literal["squared_hinge", "hinge"] = "squared_hinge"
    covariance: Shape = "diagonal"
    projection: Projection = "covariance"
    constraints: CountOrAll = 1
    class_weight: Mapping[Any, float] | None = None
    epochs: int = 1

    def _check_parameters(self):
        if self.covariance == "full" and self.constraints != 1:
            raise ValueError(
                f"AROW: constraints must be 1 with covariance='full', got {self.constraints!r}; "
                "more than 1 needs covariance='diagonal'"
            )

    def _rule(self):
        return AROWRule(float(self.r), self.loss == "hinge")

    def _loop_of_classes(self):
        if self.constraints == 1:
            return super()._loop_of_classes()
        if self._sigma.ndim == 3:
            raise ValueError(
                "AROW: constraints must be 1 for a model begun with covariance='full', got "
                f"{self.constraints!r}; more than 1 needs fit() with covariance='diagonal'"
            )
        n_wrong = len(self.classes_) - 1
        k = n_wrong if self.constraints == "all" else min(int(self.constraints), n_wrong)
        arrays, precision = (self._weights, self._sigma), self.projection == "precision"
        return _learn_top_k, (*arrays, k, self._rule(), precision, weights_by_code(self))
