"""Base classes of the kernel learners, which learn the stream in blocks and keep a support set."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

from ..estimator.online_classifier import OnlineClassifier
from ..estimator.parameters import Count, NonNegative, Positive, check_nonnegative, check_number, one_of
from ..numeric.rows import count_rows, row_range
from .support.cached_support import CachedSupport
from .support.support_set import SupportSet
from .values.functions import KERNELS
from .values.row_storage import DenseRows

#: Smallest number of rows that are processed as one block. The learned model does not depend on block sizes.
BLOCK_ROWS = 60

# With few support vectors, the fixed cost of a block is as large as that of its matrix products. Such a block
# gets up to _MOST_TIMES * BLOCK_ROWS rows, but no more than _BLOCK_VALUES kernel values.
_MOST_TIMES, _BLOCK_VALUES = 4, 40_000

# Limits of a block's size (a multiple of BLOCK_ROWS, and bytes of kernel values) for dense rows and learners
# that rarely add a support vector. Larger blocks are faster there: the slow product of one row with the rest
# of its block is computed only for rows that are added.
_MOST_TIMES_SELDOM, _BLOCK_BYTES_SELDOM = 8, 320_000


def block_ranges(n: int, block_rows: int = BLOCK_ROWS) -> Iterator[tuple[int, int]]:
    """Cut `n` rows into blocks; return an iterator over pairs (start, stop)."""
    return itertools.pairwise([*range(0, n, block_rows), n])


def _check_offset(learner, name):
    """Raise ValueError unless the parameter is a number and, for the kernel "poly", not negative."""
    check = check_nonnegative if learner.kernel == "poly" else check_number
    check(learner, name)


#: The type of the parameter ``coef0``, whose check depends on the kernel.
Offset = Annotated[float, _check_offset]


def kernel_function(learner):
    """Return the kernel that a learner's parameters define: ``(kernel, gamma, coef0, degree)``."""
    return learner.kernel, float(learner.gamma), float(learner.coef0), int(learner.degree)


