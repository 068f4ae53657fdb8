"""Generate clicks on advertisements, in the form of Criteo's data: any number of rows, block by block."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..io.folders import cache_folder
from ..io.spill import SpillingArray
from ..tables.stream import Codes, Matrix, SpillingMatrix, csr_of

N_NUMERIC, N_CATEGORICAL = 13, 26
_WIDTH = N_NUMERIC + N_CATEGORICAL
# Rows per block. Each block has its own random generator, so changing this number changes the rows.
_BLOCK = 4096


class Clicks:
    """Draw rows with 13 numeric and 26 categorical columns, heavy-tailed, that drift daily.

    The numeric columns are features 0 to 12. Each category is hashed into one of the other 2^`hash_bits` - 13
    features; if categories of a row collide, their values are added. A categorical column has 4 to 4 million
    categories; the first ones are frequent. In 12 of these columns, other categories become frequent every
    day. Every category has an effect on the label, of which a third changes daily. Labels are 1 for a click.
    Rows can be drawn in any order.
    """

    def __init__(self, random_state: np.random.RandomState, *, hash_bits: int, rows_per_day: int) -> None:
        self._root = int(random_state.randint(2**31))
        self.n_features = 1 << hash_bits
        self._rows_per_day = rows_per_day
        # The block drawn last, as (block number, arrays), since the next range of rows often begins in it.
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
            # Imported here, because reading a study needs no compiled code, whose import takes half a second.
            from .click_rows import fill

            rng = np.random.RandomState([self._root, number])
            uniform = rng.random_sample((_BLOCK, _WIDTH))
            noise = rng.random_sample((_BLOCK, 4))
            data = np.empty(_BLOCK * _WIDTH, np.float32)
            indices = np.empty(_BLOCK * _WIDTH, np.int32)
            indptr, y = np.zeros(_BLOCK + 1, np.int32), np.empty(_BLOCK, np.int32)
            # Seed of the hashes that give the effects of columns and categories.
            effects = np.uint64(self._root)
            places = np.uint64(self.n_features - N_NUMERIC)
            first = number * _BLOCK
            fill(uniform, noise, first, self._rows_per_day, effects, places, data, indices, indptr, y)
            self._latest = number, (data, indices, indptr, y)
        return self._latest[1]


def draw_clicks(
    random_state: np.random.RandomState, n: int, *, n_test: int = 0, hash_bits: int, rows_per_day: int
) -> tuple[Matrix, Codes]:
    """Draw the first n + n_test rows of `Clicks`: X is CSR with 2^hash_bits columns, y is 1 for a click.

    Large arrays are kept in files of the cache folder.
    """
    folder = cache_folder() / "streams"
    rows, labels = SpillingMatrix(folder), SpillingArray(np.int32, folder)
    clicks = Clicks(random_state, hash_bits=hash_bits, rows_per_day=rows_per_day)
    n += n_test
    for start in range(0, n, _BLOCK):
        X, y = clicks.rows(start, min(start + _BLOCK, n))
        rows.append(X)
        labels.append(y)
    return rows.finish((n, clicks.n_features)), labels.finish()
