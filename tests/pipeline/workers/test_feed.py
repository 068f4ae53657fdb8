"""Test what a client counts on while its scheduler does not answer, and how long it waits for workers."""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from types import SimpleNamespace
from typing import Any

import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.workers.cluster import feed
from singlepass.pipeline.workers.cluster.aside import Attendance
from singlepass.pipeline.workers.cluster.connection import Lost, SchedulerPlace
from singlepass.pipeline.workers.cluster.on_worker import Preparation
from singlepass.pipeline.workers.cluster.workforce import Workforce

PLACE = SchedulerPlace("tcp://host:1")


@pytest.mark.parametrize("lost", [True, False])
def test_no_worker_is_counted_on_while_the_scheduler_does_not_answer(
    monkeypatch: pytest.MonkeyPatch, lost: bool
) -> None:
    """The scheduler is lost while cells run, or after the first stage of a study."""
    workforce = Workforce(Preparation("run", (), (), 60.0), False, lambda line: None)
    found: list[tuple[bool, bool]] = []

    @contextlib.asynccontextmanager
    async def connected(*given: Any) -> AsyncIterator[SimpleNamespace]:
        found.append((workforce.writes, workforce.may_write))
        if len(found) > 1:
            given[-1]("waiting for it")
            raise InputError("gone for good")
        yield SimpleNamespace(status="closed", dashboard_link="")

    class Window:
        def __init__(self, *arguments: Any) -> None:
            self._roll = arguments[-1]

        async def work(self, *_: object) -> None:
            workforce._present, workforce._writing = {"one", "two"}, {"one"}
            self._roll._lost = 1
            self._roll._show(Attendance(now=2, lost=1))
            if lost:
                raise Lost

        def all_tries(self) -> list[object]:
            return []

    monkeypatch.setattr(feed, "connected", connected)
    monkeypatch.setattr(feed, "_Window", Window)
    told: list[Attendance] = []
    run = feed.Feed(PLACE, workforce, 60.0, lambda line: None, feed.Ledger(list), told.append)
    if not lost:
        run([], lambda results: None)
    with pytest.raises(InputError, match="gone for good"):
        run([], lambda results: None)
    assert found == [(False, False), (False, lost)]
    assert told == [Attendance(now=2, lost=1), Attendance(now=0, lost=1)]


def test_the_line_on_a_wait_gets_the_longest_wait_for_a_fit_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    def returns(result: Any) -> Callable[..., Any]:
        async def function(*_: object) -> Any:
            return result

        return function

    async def look(*given: Any) -> None:
        raise InputError(f"{given[-1]:g} s at most")

    monkeypatch.setattr(feed.Waiting, "look", look)
    monkeypatch.setattr(feed, "release_all", returns(None))
    client: Any = SimpleNamespace(status="running", loop=1, nthreads=returns({"one": 1}))
    workforce: Any = SimpleNamespace(look=returns(10.0), unfit={"one"}, prepared=set(), sending=False)
    aside: Any = SimpleNamespace(look=returns([]), silent=(), stuck=frozenset())
    roll: Any = SimpleNamespace(call=returns(None))
    window = feed._Window(client, workforce, iter(()), deque(), print, feed.Ledger(list), aside, roll)
    with pytest.raises(InputError, match=r"^10 s at most$"):
        asyncio.run(window.work(600.0, print, PLACE))
