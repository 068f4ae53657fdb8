"""Which rows a cell learns from, in which order, which ones it is tested on, and when it is looked at."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..learners import take_rows
from . import data
from .cells import Cell
from .randomness import random_state

# Rows are gathered into blocks of about this many bytes, so that a block stays in the core's own cache
# between being gathered and being learnt from.
BLOCK_BYTES = 1 << 18


@dataclass(frozen=True)
class Part:
    """Rows of a matrix in the order they are read, with their clean codes."""

    X: Any
    rows: NDArray[np.int64]
    codes: NDArray[np.int32]

    def block_rows(self) -> int:
        """How many rows make a block of about `BLOCK_BYTES`."""
        if isinstance(self.X, np.ndarray):
            row_bytes: int = self.X.shape[1] * self.X.itemsize
        else:
            # A CSR row stores a value and a column index per non-zero.
            row_bytes = self.X.nnz // max(1, self.X.shape[0]) * (self.X.data.itemsize + 4)
        return max(16, min(BLOCK_BYTES // max(1, row_bytes), 1 << 16))

    def blocks(self) -> Iterator[tuple[int, int, Any]]:
        """Yield the part block by block: start, stop and the rows between them, gathered."""
        size = self.block_rows()
        for start in range(0, len(self.rows), size):
            stop = min(start + size, len(self.rows))
            yield start, stop, take_rows(self.X, self.rows[start:stop])


@functools.lru_cache(maxsize=256)
def checkpoints(n: int, spec: str | int) -> NDArray[np.int64]:
    """Return the numbers of examples after which a learning curve is read.

    Parameters
    ----------
    n : int
        Length of the stream.
    spec : "log" or int
        "log": about 12 points a factor of ten, from 10 on; a number: that many equal steps.

    Returns
    -------
    ndarray of int64
        Strictly increasing, the last one `n`; read-only, being shared by cells of one length.

    Examples
    --------
    >>> checkpoints(1000, 4).tolist()
    [250, 500, 750, 1000]
    """
    if spec == "log":
        first = min(10, n)
        steps = max(2, int(12 * np.log10(n / first)) + 1)
        points = np.round(np.geomspace(first, n, steps))
    else:
        points = np.round(np.linspace(0, n, int(spec) + 1)[1:])
    found = np.unique(np.clip(points, 1, n)).astype(np.int64)
    found.flags.writeable = False
    return found


def split(cell: Cell, stream: data.Stream) -> tuple[Part, Part | None]:
    """Return the training part in its seeded order and the clean test part, if the protocol has one.

    The part held out to judge a grid is cut from the end of the training part later: it carries noise.
    """
    n = len(stream.y)
    train = np.arange(n)
    test: Part | None = None
    if cell.protocol == "holdout":
        if stream.y_test is not None:
            held_out = np.arange(len(stream.y_test))
            if cell.max_test is not None:
                held_out = _split_order(cell, len(held_out))[: cell.max_test]
            rows = held_out if stream.rows_test is None else stream.rows_test[held_out]
            test = Part(stream.X_test, rows, stream.y_test[held_out])
        else:
            shuffled = _split_order(cell, n)
            n_test = max(1, round(n * cell.test_fraction))
            train, held_out = shuffled[n_test:], shuffled[:n_test][: cell.max_test]
            rows = held_out if stream.rows is None else stream.rows[held_out]
            test = Part(stream.X, rows, stream.y[held_out])
    order = random_state(
        cell.root_seed, cell.dataset.label, seed=cell.seed, purpose="order", noise=cell.noise
    )
    train = order.permutation(train)[: cell.max_train]
    rows = train if stream.rows is None else stream.rows[train]
    return Part(stream.X, rows, stream.y[train]), test


def _split_order(cell: Cell, n: int) -> NDArray[np.int64]:
    split = random_state(cell.root_seed, cell.dataset.label, seed=cell.seed, purpose="split")
    return split.permutation(n)
