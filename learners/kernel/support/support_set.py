"""The support set: rows kept, coefficients, and the kernel values of a block of the stream with them."""

from typing import Any

import numpy as np

from ...numeric.rows import as_rows
from ..values.dense_products import PADDING
from ..values.functions import apply_kernel
from ..values.row_storage import DenseRows, SparseRows, grown, own_products, padded
from .block_view import BlockView, scores_of_block
from .class_scores import class_scores_of_block

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
    n_classes : int, default=2
        Coefficients are (slots,) for two classes, (n_classes, slots) for more.
    square : bool, default=False
        Keep a float64 matrix over the support set besides.
    companions : bool, default=False
        Keep one more number with each coefficient.
    growth : float, default=2.0
        By how much the room for support vectors grows.

    Attributes
    ----------
    size : int
        Number of support vectors.
    rows : DenseRows or SparseRows
    norms : ndarray
        Squared norms of the rows, by slot, with the room for more.
    companions : ndarray
        As the coefficients, or empty; with the room for more.
    """

    def __init__(
        self,
        function,
        n_features,
        dtype,
        sparse,
        n_classes=2,
        square=False,
        companions=False,
        growth=2.0,
    ):
        self._function = function
        self.rows = (SparseRows if sparse else DenseRows)(n_features, dtype)
        self._sparse, self._dtype, self._growth = sparse, dtype, growth
        self._keeps_square, self._keeps_companions = square, companions
        shape = (0,) if n_classes == 2 else (n_classes, 0)
        self.norms, self._slots = np.zeros(0, dtype), np.arange(0)
        self._alpha, self.companions, self._born = np.zeros(shape), np.zeros(shape), np.zeros(0, np.int64)
        self._square = np.zeros((0, 0))
        self._open: Any = None
        self.size = 0

    def reserve(self, n):
        """Make room for `n` support vectors, a multiple of what there was."""
        capacity = len(self.norms)
        if n <= capacity:
            return
        capacity = padded(max(n, int(self._growth * capacity)), _SLOTS)
        shape = *self._alpha.shape[:-1], capacity
        self._slots = np.arange(capacity)
        self.norms, self._born = grown(self.norms, capacity), grown(self._born, capacity)
        self._alpha = grown(self._alpha, *shape)
        if self._keeps_companions:
            self.companions = grown(self.companions, *shape)
        if self._keeps_square:
            self._square = grown(self._square, capacity, capacity)
        self.rows.reserve(capacity)

    def view(self, block, n, first):
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
        packed : tuple
            The rows as `rows` packs them, and their squared norms.
        view : BlockView
        """
        self.reserve(self.size + n)
        packed = self.rows.pack(block)
        gram, norms = own_products(self.rows, packed, n)
        apply_kernel(self._function, gram, n, n, norms, norms, triangle=True)
        values = np.empty((len(gram), len(self.norms)), self._dtype)
        self._fill(packed, n, norms, values)
        own = gram.diagonal()[:n].astype(np.float64)
        state = self._alpha, self._born, self._slots.copy(), self._square
        return (packed, norms), BlockView(values, gram, own, *state, first)

    def open_block(self, block, n, first):
        """Return the `BlockView` of `n` rows, for a loop after which `commit` is called; else as `view`."""
        packed, view = self.view(block, n, first)
        self._open = *packed, view.origin
        return view

    def commit(self, size):
        """Keep what the loop over the open block has left, `size` support vectors."""
        (rows, norms, origin), self._open = self._open, None
        self.size = size
        changed = (origin[:size] != self._slots[:size]).nonzero()[0]
        if not len(changed):
            return
        origin = origin[changed]
        joined = origin < 0
        new, numbers = changed[joined], -1 - origin[joined]
        if len(new) < len(changed):
            old, sources = changed[~joined], origin[~joined]
            self.rows.move(old, sources)
            self.norms[old] = self.norms[sources]
        self.rows.keep(new, rows, numbers)
        self.norms[new] = norms[numbers]

    def _fill(self, packed, n, norms, values):
        self.rows.products(packed, n, self.size, values)
        apply_kernel(self._function, values, n, self.size, norms, self.norms)

    def add_rows(self, rows, norms, alpha):
        """Fill an empty set with the rows of a matrix, with their squared norms and coefficients."""
        self.size = len(alpha)
        self.reserve(self.size)
        slots = np.arange(self.size)
        self.rows.keep(slots, self.rows.pack(as_rows(rows)), slots)
        self.norms[slots], self._alpha[slots] = norms, alpha

    def subset(self, slots):
        """Return the support vectors of the given slots as a set of their own, of two classes."""
        part = SupportSet(self._function, self.rows.n_features, self._dtype, self._sparse)
        part.add_rows(self.matrix(slots), self.norms[slots], self.alpha[slots])
        return part

    def values(self, block, n):
        """Return the kernel values of `n` rows with the support vectors, (n or more, `size` or more)."""
        packed = self.rows.pack(block)
        gram, norms = own_products(self.rows, packed, n)
        values = np.empty((len(gram), padded(self.size, PADDING)), self._dtype)
        self._fill(packed, n, norms, values)
        return values

    def scores(self, block, n, scores):
        """Write the scores of `n` rows, f(x) or those of all classes, into `scores`."""
        write = scores_of_block if self._alpha.ndim == 1 else class_scores_of_block
        write(self.values(block, n), n, self._alpha, self.size, scores)

    @property
    def alpha(self):
        """The coefficients, by slot."""
        return self._alpha[..., : self.size]

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
        return self.rows.matrix(order)

    def n_bytes(self):
        """Return the bytes of rows, coefficients and the matrix (not of the coefficients' companions)."""
        return self.rows.n_bytes(self.size) + self.alpha.nbytes + self.square.nbytes
