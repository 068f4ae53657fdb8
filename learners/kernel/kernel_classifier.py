"""What the kernel learners share: the blocks of the stream, the support set, its counters and parameters."""

import itertools

import numpy as np

from ..estimator.online_classifier import OnlineClassifier
from ..estimator.parameters import (
    check_count,
    check_nonnegative,
    check_number,
    check_option,
    check_positive,
)
from ..numeric.rows import count_rows, row_range
from . import multiclass
from .support.block_view import scores_of_block
from .support.cached_support import KernelRows
from .support.support_set import SupportSet
from .values.functions import KERNELS


def check_kernel(learner):
    """Raise ValueError for a parameter of the kernel that makes no sense."""
    check_option(learner, "kernel", KERNELS)
    check_positive(learner, "gamma")
    check_count(learner, "degree")
    check_kernel_offset(learner)


def check_kernel_offset(learner):
    """Raise ValueError for a `coef0` that is no number, or with which "poly" is no Mercer kernel."""
    check = check_nonnegative if learner.kernel == "poly" else check_number
    check(learner, "coef0")


class KernelClassifier(OnlineClassifier):
    """Base of the kernel learners: ``f(x) = Σ α_i k(x_i, x)`` over a support set of rows.

    The stream is taken in blocks: first the kernel values of a block with the support set and with itself, at
    the speed of a matrix product, then the learner's loop over the block with every value at hand. It is the
    sequential algorithm exactly: where blocks and chunks are cut changes nothing.

    A subclass has parameters in ``__init__`` (the last ones ``kernel="rbf", gamma=1.0, degree=3, coef0=1.0,
    epochs=1``) and defines ``_check_own_parameters()`` and

    - ``_walk(walk, n, codes, scores)``: run its loop over a block (see `Walk`), starting from `n` support
      vectors; return how many there are then, mistakes, updates and kernel evaluations.

    The kernels, with the names of scikit-learn: "rbf" ``exp(-gamma ‖x - z‖²)``, "poly"
    ``(gamma x·z + coef0)^degree``, "linear" ``x·z``.

    Attributes
    ----------
    n_support_ : int
        Size of the support set.
    n_kernel_evaluations_ : int
        Kernel values that an implementation which computes them when it needs them would have evaluated to
        learn: one for each support vector and row to predict, and what the learner's own documentation adds.
    support_ : ndarray of int64, shape (n_support_,)
        The support vectors' numbers in the stream (of all passes), ascending.
    support_vectors_ : ndarray or csr_matrix of shape (n_support_, d)
        They themselves, in that order.
    dual_coef_ : ndarray of float64, shape (1, n_support_) or, with K > 2 classes, (K, n_support_)
        α, in that order; of more than two classes a row for each.
    model_bytes_ : int
        Bytes that prediction and further learning need: rows, coefficients and the learner's matrix.

    Notes
    -----
    The rows of the first call decide: support vectors and kernel values are float32 or float64, the support
    set is dense or CSR as they are; rows of another kind are converted to it. Coefficients are float64. Dense
    and CSR rows of the same values give the same outcome to the last bit.

    A row whose squared norm, or kernel value with itself, overflows is not learnt.

    The distance of the rbf kernel is ``‖x‖² + ‖z‖² - 2 x·z``: rows that are long beside their distances lose
    digits, of float32 all of them where ‖x‖² is 10⁷ times the squared distance. Centre such rows.
    """

    #: Rows of a block. The outcome does not depend on it.
    _block_rows = 60

    #: Whether the learner keeps a float64 matrix over its support set.
    _keeps_square = False

    def _check_own_parameters(self):
        """Raise ValueError for a parameter of the learner itself that makes no sense."""

    def _check_parameters(self):
        check_kernel(self)
        self._check_own_parameters()

    # How many examples there were before those whose numbers `support_` gives.
    _pass_start = 0

    def _allocate(self, n_features):
        self._support = None
        self.n_support_ = self.n_kernel_evaluations_ = 0

    def _validate_first(self, X, y, classes, check_finite=False):
        # The score of a row with a NaN need not be one: an empty support set gives 0.
        return super()._validate_first(X, y, classes, check_finite=True)

    def _support_for(self, X):
        """Return the support set; made to suit the first rows."""
        if self._support is None:
            sparse = isinstance(X, tuple)
            dtype = (X[0] if sparse else X).dtype
            function = self.kernel, float(self.gamma), float(self.coef0), int(self.degree)
            self._support = self._new_support(function, dtype, sparse)
        return self._support

    def _new_support(self, function, dtype, sparse):
        return SupportSet(
            function, self.n_features_in_, dtype, sparse, self._keeps_square, len(self.classes_)
        )

    def _blocks(self, n):
        """Return the ranges in which `n` rows are taken."""
        edges = [*range(0, n, self._block_rows), n]
        return itertools.pairwise(edges)

    def _pass(self, X, codes, scores):
        return self._learn_blocks(self._walk, X, codes, scores)

    def _learn_blocks(self, walk_block, X, codes, scores):
        """Run a loop over block after block; return mistakes and updates."""
        support = self._support_for(X)
        mistakes = updates = 0
        for start, stop in self._blocks(count_rows(X)):
            rows = row_range(X, start, stop)
            packed, walk = support.meet(rows, stop - start, self.n_examples_ - self._pass_start + start)
            size, wrong, changed, evaluations = walk_block(
                walk, support.size, codes[start:stop], scores[start:stop]
            )
            support.settle(packed, walk, size)
            mistakes += wrong
            updates += changed
            self.n_kernel_evaluations_ += evaluations
        self.n_support_ = support.size
        return mistakes, updates

    def _score(self, X, scores):
        self._score_blocks(scores_of_block, X, scores)

    def _score_blocks(self, score_block, X, scores):
        """Write the scores of block after block."""
        support = self._support_to_score()
        if support is None:
            scores[:] = 0.0
            return
        for start, stop in self._blocks(len(scores)):
            values = support.values(row_range(X, start, stop), stop - start)
            score_block(values, stop - start, support.coefficients, support.size, scores[start:stop])

    def _support_to_score(self):
        """Return the support set that scores are taken from, None while there is none."""
        return self._support

    def _order(self):
        """Return the slots of the support vectors by their age, oldest first."""
        return np.argsort(self._support.born) if self._support else np.zeros(0, np.intp)

    @property
    def support_(self):
        order = self._order()
        return self._support.born[order] if self._support else order

    @property
    def support_vectors_(self):
        if self._support is None:
            return np.zeros((0, self.n_features_in_))
        return self._support.matrix(self._order())

    @property
    def dual_coef_(self):
        rows = 1 if len(self.classes_) == 2 else len(self.classes_)
        if self._support is None:
            return np.zeros((rows, 0))
        return self._support.alpha[..., self._order()].reshape(rows, -1)

    @property
    def model_bytes_(self):
        return self._support.n_bytes() if self._support else 0

    def counters(self) -> dict[str, int]:
        kernels = {"support_vectors": self.n_support_, "kernel_evaluations": self.n_kernel_evaluations_}
        return super().counters() | kernels


