"""The support set: rows kept, coefficients, and the kernel values of a block of the stream with them."""

import numpy as np

from ...numeric.rows import as_rows
from ..values.dense_products import PADDING
from ..values.functions import apply_kernel
from ..values.row_storage import DenseRows, SparseRows, aligned, padded
from .block_view import Walk

# Slots come in multiples of it: whole tiles, and whole cache lines.
_SLOTS = 4 * PADDING


class SupportSet:
    """The rows that a learner keeps, in slots, and what it keeps with them.

    Parameters
    ----------
    function : tuple
        ``(kernel, gamma, coef0, degree)``.
    n_features : int
    dtype : dtype
        float32 or float64: precision of rows and kernel values; coefficients are float64.
    sparse : bool
        Keep CSR rows; dense ones otherwise.
    square : bool
        Keep a float64 matrix over the support set besides.
    n_classes : int
        Coefficients are (slots,) for two classes, (n_classes, slots) for more.

    Attributes
    ----------
    size : int
        Number of support vectors.
    """

    # By how much the room for support vectors grows.
    _growth = 2.0

    def __init__(self, function, n_features, dtype, sparse, square, n_classes=2):
        self._function = function
        self._rows = (SparseRows if sparse else DenseRows)(n_features, dtype)
        self._dtype = dtype
        self._norms, self._slots = np.zeros(0, dtype), np.arange(0)
        shape = (0,) if n_classes == 2 else (n_classes, 0)
        self._alpha, self._extra, self._born = np.zeros(shape), np.zeros(shape), np.zeros(0, np.int64)
        self._square = np.zeros((0, 0))
        self._keeps_square = square
        self.size = 0

    def _reserve(self, n):
        """Make room for `n` support vectors, a multiple of what there was."""
        capacity = len(self._norms)
        if n <= capacity:
            return
        capacity = padded(max(n, int(self._growth * capacity)), _SLOTS)

        def grown(array, axes=1):
            larger = aligned(array.shape[: array.ndim - axes] + (capacity,) * axes, array.dtype, np.zeros)
            larger[tuple(slice(extent) for extent in array.shape)] = array
            return larger

        self._slots = np.arange(capacity)
        vectors = self._norms, self._alpha, self._extra, self._born
        self._norms, self._alpha, self._extra, self._born = map(grown, vectors)
        if self._keeps_square:
            self._square = grown(self._square, axes=2)
        self._rows.reserve(capacity)

    def meet(self, block, n, first):
        """Compute the kernel values of `n` rows with the support vectors and with one another.

        Parameters
        ----------
        block : ndarray or tuple
            Rows, as `as_rows` returns them.
        n : int
            How many.
        first : int
            Number of the first one in the stream.

        Returns
        -------
        packed : object
            The rows, for `settle`.
        walk : Walk
        """
        self._reserve(self.size + n)
        packed = self._rows.pack(block)
        gram, norms = self._own_products(packed, n)
        apply_kernel(self._function, gram, n, n, norms, norms, triangle=True)
        values = np.empty((len(gram), len(self._norms)), self._dtype)
        self._fill(packed, n, norms, values)
        origin = self._slots.copy()
        own = gram.diagonal()[:n].astype(np.float64)
        state = self._alpha, self._born, origin, self._extra, self._square
        walk = Walk(values, gram, own, *state, first)
        return (packed, norms), walk

    def _own_products(self, packed, n):
        """Return the inner products of packed rows with those before them, and their squared norms."""
        height = padded(n, PADDING)
        gram = np.empty((height, height), self._dtype)
        self._rows.own_products(packed, n, gram)
        return gram, gram.diagonal()[:n].copy()

    def _fill(self, packed, n, norms, values):
        self._rows.products(packed, n, self.size, values)
        apply_kernel(self._function, values, n, self.size, norms, self._norms)

    def settle(self, packed, walk, size):
        """Keep what the loop over a block has left, `size` support vectors."""
        self.size = size
        changed = (walk.origin[:size] != self._slots[:size]).nonzero()[0]
        if not len(changed):
            return
        rows, norms = packed
        origin = walk.origin[changed]
        joined = origin < 0
        new, numbers = changed[joined], -1 - origin[joined]
        if len(new) < len(changed):
            old, sources = changed[~joined], origin[~joined]
            self._rows.move(old, sources)
            self._norms[old] = self._norms[sources]
        self._rows.keep(new, rows, numbers)
        self._norms[new] = norms[numbers]

    def adopt(self, rows, norms, alpha):
        """Take the rows of a matrix as support vectors 0, 1, …, with their squared norms and coefficients."""
        self.size = len(alpha)
        self._reserve(self.size)
        slots = np.arange(self.size)
        self._rows.keep(slots, self._rows.pack(as_rows(rows)), slots)
        self._norms[slots], self._alpha[..., slots] = norms, alpha

    def values(self, block, n):
        """Return the kernel values of `n` rows with the support vectors, (n or more, `size` or more)."""
        packed = self._rows.pack(block)
        gram, norms = self._own_products(packed, n)
        values = np.empty((len(gram), padded(self.size, PADDING)), self._dtype)
        self._fill(packed, n, norms, values)
        return values

    @property
    def alpha(self):
        """The coefficients, by slot."""
        return self._alpha[..., : self.size]

    @property
    def coefficients(self):
        """The coefficients with the room for more: contiguous, as loops want them."""
        return self._alpha

    @property
    def born(self):
        """The numbers of the support vectors in the stream, by slot."""
        return self._born[: self.size]

    @property
    def square(self):
        """The matrix over the support set, by slot."""
        return self._square[: self.size, : self.size]

    def matrix(self, order):
        """Return the support vectors of the given slots."""
        return self._rows.matrix(order)

    def n_bytes(self):
        """Return the bytes of rows, coefficients and matrix."""
        return self._rows.n_bytes(self.size) + self.alpha.nbytes + self.square.nbytes
