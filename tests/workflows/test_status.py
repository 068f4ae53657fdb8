"""Test `singlepass status` and `singlepass compact`, for running and for ended runs."""

from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from singlepass.pipeline.store.schema import PLAN, CellResult
from singlepass.pipeline.store.store import CLUSTER, MARK, Store, exclusive
from singlepass.workflows.status import RATE_OVER, compact_results, run_status, span

Call = Callable[..., Any]


def outcome(key: str, status: str = "ok", *, seconds_ago: float = 0, worker: str = "w:1") -> CellResult:
    """Return a cell that took a second and ended `seconds_ago`."""
    names = ("dataset", "parent", "source", "task", "algorithm", "learner", "params", "noise", "stage")
    row = dict.fromkeys(names, "x") | {"key": key, "seed": 0, "protocol": "prequential", "status": status}
    began = datetime.now(UTC) - timedelta(seconds=seconds_ago + 1)
    row |= {"started": began, "total_seconds": 1.0, "worker": worker}
    if status != "ok":
        row["error"] = f"ValueError: {status}\nand more"
    return CellResult(row)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store(str(tmp_path / "study"))
    opened.prepare()
    opened.write_json("study.json", {"name": "mine"})
    opened.write_json("plan.json", {"planned": 100})
    return opened


def test_progress_and_workers(store: Store) -> None:
    store.write([outcome(f"far{n}", worker="w:2", seconds_ago=7200) for n in range(20)])
    store.write([outcome(f"near{n}", seconds_ago=10 + n) for n in range(25)])
    store.write(
        [outcome("f1", "failed"), outcome("f2", "failed"), outcome("c", "crashed"), outcome("s", "stopped")]
    )
    # Tried again: the success counts.
    store.write([outcome("f2", seconds_ago=1)])
    with exclusive(store):
        told = run_status(store.url)
        lines = list(told.lines())
    assert (told.study, told.planned) == ("mine", 100)
    assert told.cells == {"ok": 46, "failed": 1, "stopped": 1, "crashed": 1}
    # 29 cells ended in the last five minutes, 51 are left.
    assert told.per_minute == pytest.approx(29 / (RATE_OVER.total_seconds() / 60))
    assert told.seconds_left == pytest.approx(51 / told.per_minute * 60)
    assert told.holder.startswith(f"process {os.getpid()} on {socket.gethostname()} since 2")
    assert [(each.name, each.cells) for each in told.workers] == [("w:1", 29), ("w:2", 20)]
    assert told.workers[1].seconds_ago == pytest.approx(7200, abs=60)
    assert [(each.status, each.error, each.cells) for each in told.failures] == [
        (status, f"ValueError: {status}", 1) for status in ("crashed", "failed", "stopped")
    ]
    assert lines[1] == "cells    49 of 100 finished (49%), 1 failed, 1 stopped, 1 crashed"
    assert lines[2] == "rate     6 cells a minute, about 9 min left"
    # After the run nobody computes them.
    ended = run_status(store.url)
    assert ended.seconds_left is None
    assert "rate     6 cells a minute" in list(ended.lines())
    assert lines[3] == f"run by   {told.holder}"
    assert "  w:2         20 cells, last 2.0 h ago" in lines
    assert "  x crashed in 1 cell (x): ValueError: crashed" in lines


def test_a_study_that_has_just_started(store: Store) -> None:
    told = run_status(store.url)
    assert (told.planned, told.per_minute, told.seconds_left) == (100, 0, None)
    assert list(told.lines())[1:] == [
        "cells    0 of 100 finished (0%)",
        "rate     no cell in the last 5 min",
        "run by   no process now",
    ]


def test_a_rate_covers_the_time_since_the_start(store: Store) -> None:
    store.write([outcome(f"{n}", seconds_ago=n) for n in range(31)])
    # 31 cells in 30 s.
    assert run_status(store.url).per_minute == pytest.approx(62, rel=0.2)


def test_a_workers_clock_may_be_ahead(store: Store) -> None:
    store.write([outcome("a", seconds_ago=-3600)])
    told = run_status(store.url)
    assert told.workers[0].seconds_ago == 0
    assert told.per_minute > 0
    store.write([outcome(f"{n}", seconds_ago=10 * n - 3600) for n in range(1, 31)])
    assert run_status(store.url).per_minute == pytest.approx(6, rel=0.1)
    # The rates of workers with different clocks add up.
    store.write([outcome(f"other {n}", seconds_ago=10 * n, worker="w:2") for n in range(31)])
    assert run_status(store.url).per_minute == pytest.approx(12, rel=0.1)


def test_cells_that_are_not_planned_do_not_count(store: Store) -> None:
    store.write([outcome("planned", seconds_ago=900), outcome("of an earlier form", seconds_ago=900)])
    row = {"key": "planned", "algorithm": "A", "grid": None, "repetitions": None}
    store.write_plan([pa.Table.from_pylist([row], schema=PLAN)])
    assert run_status(store.url).cells["ok"] == 1


def test_status_during_writes_and_merges(store: Store, singlepass: Call) -> None:
    ended, problems = threading.Event(), []

    def ask() -> None:
        while not ended.is_set():
            try:
                told = run_status(store.url)
                assert told.cells["ok"] == sum(worker.cells for worker in told.workers)
            except BaseException as error:
                problems.append(error)

    asking = threading.Thread(target=ask)
    asking.start()
    with exclusive(store):
        for n in range(40):
            store.write([outcome(f"{n}")])
            store.compact(above=4)
    ended.set()
    asking.join()
    assert problems == []
    assert "40 of 100 finished" in singlepass("status", store.url).stdout


