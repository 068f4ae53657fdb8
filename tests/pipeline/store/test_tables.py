"""Test the tables of a part: columns without values take no memory but still exist."""

import io
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from singlepass.pipeline.store import tables
from singlepass.pipeline.store.schema import CELLS, CURVES, SCHEMAS, as_now
from singlepass.pipeline.store.tables import beaten_keys, joined, read_lean, to_frame

WANTED = pa.schema(
    [
        pa.field("key", pa.string()),
        pa.field("t", pa.int64()),
        pa.field("mistakes", pa.int64()),
        pa.field("error", pa.string()),
        pa.field("started", pa.timestamp("us", "UTC")),
        pa.field("predicted", pa.list_(pa.int64())),
        pa.field("auc", pa.float64()),
    ]
)


def read_back(table: pa.Table, columns: list[str] | None = None, **options: object) -> pa.Table:
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    with pq.ParquetFile(pa.py_buffer(sink.getvalue())) as file:
        return read_lean(file, WANTED.names if columns is None else columns)


def null_columns(table: pa.Table) -> set[str]:
    return {field.name for field in table.schema if pa.types.is_null(field.type)}


def part(**columns: list[object]) -> pa.Table:
    n = len(next(iter(columns.values())))
    return pa.table(
        [pa.array(columns.get(field.name, [None] * n), field.type) for field in WANTED], schema=WANTED
    )


@pytest.fixture(params=[tables.FEW_ROWS, 1], ids=["few rows", "many rows"], autouse=True)
def few_rows(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables, "FEW_ROWS", request.param)


@pytest.mark.parametrize("row_group_size", [1, 2, 100])
def test_columns_without_a_value_are_of_the_null_type(row_group_size: int) -> None:
    table = part(key=["a", "b", "c"], t=[1, 2, 3], mistakes=[None, None, 7], auc=[None, 0.5, None])
    read = read_back(table, row_group_size=row_group_size)
    assert null_columns(read) == {"error", "started", "predicted"}
    assert as_now(read, WANTED).equals(table)
    assert read.nbytes < table.nbytes


def test_no_number_is_a_value() -> None:
    assert "auc" not in null_columns(read_back(part(key=["a", "b"], auc=[np.nan, None])))


def test_a_list_without_an_element_is_a_value() -> None:
    table = part(key=["a", "b"], predicted=[[], None])
    read = read_back(table)
    assert "predicted" not in null_columns(read)
    assert as_now(read, WANTED).equals(table)


def test_what_a_part_does_not_have_and_what_is_not_asked_for() -> None:
    read = read_back(part(key=["a"], t=[1]).drop_columns(["auc"]), ["auc", "key"])
    assert read.column_names == ["auc", "key"]
    assert null_columns(read) == {"auc"}


def test_a_part_without_rows_keeps_its_types() -> None:
    assert read_back(WANTED.empty_table()).schema.types == WANTED.types


def test_parts_that_have_values_in_different_columns() -> None:
    first = read_back(part(key=["a"], t=[1], error=["broke"]))
    second = read_back(part(key=["b", "c"], t=[2, 3], predicted=[[1, 2], None]))
    both = joined([first, second], WANTED)
    assert null_columns(both) == {"mistakes", "started", "auc"}
    whole = part(
        key=["a", "b", "c"], t=[1, 2, 3], error=["broke", None, None], predicted=[None, [1, 2], None]
    )
    assert as_now(both, WANTED).equals(whole)
    assert joined([], WANTED).equals(WANTED.empty_table())


@pytest.mark.parametrize("within", SCHEMAS)
def test_frames_have_every_column_and_type_as_pandas_makes_them(within: str) -> None:
    schema = SCHEMAS[within]
    some = {"key": ["a", "b", "c"], "t": [1, 2, 3], "mistakes": [4, 5, 6], "status": ["ok"] * 3}
    lean = pa.table({name: values for name, values in some.items() if name in schema.names})
    expected = as_now(lean, schema).to_pandas()
    pd.testing.assert_frame_equal(to_frame(lean, schema), expected)


@pytest.mark.parametrize("within", SCHEMAS)
def test_frames_without_rows_have_the_types_of_their_columns(within: str) -> None:
    schema = SCHEMAS[within]
    some = as_now(pa.table({"key": ["a"], "t": [1]}), schema)
    for empty in (schema.empty_table(), some.slice(0, 0)):
        pd.testing.assert_frame_equal(to_frame(empty, schema), schema.empty_table().to_pandas())


def test_of_cells_that_never_began_another_part_may_have_better_ones() -> None:
    crashed = pa.table({"key": ["a", "b"], "status": ["crashed"] * 2, "started": pa.nulls(2)})
    began = pa.array([datetime(2026, 1, 1, tzinfo=UTC)] * 2, CELLS.field("started").type)
    ok = pa.table({"key": ["b", "c"], "status": ["ok"] * 2, "started": began})
    for parts in ([crashed, ok], [ok, crashed]):
        beaten = beaten_keys(parts)
        assert {at: keys.to_pylist() for at, keys in beaten.items()} == {parts.index(crashed): ["b"]}


def test_columns_of_a_frame_are_written_to_one_by_one() -> None:
    frame = to_frame(pa.table({"key": ["a", "b"], "t": [1, 2]}), CURVES)
    frame.loc[0, "auc_given"] = 0.5
    frame.loc[1, "hinge_loss_given"] = 2.0
    changed = frame.drop(columns=["key", "t"]).notna()
    assert changed.to_numpy().sum() == 2
    assert changed.loc[0, "auc_given"]
    assert changed.loc[1, "hinge_loss_given"]
