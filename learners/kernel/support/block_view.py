"""The arrays with which a kernel learner's loop learns a block of rows, and the functions that change them.

Support vectors are in slots 0 … n - 1 of the arrays; removals change their order. The loop keeps n in a
variable; all else is in a `BlockView`. The slot of a row depends on the earlier rows of the stream alone, not
on where blocks are cut, and so sums over the support vectors have the same order for all sizes of blocks.
"""

from typing import NamedTuple

import numpy as np

from ...numeric.compiled import INLINE, compiled, register_jitable
from ...numeric.margins import best_wrong
from ...numeric.rows import dot
from ..values.functions import apply_to_row
from ..values.products import products_of_row


class BlockView(NamedTuple):
    """The kernel values of a block of b rows, and the support set, which the loop over the rows changes."""

    #: (b or more, slots): kernel values of the block's rows with the support vectors. When a support vector
    #: is added or moved, the values of the rows that are still to be learned are updated.
    values: np.ndarray
    #: (b,): k(x, x) of each row of the block; a row for which it overflowed is not learned.
    own: np.ndarray
    #: (slots,), or (K, slots) for K > 2 classes: the coefficients, with their sign.
    alpha: np.ndarray
    #: (slots,): the row number of each support vector in the stream.
    born: np.ndarray
    #: (slots,): the slot that each support vector had before this block; -1 - t if it is row t of the block.
    origin: np.ndarray
    #: (slots, slots): a matrix with a row and a column for each support vector, empty if the learner needs
    #: none. A triangular matrix is stored in blocks, with another shape (see `inverse_factor`).
    square: np.ndarray
    #: The rows of the block (padded matrix or CSR tuple), and (b,): their squared norms.
    rows: object
    norms: np.ndarray
    #: The kernel: its position in `KERNELS`, gamma, coef0 and degree.
    function: tuple[int, float, float, int]
    #: (b or more, b or more): inner products of each row of the block with the rows after it, for the rows
    #: that are `known`; or (1, b or more): scratch for the products of one row.
    later: np.ndarray
    #: (b or more,): whether the inner products of each row with the rows after it are in `later`.
    known: np.ndarray
    #: (b or more,): scratch for the kernel values of one row with the rows after it.
    scratch: np.ndarray
    #: The number that the block's first row has in the stream.
    first: int


@register_jitable(**INLINE)
def score_of(view, n, t):
    """Return the score of row t of the block, f(x_t) = Σ α_i k(x_i, x_t) over the `n` support vectors."""
    return dot(view.alpha[:n], view.values[t][:n])


@register_jitable(**INLINE)
def score_classes(view, n, t, y, scores):
    """Write the score of row t for each class into `scores`; return the best-scored class other than y."""
    for z in range(scores.shape[0]):
        scores[z] = dot(view.alpha[z][:n], view.values[t][:n])
    return best_wrong(scores, y)


@compiled
def _values_with_later(rows, norms, function, t, later, known, values):
    """Write the kernel values of row t of a block with the rows after it into `values`."""
    first, stop = t + 1, norms.shape[0]
    if first >= stop:
        return
    place = min(t, later.shape[0] - 1)
    if not known[t]:
        products_of_row(rows, t, first, stop, later[place : place + 1])
        known[t] = later.shape[0] > 1
    for s in range(first, stop):
        values[s] = later[place, s]
    apply_to_row(function, values[first:stop], norms[t], norms[first:stop])


@register_jitable(**INLINE)
def replace_row(view, slot, t):
    """Make row t the support vector in `slot`, in place of any other; the caller writes its coefficients."""
    view.born[slot] = view.first + t
    view.origin[slot] = -1 - t
    values = view.scratch
    _values_with_later(view.rows, view.norms, view.function, t, view.later, view.known, values)
    for s in range(t + 1, view.own.shape[0]):
        view.values[s, slot] = values[s]


@register_jitable(**INLINE)
def replace(view, slot, t, a):
    """Make row t, with coefficient `a`, the support vector in `slot`."""
    replace_row(view, slot, t)
    view.alpha[slot] = a


@register_jitable(**INLINE)
def add(view, n, t, a):
    """Add row t, with coefficient `a`, to the `n` support vectors; return n + 1."""
    replace(view, n, t, a)
    return n + 1


@register_jitable(**INLINE)
def add_pair(view, n, t, a, y, z):
    """Add row t to the `n` support vectors, with `a` for class y and ``-a`` for class z; return n + 1."""
    replace_row(view, n, t)
    view.alpha[:, n] = 0.0
    view.alpha[y, n] = a
    view.alpha[z, n] = -a
    return n + 1


@register_jitable(**INLINE)
def add_classes(view, n, t, a):
    """Add row t, with coefficient ``a[z]`` for class z, to the `n` support vectors; return n + 1."""
    replace_row(view, n, t)
    for z in range(a.shape[0]):
        view.alpha[z, n] = a[z]
    return n + 1


@register_jitable
def move_row(view, source, target, t):
    """Move a support vector, except for its coefficients, to another slot.

    Row t of the block is being learned: its kernel values and those of later rows move, too. Earlier rows
    have been learned and do not need their kernel values any more.
    """
    view.born[target] = view.born[source]
    view.origin[target] = view.origin[source]
    for s in range(t, view.own.shape[0]):
        view.values[s, target] = view.values[s, source]


@register_jitable
def move(view, source, target, t):
    """Move a support vector to another slot, with its coefficient, while row t of the block is learned."""
    view.alpha[target] = view.alpha[source]
    move_row(view, source, target, t)


@register_jitable
def replace_in_gram(view, n, slot, t):
    """Write the kernel values of row t into row and column `slot` of the Gram matrix ``view.square``."""
    for i in range(n):
        view.square[slot, i] = view.square[i, slot] = view.values[t, i]
    view.square[slot, slot] = view.own[t]


@register_jitable
def move_in_gram(view, n, source, target):
    """Move one of `n` support vectors to another slot of the Gram matrix ``view.square``."""
    own = view.square[source, source]
    for i in range(n):
        view.square[target, i] = view.square[i, target] = view.square[source, i]
    view.square[target, target] = own


@compiled
def scores_of_block(values, n_rows, alpha, n, scores):
    """Write f(x), or the scores of all classes, of `n_rows` rows into `scores`, given their kernel values."""
    for t in range(n_rows):
        if alpha.ndim == 1:
            scores[t] = dot(alpha[:n], values[t][:n])
        else:
            for z in range(alpha.shape[0]):
                scores[t, z] = dot(alpha[z][:n], values[t][:n])
