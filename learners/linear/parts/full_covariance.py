"""A full Σ: a symmetric matrix B, and apart from it the last few updates, ``Σ = B - Σ_t u_t u_tᵀ``.

An update would read and write all of Σ to subtract one outer product. So it is only noted, and every
MOST_TERMS updates all of them are subtracted together, at the speed of a matrix product; a product with Σ
then reads half of B once, which is all that an update costs in memory. How many are noted is part of the
state: when they are subtracted does not depend on how rows are cut into calls.

One array holds it, so that a kernel's arguments are those of a diagonal: the rows of B, MOST_TERMS rows for
the u_t, and a last row with numbers about it. B is padded with zeros to whole blocks.
"""

import math

import numpy as np
from numba.extending import overload, register_jitable

from ...numeric.arrays import is_sparse_row
from ...numeric.compiled import INLINE, compiled
from ...numeric.rows import dot, entry, in_kernels_only, n_entries, new_state
from .symmetric_tiles import LANES, STRIP, multiply_rows, subtract_products

# A (d, d) matrix above this is refused: d = 23,170 is far beyond what d² work per example makes sense for,
# and a limit of its own fails alike on every machine, where asking for the free memory would not.
_MAX_BYTES = 4 * 2**30

#: Updates that are subtracted together. Each that is noted costs every product a little, each subtraction a
#: pass over B: at d = 784 an update takes 40 µs with 8, 36 with 16, 24 or 32, at 256 and 123 least with 16.
MOST_TERMS = 16

# Where the last row keeps how many updates are noted, the number of features, and that of the classes.
_NOTED, _FEATURES, _CLASSES = 0, 1, 2

# Rows of the buffer besides 0, which has Σx: x, the values of its non-zeros and, as integers, where they are.
_VECTOR, _VALUES, _PLACES = 1, 2, 3

# Where fewer than half of a vector's entries are not 0, a product reads whole rows of B for these alone, else
# half of B: less to read, and faster (measured: up to 0.45 of the entries at d = 123, 0.5 at 256 and 784).
_FEW = 2


def check_full_size(n_features, n_classes=1):
    """Raise ValueError when a full matrix of a block for each of `n_classes` would take more than 4 GiB."""
    n_bytes = 8 * (n_features * n_classes) ** 2
    if n_bytes > _MAX_BYTES:
        classes = f" and {n_classes} classes" if n_classes > 1 else ""
        raise ValueError(
            f"covariance='full' with {n_features} features{classes} needs {n_bytes} bytes "
            f"({n_bytes / 2**30:.1f} GiB, the limit is {_MAX_BYTES / 2**30:.0f} GiB); "
            "use covariance='diagonal'"
        )


