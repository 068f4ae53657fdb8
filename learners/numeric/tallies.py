"""What metrics are made of along a stream: counts by class, sums of losses, pairs in the right order."""

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from .compiled import compiled
from .counting import FEW
from .margins import predicted_code, signed_margin

#: Rows of a table of counts by class.
PREDICTED, RIGHT_GIVEN, OCCURRED_GIVEN, RIGHT_CLEAN, OCCURRED_CLEAN = range(5)


@register_jitable
def _add_two(scores, given, clean, table):
    # Sums of zeros and ones vectorise, of rows that are known to lie next to each other; entries of a table
    # that a label names do not.
    p1 = y1 = z1 = py = pz = 0
    n = scores.shape[0]
    for t in range(n):
        p = scores[t] > 0.0
        y, z = given[t], clean[t]
        p1 += p
        y1 += y
        z1 += z
        py += p & y
        pz += p & z
    for row, ones in ((PREDICTED, p1), (OCCURRED_GIVEN, y1), (OCCURRED_CLEAN, z1)):
        table[row, 0] += n - ones
        table[row, 1] += ones
    table[RIGHT_GIVEN, 0] += n - p1 - y1 + py
    table[RIGHT_GIVEN, 1] += py
    table[RIGHT_CLEAN, 0] += n - p1 - z1 + pz
    table[RIGHT_CLEAN, 1] += pz


@register_jitable
def _add_many(scores, given, clean, start, stop, table):
    for t in range(start, stop):
        p, y, z = predicted_code(scores[t]), given[t], clean[t]
        table[PREDICTED, p] += 1
        table[OCCURRED_GIVEN, y] += 1
        table[OCCURRED_CLEAN, z] += 1
        table[RIGHT_GIVEN, y] += p == y
        table[RIGHT_CLEAN, z] += p == z


def _tally(scores, given, clean, stops, table, tables):
    start = 0
    flat = scores.reshape(scores.size)
    for i in range(stops.shape[0] + 1):
        stop = stops[i] if i < stops.shape[0] else scores.shape[0]
        if scores.shape[1] == 1:
            _add_two(flat[start:stop], given[start:stop], clean[start:stop], table)
        else:
            _add_many(scores, given, clean, start, stop, table)
        if i < stops.shape[0]:
            tables[i] = table
        start = stop


@register_jitable
def _log_loss(f, y):
    if f.shape[0] == 1:
        m = signed_margin(f, y)
        return max(-m, 0.0) + np.log1p(np.exp(-abs(m)))
    largest = f.max()
    total = 0.0
    for z in range(f.shape[0]):
        total += np.exp(f[z] - largest)
    return np.log(total) + largest - f[y]


def _lose(scores, given, clean, log_odds, stops, sums, at):
    # Row by row, one after the other: a sum does not depend on where the stream is cut.
    start = 0
    for i in range(stops.shape[0] + 1):
        stop = stops[i] if i < stops.shape[0] else scores.shape[0]
        for t in range(start, stop):
            f, y, z = scores[t], given[t], clean[t]
            # A margin that is no number makes its loss, and the sum, none.
            m = 1.0 - signed_margin(f, y)
            sums[0] += 0.0 if m < 0.0 else m
            m = 1.0 - signed_margin(f, z)
            sums[1] += 0.0 if m < 0.0 else m
            if log_odds:
                sums[2] += _log_loss(f, y)
                sums[3] += _log_loss(f, z)
        if i < stops.shape[0]:
            at[i] = sums
        start = stop


@register_jitable
def _up_to(tree, place):
    """Sum a Fenwick tree over places below `place`."""
    total = 0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


def _pairs(places, codes, n_places, stops, won):
    # Fenwick trees of the rows so far, by place of their score, for each class; and how many have each place.
    trees = np.zeros((2, n_places + 1), np.int64)
    equal = np.zeros((2, n_places), np.int64)
    seen = np.zeros(2, np.int64)
    total = start = 0
    for i in range(stops.shape[0]):
        for t in range(start, stops[i]):
            place, y = places[t], codes[t]
            other = 1 - y
            below = _up_to(trees[other], place)
            total += equal[other, place]
            total += 2 * (below if y == 1 else seen[other] - below - equal[other, place])
            seen[y] += 1
            equal[y, place] += 1
            node = place + 1
            while node <= n_places:
                trees[y, node] += 1
                node += node & -node
        won[i] = total
        start = stops[i]


def _predict(scores, codes):
    for t in range(scores.shape[0]):
        codes[t] = predicted_code(scores[t])


_tally_held, _tally_released = compiled(_tally, nogil=False), compiled(_tally)
_lose_held, _lose_released = compiled(_lose, nogil=False), compiled(_lose)
_pairs_kernel = compiled(_pairs)
_predict_kernel = compiled(_predict)


def _by_row(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return scores[:, None] if scores.ndim == 1 else scores


def tally_classes(
    scores: NDArray[np.float64],
    given: NDArray[np.int32],
    clean: NDArray[np.int32],
    stops: NDArray[np.int64],
    table: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Count predictions and labels by class.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,) or (n, K)
        Before the updates.
    given, clean : ndarray of int32, shape (n,)
    stops : ndarray of int64, shape (m,)
        Numbers of rows, ascending, n at the most.
    table : ndarray of int64, shape (5, K)
        What was counted before; it is added to. Rows by class: predicted, right and occurred by the labels
        given, right and occurred by the clean ones.

    Returns
    -------
    ndarray of int64, shape (m, 5, K)
        `table` after each stop.
    """
    tables = np.empty((len(stops), *table.shape), np.int64)
    tally = _tally_held if scores.size <= FEW else _tally_released
    tally(_by_row(scores), given, clean, stops, table, tables)
    return tables


def sum_losses(
    scores: NDArray[np.float64],
    given: NDArray[np.int32],
    clean: NDArray[np.int32],
    log_odds: bool,
    stops: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Add up hinge loss ``max(0, 1 - margin)`` and, where scores are log odds, log loss.

    Parameters
    ----------
    scores, given, clean, stops
        As for `tally_classes`.
    log_odds : bool
        Whether a single score is the logarithm of the odds of class 1, K scores those of probabilities up to
        a constant.
    sums : ndarray of float64, shape (4,)
        Sums before, which are added to: hinge loss by labels given and by clean ones, then log loss.

    Returns
    -------
    ndarray of float64, shape (m, 4)
        `sums` after each stop.
    """
    at = np.empty((len(stops), len(sums)))
    lose = _lose_held if scores.size <= FEW else _lose_released
    lose(_by_row(scores), given, clean, log_odds, stops, sums, at)
    return at


def pairs_in_order(
    scores: NDArray[np.float64], codes: NDArray[np.int32], stops: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count the pairs of a row of class 1 and one of class 0 of which the first has the larger score.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        Numbers or infinite.
    codes : ndarray of int32, shape (n,)
        0 or 1.
    stops : ndarray of int64, shape (m,)
        Numbers of rows, ascending, n at the most.

    Returns
    -------
    ndarray of int64, shape (m,)
        Twice their number among the rows up to each stop; a tie counts as half a pair.
    """
    values, places = np.unique(scores, return_inverse=True)
    won = np.empty(len(stops), np.int64)
    _pairs_kernel(places, codes, len(values), stops, won)
    return won


def predicted_codes(scores: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return the class that each row's scores predict, as `count_wrong` has it.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,) or (n, K)

    Returns
    -------
    ndarray of int32, shape (n,)
    """
    codes = np.empty(len(scores), np.int32)
    _predict_kernel(_by_row(scores), codes)
    return codes
