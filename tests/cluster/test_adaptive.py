"""Test how many workers an adaptive cluster requests for the remaining work."""

from __future__ import annotations

import pytest

from singlepass.pipeline.workers.cluster.jobs import WORTH_SECONDS, Remaining

LATER = 10 * WORTH_SECONDS


@pytest.mark.parametrize(
    ("cells", "seconds", "threads", "workers"),
    [
        # Ten seconds of work do not justify a second worker.
        (1000, 10.0, 1, 1),
        # A long study uses all workers that it can get.
        (100_000, 3_000_000.0, 4, 25_000),
        # Each thread gets about `WORTH_SECONDS` of work.
        (1000, 10 * WORTH_SECONDS, 1, 10),
        (1000, 10 * WORTH_SECONDS, 4, 3),
        # Each thread gets about one cell.
        (7, 1e6, 1, 7),
        (7, 1e6, 4, 2),
        (0, 0.0, 4, 0),
        # Nothing has finished: each cell takes at least the time elapsed.
        (100, None, 1, 100),
    ],
)
def test_no_more_than_the_work_can_use(cells: int, seconds: float | None, threads: int, workers: int) -> None:
    assert Remaining(cells, seconds).workers(threads, LATER) == workers


def test_one_before_it_is_known_what_cells_take() -> None:
    assert Remaining().workers(1, 0.0) == 1
    assert Remaining(1000).workers(1, 0.0) == 1
    # The first cells include compilation, so their times are not used yet.
    assert Remaining(1000, 1e6).workers(1, WORTH_SECONDS / 2) == 1
    assert Remaining(0, 0.0).workers(1, 0.0) == 0
