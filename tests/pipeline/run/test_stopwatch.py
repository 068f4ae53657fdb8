"""Test the clock of a cell with a clock that is set by hand."""

from __future__ import annotations

from contextlib import suppress

import pytest

from singlepass.pipeline.run import prequential
from singlepass.pipeline.run.prequential import Stopwatch


class Clock:
    """A clock that advances when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(prequential, "time", made)
    return made


def test_blocks_add_up_and_what_is_between_them_does_not_count(clock: Clock) -> None:
    watch = Stopwatch()
    assert watch.seconds == 0
    with watch:
        clock.now += 2
    clock.now += 10
    assert watch.seconds == 2
    with watch:
        clock.now += 3
    assert watch.seconds == 5


def test_a_block_that_raises_counts_up_to_there(clock: Clock) -> None:
    watch = Stopwatch()
    with suppress(ValueError), watch:
        clock.now += 2
        raise ValueError
    clock.now += 10
    assert watch.seconds == 2


@pytest.mark.parametrize(("limit", "over"), [(None, False), (3.0, False), (2.5, True), (0.0, True)])
def test_over_is_past_the_limit(clock: Clock, limit: float | None, over: bool) -> None:
    watch = Stopwatch(limit)
    assert not watch.over
    with watch:
        clock.now += 3
    assert watch.over is over
