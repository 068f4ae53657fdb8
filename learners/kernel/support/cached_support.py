"""Rows that a learner keeps, and rows of kernel values k(x_i, x_j), j < n, on demand, in its loop.

A `KernelRows` is a `SupportSet`, so that `KernelClassifier` knows what to do with it. The loop over a block
gets a `Kept` K and may call

- ``append(K, n, t, a)``: row t of the block becomes the kept row n, with coefficient a;
- ``remove(K, n, i, t)``: of n kept rows drop row i while row t is learnt; row n - 1 moves into its slot;
- ``kernel_row(K, n, i)``: k(x_i, x_j) of all j < n, not to be written. It is good until the next ``append``
  or ``remove``, and until the second next ``kernel_row`` of other rows: two are at hand at a time;
- ``know_row(K, n, i, t)``: the row of x_i = row t of the block, just appended as one of n, goes into the
  cache from the values that the block has, without being computed.

Coefficients, values of the block and the rest are in ``K.walk`` (see `Walk`; of its functions only `score_of`
is for such a loop); ``K.labels`` has the labels, which the loop writes, ``K.diagonal`` the k(x_i, x_i). After
the loop `settle` wants the number of rows kept.

A value is a function of its two rows alone, to the last bit. So it is neither a matter of the cache nor of
when, in which order and with which others it was computed.
"""

from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numba.extending import register_jitable

from ...numeric.rows import as_rows
from ..values import functions as _functions
from ..values.functions import apply_to_row
from ..values.row_products import keep_row, move_kept_row, products_of_row
from .block_view import Walk, move, put
from .row_cache import Lines, RowCache, free_line, line_values, rename_line, take_line
from .support_set import SupportSet


class Kept(NamedTuple):
    """The kept rows, their kernel values and a block of the stream, as a loop takes them."""

    #: The block; slots are those of the kept rows.
    walk: Walk
    #: The rows of the block, packed, and their squared norms.
    block: object
    block_norms: np.ndarray
    #: The kept rows (see `_one_row`), their squared norms, and their k(x, x) in float64.
    rows: object
    norms: np.ndarray
    diagonal: np.ndarray
    #: (slots,): the label of each kept row, -1.0 or 1.0: the learner's to write.
    labels: np.ndarray
    #: The kernel function (see `apply_to_row`).
    function: tuple
    #: Rows of kernel values.
    cache: Lines
    #: (1, slots): room for the products of one row.
    products: np.ndarray


class KernelRows(SupportSet):
    """Kept rows with rows of kernel values on demand.

    Parameters
    ----------
    function, n_features, dtype, sparse
        As for `SupportSet`.
    cache_mb : float
        Limit of the rows of kernel values that are kept, in MiB; two of them there are in any case.
    square : bool, default=False
        As for `SupportSet`.
    """

    # Lines of the cache are as wide as there is room: what is not used is lost to it.
    _growth = 1.25

    def __init__(self, function, n_features, dtype, sparse, cache_mb, square=False):
        super().__init__(function, n_features, dtype, sparse, square)
        self._sparse = sparse
        self._diagonal, self._labels = np.zeros(0), np.zeros(0)
        self._cache = RowCache(int(cache_mb * 2**20), dtype)

    def _reserve(self, n):
        super()._reserve(max(n, 1))
        more = np.zeros(len(self._norms) - len(self._labels))
        self._diagonal, self._labels = np.append(self._diagonal, more), np.append(self._labels, more)

    def meet(self, block, n, first):
        """Do as `SupportSet.meet` does, but return None and a `Kept`."""
        (packed, norms), walk = super().meet(block, n, first)
        kept = self._rows.in_loops(packed), self._norms, self._diagonal, self._labels
        function = _functions.in_loops(self._function, self._dtype)
        slots = len(self._norms)
        products = np.empty((1, slots), self._dtype)
        return None, Kept(walk, packed, norms, *kept, function, self._cache.in_loops(slots), products)

    def again(self):
        """Return a `Kept` with a block of no rows, for a loop over the kept ones."""
        nothing = np.zeros((0, self._rows.n_features), self._dtype)
        return self.meet(as_rows(sp.csr_matrix(nothing) if self._sparse else nothing), 0, 0)[1]

    def settle(self, _packed, _kept, size):
        """Note that the loop has left `size` rows."""
        self.size = size

    @property
    def gradients(self):
        """What the learner keeps with each coefficient, by slot."""
        return self._extra[..., : self.size]

    @property
    def labels(self):
        """The labels of the kept rows, by slot."""
        return self._labels[: self.size]

    def n_bytes(self):
        """Return the bytes of rows, coefficients, what is kept with them, labels and matrix."""
        return super().n_bytes() + self.gradients.nbytes + self.labels.nbytes


@register_jitable
def append(K, n, t, a):
    """Keep row t of the block as row n, with coefficient `a`."""
    put(K.walk, n, t, a)
    K.norms[n] = K.block_norms[t]
    K.diagonal[n] = K.walk.own[t]
    keep_row(K.rows, n, K.block, t)


@register_jitable
def know_row(K, n, i, t):
    """Put the row of kernel values of row t of the block, which is kept row `i` of `n`, into the cache."""
    C = K.cache
    line = take_line(C, i)
    values = line_values(C, line)
    for j in range(n):
        values[j] = K.walk.values[t, j]
    values[i] = K.walk.own[t]
    C.filled[line] = n


@register_jitable
def _compute(K, i, first, last, values):
    """Compute k(x_i, x_j) of first <= j < last."""
    products_of_row(K.rows, i, first, last, K.products)
    apply_to_row(K.function, K.products[0][first:last], K.norms[i], K.norms[first:last])
    # A loop: to assign a slice takes Numba seconds to compile.
    for j in range(first, last):
        values[j] = K.products[0, j]


@register_jitable
def kernel_row(K, n, i):
    """Return k(x_i, x_j) of all j < n."""
    C = K.cache
    line = take_line(C, i)
    values = line_values(C, line)
    known = C.filled[line]
    # Of rows that joined since, most know their value with x_i themselves; runs of others are computed. (One
    # call of `_compute`, here and wherever rows are asked for: every other one is compiled anew.)
    first = known
    for j in range(known, n + 1):
        other = C.line[j] if known > 0 and j < n else -1
        if j == n or (other >= 0 and C.filled[other] > i):
            if first < j:
                _compute(K, i, first, j, values)
            if j < n:
                values[j] = C.values[other * C.line.shape[0] + i]
            first = j + 1
    C.filled[line] = max(known, n)
    return values[:n]


@register_jitable
def remove(K, n, i, t):
    """Drop row `i` of `n` kept ones while row t is learnt; the last one moves into its slot."""
    C, last = K.cache, n - 1
    free_line(C, i)
    # By symmetry the last row has the values that the others need in its new place.
    row = kernel_row(K, n, last) if i < last else K.products[0]
    width = C.line.shape[0]
    for line in range(C.slot.shape[0]):
        if i < C.filled[line] and i < last and C.slot[line] >= 0:
            C.values[line * width + i] = row[C.slot[line]]
        C.filled[line] = min(C.filled[line], last)
    if i < last:
        rename_line(C, last, i)
        move(K.walk, last, i, t)
        K.norms[i], K.diagonal[i], K.labels[i] = K.norms[last], K.diagonal[last], K.labels[last]
    move_kept_row(K.rows, last, i)
