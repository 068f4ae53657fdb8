"""Two references that see labels only: the most frequent class so far, and the label before."""

from copy import copy
from typing import TypeAlias

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from .compiled import compiled
from .counting import FEW

#: What the most frequent class so far and the label before got right; then what these two say next.
MAJORITY_GIVEN, MAJORITY_CLEAN, BEFORE_GIVEN, BEFORE_CLEAN, MOST, LAST = range(6)
_BESIDE = LAST + 1


# A class that leads by n rows leads for n more, whatever they are: sums tell all of them. With a small lead
# it goes row by row, so many before the lead is looked at again.
_LEAD, _BLOCK = 32, 256


@register_jitable
def _sum(codes):
    total = 0
    for t in range(codes.shape[0]):
        total += codes[t]
    return total


@register_jitable
def _unlike(codes, others):
    total = 0
    for t in range(codes.shape[0]):
        total += codes[t] ^ others[t]
    return total


@register_jitable
def _any_missing(told):
    found = 0
    for t in range(told.shape[0]):
        found |= told[t]
    return found < 0


@register_jitable
def _of_two(given, clean, told, so_far, beside):
    """Count what they get right of rows of two classes; see `follow_references`."""
    if not _any_missing(told):
        _label_before(given, clean, told, beside)
        _most_frequent(given, clean, told, so_far, beside)
        return
    # The first labels of a stream, where labels come late.
    start, n = 0, told.shape[0]
    while start < n:
        untold = told[start] < 0
        end = start + 1
        while end < n and (told[end] < 0) == untold:
            end += 1
        ys, zs, us = given[start:end], clean[start:end], told[start:end]
        if untold:
            _while_untold(ys, zs, beside)
        else:
            _label_before(ys, zs, us, beside)
            _most_frequent(ys, zs, us, so_far, beside)
        start = end


@register_jitable
def _while_untold(given, clean, beside):
    n, y, z = given.shape[0], _sum(given), _sum(clean)
    beside[MAJORITY_GIVEN] += y if beside[MOST] else n - y
    beside[MAJORITY_CLEAN] += z if beside[MOST] else n - z
    beside[BEFORE_GIVEN] += y if beside[LAST] else n - y
    beside[BEFORE_CLEAN] += z if beside[LAST] else n - z


@register_jitable
def _label_before(given, clean, told, beside):
    # The compiler makes vectors of the sums: nothing is waited for from row to row.
    n, last = given.shape[0], beside[LAST]
    if n == 0:
        return
    before = told[: n - 1]
    beside[BEFORE_GIVEN] += n - (last ^ given[0]) - _unlike(given[1:], before)
    beside[BEFORE_CLEAN] += n - (last ^ clean[0]) - _unlike(clean[1:], before)
    beside[LAST] = told[n - 1]


@register_jitable
def _most_frequent(given, clean, told, so_far, beside):
    n, lead = given.shape[0], so_far[1] - so_far[0]
    before = lead
    wrong_given = wrong_clean = start = 0
    while start < n:
        length = abs(lead) if abs(lead) > _LEAD else _BLOCK
        end = min(start + length, n)
        ys, zs, us = given[start:end], clean[start:end], told[start:end]
        if abs(lead) > _LEAD:
            y, z = _sum(ys), _sum(zs)
            wrong_given += end - start - y if lead > 0 else y
            wrong_clean += end - start - z if lead > 0 else z
            lead += 2 * _sum(us) - (end - start)
        else:
            for t in range(us.shape[0]):
                most = 1 if lead > 0 else 0
                wrong_given += most ^ ys[t]
                wrong_clean += most ^ zs[t]
                lead += 2 * us[t] - 1
        start = end
    ones = (lead - before + n) // 2
    so_far[0] += n - ones
    so_far[1] += ones
    beside[MAJORITY_GIVEN] += n - wrong_given
    beside[MAJORITY_CLEAN] += n - wrong_clean
    beside[MOST] = 1 if lead > 0 else 0


@register_jitable
def _of_many(given, clean, told, start, stop, so_far, beside):
    """Count what they get right of rows of any number of classes; see `follow_references`."""
    most, last = beside[MOST], beside[LAST]
    for t in range(start, stop):
        y, z, u = given[t], clean[t], told[t]
        beside[MAJORITY_GIVEN] += most == y
        beside[MAJORITY_CLEAN] += most == z
        beside[BEFORE_GIVEN] += last == y
        beside[BEFORE_CLEAN] += last == z
        if u >= 0:
            so_far[u] += 1
            # Of equally frequent ones the lowest.
            if u != most and (so_far[u] > so_far[most] or (so_far[u] == so_far[most] and u < most)):
                most = u
            last = u
    beside[MOST], beside[LAST] = most, last


