"""Keeping the workers of a cluster fed with cells, whatever happens to workers, scheduler and network."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import time
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import partial
from pickle import loads
from typing import TYPE_CHECKING, Any, TypeVar

from ...run.task import crashed
from ...store.cell_result import CellResult
from ...study.cell import Cell
from ..apart import TRIES
from .connection import Lost, SchedulerPlace, connected
from .loops import run_to_its_end
from .on_worker import NotPrepared, cell_message
from .tries import Ledger, Try
from .waiting import Waiting
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
    ledger : Ledger
        Of what workers write themselves.
    """

    def __init__(
        self,
        place: SchedulerPlace,
        workforce: Workforce,
        patience: float,
        note: Callable[[str], None],
        ledger: Ledger,
    ) -> None:
        self._place, self._workforce, self._patience, self._note = place, workforce, patience, note
        self._ledger = ledger
        self._told = False

    def __call__(self, cells: Iterable[Cell], done: Callable[[list[CellResult]], None]) -> None:
        """Run cells.

        Parameters
        ----------
        cells : iterable of Cell
            Read lazily.
        done : callable
            Called with each batch of outcomes as they come in, in no particular order: in this thread, unless
            a loop runs in it, as one does in a notebook's.

        Raises
        ------
        InputError
            Nobody answers for as long as patience lasts, or a worker is not like this process.
        """
        run_to_its_end(self._run(iter(cells), done))

    async def _run(self, cells: Iterator[Cell], done: Callable[[list[CellResult]], None]) -> None:
        again: deque[Try] = deque()
        while True:
            async with connected(self._place, self._patience, self._note) as client:
                self._workforce.forget()
                self._tell_dashboard(client)
                window = _Window(client, self._workforce, cells, again, done, self._ledger)
                try:
                    await window.work(self._patience, self._note, self._place)
                    return
                except Lost:
                    again = window.all_tries()

    def _tell_dashboard(self, client: Client) -> None:
        # A scheduler may have none.
        with contextlib.suppress(Exception):
            if not self._told and client.dashboard_link:
                self._note(f"dashboard: {client.dashboard_link}")
        self._told = True


class _Window:
    """The cells that one connection has handed to the scheduler, and what becomes of them."""

    def __init__(
        self,
        client: Client,
        workforce: Workforce,
        cells: Iterator[Cell],
        again: deque[Try],
        done: Callable[[list[CellResult]], None],
        ledger: Ledger,
    ) -> None:
        from distributed import as_completed

        self._client, self._workforce, self._cells, self._done = client, workforce, cells, done
        self._ledger = ledger
        self._again = again
        self._out: dict[str, Try] = {}
        self._completed: Any = as_completed(loop=client.loop)
        self._threads = 0
        self._exhausted = False

    def all_tries(self) -> deque[Try]:
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
        waiting, looked = Waiting(place, patience, note), 0.0
        while True:
            _raise_if_cancelled()
            if time.monotonic() - looked >= _LOOK_SECONDS:
                looked = time.monotonic()
                threads = await self._answer(self._client.nthreads)
                self._threads = sum(threads.values())
                await self._workforce.look(self._client, threads)
                await waiting.look(self._workforce.ready or self._workforce.sending, there=bool(threads))
            if self._workforce.ready:
                self._refill()
            idle = not self._out and not self._again and self._exhausted
            if idle or self._ledger.late():
                # Those that are there say why they have not written, or do it now.
                await self._workforce.flush(self._client)
                for each in self._ledger.settle(at_once=idle):
                    each.lose("its worker went before it was written")
                    each.told = True
                    self._again.append(each)
            if idle and not self._again:
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
        from distributed import fire_and_forget

        window = CELLS_PER_THREAD * max(2, self._threads)
        if len(self._out) > window // 2:
            return
        now, room = time.monotonic(), window - len(self._out)
        due = [each for each in self._again if each.not_before <= now][:room]
        for each in due:
            self._again.remove(each)
        new = [Try(cell) for cell in itertools.islice(self._cells, room - len(due))]
        self._exhausted = self._exhausted or len(new) < room - len(due)
        # Those that a worker may die of first: each then has the others' time to be tried again.
        tries = due + new
        if not tries:
            return
        if self._client.status != "running":
            self._again.extendleft(tries)
            raise Lost
        run = self._workforce.preparation.run
        shared = self._workforce.preparation.output is not None
        # Where workers write, a client that comes back finds what was handed out before under the same name.
        keys = [f"{each.name}-{run}" if shared else f"cell-{uuid.uuid4().hex}" for each in tries]
        # One message to the scheduler carries them all.
        messages = [cell_message(run, each.cell, each.alone is not None, each.lost) for each in tries]
        futures = self._client.map(loads, messages, key=keys, pure=False, batch_size=None)
        if self._workforce.writes:
            # The client may leave: what it has handed out is finished all the same. What a worker that does
            # not write has run by then is nobody's, and run again for the client that comes back.
            fire_and_forget(futures)
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
        try:
            for future in finished:
                each = self._out[str(future.key)]
                outcome = by_key.get(each.cell.key) or await self._without_outcome(future, each)
                # Not before: when the scheduler is lost on the way, it is still to be run.
                del self._out[str(future.key)]
                if outcome is not None:
                    outcome.again = each.told
                    ready.append(outcome)
                    if outcome.stored:
                        self._ledger.add(each.cell.key, each)
        finally:
            if ready:
                self._done(ready)

    async def _without_outcome(self, future: Future[Any], each: Try) -> CellResult | None:
        """Put a cell back that Dask has lost; return an outcome for one that takes all workers along."""
        from distributed import KilledWorker

        error = await self._answer(future.exception) if future.status == "error" else None
        if isinstance(error, NotPrepared):
            self._workforce.forget()
        if isinstance(error, KilledWorker):
            each.alone = 0 if each.alone is None else each.alone + 1
            if each.alone >= TRIES:
                outcome = crashed(each.cell, f"took its worker along {each.alone} times when it ran apart")
                outcome.row["attempts"] = each.lost + 1
                return outcome
        each.lose(f"{type(error).__name__}: {error}" if error else f"the task was {future.status}")
        self._again.append(each)
        return None


def _raise_if_cancelled() -> None:
    """End a task that was interrupted: Python 3.11's `wait_for` forgets that if a result comes along."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
