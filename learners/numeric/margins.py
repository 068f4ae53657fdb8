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
            f, y = scores[t], codes[t]
            m = signed(y) * f[0] if f.shape[0] == 1 else f[y] - f[best_wrong(f, y)]
            wrong += not m > 0.0
        if i < stops.shape[0]:
            counts[i] = wrong
        start = stop
    return wrong


@compiled
def count_wrong(scores, codes):
    """Count the rows predicted as another class: code 1 for a score >= 0, of K scores the first largest.

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
        f = scores[t]
        if f.shape[0] == 1:
            predicted = 1 if f[0] >= 0.0 else 0
        else:
            predicted = 0
            # Of scores that are no numbers the first, as NumPy's argmax has it.
            for z in range(1, f.shape[0]):
                if f[predicted] == f[predicted] and not f[z] <= f[predicted]:
                    predicted = z
        wrong += predicted != codes[t]
    return wrong
