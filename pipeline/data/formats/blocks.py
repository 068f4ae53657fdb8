"""Read rows in blocks: directly from a file, without storing it in the cache, or from an opened stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ..io.reading import Limits
from ..io.spill import release
from ..tables.options import Options, resolve_options
from ..tables.stream import (
    Codes,
    Matrix,
    Stream,
    arrays_of,
    csr_of,
    is_sparse,
    picked_rows,
    row_pointer_type,
    row_slice,
)
from .columns import Asked, ColumnFile, Layout, lay_out
from .encoding import Encoder, survey
from .files import file_options, open_columns, text_of_sparse_features
from .labelled_columns import column_blocks
from .sparse_text import Tokens, sparse_tokens

# Default number of rows per block: about 1 MB if a row has a hundred dense features.
_ROWS = 1024


@dataclass(frozen=True, eq=False)
class Block:
    """Contain consecutive rows of a file: their features and labels."""

    #: From svmlight and Vowpal Wabbit text: CSR, float64, int32 indices; the largest index in this
    #: and earlier blocks determines the number of columns, unless the options give it.
    #: From CSV, Parquet, Arrow and ARFF: dense, or CSR if categories or words are hashed.
    X: Matrix
    #: The rows' labels as in the file: numbers or text.
    labels: npt.NDArray[Any]


def stream_blocks(
    path: str | Path, *, rows: int = _ROWS, target: str | int | None = None, options: Options | None = None
) -> Iterator[Block]:
    """Yield the rows of a file in file order and in bounded memory, without parsing it into the cache first.

    The format follows from the suffix or the option ``format``; `target` and `options` are as in `expand`.
    Options that need the whole file (``standardize``, ``bias``, ``test``, ``dense``, ``dtype``, ``order_by``)
    are not applied. Every block except the last has `rows` rows, 1 or more; missing values are NaN. Raises
    InputError immediately on a wrong option, and with file and line when iteration reaches a wrong line.
    """
    if rows < 1:
        raise ValueError(f"rows must be 1 or more, not {rows!r}")
    path = Path(path)
    given = dict(options or {})
    if target is not None:
        given["target"] = target
    return _blocks(path, resolve_options(str(path), given, file_options(path, given)), rows)


def stream_rows(stream: Stream, *, rows: int = _ROWS) -> Iterator[tuple[Matrix, Codes]]:
    """Yield the training rows of a stream in order, as copies, `rows` (1 or more) at a time.

    The pages of a memory-mapped table are released after each block, so the table may be larger than memory.
    """
    if rows < 1:
        raise ValueError(f"rows must be 1 or more, not {rows!r}")
    X: Any = stream.X
    for start in range(0, len(stream.y), rows):
        y = stream.y[start : start + rows].copy()
        if stream.rows is None:
            yield row_slice(X, start, start + rows).copy(), y
        else:
            yield picked_rows(X, stream.rows[start : start + rows]), y
        for array in arrays_of(X).values():
            release(array)


def _blocks(path: Path, options: Options, rows: int) -> Iterator[Block]:
    pieces, n_features = _pieces(path, options)
    width = n_features
    for parts in _cut(pieces, rows):
        labels = np.concatenate([part.labels for part in parts])
        if isinstance(parts[0], Block):
            yield Block(np.concatenate([part.X for part in parts]), labels)
            continue
        indices = np.concatenate([part.indices for part in parts])
        values = np.concatenate([part.values for part in parts])
        lengths = np.concatenate([np.diff(part.ends, prepend=0) for part in parts])
        indptr = np.concatenate([[0], np.cumsum(lengths)]).astype(row_pointer_type(len(values)))
        width = n_features or max(width, int(indices.max(initial=-1)) + 1)
        yield Block(csr_of(values, indices, indptr, (len(labels), width)), labels)


def _pieces(path: Path, options: Options) -> tuple[Iterator[Any], int]:
    """Return a file's rows in pieces, dense as `Block` or sparse as `Tokens`; and the number of features.

    That number is 0 if only the largest index in the file tells it.
    """
    file = open_columns(path, options)
    if file is None:
        scan, n_features = text_of_sparse_features(path, options)
        return sparse_tokens(path, scan, Limits.of(options)), n_features
    asked = Asked.of(options)
    layout = lay_out(file, asked)
    # `survey` decides how columns become features. It must read all rows before the first block only if a
    # column has categories or text, or if missing values get indicators.
    encoder = survey([(file, layout)], asked)
    return _pieces_of_columns(file, layout, encoder, asked), encoder.width


def _pieces_of_columns(
    file: ColumnFile, layout: Layout, encoder: Encoder, asked: Asked
) -> Iterator[Block | Tokens]:
    for block in column_blocks(file, layout, encoder, asked):
        labels = block.labels.to_numpy(zero_copy_only=False)
        if labels.dtype == object and file.types[layout.label] == "number":
            # Numbers of ARFF are text here, but labels of this interface are numbers.
            labels = labels.astype(np.float64)
        X = block.X
        yield Tokens(labels, X.indptr[1:], X.indices, X.data) if is_sparse(X) else Block(X, labels)


def _cut(pieces: Iterator[Any], rows: int) -> Iterator[list[Any]]:
    """Regroup pieces into lists of pieces that have `rows` rows together; the last list may have fewer."""
    held: list[Any] = []
    n_held = 0
    for piece in pieces:
        start = 0
        while n_held + len(piece.labels) - start >= rows:
            stop = start + rows - n_held
            yield [*held, _part(piece, start, stop)]
            held, n_held, start = [], 0, stop
        if start < len(piece.labels):
            held.append(_part(piece, start, len(piece.labels)))
            n_held += len(piece.labels) - start
    if held:
        yield held


def _part(piece: Any, start: int, stop: int) -> Any:
    """Return rows start … stop - 1 of a piece, as views."""
    labels = piece.labels[start:stop]
    if isinstance(piece, Block):
        return Block(piece.X[start:stop], labels)
    first = piece.ends[start - 1] if start else 0
    stored = slice(first, piece.ends[stop - 1])
    return Tokens(labels, piece.ends[start:stop] - first, piece.indices[stored], piece.values[stored])
