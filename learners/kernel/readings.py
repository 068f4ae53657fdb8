"""Train several kernel learners together: rows are read once, and kernel values are shared.

The union of the learners' support sets is stored as one larger set. For each block of rows, their inner
products with the union, and with one another, are computed once, and so are kernel values if all learners
have the same kernel. Each learner's loop then gets the values of this learner's support vectors, in the order
in which the learner stored them. So the scores are those of a learner trained alone, to the last bit.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..estimator.pieces import Reading
from ..numeric.rows import Rows, as_rows, count_rows, row_range
from .kernel_classifier import KernelClassifier, block_ranges, kernel_function
from .support.support_set import Union

# Blocks of this many rows are fastest: a block costs each learner some tens of microseconds, and larger
# blocks need more products of their rows with one another. The learned models do not depend on the size.
_BLOCK_ROWS = 120


class KernelReading(Reading):
    """Kernel learners of one Python type that learn the same rows together and never remove support vectors.

    Before, `begin` must have been called on each learner, and no learner may have learned a row.
    """

    def __init__(self, learners: Sequence[Any]) -> None:
        super().__init__(learners)
        self._union: Any = None
        functions = [kernel_function(each) for each in learners]
        # If the learners' kernels differ, inner products are shared, which are the values of the linear
        # kernel. Each learner's kernel values are computed from these products.
        shared = all(function == functions[0] for function in functions)
        self._function = functions[0] if shared else ("linear", 1.0, 0.0, 1)
        self._many = len(learners[0].classes_) > 2

    def learn_rows(self, X: Rows, codes: NDArray[np.int32]) -> list[NDArray[np.float64]]:
        codes = np.ascontiguousarray(codes, dtype=np.int32)
        made = [each._new_scores(len(codes)) for each in self.learners]
        for rows, labels, *scores in self.learners[0]._readable(as_rows(X), codes, *made):
            stores = [each._store_for(rows) for each in self.learners]
            if self._union is None:
                self._union = Union(self._function, stores)
            try:
                for start, stop in block_ranges(len(labels), _BLOCK_ROWS):
                    part = [each[start:stop] for each in scores]
                    self._learn_block(row_range(rows, start, stop), labels[start:stop], part)
            finally:
                self._union.write_rows()
        return made

    def _learn_block(self, rows: Rows, codes: NDArray[np.int32], scores: list[NDArray[np.float64]]) -> None:
        n = len(codes)
        self._union.open_block(rows, n)
        for g, each in enumerate(self.learners):
            learn = each._learn_block_of_classes if self._many else each._learn_block
            view = self._union.view_of(g, each.n_examples_)
            size, mistakes, updates, evaluations = learn(view, each._store.size, codes, scores[g])
            self._union.commit_of(g, size)
            each.n_examples_ += n
            each.n_mistakes_ += mistakes
            each.n_updates_ += updates
            each.n_kernel_evaluations_ += evaluations
            each.n_support_ = size
        self._union.commit()

    def goes_on(self) -> bool:
        # If a learner has learned rows alone since, the union of the support sets lacks its new support
        # vectors, so the learners cannot go on together.
        return self._union is not None and self._union.is_complete()

    def score_rows(self, X: Rows) -> list[NDArray[np.float64]]:
        if self._union is None:
            return super().score_rows(X)
        X = as_rows(X)
        made = [each._new_scores(count_rows(X)) for each in self.learners]
        for rows, *scores in self.learners[0]._readable(X, *made):
            for start, stop in block_ranges(count_rows(rows), _BLOCK_ROWS):
                self._union.scores(row_range(rows, start, stop), [each[start:stop] for each in scores])
        return made


def can_share(learners: Sequence[Any]) -> bool:
    """Return whether a `KernelReading` can train these learners, which have not learned any rows.

    A learner from outside this package is refused: even if it removes support vectors, it may have inherited
    ``only_adds = True``.
    """
    return (
        len(learners) > 1
        and isinstance(learners[0], KernelClassifier)
        and type(learners[0]).__module__.startswith(f"{__package__}.")
        and all(each.only_adds and not getattr(each, "n_examples_", 0) for each in learners)
        # A learner whose parameter U is set is refused, since it checks all rows before it learns any, and
        # may raise an error.
        and all(getattr(each, "U", None) is None for each in learners)
    )
