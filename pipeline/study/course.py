"""How a cell's stream goes by: in which order, when labels come, and what of it is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Order = Literal["shuffled", "given"]


@dataclass(frozen=True)
class Course:
    """How a cell's stream goes by.

    Attributes
    ----------
    order : {"shuffled", "given"}
        Whether rows come in a seeded order or in that of their source.
    delay : int
        After so many further examples the label of an example comes.
    window : int or None
        Examples that the windowed errors of the curve look back on.
    fading : float or None
        Factor of the fading errors of the curve.
    tune_fraction : float
        Share of the stream, from its beginning, that grids are judged on and that is not counted; 0: none.
    """

    order: Order = "shuffled"
    delay: int = 0
    window: int | None = None
    fading: float | None = None
    tune_fraction: float = 0.0

    @property
    def document(self) -> dict[str, Any]:
        """What of it is hashed: what differs from the usual, so that keys of other cells stay as they are."""
        return {name: value for name, value in vars(self).items() if value != getattr(USUAL, name)}

    def prefix(self, n: int) -> int:
        """Return how many of `n` examples grids are judged on.

        Examples
        --------
        >>> Course("given", tune_fraction=0.1).prefix(45), Course().prefix(45)
        (4, 0)
        """
        return min(n - 1, max(1, round(n * self.tune_fraction))) if self.tune_fraction else 0


USUAL = Course()
