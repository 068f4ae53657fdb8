"""The state of an exact support vector machine, and the inverse over its margin set, updated row by row."""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from ...numeric.compiled import compiled
from ...numeric.vector import SMALLEST_NORMAL

#: The share of k(x, x) that is added to it if the row depends on others of the margin set.
_RIDGE = 5e-12


class Machine(NamedTuple):
    """All rows and their sets; arrays over rows have room for more rows than are stored."""

    #: (rows,): -1 or 1.
    y: np.ndarray
    #: (rows,): 0 … C.
    alpha: np.ndarray
    #: (rows,): y f(x) - 1.
    g: np.ndarray
    #: (rows,): k(x, x).
    own: np.ndarray
    #: (rows,): REST, ERROR or MARGIN.
    group: np.ndarray
    #: (rows,): the row of `values` with a row's kernel values; -1: they are not stored.
    slot: np.ndarray
    #: (slots, rows): kernel values of some rows with all rows.
    values: np.ndarray
    #: (rows,): the rows of the margin set, in the order in which removals left them.
    margin: np.ndarray
    #: (rows,): the place of each row in `margin`.
    place: np.ndarray
    #: (size + 1 or more, the same): inverse J⁻¹ of ``[[0, yᵀ], [y, Q]]`` over the margin set, with
    #: ``Q_ij = y_i y_j K_ij``. Without bias, the inverse of Q with a first row and column of zeros.
    inverse: np.ndarray
    #: (size + 1 or more,): sensitivities of the bias and of α over the margin set (eq. 10).
    beta: np.ndarray
    #: (rows,): sensitivities of g (eq. 12).
    gamma: np.ndarray
    #: (1,): size of the margin set.
    size: np.ndarray
    #: (1,): kernel evaluations of rows that joined the margin set, since the counter was read.
    evaluations: np.ndarray
    #: (1,): the bias.
    b: np.ndarray


@register_jitable
def fill(array, n, value):
    """Write `value` into the first n elements; Numba needs seconds to compile ``array[:n] = value``."""
    for i in range(n):
        array[i] = value


@register_jitable
def copy(source, n, target):
    """Copy the first n elements; Numba needs seconds to compile ``target[:n] = source[:n]``."""
    for i in range(n):
        target[i] = source[i]


@compiled
def apply_inverse(M, v, out):
    """Subtract ``J⁻¹ v`` from `out`."""
    for p in range(M.size[0] + 1):
        total = 0.0
        for q in range(M.size[0] + 1):
            total += M.inverse[p, q] * v[q]
        out[p] -= total


@compiled
def _residual(M, v, d, out, bias):
    """Write ``v + J d`` into `out`; J is the matrix that `inverse` inverts."""
    size = M.size[0]
    copy(v, size + 1, out)
    for p in range(size):
        j = M.margin[p]
        if bias:
            out[0] += M.y[j] * d[p + 1]
            out[p + 1] += M.y[j] * d[0]
        a, values = M.y[j] * d[p + 1], M.values[M.slot[j]]
        for q in range(size):
            i = M.margin[q]
            out[q + 1] += M.y[i] * a * values[i]


@compiled
def grow(M, k, bias):
    """Border the inverse by row k, which becomes the last of the margin set (eq. 13)."""
    size = M.size[0]
    J, y = M.inverse, M.y
    if size == 0:
        J[0, 0] = J[0, 1] = J[1, 0] = 0.0
        if bias:
            J[0, 0], J[0, 1], J[1, 0], J[1, 1] = -M.own[k], y[k], y[k], 0.0
        else:
            J[1, 1] = 1.0 / M.own[k]
    else:
        v, d, residual = np.empty(size + 1), np.zeros(size + 2), np.empty(size + 1)
        v[0] = y[k] if bias else 0.0
        largest = M.own[k]
        for p in range(size):
            j = M.margin[p]
            v[p + 1] = y[k] * y[j] * M.values[M.slot[k], j]
            largest = max(largest, M.own[j])
        copy(v, size + 1, residual)
        for _ in range(3):
            apply_inverse(M, residual, d)
            _residual(M, v, d, residual, bias)
        c = M.own[k]
        for p in range(size + 1):
            c += d[p] * v[p]
        # c is the squared distance of the row from the span of the others. For a row that depends on them c
        # would be rounding only, so k(x, x) is raised by an amount that hardly changes the row's g.
        ridge = max(_RIDGE * largest, SMALLEST_NORMAL)
        if c < ridge:
            c = max(c, 0.0) + ridge
            M.own[k] += ridge
            M.values[M.slot[k], k] = M.own[k]
            M.g[k] += ridge * M.alpha[k]
        d[size + 1] = 1.0
        for p in range(size + 2):
            J[p, size + 1] = J[size + 1, p] = 0.0
            d[p] /= np.sqrt(c)
        for p in range(size + 2):
            for q in range(size + 2):
                J[p, q] += d[p] * d[q]
    M.margin[size], M.place[k] = k, size
    M.size[0] = size + 1


@compiled
def shrink(M, k):
    """Remove row k from the margin set and from the inverse (eq. 14); the last row takes its place."""
    last = M.size[0]
    p = M.place[k] + 1
    J = M.inverse
    if last > 1:
        for i in range(last + 1):
            if i != p:
                for j in range(last + 1):
                    if j != p:
                        J[i, j] -= (J[i, p] * J[p, j]) / J[p, p]
        if p != last:
            for i in range(last):
                J[i, p] = J[p, i] = J[i, last]
            J[p, p] = J[last, last]
    moved = M.margin[last - 1]
    M.margin[p - 1], M.place[moved] = moved, p - 1
    M.size[0] = last - 1


@compiled
def rebuild(M, bias):
    """Recompute the inverse row by row."""
    size = M.size[0]
    M.size[0] = 0
    for p in range(size):
        grow(M, M.margin[p], bias)
