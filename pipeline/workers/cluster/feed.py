"""Run a study's cells as Dask tasks, and run them again if their worker or the scheduler is lost.

A task runs a reading: a tuple of one or more cells that read the same rows together.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import itertools
import time
import uuid
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from pickle import loads
from typing import TYPE_CHECKING, Any, TypeVar

from ...errors import InputError
from ...run.readings import Reading
from ...run.task import crashed
from ...store.schema import CellResult
from ..subprocess_runner import TRIES
from .aside import SILENT_SECONDS, Aside, Attendance, Roll, release_all
from .connection import Lost, SchedulerPlace, connected, raise_if_cancelled, run_to_its_end
from .on_worker import NotPrepared, message, run_here
from .waiting import Waiting
from .workforce import Workforce

if TYPE_CHECKING:
    from distributed import Client, Future

# Seconds between two checks of which results workers have written to the store. A result that is not there so
# long after its cell ended counts as missing, because a connected worker writes it sooner.
_LEDGER_SECONDS = 30.0
# Pause before a task that was lost with its worker or scheduler is retried: it doubles with each loss, up to
# the longest pause.
_PAUSE_SECONDS, _LONGEST_PAUSE = 0.1, 10.0
# If the same task is lost more often than this, the run stops, because that cannot be an accident.
_MOST_LOST = 50


@dataclass
class Try:
    """A group of cells that are run together and have no stored results yet, and how often it was tried."""

    reading: Reading
    # Number of tries that ended without stored results.
    lost: int = 0
    # None if the cells run in a thread of the worker. Otherwise each cell runs in its own subprocess of the
    # worker, and this is the number of times that the worker crashed nevertheless.
    alone: int | None = None
    # Earliest time of the next try, on the monotonic clock.
    not_before: float = 0.0
    # How often the cells were taken from a silent or unfit worker, to run elsewhere.
    given_away: int = 0
    # Whether a worker reported the cells as run, but disappeared before it wrote their results.
    told: bool = False

    @property
    def name(self) -> str:
        """The name of the Dask task for the next try; a client that connects again makes the same name."""
        alone = "" if self.alone is None else f"-{self.alone}"
        keys = [cell.key for cell in self.reading]
        name = keys[0] if len(keys) == 1 else hashlib.sha256("".join(keys).encode()).hexdigest()[:32]
        return f"cell-{name}-{self.lost}{alone}"

    def by_cell(self) -> list[Try]:
        """Return a `Try` for each of the cells, with the same history, so that each is retried alone."""
        return [replace(self, reading=(cell,)) for cell in self.reading]

    def give_away(self) -> None:
        """Note that the cells were taken from a silent or unfit worker; after two times, use subprocesses.

        The cells themselves may be the cause: compiled code that keeps the GIL makes a worker silent, unless
        it runs in a subprocess of the worker.
        """
        self.given_away += 1
        if self.given_away > 1 and self.alone is None:
            self.alone = 0
        self.lose("its workers were silent or unfit")

    def lose(self, reason: str) -> None:
        """Count a try that ended without stored results, and set the earliest time of the next try.

        Raises InputError if more than `_MOST_LOST` tries of these cells have ended in this way.
        """
        self.lost += 1
        if self.lost > _MOST_LOST:
            spec = self.reading[0].spec
            raise InputError(
                f"the cell of {spec.algorithm} on {spec.dataset.label} (noise {spec.noise.slug}, seed "
                f"{spec.seed}) was lost {self.lost} times before its result was stored ({reason}); "
                "stored results are kept"
            )
        pause = min(_PAUSE_SECONDS * 2 ** min(self.lost - 1, 10), _LONGEST_PAUSE)
        self.not_before = time.monotonic() + pause


class Ledger:
    """Remember the cells that workers report as run, until the workers have written their results.

    `new_keys` returns the keys of the cells whose results were added to the store since its last call.
    """

    def __init__(self, new_keys: Callable[[], Iterable[str]]) -> None:
        self._new_keys = new_keys
        self._open: dict[str, tuple[Try, float]] = {}
        self._early: set[str] = set()
        self._looked = time.monotonic()

    def add(self, each: Try) -> None:
        """Remember cells that a worker has run, and whose results it will write to the store."""
        for part in each.by_cell():
            key = part.reading[0].key
            if key in self._early:
                self._early.discard(key)
            else:
                self._open[key] = part, time.monotonic()

    def late(self) -> bool:
        """Check the store, unless a check is recent; return whether it lacks results that are overdue."""
        if not self._open or time.monotonic() - self._looked < _LEDGER_SECONDS:
            return False
        self._look()
        return bool(self._overdue())

    def settle(self, *, at_once: bool) -> list[Try]:
        """Check the store; forget and return the cells whose results are overdue and must be computed again.

        With `at_once`, these are all cells whose results are not in the store.
        """
        if not self._open:
            return []
        self._look()
        return [self._open.pop(key)[0] for key in (list(self._open) if at_once else self._overdue())]

    def _look(self) -> None:
        self._looked = time.monotonic()
        for key in self._new_keys():
            if self._open.pop(key, None) is None:
                self._early.add(key)

    def _overdue(self) -> list[str]:
        now = time.monotonic()
        return [key for key, (_, since) in self._open.items() if now - since > _LEDGER_SECONDS]


T = TypeVar("T")

# Number of tasks per worker thread that the scheduler has at a time: enough to keep workers busy until it
# gets more, few enough not to overload it with a study of a million cells.
READINGS_PER_THREAD = 128
# Seconds during which results are collected, to fetch them together: long compared with a fetch (0.3 ms), but
# short compared with the interval at which results are written to the store.
_BATCH_SECONDS = 0.05
# Seconds between two checks which workers are connected.
_LOOK_SECONDS = 0.5
# If the scheduler does not answer a call for this long, the connection counts as lost.
_ANSWER_SECONDS = 30.0
# At the end of a run, wait at most this long for the scheduler's answer.
_GOODBYE_SECONDS = 5.0


class Feed:
    """Run groups of cells (readings) as Dask tasks, one task per group, a limited number of tasks at a time.

    `patience` is the longest wait in seconds for a scheduler, or for a worker that can run cells. `note`
    receives a line when something is waited for. `ledger` tracks the results that workers write themselves.
    `attend` receives the numbers of workers whenever they change. If a worker sends no heartbeat for
    `silent_seconds`, its cells are given to other workers.
    """

    def __init__(
        self,
        place: SchedulerPlace,
        workforce: Workforce,
        patience: float,
        note: Callable[[str], None],
        ledger: Ledger,
        attend: Callable[[Attendance], None],
        silent_seconds: float = SILENT_SECONDS,
    ) -> None:
        self._roll, self._silent_seconds = Roll(attend), silent_seconds
        self._place, self._workforce, self._patience, self._note = place, workforce, patience, note
        self._ledger = ledger
        self._told = False

    def __call__(self, readings: Iterable[Reading], done: Callable[[list[CellResult]], None]) -> None:
        """Run all groups of cells, and pass each batch of results to `done`, in no particular order.

        The iterable `readings` is consumed lazily. `done` is called in this thread, or in another one if an
        event loop runs in this thread, as in a notebook.
        """
        run_to_its_end(self._run(iter(readings), done))

    async def _run(self, readings: Iterator[Reading], done: Callable[[list[CellResult]], None]) -> None:
        again: deque[Try] = deque()
        while True:
            async with connected(self._place, self._patience, self._wait) as client:
                self._tell_dashboard(client)
                aside = Aside(self._silent_seconds, self._note)
                window = _Window(
                    client, self._workforce, readings, again, done, self._ledger, aside, self._roll
                )
                try:
                    await window.work(self._patience, self._note, self._place)
                    # An interrupt before the next connection must not count on workers.
                    self._workforce.forget()
                    return
                except Lost:
                    again = window.all_tries()
                    self._workforce.forget(lost=True)
                    self._roll.dismiss()
                finally:
                    if client.status == "running":
                        with contextlib.suppress(OSError, RuntimeError):
                            await asyncio.wait_for(release_all(client), _GOODBYE_SECONDS)

    def _wait(self, line: str) -> None:
        """Report a wait for the scheduler, during which no worker is connected."""
        self._roll.dismiss()
        self._note(line)

    def _tell_dashboard(self, client: Client) -> None:
        # Ignore errors: a scheduler may have no dashboard.
        with contextlib.suppress(Exception):
            if not self._told and client.dashboard_link:
                self._note(f"dashboard: {client.dashboard_link}")
        self._told = True


class _Window:
    """Run groups of cells over one connection to the scheduler, a limited number of tasks at a time."""

    def __init__(
        self,
        client: Client,
        workforce: Workforce,
        readings: Iterator[Reading],
        again: deque[Try],
        done: Callable[[list[CellResult]], None],
        ledger: Ledger,
        aside: Aside,
        roll: Roll,
    ) -> None:
        from distributed import as_completed

        self._client, self._workforce, self._readings, self._done = client, workforce, readings, done
        self._ledger, self._aside, self._roll = ledger, aside, roll
        self._again = again
        self._out: dict[str, Try] = {}
        self._completed: Any = as_completed(loop=client.loop)
        self._threads = 0
        self._exhausted = False

    def all_tries(self) -> deque[Try]:
        """Return all groups of cells that were begun or wait for another try, and have no results yet."""
        return deque([*self._out.values(), *self._again])

    async def work(self, patience: float, note: Callable[[str], None], place: SchedulerPlace) -> None:
        """Run all groups of cells; raise Lost if the scheduler is gone, InputError if no worker is usable."""
        await self._answer(partial(release_all, self._client))
        waiting, looked = Waiting(place, patience, note), 0.0
        while True:
            raise_if_cancelled()
            if time.monotonic() - looked >= _LOOK_SECONDS:
                looked = time.monotonic()
                threads = await self._answer(self._client.nthreads)
                self._threads = sum(threads.values())
                n_asked = place.starting.n_asked if place.starting else 0
                limit = await self._workforce.look(self._client, threads, patience, n_asked)
                await self._take_back(threads)
                silent, unfit = len(self._aside.silent), len(self._workforce.unfit)
                await self._answer(partial(self._roll.call, self._client, threads, silent, unfit))
                ready = bool(self._workforce.prepared - self._aside.stuck) or self._workforce.sending
                await waiting.look(ready, bool(threads), 0 < unfit == len(threads), limit)
            if self._workforce.prepared:
                self._refill()
            idle = not self._out and not self._again and self._exhausted
            if idle or self._ledger.late():
                # Ask the connected workers to write their results now; those that cannot get no more cells.
                await self._workforce.flush(self._client, self._aside.silent)
                for each in self._ledger.settle(at_once=idle):
                    each.lose("its worker was gone before it wrote the outcome")
                    each.told = True
                    self._again.append(each)
            if idle and not self._again:
                return
            await self._collect()

    async def _take_back(self, there: Collection[str]) -> None:
        """Take cells from workers that became silent or unfit, to run them elsewhere."""
        from distributed import Future

        keys = await self._answer(partial(self._aside.look, self._client, self._workforce, there))
        mine = [key for key in keys if key in self._out]
        for key in mine:
            each = self._out.pop(key)
            each.give_away()
            self._retry(each)
        # Cancel the tasks: if the old worker still returns results, they are ignored.
        futures: list[Future[Any]] = [Future(key, self._client) for key in mine]
        if futures:
            await self._answer(partial(self._client.cancel, futures, force=True))

    async def _answer(
        self, call: Callable[[], Awaitable[T]], or_else: T | None = None, seconds: float = _ANSWER_SECONDS
    ) -> T:
        """Call the scheduler and return its answer; raise Lost if it is gone or does not answer in time.

        If `or_else` is given, return that after a timeout instead.
        """
        if self._client.status != "running":
            raise Lost
        try:
            return await asyncio.wait_for(call(), seconds)
        except asyncio.CancelledError:
            # Either this run was cancelled, or Dask cancelled the call because the scheduler is gone.
            raise_if_cancelled()
            raise Lost from None
        except (OSError, RuntimeError) as error:
            if isinstance(error, TimeoutError) and or_else is not None:
                return or_else
            raise Lost from None

    def _refill(self) -> None:
        """Give the scheduler more tasks up to the limit, once it has at most half of that number."""
        from distributed import fire_and_forget

        window = READINGS_PER_THREAD * max(2, self._threads)
        if len(self._out) > window // 2:
            return
        now, room = time.monotonic(), window - len(self._out)
        due = [each for each in self._again if each.not_before <= now][:room]
        for each in due:
            self._again.remove(each)
        new = [Try(reading) for reading in itertools.islice(self._readings, room - len(due))]
        self._exhausted = self._exhausted or len(new) < room - len(due)
        # Tasks that were lost come before new ones: if one crashes its worker again, there is time to retry.
        tries = due + new
        if not tries:
            return
        if self._client.status != "running":
            self._again.extendleft(tries)
            raise Lost
        run = self._workforce.preparation.run
        shared = self._workforce.preparation.output is not None
        # If workers write results, use fixed names: a client that reconnects finds its earlier tasks by them.
        keys = [f"{each.name}-{run}" if shared else f"cell-{uuid.uuid4().hex}" for each in tries]
        # Send all tasks to the scheduler in one message.
        messages = [message(run_here, run, each.reading, each.alone is not None, each.lost) for each in tries]
        futures = self._client.map(loads, messages, key=keys, pure=False, batch_size=None)
        if self._workforce.writes:
            # Let workers finish these tasks even if the client disconnects. Results of workers that do not
            # write are then lost, and recomputed when the client reconnects.
            fire_and_forget(futures)
        self._out.update(zip(keys, tries, strict=True))
        self._completed.update(futures)

    async def _collect(self) -> None:
        """Wait up to `_LOOK_SECONDS` for a task to end; then process all tasks that have ended."""
        if not self._out:
            await asyncio.sleep(_BATCH_SECONDS)
            return
        try:
            first = await asyncio.wait_for(anext(self._completed), _LOOK_SECONDS)
        except TimeoutError:
            return
        except StopAsyncIteration:
            raise Lost from None
        # Wait for more tasks to end and fetch their results together, because a fetch takes longer than a
        # short cell. The workers have other tasks meanwhile.
        await asyncio.sleep(_BATCH_SECONDS)
        come: list[Future[Any]] = [first, *self._completed.next_batch(block=False)]
        # Skip tasks that were taken back from a worker, which also appear here.
        finished = [future for future in come if future.key in self._out]
        whole = [future for future in finished if future.status == "finished"]
        outcomes: list[list[CellResult]] = []
        if whole:
            # `gather` waits for frozen workers and recomputes results of lost ones. As this loop cannot find
            # silent workers meanwhile, the timeout is at most the time after which a worker counts as silent.
            gather = partial(self._client.gather, whole, errors="skip")
            outcomes = await self._answer(
                gather, or_else=[], seconds=min(_ANSWER_SECONDS, self._aside.seconds)
            )
        # Results by the key of a task's first cell. Their positions do not tell the task, because `gather`
        # skips lost results.
        by_key = {found[0].row["key"]: found for found in outcomes}
        ready: list[CellResult] = []
        try:
            for future in finished:
                each = self._out[str(future.key)]
                found = by_key.get(each.reading[0].key) or await self._without_outcomes(future, each)
                # Forget the task only now: if a line above raises Lost, its cells must be run again.
                del self._out[str(future.key)]
                for outcome in found:
                    outcome.again = each.told
                    ready.append(outcome)
                if found and found[0].stored:
                    self._ledger.add(each)
        finally:
            if ready:
                self._done(ready)

    async def _without_outcomes(self, future: Future[Any], each: Try) -> list[CellResult]:
        """Handle a task that returned no results: run its cells again, and return [].

        If the cells crash their workers again and again, return results with status "crashed" instead.
        """
        from distributed import KilledWorker

        error = await self._answer(future.exception) if future.status == "error" else None
        if isinstance(error, NotPrepared):
            self._workforce.ask_again()
        if isinstance(error, KilledWorker):
            each.alone = 0 if each.alone is None else each.alone + 1
            if each.alone >= TRIES:
                reason = f"crashed its worker {each.alone} times although it ran in a subprocess"
                outcomes = [crashed(cell, reason) for cell in each.reading]
                for outcome in outcomes:
                    outcome.row["attempts"] = each.lost + 1
                return outcomes
        each.lose(f"{type(error).__name__}: {error}" if error else f"the task was {future.status}")
        self._retry(each)
        return []

    def _retry(self, each: Try) -> None:
        """Plan another try of the cells: together, or one by one if they run in subprocesses."""
        self._again += [each] if each.alone is None else each.by_cell()
