"""Eigenvalues and eigenvectors of a symmetric matrix, the same to the last bit on every machine.

NumPy's depend on the installed LAPACK.
"""

import math

import numpy as np

from ...numeric.compiled import compiled
from ...numeric.rows import dot
from ...numeric.vector import EPSILON

# Two or three rounds are usual; more mean that a value is NaN.
_MOST_ROUNDS = 60


@compiled
def _tridiagonal(A, e, Q):
    """Reduce A to tridiagonal form by Householder reflections, whose product becomes Q.

    A is overwritten with the diagonal, `e` with the off-diagonal.
    """
    n = A.shape[0]
    for k in range(n - 2):
        v = A[k, k + 1 :].copy()
        norm = math.sqrt(dot(v, v))
        e[k] = v[0]
        if norm == abs(v[0]):
            continue
        e[k] = -math.copysign(norm, v[0])
        v[0] -= e[k]
        β = 2.0 / dot(v, v)
        p = np.empty_like(v)
        for i in range(v.shape[0]):
            p[i] = β * dot(A[k + 1 + i, k + 1 :], v)
        half = 0.5 * β * dot(p, v)
        for i in range(v.shape[0]):
            p[i] -= half * v[i]
        for i in range(v.shape[0]):
            a, v_i, p_i = A[k + 1 + i, k + 1 :], v[i], p[i]
            for j in range(v.shape[0]):
                a[j] -= v_i * p[j] + p_i * v[j]
        for i in range(1, n):
            q = Q[i, k + 1 :]
            step = β * dot(q, v)
            for j in range(v.shape[0]):
                q[j] -= step * v[j]
    if n > 1:
        e[n - 2] = A[n - 2, n - 1]


@compiled
def _diagonal(d, e, V):
    """Make a tridiagonal matrix diagonal by implicit QL steps, and rotate the rows of V with it."""
    n = d.shape[0]
    for first in range(n):
        for _ in range(_MOST_ROUNDS):
            last = first
            while last < n - 1 and not abs(e[last]) <= EPSILON * (abs(d[last]) + abs(d[last + 1])):
                last += 1
            if last == first:
                break
            g = (d[first + 1] - d[first]) / (2.0 * e[first])
            g = d[last] - d[first] + e[first] / (g + math.copysign(math.sqrt(g * g + 1.0), g))
            s = c = 1.0
            p = 0.0
            split = False
            for i in range(last - 1, first - 1, -1):
                f, b = s * e[i], c * e[i]
                r = math.sqrt(f * f + g * g)
                e[i + 1] = r
                if r == 0.0:
                    d[i + 1] -= p
                    e[last] = 0.0
                    split = True
                    break
                s, c = f / r, g / r
                g = d[i + 1] - p
                r = (d[i] - g) * s + 2.0 * c * b
                p = s * r
                d[i + 1] = g + p
                g = c * r - b
                upper, lower = V[i], V[i + 1]
                for k in range(n):
                    f = lower[k]
                    lower[k] = s * upper[k] + c * f
                    upper[k] = c * upper[k] - s * f
            if not split:
                d[first] -= p
                e[first] = g
                e[last] = 0.0


def eigenpairs(A):
    """Return the eigenvalues of a finite symmetric float64 matrix, largest first, and its eigenvectors as
    rows.

    The eigenvectors have norm 1.

    Examples
    --------
    >>> values, vectors = eigenpairs(np.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values.round(12).tolist()
    [3.0, 1.0]
    """
    n = len(A)
    # Scaled so that no square overflows.
    largest = np.abs(A).max()
    scale = largest if largest > 0.0 else 1.0
    reduced, Q, e = A / scale, np.eye(n), np.zeros(n)
    _tridiagonal(reduced, e, Q)
    values, vectors = reduced.diagonal().copy(), np.ascontiguousarray(Q.T)
    _diagonal(values, e, vectors)
    order = np.argsort(-values, kind="stable")
    return values[order] * scale, vectors[order]
