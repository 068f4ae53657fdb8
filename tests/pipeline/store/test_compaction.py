"""Test merging of parts: no row is lost or counted twice, despite kills and concurrent access."""

from __future__ import annotations

import random
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.pipeline.store import parts as store_parts
from singlepass.pipeline.store.schema import STATUSES, CellResult
from singlepass.pipeline.store.store import Store, exclusive

pytestmark = pytest.mark.slow

LONG_AGO = datetime(2026, 1, 1, tzinfo=UTC)


def outcome(key: str, status: str = "ok", begun: int = 0) -> CellResult:
    """Return a cell whose numbers reveal when it was begun."""
    names = ("dataset", "parent", "source", "task", "algorithm", "learner", "params", "noise", "stage")
    row = dict.fromkeys(names, "x") | {"key": key, "seed": 0, "protocol": "prequential", "status": status}
    row |= {"mistakes": begun, "started": LONG_AGO + timedelta(seconds=begun)}
    points = list(range(1, 2 + begun % 3))
    return CellResult(row, {"t": points, "mistakes": [begun] * len(points)} if status != "failed" else {})


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store(str(tmp_path / "study"))
    opened.prepare()
    return opened


def part_files(store: Store) -> list[Path]:
    return sorted(Path(store.root, "cells").glob("*.parquet"))


Tried = tuple[str, str, int]
KEYS = st.text("ab0", min_size=1, max_size=2)
PARTS = st.lists(
    st.lists(
        st.tuples(KEYS, st.sampled_from(STATUSES), st.integers(0, 50)),
        unique_by=lambda cell: cell[0],
        max_size=6,
    ),
    max_size=8,
)


@given(PARTS)
def test_what_is_read_is_what_was_read_before(
    tmp_path_factory: pytest.TempPathFactory, parts: list[list[Tried]]
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(store_parts, "MOST_ROWS", {"cells": 7, "curves": 12})
        store = Store(str(tmp_path_factory.mktemp("store")))
        store.prepare()
        for cells in parts:
            store.write([outcome(*cell) for cell in cells])
        before = store.cells(), store.curves()
        best: dict[str, Tried] = {}
        for key, status, begun in (cell for cells in parts for cell in cells):
            held = best.get(key)
            if held is None or (status == "ok", begun) > (held[1] == "ok", held[2]):
                best[key] = key, status, begun
        cells, curves = before
        assert {(row.key, row.status == "ok", row.mistakes) for row in cells.itertuples()} == {
            (key, status == "ok", begun) for key, status, begun in best.values()
        }
        # If a cell was tried twice, its curve is that of the try that counts.
        assert all(best[row.key][2] == row.mistakes for row in curves.itertuples())
        came_to = store.compact(above=0)
        assert came_to is None or came_to.repeats == sum(map(len, parts)) - len(best)
        assert store.cells().equals(before[0])
        assert store.curves().equals(before[1])
        for part in part_files(store):
            keys = pq.read_table(part)["key"].to_pylist()
            assert keys == sorted(set(keys))
        # Dropped rows may have left small parts to merge; after that there is nothing to do.
        store.compact(above=0)
        files = part_files(store)
        store.compact(above=0)
        assert part_files(store) == files


def test_merged_parts_stay_within_bounds(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store_parts, "MOST_ROWS", {"cells": 10, "curves": 1000})
    for part in range(12):
        store.write([outcome(f"{part:02}-{cell}") for cell in range(4)])
    came_to = store.compact(above=0)
    assert came_to is not None
    assert (came_to.before, came_to.after, came_to.cells) == (12, 6, 48)
    assert [pq.read_metadata(part).num_rows for part in part_files(store)] == [8] * 6


def test_parts_of_a_later_singlepass_are_read_and_not_merged(store: Store) -> None:
    for key in ("a", "b", "c"):
        store.write([outcome(key)])
    later = part_files(store)[0]
    table = pq.read_table(later)
    pq.write_table(table.append_column("colour", pa.array(["red"])), later)
    assert store.compact(above=0) is not None
    assert len(part_files(store)) == 2
    assert pq.read_table(later)["colour"].to_pylist() == ["red"]
    assert store.cells()["key"].tolist() == ["a", "b", "c"]
    again = Store(store.url)
    with exclusive(again):
        assert again.set_aside == []


COMPACT = """
import sys
from singlepass.pipeline.store import parts
from singlepass.pipeline.store.store import Store, exclusive
parts.MOST_ROWS = {"cells": int(sys.argv[2]), "curves": 10_000}
store = Store(sys.argv[1])
store.prepare()
print("ready", flush=True)
with exclusive(store):
    store.compact(above=0)
"""


def test_killed_at_any_point_it_loses_and_doubles_nothing(store: Store) -> None:
    for part in range(80):
        store.write([outcome(f"{part:02}-{cell}", begun=cell) for cell in range(3)])
    cells, curves = store.cells(), store.curves()
    moments = random.Random(0)
    for round_ in range(4):
        command = [sys.executable, "-c", COMPACT, store.url, str(6 << round_)]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        time.sleep(moments.uniform(0, 0.15))
        process.kill()
        process.wait()
        process.stdout.close()
        assert store.cells().equals(cells)
        assert store.curves().equals(curves)
    with exclusive(store):
        assert store.set_aside == []
        store.compact(above=0)
    assert len(part_files(store)) == 1
    assert store.cells().equals(cells)
    assert store.curves().equals(curves)


WRITE = """
import sys
sys.path.insert(0, sys.argv[2])
from test_compaction import outcome
from singlepass.pipeline.store.store import Store
store = Store(sys.argv[1])
for part in range(25):
    store.write([outcome(f"{sys.argv[3]}-{part:02}-{cell}", begun=cell) for cell in range(3)])
"""


def test_many_write_while_one_merges_and_one_reads(store: Store) -> None:
    """Workers write parts themselves: no writer waits, and no row that was visible disappears."""
    here = str(Path(__file__).parent)
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITE, store.url, here, str(writer)]) for writer in range(3)
    ]
    merging = Store(store.url)
    seen: set[str] = set()
    told: set[str] = set()
    parts: set[str] = set()
    with exclusive(merging):
        while any(writer.poll() is None for writer in writers):
            merging.compact(above=2)
            merging.tidy()
            cells, curves = store.cells(), store.curves()
            assert cells["key"].is_unique
            assert not curves.duplicated(["key", "t"]).any()
            assert seen <= set(cells["key"])
            # Every visible cell has its curve.
            assert set(cells["key"]) <= set(curves["key"])
            seen = set(cells["key"])
            told |= set(store.new_rows(parts)["key"])
            assert seen <= told
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert merging.set_aside == []
    assert len(store.done()) == len(set(store.new_rows(parts)["key"]) | told) == 3 * 25 * 3


def test_reading_while_another_process_merges(store: Store) -> None:
    for part in range(120):
        store.write([outcome(f"{part:03}")])
    cells = store.cells()
    command = [sys.executable, "-c", COMPACT, store.url, "4"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            assert store.cells().equals(cells)
            assert len(store.curves()) == 120
    assert process.returncode == 0
    assert len(part_files(store)) == 30
