"""The clock of a cell: seconds of learning, with what does not count left out."""

from __future__ import annotations

import time


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
