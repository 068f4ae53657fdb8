"""What a cell gives back to the store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from numpy.typing import NDArray

# Columns of the curves table, all of one length.
Curve: TypeAlias = Mapping[str, Sequence[Any] | NDArray[Any]]


@dataclass
class CellResult:
    """The outcome of one cell.

    Attributes
    ----------
    row : dict
        The cell's row of the cells table, by column; columns that are missing are null.
    curve : mapping of str to list or ndarray
        Its rows of the curves table, by column without the key; empty for a failed cell.
    """

    row: dict[str, Any]
    curve: Curve = field(default_factory=dict)
