"""The online Newton step with a sketch, a low-rank matrix, in place of the full matrix A."""

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...estimator.parameters import Count, Positive, Scale
from ..linear_classifier import LinearClassifier
from ..parts.losses import LOSSES
from ..parts.sketches import FrequentDirections, Oja, Sketched, new_sketch
from .online_newton_step import learn_by_newton_steps


@dataclass(eq=False, repr=False)
class SketchedOnlineNewton(LinearClassifier):
    """Sketched online Newton (SON): Newton steps with a sketch of the matrix, for the logistic loss.

    ``A⁻¹ z = (z - Bᵀ(h ∘ B z))/α``, where B and h are the sketch of the gradients. On a row,
    ``s = clip(u·x, -C, C)``; if s differs from ``u·x``, u moves along ``A⁻¹ x`` until ``u·x = s``. With
    ``g = -y σ(-y s) x``, the vector ``√η g`` is added to the sketch, and then ``u -= A⁻¹ g``.

    Parameters
    ----------
    m : int, default=10
        Number of directions in the sketch, >= 1. With "fd" and m above the number of features, the sketch is
        exact, and this is `OnlineNewtonStep` with γ = η and ε = α/η.
    alpha : float, default=10.0
        α > 0: A starts at α I. If α is far below ‖x‖², learning becomes chaotic.
    eta : float, default=0.1
        η > 0: the weight of a gradient in the matrix.
    C : float, default=10.0
        C > 0: scores are clipped to [-C, C]. None: they are not clipped.
    sketch : {"fd", "oja"}, default="fd"
        Frequent Directions, or Oja's rule.
    kappa : float, default=1.0
        κ > 0: in Oja's rule, the k-th vector has the weight min(1, κ/k).
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        u. Scores are ``u·x``, clipped.

    Notes
    -----
    Oja's rule begins with the first m rows of the orthonormal cosine transform (DCT-II). A row takes m² d
    operations, even if it is sparse. Vowpal Wabbit's ``--OjaNewton`` halves g, sketches g/4, has κ = 2 and no
    C, and begins with other directions.

    See Also
    --------
    OnlineNewtonStep : The full matrix.

    References
    ----------
    Luo, Agarwal, Cesa-Bianchi, Langford (2016), "Efficient second order online learning by sketching", NIPS,
    Algorithms 1 to 3.

    Examples
    --------
    >>> SketchedOnlineNewton(m=2).fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(3).tolist()
    [[-0.05, 0.05]]
    """

    m: Count = 10
    alpha: Scale = 10.0
    eta: Scale = 0.1
    C: Positive | None = 10.0
    sketch: Literal["fd", "oja"] = "fd"
    kappa: Positive = 1.0
    epochs: int = 1

    scores_are_log_odds = True

    _state = ("_weights", "_sketch", "_numbers")

    # Oja's rule starts from directions that depend on the number of features, so features that are always 0
    # change the results.
    indifferent_to_absent_features = False

    @property
    def scores_are_linear(self) -> bool:
        return self.C is None

    def _begin_with(self, zeros):
        self._weights = zeros
        self._sketch_of_stream = self.sketch
        self._sketch, self._numbers = new_sketch(self.sketch, len(zeros), self.m)

    def _limit(self):
        return math.inf if self.C is None else float(self.C)

    def _loop(self):
        alpha = float(self.alpha)
        # Files of earlier versions do not contain the sketch's kind.
        kind = getattr(self, "_sketch_of_stream", self.sketch)
        rule = Oja(alpha, float(self.kappa)) if kind == "oja" else FrequentDirections(alpha)
        state = self._weights, self._sketch, self._numbers, Sketched(rule, float(self.eta))
        return learn_by_newton_steps, (*state, LOSSES.index("logistic"), self._limit())

    def _score(self, X, scores):
        super()._score(X, scores)
        scores.clip(-self._limit(), self._limit(), out=scores, where=np.isfinite(scores))
