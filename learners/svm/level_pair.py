"""Two LASVM of neighbouring complexity that learn side by side, and the test that may end it."""

from typing import NamedTuple

import numpy as np

from ..kernel.support.block_view import score_of
from ..kernel.support.cached_support import CachedSupport, CachedView
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from ..numeric.rows import row_range
from .complexity_test import may_be_significant, note_losses
from .lasvm import INTERCEPT, learn, learn_row, new_solution


class LevelView(NamedTuple):
    """An LASVM of one level, as a loop takes it."""

    cached: CachedView
    #: Its state besides the rows.
    solution: np.ndarray


class Progress(NamedTuple):
    """What a loop over a block has done."""

    #: Rows learnt.
    learnt: int
    #: Whether a switch may be due before the next.
    may_switch: bool
    #: How many rows the simpler and the more complex model keep.
    sizes: tuple[int, int]
    mistakes: int
    updates: int
    evaluations: int


@compiled
def learn_two(simple, other, sizes, codes, scores, settings, again, test, judged):
    """Lines 7 to 19 of the algorithm of Levi and Ullman, up to the row that may be one for a switch.

    With `judged` that was the first row, which then is learnt without being scored again.
    """
    view1, view2, solution1, solution2 = simple.cached, other.cached, simple.solution, other.solution
    n1, n2 = sizes
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        f1, f2 = score_of(view1.block, n1, t), score_of(view2.block, n2, t)
        if not (judged and t == 0):
            scores[t] = f1 + solution1[INTERCEPT]
            evaluations += n1 + n2
            wrong1, wrong2 = not y * scores[t] > 0.0, not y * (f2 + solution2[INTERCEPT]) > 0.0
            mistakes += wrong1
            note_losses(test, 1.0 * wrong1, 1.0 * wrong2)
            if may_be_significant(test):
                return Progress(t, True, (n1, n2), mistakes, updates, evaluations)
        n1, joined1 = learn_row(view1, n1, t, codes[t], f1, settings, again, solution1)
        n2, joined2 = learn_row(view2, n2, t, codes[t], f2, settings, again, solution2)
        updates += joined1
        evaluations += joined1 + joined2
    return Progress(codes.shape[0], False, (n1, n2), mistakes, updates, evaluations)


class Level:
    """An LASVM of one level: its rows, and what it knows besides."""

    def __init__(self, function, n_features, dtype, sparse, cache_mb):
        self.store = CachedSupport(function, n_features, dtype, sparse, cache_mb)
        self.solution = new_solution()

    @property
    def size(self):
        """How many rows it keeps."""
        return self.store.support.size

    def open_block(self, rows, n, first):
        """Return the `LevelView` of a block."""
        return LevelView(self.store.open_block(rows, n, first), self.solution)

    def learn(self, X, codes, numbers, settings, blocks):
        """Learn rows of the given numbers, the first of all; return the kernel evaluations."""
        evaluations = 0
        for start, stop in blocks:
            model = self.open_block(row_range(X, start, stop), stop - start, start)
            scores = np.empty(stop - start)
            size, *_, taken = learn(
                model.cached, self.size, codes[start:stop], scores, settings, False, self.solution
            )
            self.store.commit(size)
            evaluations += taken
        born = self.store.support.born
        born[:] = numbers[born]
        return evaluations
