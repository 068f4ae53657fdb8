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
from numba.extending import register_jitable

from ...numeric.compiled import INLINE, compiled
from ...numeric.rows import dot, entry, n_entries, new_state
from .symmetric_tiles import LANES, STRIP, multiply_rows, subtract_products

# A (d, d) matrix above this is refused: d = 23,170 is far beyond what d² work per example makes sense for,
# and a limit of its own fails alike on every machine, where asking for the free memory would not.
_MAX_BYTES = 4 * 2**30

#: Updates that are subtracted together. Each that is noted costs every product a little, each subtraction a
#: pass over B: at d = 784 an update takes 40 µs with 8, 35 with 16 or 32, and at 123 and 256 16 are best.
MOST_TERMS = 16

# Where the last row keeps how many updates are noted, the number of features, and that of the classes.
_NOTED, _FEATURES, _CLASSES = 0, 1, 2

# Where fewer than a third of a vector's entries are not 0, a product reads whole rows of B for these alone;
# from there on half of B is read faster (measured: from 0.25 at d = 123, 0.4 at 784).
_FEW = 3


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
    buffer : ndarray of float64, shape (2, width)
        Where a kernel keeps Σx and x.

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
    return sigma, new_state(2 * width, place=2).reshape(2, width)


def full_matrix(sigma):
    """Return Σ itself, of shape (Kd, Kd) and exactly symmetric, in an array of its own."""
    n = int(sigma[-1, _FEATURES]) * int(sigma[-1, _CLASSES])
    whole = sigma.copy()
    subtract_noted(whole)
    return np.ascontiguousarray(whole[:n, :n])


@register_jitable(**INLINE)
def n_features_of(sigma):
    """Return the number of features of one block."""
    return int(sigma[sigma.shape[0] - 1, _FEATURES])


@register_jitable(**INLINE)
def n_classes_of(sigma):
    """Return the number of blocks."""
    return int(sigma[sigma.shape[0] - 1, _CLASSES])


@register_jitable
def place_row(x, a, vector):
    """Write a times a dense or CSR row into a vector of zeros; return how many entries are not 0."""
    n_nonzeros = 0
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        vector[j] = a * x_j
        n_nonzeros += x_j != 0.0
    return n_nonzeros


@compiled
def multiply(sigma, buffer, n_nonzeros):
    """Write Σx into ``buffer[0]`` and return xᵀΣx, given x with so many non-zeros in ``buffer[1]``.

    A row is a vector by now, so that dense and CSR rows come to the same bits.
    """
    n = sigma.shape[0] - MOST_TERMS - 1
    s, x = buffer[0, :n], buffer[1, :n]
    if n_nonzeros * _FEW < n:
        s[:] = 0.0
        for j in range(n):
            x_j = x[j]
            if x_j != 0.0:
                column = sigma[j]  # its row
                for i in range(n):
                    s[i] += x_j * column[i]
    else:
        for i in range(0, n, STRIP):
            multiply_rows(sigma, i, x, s)
    for t in range(int(sigma[sigma.shape[0] - 1, _NOTED])):
        u = sigma[n + t, :n]
        u_x = dot(u, x)
        for i in range(n):
            s[i] -= u_x * u[i]
    return dot(s, x)


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


@compiled
def subtract_noted(sigma):
    """Subtract what is noted from B, leaving that exactly symmetric."""
    n = sigma.shape[0] - MOST_TERMS - 1
    last = sigma[sigma.shape[0] - 1]
    noted = int(last[_NOTED])
    terms = sigma[n : n + noted]
    # With CSR rows most of the first updates are 0 nearly everywhere, and so is what they subtract.
    blocks, n_blocks = np.empty(n // LANES, np.intp), 0
    for i in range(0, n, LANES):
        if (terms[:, i : i + LANES] != 0.0).any():
            blocks[n_blocks] = i
            n_blocks += 1
    for a in range(n_blocks):
        for b in range(a + 1):
            subtract_products(sigma, blocks[a], blocks[b], terms, noted)
    last[_NOTED] = 0.0
