"""The columns of the store, and the version that a part says."""

from __future__ import annotations

import pyarrow as pa
import pytest

from singlepass.pipeline.store.schema import IDENTITY, PROVENANCE, SCHEMA_VERSION, SCHEMAS, version_of


@pytest.mark.parametrize("table", SCHEMAS)
def test_columns_are_named_once_and_rows_identified_by_what_is_never_null(table: str) -> None:
    schema = SCHEMAS[table]
    assert len(set(schema.names)) == len(schema.names)
    assert not any(schema.field(name).nullable for name in IDENTITY[table])


def test_what_says_when_and_where_may_be_null() -> None:
    cells = SCHEMAS["cells"]
    assert all(cells.field(name).nullable for name in PROVENANCE)
    assert set(IDENTITY["cells"]).isdisjoint(PROVENANCE)


@pytest.mark.parametrize("table", SCHEMAS)
def test_a_part_says_its_version(table: str) -> None:
    assert version_of(SCHEMAS[table]) == SCHEMA_VERSION


@pytest.mark.parametrize(
    ("metadata", "version"),
    [
        (None, None),
        ({"pandas": "{}"}, None),
        ({"singlepass_schema": ""}, None),
        ({"singlepass_schema": "two"}, None),
        ({"singlepass_schema": "-1"}, None),
        ({"singlepass_schema": "2"}, 2),
    ],
)
def test_a_version_is_a_whole_number_or_unknown(metadata: dict[str, str] | None, version: int | None) -> None:
    assert version_of(pa.schema([pa.field("key", pa.string())], metadata=metadata)) == version
