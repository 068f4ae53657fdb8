"""The online Newton step with a sketch, a low-rank matrix B, in place of the full matrix A.

The arrays store B transposed: one row per feature, one column per direction of the sketch.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ...estimator.parameters import Count, Positive, Scale
from ...numeric.compiled import INLINE, register_jitable
from ...numeric.eigen import cosine_columns, orthonormalize, symmetric_eigen, turn
from ...numeric.loops import learning_loop
from ...numeric.margins import signed
from ...numeric.rows import add_scaled, by_types, dot, entry, n_entries, n_rows, row, squared_norm
from ...numeric.vector import EPSILON
from ..linear_classifier import LinearClassifier
from ..parts.classes import new_class_state, score_classes
from ..parts.losses import has_entries, sigmoid

# Rows with ‖x‖² of at least this are skipped, because products in the update could overflow.
_LONGEST = 1e70


class DirectionsRule(NamedTuple):
    """The sketch by Frequent Directions. `numbers` stores q_i = ‖row i of B‖² and h_i = 1/(α + q_i)."""

    alpha: float

    def update(self, B, numbers, a, x, p, squares):
        """Add ``a x`` to the sketch B as its last row, then shrink all rows by the shortest (Algorithm 2)."""
        q, h = numbers[0], numbers[1]
        m = q.shape[0]
        add_scaled(B[:, m - 1], a, x)
        # `gram` is B Bᵀ. All rows of B but the last one are orthogonal to each other, so most entries are 0.
        gram, U = np.zeros((m, m)), np.empty((m, m))
        for i in range(m - 1):
            gram[i, i] = q[i]
            gram[i, m - 1] = gram[m - 1, i] = a * p[i]
        gram[m - 1, m - 1] = a * a * squares
        symmetric_eigen(gram, U)
        largest, last = 0.0, 0
        for i in range(m):
            largest = max(largest, gram[i, i])
            last = i if gram[i, i] < gram[last, last] else last
        least = 0.0 if m > B.shape[0] else max(gram[last, last], 0.0)
        # The shortest row becomes 0. It is moved to the end, where the next vector is written.
        for i in range(m):
            U[i, m - 1], U[i, last] = U[i, last], U[i, m - 1]
        gram[m - 1, m - 1], gram[last, last] = gram[last, last], gram[m - 1, m - 1]
        for i in range(m):
            square = gram[i, i]
            kept = square > m * EPSILON * largest and i < m - 1
            q[i] = max(square - least, 0.0) if kept else 0.0
            h[i] = 1.0 / (self.alpha + q[i])
            for k in range(m):
                U[k, i] *= math.sqrt(q[i] / square) if kept else 0.0
        turn(B, U)


class OjaRule(NamedTuple):
    """The sketch by Oja's rule: B has orthonormal rows. `numbers` stores the eigenvalues Λ, h, a count."""

    alpha: float
    kappa: float

    def update(self, B, numbers, a, x, p, squares):
        """Add ``a x`` to the sketch: turn the rows of B towards this vector (Algorithm 3)."""
        totals, h = numbers[0], numbers[1]
        m = min(totals.shape[0], B.shape[0])
        numbers[2, 0] += 1.0
        k = numbers[2, 0]
        share = min(1.0, self.kappa / k)
        for i in range(m):
            totals[i] = (1.0 - share) * totals[i] + share * (a * p[i]) ** 2
            h[i] = k * totals[i] / (self.alpha + k * totals[i])
        for e in range(n_entries(x)):
            j, x_j = entry(x, e)
            for i in range(m):
                B[j, i] += share * (a * p[i]) * (a * x_j)
        orthonormalize(B, m)


@by_types(**INLINE)
def _update(self, B, numbers, a, x, p, squares):
    return self.instance_class.update


@register_jitable
def _clipped(f, C):
    """Return the score f clipped to [-C, C], but NaN if f is infinite or NaN, so that bad rows are seen."""
    return min(max(f, -C), C) + 0.0 * f


@register_jitable
def _add_inverse(u, B, h, a, x, p, alpha):
    """Add ``a A⁻¹ x = a (x - Bᵀ(h ∘ p))/α`` to u, where ``p = B x``."""
    add_scaled(u, a / alpha, x)
    for j in range(u.shape[0]):
        for i in range(p.shape[0]):
            u[j] -= a / alpha * (h[i] * p[i]) * B[j, i]


@learning_loop
def _learn(X, codes, scores, u, B, numbers, rule, eta, C):
    """Make one pass of Luo, Agarwal, Cesa-Bianchi & Langford (2016), Algorithm 1."""
    mistakes = updates = 0
    h, m = numbers[1], numbers.shape[1]
    sums, p = np.empty(B.shape[1]), np.empty(m)
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        f = dot(u, x)
        s = scores[t] = _clipped(f, C)
        mistakes += not y * s > 0.0
        squares = squared_norm(x)
        if s == s and has_entries(x) and squares < _LONGEST:
            score_classes(B, x, sums, p)
            if f != s:
                reach = squares
                for i in range(m):
                    reach -= h[i] * p[i] * p[i]
                if reach > 0.0:
                    _add_inverse(u, B, h, (s - f) * rule.alpha / reach, x, p, rule.alpha)
            g = -y * sigmoid(-y * s)
            if g != 0.0:
                _update(rule, B, numbers, math.sqrt(eta) * g, x, p, squares)
                score_classes(B, x, sums, p)
                _add_inverse(u, B, h, -g, x, p, rule.alpha)
                updates += 1
    return mistakes, updates


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
        self._weights, self._sketch = zeros, new_class_state(len(zeros), self.m)
        # Row 0: q, or Λ for Oja's rule. Row 1: h. Row 2: the number of vectors added so far.
        self._numbers = np.zeros((3, self.m))
        if self.sketch == "oja":
            self._sketch[:, : min(self.m, len(zeros))] = cosine_columns(len(zeros), self.m)

    def _largest(self):
        return math.inf if self.C is None else float(self.C)

    def _loop(self):
        alpha = float(self.alpha)
        rule = OjaRule(alpha, float(self.kappa)) if self.sketch == "oja" else DirectionsRule(alpha)
        arrays = self._weights, self._sketch, self._numbers
        return _learn, (*arrays, rule, float(self.eta), self._largest())

    def _score(self, X, scores):
        super()._score(X, scores)
        scores.clip(-self._largest(), self._largest(), out=scores, where=np.isfinite(scores))