def new_full_covariance(n_features, scale=1.0, n_classes=1):
    """Return ``scale · I`` over the blocks of all classes.

    Parameters
    ----------
    n_features : int
        d.
    scale : float, default=1.0
    n_classes : int, default=1
        K; 1 for what has one block only.

    Returns
    -------
    sigma : ndarray of float64, shape (rows, width)
        What the functions of this module take: Kd rows of Σ and more.
    buffer : ndarray of float64, shape (4, width)
        Where a kernel keeps Σx, in row 0, and x, as a vector and as a list of its non-zeros.

    Raises
    ------
    ValueError
        When the matrix would take more than 4 GiB.
    """
    check_full_size(n_features, n_classes)
    n = n_features * n_classes
    n_blocks = -(-n // LANES)
    # Rows an odd number of cache lines apart: at a power of two the same column of all rows would fall into
    # a few places of the cache (d = 512: a tile of the subtraction takes twice as long).
    width = LANES * (n_blocks | 1)
    n_rows = LANES * n_blocks + MOST_TERMS + 1
    sigma = new_state(n_rows * width, place=1).reshape(n_rows, width)
    np.fill_diagonal(sigma[:n, :n], scale)
    sigma[-1, [_FEATURES, _CLASSES]] = n_features, n_classes
    # The list also takes what is noted.
    width += MOST_TERMS
    return sigma, new_state(4 * width, place=2).reshape(4, width)


def full_matrix(sigma):
    """Return Σ itself, of shape (Kd, Kd) and exactly symmetric, in an array of its own."""
    n = int(sigma[-1, _FEATURES]) * int(sigma[-1, _CLASSES])
    whole = sigma.copy()
    subtract_noted(whole)
    return np.ascontiguousarray(whole[:n, :n])


@register_jitable(**INLINE)
def n_classes_of(sigma):
    """Return the number of blocks."""
    return int(sigma[sigma.shape[0] - 1, _CLASSES])


@register_jitable
def variance_of_row(sigma, x, buffer):
    """Return xᵀΣx, leaving Σx in ``buffer[0]``."""
    buffer[_VECTOR] = 0.0
    return _multiply(sigma, buffer, _place_row(x, 1.0, 0, buffer, 0), _is_listed(x))


@register_jitable
def variance_of_difference(sigma, x, y, z, buffer):
    """Return ΔfᵀΣΔf of the Δf that is x in block y and -x in block z, leaving ΣΔf in ``buffer[0]``."""
    d = int(sigma[sigma.shape[0] - 1, _FEATURES])
    buffer[_VECTOR] = 0.0
    # In the order in which a vector has them.
    first, sign = (y, 1.0) if y < z else (z, -1.0)
    n_nonzeros = _place_row(x, sign, first * d, buffer, 0)
    n_nonzeros = _place_row(x, -sign, (y + z - first) * d, buffer, n_nonzeros)
    return _multiply(sigma, buffer, n_nonzeros, _is_listed(x))


def _is_listed(x):
    """Tell whether `_place_row` lists the non-zeros of such a row (CSR), in a kernel."""
    raise in_kernels_only("_is_listed")


@overload(_is_listed)
def _is_listed_of_kind(x):
    listed = is_sparse_row(x)
    return lambda x: listed


def _place_row(x, a, start, buffer, n_nonzeros):
    """Write a times a row into a part of the vector (dense) or of its list of non-zeros (CSR), in a kernel.

    Returns how many non-zeros the vector has with it. The vector is 0 before; its parts come in order.
    """
    raise in_kernels_only("_place_row")


@overload(_place_row)
def _place_row_of_kind(x, a, start, buffer, n_nonzeros):
    if is_sparse_row(x):

        def csr(x, a, start, buffer, n_nonzeros):
            values, places = buffer[_VALUES], buffer[_PLACES].view(np.int64)
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                values[n_nonzeros], places[n_nonzeros] = a * x_j, start + np.intp(j)
                n_nonzeros += x_j != 0.0
            return n_nonzeros

        return csr

    def dense(x, a, start, buffer, n_nonzeros):
        part = buffer[_VECTOR, start : start + n_entries(x)]
        for k in range(n_entries(x)):
            j, x_j = entry(x, k)
            part[j] = a * x_j
            n_nonzeros += x_j != 0.0
        return n_nonzeros

    return dense


@compiled
def _multiply(sigma, buffer, n_nonzeros, listed):
    """Write Σx into ``buffer[0]`` and return xᵀΣx of an x that `_place_row` placed.

    From the number of its non-zeros on, what is done is the same for dense and CSR rows, to the last bit.
    """
    n = sigma.shape[0] - MOST_TERMS - 1
    s, x = buffer[0, :n], buffer[_VECTOR, :n]
    values, places = buffer[_VALUES], buffer[_PLACES].view(np.int64)
    nonzeros = values[:n_nonzeros], places[:n_nonzeros]
    few = n_nonzeros * _FEW < n
    if few and not listed:
        at = 0
        for j in range(n):
            values[at], places[at] = x[j], j
            at += x[j] != 0.0
    elif listed and not few:
        for k in range(n_nonzeros):
            x[places[k]] = values[k]
    first = last = n_nonzeros
    if few:
        # The rows of B that are listed: B is symmetric, its rows are its columns.
        s[:] = 0.0
        first = 0
    else:
        for i in range(0, n, STRIP):
            multiply_rows(sigma, i, x, s)
    # What is noted joins the list: the array's row u, -u·x times.
    for u in range(n, n + int(sigma[sigma.shape[0] - 1, _NOTED])):
        values[last] = -(dot(sigma[u], nonzeros) if few else dot(sigma[u, :n], x))
        places[last] = u
        last += 1
    _add_rows(sigma, values[first:last], places[first:last], s)
    return dot(s, nonzeros) if few else dot(s, x)


@register_jitable
def _add_rows(sigma, values, places, s):
    """Add so many times each of the given rows to `s`, in order; s is loaded and stored once for four."""
    whole = len(values) // 4 * 4
    for k in range(0, whole, 4):
        a, b, c, d = values[k], values[k + 1], values[k + 2], values[k + 3]
        row_a, row_b = sigma[places[k]], sigma[places[k + 1]]
        row_c, row_d = sigma[places[k + 2]], sigma[places[k + 3]]
        for i in range(len(s)):
            s[i] = (((s[i] + a * row_a[i]) + b * row_b[i]) + c * row_c[i]) + d * row_d[i]
    for k in range(whole, len(values)):
        a, row_a = values[k], sigma[places[k]]
        for i in range(len(s)):
            s[i] += a * row_a[i]


@register_jitable
def subtract_outer(sigma, buffer, beta):
    """Make it ``Σ - β s sᵀ`` of the s in ``buffer[0]``, β >= 0."""
    n = sigma.shape[0] - MOST_TERMS - 1
    last = sigma[sigma.shape[0] - 1]
    noted = int(last[_NOTED])
    s, u, root = buffer[0], sigma[n + noted], math.sqrt(beta)
    for i in range(n):
        u[i] = root * s[i]
    last[_NOTED] = noted + 1
    if noted + 1 == MOST_TERMS:
        subtract_noted(sigma)


@register_jitable
def _any_nonzero(terms, i):
    """Tell whether the block of columns at i holds anything but zeros."""
    for t in range(terms.shape[0]):
        for j in range(i, i + LANES):
            if terms[t, j] != 0.0:
                return True
    return False


@register_jitable
def scale_matrix(sigma, factor):
    """Make it ``factor Σ``; a power of two changes no digit."""
    subtract_noted(sigma)
    n = sigma.shape[0] - MOST_TERMS - 1
    for i in range(n):
        for j in range(n):
            sigma[i, j] *= factor


@compiled
def subtract_noted(sigma):
    """Subtract what is noted from B, leaving that exactly symmetric."""
    n = sigma.shape[0] - MOST_TERMS - 1
    last = sigma[sigma.shape[0] - 1]
    noted = int(last[_NOTED])
    terms = sigma[n : n + noted]
    # Of CSR rows the first updates are 0 nearly everywhere, and so is what they subtract.
    blocks, n_blocks = np.empty(n // LANES, np.intp), 0
    for i in range(0, n, LANES):
        if _any_nonzero(terms, i):
            blocks[n_blocks] = i
            n_blocks += 1
    for a in range(n_blocks):
        for b in range(a + 1):
            subtract_products(sigma, blocks[a], blocks[b], terms, noted)
    last[_NOTED] = 0.0
