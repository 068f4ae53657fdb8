"""What a cell gives back to the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from numpy.typing import NDArray

# Columns of the curves table, all of one length.
Curve: TypeAlias = Mapping[str, Sequence[Any] | NDArray[Any]]


# What progress and the costs of cells are made of.
_TOLD = ("key", "dataset", "algorithm", "params", "status", "n_examples", "fit_seconds", "total_seconds")


@dataclass
class CellResult:
    """The outcome of one cell.

    Attributes
    ----------
    row : dict
        The cell's row of the cells table, by column; columns that are missing are null.
    curve : mapping of str to list or ndarray
        Its rows of the curves table, by column without the key; empty for a failed cell.
    stored : bool
        Whether who ran the cell writes it to the store as well: the row is then all that progress needs,
        and there is no curve.
    again : bool
        Whether it was told before, and lost before it was written.
    """

    row: dict[str, Any]
    curve: Curve = field(default_factory=dict)
    stored: bool = False
    again: bool = False

    def receipt(self) -> CellResult:
        """Return what is told of a cell that is written where it was run."""
        row = {name: self.row[name] for name in _TOLD if name in self.row}
        return CellResult(row, stored=True)
