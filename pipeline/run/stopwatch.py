"""The clock of a cell: seconds of learning, without what does not count; and how long it is waited for."""

from __future__ import annotations

import time
from typing import Protocol

# What a call of somebody else's learner may take beyond a cell's time limit, on a machine that has other
# things to do, before it is taken for one that never returns.
GRACE_SECONDS = 10.0


class Stopwatch:
    """Counts the seconds within ``with watch:`` blocks.

    Parameters
    ----------
    limit : float or None, default=None
        Seconds after which `over` is true; None: never.

    Examples
    --------
    >>> watch = Stopwatch()
    >>> with watch:
    ...     before = watch.seconds
    >>> before <= watch.seconds, watch.over
    (True, False)
    """

    def __init__(self, limit: float | None = None) -> None:
        self.limit = limit
        self._counted = 0.0
        self._began: float | None = None

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        if self._began is not None:
            self._counted += time.perf_counter() - self._began
            self._began = None

    @property
    def seconds(self) -> float:
        """Seconds so far."""
        return self._counted + (0.0 if self._began is None else time.perf_counter() - self._began)

    @property
    def over(self) -> bool:
        """Whether more seconds than the limit have gone by."""
        return self.limit is not None and self.seconds > self.limit


class Patience(Protocol):
    """What a cell tells when its own time begins, and before each step that may take long."""

    def __call__(self, seconds: float | None = None) -> None:
        """Wait from now on.

        Parameters
        ----------
        seconds : float or None, default=None
            Until the cell says more; None: what is left of the time that a cell may take.
        """


def endless(seconds: float | None = None) -> None:
    """Wait however long it takes."""
