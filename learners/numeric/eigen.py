"""Eigenvalues of small symmetric matrices and orthonormal columns, with the same result on every machine."""

import math

import numpy as np

from .compiled import register_jitable
from .vector import EPSILON

# Largest number of sweeps (rotations of all entries once) of Jacobi's method. It converges quadratically:
# matrices of some tens of rows need at most ten sweeps.
_SWEEPS = 30


@register_jitable
def symmetric_eigen(A, U):
    """Diagonalize a symmetric matrix A in place by Jacobi's rotations; write eigenvectors into U's columns.

    Golub & Van Loan, "Matrix computations", algorithm 8.5.3 (cyclic by row).
    """
    n = A.shape[0]
    U[:] = 0.0
    for i in range(n):
        U[i, i] = 1.0
    for _ in range(_SWEEPS):
        rotated = False
        for p in range(n - 1):
            for q in range(p + 1, n):
                if abs(A[p, q]) <= 0.5 * EPSILON * math.sqrt(abs(A[p, p])) * math.sqrt(abs(A[q, q])):
                    continue
                rotated = True
                tau = (A[q, q] - A[p, p]) / (2.0 * A[p, q])
                t = (1.0 if tau >= 0.0 else -1.0) / (abs(tau) + math.sqrt(1.0 + tau * tau))
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = t * c
                for k in range(n):
                    A[k, p], A[k, q] = c * A[k, p] - s * A[k, q], s * A[k, p] + c * A[k, q]
                for k in range(n):
                    A[p, k], A[q, k] = c * A[p, k] - s * A[q, k], s * A[p, k] + c * A[q, k]
                    U[k, p], U[k, q] = c * U[k, p] - s * U[k, q], s * U[k, p] + c * U[k, q]
                A[p, q] = A[q, p] = 0.0
        if not rotated:
            break


def cosine_columns(n, m):
    """Return the first min(m, n) basis vectors of the cosine transform DCT-II as orthonormal columns."""
    i, j = np.arange(min(m, n)), np.arange(n)[:, np.newaxis]
    lengths = np.where(i > 0, math.sqrt(2.0 / n), math.sqrt(1.0 / n))
    return lengths * np.cos(math.pi * ((2 * j + 1) * i % (4 * n)) / (2 * n))


@register_jitable
def turn(B, U):
    """Replace the first m columns of B by their product with U, of shape (m, m)."""
    m = U.shape[0]
    turned = np.empty(m)
    for j in range(B.shape[0]):
        turned[:] = 0.0
        for k in range(m):
            for i in range(m):
                turned[i] += B[j, k] * U[k, i]
        for i in range(m):
            B[j, i] = turned[i]


@register_jitable
def orthonormalize(B, m):
    """Make the first m columns of B orthonormal in place, by Gram–Schmidt; a column of zeros stays zero."""
    # Projections on the earlier columns are subtracted twice, because subtracting them once leaves rounding
    # errors if columns are nearly parallel.
    for i in range(m):
        for e in range(2 * i):
            along = 0.0
            for j in range(B.shape[0]):
                along += B[j, i] * B[j, e % i]
            for j in range(B.shape[0]):
                B[j, i] -= along * B[j, e % i]
        length = 0.0
        for j in range(B.shape[0]):
            length += B[j, i] * B[j, i]
        for j in range(B.shape[0] if length > 0.0 else 0):
            B[j, i] /= math.sqrt(length)
