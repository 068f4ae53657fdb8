"""Give no cells to workers that send no heartbeat or are unfit, and count the workers of a run by state."""

from __future__ import annotations

import asyncio
import inspect
import textwrap
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass
from pickle import loads
from typing import TYPE_CHECKING, Any

from .on_worker import message

if TYPE_CHECKING:
    from distributed import Client

    from .workforce import Workforce


@dataclass(frozen=True)
class Attendance:
    """The numbers of connected, lost, silent and unfit workers of a run."""

    # Connected workers, including silent and unfit ones.
    now: int = 0
    # Workers that left without notice since the run began: killed, preempted, out of memory.
    lost: int = 0
    # Connected workers that have sent no heartbeat for some time.
    silent: int = 0
    # Connected workers that get no cells, because they cannot be prepared or have other package versions.
    unfit: int = 0

    def __str__(self) -> str:
        named = {name: n for name, n in asdict(self).items() if n and name != "now"}
        return ", ".join(
            [
                f"{self.now:,} worker{'' if self.now == 1 else 's'}",
                *(f"{n:,} {name}" for name, n in named.items()),
            ]
        )


class Roll:
    """Count the workers of a run by state (see `Attendance`), and call `tell` whenever a number changes."""

    def __init__(self, tell: Callable[[Attendance], None]) -> None:
        self._tell = tell
        self._told: Attendance | None = None
        self._there: set[str] = set()
        self._lost = 0

    async def call(self, client: Client, there: Collection[str], silent: int, unfit: int) -> None:
        """Update the counts, given the addresses of connected workers and how many are silent and unfit."""
        gone = self._there.difference(there)
        self._there = set(there)
        self._lost += sum(await asyncio.gather(*(_is_lost(client, address) for address in gone)))
        self._show(Attendance(len(there), self._lost, silent, unfit))

    def dismiss(self) -> None:
        """Report that no worker is connected, because the scheduler does not answer."""
        self._show(Attendance(lost=self._lost))

    def _show(self, attendance: Attendance) -> None:
        if attendance != self._told:
            self._told = attendance
            self._tell(attendance)


async def _is_lost(client: Client, address: str) -> bool:
    """Return whether a worker left unexpectedly: it was not retired, and its lifetime was not over."""
    # Typed as Any, because Dask declares it as possibly None; it is set while the client is connected.
    scheduler: Any = client.scheduler
    events = [event for _, event in await scheduler.events(topic=address) if isinstance(event, dict)]
    ends = [event for event in events if event.get("action") == "remove-worker"]
    return bool(ends) and not ends[-1].get("expected")


# A worker that sends no heartbeat for this long is treated as silent: its cells are given to other workers.
# Dask's workers send one every 0.5 s, or every 6 s if there are 1,000. If a worker is taken for silent by
# mistake, its cells are computed twice, which is harmless.
SILENT_SECONDS = 30.0
# Seconds between two requests to the scheduler for the workers without recent heartbeats.
_LOOK_SECONDS = 2.0


