"""Waiting for a first worker: saying so, asking the queue, and giving up when none can come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ...errors import InputError
from .connection import SchedulerPlace

# A worker takes as long to start: before, nothing is said.
_QUIET_SECONDS = 5.0
# Between two questions to a queue, which thousands of users ask too.
_ASK_SECONDS = 30.0


class Waiting:
    """Waits for workers where there are none.

    Parameters
    ----------
    place : SchedulerPlace
    patience : float
        Seconds for which a worker is waited for.
    note : callable
        Told, in a line, what is waited for, and that it has come.
    """

    def __init__(self, place: SchedulerPlace, patience: float, note: Callable[[str], None]) -> None:
        self._place, self._patience, self._note = place, patience, note
        self._since = time.monotonic()
        self._asked = 0.0
        self._said = self._came = False
        self._last_error: str | None = None

    async def look(self, ready: bool, there: bool = False) -> None:
        """Say what has changed.

        Parameters
        ----------
        ready : bool
            Whether a worker can be given cells.
        there : bool
            Whether there are workers that do not answer.

        Raises
        ------
        InputError
            There has been no worker for as long as patience lasts, or none can come.
        """
        now = time.monotonic()
        if ready:
            if self._said:
                self._note(f"{self._place}: has workers")
            self._since, self._said, self._came = now, False, True
        self._show_refusal()
        over = now - self._since > self._patience
        quiet = now - self._since <= _QUIET_SECONDS and not over
        # Whoever asks a queue too often slows it down for all.
        if ready or quiet or not (over or not self._said or now - self._asked > _ASK_SECONDS):
            return
        self._asked = now
        starting = self._place.starting
        # A command, which may take seconds.
        told, ended = ("", False) if starting is None else await asyncio.to_thread(starting.report)
        lacking = "has had no worker that answers" if there else "has had no workers"
        # Jobs that a worker came from are replaced by an adaptive cluster.
        if over or (ended and not self._came):
            waited = f"{lacking} for {now - self._since:.0f} s"
            kept = "; what is finished is kept" if self._came else ""
            raise InputError(f"{self._place}: {waited}{kept}; {told and told + '; '}{self._advice()}")
        if not self._said:
            self._said = True
            start = "" if starting else f" (`dask worker {self._place.address}` starts one)"
            limit = f"{self._patience:g} s at most (--patience)"
            self._note(f"{self._place}: {lacking}; waiting for one{start}, {limit}{told and '; ' + told}")

    def _show_refusal(self) -> None:
        starting = self._place.starting
        error = starting.error() if starting else None
        if starting is None or error is None or error == self._last_error:
            return
        self._last_error = error
        if starting.all_refused():
            raise InputError(f"{starting.name}: the queue refused its jobs: {error}; {starting.advice}")
        self._note(f"{starting.name}: the queue refused a job: {error}")

    def _advice(self) -> str:
        if self._place.starting:
            return self._place.starting.advice
        return f"start one with `dask worker {self._place.address or '...'}`"
