"""Test Parquet and Arrow files: rows, and errors that name the place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from singlepass.pipeline.data.formats.arrow_files import ArrowFile
from singlepass.pipeline.data.formats.columns import Asked
from singlepass.pipeline.data.formats.labelled_columns import LabelledColumns, read_columns
from singlepass.pipeline.errors import InputError

GOOD = pa.table({"a": [1, 2, 3], "label": ["x", "y", "x"], "b": [0.5, 1.0, 2.0]})


def save(table: pa.Table, path: Path) -> Path:
    if path.suffix == ".parquet":
        parquet.write_table(table, path)
    elif path.suffix == ".feather":
        feather.write_feather(table, path)
    else:
        with pa.OSFile(str(path), "wb") as sink, ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table)
    return path


def read_arrow(path: Path, kind: Any) -> LabelledColumns:
    return read_columns([ArrowFile(path, kind)], Asked())


def kind(path: Path) -> Any:
    return "parquet" if path.suffix == ".parquet" else "arrow"


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".arrow"])
def test_round_trip(tmp_path: Path, suffix: str) -> None:
    path = save(GOOD, tmp_path / f"f{suffix}")
    columns = read_arrow(path, kind(path))
    assert columns.features == ("a", "b")
    assert columns.X.tolist() == [[1.0, 0.5], [2.0, 1.0], [3.0, 2.0]]
    assert columns.X.flags.c_contiguous
    assert columns.labels.values[columns.labels.codes].tolist() == ["x", "y", "x"]


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ([pa.float32(), pa.float32()], np.float32),
        ([pa.float32(), pa.float64()], np.float64),
        ([pa.int8(), pa.bool_()], np.float64),
    ],
)
def test_dtype(tmp_path: Path, types: list[pa.DataType], expected: type) -> None:
    table = pa.table(
        {"y": [0, 1], "a": pa.array([1, 0]).cast(types[0]), "b": pa.array([0, 1]).cast(types[1])}
    )
    columns = read_arrow(save(table, tmp_path / "f.parquet"), "parquet")
    assert columns.X.dtype == expected
    assert columns.X.tolist() == [[1.0, 0.0], [0.0, 1.0]]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (pa.array([True, False]), [True, False]),
        (pa.array([1.0, -1.0]), [1.0, -1.0]),
        (pa.array(["p", "q"]).dictionary_encode(), ["p", "q"]),
        (pa.DictionaryArray.from_arrays([2, 0], ["q", "unused", "p"]), ["p", "q"]),
        (pa.array([b"p", b"q"]), ["p", "q"]),
    ],
)
def test_kinds_of_labels(tmp_path: Path, labels: pa.Array, expected: list[Any]) -> None:
    path = save(pa.table({"a": [1, 2], "target": labels}), tmp_path / "f.parquet")
    labelled = read_arrow(path, "parquet").labels
    assert labelled.values[labelled.codes].tolist() == expected
    assert len(labelled.values) == 2


@pytest.mark.parametrize("suffix", [".parquet", ".feather"])
@pytest.mark.parametrize(
    ("table", "line"),
    [
        (
            pa.table({"a": [1.0, np.nan], "label": [0, 1]}),
            ", row 2, column 'a': no value; every feature must",
        ),
        (
            pa.table({"a": [-np.inf, 1.0], "label": [0, 1]}),
            ", row 1, column 'a': -inf; every feature must be",
        ),
        (pa.table({"a": [1, None], "label": [0, 1]}), ", row 2, column 'a': no value"),
        (
            pa.table({"a": ["u", "v"], "label": [0, 1]}),
            ", column 'a': contains string; a feature must be a number",
        ),
        (pa.table({"a": [1.0, 2.0], "label": ["x", None]}), ", row 2: the label is missing"),
        (
            pa.table({"a": [1.0], "label": [{"k": 1}]}),
            ", column 'label': contains struct<k: int64>, which can neither be a label nor be sorted by",
        ),
        (pa.table({"a": [1.0], "label": [b"\xe9"]}), ", column 'label': contains bytes that are not UTF-8"),
        (
            pa.table({"a": [1.0], "b": [2.0]}),
            ": which column is the label? set target = 'b' or another; columns: a, b",
        ),
        (GOOD.slice(0, 0), ": the file has no rows"),
    ],
)
def test_error_lines(tmp_path: Path, suffix: str, table: pa.Table, line: str) -> None:
    path = save(table, tmp_path / f"f{suffix}")
    with pytest.raises(InputError) as error:
        read_arrow(path, kind(path))
    assert str(error.value).startswith(f"{path}{line}")


@pytest.mark.parametrize("stored", [pa.binary(), pa.large_binary(), pa.binary(3), pa.binary_view()])
def test_labels_of_bytes_are_text(tmp_path: Path, stored: pa.DataType) -> None:
    table = pa.table({"a": [1.0, 2.0], "label": pa.array([b"yes", b"not"], stored)})
    labels = read_arrow(save(table, tmp_path / "f.arrow"), "arrow").labels
    assert labels.values[labels.codes].tolist() == ["yes", "not"]


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_damaged_missing_and_empty(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"f{suffix}"
    with pytest.raises(InputError, match=r": no such file"):
        read_arrow(path, kind(path))
    path.write_bytes(b"")
    with pytest.raises(InputError, match=r": the file is empty"):
        read_arrow(path, kind(path))
    path.write_bytes(b"hello, world")
    with pytest.raises(InputError, match=r"damaged or not an? (Parquet|Arrow) file"):
        read_arrow(path, kind(path))
    save(GOOD, path)
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(InputError, match=r"damaged or not an? (Parquet|Arrow) file"):
        read_arrow(path, kind(path))