class Aside:
    """Keep the scheduler from giving cells to unfit and silent workers; name workers that Dask has paused.

    A worker is silent after `silent_seconds` without a heartbeat. Dask pauses a worker whose memory is nearly
    full: it finishes the cells that it runs, and begins no others until Dask resumes it. `note` receives a
    line when a worker falls silent or is paused, and when that ends.
    """

    def __init__(self, silent_seconds: float, note: Callable[[str], None]) -> None:
        self.seconds, self._note = silent_seconds, note
        self._held: set[str] = set()
        self._suspects: set[str] = set()
        self._said: set[str] = set()
        self._paused: set[str] = set()
        self._said_paused: set[str] = set()
        # Addresses of the paused workers that run no cell, so that only other workers can go on.
        self.stuck: frozenset[str] = frozenset()
        self._looked = 0.0

    @property
    def silent(self) -> frozenset[str]:
        """Addresses of the workers that are silent now."""
        return frozenset(self._said)

    async def look(self, client: Client, workforce: Workforce, there: Collection[str]) -> list[str]:
        """Stop giving cells to unfit and silent workers, and give cells to recovered ones again.

        `there` has the addresses of all connected workers. Return the keys of the tasks that the newly
        excluded workers have, which must run elsewhere.
        """
        unfit = workforce.unfit - self._held
        if not unfit and time.monotonic() - self._looked < _LOOK_SECONDS:
            return []
        self._looked = time.monotonic()
        found, paused = await _on_scheduler(client, _silent_and_paused, self.seconds)
        # Include workers that are not prepared: the scheduler gives cells to them too. Wait longer for these,
        # because their first imports may keep them from sending heartbeats.
        late = {each for each, seconds in found.items() if seconds > 2 * self.seconds}
        silent = (found.keys() & (workforce.prepared | late) & set(there)) - workforce.unfit
        # A worker counts as silent only in the second check that finds it so: when this machine wakes up from
        # sleep, all workers seem silent in the first check.
        confirmed, self._suspects = silent & self._suspects, silent
        for address in (self._said - silent) & set(there):
            self._note(f"worker {workforce.where(address)} sends heartbeats again")
        self._said &= silent
        back = self._held - workforce.unfit - silent
        if back:
            await _on_scheduler(client, _release, sorted(back), client.id)
            self._held -= back
        well = set(there) - silent - workforce.unfit
        others = well & workforce.prepared
        if well and not others:
            # Other workers are being prepared: wait for them.
            confirmed = set()
        new = unfit | (confirmed - self._held) if others else set()
        held: dict[str, list[str]] = await _on_scheduler(client, _hold, sorted(new), client.id) if new else {}
        self._held |= new
        for address in sorted(confirmed - self._said):
            self._said.add(address)
            n = len(held.get(address, ()))
            cells = f"its {n} cell{' goes' if n == 1 else 's go'} to others"
            worker = f"worker {workforce.where(address)} has been silent for {found[address]:.0f} s"
            self._note(f"{worker}: {cells if others else 'no other worker can run its cells'}")
        self._look_at_paused(workforce, there, paused)
        return [key for keys in held.values() for key in keys]

    def _look_at_paused(
        self, workforce: Workforce, there: Collection[str], paused: Mapping[str, int]
    ) -> None:
        """Note which workers are paused; `paused` has the number of cells that each of them runs."""
        here = paused.keys() & set(there)
        # As for silent workers, only the second check counts: Dask resumes most workers within a second.
        confirmed, self._paused = here & self._paused, here
        self.stuck = frozenset(address for address in confirmed if not paused[address])
        for address in sorted((self._said_paused - here) & set(there)):
            self._note(f"worker {workforce.where(address)} is no longer paused")
        self._said_paused &= here
        for address in sorted(confirmed - self._said_paused):
            self._said_paused.add(address)
            self._note(
                f"Dask has paused worker {workforce.where(address)}, whose memory is nearly full: cells that "
                "wait there begin when Dask resumes it, or elsewhere if you end it; give workers a larger "
                "memory_limit, or fewer threads"
            )


async def release_all(client: Client) -> None:
    """Let all workers get tasks again, except those that another connected client has excluded."""
    await _on_scheduler(client, _release, None, client.id)


async def _on_scheduler(client: Client, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function on the scheduler, and return its result.

    The function's source code is sent, because this package may not be installed at the scheduler.
    """
    source = "from __future__ import annotations\n" + textwrap.dedent(inspect.getsource(function))
    names = {"source": source, "args": args, "names": {}}
    call = f"(exec(source, names), names[{function.__name__!r}](*args))[1]"
    return await client.run_on_scheduler(loads, message(eval, call, names))


def _silent_and_paused(seconds: float) -> tuple[dict[str, float], dict[str, int]]:
    """Return workers without a heartbeat in the last `seconds`, and workers that have paused themselves.

    The first have the seconds since their last heartbeat, the second the number of tasks that they run. This
    function runs on the scheduler.
    """
    from time import time

    from distributed import Scheduler

    ages, paused = {}, {}
    for scheduler in list(Scheduler._instances):
        for address, worker in scheduler.workers.items():
            ages[address] = time() - worker.last_seen
            if worker.status.name == "paused" and "singlepass-aside" not in worker.extra:
                paused[address] = len(worker.executing)
    return {address: age for address, age in ages.items() if age > seconds}, paused


def _hold(addresses: list[str], client: str) -> dict[str, list[str]]:
    """Pause workers, so that they get no further tasks; return the keys of the tasks that each one has.

    This function runs on the scheduler. It notes the client that asks, because several may exclude a worker.
    """
    from distributed import Scheduler

    held = {}
    for scheduler in list(Scheduler._instances):
        for address in scheduler.workers.keys() & addresses:
            worker = scheduler.workers[address]
            # Do not change a worker that paused itself or is about to close.
            if "singlepass-aside" in worker.extra or worker.status.name == "running":
                clients = worker.extra.setdefault("singlepass-aside", [])
                clients += [client] * (client not in clients)
                scheduler.handle_worker_status_change("paused", worker, "singlepass-aside")
            held[address] = [str(task.key) for task in worker.processing]
    return held


def _release(addresses: list[str] | None, client: str) -> None:
    """Let these workers (None: all) get tasks again, unless another connected client excludes them.

    This function runs on the scheduler.
    """
    from distributed import Scheduler

    for scheduler in list(Scheduler._instances):
        for address, worker in list(scheduler.workers.items()):
            clients = worker.extra.get("singlepass-aside")
            if clients is None or not (addresses is None or address in addresses):
                continue
            clients[:] = [each for each in clients if each != client and each in scheduler.clients]
            if not clients:
                del worker.extra["singlepass-aside"]
                if worker.status.name == "paused":
                    scheduler.handle_worker_status_change("running", worker, "singlepass-aside")