def test_leftovers_of_a_killed_client(store: Store) -> None:
    store.write_json(CLUSTER, {"cluster": "dask_jobqueue.SLURMCluster", "jobs": "singlepass-1a2b"})
    with exclusive(store):
        assert run_status(store.url).left == ""
    told = run_status(store.url)
    assert told.left.startswith("jobs named singlepass-1a2b of dask_jobqueue.SLURMCluster, whose client ")
    assert f"left     perhaps {told.left}" in told.lines()
    with socket.create_server(("127.0.0.1", 0)) as there:
        address = f"tcp://127.0.0.1:{there.getsockname()[1]}"
        store.write_json(CLUSTER, {"cluster": "distributed.SSHCluster", "scheduler": address})
        assert run_status(store.url).left.startswith(f"scheduler {address} of distributed.SSHCluster")
    # The scheduler has ended.
    assert run_status(store.url).left == ""
    # Workers that write to the store outlive their client.
    store.write_json(MARK, {"run": "1a2b", "told": ""})
    assert run_status(store.url).left.startswith("workers of the last run")


def test_workers_are_counted(store: Store) -> None:
    store.write_json(CLUSTER, {"workers": {"now": 3, "lost": 2, "silent": 1, "unfit": 0}})
    with exclusive(store):
        told = run_status(store.url)
        assert "workers  now 3 workers, 2 lost, 1 silent; 0 with finished cells" in told.lines()
        attendance = json.loads(told.json())["attendance"]
        assert attendance == {"now": 3, "lost": 2, "silent": 1, "unfit": 0}
    # The client was killed, so attendance is unknown.
    assert run_status(store.url).attendance is None


def test_as_json(store: Store, singlepass: Call) -> None:
    store.write([outcome("é", "failed")])
    told = json.loads(singlepass("status", store.url, "--json").stdout)
    assert told["cells"]["failed"] == 1
    assert told["workers"][0]["name"] == "w:1"


@pytest.mark.parametrize("command", ["status", "compact"])
def test_no_results_are_one_line(singlepass: Call, tmp_path: Path, command: str) -> None:
    for place in ("nowhere", "memory://nowhere", "what://is/this"):
        result = singlepass(command, place)
        assert result.returncode == 2
        assert result.stderr.startswith("singlepass: error: ")
        assert place in result.stderr
        assert len(result.stderr.splitlines()) == 1
    assert not (tmp_path / "nowhere").exists()


def test_a_study_is_not_its_results(singlepass: Call, study_file: Path) -> None:
    told = singlepass("status", study_file.name).stderr
    assert told.startswith(f"singlepass: error: {study_file.name}: this is a study, not its results")


@pytest.mark.parametrize("name", ["plan.json", "study.json", "cells/part-x.parquet"])
def test_damage_is_one_line(store: Store, singlepass: Call, name: str) -> None:
    Path(store.root, name).write_text("{")
    result = singlepass("status", store.url)
    assert result.returncode == 2
    assert name in result.stderr
    assert len(result.stderr.splitlines()) == 1


def test_a_run_that_could_not_record_its_study(tmp_path: Path) -> None:
    opened = Store(str(tmp_path / "full"))
    opened.prepare()
    assert next(run_status(opened.url).lines()) == f"{opened.url}: no run has recorded a study yet"


def test_parts_become_one(store: Store, singlepass: Call) -> None:
    assert singlepass("compact", store.url).stdout == f"{store.url}: contains no cells yet\n"
    for n in range(5):
        store.write([outcome(f"{n}"), outcome("again", seconds_ago=n)])
    result = singlepass("compact", store.url)
    assert result.stdout.startswith(f"{store.url}: 5 parts became 1, with 6 cells, 4 repeated rows dropped, ")
    assert len(result.stdout.splitlines()) == 1
    assert len(list(Path(store.root, "cells").glob("*.parquet"))) == 1
    assert singlepass("compact", store.url).stdout == f"{store.url}: nothing to merge: 6 cells in 1 part\n"
    with exclusive(store):
        refused = singlepass("compact", store.url)
    assert refused.returncode == 2
    assert f"another run is writing to it (process {os.getpid()} on" in refused.stderr


def test_compact_removes_curves_without_cells_unless_workers_may_write(store: Store) -> None:
    store.write([outcome("a")])
    left = Path(store.root, "curves", "part-left.parquet")
    left.write_bytes(b"PAR1")
    store.write_json(MARK, {"run": "r"})
    compact_results(store.url, print)
    assert left.exists()
    store.folder.remove(MARK)
    # A worker of the run may still write the cells of a recent file.
    compact_results(store.url, print)
    assert left.exists()
    os.utime(left, (minutes_ago := time.time() - 600, minutes_ago))
    compact_results(store.url, print)
    assert not left.exists()


def test_merging_names_what_is_damaged(store: Store, singlepass: Call) -> None:
    store.write([outcome("a")])
    (part,) = Path(store.root, "cells").glob("*.parquet")
    part.write_bytes(b"PAR1")
    result = singlepass("compact", store.url)
    assert result.returncode == 0
    assert f"{part.name}: damaged, moved to {store.url}/damaged" in result.stderr
    assert result.stdout == f"{store.url}: contains no cells yet\n"


def test_spans_of_time() -> None:
    assert [span(seconds) for seconds in (4.4, 300, 7200, 300_000)] == ["4 s", "5 min", "2.0 h", "3.5 days"]
