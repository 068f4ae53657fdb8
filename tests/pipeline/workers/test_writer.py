"""Test what workers write themselves, and for which run."""

from __future__ import annotations

import uuid
from dataclasses import replace
from pathlib import Path

from singlepass.pipeline.store.schema import CellResult
from singlepass.pipeline.store.store import MARK, Store
from singlepass.pipeline.workers.cluster.on_worker import Plugin, Preparation, Writer
from singlepass.workflows.running.workers import shared


def _outcome(key: str) -> CellResult:
    names = ("dataset", "parent", "source", "task", "algorithm", "learner", "params", "noise", "stage")
    row = dict.fromkeys(names, "x") | {"key": key, "seed": 0, "protocol": "holdout", "status": "ok"}
    return CellResult(row, {"t": [1], "mistakes": [0]})


def _store(folder: Path) -> Store:
    store = Store(str(folder))
    store.prepare()
    return store


def test_only_the_run_that_the_output_is_marked_with_is_written(tmp_path: Path) -> None:
    store = _store(tmp_path)
    store.write_json(MARK, {"run": "this"})
    this, other = Writer(str(tmp_path), "this"), Writer(str(tmp_path), "other")
    this.add([_outcome("a")])
    other.add([_outcome("b")])
    this.flush()
    other.flush()
    assert list(store.done()) == ["a"]
    store.folder.remove(MARK)
    this.add([_outcome("c")])
    this.flush()
    assert list(store.done()) == ["a"]


def test_a_run_joins_one_before_that_told_workers_the_same(tmp_path: Path) -> None:
    store = _store(tmp_path)
    plugin = Plugin("/here/mine.py", b"one")

    def prepared(plugin: Plugin) -> Preparation:
        return Preparation(uuid.uuid4().hex, (plugin,), (), 60.0)

    first = shared(store, prepared(plugin))
    assert shared(store, prepared(plugin)).run == first.run
    edited = shared(store, prepared(replace(plugin, content=b"two")))
    assert edited.run != first.run
    assert store.read_json(MARK)["run"] == edited.run
    # After the plug-in is edited back, cells of the first run that are still running do not count, so the run
    # differs.
    assert shared(store, prepared(plugin)).run not in (first.run, edited.run)
    moved = tmp_path / "moved"
    _store(moved).write_json(MARK, store.read_json(MARK))
    assert shared(Store(str(moved)), prepared(plugin)).run != store.read_json(MARK)["run"]
