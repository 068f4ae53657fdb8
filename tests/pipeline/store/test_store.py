"""Test the store: it returns what was written, kills and damage lose nothing, repeats count once."""

from __future__ import annotations

import errno
import os
import stat
import time
from datetime import UTC, datetime
from pathlib import Path

import filelock
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.folder import Folder
from singlepass.pipeline.store.schema import CELLS, CURVES, PLAN, CellResult
from singlepass.pipeline.store.store import LEFT_AFTER, MAX_PARTS, PROGRESS, Store, exclusive
from singlepass.pipeline.store.tables import as_planned, to_parquet


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


@pytest.mark.parametrize("appended", [outcome("a"), outcome("b", "failed"), outcome("b")])
def test_of_a_cell_that_a_part_has_twice_the_better_row_counts(store: Store, appended: CellResult) -> None:
    store.write([outcome("a"), outcome("b"), outcome("c", "failed")])
    store.write([appended])
    names = store._parts.names()
    joined = [
        pa.concat_tables([pq.read_table(f"{store.root}/{folder}/{name}") for name in names])
        for folder in ("cells", "curves")
    ]
    for name in names:
        store._parts.remove(name)
    store._parts.write(*joined)
    for _ in range(2):
        assert store.done() == {"a": "ok", "b": "ok", "c": "failed"}
        assert store.cells()["key"].tolist() == ["a", "b", "c"]
        assert store.curves()[["key", "t"]].to_numpy().tolist() == [["a", 5], ["a", 10], ["b", 5], ["b", 10]]
        store.write([outcome("c", "failed")])
        store.compact(above=1)


def test_hidden_files_are_no_parts(store: Store) -> None:
    store.write([outcome("a")])
    Path(store.root, "cells", f"._{store._parts.names()[0]}").write_bytes(b"of macOS")
    assert store.done() == {"a": "ok"}


def test_a_part_of_cells_that_never_began_is_read_beside_others(store: Store) -> None:
    ended = outcome("a")
    store.write([CellResult(ended.row | {"started": datetime(2026, 1, 1, tzinfo=UTC)}, ended.curve)])
    store.write([CellResult(outcome("b").row | {"status": "crashed", "error": "had not ended"})])
    for _ in range(2):
        assert store.done() == {"a": "ok", "b": "crashed"}
        assert store.cells()["started"].isna().tolist() == [False, True]
        assert set(store.curves()["key"]) == {"a"}
        assert store.cells([]).empty
        assert store.curves([]).empty
        store.compact(above=1)


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
    # A recent temporary file may belong to a worker that is writing: it is kept and does not count.
    assert len(opened_again(store).done()) == 1
    assert half.exists()
    assert len(parts(store, "curves")) == 2
    minutes_ago = time.time() - 1.1 * LEFT_AFTER.total_seconds()
    for path in (half, *parts(store, "curves")):
        os.utime(path, (minutes_ago, minutes_ago))
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


@pytest.mark.parametrize("folder", ["cells", "curves"])
def test_every_bit_of_a_footer_counts(store: Store, folder: str) -> None:
    # Parquet's checksums cover pages only: one changed bit in a footer can turn a column to null, unnoticed.
    store.write([outcome("a")])
    (part,) = parts(store, folder)
    content = bytearray(part.read_bytes())
    length = int.from_bytes(content[-8:-4], "little")
    for back in range(9, 9 + length, length // 40):
        content[-back] ^= 1
        part.write_bytes(content)
        with pytest.raises(InputError, match=part.name):
            store.cells() if folder == "cells" else store.curves()
        content[-back] ^= 1
    part.write_bytes(content)
    # Parts written before checksums were introduced are still read.
    pq.write_table(pq.read_table(part), part)
    assert len(store.cells()) == 1
    assert len(store.curves()) == 2


def test_a_document_that_says_something_else_is_damaged(store: Store) -> None:
    store.write_json("study.json", {"name": "s", "seeds": [20], "noise": [0.1]})
    path = Path(store.root, "study.json")
    text = path.read_text()
    for changed in (text.replace("20", "21"), text.replace("0.1", "0.2"), text.replace('"seeds"', '"seedz"')):
        path.write_text(changed)
        with pytest.raises(InputError, match=r"study\.json: damaged"):
            store.read_json("study.json")
    assert opened_again(store).set_aside == [f"{store.url}/study.json"]
    assert store.read_json("study.json") == {}
    path.write_text('{"name": "s"}')
    assert store.read_json("study.json") == {"name": "s"}


def test_an_output_that_cannot_be_made_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="cannot be written to"):
        Store(str(tmp_path / "file" / "study")).prepare()


def test_a_path_that_is_not_utf8_is_one_line() -> None:
    with pytest.raises(InputError, match=r"\\udcff/r: this path is not UTF-8 text: rename"):
        Store("\udcff/r")


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


