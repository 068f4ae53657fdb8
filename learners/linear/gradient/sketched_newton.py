"""The online Newton step with a sketch in place of the matrix A: ``αI`` plus a sum of outer products.

The sketch is a low-rank matrix B, whose m rows are its directions, with ``A⁻¹ z = (z - Bᵀ(h ∘ B z))/α``. The
array of B is its transpose: one row per feature, one column per direction. A second array, `numbers`, has
three rows: q (for Oja's rule Λ), h, and the number of vectors added so far.
"""

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ...estimator.parameters import Count, Positive, Scale
from ...numeric.compiled import register_jitable
from ...numeric.eigen import cosine_columns, orthonormalize, symmetric_eigen, turn
from ...numeric.rows import add_scaled, entry, method, n_entries, squared_norm
from ...numeric.vector import EPSILON
from ..linear_classifier import LinearClassifier
from ..parts.classes import new_class_state, score_classes
from ..parts.losses import LOSSES
from .online_newton_step import learn_by_newton_steps

# Rows with ‖x‖² of at least this are skipped, because products in the update could overflow.
_LONGEST = 1e70


class FrequentDirections(NamedTuple):
    """The sketch by Frequent Directions. `numbers` stores q_i = ‖row i of B‖² and h_i = 1/(α + q_i)."""

    alpha: float

    def add(self, B, numbers, a, x, p, squares):
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
        squared = np.diag(gram)
        last, largest = squared.argmin(), max(squared.max(), 0.0)
        least = 0.0 if m > B.shape[0] else max(squared[last], 0.0)
        # The shortest row becomes 0. It is moved to the end, where the next vector is written.
        squared[m - 1], squared[last] = squared[last], squared[m - 1]
        for k in range(m):
            U[k, m - 1], U[k, last] = U[k, last], U[k, m - 1]
        for i in range(m):
            kept = squared[i] > m * EPSILON * largest and i < m - 1
            q[i] = max(squared[i] - least, 0.0) if kept else 0.0
            h[i] = 1.0 / (self.alpha + q[i])
            for k in range(m):
                U[k, i] *= math.sqrt(q[i] / squared[i]) if kept else 0.0
        turn(B, U)


class Oja(NamedTuple):
    """The sketch by Oja's rule: B has orthonormal rows. `numbers` stores the eigenvalues Λ, h, a count."""

    alpha: float
    kappa: float

    def add(self, B, numbers, a, x, p, squares):
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


_add = method("add")


@register_jitable
def _products(B, x, m):
    """Return ``B x``."""
    sums, p = np.empty(B.shape[1]), np.empty(m)
    score_classes(B, x, sums, p)
    return p


@register_jitable
def _add_inverse(w, B, h, a, x, p, alpha):
    """Add ``a A⁻¹ x = a (x - Bᵀ(h ∘ p))/α`` to w, where ``p = B x``."""
    add_scaled(w, a / alpha, x)
    for j in range(w.shape[0]):
        for i in range(p.shape[0]):
            w[j] -= a / alpha * (h[i] * p[i]) * B[j, i]


class Sketched(NamedTuple):
    """A in the form of a sketch; the arrays `A` and `buffer` are B and `numbers`."""

    rule: FrequentDirections | Oja
    eta: float

    def move_score(self, w, A, buffer, x, change):
        alpha, h, reach = self.rule.alpha, buffer[1], squared_norm(x)
        if change == change and reach < _LONGEST:
            p = _products(A, x, h.shape[0])
            for i in range(p.shape[0]):
                reach -= h[i] * p[i] * p[i]
            if reach > 0.0:
                _add_inverse(w, A, h, change * alpha / reach, x, p, alpha)

    def newton_step(self, w, A, buffer, x, y, c):
        h, squares = buffer[1], squared_norm(x)
        if not squares < _LONGEST:
            return False
        p = _products(A, x, h.shape[0])
        # The weight of a gradient in A is η, so √η g is added to the sketch.
        _add(self.rule, A, buffer, math.sqrt(self.eta) * (-y * c), x, p, squares)
        _add_inverse(w, A, h, y * c, x, _products(A, x, h.shape[0]), self.rule.alpha)
        return True


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
        # Arithmetic with an integer of 8 or 16 bits overflows.
        m = int(self.m)
        self._sketch, self._numbers = new_class_state(len(zeros), m), np.zeros((3, m))
        if self.sketch == "oja":
            self._sketch[:, : min(m, len(zeros))] = cosine_columns(len(zeros), m)

    def _limit(self):
        return math.inf if self.C is None else float(self.C)

    def _loop(self):
        alpha = float(self.alpha)
        is_oja = self._sketch_of_stream == "oja"
        rule = Oja(alpha, float(self.kappa)) if is_oja else FrequentDirections(alpha)
        state = self._weights, self._sketch, self._numbers, Sketched(rule, float(self.eta))
        return learn_by_newton_steps, (*state, LOSSES.index("logistic"), self._limit())

    def _score(self, X, scores):
        super()._score(X, scores)
        scores.clip(-self._limit(), self._limit(), out=scores, where=np.isfinite(scores))
