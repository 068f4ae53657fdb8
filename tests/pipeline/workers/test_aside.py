"""Test which workers of a cluster get no cells, and what is reported about them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any, cast

import pytest

from singlepass.pipeline.workers.cluster import aside


class Team:
    """Stand in for a Workforce."""

    def __init__(self, prepared: set[str]) -> None:
        self.prepared, self.unfit = prepared, set[str]()

    def where(self, address: str) -> str:
        return address


class Cluster:
    """Stand in for a scheduler whose worker "frozen" sends no heartbeat; it records who gets no tasks."""

    id = "client"

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.held: list[str] = []
        self.paused: dict[str, int] = {}
        monkeypatch.setattr(aside, "_on_scheduler", self._call)
        monkeypatch.setattr(aside, "_LOOK_SECONDS", 0.0)

    async def _call(self, client: Any, function: Callable[..., Any], *args: Any) -> Any:
        if function.__name__ == "_silent_and_paused":
            return {"frozen": 70.0, "of another cluster": 70.0}, self.paused
        assert function.__name__ == "_hold"
        self.held += args[0]
        return {address: ["one", "two"] for address in args[0]}


def _look(cluster: Any, team: Any, there: list[str], times: int) -> tuple[list[str], list[str]]:
    """Look at the workers a number of times; return the lines and the keys of the tasks taken back."""
    lines: list[str] = []
    watch = aside.Aside(30.0, lines.append)
    keys = [key for _ in range(times) for key in asyncio.run(watch.look(cluster, team, there))]
    return lines, keys


def test_a_worker_that_froze_before_it_was_prepared(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch)
    lines, keys = _look(cluster, Team({"well"}), ["frozen", "well"], 3)
    assert lines == ["worker frozen has been silent for 70 s: its 2 cells go to others"]
    assert (keys, cluster.held) == (["one", "two"], ["frozen"])


def test_others_that_are_being_prepared_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = Cluster(monkeypatch)
    assert _look(cluster, Team(set()), ["frozen", "well"], 3) == ([], [])
    lines, keys = _look(cluster, Team(set()), ["frozen"], 3)
    assert lines == ["worker frozen has been silent for 70 s: no other worker can run its cells"]
    assert (keys, cluster.held) == ([], [])


@pytest.mark.parametrize("running", [0, 1])
def test_a_paused_worker_is_named(monkeypatch: pytest.MonkeyPatch, running: int) -> None:
    """It is stuck unless it still runs a cell."""
    cluster, lines = Cluster(monkeypatch), list[str]()
    watch = aside.Aside(30.0, lines.append)

    def look(*there: str) -> list[str]:
        client, team = cast(Any, cluster), cast(Any, Team({*there}))
        return asyncio.run(watch.look(client, team, there))

    cluster.paused = {"full": running, "of another cluster": 0}
    assert look("full") == look("full") == look("full", "well") == []
    assert watch.stuck == (frozenset() if running else {"full"})
    [line] = lines
    assert line.startswith("Dask has paused worker full, whose memory is nearly full: ")
    cluster.paused = {}
    assert look("full", "well") == []
    assert lines[1:] == ["worker full is no longer paused"]
    assert (watch.stuck, cluster.held) == (frozenset(), [])
