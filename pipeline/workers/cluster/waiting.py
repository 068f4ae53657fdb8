"""Wait for a first worker: report it, ask the batch queue for states, and give up if no worker can come."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

from ...errors import InputError
from .connection import SchedulerPlace

# The wait is reported only after this time, which a worker usually needs to start.
_QUIET_SECONDS = 5.0
# Interval of the queries to a batch queue, which thousands of users share.
_ASK_SECONDS = 30.0


class Waiting:
    """The wait for a worker, at most `patience` seconds; `note` receives a line when it begins and ends."""

    def __init__(self, place: SchedulerPlace, patience: float, note: Callable[[str], None]) -> None:
        self._place, self._patience, self._note = place, patience, note
        self._since = time.monotonic()
        self._asked = 0.0
        self._said = self._came = False
        self._last_error: str | None = None

    async def look(self, ready: bool, there: bool = False) -> None:
        """Report how the wait goes on; raise InputError if no worker came in time or none can come.

        `ready` says whether a worker can get cells, `there` whether any worker is connected.
        """
        now = time.monotonic()
        if ready:
            if self._said:
                self._note(f"{self._place}: has workers")
            self._since, self._said, self._came = now, False, True
        self._show_refusal()
        over = now - self._since > self._patience
        quiet = now - self._since <= _QUIET_SECONDS and not over
        # Frequent queries would slow the queue down for all users.
        if ready or quiet or not (over or not self._said or now - self._asked > _ASK_SECONDS):
            return
        self._asked = now
        starting = self._place.starting
        # In a thread, because the queue's command may take seconds.
        told, ended = ("", False) if starting is None else await asyncio.to_thread(starting.report)
        lacking = "has had no worker that answers" if there else "has had no workers"
        # Once a worker has come, ended jobs are no failure: an adaptive cluster replaces them.
        if over or (ended and not self._came):
            waited = f"{lacking} for {now - self._since:.0f} s"
            kept = "; finished results are kept" if self._came else ""
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
