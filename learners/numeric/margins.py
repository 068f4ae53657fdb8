"""Margins: the label of a row as a sign, of more classes the best wrong one; what is a mistake."""

from numba.extending import register_jitable

from .compiled import INLINE, compiled


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


@register_jitable(**INLINE)
def signed_margin(f, y):
    """Return how far the scores of a row are on the side of class `y`: a single one, or one a class."""
    return signed(y) * f[0] if f.shape[0] == 1 else f[y] - f[best_wrong(f, y)]


@register_jitable(**INLINE)
def predicted_code(f):
    """Return the class that scores predict: 1 for a single score > 0, of K the first largest or no number."""
    if f.shape[0] == 1:
        return 1 if f[0] > 0.0 else 0
    predicted = 0
    # Of scores that are no numbers the first, as NumPy's argmax has it.
    for z in range(1, f.shape[0]):
        if f[predicted] == f[predicted] and not f[z] <= f[predicted]:
            predicted = z
    return predicted


@compiled
def count_mistakes(scores, codes, stops, counts):
    """Count the rows whose signed margin is <= 0 or, a score having overflowed, not a number.

    Parameters
    ----------
    scores : ndarray of float64, shape (n, 1) or (n, K)
        Scores before the updates; a single one is positive for code 1.
    codes : ndarray of int32, shape (n,)
        The labels to judge by.
    stops : ndarray of int64, shape (m,)
        Numbers of rows, ascending, n at the most.
    counts : ndarray of int64, shape (m,)
        Mistakes up to each stop are written to it.

    Returns
    -------
    int
        Mistakes among all rows.
    """
    wrong = start = 0
    for i in range(stops.shape[0] + 1):
        stop = stops[i] if i < stops.shape[0] else scores.shape[0]
        for t in range(start, stop):
            wrong += not signed_margin(scores[t], codes[t]) > 0.0
        if i < stops.shape[0]:
            counts[i] = wrong
        start = stop
    return wrong


@compiled
def count_ties(scores, codes, stops, counts):
    """Count the rows whose signed margin is exactly 0: mistakes, whatever class is predicted there.

    Parameters
    ----------
    scores, codes, stops, counts
        As for `count_mistakes`.

    Returns
    -------
    int
        Ties among all rows.
    """
    tied = start = 0
    for i in range(stops.shape[0] + 1):
        stop = stops[i] if i < stops.shape[0] else scores.shape[0]
        for t in range(start, stop):
            tied += signed_margin(scores[t], codes[t]) == 0.0
        if i < stops.shape[0]:
            counts[i] = tied
        start = stop
    return tied


@compiled
def count_wrong(scores, codes):
    """Count the rows predicted as another class: code 1 for a score > 0, of K scores the first largest.

    Parameters
    ----------
    scores : ndarray of float64, shape (n, 1) or (n, K)
    codes : ndarray of int32, shape (n,)

    Returns
    -------
    int
    """
    wrong = 0
    for t in range(scores.shape[0]):
        wrong += predicted_code(scores[t]) != codes[t]
    return wrong
