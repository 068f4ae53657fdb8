"""Test what a client counts on while its scheduler is gone."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator
from types import SimpleNamespace

import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.workers.cluster import feed
from singlepass.pipeline.workers.cluster.aside import Attendance
from singlepass.pipeline.workers.cluster.connection import Lost, SchedulerPlace
from singlepass.pipeline.workers.cluster.on_worker import Preparation
from singlepass.pipeline.workers.cluster.workforce import Workforce


def test_no_worker_is_counted_on_while_the_scheduler_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    workforce = Workforce(Preparation("run", (), (), 60.0), False, lambda line: None)
    writes: list[bool] = []

    @contextlib.asynccontextmanager
    async def connected(*_: object) -> AsyncIterator[SimpleNamespace]:
        writes.append(workforce.writes)
        if len(writes) > 1:
            raise InputError("gone for good")
        yield SimpleNamespace(status="closed", dashboard_link="")

    class Window:
        def __init__(self, *arguments: object) -> None:
            self._roll = arguments[-1]

        async def work(self, *_: object) -> None:
            workforce._present, workforce._writing = {"one", "two"}, {"one"}
            self._roll._lost = 1
            raise Lost

        def all_tries(self) -> list[object]:
            return []

    monkeypatch.setattr(feed, "connected", connected)
    monkeypatch.setattr(feed, "_Window", Window)
    told: list[Attendance] = []
    place = SchedulerPlace("tcp://host:1")
    run = feed.Feed(place, workforce, 60.0, lambda line: None, feed.Ledger(list), told.append)
    with pytest.raises(InputError, match="gone for good"):
        run([], lambda results: None)
    assert writes == [False, False]
    assert told == [Attendance(now=0, lost=1)]
