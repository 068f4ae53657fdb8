"""Keeping the workers of a cluster fed with cells, whatever happens to workers, scheduler and network."""

from __future__ import annotations

import asyncio
import itertools
import time
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pickle import loads
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import InputError
from ...run.task import crashed
from ...store.cell_result import CellResult
from ...study.cell import Cell
from ..apart import TRIES
from .connection import Lost, SchedulerPlace, connected
from .on_worker import cell_message
from .workforce import Workforce

if TYPE_CHECKING:
    from distributed import Client, Future

T = TypeVar("T")

# Cells handed to Dask and not yet back: enough that no worker runs dry between two refills, few enough that
# a study of a million cells does not choke the scheduler.
CELLS_PER_THREAD = 128
# Finished cells are fetched together this often: long beside a fetch (about 0.3 ms), short beside a flush.
_BATCH_SECONDS = 0.05
# Between two looks at who is there.
_LOOK_SECONDS = 0.5
# A scheduler that has not answered for so long is taken for gone.
_ANSWER_SECONDS = 30.0
# A cell that is lost with its worker or scheduler waits before its next try, twice as long each time.
_PAUSE_SECONDS, _LONGEST_PAUSE = 0.1, 10.0
# So often in a row is no accident of the cell's.
_MOST_LOST = 50


@dataclass
class _Try:
    """A cell on its way to an outcome.

    Attributes
    ----------
    cell : Cell
    lost : int
        How often it was taken along by what is not its fault.
    alone : int or None
        How often it has taken a worker along since it was run alone; None: it has not been.
    not_before : float
        When it is to be tried again, on the monotonic clock.
    """

    cell: Cell
    lost: int = 0
    alone: int | None = None
    not_before: float = field(default=0.0)

    def lose(self, reason: str) -> None:
        """Note that it was lost, and when it is to be tried again."""
        self.lost += 1
        if self.lost > _MOST_LOST:
            spec = self.cell.spec
            raise InputError(
                f"the cell of {spec.algorithm} on {spec.dataset.label} (noise {spec.noise.slug}, seed "
                f"{spec.seed}) was lost {self.lost} times on its way ({reason}); what is finished is kept"
            )
        pause = min(_PAUSE_SECONDS * 2 ** min(self.lost - 1, 10), _LONGEST_PAUSE)
        self.not_before = time.monotonic() + pause


class Feed:
    """Runs cells as Dask tasks, one task a cell, with a sliding window of outstanding ones.

    Parameters
    ----------
    place : SchedulerPlace
    workforce : Workforce
        Prepares the workers.
    patience : float
        Seconds for which a scheduler or a first worker is waited for.
    note : callable
        Told, in a line, what is waited for.
    """

    def __init__(
        self, place: SchedulerPlace, workforce: Workforce, patience: float, note: Callable[[str], None]
    ) -> None:
        self._place, self._workforce, self._patience, self._note = place, workforce, patience, note

    def __call__(self, cells: Iterable[Cell], done: Callable[[list[CellResult]], None]) -> None:
        """Run cells.

        Parameters
        ----------
        cells : iterable of Cell
            Read lazily.
        done : callable
            Called in this thread with each batch of outcomes as they come in, in no particular order.

        Raises
        ------
        InputError
            Nobody answers for as long as patience lasts, or a worker is not like this process.
        """
        asyncio.run(self._run(iter(cells), done))

    async def _run(self, cells: Iterator[Cell], done: Callable[[list[CellResult]], None]) -> None:
        again: deque[_Try] = deque()
        while True:
            async with connected(self._place, self._patience, self._note) as client:
                window = _Window(client, self._workforce, cells, again, done)
                try:
                    await window.work(self._patience, self._note, self._place)
                    return
                except Lost:
                    again = window.all_tries()


