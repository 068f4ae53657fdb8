"""Generate clicks on advertisements: rows of Criteo's shape, drawn block by block, however many."""

# mypy: disable-error-code="no-untyped-def"
from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ....learners.numeric.compiled import INLINE, compiled, register_jitable
from ..io.folders import cache_folder
from ..io.spill import SpillingArray
from ..tables.stream import Codes, Matrix, SpillingMatrix, csr_of

N_NUMERIC, N_CATEGORICAL = 13, 26
_WIDTH = N_NUMERIC + N_CATEGORICAL
# Rows in a block, which has its own random generator. The rows depend on this number.
_BLOCK = 4096
# Numbers of categories of the columns, from 4 to 2^22: doubled from column to column, except every fifth.
_CATEGORIES = np.array([4 * 2**k // 2 ** (k // 5) for k in range(N_CATEGORICAL)], dtype=np.int64)
# Share of the categories of every other column that are replaced from one day to the next.
_REPLACED = 20
# A row is a click if the sum of its effects and noise is above this number: about a quarter of the rows.
_THRESHOLD = 1.0
# Numba computes in uint64 only if both operands have that type.
_8, _27, _30, _31, _32, _40 = (np.uint64(n) for n in (8, 27, 30, 31, 32, 40))
_GOLDEN, _FIRST, _SECOND = (
    np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


class Clicks:
    """Rows with 13 numeric and 26 categorical columns, heavy-tailed, that drift daily.

    The numeric columns are features 0 to 12, each category is hashed into one of the other
    2^`hash_bits` - 13, and collisions add up. A column has 4 to 4 million categories, the first ones
    frequent. Half of the columns replace a part of their categories every day, and every category has an
    effect of which a third changes daily. Labels are 1 for a click. Rows can be drawn in any order.
    """

    def __init__(self, random_state: np.random.RandomState, *, hash_bits: int, rows_per_day: int) -> None:
        self._root = int(random_state.randint(2**31))
        self.n_features = 1 << hash_bits
        self._rows_per_day = rows_per_day
        # The latest block and its number: the next rows often begin in it.
        self._latest: tuple[int, tuple[NDArray[Any], ...]] = (-1, ())

    def rows(self, start: int, stop: int) -> tuple[Matrix, Codes]:
        """Draw rows start … stop - 1, as CSR of float32, and their labels."""
        parts = []
        for number in range(start // _BLOCK, -(-stop // _BLOCK)):
            first, last = (min(max(each - number * _BLOCK, 0), _BLOCK) for each in (start, stop))
            data, indices, indptr, y = self._block(number)
            stored = slice(indptr[first], indptr[last])
            lengths = np.diff(indptr[first : last + 1])
            parts.append((data[stored], indices[stored], lengths, y[first:last]))
        data, indices, lengths, y = (np.concatenate(each) for each in zip(*parts, strict=True))
        indptr = np.zeros(len(y) + 1, np.int32)
        np.cumsum(lengths, out=indptr[1:])
        return csr_of(data, indices, indptr, (len(y), self.n_features)), y

    def _block(self, number: int) -> tuple[NDArray[Any], ...]:
        # A block is drawn as a whole, so that its rows do not depend on where the stream ends.
        if self._latest[0] != number:
            rng = np.random.RandomState([self._root, number])
            uniform = rng.random_sample((_BLOCK, _WIDTH))
            noise = rng.random_sample((_BLOCK, 4))
            data = np.empty(_BLOCK * _WIDTH, np.float32)
            indices = np.empty(_BLOCK * _WIDTH, np.int32)
            indptr, y = np.zeros(_BLOCK + 1, np.int32), np.empty(_BLOCK, np.int32)
            # What the effects of this stream depend on.
            effects = np.uint64(self._root)
            places = np.uint64(self.n_features - N_NUMERIC)
            first = number * _BLOCK
            _fill(uniform, noise, first, self._rows_per_day, effects, places, data, indices, indptr, y)
            self._latest = number, (data, indices, indptr, y)
        return self._latest[1]


def draw_clicks(
    random_state: np.random.RandomState, n: int, *, hash_bits: int, rows_per_day: int
) -> tuple[Matrix, Codes]:
    """Draw the first n rows of `Clicks`: X is CSR of shape (n, 2^hash_bits), y is 1 for a click.

    Large arrays are kept in files of the cache folder.
    """
    folder = cache_folder() / "streams"
    rows, labels = SpillingMatrix(folder), SpillingArray(np.int32, folder)
    clicks = Clicks(random_state, hash_bits=hash_bits, rows_per_day=rows_per_day)
    for start in range(0, n, _BLOCK):
        X, y = clicks.rows(start, min(start + _BLOCK, n))
        rows.append(X)
        labels.append(y)
    return rows.finish((n, clicks.n_features)), labels.finish()


@compiled
def _fill(uniform, noise, first, rows_per_day, effects, n_places, data, indices, indptr, y):
    """Write a block of rows and labels, of which the first has the number `first`, from uniform numbers.

    Only arithmetic that every machine rounds alike: no logarithms, no exponentials.
    """
    slopes = np.empty(N_NUMERIC)
    for j in range(N_NUMERIC):
        slopes[j] = _centred(_mixed(np.uint64(j) + effects))
    places = np.empty(N_CATEGORICAL, np.int32)
    end = 0
    for i in range(uniform.shape[0]):
        day = np.int64((first + i) // rows_per_day)
        margin = 0.0
        for j in range(N_CATEGORICAL):
            # The eighth power of a uniform number makes the first categories frequent.
            power = uniform[i, N_NUMERIC + j] * uniform[i, N_NUMERIC + j]
            power *= power
            power *= power
            n = _CATEGORIES[j]
            chosen = np.int64(n * power)
            if j % 2:
                chosen = (chosen + day * (n // _REPLACED)) % n
            name = _mixed(np.uint64(chosen) + (np.uint64(j) << _32))
            today = _mixed(name + (np.uint64(day) << _8) + effects)
            # These are multiples of 2^-24, so their sum is exact.
            margin += 2.0 * _centred(_mixed(name + effects)) + _centred(today)
            place = np.int32(N_NUMERIC + np.int64(name % n_places))
            k = j
            while k > 0 and places[k - 1] > place:
                places[k] = places[k - 1]
                k -= 1
            places[k] = place
        margin /= 3.0
        for j in range(N_NUMERIC):
            # Pareto's distribution with index 4, less 1: heavy-tailed, from 0 on.
            value = np.float32(1.0 / np.sqrt(np.sqrt(1.0 - uniform[i, j])) - 1.0)
            margin += slopes[j] * min(np.float64(value), 2.0)
            indices[end], data[end] = j, value
            end += 1
        for j in range(N_CATEGORICAL):
            # Categories of a row with the same feature become one entry.
            if j and places[j] == places[j - 1]:
                data[end - 1] += np.float32(1.0)
            else:
                indices[end], data[end] = places[j], np.float32(1.0)
                end += 1
        indptr[i + 1] = end
        drawn = (noise[i, 0] + noise[i, 1] + noise[i, 2] + noise[i, 3]) / 2.0 - 1.0
        y[i] = margin + drawn > _THRESHOLD


@register_jitable(**INLINE)
def _mixed(word):
    """Return the finalizer of SplitMix64 (Steele, Lea, Flood 2014) of an integer."""
    word = word + _GOLDEN
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return word ^ (word >> _31)


@register_jitable(**INLINE)
def _centred(word):
    """Return a hash as a number in [-1/2, 1/2)."""
    return np.float64(word >> _40) / 2.0**24 - 0.5
