"""How many workers the work that is left can use."""

from __future__ import annotations

import pytest

from singlepass.pipeline.workers.cluster.adaptive import WORTH_SECONDS, Remaining

LATER = 10 * WORTH_SECONDS


@pytest.mark.parametrize(
    ("cells", "seconds", "threads", "workers"),
    [
        # Ten seconds of work are not worth a second worker, ...
        (1000, 10.0, 1, 1),
        # ... a long study takes as many as it is given, ...
        (100_000, 3_000_000.0, 4, 25_000),
        # ... each has its share of the seconds, ...
        (1000, 10 * WORTH_SECONDS, 1, 10),
        (1000, 10 * WORTH_SECONDS, 4, 3),
        # ... and each thread a cell.
        (7, 1e6, 1, 7),
        (7, 1e6, 4, 2),
        (0, 0.0, 4, 0),
        # Nothing has finished: cells take at least as long as that.
        (100, None, 1, 100),
    ],
)
def test_no_more_than_the_work_can_use(cells: int, seconds: float | None, threads: int, workers: int) -> None:
    assert Remaining(cells, seconds).workers(threads, LATER) == workers


def test_one_before_it_is_known_what_cells_take() -> None:
    assert Remaining().workers(1, 0.0) == 1
    assert Remaining(1000).workers(1, 0.0) == 1
    # The first cells compile.
    assert Remaining(1000, 1e6).workers(1, WORTH_SECONDS / 2) == 1
    assert Remaining(0, 0.0).workers(1, 0.0) == 0
