"""Test a table that several threads request: one reads it, and all of them get its error."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from singlepass.pipeline.data import expand, open_stream
from singlepass.pipeline.data.memory_sources import BundledSource
from singlepass.pipeline.data.tables.options import Options
from singlepass.pipeline.data.tables.stream import Table
from singlepass.pipeline.errors import InputError


def test_a_failure_reaches_all_who_wait_and_is_not_kept(
    monkeypatch: pytest.MonkeyPatch, new_process: Callable[[], None]
) -> None:
    ref = expand(name="digits")[0]
    new_process()
    read, entered, go_on = BundledSource.read, threading.Event(), threading.Event()

    def failing(self: BundledSource, recipe: Mapping[str, Any], options: Options) -> Table:
        entered.set()
        assert go_on.wait(10)
        raise InputError("no such luck")

    errors: list[str] = []

    def open_it() -> None:
        try:
            open_stream(ref)
        except InputError as error:
            errors.append(str(error))

    monkeypatch.setattr(BundledSource, "read", failing)
    first, second = (threading.Thread(target=open_it) for _ in range(2))
    first.start()
    assert entered.wait(10)
    second.start()
    go_on.set()
    for thread in (first, second):
        thread.join(10)
        assert not thread.is_alive()
    assert errors == ["no such luck"] * 2
    monkeypatch.setattr(BundledSource, "read", read)
    assert len(open_stream(ref).y) == 1797
