"""More than two classes: a row of coefficients a class, the scores of all, and the best wrong class."""

from numba.extending import register_jitable

from ...numeric.compiled import INLINE, compiled
from ...numeric.margins import best_wrong
from ...numeric.rows import dot
from .block_view import replace_row


@register_jitable(**INLINE)
def score_classes(view, n, t, y, scores):
    """Write ``f_z(x_t)`` of every class z into `scores`; return the best wrong one of a row of class y."""
    for z in range(scores.shape[0]):
        scores[z] = dot(view.alpha[z][:n], view.values[t][:n])
    return best_wrong(scores, y)


@register_jitable(**INLINE)
def add_pair(view, n, t, a, y, z):
    """Add row t to the `n` support vectors, with `a` for class y and ``-a`` for z; return how many then."""
    replace_row(view, n, t)
    view.alpha[:, n] = 0.0
    view.alpha[y, n] = a
    view.alpha[z, n] = -a
    return n + 1


@compiled
def class_scores_of_block(values, n_rows, alpha, n, scores):
    """Write the scores of the first `n_rows` rows of kernel values into `scores`, of shape (rows, K)."""
    for t in range(n_rows):
        for z in range(scores.shape[1]):
            scores[t, z] = dot(alpha[z][:n], values[t][:n])