class RowCachingClassifier(KernelClassifier):
    """Base of the kernel learners that need values between support vectors: rows of them, on demand.

    A subclass has one more parameter, ``cache_mb=200.0``, and its ``_walk`` gets a `Kept` (see
    `_kernel_rows`). Its `support_` counts the rows of each pass from 0, so that a row is known when it comes
    again; ``_is_again`` says whether it may. Rows after the last pass are counted on.
    """

    def _check_parameters(self):
        super()._check_parameters()
        check_nonnegative(self, "cache_mb")

    def _allocate(self, n_features):
        super()._allocate(n_features)
        self._pass_start = 0

    def _new_support(self, function, dtype, sparse):
        return KernelRows(
            function, self.n_features_in_, dtype, sparse, float(self.cache_mb), self._keeps_square
        )

    @property
    def _is_again(self):
        return self._pass_start > 0

    def end_of_pass(self, last):
        # What comes after the last pass is new.
        if not last:
            self._pass_start = self.n_examples_


class MulticlassKernelClassifier(KernelClassifier):
    """Base of the kernel learners of two classes or more: with two the binary loop, else α of each class.

    A subclass also defines ``_walk_classes(walk, n, codes, scores)``: as ``_walk``, with scores of shape
    (b, K), codes 0 … K - 1 and α, in the `Walk`, of shape (K, slots).
    """

    _takes_many_classes = True

    def _allocate_classes(self, n_features, n_classes):
        self._allocate(n_features)

    def _pass_classes(self, X, codes, scores):
        return self._learn_blocks(self._walk_classes, X, codes, scores)

    def _score_classes(self, X, scores):
        self._score_blocks(multiclass.scores_of_block, X, scores)
