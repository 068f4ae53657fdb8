"""Prepare a cluster's workers for a run: check their package versions, and send plug-ins and data tables."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from pickle import loads
from typing import TYPE_CHECKING, Any

from ... import data
from ...errors import InputError
from ..environment import Environment, differences, table_of, this_environment
from .on_worker import Answer, Preparation, flush, in_thread, message, prepare

if TYPE_CHECKING:
    from distributed import Client

# Timeout of a worker's answer. The worker may first import this package, which takes long if many workers
# share a disk.
_ANSWER_SECONDS = 60.0
# If all connected workers are unfit from the start, wait this long for others before giving up, because
# workers that are started together connect at different times.
_NOBODY_SECONDS = 10.0
_UNLIKE = "not the versions of this process, see the table: install the same ones, or use --allow-mismatch"


class Workforce:
    """The workers of a cluster; prepares each for a run as soon as it connects.

    Workers that cannot be prepared, or have other package versions than this process, are unfit and get no
    cells; `allow_mismatch` accepts other versions. `note` receives a line about each table that is sent to a
    worker, and about why a worker is unfit.
    """

    def __init__(self, preparation: Preparation, allow_mismatch: bool, note: Callable[[str], None]) -> None:
        self.preparation = preparation
        # Versions and machine of each worker that ever answered, by ``host:pid`` as in column "worker".
        self.environments: dict[str, Environment] = {}
        self._allow_mismatch, self._note = allow_mismatch, note
        self._here = this_environment()
        self._present: set[str] = set()
        # The reason why a worker is unfit, by the worker's address.
        self._unfit: dict[str, str] = {}
        # Time since when all connected workers are unfit and no others are requested; None if that is not so.
        self._nobody_since: float | None = None
        # Whether more workers were requested than are connected.
        self._awaits = False
        # Whether any worker could be prepared so far.
        self._had_fit = False
        # The (host, reason) pairs of unfit workers that were reported, so that each is reported once.
        self._said: set[tuple[str, str]] = set()
        self._places: dict[str, str] = {}
        self._ready: set[str] = set()
        # Addresses of prepared workers that write results to the store themselves.
        self._writing: set[str] = set()
        # Whether workers that write were connected when the client lost its scheduler, and may still run.
        self.may_write = False
        # Addresses of workers that are known to have this package installed.
        self._known: set[str] = set()
        self._preparing: dict[asyncio.Task[None], list[str]] = {}
        # Send tables to one worker at a time, so that further workers on its machine find them there already.
        self._sending = asyncio.Lock()

    @property
    def prepared(self) -> set[str]:
        """Addresses of the connected workers that are prepared, so that cells can run there."""
        return self._ready & self._present

    @property
    def unfit(self) -> set[str]:
        """Addresses of connected workers that cannot be prepared or have other versions than this process."""
        return self._unfit.keys() & self._present

    def where(self, address: str) -> str:
        """Return text that names a worker: its address, with host and cache folder if known."""
        return f"{address} at {self._places[address]}" if address in self._places else address

    @property
    def writes(self) -> bool:
        """Whether any connected worker writes results to the store itself."""
        return bool(self._writing & self._present)

    def forget(self, *, lost: bool = False) -> None:
        """Forget all workers, so that each is prepared again after the client has connected again.

        A worker that is a new process may have the address of an earlier one. `lost` says that the scheduler
        does not answer, so that workers may still have cells.
        """
        self.may_write = lost and (self.writes or self.may_write)
        for task in self._preparing:
            task.cancel()
        self._preparing.clear()
        self._present.clear()
        self._unfit.clear()
        self._nobody_since = None
        self._ready.clear()
        self._writing.clear()
        self._known.clear()
        # Make a new lock, because the old one may belong to an earlier event loop.
        self._sending = asyncio.Lock()

    def ask_again(self) -> None:
        """Forget which workers are prepared, so that `look` prepares them again: one of them was not."""
        preparing = {address for addresses in self._preparing.values() for address in addresses}
        self._present &= self._unfit.keys() | preparing
        self._ready.clear()
        self._writing.clear()

    @property
    def sending(self) -> bool:
        """Whether a table is being sent to a worker now."""
        return self._sending.locked()

    async def look(self, client: Client, there: Collection[str], patience: float, n_asked: int = 0) -> float:
        """Prepare workers that have connected, and forget those that are gone.

        `there` has the addresses of all connected workers. `n_asked` is the number of workers that this
        process requested from its own cluster. Returns the longest wait for a fit worker in seconds:
        `patience`, or `_NOBODY_SECONDS` if all workers are unfit, none was ever fit, and no more are
        expected. Raises InputError if all have been unfit for longer and no more are expected.
        """
        for task in [task for task in self._preparing if task.done()]:
            addresses = self._preparing.pop(task)
            if task.cancelled() or task.exception() is not None:
                self._present.difference_update(addresses)
        for address in self._unfit.keys() - set(there):
            # Forget why a worker that has left was unfit: a repaired one may connect from the same address.
            del self._unfit[address]
            self._known.discard(address)
        self._awaits = n_asked > len(there)
        come = sorted(set(there) - self._present)
        self._present = set(there)
        self._ready &= self._present
        self._writing &= self._present
        if come:
            self._preparing[asyncio.create_task(self._prepare(client, come))] = come
        if self.prepared or self._preparing or not self.unfit or n_asked > len(there):
            self._nobody_since = None
            return patience
        limit = patience if self._had_fit else _NOBODY_SECONDS
        if self._nobody_since is None:
            self._nobody_since = time.monotonic()
        elif time.monotonic() - self._nobody_since > limit:
            cause = self._unfit[min(self.unfit)]
            alike = [address for address in self.unfit if self._unfit[address] == cause]
            others = len(self.unfit) - len(alike)
            more = f"; {others} more {'is' if others == 1 else 'are'} unfit, see above" if others else ""
            raise InputError(f"worker {self._named(alike)}: {cause}{more}; no worker is left")
        return limit

    async def flush(self, client: Client, silent: Collection[str] = ()) -> None:
        """Let workers that store results themselves write them now; if one fails, give it no more cells.

        Raises InputError if that leaves no worker for cells, and none is expected: the output is full, say.
        """
        run, addresses = self.preparation.run, sorted(self._writing.difference(silent))
        answers = await asyncio.gather(*(self._ask(client, each, flush, run) for each in addresses))
        failed = {a: each for a, each in zip(addresses, answers, strict=True) if isinstance(each, Exception)}
        for address, answer in failed.items():
            self._set_aside([address], f"cannot write ({type(answer).__name__}: {answer})")
        if failed and not (self.prepared or self._preparing or self._awaits):
            raise InputError(
                f"no worker that can write is left; stored results are kept: {failed[min(failed)]}"
            )

    async def _prepare(self, client: Client, addresses: list[str]) -> None:
        found = await asyncio.gather(*(self._prepare_one(client, each) for each in addresses))
        told = dict(zip(addresses, found, strict=True))
        # Forget workers that did not answer: they are gone, or slow and prepared again if still connected.
        self._present.difference_update(address for address, unlike in told.items() if unlike is None)
        if unlike := {address: each for address, each in told.items() if each}:
            self._set_aside(list(unlike), _UNLIKE, table_of(self._here, unlike))

    async def _prepare_one(self, client: Client, address: str) -> list[tuple[str, str, str]] | str | None:
        """Prepare a worker; if that fails, mark it as unfit.

        Return its version differences that forbid using it, or why they are unknown; None if it is gone.
        """
        answer = await self._ask(client, address, this_environment)
        if answer is None:
            return None
        if not isinstance(answer, Environment):
            lacks = isinstance(answer, ModuleNotFoundError) and (answer.name or "").startswith("singlepass")
            return "missing" if lacks else f"{type(answer).__name__}: {answer}"
        self._known.add(address)
        # By host and process number, because the results of cells name their worker so.
        self.environments[f"{answer.host}:{answer.pid}"] = answer
        self._places[address] = f"{answer.host} (cache {answer.cache})"
        unlike = differences(self._here, answer)
        if unlike and not self._allow_mismatch:
            return unlike
        try:
            await self._supply(client, address)
        except InputError as error:
            self._set_aside([address], str(error))
        except ConnectionError:
            return None
        return []

    def _set_aside(self, addresses: list[str], cause: str, table: str = "") -> None:
        """Mark workers as unfit, so that they get no more cells; report this once per host and cause."""
        self._unfit |= dict.fromkeys(addresses, cause)
        self._ready.difference_update(addresses)
        self._writing.difference_update(addresses)
        said = self._places.get(addresses[0], addresses[0]), cause
        if said not in self._said:
            self._said.add(said)
            if table:
                self._note(table)
            self._note(f"worker {self._named(addresses)}: {cause}; given no cells")

    def _named(self, addresses: Collection[str]) -> str:
        more = f" and {len(addresses) - 1} more" if len(addresses) > 1 else ""
        return f"{self.where(min(addresses))}{more}"

    async def _supply(self, client: Client, address: str) -> None:
        """Prepare a worker, after sending it the tables that its machine lacks."""
        answer = await self._prepared(client, address)
        if answer.lacking:
            async with self._sending:
                for lack in (await self._prepared(client, address)).lacking:
                    self._note(f"worker {address}: {lack.reason}; this process's table is sent")
                    await self._send(client, address, lack.pin)
                answer = await self._prepared(client, address)
        if answer.lacking:
            raise InputError(answer.lacking[0].reason)
        self._ready.add(address)
        self._had_fit = True
        if answer.writes:
            self._writing.add(address)

    async def _prepared(self, client: Client, address: str) -> Answer:
        answer = await self._ask(client, address, prepare, self.preparation)
        if isinstance(answer, InputError):
            raise answer
        if isinstance(answer, Exception):
            raise InputError(f"cannot be prepared ({type(answer).__name__}: {answer})")
        if answer is None:
            raise ConnectionError
        told: Answer = answer
        return told

    async def _send(self, client: Client, address: str, pinned: data.Pin) -> None:
        name = data.parcel(pinned, self.preparation.run)
        for chunk in data.chunks(pinned):
            await self._must(client, address, data.receive, name, chunk)
        await self._must(client, address, data.complete, name, pinned)

    async def _must(self, client: Client, address: str, function: Callable[..., Any], *args: Any) -> None:
        answer = await self._ask(client, address, function, *args, lost=ConnectionError())
        if isinstance(answer, ConnectionError):
            raise answer
        if isinstance(answer, Exception):
            raise InputError(f"cannot take a table ({type(answer).__name__}: {answer})")

    async def _ask(
        self, client: Client, address: str, function: Callable[..., Any], *args: Any, lost: Any = None
    ) -> Any:
        """Call a function on a worker; return its result or its error, or `lost` if the worker is gone."""
        if address in self._known:
            # Run it in a thread of the worker: it reads files, and a worker with a blocked event loop seems
            # dead.
            call = client.run(in_thread, function, *args, workers=[address], on_error="return")
        else:
            call = client.run(loads, message(function, *args), workers=[address], on_error="return")
        try:
            answers = await asyncio.wait_for(call, _ANSWER_SECONDS)
        except (OSError, RuntimeError, ValueError):
            return lost
        answer = answers.get(address, lost)
        # An OSError without errno is a network error of Dask; errors of a worker's disk have an errno.
        of_network = isinstance(answer, OSError) and not answer.errno
        return lost if of_network or isinstance(answer, ConnectionError | TimeoutError) else answer
