"""Test the columns of the store, and the version that a part declares."""

from __future__ import annotations

import pyarrow as pa
import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.schema import (
    IDENTITY,
    METADATA,
    PROVENANCE,
    SCHEMA_VERSION,
    SCHEMAS,
    STATUSES,
    as_now,
    fits,
    refuse_other_versions,
    version_of,
)


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
        ({"singlepass_schema": "²"}, None),
        ({"singlepass_schema": "9" * 5000}, None),
        ({"singlepass_schema": "2"}, 2),
    ],
)
def test_a_version_is_a_whole_number_or_unknown(metadata: dict[str, str] | None, version: int | None) -> None:
    assert version_of(pa.schema([pa.field("key", pa.string())], metadata=metadata)) == version


def test_what_is_written_can_be_read() -> None:
    assert version_of(SCHEMAS["cells"]) == version_of(SCHEMAS["curves"]) == SCHEMA_VERSION
    assert set(STATUSES) == {"ok", "failed", "stopped", "crashed"}


@pytest.mark.parametrize("version", sorted({*range(1, SCHEMA_VERSION + 2)} - {SCHEMA_VERSION}))
def test_other_versions_are_refused_with_what_to_do(version: int) -> None:
    schema = pa.schema([], metadata={"singlepass_schema": str(version)})
    line = f"here: contains results of schema version {version}, this .* choose another --out"
    with pytest.raises(InputError, match=line):
        refuse_other_versions(schema, "here")
    with pytest.raises(InputError, match="schema version unknown"):
        refuse_other_versions(schema.remove_metadata(), "here")


@pytest.mark.parametrize("table", SCHEMAS)
def test_columns_that_may_be_null_may_be_missing_and_others_may_not(table: str) -> None:
    schema = SCHEMAS[table]
    refuse_other_versions(schema, "here")
    for field in schema:
        lacking = pa.schema([each for each in schema if each.name != field.name], metadata=METADATA)
        assert fits(lacking, table) == field.nullable
        other = pa.schema(
            [each if each.name != field.name else pa.field(each.name, pa.binary()) for each in schema]
        )
        assert not fits(other, table)
    assert fits(schema.append(pa.field("of_a_later_singlepass", pa.string())), table)


def test_what_a_part_lacks_is_null_and_what_is_not_known_is_left_out() -> None:
    read = pa.table({"later": ["x"], "key": ["a"]})
    wanted = pa.schema([SCHEMAS["cells"].field(name) for name in ("key", "attempts")])
    assert as_now(read, wanted).to_pydict() == {"key": ["a"], "attempts": [None]}
