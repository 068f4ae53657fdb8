"""Valid files of many shapes, written by one library and read by another and by us: the same values."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv, ipc, parquet
from scipy.io import arff
from sklearn.datasets import load_svmlight_file

from singlepass.pipeline.data.formats.arrays import read_idx
from singlepass.pipeline.data.formats.files import file_options, read_files
from singlepass.pipeline.data.tables.options import resolve_options
from singlepass.pipeline.data.tables.stream import Table

from .trying import INPUTS, chunks

# Each file is written, and read twice, by libraries that take their time: 400 of a format.
FILES = INPUTS // 50
NAMES = ("no", "yes", "maybe")


class Rows(NamedTuple):
    """What a file says: values of doubles, and the class of each row."""

    X: NDArray[np.float64]
    y: NDArray[np.int64]

    @property
    def frame(self) -> pd.DataFrame:
        """They, with a column a feature and one of names."""
        columns = {f"f{i}": self.X[:, i] for i in range(self.X.shape[1])}
        return pd.DataFrame(columns | {"label": [NAMES[code] for code in self.y]})


def rows_of(rng: random.Random) -> Rows:
    """Return some rows of two or three classes: whole numbers, tiny ones, large ones, zeros."""
    n, d = rng.randrange(3, 9), rng.randrange(1, 6)
    kinds: list[Callable[[], float]] = [
        lambda: 0.0,
        lambda: float(rng.randrange(-9, 10)),
        lambda: rng.gauss(0, 1),
        lambda: rng.gauss(0, 1) * 10.0 ** rng.randrange(-300, 300),
        lambda: rng.choice((1e-308, 5e-324, 1.7976931348623157e308, 0.1 + 0.2, -0.0)),
    ]
    X = np.array([[rng.choice(kinds)() for _ in range(d)] for _ in range(n)])
    # The last feature has a value, because sparse files do not give the number of features.
    X[-1, -1] = 1.0
    return Rows(X, np.array([*range(3), *(rng.randrange(3) for _ in range(n - 3))]))


def ours(path: Path) -> Table:
    return read_files([path], [], resolve_options("fuzz", {}, file_options(path, {})))


def held(table: Table) -> NDArray[np.float64]:
    X: Any = table.X
    dense: NDArray[np.float64] = np.asarray(X if isinstance(X, np.ndarray) else X.toarray())
    return dense


def compare(table: Table, X: Any, labels: list[str]) -> None:
    np.testing.assert_array_equal(held(table), np.asarray(X, np.float64))
    assert [table.classes[code] for code in table.y] == labels


def tried(path: Path, chunk: int, write: Callable[[Path, Rows], None], read: Callable[[Path], Any]) -> None:
    """Compare what is read by us with what another reader has, and both with what was written."""
    for number in range(chunk * FILES, (chunk + 1) * FILES):
        rows = rows_of(random.Random(number))
        write(path, rows)
        X, labels = read(path)
        np.testing.assert_array_equal(np.asarray(X, np.float64), rows.X)
        compare(ours(path), X, labels)


def apart(frame: pd.DataFrame) -> tuple[Any, list[str]]:
    return frame.drop(columns="label").to_numpy(np.float64), frame["label"].tolist()


@chunks
def test_svmlight(folder: Path, chunk: int) -> None:
    def write(path: Path, rows: Rows) -> None:
        # scikit-learn's own writer has a digit too few for some doubles.
        lines = [
            " ".join([str(code), *(f"{i}:{value!r}" for i, value in enumerate(row, 1) if value)])
            for row, code in zip(rows.X.tolist(), rows.y, strict=True)
        ]
        path.write_text("\n".join(lines) + "\n")

    def read(path: Path) -> tuple[Any, list[str]]:
        X, y = load_svmlight_file(str(path), zero_based=False)
        return X.toarray(), [f"{label:g}" for label in y]

    tried(folder / "f.svm", chunk, write, read)


@chunks
def test_csv(folder: Path, chunk: int) -> None:
    tried(
        folder / "f.csv",
        chunk,
        lambda path, rows: rows.frame.to_csv(path, index=False),
        lambda path: apart(csv.read_csv(path).to_pandas()),
    )


@chunks
def test_arff(folder: Path, chunk: int) -> None:
    def write(path: Path, rows: Rows) -> None:
        head = [f"@attribute f{i} numeric" for i in range(rows.X.shape[1])]
        head += [f"@attribute label {{{','.join(NAMES)}}}", "@data"]
        path.write_text("\n".join(["@relation r", *head, rows.frame.to_csv(index=False, header=False)]))

    def read(path: Path) -> tuple[Any, list[str]]:
        data, _ = arff.loadarff(path)
        frame = pd.DataFrame(data)
        return apart(frame.assign(label=[name.decode() for name in frame["label"]]))

    tried(folder / "f.arff", chunk, write, read)


@chunks
def test_parquet(folder: Path, chunk: int) -> None:
    tried(
        folder / "f.parquet",
        chunk,
        lambda path, rows: rows.frame.to_parquet(path, index=False),
        lambda path: apart(parquet.read_table(path).to_pandas()),
    )


@chunks
def test_arrow(folder: Path, chunk: int) -> None:
    def write(path: Path, rows: Rows) -> None:
        table = pa.Table.from_pandas(rows.frame, preserve_index=False)
        with ipc.new_file(path, table.schema) as writer:
            writer.write_table(table, max_chunksize=2)

    tried(
        folder / "f.arrow",
        chunk,
        write,
        lambda path: apart(ipc.open_file(io.BytesIO(path.read_bytes())).read_pandas()),
    )


@chunks
def test_idx(folder: Path, chunk: int) -> None:
    path = folder / "f-idx3-ubyte"
    for number in range(chunk * FILES, (chunk + 1) * FILES):
        rng = random.Random(number)
        shape = tuple(rng.randrange(1, 6) for _ in range(rng.choice((1, 3))))
        values = np.frombuffer(rng.randbytes(int(np.prod(shape))), np.uint8).reshape(shape)
        sizes = b"".join(size.to_bytes(4, "big") for size in shape)
        path.write_bytes(bytes([0, 0, 8, len(shape)]) + sizes + values.tobytes())
        np.testing.assert_array_equal(read_idx(path), values)
