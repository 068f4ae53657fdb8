"""Test Parquet and Arrow files: rows, and errors that name the place."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from singlepass.pipeline.data.formats.arrow_files import ArrowFile
from singlepass.pipeline.data.formats.columns import Asked
from singlepass.pipeline.data.formats.labelled_columns import LabelledColumns, combine, read_columns
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


@pytest.mark.parametrize("suffix", [".parquet", ".arrow"])
def test_decimals_are_the_nearest_float64(tmp_path: Path, suffix: str) -> None:
    # Arrow's own conversion is one unit off in the last place of the first one.
    numbers = [Decimal("59.6853"), Decimal("-9007199254740993"), None]
    decimals = pa.array(numbers, pa.decimal128(20, 4))
    path = save(pa.table({"label": list("xyx"), "a": decimals}), tmp_path / f"f{suffix}")
    found = read_columns([ArrowFile(path, kind(path))], Asked(missing="mean")).X
    assert found[:2].tolist() == [[59.6853], [-9007199254740992.0]]
    assert np.isnan(found[2, 0])
    with pytest.raises(InputError, match="row 3, column 'a': no value"):
        read_arrow(path, kind(path))


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


def test_dictionaries_of_string_views_are_read(tmp_path: Path) -> None:
    """Polars writes its categorical columns so."""
    words = pa.DictionaryArray.from_arrays([1, 0, 1], pa.array(["p", "q"], pa.string_view()))
    path = save(pa.table({"label": words, "a": words, "b": [1, 2, 3]}), tmp_path / "f.arrow")
    columns = read_arrow(path, "arrow")
    assert columns.labels.values[columns.labels.codes].tolist() == ["q", "p", "q"]
    assert columns.X.tolist() == [[0, 1, 1], [1, 0, 2], [0, 1, 3]]


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
        (pa.table({"a": [1.0, 2.0], "label": [1.0, np.nan]}), ", row 2: the label is missing, nan (column"),
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


def test_numbers_of_several_files_are_the_same_categories(tmp_path: Path) -> None:
    whole = pa.table({"g": [10**10, 7], "label": ["x", "y"]})
    gaps = pa.table({"g": [1e10, 7.0, np.nan, 0.1, -0.0], "label": list("xyxyx")})
    files = [
        ArrowFile(save(each, tmp_path / f"{i}.parquet"), "parquet") for i, each in enumerate((whole, gaps))
    ]
    found = read_columns(files, Asked(categorical=("g",), missing="indicator"))
    # Columns: 0, 0.1, 10000000000 and 7, and whether g is missing.
    assert found.X.argmax(axis=1).tolist() == [2, 3, 2, 3, 4, 1, 0]
    assert found.X.sum() == 7
    with pytest.raises(InputError, match=r"1\.parquet, row 3, column 'g': no value; every"):
        read_columns(files, Asked(categorical=("g",)))


def test_a_column_without_values_in_one_file_has_numbers_in_another(tmp_path: Path) -> None:
    empty = pa.table({"a": [None, None], "label": ["x", "y"]})
    full = pa.table({"a": pa.array([1, 3], pa.float32()), "label": ["x", "y"]})
    files = [
        ArrowFile(save(each, tmp_path / f"{i}.parquet"), "parquet") for i, each in enumerate((empty, full))
    ]
    X = read_columns(files, Asked(missing="mean")).X
    assert X.dtype == np.float32
    assert np.nan_to_num(X, nan=-1).tolist() == [[-1], [-1], [1], [3]]
    with pytest.raises(InputError, match=r"0\.parquet, row 1, column 'a': no value; every feature"):
        read_columns(files, Asked())


def test_files_whose_columns_have_other_types(tmp_path: Path) -> None:
    numbers = pa.table({"a": [1, 2], "label": ["x", "y"]})
    words = pa.table({"a": pa.array(["u", "v"]).dictionary_encode(), "label": ["x", "y"]})
    files = [
        ArrowFile(save(each, tmp_path / f"{i}.parquet"), "parquet") for i, each in enumerate((numbers, words))
    ]
    line = (
        r"1\.parquet: 'a' is a column of type category, but of type number in .*0\.parquet; set categorical"
    )
    with pytest.raises(InputError, match=line):
        read_columns(files, Asked())
    with pytest.raises(InputError, match=line):
        read_columns(files[1:], Asked(), training=read_columns(files[:1], Asked()))
    assert read_columns(files, Asked(categorical=("a",))).X.shape == (4, 4)


@pytest.mark.parametrize(
    ("parts", "names"),
    [
        ([pa.array([2**63, 2**63 + 1, 1], pa.uint64())], ["1", "9223372036854775808", "9223372036854775809"]),
        ([[2**60, 2**60 + 1], [2.0, 0.5, 2.0]], ["0.5", "2", str(2**60), str(2**60 + 1)]),
        ([[True, False, True], [2, 0, 1]], ["0", "1", "2"]),
    ],
)
def test_large_labels_are_not_rounded(tmp_path: Path, parts: list[Any], names: list[str]) -> None:
    for i, labels in enumerate(parts):
        save(pa.table({"a": range(4 * len(labels)), "label": [*labels] * 4}), tmp_path / f"{i}.parquet")
    files = [ArrowFile(path, "parquet") for path in sorted(tmp_path.iterdir())]
    assert combine(read_columns(files, Asked()), None).classes == tuple(names)


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
