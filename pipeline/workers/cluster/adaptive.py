"""How many workers an adaptive cluster asks for: as many as the work that is left can use."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from distributed.deploy.adaptive import Adaptive

# A job waits in a queue, starts Python, compiles and reads tables: less work a thread than this is not worth
# another one. As long after the first worker has come, what cells take is taken for known.
WORTH_SECONDS = 30.0


@dataclass
class Remaining:
    """The work that is left, as far as it is known: written by a run, read by its cluster.

    Attributes
    ----------
    cells : int
        At first one, for which any cluster starts a worker.
    seconds : float or None
        What they take in one thread; None before the first one has finished.
    """

    cells: int = 1
    seconds: float | None = None

    def workers(self, threads: float, elapsed: float) -> int:
        """Return how many workers the work can use.

        Parameters
        ----------
        threads : float
            Of a worker.
        elapsed : float
            Seconds since the first worker came; 0 before that.
        """
        if elapsed < WORTH_SECONDS:
            # The first cells read tables and compile: what they take says little of the others.
            return min(1, self.cells)
        # A cell takes at least as long as nothing has finished.
        seconds = self.cells * elapsed if self.seconds is None else self.seconds
        useful = min(self.cells / threads, seconds / threads / WORTH_SECONDS)
        return max(min(1, self.cells), math.ceil(useful))


def adaptive_for(remaining: Remaining) -> type[Adaptive]:
    """Return a class that scales Dask's clusters by the work that is left.

    Dask's own class knows the cells that the scheduler has, which are a part of the work, and expects all of
    them to take as long as the first ones, which compile.
    """
    from distributed.deploy.adaptive import Adaptive

    class AdaptiveByWork(Adaptive):
        _first: float | None = None

        async def target(self) -> int:
            there: list[dict[str, Any]] = list(self.cluster.scheduler_info["workers"].values())
            if not there:
                return remaining.workers(1, 0.0)
            self._first = self._first or time.monotonic()
            threads = sum(worker["nthreads"] for worker in there) / len(there)
            return remaining.workers(threads, time.monotonic() - self._first)

        async def workers_to_close(self, target: int) -> list[str]:
            # Only those without a cell: it would have to be computed again.
            closed: list[str] = await self.scheduler.workers_to_close(minimum=target, attribute="name")
            return closed

    return AdaptiveByWork