class _Window:
    """The cells that one connection has handed to the scheduler, and what becomes of them."""

    def __init__(
        self,
        client: Client,
        workforce: Workforce,
        cells: Iterator[Cell],
        again: deque[_Try],
        done: Callable[[list[CellResult]], None],
    ) -> None:
        from distributed import as_completed

        self._client, self._workforce, self._cells, self._done = client, workforce, cells, done
        self._again = again
        self._out: dict[str, _Try] = {}
        self._completed: Any = as_completed(loop=client.loop)
        self._threads = 0
        self._exhausted = False

    def all_tries(self) -> deque[_Try]:
        """Return what has no outcome yet of what was taken from the cells."""
        return deque([*self._out.values(), *self._again])

    async def work(self, patience: float, note: Callable[[str], None], place: SchedulerPlace) -> None:
        """Run everything.

        Raises
        ------
        Lost
            The scheduler is gone.
        InputError
            There is no worker for as long as patience lasts, or one is not like this process.
        """
        alone_since, said, looked = time.monotonic(), False, 0.0
        while True:
            if time.monotonic() - looked >= _LOOK_SECONDS:
                looked = time.monotonic()
                threads = await self._answer(self._client.nthreads)
                self._threads = sum(threads.values())
                await self._workforce.look(self._client, threads)
                if threads:
                    if said:
                        note(f"{place}: has workers")
                    alone_since, said = looked, False
                elif looked - alone_since > patience:
                    raise InputError(
                        f"{place}: had no workers for {patience:g} s; what is finished is kept: start one "
                        f"with `dask worker {place.address or '...'}`, and run again"
                    )
                elif not said:
                    said = True
                    note(f"{place}: has no workers; waiting for one, {patience:g} s at most (--patience)")
            if self._workforce.ready:
                self._refill()
            if not self._out and not self._again and self._exhausted:
                return
            await self._collect()

    async def _answer(self, call: Callable[[], Awaitable[T]], or_else: T | None = None) -> T:
        """Return what the scheduler answers, or something else when that takes long.

        Raises
        ------
        Lost
            It does not.
        """
        if self._client.status != "running":
            raise Lost
        try:
            return await asyncio.wait_for(call(), _ANSWER_SECONDS)
        except asyncio.CancelledError:
            # Of this run, or of futures whose scheduler is gone.
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise Lost from None
        except (OSError, RuntimeError) as error:
            if isinstance(error, TimeoutError) and or_else is not None:
                return or_else
            raise Lost from None

    def _refill(self) -> None:
        """Hand on cells until the window is full, once half of it has come back."""
        window = CELLS_PER_THREAD * max(2, self._threads)
        if len(self._out) > window // 2:
            return
        now, room = time.monotonic(), window - len(self._out)
        due = [each for each in self._again if each.not_before <= now][:room]
        for each in due:
            self._again.remove(each)
        new = [_Try(cell) for cell in itertools.islice(self._cells, room - len(due))]
        self._exhausted = self._exhausted or len(new) < room - len(due)
        # Those that a worker may die of first: each then has the others' time to be tried again.
        tries = due + new
        if not tries:
            return
        if self._client.status != "running":
            self._again.extendleft(tries)
            raise Lost
        run = self._workforce.preparation.run
        keys = [f"cell-{uuid.uuid4().hex}" for _ in tries]
        # One message to the scheduler carries them all.
        messages = [cell_message(run, each.cell, each.alone is not None) for each in tries]
        futures = self._client.map(loads, messages, key=keys, pure=False, batch_size=None)
        self._out.update(zip(keys, tries, strict=True))
        self._completed.update(futures)

    async def _collect(self) -> None:
        """Take in what has come back, if anything does before the next look."""
        if not self._out:
            await asyncio.sleep(_BATCH_SECONDS)
            return
        try:
            first = await asyncio.wait_for(anext(self._completed), _LOOK_SECONDS)
        except TimeoutError:
            return
        except StopAsyncIteration:
            raise Lost from None
        # The window keeps the workers busy meanwhile; results fetched one by one cost more than short cells.
        await asyncio.sleep(_BATCH_SECONDS)
        finished: list[Future[Any]] = [first, *self._completed.next_batch(block=False)]
        whole = [future for future in finished if future.status == "finished"]
        outcomes: list[CellResult] = []
        if whole:
            # One that went with its worker is computed again before this returns, however long that takes.
            outcomes = await self._answer(partial(self._client.gather, whole, errors="skip"), or_else=[])
        by_key = {outcome.row["key"]: outcome for outcome in outcomes}
        ready = []
        for future in finished:
            each = self._out.pop(str(future.key))
            outcome = by_key.get(each.cell.key) or await self._without_outcome(future, each)
            if outcome is not None:
                ready.append(outcome)
        if ready:
            self._done(ready)

    async def _without_outcome(self, future: Future[Any], each: _Try) -> CellResult | None:
        """Put a cell back that Dask has lost; return an outcome for one that takes all workers along."""
        from distributed import KilledWorker

        error = await self._answer(future.exception) if future.status == "error" else None
        if isinstance(error, KilledWorker):
            each.alone = 0 if each.alone is None else each.alone + 1
            if each.alone >= TRIES:
                return crashed(each.cell, f"took its worker along {each.alone} times when it ran alone")
        each.lose(f"{type(error).__name__}: {error}" if error else f"the task was {future.status}")
        self._again.append(each)
        return None