@dataclass(eq=False, repr=False, kw_only=True)
class KernelClassifier(OnlineClassifier):
    """Base of the kernel learners: ``f(x) = Σ α_i k(x_i, x)`` over a support set of rows.

    The stream is processed in blocks: first the kernel values of a block with the support set and with itself
    are computed, at the speed of a matrix product, then the learner's loop runs over the block. The outcome
    is exactly that of the sequential algorithm, however the stream is cut into blocks and calls of `learn`.

    A subclass is a dataclass whose fields are its parameters, in addition to those of the kernel and
    `epochs`, which are given by name. It defines ``_learn_block(view, n, codes, scores)``, which learns a
    block (see `BlockView`) row by row, starting from `n` support vectors, and returns the new number of
    support vectors, and the mistakes, updates and kernel evaluations in this block.

    The kernels, with the names of scikit-learn: "rbf" ``exp(-gamma ‖x - z‖²)``, "poly" ``(gamma x·z +
    coef0)^degree``, "linear" ``x·z``.

    Attributes
    ----------
    n_support_ : int
        Size of the support set.
    n_kernel_evaluations_ : int
        Kernel values that an implementation without blocks would have evaluated while learning: one per
        support vector for the prediction of each row, and those that the learner's documentation names.
    support_ : ndarray of int64, shape (n_support_,)
        Row numbers of the support vectors in the stream, ascending: counted from 0 through all passes or, by
        learners that recognize the rows of earlier passes (`LASVM`, `OnlineModelSelection` and those of the
        ramp loss), in each pass.
    support_vectors_ : ndarray or csr_matrix of shape (n_support_, d)
        The support vectors, in that order.
    dual_coef_ : ndarray of float64, shape (1, n_support_) or, with K > 2 classes, (K, n_support_)
        α, in that order; with more than two classes one row per class.
    model_bytes_ : int
        Bytes that prediction and further learning need: rows, coefficients, other numbers per row, and the
        learner's matrix, also if it only caches kernel values (Forgetron, DistillCache). Other caches are not
    counted.

    Notes
    -----
    Support vectors and kernel values are float32 or float64, and the support set is dense or CSR, like the
    rows of the first call of `learn` or `fit`. Later rows are converted. Coefficients are float64. Dense and
    CSR rows with the same values give the same outcome to the last bit.

    A row whose squared norm, or kernel value with itself, overflows is not learned.

    In the rbf kernel, ``‖x - z‖²`` is computed as ``‖x‖² + ‖z‖² - 2 x·z``. That loses digits if the norms of
    rows are large compared with their distances: all digits are lost if ‖x‖² is 10⁷ times the squared
    distance in float32, or 10¹⁶ times in float64. `IncrementalSVM`, `KernelAROW` and
    `KernelSecondOrderPerceptron` can then have scores of NaN for good. Center such rows.
    """

    kernel: Annotated[str, one_of(KERNELS)] = "rbf"
    gamma: Positive = 1.0
    degree: Count = 3
    coef0: Offset = 1.0
    epochs: int = 1

    _block_rows = BLOCK_ROWS

    #: Whether the learner needs a float64 matrix with a row and a column for each support vector.
    _keeps_square = False

    #: Whether the learner needs a lower triangular float64 matrix with a row for each support vector.
    _keeps_factor = False

    #: Whether learners with different parameters learn together and share kernel values, see `readings`. They
    #: can if the support set only grows, one slot after the other: no row of it is ever removed or replaced.
    only_adds = False

    #: Whether few of the learned rows become support vectors.
    _seldom_joins = False

    #: Whether the learner needs one more number with each coefficient, such as k(x, x) of the row.
    _keeps_companions = False

    # Number of rows learned before the row that has number 0 in `support_`; > 0 if each pass counts from 0.
    _pass_start = 0

    def _allocate(self, n_features):
        # The store of support vectors is created when the first rows arrive, because they decide its dtype
        # and whether it is dense or CSR.
        self._store: Any = None
        self.n_support_ = self.n_kernel_evaluations_ = 0

    def _store_for(self, X):
        """Return the learner's store of rows; create it if `X` are the first rows."""
        if self._store is None:
            sparse = isinstance(X, tuple)
            self._store = self._new_store((X[0] if sparse else X).dtype, sparse)
        return self._store

    def _new_store(self, dtype, sparse):
        """Return a new, empty store of rows: a `SupportSet` unless a subclass needs another store."""
        return SupportSet(
            kernel_function(self),
            self.n_features_in_,
            dtype,
            sparse,
            len(self.classes_),
            self._keeps_square,
            self._keeps_factor,
            self._keeps_companions,
        )

    @property
    def _support(self):
        """The learner's `SupportSet`, None before the first rows are learned."""
        return self._store

    def _rows_of_block(self, support):
        """Return how many rows a block has, which depends on the size of the support set."""
        times, values = _MOST_TIMES, _BLOCK_VALUES
        if self._seldom_joins and isinstance(support.rows, DenseRows):
            times, values = _MOST_TIMES_SELDOM, _BLOCK_BYTES_SELDOM // support.rows.dtype.itemsize
        return max(self._block_rows, min(times * self._block_rows, values // (support.size + 1)))

    def _pass(self, X, codes, scores):
        return self._learn_blocks(self._learn_block, X, codes, scores)

    def _learn_blocks(self, learn_block, X, codes, scores):
        """Learn `X` block by block with the method `learn_block`; return the mistakes and updates."""
        store = self._store_for(X)
        mistakes = updates = start = 0
        n = count_rows(X)
        while start < n:
            stop = min(n, start + self._rows_of_block(self._support))
            rows = row_range(X, start, stop)
            view = store.open_block(rows, stop - start, self.n_examples_ - self._pass_start + start)
            size, wrong, changed, evaluations = learn_block(
                view, self._support.size, codes[start:stop], scores[start:stop]
            )
            store.commit(size)
            mistakes += wrong
            updates += changed
            self.n_kernel_evaluations_ += evaluations
            start = stop
        self.n_support_ = self._support.size
        return mistakes, updates

    def _score(self, X, scores):
        support = self._support_to_score()
        if support is None:
            scores[:] = 0.0
            return
        rows = self._rows_of_block(support)
        room = support.room(min(rows, len(scores)))
        for start, stop in block_ranges(len(scores), rows):
            support.scores(row_range(X, start, stop), stop - start, scores[start:stop], room)

    def _support_to_score(self):
        """Return the support set that scores are computed from, or None before any row is learned."""
        return self._support

    def _order(self):
        """Return the slots of the support vectors by their age, oldest first."""
        return np.argsort(self._support.born) if self._support else np.zeros(0, np.intp)

    @property
    def support_(self) -> NDArray[np.int64]:
        order = self._order()
        return self._support.born[order] if self._support else order

    @property
    def support_vectors_(self) -> NDArray[np.floating] | csr_matrix:
        if self._support is None:
            return np.zeros((0, self.n_features_in_))
        return self._support.matrix(self._order())

    @property
    def dual_coef_(self) -> NDArray[np.float64]:
        rows = 1 if len(self.classes_) == 2 else len(self.classes_)
        if self._support is None:
            return np.zeros((rows, 0))
        return self._support.alpha[..., self._order()].reshape(rows, -1)

    @property
    def model_bytes_(self) -> int:
        return self._store.n_bytes() if self._store else 0

    def counters(self) -> dict[str, int]:
        kernels = {"support_vectors": self.n_support_, "kernel_evaluations": self.n_kernel_evaluations_}
        return super().counters() | kernels


@dataclass(eq=False, repr=False, kw_only=True)
class RowCachingClassifier(KernelClassifier):
    """Base of the kernel learners that need kernel values between support vectors, cached row by row.

    The parameter `cache_mb` limits the cache, in MiB. The ``_learn_block`` of a subclass gets a `CachedView`.

    The row numbers in `support_` start from 0 in every pass, so that a row has the same number in all passes.
    Rows learned after the last pass get the numbers that follow. ``_is_again`` is True from the second pass
    on: then the row to learn may already be stored.
    """

    cache_mb: NonNegative = 200.0

    _store_class = CachedSupport

    def _allocate(self, n_features):
        super()._allocate(n_features)
        self._pass_start = 0

    def _new_store(self, dtype, sparse):
        arguments = kernel_function(self), self.n_features_in_, dtype, sparse, float(self.cache_mb)
        return self._store_class(*arguments)

    @property
    def _support(self):
        return self._store.support if self._store else None

    def _rows_of_block(self, _support):
        # Blocks are not enlarged for these learners: each row of a block may need a free slot, and each cache
        # line has a value for each slot, so larger blocks need longer cache lines.
        return self._block_rows

    @property
    def _is_again(self):
        return self._pass_start > 0

    def end_of_pass(self, last: bool) -> None:
        # In the next pass the numbers of the rows start from 0 again. After the last pass only new rows can
        # follow, so their numbers continue.
        if not last:
            self._pass_start = self.n_examples_

    def begin_within_pass(self, row: int) -> None:
        self._pass_start = -row


class MulticlassKernelClassifier(KernelClassifier):
    """Base of the kernel learners for K >= 2 classes; if K > 2, a support vector has one α per class.

    A subclass also defines ``_learn_block_of_classes(view, n, codes, scores)``. It learns a block of K > 2
    classes, with codes 0 … K - 1, scores of shape (rows, K) and ``view.alpha`` of shape (K, slots).
    """

    _takes_many_classes = True

    def _allocate_classes(self, n_features, n_classes):
        self._allocate(n_features)

    def _pass_classes(self, X, codes, scores):
        return self._learn_blocks(self._learn_block_of_classes, X, codes, scores)

    def _score_classes(self, X, scores):
        self._score(X, scores)
