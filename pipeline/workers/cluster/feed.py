"""Everything that knows Dask: connecting to workers and keeping them fed with cells."""

from __future__ import annotations

import contextlib
import itertools
import logging
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InputError
from ...run.task import failed, run_cell
from ...store.cell_result import CellResult
from ...study.cell import Cell

if TYPE_CHECKING:
    from distributed import Client

# Seconds to wait for a scheduler or its first worker before saying that nobody answers.
CONNECT_TIMEOUT = 5.0
# Cells handed to Dask and not yet back: enough that no worker runs dry between two refills, few enough that
# a study of a million cells does not choke the scheduler.
CELLS_PER_THREAD = 128
# Finished cells are fetched together this often: long beside a fetch (about 0.3 ms), short beside a flush.
BATCH_SECONDS = 0.05


@contextlib.contextmanager
def connect(scheduler: str | None, scheduler_file: str | None) -> Iterator[Client]:
    """Connect to a running Dask cluster.

    Parameters
    ----------
    scheduler : str or None
        Address of its scheduler, such as ``"tcp://10.0.0.1:8786"``.
    scheduler_file : str or None
        JSON file that ``dask scheduler --scheduler-file`` wrote; one of the two.

    Yields
    ------
    distributed.Client

    Raises
    ------
    InputError
        No scheduler answers, or it has no workers, within `CONNECT_TIMEOUT` seconds.
    """
    from distributed import Client

    where = f"scheduler {scheduler}" if scheduler else f"scheduler file {scheduler_file}"
    # Dask would wait for the file for ever.
    if scheduler_file is not None and not Path(scheduler_file).is_file():
        raise InputError(
            f"scheduler file {scheduler_file}: no such file: `dask scheduler --scheduler-file` writes it"
        )
    # The retries of the connection would be logged line by line; the one line below says it all.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    try:
        client = Client(scheduler, scheduler_file=scheduler_file, timeout=CONNECT_TIMEOUT)
    except (OSError, TimeoutError, ValueError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{where}: does not answer within {CONNECT_TIMEOUT:.0f} s ({reason})") from None
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_TIMEOUT)
        except TimeoutError:
            raise InputError(
                f"{where}: has no workers: start one with `dask worker {scheduler or '...'}`"
            ) from None
        yield client


def compute(client: Client, cells: Iterable[Cell], done: Callable[[list[CellResult]], None]) -> None:
    """Run cells as Dask tasks, one task a cell, with a sliding window of outstanding ones.

    Parameters
    ----------
    client : distributed.Client
    cells : iterable of Cell
        Read lazily.
    done : callable
        Called in this thread with each batch of outcomes as they come in, in no particular order.
    """
    from distributed import as_completed

    waiting = iter(cells)
    window = CELLS_PER_THREAD * max(2, sum(client.nthreads().values()))
    by_future: dict[Any, Cell] = {}
    futures: Any = as_completed(loop=client.loop)

    def refill() -> None:
        batch = list(itertools.islice(waiting, window - len(by_future)))
        if batch:
            submitted = client.map(run_cell, batch, pure=False, batch_size=None)
            by_future.update((future.key, cell) for future, cell in zip(submitted, batch, strict=True))
            futures.update(submitted)

    refill()
    while by_future:
        finished = futures.next_batch(block=True)
        # The window keeps the workers busy meanwhile; results fetched one by one cost more than short cells.
        time.sleep(BATCH_SECONDS)
        finished += futures.next_batch(block=False)
        done(_outcomes(client, [(future, by_future.pop(future.key)) for future in finished]))
        # Refilled in halves: one message to the scheduler carries many cells.
        if len(by_future) <= window // 2:
            refill()


def _outcomes(client: Client, finished: list[tuple[Any, Cell]]) -> list[CellResult]:
    """Return what the tasks returned; a task that Dask itself lost becomes a failed row."""
    # Gathered together: every call waits for a turn of the event loop.
    returned = client.gather([future for future, _ in finished if future.status == "finished"], errors="skip")
    outcomes: list[CellResult] = list(returned)
    kept = {outcome.row["key"] for outcome in outcomes}
    for future, cell in finished:
        if cell.key not in kept:
            outcomes.append(failed(cell, future.exception() or RuntimeError(f"the task was {future.status}")))
    return outcomes
