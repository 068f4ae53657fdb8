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
from ..tables.stream import Codes, Matrix, Stream, arrays_of, int32_csr, is_sparse, picked_rows, row_slice
from .columns import Asked, lay_out
from .encoding import survey
from .files import file_options, open_columns, text_of_sparse_features
from .labelled_columns import column_blocks
from .sparse_text import sparse_blocks

# Default number of rows per block: about 1 MB if a row has a hundred dense features.
_ROWS = 1024


@dataclass(frozen=True, eq=False)
class Block:
    """Contain consecutive rows of a file: their features and labels."""

    #: From svmlight and Vowpal Wabbit text: CSR, float64, int32 indices; the largest index so far determines
    #: the number of columns, unless the options give it.
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
    return _cut(_pieces(path, resolve_options(str(path), given, file_options(path, given))), rows)


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


def _pieces(path: Path, options: Options) -> Iterator[Block]:
    file = open_columns(path, options)
    if file is None:
        scan, n_features = text_of_sparse_features(path, options)
        for X, labels in sparse_blocks(path, scan, n_features=n_features, limits=Limits.of(options)):
            yield Block(X, labels)
        return
    asked = Asked.of(options)
    layout = lay_out(file, asked)
    # `survey` decides how columns become features. It must read all rows before the first block only if a
    # column has categories or text, or if missing values get indicators.
    encoder = survey([(file, layout)], asked)
    for block in column_blocks(file, layout, encoder, asked):
        labels = block.labels.to_numpy(zero_copy_only=False)
        if labels.dtype == object and file.types[layout.label] == "number":
            # Numbers of ARFF are text here, but labels of this interface are numbers.
            labels = labels.astype(np.float64)
        yield Block(block.X, labels)


def _cut(pieces: Iterator[Block], rows: int) -> Iterator[Block]:
    """Regroup blocks into blocks of `rows` rows; the last one may be shorter."""
    held: list[Block] = []
    n_held = 0
    for piece in pieces:
        start = 0
        while n_held + len(piece.labels) - start >= rows:
            stop = start + rows - n_held
            yield _joined([*held, Block(piece.X[start:stop], piece.labels[start:stop])])
            held, n_held, start = [], 0, stop
        if start < len(piece.labels):
            held.append(Block(piece.X[start:], piece.labels[start:]))
            n_held += len(piece.labels) - start
    if held:
        yield _joined(held)


def _joined(blocks: list[Block]) -> Block:
    labels = np.concatenate([block.labels for block in blocks])
    parts: list[Any] = [block.X for block in blocks]
    if not is_sparse(parts[0]):
        return Block(np.concatenate(parts), labels)
    from scipy.sparse import vstack

    width = parts[-1].shape[1]
    for part in parts:
        # The last part is the widest, because the largest index so far determines the number of columns.
        part.resize((part.shape[0], width))
    return Block(int32_csr(vstack(parts, format="csr")), labels)
