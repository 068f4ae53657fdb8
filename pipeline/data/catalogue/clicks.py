"""Generate clicks on advertisements: rows of Criteo's shape, drawn block by block, however many."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..io.folders import cache_folder
from ..io.spill import SpillingArray
from ..tables.stream import Codes, Matrix, SpillingMatrix

N_NUMERIC, N_CATEGORICAL = 13, 26
# Rows in a block, which has its own random generator. The rows depend on this number.
_BLOCK = 4096
# Numbers of categories of the columns, from 4 to 2^22: doubled from column to column, except every fifth.
_CATEGORIES = np.array([4 * 2**k // 2 ** (k // 5) for k in range(N_CATEGORICAL)], dtype=np.int64)
# Share of the categories of every other column that are replaced from one day to the next.
_REPLACED = 20
# A row is a click if the sum of its effects and noise is above this number: about a quarter of the rows.
_THRESHOLD = 1.0

Words = NDArray[np.uint64]


def draw_clicks(
    random_state: np.random.RandomState, n: int, *, hash_bits: int, rows_per_day: int
) -> tuple[Matrix, Codes]:
    """Draw rows with 13 numeric and 26 categorical columns, heavy-tailed, that drift daily.

    X is CSR, float32, of shape (n, 2^hash_bits): the numeric columns are features 0 to 12, each category
    is hashed into one of the others, and collisions add up. A column has 4 to 4 million categories, the first
    ones frequent. Half of the columns replace a part of their categories every day, and every category has an
    effect of which a third changes daily. y is 1 for a click. A longer stream begins with the shorter one.

    Blocks of rows are written to the cache folder, so that memory does not grow with n, except for y.
    """
    folder = cache_folder() / "streams"
    rows, labels = SpillingMatrix(folder), SpillingArray(np.int32, folder)
    root = int(random_state.randint(2**31))
    # What the effects of this stream depend on.
    effects = np.uint64(root)
    for block, start in enumerate(range(0, n, _BLOCK)):
        size = min(_BLOCK, n - start)
        rng = np.random.RandomState([root, block])
        day = (start + np.arange(size, dtype=np.int64)) // rows_per_day
        data, indices, ends, y = _block(rng, size, day, hash_bits, effects)
        rows.append_csr(data, indices, ends)
        labels.append(y)
    return rows.finish((n, 1 << hash_bits)), labels.finish()


def _block(
    rng: np.random.RandomState, n: int, day: NDArray[np.int64], hash_bits: int, effects: np.uint64
) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.int64], Codes]:
    # A block is drawn as a whole, so that its rows do not depend on where the stream ends.
    # Only arithmetic that every machine rounds alike: no logarithms, no exponentials.
    uniform = rng.random_sample((_BLOCK, N_NUMERIC + N_CATEGORICAL))[:n]
    noise = rng.random_sample((_BLOCK, 4))[:n].sum(axis=1) / 2.0 - 1.0
    # Pareto's distribution with index 4, less 1: heavy-tailed, from 0 on.
    numeric = (1.0 / np.sqrt(np.sqrt(1.0 - uniform[:, :N_NUMERIC])) - 1.0).astype(np.float32)
    # The eighth power of a uniform number makes the first categories frequent.
    power = uniform[:, N_NUMERIC:] * uniform[:, N_NUMERIC:]
    power *= power
    power *= power
    chosen = (_CATEGORIES * power).astype(np.int64)
    replaced = day[:, np.newaxis] * (_CATEGORIES // _REPLACED) * (np.arange(N_CATEGORICAL) % 2)
    column = np.arange(N_CATEGORICAL, dtype=np.uint64)
    names = _mixed(((chosen + replaced) % _CATEGORIES).astype(np.uint64) + (column << np.uint64(32)))
    today = _mixed(names + (day[:, np.newaxis].astype(np.uint64) << np.uint64(8)) + effects)
    margin = (2.0 * _centred(_mixed(names + effects)) + _centred(today)).sum(axis=1) / 3.0
    slopes = _centred(_mixed(np.arange(N_NUMERIC, dtype=np.uint64) + effects))
    # A loop instead of a product of matrices, whose rounding depends on the library.
    for j in range(N_NUMERIC):
        margin += slopes[j] * np.minimum(numeric[:, j], 2.0)
    y = (margin + noise > _THRESHOLD).astype(np.int32)
    places = N_NUMERIC + (names % np.uint64((1 << hash_bits) - N_NUMERIC)).astype(np.int64)
    places.sort(axis=1)
    # Categories of a row with the same feature become one entry.
    first = np.ones((n, N_NUMERIC + N_CATEGORICAL), dtype=bool)
    first[:, N_NUMERIC + 1 :] = places[:, 1:] != places[:, :-1]
    indices = np.hstack([np.broadcast_to(np.arange(N_NUMERIC), (n, N_NUMERIC)), places])
    values = np.hstack([numeric, np.ones((n, N_CATEGORICAL), np.float32)])
    data = np.add.reduceat(values.ravel(), np.flatnonzero(first.ravel()))
    return data, indices[first].astype(np.int32), np.cumsum(first.sum(axis=1)), y


def _mixed(words: Words) -> Words:
    """Return the finalizer of SplitMix64 (Steele, Lea, Flood 2014) of integers."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _centred(words: Words) -> NDArray[np.float64]:
    """Return hashes as numbers in [-1/2, 1/2)."""
    return (words >> np.uint64(40)).astype(np.float64) / 2.0**24 - 0.5
