"""What a learner's loop over a block has at hand, and what it may do with it.

Support vectors are in slots 0 … n - 1, in the order in which removals left them. The loop keeps the number
n; everything else is in a `Walk`. Which slot a row gets depends on the rows before it alone, never on where
blocks are cut, and neither then does the order of any sum.
"""

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable

from ...numeric.compiled import INLINE, compiled
from ...numeric.rows import dot


class Walk(NamedTuple):
    """The kernel values of a block of b rows, and the support set that the loop changes."""

    #: (b or more, slots): values of the rows with the support vectors, kept up to date for rows yet to come.
    values: np.ndarray
    #: (b or more, b or more): values of each row with those before it.
    gram: np.ndarray
    #: (b,): k(x, x) of each row; not finite where it overflowed: such a row is not learnt.
    own: np.ndarray
    #: (slots,), or (K, slots) of K > 2 classes: the coefficients, with their sign.
    alpha: np.ndarray
    #: (slots,): number of each support vector in the stream.
    born: np.ndarray
    #: (slots,): where each support vector was when the block began; -1 - t: row t of the block.
    origin: np.ndarray
    #: As alpha: one more number for each coefficient, for learners that keep one.
    extra: np.ndarray
    #: (slots, slots), or empty: a matrix over the support set, for learners that keep one.
    square: np.ndarray
    #: Number in the stream of the block's first row.
    first: int


@register_jitable(**INLINE)
def score_of(S, n, t):
    """Return f(x_t) = Σ α_i k(x_i, x_t)."""
    return dot(S.alpha[:n], S.values[t][:n])


@register_jitable
def place(S, slot, t):
    """Make row t the support vector in `slot`; its coefficients are the caller's to write."""
    S.born[slot] = S.first + t
    S.origin[slot] = -1 - t
    for s in range(t + 1, S.own.shape[0]):
        S.values[s, slot] = S.gram[s, t]


@register_jitable
def put(S, slot, t, a):
    """Make row t the support vector in `slot`, with coefficient `a`."""
    place(S, slot, t)
    S.alpha[slot] = a


@register_jitable
def move(S, source, target, t):
    """Move a support vector to another slot while row t is learnt."""
    S.alpha[target] = S.alpha[source]
    S.extra[target] = S.extra[source]
    move_row(S, source, target, t)


@register_jitable
def move_row(S, source, target, t):
    """Move a support vector as `move` does, but for what is kept by class."""
    S.born[target] = S.born[source]
    S.origin[target] = S.origin[source]
    for s in range(t, S.own.shape[0]):
        S.values[s, target] = S.values[s, source]


@register_jitable
def put_in_gram(S, n, slot, t):
    """Write the kernel values of row t, which goes to `slot`, with all support vectors into `S.square`."""
    for i in range(n):
        S.square[slot, i] = S.square[i, slot] = S.values[t, i]
    S.square[slot, slot] = S.own[t]


@register_jitable
def move_in_gram(S, n, source, target):
    """Move a support vector's kernel values with all `n` to another slot of `S.square`."""
    own = S.square[source, source]
    for i in range(n):
        S.square[target, i] = S.square[i, target] = S.square[source, i]
    S.square[target, target] = own


@compiled
def scores_of_block(values, n_rows, alpha, n, scores):
    """Write f(x) of the first `n_rows` rows of kernel values into `scores`."""
    for t in range(n_rows):
        scores[t] = dot(alpha[:n], values[t][:n])
