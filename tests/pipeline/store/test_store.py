"""The store: what is written is read back, kills and damage lose nothing, repeats count once."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.cell_result import CellResult
from singlepass.pipeline.store.parts import LEFT_AFTER
from singlepass.pipeline.store.schema import CELLS, CURVES
from singlepass.pipeline.store.store import MAX_PARTS, Store, exclusive


def outcome(key: str, status: str = "ok", mistakes: int = 3) -> CellResult:
    row = {
        "key": key,
        "parent": "d",
        "dataset": "d",
        "source": "d",
        "task": "binary",
        "algorithm": "A",
        "learner": "AROW",
        "params": "{}",
        "noise": "0.1",
        "seed": 0,
        "stage": "run",
        "protocol": "prequential",
        "status": status,
        "mistakes": mistakes,
    }
    if status != "ok":
        return CellResult(row | {"error": "ValueError: no"})
    return CellResult(row, {"t": [5, 10], "mistakes": [1, mistakes], "mistakes_clean": [1, 2]})


def opened_again(store: Store) -> Store:
    """Open a store as the next run does."""
    again = Store(store.url)
    again.prepare()
    with exclusive(again):
        return again


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store(str(tmp_path / "study"))
    opened.prepare()
    return opened


def parts(store: Store, folder: str) -> list[Path]:
    return sorted(Path(store.root, folder).glob("*.parquet"))


def test_round_trip(store: Store) -> None:
    store.write([outcome("b"), outcome("a", "failed")])
    cells, curves = store.cells(), store.curves()
    assert cells["key"].tolist() == ["a", "b"]
    assert list(cells.columns) == CELLS.names
    assert list(curves.columns) == CURVES.names
    assert curves[["key", "t", "mistakes"]].to_numpy().tolist() == [["b", 5, 1], ["b", 10, 3]]
    assert store.done() == {"a": "failed", "b": "ok"}


def test_columns_that_an_older_version_did_not_have_are_null(store: Store) -> None:
    store.write([outcome("a")])
    for folder in ("cells", "curves"):
        (part,) = parts(store, folder)
        pq.write_table(pq.read_table(part).drop_columns(["model_bytes", "complexity"]), part)
    store.write([outcome("b")])
    again = opened_again(store)
    assert again.set_aside == []
    assert again.cells()["key"].tolist() == ["a", "b"]
    assert again.cells()["model_bytes"].isna().all()
    assert list(again.curves().columns) == CURVES.names


def test_an_empty_store_has_empty_tables(store: Store) -> None:
    assert len(store.cells()) == len(store.curves()) == 0
    assert store.done() == {}


def test_a_retry_replaces_the_failure(store: Store) -> None:
    store.write([outcome("a", "failed")])
    store.write([outcome("a")])
    store.write([outcome("b")])
    assert store.done() == {"a": "ok", "b": "ok"}


def test_compaction_keeps_every_row(store: Store) -> None:
    for index in range(MAX_PARTS + 1):
        store.write([outcome(f"key{index}", mistakes=index)])
    cells, curves = store.cells(), store.curves()
    store.compact()
    assert len(parts(store, "cells")) == len(parts(store, "curves")) == 1
    assert store.cells().equals(cells)
    assert store.curves().equals(curves)


def test_a_kill_during_compaction_counts_nothing_twice(store: Store) -> None:
    store.write([outcome("a")])
    cells, curves = store.cells(), store.curves()
    store.write([outcome("a")])
    assert store.cells().equals(cells)
    assert store.curves().equals(curves)


def test_what_a_kill_left_half_written_is_dropped(store: Store) -> None:
    store.write([outcome("a")])
    store.write([outcome("b")])
    gone = parts(store, "cells")[0]
    gone.unlink()
    half = gone.parent / "part-x.parquet.abc.tmp"
    half.write_bytes(b"PAR1")
    # A worker may be writing what is not old: it stays, and does not count.
    assert len(opened_again(store).done()) == 1
    assert half.exists()
    assert len(parts(store, "curves")) == 2
    hours_ago = time.time() - 1.1 * LEFT_AFTER.total_seconds()
    for path in (half, *parts(store, "curves")):
        os.utime(path, (hours_ago, hours_ago))
    again = opened_again(store)
    assert len(again.done()) == 1
    assert [path.name for path in parts(again, "curves")] == [path.name for path in parts(again, "cells")]
    assert not list(gone.parent.glob("*.tmp"))


@pytest.mark.parametrize("folder", ["cells", "curves"])
@pytest.mark.parametrize("damage", ["truncated", "flipped bytes", "not Parquet"])
def test_a_damaged_part_is_named_and_set_aside(store: Store, folder: str, damage: str) -> None:
    store.write([outcome("a")])
    store.write([outcome("b")])
    victim = parts(store, folder)[0]
    content = bytearray(victim.read_bytes())
    if damage == "truncated":
        del content[len(content) // 2 :]
    elif damage == "flipped bytes":
        for position in range(10, 60):
            content[position] ^= 0xFF
    else:
        content = bytearray(b"a,b\n1,2\n")
    victim.write_bytes(content)
    with pytest.raises(InputError, match=victim.name):
        store.cells() if folder == "cells" else store.curves()
    again = opened_again(store)
    assert [Path(name).name for name in again.set_aside] == [victim.name]
    assert len(again.done()) == 1
    assert len(list(Path(again.root, "damaged").iterdir())) == 2


def test_an_output_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written to"):
        Store(str(tmp_path / "file" / "study")).prepare()


def test_an_unknown_protocol_is_one_line() -> None:
    with pytest.raises(InputError, match="output nowhere://x"):
        Store("nowhere://x")


def test_two_writers_do_not_meet(store: Store) -> None:
    with (
        exclusive(store),
        pytest.raises(InputError, match="another run is writing"),
        exclusive(Store(store.url)),
    ):
        pass
    with exclusive(store):
        pass


def test_any_fsspec_url_works() -> None:
    store = Store("memory://bucket/study")
    store.prepare()
    with exclusive(store):
        store.write([outcome("a")])
        store.write_json("study.json", {"name": "é"})
        store.write_plan(["a"])
    assert store.done() == {"a": "ok"}
    assert store.read_json("study.json") == {"name": "é"}
    assert store.planned_keys() == ["a"]
    assert store.read_json("none.json") == {}


def test_results_of_another_version_are_refused_not_mixed(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.prepare()
    store.write([outcome("k1")])
    for part in tmp_path.glob("c*/*.parquet"):
        table = pq.read_table(part)
        pq.write_table(table.replace_schema_metadata({"singlepass_schema": "2"}), part)
    before = sorted(tmp_path.rglob("*"))
    for read in (store.prepare, store.cells, store.curves, store.done):
        with pytest.raises(InputError, match="holds results of schema version 2, this singlepass reads"):
            read()
    assert sorted(tmp_path.rglob("*")) == before
