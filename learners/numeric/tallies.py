"""Counts along a stream: mistakes, ties, counts by class, sums of losses, correctly ordered pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .compiled import by_size, compiled, register_jitable
from .margins import count_wrong, predicted_code, signed_margin


@register_jitable
def _right_of_two(scores, noisy, clean):
    # The compiler vectorizes these sums of zeros and ones. A NaN score is neither above nor below 0, so it is
    # never counted as right.
    right = right_clean = tied = 0
    for t in range(scores.shape[0]):
        above, below = scores[t] > 0.0, scores[t] < 0.0
        y, z = noisy[t], clean[t]
        right += (above & y) | (below & (1 - y))
        right_clean += (above & z) | (below & (1 - z))
        tied += scores[t] == 0.0
    return right, right_clean, tied


def _of_both(scores, noisy, clean, stops, counts):
    # One column of scores means two classes. With more classes, the margin is computed a second time only if
    # the noisy and the clean label of a row differ.
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


def _ties(scores, codes):
    tied = 0
    for t in range(scores.shape[0]):
        tied += signed_margin(scores[t], codes[t]) == 0.0
    return tied


# With NUMBA_DISABLE_JIT functions are not compiled and have no `py_func`.
_wrong = getattr(count_wrong, "py_func", count_wrong)
_count_both, _count_wrong, _count_ties = map(by_size, (_of_both, _wrong, _ties))


def mistakes_of_both(
    scores: NDArray[np.float64],
    noisy: NDArray[np.int32],
    clean: NDArray[np.int32],
    stops: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> tuple[int, int, int]:
    """Count mistakes by noisy and by clean labels, and exact ties by the clean ones.

    `scores` have shape (n,) or (n, K). `counts`, int64 of shape (3, m), receives the three counts up to each
    of m stops; the result is the counts over all rows. A row is a mistake if its margin is <= 0 or NaN, and a
    tie if its margin is 0.
    """
    wrong: tuple[int, int, int] = _count_both(scores.reshape(len(scores), -1), noisy, clean, stops, counts)
    return wrong


def wrong_predictions(scores: NDArray[np.float64], codes: NDArray[np.int32]) -> int:
    """Count the rows whose predicted class is not their label; scores have shape (n,) or (n, K)."""
    wrong: int = _count_wrong(scores.reshape(len(scores), -1), codes)
    return wrong


def tied_predictions(scores: NDArray[np.float64], codes: NDArray[np.int32]) -> int:
    """Count the rows whose margin is exactly 0; scores have shape (n,) or (n, K)."""
    tied: int = _count_ties(scores.reshape(len(scores), -1), codes)
    return tied


#: Positions of the rows in a table of counts by class, see `tally_classes`.
PREDICTED, RIGHT_GIVEN, OCCURRED_GIVEN, RIGHT_CLEAN, OCCURRED_CLEAN = range(5)


@register_jitable
def _add_two(scores, given, clean, table):
    # For two classes, counts are sums of zeros and ones, which the compiler vectorizes. It cannot vectorize a
    # loop that adds to a table indexed by the label.
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


#: Number of sums of losses that `_lose` adds up.
N_SUMS = 4


@register_jitable
def _add_loss(sums, place, loss):
    sums[0, place] += loss
    sums[1, place] += loss


def _lose(scores, given, clean, log_odds, stops, sums, at):
    # Losses are added row by row, so that a sum does not depend on where the stream is cut. The sums since
    # the last stop are not differences of the others: after a huge loss rounding would hide small ones.
    start = 0
    for i in range(stops.shape[0] + 1):
        stop = stops[i] if i < stops.shape[0] else scores.shape[0]
        for t in range(start, stop):
            f, y, z = scores[t], given[t], clean[t]
            # A NaN margin makes the loss, and so the sum, NaN.
            m = 1.0 - signed_margin(f, y)
            _add_loss(sums, 0, 0.0 if m < 0.0 else m)
            m = 1.0 - signed_margin(f, z)
            _add_loss(sums, 1, 0.0 if m < 0.0 else m)
            if log_odds:
                _add_loss(sums, 2, _log_loss(f, y))
                _add_loss(sums, 3, _log_loss(f, z))
        if i < stops.shape[0]:
            at[i] = sums
            sums[1] = 0.0
        start = stop


@register_jitable
def _up_to(tree, place):
    """Return the number of rows at ranks below `place`, from a Fenwick tree of counts."""
    total = 0
    while place > 0:
        total += tree[place]
        place -= place & -place
    return total


def _pairs(places, codes, n_places, stops, won):
    # For each class, `trees` (Fenwick trees) and `equal` count the rows so far by the rank of their score.
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


_count_classes, _add_losses, _count_pairs = by_size(_tally), by_size(_lose), compiled(_pairs)


def _by_row(scores: NDArray[np.float64]) -> NDArray[np.float64]:
    return scores[:, None] if scores.ndim == 1 else scores


def tally_classes(
    scores: NDArray[np.float64],
    given: NDArray[np.int32],
    clean: NDArray[np.int32],
    stops: NDArray[np.int64],
    table: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Count predictions and labels by class; return the table after each of m stops, shape (m, 5, K).

    `scores`, of shape (n,) or (n, K), were computed before each row was learned; `stops` are ascending row
    counts, at most n. `table`, of shape (5, K), has the counts so far and is updated in place. Its rows are,
    for each class: how often it was predicted; how often correctly, and how often it occurred, both by given
    labels; the same two counts by clean labels.
    """
    tables = np.empty((len(stops), *table.shape), np.int64)
    _count_classes(_by_row(scores), given, clean, stops, table, tables)
    return tables


def sum_losses(
    scores: NDArray[np.float64],
    given: NDArray[np.int32],
    clean: NDArray[np.int32],
    log_odds: bool,
    stops: NDArray[np.int64],
    sums: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Add up hinge loss ``max(0, 1 - margin)`` and log loss; return the sums at m stops, shape (m, 2, 4).

    The first three arguments and `stops` are those of `tally_classes`. Log loss is added only if `log_odds`:
    a single score is then the log odds of class 1, and K scores are log probabilities up to a constant.
    `sums`, of shape (2, 4), has the sums so far and those since the last stop, and is updated in place. Each
    row has hinge loss by given and by clean labels, then log loss by given and by clean labels.
    """
    assert sums.shape[1] == N_SUMS, "add each further loss up in `_lose`, and raise N_SUMS"
    at = np.empty((len(stops), *sums.shape))
    _add_losses(_by_row(scores), given, clean, log_odds, stops, sums, at)
    return at


def pairs_in_order(
    ranks: NDArray[np.int64], codes: NDArray[np.int32], stops: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Count the pairs of a row of class 1 and a row of class 0 in which the first has the larger score.

    `ranks`, of shape (n,), are 0 for the lowest score, 1 for the next larger one, and so on. The result has,
    for each of m stops (ascending row counts), twice the number of such pairs among the rows before it; a tie
    counts as half a pair.
    """
    won = np.empty(len(stops), np.int64)
    _count_pairs(ranks, codes, ranks.max(initial=-1) + 1, stops, won)
    return won