def planned(*keys: str) -> pa.Table:
    rows = [{"key": key, "algorithm": "A", "grid": None, "repetitions": None} for key in keys]
    return pa.Table.from_pylist(rows, schema=PLAN)


def test_the_plan_names_the_rows(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.prepare()
    store.write([outcome("a"), outcome("b"), outcome("c")])
    again = pa.Table.from_pylist(
        [
            {"key": "c", "algorithm": "mine", "grid": '{"r": [1.0]}', "repetitions": 1},
            {"key": "a", "algorithm": "one", "grid": None, "repetitions": None},
            {"key": "c", "algorithm": "too", "grid": None, "repetitions": None},
            {"key": "z", "algorithm": "not yet run", "grid": None, "repetitions": None},
        ],
        schema=PLAN,
    )
    rows = as_planned(store.cells(), again)
    assert rows["key"].tolist() == ["a", "c", "c"]
    assert rows["algorithm"].tolist() == ["one", "mine", "too"]
    assert rows["grid"].fillna("").tolist() == ["", '{"r": [1.0]}', ""]
    assert rows["repetitions"].fillna(0).tolist() == [0, 1, 0]
    assert rows.dtypes.to_dict() == store.cells().dtypes.to_dict()


def test_a_data_set_has_the_place_that_the_plan_or_the_last_started_cell_names(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.prepare()
    for day, key in enumerate("bca", 1):
        row = {"source": f"/{key}/x.csv", "started": datetime(2026, 1, day, tzinfo=UTC)}
        store.write([CellResult(outcome(key).row | row)])
    rows = [{"key": key, "algorithm": "A", "parent": "d", "source": "/new/x.csv"} for key in "abc"]
    plan = pa.Table.from_pylist(rows, schema=PLAN)
    earlier = plan.select(["key", "algorithm", "grid", "repetitions"])
    for written, expected in ((plan, "/new/x.csv"), (earlier, "/a/x.csv")):
        store.folder.write("plan.parquet", to_parquet(written))
        found = as_planned(store.cells(), store.plan())
        assert found["source"].tolist() == [expected] * 3
        assert found["parent"].tolist() == ["d"] * 3


def test_a_plan_of_other_columns_is_refused(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.prepare()
    store.folder.write("plan.parquet", to_parquet(pa.table({"key": ["a"]})))
    with pytest.raises(
        InputError, match=r"plan\.parquet: missing, damaged or of an earlier version: run the study"
    ):
        store.plan()


def test_any_fsspec_url_works() -> None:
    store = Store("memory://bucket/study")
    store.prepare()
    with exclusive(store):
        store.write([outcome("a")])
        store.write_json("study.json", {"name": "é"})
        store.write_plan([planned("a")])
    assert store.done() == {"a": "ok"}
    assert store.read_json("study.json") == {"name": "é"}
    assert store.plan() == planned("a")
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
        with pytest.raises(InputError, match="contains results of schema version 2, this singlepass reads"):
            read()
    assert sorted(tmp_path.rglob("*")) == before


def test_parts_from_before_a_column_are_read_merged_and_written_on(store: Store) -> None:
    """Parts without the later column `attempts`, and those of later versions, stay valid."""
    store.write([outcome("a")])
    (old,) = parts(store, "cells")
    pq.write_table(pq.read_table(old).drop_columns(["attempts"]), old)
    store.write([CellResult(outcome("b").row | {"attempts": 3, "status": "crashed"})])
    again = opened_again(store)
    assert again.set_aside == []
    assert again.done() == {"a": "ok", "b": "crashed"}
    assert again.cells()["attempts"].fillna(-1).tolist() == [-1, 3]
    again.compact(above=0)
    assert len(parts(again, "cells")) == 1
    assert again.cells()["attempts"].fillna(-1).tolist() == [-1, 3]


@pytest.mark.parametrize("wrong", ["no data set", "text as seed"])
def test_a_part_with_other_columns_is_damaged(store: Store, wrong: str) -> None:
    store.write([outcome("a")])
    (part,) = parts(store, "cells")
    table = pq.read_table(part)
    if wrong == "no data set":
        pq.write_table(table.drop_columns(["dataset"]), part)
    else:
        place = table.column_names.index("seed")
        pq.write_table(table.set_column(place, "seed", pa.array(["0"])), part)
    with pytest.raises(InputError, match=r"damaged Parquet part \(columns are missing, or of another"):
        store.cells()
    assert len(opened_again(store).set_aside) == 1


def test_a_cell_without_its_curve_is_damaged(store: Store) -> None:
    store.write([outcome("a")])
    store.write([outcome("b")])
    gone = parts(store, "curves")[0]
    gone.unlink()
    with pytest.raises(InputError, match=f"curves/{gone.name}: damaged Parquet part .it is missing"):
        store.curves()
    again = opened_again(store)
    assert len(again.set_aside) == len(again.done()) == 1


def test_of_a_cell_that_was_tried_again_the_curve_is_that_of_the_try_that_counts(store: Store) -> None:
    stopped = outcome("a", mistakes=1)
    stopped.row["status"] = "stopped"
    store.write([CellResult(stopped.row, {"t": [7], "mistakes": [1]})])
    store.write([outcome("a"), outcome("b")])
    assert store.curves()[["key", "t"]].to_numpy().tolist() == [["a", 5], ["a", 10], ["b", 5], ["b", 10]]


def test_rows_of_some_cells_alone(store: Store) -> None:
    store.write([outcome("a"), outcome("b")])
    store.write([outcome("c", "failed")])
    assert store.cells(["c", "a", "x"])["key"].tolist() == ["a", "c"]
    assert store.curves(["c", "a", "x"])["key"].tolist() == ["a", "a"]
    assert store.cells([]).empty


def test_a_part_that_cannot_be_asked_for_is_not_taken_for_damaged(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If a disk or a network is unavailable for a moment, nothing is moved."""
    store.write([outcome("a")])

    def away(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    with monkeypatch.context() as patch:
        patch.setattr(pq, "ParquetFile", away)
        for ask in (store.cells, store.tidy):
            with pytest.raises(InputError, match=r"cannot be read \(Input/output error"):
                ask()
    assert opened_again(store).done() == {"a": "ok"}
    there = Store("memory://away/study")
    there.prepare()
    there.write([outcome("a")])
    with monkeypatch.context() as patch:
        patch.setattr(
            there.fs, "cat", lambda paths, on_error: {path: RuntimeError("slow down") for path in paths}
        )
        for ask in (there.cells, there.tidy):
            with pytest.raises(InputError, match=r"cannot be read \(slow down"):
                ask()
    assert there.done() == {"a": "ok"}


def test_only_what_is_new_is_read(store: Store) -> None:
    seen: set[str] = set()
    assert store.new_rows(seen).empty
    assert list(store.new_rows(seen).columns) == list(PROGRESS)
    store.write([outcome("a"), outcome("b", "failed")])
    assert sorted(store.new_rows(seen)["key"]) == ["a", "b"]
    assert store.new_rows(seen).empty
    store.write([outcome("c")])
    assert store.new_rows(seen, ["key", "status"]).to_numpy().tolist() == [["c", "ok"]]
    # Merging creates a new part.
    store.compact(above=0)
    assert sorted(store.new_rows(seen)["status"]) == ["failed", "ok", "ok"]
    assert store.new_rows(seen).empty


def test_a_part_is_on_the_disk_before_it_has_its_name(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    happened: list[str] = []
    fsync, rename = os.fsync, os.replace

    def noted_fsync(descriptor: int) -> None:
        kind = "folder" if stat.S_ISDIR(os.fstat(descriptor).st_mode) else "file"
        happened.append(f"{kind} to disk")
        fsync(descriptor)

    def noted_rename(before: str, after: str) -> None:
        happened.append(f"named in {Path(after).parent.name}")
        rename(before, after)

    monkeypatch.setattr(os, "fsync", noted_fsync)
    monkeypatch.setattr(os, "replace", noted_rename)
    store.write([outcome("a")])
    steps = ["file to disk", "named in {}", "folder to disk"]
    assert happened == [step.format(within) for within in ("curves", "cells") for step in steps]


def test_a_full_disk_is_one_line(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(InputError, match=r"cannot be written to \(No space left on device\): make it"):
        store.write([outcome("a")])
    assert store.done() == {}
    assert not list(Path(store.root).rglob("*.tmp"))


def test_a_part_without_room_for_its_cells_leaves_no_curves(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = Folder.write

    def full(folder: Folder, name: str, content: bytes) -> None:
        if name.startswith("cells/"):
            raise InputError("no space left")
        write(folder, name, content)

    monkeypatch.setattr(Folder, "write", full)
    with pytest.raises(InputError, match="no space left"):
        store.write([outcome("a")])
    assert not parts(store, "curves")


def test_opening_leaves_the_store_to_the_one_who_holds_it(store: Store) -> None:
    """A second client is refused before it moves or removes anything."""
    store.write([outcome("a")])
    (part,) = parts(store, "cells")
    part.write_bytes(b"PAR1")
    again = Store(store.url)
    again.prepare()
    assert part.read_bytes() == b"PAR1"
    with filelock.FileLock(f"{store.root}/.lock"):
        with pytest.raises(InputError, match="another run is writing"), exclusive(again):
            pass
        assert part.read_bytes() == b"PAR1"
