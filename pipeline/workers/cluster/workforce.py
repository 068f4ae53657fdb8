"""Preparing workers for a run: they must be like this process, and have its plug-ins and tables."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from pickle import loads
from typing import TYPE_CHECKING, Any

from ... import data
from ...errors import InputError
from ..environment import Environment, differences, table_of, this_environment
from .on_worker import Answer, Preparation, flush, in_thread, message, prepare

if TYPE_CHECKING:
    from distributed import Client

# What a worker may take for an answer: on a shared disk, importing the package takes this long when many do.
_ANSWER_SECONDS = 60.0


class Workforce:
    """The workers of a cluster, each prepared as soon as it is there.

    Parameters
    ----------
    preparation : Preparation
    allow_mismatch : bool
        Whether workers may have other versions than this process.
    note : callable
        Told, in a line, what is sent where.

    Attributes
    ----------
    environments : dict of str to Environment
        What each worker that was ever there computes with, by host and process, as cells name it.
    """

    def __init__(self, preparation: Preparation, allow_mismatch: bool, note: Callable[[str], None]) -> None:
        self.preparation = preparation
        self.environments: dict[str, Environment] = {}
        self._allow_mismatch, self._note = allow_mismatch, note
        self._here = this_environment()
        self._present: set[str] = set()
        self._ready: set[str] = set()
        # Those of them that write their cells.
        self._writing: set[str] = set()
        # Those that are known to have this package.
        self._known: set[str] = set()
        self._preparing: dict[asyncio.Task[None], list[str]] = {}
        # Tables go to one worker after the other: the second of a machine finds what the first was sent.
        self._sending = asyncio.Lock()

    @property
    def ready(self) -> bool:
        """Whether a worker that is there has been prepared."""
        return bool(self._ready & self._present)

    @property
    def writes(self) -> bool:
        """Whether one of them writes the cells that it runs."""
        return bool(self._writing & self._present)

    def forget(self) -> None:
        """Have every worker prepared anew: another process may have its address by now."""
        for task in self._preparing:
            task.cancel()
        self._preparing.clear()
        self._present.clear()
        self._ready.clear()
        self._writing.clear()
        self._known.clear()
        # Of the loop that runs now.
        self._sending = asyncio.Lock()

    @property
    def sending(self) -> bool:
        """Whether a table is on its way."""
        return self._sending.locked()

    async def look(self, client: Client, there: Collection[str]) -> None:
        """See who has come, who is gone and what has become of those that are being prepared.

        Raises
        ------
        InputError
            A worker is not like this process.
        """
        for task in [task for task in self._preparing if task.done()]:
            addresses = self._preparing.pop(task)
            error = None if task.cancelled() else task.exception()
            if isinstance(error, InputError):
                raise error
            if error is not None:
                # It went while it was being prepared; if it is there all the same, it is asked again.
                self._present.difference_update(addresses)
        come = sorted(set(there) - self._present)
        self._present = set(there)
        self._ready &= self._present
        self._writing &= self._present
        if come:
            self._preparing[asyncio.create_task(self._prepare(client, come))] = come

    async def flush(self, client: Client) -> None:
        """Have those that write their cells do it now; one that does not answer has nothing to lose.

        Raises
        ------
        InputError
            One cannot.
        """
        run, addresses = self.preparation.run, sorted(self._writing)
        answers = await asyncio.gather(*(self._ask(client, each, flush, run) for each in addresses))
        for address, answer in zip(addresses, answers, strict=True):
            if isinstance(answer, Exception):
                raise InputError(f"worker {address}: cannot write ({type(answer).__name__}: {answer})")

    async def _prepare(self, client: Client, addresses: list[str]) -> None:
        answers = await asyncio.gather(*(self._ask(client, each, this_environment) for each in addresses))
        told = dict(zip(addresses, answers, strict=True))
        self._compare({address: answer for address, answer in told.items() if answer is not None})
        await asyncio.gather(
            *(self._supply(client, each) for each, answer in told.items() if isinstance(answer, Environment))
        )
        if any(answer is None for answer in answers):
            raise ConnectionError

    def _compare(self, told: dict[str, Any]) -> None:
        unlike: dict[str, list[tuple[str, str, str]] | str] = {}
        for address, answer in told.items():
            if isinstance(answer, Environment):
                self._known.add(address)
                # As the cells that it runs name it.
                self.environments[f"{answer.host}:{answer.pid}"] = answer
                found = differences(self._here, answer)
                if found and not self._allow_mismatch:
                    unlike[address] = found
            else:
                unlike[address] = (
                    "missing" if _lacks_package(answer) else f"{type(answer).__name__}: {answer}"
                )
        if unlike:
            self._note(table_of(self._here, unlike))
            others = len(unlike) - 1
            raise InputError(
                f"worker {next(iter(unlike))}{f' and {others} more' if others else ''}: not the versions of "
                "this process, see the table: install the same ones, or use --allow-mismatch"
            )

    async def _supply(self, client: Client, address: str) -> None:
        """Have a worker take what the run needs; send the tables that its machine lacks."""
        answer = await self._prepared(client, address)
        if answer.lacking:
            async with self._sending:
                for lack in (await self._prepared(client, address)).lacking:
                    self._note(f"worker {address}: {lack.reason}; this process's table is sent")
                    await self._send(client, address, lack.pin)
                answer = await self._prepared(client, address)
        if answer.lacking:
            raise InputError(f"worker {address}: {answer.lacking[0].reason}")
        self._ready.add(address)
        if answer.writes:
            self._writing.add(address)

    async def _prepared(self, client: Client, address: str) -> Answer:
        answer = await self._ask(client, address, prepare, self.preparation)
        if isinstance(answer, Exception):
            raise InputError(f"worker {address}: cannot be prepared ({type(answer).__name__}: {answer})")
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
            raise InputError(f"worker {address}: cannot take a table ({type(answer).__name__}: {answer})")

    async def _ask(
        self, client: Client, address: str, function: Callable[..., Any], *args: Any, lost: Any = None
    ) -> Any:
        """Return what a worker answers, an error that it has, or `lost` when it is gone."""
        if address in self._known:
            # In a thread: files are read, and a worker whose loop stands still seems dead.
            call = client.run(in_thread, function, *args, workers=[address], on_error="return")
        else:
            call = client.run(loads, message(function, *args), workers=[address], on_error="return")
        try:
            answers = await asyncio.wait_for(call, _ANSWER_SECONDS)
        except (OSError, TimeoutError, RuntimeError, ValueError):
            return lost
        answer = answers.get(address, lost)
        return lost if _is_of_the_network(answer) else answer


def _is_of_the_network(error: Any) -> bool:
    # Dask's own are plain, without a number; those of a worker's disk have one.
    return isinstance(error, OSError) and (
        isinstance(error, ConnectionError | TimeoutError) or not error.errno
    )


def _lacks_package(error: Any) -> bool:
    return isinstance(error, ModuleNotFoundError) and (error.name or "").startswith("singlepass")
