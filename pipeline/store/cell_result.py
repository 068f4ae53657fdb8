"""What a cell gives back to the store."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class CellResult:
    """The outcome of one cell.

    Attributes
    ----------
    row : dict
        The cell's row of the cells table, by column; columns that are missing are null.
    curve : dict of str to list
        Its rows of the curves table, by column without the key; empty for a failed cell.
    """

    row: dict[str, Any]
    curve: dict[str, list[Any]] = field(default_factory=dict)
