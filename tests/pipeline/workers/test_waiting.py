"""Test what a run says when it has waited too long for a worker."""

from __future__ import annotations

import asyncio
import logging

import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.workers.cluster import waiting
from singlepass.pipeline.workers.cluster.connection import SchedulerPlace, forget_errors, hush
from singlepass.pipeline.workers.cluster.jobs import Starting
from singlepass.pipeline.workers.cluster.waiting import Waiting


def test_the_command_that_starts_a_worker_names_a_scheduler_file() -> None:
    assert SchedulerPlace(file="s.json").worker_command == "dask worker --scheduler-file s.json"


@pytest.mark.parametrize(
    ("there", "unfit", "cause"),
    [
        (False, False, "has had no workers"),
        (True, False, "has had workers, but none that takes cells"),
        (True, True, r"has had only unfit workers \(see above\)"),
    ],
)
def test_the_last_line_names_the_cause(there: bool, unfit: bool, cause: str) -> None:
    wait = Waiting(SchedulerPlace("tcp://host:1"), -1.0, lambda line: None)
    line = rf"^scheduler tcp://host:1: {cause} for 0 s; start one with `dask worker tcp://host:1`$"
    with pytest.raises(InputError, match=line):
        asyncio.run(wait.look(False, there, unfit))


@pytest.mark.parametrize(
    ("limit", "words"),
    [(600.0, "600 s at most (--patience)"), (10.0, "10 s at most, because no worker was fit so far")],
)
def test_the_first_line_names_the_longest_wait(
    monkeypatch: pytest.MonkeyPatch, limit: float, words: str
) -> None:
    monkeypatch.setattr(waiting, "_QUIET_SECONDS", -1.0)
    lines: list[str] = []
    wait = Waiting(SchedulerPlace("tcp://host:1"), 600.0, lines.append)
    asyncio.run(wait.look(False, True, True, limit))
    assert [line.rpartition(" starts one), ")[2] for line in lines] == [words]


def test_a_shorter_wait_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(waiting, "_QUIET_SECONDS", -1.0)
    lines: list[str] = []
    wait = Waiting(SchedulerPlace("tcp://host:1"), 600.0, lines.append)
    for limit in (600.0, 600.0, 10.0, 600.0, 10.0):
        asyncio.run(wait.look(False, True, limit < 600.0, limit))
    assert [line.partition(" starts one), ")[2].partition(" at")[0] for line in lines] == ["600 s", "10 s"]


def test_the_last_line_names_why_workers_of_a_local_cluster_do_not_start() -> None:
    hush()
    place = SchedulerPlace("tcp://host:1", starting=Starting(None, "distributed.LocalCluster"))
    wait = Waiting(place, -1.0, lambda line: None)
    try:
        raise ValueError("Could not interpret 'bananas'")
    except ValueError:
        logging.getLogger("tornado.application").exception("Exception in callback")
    try:
        with pytest.raises(
            InputError, match=r"for 0 s; last error: ValueError: Could not interpret 'bananas'; do"
        ):
            asyncio.run(wait.look(ready=False))
    finally:
        forget_errors()
