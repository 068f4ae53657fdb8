"""Sketches: a matrix ``A = αI + (a sum of outer products)``, stored as α and a low-rank matrix B.

``A⁻¹ z = (z - Bᵀ(h ∘ B z))/α``, where B has m rows, the directions of the sketch. The array of B is its
transpose: one row per feature, one column per direction. A second array, `numbers`, has three rows: q (for
Oja's rule Λ), h, and the number of vectors added so far.
"""

import math
from typing import NamedTuple

import numpy as np

from ...numeric.compiled import INLINE, register_jitable
from ...numeric.eigen import cosine_columns, orthonormalize, symmetric_eigen, turn
from ...numeric.rows import add_scaled, by_types, entry, n_entries, squared_norm
from ...numeric.vector import EPSILON
from .classes import new_class_state, score_classes

# Rows with ‖x‖² of at least this are skipped, because products in the update could overflow.
_LONGEST = 1e70


def new_sketch(kind, n_features, m):
    """Return the array of B and `numbers` for m directions; `kind` is "fd" or "oja"."""
    B = new_class_state(n_features, m)
    if kind == "oja":
        B[:, : min(m, n_features)] = cosine_columns(n_features, m)
    return B, np.zeros((3, m))


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


@by_types(**INLINE)
def _add(self, B, numbers, a, x, p, squares):
    return self.instance_class.add


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
