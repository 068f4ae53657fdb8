"""Wait for a usable worker: tell the user, ask the batch queue about jobs, and give up if none can come."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable

from ...errors import InputError
from .connection import SchedulerPlace

# A wait is reported only after this time, because a worker usually needs as long to start.
_QUIET_SECONDS = 5.0
# Seconds between two queries to a batch queue. Frequent queries would slow it down for all its users.
_ASK_SECONDS = 30.0


class Waiting:
    """Wait for a worker that can run cells, at most `patience` seconds.

    `note` receives a line when the wait begins, when less time is left than it said, and when it ends.
    """

    def __init__(self, place: SchedulerPlace, patience: float, note: Callable[[str], None]) -> None:
        self._place, self._patience, self._note = place, patience, note
        self._since = time.monotonic()
        self._asked = 0.0
        self._came = False
        # The longest wait in seconds that the line on this wait named; None if there was no line.
        self._said: float | None = None
        self._last_error: str | None = None

    async def look(
        self, ready: bool, there: bool = False, unfit: bool = False, limit: float = math.inf
    ) -> None:
        """Check the wait and report it; raise InputError if it took too long, or if no worker can come.

        Call it again and again. `ready` says whether a worker can run cells; `there` says whether any worker
        is connected, even if it does not answer or is paused; `unfit` says whether all connected workers are
        unfit, which was reported for each. `limit` is the longest wait in seconds if it is shorter than
        `patience`.
        """
        now = time.monotonic()
        if ready:
            if self._said is not None:
                self._note(f"{self._place}: has workers")
            self._since, self._said, self._came = now, None, True
        self._show_refusal()
        over = now - self._since > self._patience
        most = min(limit, self._patience)
        # Say a shorter wait, too: workers may prove unfit only after the line.
        unsaid = self._said is None or most < self._said
        quiet = now - self._since <= _QUIET_SECONDS and not over
        # Return if there is nothing to report, or the batch queue was asked too recently.
        if ready or quiet or not (over or unsaid or now - self._asked > _ASK_SECONDS):
            return
        self._asked = now
        starting = self._place.starting
        # Ask the batch queue in another thread, because its command may take seconds.
        told, ended = ("", False) if starting is None else await asyncio.to_thread(starting.report)
        lacking = "has had workers, but none that takes cells" if there else "has had no workers"
        if unfit:
            lacking = "has had only unfit workers (see above)"
        # If all jobs have ended before any worker came, none will come. Later this is no failure, because an
        # adaptive cluster requests new jobs.
        if over or (ended and not self._came):
            waited = f"{lacking} for {now - self._since:.0f} s"
            kept = "; stored results are kept" if self._came else ""
            advice = starting.advice if starting else f"start one with `{self._place.worker_command}`"
            raise InputError(f"{self._place}: {waited}{kept}; {told and told + '; '}{advice}")
        if unsaid:
            self._said = most
            start = "" if starting else f" (`{self._place.worker_command}` starts one)"
            why = " (--patience)" if limit >= self._patience else ", because no worker was fit so far"
            longest = f"{most:g} s at most{why}"
            self._note(f"{self._place}: {lacking}; waiting for one{start}, {longest}{told and '; ' + told}")

    def _show_refusal(self) -> None:
        starting = self._place.starting
        error = starting.error() if starting else None
        if starting is None or error is None or error == self._last_error:
            return
        self._last_error = error
        if starting.all_refused():
            raise InputError(f"{starting.name}: the queue refused its jobs: {error}; {starting.advice}")
        self._note(f"{starting.name}: the queue refused a job: {error}")
