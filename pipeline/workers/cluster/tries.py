"""Cells on their way to an outcome: how often they were lost, and whether what workers write has come."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ...errors import InputError
from ...study.cell import Cell

# Between two looks into the store for what workers write; one who is alive has written it by then.
_LEDGER_SECONDS = 30.0
# A cell that is lost with its worker or scheduler waits before its next try, twice as long each time.
_PAUSE_SECONDS, _LONGEST_PAUSE = 0.1, 10.0
# So often in a row is no accident of the cell's.
_MOST_LOST = 50


@dataclass
class Try:
    """A cell on its way to an outcome.

    Attributes
    ----------
    cell : Cell
    lost : int
        How often it was taken along by what is not its fault.
    alone : int or None
        How often it has taken a worker along since it was run alone; None: it has not been.
    not_before : float
        When it is to be tried again, on the monotonic clock.
    told : bool
        Whether an outcome has been told, by a worker that went before it was written.
    """

    cell: Cell
    lost: int = 0
    alone: int | None = None
    not_before: float = 0.0
    told: bool = False

    @property
    def name(self) -> str:
        """What the task of the next try is called within a run, whoever asks for it."""
        alone = "" if self.alone is None else f"-{self.alone}"
        return f"cell-{self.cell.key}-{self.lost}{alone}"

    def lose(self, reason: str) -> None:
        """Note that it was lost, and when it is to be tried again."""
        self.lost += 1
        if self.lost > _MOST_LOST:
            spec = self.cell.spec
            raise InputError(
                f"the cell of {spec.algorithm} on {spec.dataset.label} (noise {spec.noise.slug}, seed "
                f"{spec.seed}) was lost {self.lost} times on its way ({reason}); what is finished is kept"
            )
        pause = min(_PAUSE_SECONDS * 2 ** min(self.lost - 1, 10), _LONGEST_PAUSE)
        self.not_before = time.monotonic() + pause


class Ledger:
    """The cells that workers say they have run and will write, until they are seen in the store.

    Parameters
    ----------
    new_keys : callable
        Returns the keys that have come to the store since it was called last.
    """

    def __init__(self, new_keys: Callable[[], Iterable[str]]) -> None:
        self._new_keys = new_keys
        self._open: dict[str, tuple[Try, float]] = {}
        self._early: set[str] = set()
        self._looked = time.monotonic()

    def add(self, key: str, each: Try) -> None:
        """Note that a cell is to be written."""
        if key in self._early:
            self._early.discard(key)
        else:
            self._open[key] = each, time.monotonic()

    def late(self) -> bool:
        """Look into the store, now and then; return whether a cell should be there by now, and is not."""
        if not self._open or time.monotonic() - self._looked < _LEDGER_SECONDS:
            return False
        self._look()
        return bool(self._overdue())

    def settle(self, *, at_once: bool) -> list[Try]:
        """Look into the store; give up and return what should be there by now, or all that is not."""
        if not self._open:
            return []
        self._look()
        return [self._open.pop(key)[0] for key in (list(self._open) if at_once else self._overdue())]

    def _look(self) -> None:
        self._looked = time.monotonic()
        for key in self._new_keys():
            if self._open.pop(key, None) is None:
                self._early.add(key)

    def _overdue(self) -> list[str]:
        now = time.monotonic()
        return [key for key, (_, since) in self._open.items() if now - since > _LEDGER_SECONDS]
