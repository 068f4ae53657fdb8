"""The multi-class second-order Perceptron: the binary rule on Δf = f(x, y) - f(x, ỹ)."""

import numpy as np

from ..linear.parts.classes import (
    add_to_pair,
    best_wrong,
    copy_scores,
    pair_variance,
    score_classes,
    update_pair,
)
from ..linear.parts.covariance import is_usable
from ..numeric.compiled import compiled
from ..numeric.rows import entry, n_entries, n_rows, row
from ..numeric.vector import class_sums

# Σ_j u_zj x_j / (A_zj + x_j²)
_sums_with_row = class_sums(lambda ir, u, a, x: ir.fdiv(ir.fmul(u, x), ir.fadd(a, ir.fmul(x, x))))


@compiled
def learn_diagonal(X, codes, scores, U, A):
    """One pass with the diagonal of A: each class is scored with the row in its block."""
    mistakes = 0
    sums = np.empty(U.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _sums_with_row((U, A), x, (), sums)
        copy_scores(sums, s)
        z = best_wrong(s, y)
        if not s[y] - s[z] > 0.0:
            add_to_pair(U, 1.0, x, y, z)
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                A[j, y] += x_j * x_j
                A[j, z] += x_j * x_j
            mistakes += 1
    return mistakes, mistakes


@compiled
def learn_full(X, codes, scores, W, sigma, s):
    """One pass with the full matrix, which is kept as Σ = A⁻¹, and the weights as W = A⁻¹u.

    ``(A + ΔfΔfᵀ)⁻¹(u + Δf) = W + (1 - m)/(1 + v) ΣΔf`` with m = W·Δf and v = ΔfᵀΣΔf. With Δf in the matrix
    each margin would be divided by its 1 + v > 0, which turns no sign.
    """
    mistakes = updates = 0
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(W, x, sums, f)
        z = best_wrong(f, y)
        m = f[y] - f[z]
        if not m > 0.0:
            mistakes += 1
            v = pair_variance(sigma, x, y, z, s)
            # A score or a variance that overflows would leave NaN in W and Σ for good.
            if v < np.inf and abs(m) < np.inf:
                if is_usable(v):
                    beta = 1.0 / (1.0 + v)
                    update_pair(W, sigma, x, y, z, s, (1.0 - m) * beta, beta, 0.0, False)
                updates += 1
    return mistakes, updates


@compiled
def diagonal_scores(X, U, A, scores):
    """Write the scores with the row in the matrix into `scores`."""
    sums = np.empty(U.shape[1])
    for t in range(n_rows(X)):
        _sums_with_row((U, A), row(X, t), (), sums)
        copy_scores(sums, scores[t])
