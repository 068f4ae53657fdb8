"""Count mistakes and ties; for few rows without releasing the GIL."""

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from .compiled import compiled
from .margins import count_ties, count_wrong, signed_margin

# Below this number of scores, a count takes some tens of microseconds: releasing the GIL costs more than
# that.
FEW = 1 << 14


@register_jitable
def _right_of_two(scores, noisy, clean):
    # Sums of zeros and ones over contiguous rows vectorise. A NaN score is neither above nor below 0.
    right = right_clean = tied = 0
    for t in range(scores.shape[0]):
        above, below = scores[t] > 0.0, scores[t] < 0.0
        y, z = noisy[t], clean[t]
        right += (above & y) | (below & (1 - y))
        right_clean += (above & z) | (below & (1 - z))
        tied += scores[t] == 0.0
    return right, right_clean, tied


def _of_both(scores, noisy, clean, stops, counts):
    # Like `count_mistakes` with each kind of labels, and `count_ties`. With many classes the margin is
    # computed once if both labels are equal.
    one = scores.shape[1] == 1
    flat = scores.reshape(scores.size)
    wrong = wrong_clean = tied = start = 0
    for i in range(stops.shape[0] + 1):
        stop = stops[i] if i < stops.shape[0] else scores.shape[0]
        if one:
            part = slice(start, stop)
            right, right_clean, ties = _right_of_two(flat[part], noisy[part], clean[part])
            wrong += stop - start - right
            wrong_clean += stop - start - right_clean
            tied += ties
        else:
            for t in range(start, stop):
                m = signed_margin(scores[t], clean[t])
                wrong_clean += not m > 0.0
                tied += m == 0.0
                if noisy[t] != clean[t]:
                    m = signed_margin(scores[t], noisy[t])
                wrong += not m > 0.0
        if i < stops.shape[0]:
            counts[0, i], counts[1, i], counts[2, i] = wrong, wrong_clean, tied
        start = stop
    return wrong, wrong_clean, tied


def _wrong(scores, codes):
    return count_wrong(scores, codes)


def _ties(scores, codes):
    nowhere = np.empty(0, np.int64)
    return count_ties(scores, codes, nowhere, nowhere)


_of_both_holding_gil, _of_both_releasing_gil = compiled(_of_both, nogil=False), compiled(_of_both)
_wrong_holding_gil, _wrong_releasing_gil = compiled(_wrong, nogil=False), compiled(_wrong)
_ties_holding_gil, _ties_releasing_gil = compiled(_ties, nogil=False), compiled(_ties)


def mistakes_of_both(
    scores: NDArray[np.float64],
    noisy: NDArray[np.int32],
    clean: NDArray[np.int32],
    stops: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Count mistakes by noisy and by clean labels, and exact ties by the clean ones.

    See `count_mistakes` and `count_ties`.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,) or (n, K)
    noisy, clean : ndarray of int32, shape (n,)
    stops : ndarray of int64, shape (m,)
    counts : ndarray of int64, shape (3, m)
        Receives the mistakes of both kinds and the ties up to each stop.

    Returns
    -------
    tuple of int
        The same counts over all rows.
    """
    count = _of_both_holding_gil if scores.size <= FEW else _of_both_releasing_gil
    wrong: tuple[int, int, int] = count(scores.reshape(len(scores), -1), noisy, clean, stops, counts)
    return wrong


def wrong_predictions(scores: NDArray[np.float64], codes: NDArray[np.int32]) -> int:
    """Count the rows predicted as another class, see `count_wrong`; scores have shape (n,) or (n, K)."""
    count = _wrong_holding_gil if scores.size <= FEW else _wrong_releasing_gil
    wrong: int = count(scores.reshape(len(scores), -1), codes)
    return wrong


def tied_predictions(scores: NDArray[np.float64], codes: NDArray[np.int32]) -> int:
    """Count the rows whose margin is exactly 0, see `count_ties`; scores have shape (n,) or (n, K)."""
    count = _ties_holding_gil if scores.size <= FEW else _ties_releasing_gil
    tied: int = count(scores.reshape(len(scores), -1), codes)
    return tied