def _follow(given, clean, told, stops, so_far, beside, besides):
    start = 0
    for i in range(stops.shape[0] + 1):
        stop = stops[i] if i < stops.shape[0] else given.shape[0]
        if so_far.shape[0] == 2:
            _of_two(given[start:stop], clean[start:stop], told[start:stop], so_far, beside)
        else:
            _of_many(given, clean, told, start, stop, so_far, beside)
        if i < stops.shape[0]:
            besides[i] = beside
        start = stop


_follow_held, _follow_released = compiled(_follow, nogil=False), compiled(_follow)


def follow_references(
    given: NDArray[np.int32],
    clean: NDArray[np.int32],
    told: NDArray[np.int32],
    stops: NDArray[np.int64],
    so_far: NDArray[np.int64],
    beside: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Count what two references without features get right.

    They are told a label after each row: one says the most frequent class so far (of equally frequent ones
    the lowest), the other the latest label. Both begin with class 0.

    Parameters
    ----------
    given, clean : ndarray of int32, shape (n,)
    told : ndarray of int32, shape (n,)
        What the references are told, -1 for nothing: `given`, unless labels come late.
    stops : ndarray of int64, shape (m,)
        Numbers of rows, ascending, n at the most.
    so_far : ndarray of int64, shape (K,)
        How often they were told each class before; it is added to.
    beside : ndarray of int64, shape (6,)
        What was counted before; it is added to: rows that the most frequent class gets right, by labels given
        and by clean ones, the same of the label before; what the two say next.

    Returns
    -------
    ndarray of int64, shape (m, 6)
        `beside` after each stop.
    """
    besides = np.empty((len(stops), len(beside)), np.int64)
    follow = _follow_held if len(given) <= FEW else _follow_released
    follow(given, clean, told, stops, so_far, beside, besides)
    return besides


# What references get right up to some rows, and their state after the last: small, and alike in all cells of
# a study that share their labels, but not in those of another with points elsewhere.
Followed: TypeAlias = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]
_MOST_FOLLOWED = 16


class References:
    """Follows two references that see labels only: the most frequent class so far, and the label before.

    Parameters
    ----------
    given, clean : ndarray of int32, shape (n,)
        The labels that a learner is given, and those that they were made of.
    n_classes : int
    delay : int, default=0
        After so many further rows a label comes, to the references as to the learner.
    shared : dict, default=None
        What was found of the same labels before: a stream that comes at once is not followed again.
    """

    def __init__(
        self,
        given: NDArray[np.int32],
        clean: NDArray[np.int32],
        n_classes: int,
        delay: int = 0,
        shared: dict[tuple[int, bytes], Followed] | None = None,
    ) -> None:
        self._labels = given, clean
        self._delay, self._told = delay, given
        if delay:
            self._told = np.full_like(given, -1)
            self._told[delay:] = given[:-delay]
        self._state = np.zeros(n_classes, np.int64), np.zeros(_BESIDE, np.int64)
        self._shared = {} if shared is None else shared
        self._seen = 0

    @property
    def right(self) -> NDArray[np.int64]:
        """Rows that the most frequent class got right, by labels given and clean; then the label before.

        An int64 array of shape (4,), a view: what is written to it counts on.
        """
        return self._state[1][:MOST]

    def fork(self) -> "References":
        """Return one that goes on from here by itself."""
        other = copy(self)
        other._state = self._state[0].copy(), self._state[1].copy()
        return other

    def add(self, n: int, stops: NDArray[np.int64]) -> NDArray[np.int64]:
        """Go past the next rows.

        Parameters
        ----------
        n : int
            How many.
        stops : ndarray of int64, shape (m,)
            Numbers of these rows, ascending, n at the most.

        Returns
        -------
        ndarray of int64, shape (m, 6)
            What they get right up to each stop, and what they say next; see `follow_references`.
        """
        key = self._delay, stops.tobytes()
        whole = not self._seen and n == len(self._told)
        found = self._shared.get(key) if whole else None
        if found is None:
            part = slice(self._seen, self._seen + n)
            given, clean = (labels[part] for labels in self._labels)
            besides = follow_references(given, clean, self._told[part], stops, *self._state)
            if whole and len(self._shared) < _MOST_FOLLOWED:
                self._shared[key] = besides, self._state[0].copy(), self._state[1].copy()
        else:
            besides = found[0]
            self._state = found[1].copy(), found[2].copy()
        self._seen += n
        return besides
