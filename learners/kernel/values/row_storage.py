"""The rows that a kernel learner stores, dense or CSR, and their inner products with rows of the stream."""

import math

import numpy as np
import scipy.sparse as sp

from ...numeric.rows import as_rows, count_rows, read_only
from .products import (
    LANES,
    PADDING,
    dense_products,
    keep_rows,
    sparse_products,
    sparse_squared_norms,
    squared_norms,
    triangle_products,
)


def padded(n, multiple):
    """Return the smallest multiple of `multiple` that is >= n."""
    return -(-n // multiple) * multiple


_LINE = 64


def aligned(shape, dtype, make=np.empty):
    """Return a new array that starts at a cache line; `make` is np.empty or np.zeros.

    If the array's rows fill whole lines, no vector of 64 bytes straddles two lines, which would cost matrix
    products a fifth of their speed.
    """
    n_bytes = math.prod(shape) * np.dtype(dtype).itemsize
    memory = make(n_bytes + _LINE, np.uint8)
    start = -memory.__array_interface__["data"][0] % _LINE
    return memory[start : start + n_bytes].view(dtype).reshape(shape)


def grown(array, *shape):
    """Return an aligned copy of an array, enlarged to `shape`; new entries are 0."""
    larger = aligned(shape, array.dtype, np.zeros)
    larger[tuple(slice(extent) for extent in array.shape)] = array
    return larger


class DenseRows:
    """Support vectors as rows of one matrix, float32 or float64."""

    def __init__(self, n_features, dtype):
        self.n_features, self.dtype = n_features, dtype
        self._rows = np.zeros((0, padded(n_features, LANES[dtype.itemsize])), dtype)

    def room(self, n):
        """Return a new buffer into which `pack` can write blocks of up to `n` rows."""
        return aligned((padded(n, PADDING), self._rows.shape[1]), self._rows.dtype, np.zeros)

    @np.errstate(over="ignore")  # a float64 value beyond float32 becomes infinite
    def pack(self, block, room=None):
        """Return rows of the stream as "packed" rows: a padded matrix, written into `room` if given."""
        if isinstance(block, tuple):
            block = sp.csr_matrix(_from_zero(block), shape=(count_rows(block), self.n_features)).toarray()
        rows = self.room(len(block)) if room is None else room[: padded(len(block), PADDING)]
        # Columns beyond the features are zeros; rows beyond the last one are undefined.
        rows[: len(block), : self.n_features] = block
        return rows

    def products(self, packed, n, size, out, _room=None, block=None):
        """Write the inner products of `n` packed rows with the first `size` support vectors into `out`.

        `block` is the part of the stream that the rows come from; the next part is prefetched if possible.
        """
        here = isinstance(block, np.ndarray) and block.dtype == self.dtype and block.flags.c_contiguous
        dense_products(packed, n, self._rows, size, out, read_only(block if here else packed[:0]))

    @staticmethod
    def own_products(packed, n, out):
        """Write the inner products of each packed row with itself and later rows into `out`."""
        triangle_products(packed, n, out)

    @staticmethod
    def squared_norms(packed, out, _room):
        """Write the inner product of each packed row with itself into `out`."""
        squared_norms(packed, len(out), out.reshape(1, -1))

    def capacity(self):
        """Return the number of support vectors that there is room for."""
        return len(self._rows)

    def reserve(self, capacity):
        """Make room for `capacity` support vectors."""
        if capacity > len(self._rows):
            self._rows = grown(self._rows, capacity, self._rows.shape[1])

    def widen(self, n_features):
        """Accept rows with `n_features` features from now on; stored rows have zeros for the new features."""
        self.n_features = n_features
        width = padded(n_features, LANES[self.dtype.itemsize])
        self._rows = grown(self._rows, len(self._rows), width)

    def move(self, targets, sources):
        """Copy the support vectors in slots `sources` to slots `targets`; a slot may be in both lists."""
        self._rows[targets] = self._rows[sources]

    def keep(self, targets, packed, numbers):
        """Store the packed rows with the row indices `numbers` in the slots `targets`."""
        self._rows[targets] = packed[numbers]

    def copy_rows(self, targets, others, sources):
        """Copy the rows in the slots `sources` of the store `others` into the slots `targets`."""
        self._rows[targets] = others._rows[sources]

    def in_loops(self, _packed):
        """Return the stored rows for compiled loops, as a padded matrix."""
        return self._rows

    @staticmethod
    def block_in_loops(packed, _room):
        """Return packed rows in the form that compiled loops take: here, unchanged."""
        return packed

    def matrix(self, order):
        """Return the support vectors of the given slots as a matrix."""
        return self._rows[order, : self.n_features]

    def n_bytes(self, size):
        """Return the bytes of `size` support vectors."""
        return size * self.n_features * self._rows.itemsize


class SparseRows:
    """Support vectors as CSR rows in any order: each has a range in the arrays of values and columns."""

    def __init__(self, n_features, dtype):
        self.n_features, self.dtype = n_features, dtype
        columns = np.int32 if n_features <= np.iinfo(np.int32).max else np.int64
        self._values, self._columns = np.empty(0, dtype), np.empty(0, columns)
        self._start, self._stop = np.zeros(0, np.int64), np.zeros(0, np.int64)
        # Number of values in use; compiled loops that store rows increase it.
        self._end = np.zeros(1, np.int64)
        self._scratch = np.zeros(n_features, dtype), np.zeros((1, LANES[self._values.itemsize]), dtype)

    def widen(self, n_features):
        """Accept rows with `n_features` features from now on; stored rows have zeros for the new features."""
        self.n_features = n_features
        self._scratch = np.zeros(n_features, self.dtype), self._scratch[1]

    def room(self, _n):
        """Return scratch arrays for inner products, full of zeros; every use sets them back to zeros."""
        spread, sums = (np.zeros_like(array) for array in self._scratch)
        return np.zeros(self.n_features, np.int32), spread, sums

    @np.errstate(over="ignore")  # a float64 value beyond float32 becomes infinite
    def pack(self, block, _room=None):
        """Return rows of the stream as "packed" rows: read-only CSR arrays."""
        if not isinstance(block, tuple):
            rows = sp.csr_matrix(block)
            block = rows.data, rows.indices, rows.indptr
        data, indices, indptr = _from_zero(block)
        # The arrays are always read-only, so that Numba compiles the functions that take them only once.
        data = read_only(data.astype(self._values.dtype, copy=False))
        indices = read_only(indices.astype(self._columns.dtype, copy=False))
        return data, indices, read_only(indptr.astype(np.int64))

    def _products_with(self, packed, rows, start, stop, size, out, triangle, room=None):
        lanes = LANES[self._values.itemsize]
        places = np.zeros(self.n_features, np.int32) if room is None else room[0]
        sparse_products(packed, rows, start, stop, size, triangle, lanes, places, out)

    def products(self, packed, n, size, out, room=None, _block=None):
        """Write the inner products of the packed rows with the first `size` support vectors into `out`."""
        # All four arrays are read at once, because another thread may replace them in `make_room`.
        kept = vars(self).copy()
        rows = kept["_values"], kept["_columns"]
        self._products_with(packed, rows, kept["_start"], kept["_stop"], size, out, False, room)

    def own_products(self, packed, n, out):
        """Write the inner products of each packed row with itself and later rows into `out`."""
        data, indices, indptr = packed
        self._products_with(packed, (data, indices), indptr[:-1], indptr[1:], n, out, True)

    def squared_norms(self, packed, out, room):
        """Write the inner product of each packed row with itself into `out`."""
        sparse_squared_norms(self.block_in_loops(packed, room), out)

    def capacity(self):
        """Return the number of support vectors that there is room for."""
        return len(self._stop)

    def reserve(self, capacity):
        """Make room for `capacity` support vectors."""
        more = np.zeros(max(0, capacity - len(self._start)), np.int64)
        self._start, self._stop = np.append(self._start, more), np.append(self._stop, more)

    def move(self, targets, sources):
        """Move the support vectors in slots `sources` to slots `targets`; a slot may be in both lists."""
        self._start[targets], self._stop[targets] = self._start[sources], self._stop[sources]

    def keep(self, targets, packed, numbers):
        """Store the packed rows with the row indices `numbers` in the slots `targets`."""
        indptr = packed[2]
        self._start[targets] = self._stop[targets] = 0
        self.make_room((indptr[numbers + 1] - indptr[numbers]).sum())
        places = self._start, self._stop, self._end
        keep_rows((self._values, self._columns, *places, *self._scratch), targets, packed, numbers)

    def copy_rows(self, targets, others, sources):
        """Copy the rows in the slots `sources` of the store `others` into the slots `targets`."""
        self.keep(targets, self.pack(as_rows(others.matrix(sources))), np.arange(len(sources)))

    def make_room(self, needed):
        """Make room for `needed` more non-zeros; if the arrays must grow, rows are copied without gaps."""
        if self._end[0] + needed <= len(self._values):
            return
        lengths = self._stop - self._start
        live = int(lengths.sum())
        starts = np.cumsum(lengths) - lengths
        places = np.arange(live) + np.repeat(self._start - starts, lengths)
        capacity = max(2 * (live + needed), 1024)
        # Unused columns are zeros: a thread that scores meanwhile may read them, and they must be in range.
        values, columns = np.zeros(capacity, self._values.dtype), np.zeros(capacity, self._columns.dtype)
        values[:live], columns[:live] = self._values[places], self._columns[places]
        # One update, so that a thread that scores meanwhile finds ranges that fit the arrays.
        vars(self).update(_values=values, _columns=columns, _start=starts, _stop=starts + lengths)
        self._end[0] = live

    def in_loops(self, packed):
        """Return the stored rows for compiled loops, as a tuple of arrays with room for the packed rows."""
        self.make_room(len(packed[0]))
        places = self._start, self._stop, self._end
        return self._values, self._columns, *places, *self._scratch

    def block_in_loops(self, packed, room):
        """Return packed rows in the form that compiled loops take: a tuple of arrays, like `in_loops`."""
        data, indices, indptr = packed
        return data, indices, indptr[:-1], indptr[1:], self._end, *room[1:]

    def matrix(self, order):
        """Return the support vectors of the given slots as a matrix."""
        lengths = (self._stop - self._start)[order]
        indptr = np.append(0, np.cumsum(lengths))
        places = np.arange(indptr[-1]) + np.repeat(self._start[order] - indptr[:-1], lengths)
        parts = self._values[places], self._columns[places], indptr
        return sp.csr_matrix(parts, shape=(len(order), self.n_features))

    def n_bytes(self, size):
        """Return the bytes of `size` support vectors."""
        non_zeros = int((self._stop[:size] - self._start[:size]).sum())
        return non_zeros * (self._values.itemsize + self._columns.itemsize) + size * self._start.itemsize


def _from_zero(block):
    """Return a range of CSR rows with row pointers that count from 0."""
    data, indices, indptr = block
    first, last = indptr[0], indptr[-1]
    return data[first:last], indices[first:last], indptr - first
