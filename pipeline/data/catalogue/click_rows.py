"""Compiled code that makes rows of the generator `clicks` from uniform numbers."""

# mypy: disable-error-code="no-untyped-def"
import numpy as np

from ....learners.numeric.compiled import INLINE, compiled, register_jitable
from .clicks import N_CATEGORICAL, N_NUMERIC

# Numbers of categories of the columns, from 4 to 2^22: doubled from column to column, except every fifth.
_CATEGORIES = np.array([4 * 2**k // 2 ** (k // 5) for k in range(N_CATEGORICAL)], dtype=np.int64)
# In every second column with at least _REPLACED categories, other categories become frequent each day:
# category numbers shift by 1 / _REPLACED of the number of categories.
_REPLACED = 20
# A row is labeled a click if the sum of its effects and noise is above this number. The share of clicks
# depends on the seed: with 12 seeds it was 13% to 61%.
_THRESHOLD = 1.0
# Constants of the hash as uint64, since Numba computes in uint64 only if both operands have that type.
_8, _27, _30, _31, _32, _40 = (np.uint64(n) for n in (8, 27, 30, 31, 32, 40))
_GOLDEN, _FIRST, _SECOND = (
    np.uint64(n) for n in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)


@compiled
def fill(uniform, noise, first, rows_per_day, effects, n_places, data, indices, indptr, y):
    """Turn uniform random numbers into a block of generated rows (CSR: data, indices, indptr) and labels y.

    `first` is the position of the block's first row in the stream; it determines the day of each row. The
    function uses only arithmetic that every machine rounds alike: no logarithms, no exponentials.
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
            # The eighth power makes small numbers likely, so the first categories are frequent.
            power = uniform[i, N_NUMERIC + j] * uniform[i, N_NUMERIC + j]
            power *= power
            power *= power
            n = _CATEGORIES[j]
            chosen = np.int64(n * power)
            if j % 2:
                chosen = (chosen + day * (n // _REPLACED)) % n
            name = _mixed(np.uint64(chosen) + (np.uint64(j) << _32))
            today = _mixed(name + (np.uint64(day) << _8) + effects)
            # All effects are multiples of 2^-24, so their sum has no rounding error.
            margin += 2.0 * _centred(_mixed(name + effects)) + _centred(today)
            place = np.int32(N_NUMERIC + np.int64(name % n_places))
            k = j
            while k > 0 and places[k - 1] > place:
                places[k] = places[k - 1]
                k -= 1
            places[k] = place
        margin /= 3.0
        for j in range(N_NUMERIC):
            # A Pareto variable of index 4, minus 1: it is at least 0 and heavy-tailed.
            value = np.float32(1.0 / np.sqrt(np.sqrt(1.0 - uniform[i, j])) - 1.0)
            margin += slopes[j] * min(np.float64(value), 2.0)
            indices[end], data[end] = j, value
            end += 1
        for j in range(N_CATEGORICAL):
            # Categories of a row that are hashed to the same feature become one entry.
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
    """Return the hash of an integer: the finalizer of SplitMix64 (Steele, Lea, Flood 2014)."""
    word = word + _GOLDEN
    word = (word ^ (word >> _30)) * _FIRST
    word = (word ^ (word >> _27)) * _SECOND
    return word ^ (word >> _31)


@register_jitable(**INLINE)
def _centred(word):
    """Return a hash as a number in [-1/2, 1/2)."""
    return np.float64(word >> _40) / 2.0**24 - 0.5
