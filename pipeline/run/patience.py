"""How long what runs a cell waits for it: told by the cell as it goes along."""

from __future__ import annotations

from typing import Protocol

# What a call of somebody else's learner may take beyond a cell's time limit, on a machine that has other
# things to do, before it is taken for one that never returns.
GRACE_SECONDS = 10.0


class Patience(Protocol):
    """What a cell tells when its own time begins, and before each step that may take long."""

    def __call__(self, seconds: float | None = None) -> None:
        """Wait from now on.

        Parameters
        ----------
        seconds : float or None, default=None
            Until the cell says more; None: as long as a cell may take.
        """


def endless(seconds: float | None = None) -> None:
    """Wait however long it takes."""
