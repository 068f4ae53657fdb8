"""Group cells that ended without a result by their error."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# A message lists at most this many data sets by name.
_NAMED = 3
_VERBS = {"failed": "failed", "crashed": "crashed", "stopped": "was stopped"}


@dataclass(frozen=True)
class Failure:
    """Describe cells of one algorithm that ended with the same error."""

    algorithm: str
    status: str
    # First line of the first cell's error; the numbers in the other cells' errors may differ.
    error: str
    cells: int
    datasets: tuple[str, ...]

    def __str__(self) -> str:
        plural = "" if self.cells == 1 else "s"
        cells = f"{self.cells:,} cell{plural} ({self.where})"
        return f"{self.algorithm} {_VERBS.get(self.status, self.status)} in {cells}: {self.error}"

    @property
    def where(self) -> str:
        """Return the names of the first few data sets and the number of the others."""
        more = len(self.datasets) - _NAMED
        return ", ".join(self.datasets[:_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def failures(cells: pd.DataFrame) -> list[Failure]:
    """Group the cells without a result by algorithm, status and error, largest group first."""
    found = []
    bad = cells[cells["status"] != "ok"]
    # Errors that differ in numbers only, such as row numbers, count as the same error.
    errors = bad["error"].fillna("")
    kinds = errors.map(lambda error: re.sub(r"0x[0-9a-f]+|\d+", "0", _first_line(error)))
    for (algorithm, status, _), rows in bad.groupby(["algorithm", "status", kinds], sort=False):
        said = _first_line(errors[rows.index[0]]).removeprefix(f"algorithm {algorithm!r}: ")
        datasets = tuple(sorted(set(rows["dataset"].astype(str))))
        found.append(Failure(str(algorithm), str(status), said, len(rows), datasets))
    return sorted(found, key=lambda each: (-each.cells, each.algorithm, each.error))


def _first_line(error: str) -> str:
    return error.strip().partition("\n")[0]
