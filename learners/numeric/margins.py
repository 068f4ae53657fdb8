"""Margins: the label of a row as a sign and, of more than two classes, the best wrong one."""

from numba.extending import register_jitable

from .compiled import INLINE


@register_jitable(**INLINE)
def signed(code):
    """Return the label of two classes as +1.0 (code 1) or -1.0 (code 0)."""
    return 1.0 if code == 1 else -1.0


@register_jitable(**INLINE)
def best_wrong(scores, y):
    """Return the class other than `y` with the largest score, of equal ones the lowest; a NaN is largest."""
    best = 1 if y == 0 else 0
    for z in range(best + 1, scores.shape[0]):
        if z != y and not scores[z] <= scores[best]:
            if scores[best] != scores[best]:
                break
            best = z
    return best
