"""Inputs of a cell whose rows a generator makes while the learner runs: long streams need no more memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...learners import ordered_rows, row_range
from .. import data
from ..study.cell import CellSpec
from .shared_inputs import SharedInputs
from .splits import BLOCK_ROWS, Codes, Fold

# A generated stream of at most this many rows is kept in memory, so that the cells of a repetition share it.
_SHARED_ROWS = 1 << 18


class _Chunks:
    """Generate n rows in chunks of `BLOCK_ROWS` rows; only the latest chunk is in memory."""

    def __init__(self, generator: Any, n: int) -> None:
        self._generator, self.n = generator, n
        self._number = -1
        self._latest: tuple[Any, Codes]
        # Number of rows of each class, by number of the chunk.
        self._counts: dict[int, NDArray[np.intp]] = {}

    def chunk(self, number: int) -> tuple[Any, Codes]:
        """Return the rows of a chunk and their labels."""
        if number != self._number:
            start = number * BLOCK_ROWS
            self._latest = self._generator.rows(start, min(start + BLOCK_ROWS, self.n))
            self._number = number
            self._counts[number] = np.bincount(self._latest[1], minlength=2)
        return self._latest

    def labels(self, start: int, stop: int) -> Codes:
        """Return the labels of rows start … stop - 1, which must be in one chunk."""
        number, start = divmod(start, BLOCK_ROWS)
        return self.chunk(number)[1][start : stop - number * BLOCK_ROWS]

    def class_counts(self, start: int, stop: int) -> NDArray[np.intp]:
        """Return the number of rows of each class among rows start … stop - 1."""
        counts = np.zeros(2, np.intp)
        while start < stop:
            number = start // BLOCK_ROWS
            chunk = range(number * BLOCK_ROWS, min((number + 1) * BLOCK_ROWS, self.n))
            end = min(chunk.stop, stop)
            if range(start, end) == chunk and number in self._counts:
                counts += self._counts[number]
            else:
                counts += np.bincount(self.labels(start, end), minlength=2)
            start = end
        return np.trim_zeros(counts, "b")


class _Labels:
    """Labels that are not stored: reading a slice generates its rows, which have these `numbers`."""

    def __init__(self, chunks: _Chunks, numbers: range) -> None:
        self.chunks, self.numbers = chunks, numbers

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, part: slice) -> Codes:
        numbers = self.numbers[part]
        return self.chunks.labels(numbers.start, numbers.stop)


@dataclass(frozen=True, eq=False)
class _DrawnFold(Fold):
    """Selected rows that are generated when they are read, in row order; `X` has the first chunk only."""

    # The labels, as `_Labels`: like the range `rows`, they take no memory per row.
    codes: Any

    @property
    def class_counts(self) -> NDArray[np.intp]:
        numbers = self.codes.numbers
        counts: NDArray[np.intp] = self.codes.chunks.class_counts(numbers.start, numbers.stop)
        return counts

    @property
    def in_order(self) -> Any:
        return ordered_rows(self.X, np.arange(self.X.shape[0]))

    def part(self, start: int, stop: int | None = None) -> Fold:
        numbers = self.codes.numbers[start:stop]
        return replace(self, rows=numbers, codes=_Labels(self.codes.chunks, numbers))

    def views(self, *, renumbered: bool) -> Iterator[tuple[int, int, Callable[[int, int], Any]]]:
        for start in range(0, len(self.rows), BLOCK_ROWS):
            X, codes = self.codes.chunks.chunk(start // BLOCK_ROWS)
            rows = ordered_rows(X, np.arange(len(codes)))
            yield start, start + len(codes), partial(_rows_of_chunk, rows, start)


def _rows_of_chunk(rows: Any, start: int, first: int, last: int) -> Any:
    return row_range(rows, first - start, last - start)


def drawn_inputs(spec: CellSpec) -> SharedInputs | None:
    """Return inputs whose rows are generated while the cell reads them, or None if rows must be stored.

    Call it only for learners of this package. Rows must be stored if they do not come from a generator, are
    shuffled or have noise, or if metrics, scaling or a test need all of them. It also returns None for short
    streams: their rows are stored, so that cells share them.
    """
    needed = spec.course.order != "given" or spec.noise.rate or spec.kept or spec.features
    needed = needed or spec.protocol != "prequential" or (spec.stage == "tune" and spec.judge == "validation")
    found = None if needed else data.rows_by_number(spec.dataset, spec.root_seed, spec.seed)
    if found is None:
        return None
    generator, n = found
    n = min(n, spec.max_examples or n, spec.max_train or n)
    if n <= _SHARED_ROWS or data.fingerprint(spec.dataset) != spec.fingerprint:
        return None
    counted_from = spec.course.prefix(n)
    if spec.stage == "tune" and counted_from:
        n, counted_from = counted_from, 0
    chunks = _Chunks(generator, n)
    labels: Any = _Labels(chunks, range(n))
    rows: Any = labels.numbers
    X, y = chunks.chunk(0)
    classes, _ = data.task_classes(spec.dataset)
    stream = data.Stream(spec.dataset.label, X, y, classes, None, None, spec.fingerprint)
    train = _DrawnFold(X, rows, labels)
    return SharedInputs(stream, train, labels, 0.0, None, None, None, counted_from=counted_from)
