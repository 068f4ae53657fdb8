"""What cells are expected to take, learnt from those that are finished."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

# Data set, by label or otherwise, and label of the algorithm.
Name = tuple[Hashable, str]
# Columns of the cells table that costs are learnt from.
COSTS = ("dataset", "algorithm", "status", "n_examples", "total_seconds")


@dataclass
class _Sum:
    """Seconds of so many cells, and the examples that they were for."""

    cells: int = 0
    seconds: float = 0.0
    examples: float = 0.0

    def add(self, cells: int, seconds: float, examples: float) -> None:
        self.cells += cells
        self.seconds += seconds
        self.examples += examples


@dataclass
class Costs:
    """Mean seconds of finished cells, and from them those of others.

    A cell is taken to cost what others of its data set and algorithm have; else what the algorithm's cells on
    other data sets have cost an example; else what cells of its data set have; else what all have.
    """

    _by_name: dict[Name, _Sum] = field(default_factory=dict)
    _by_algorithm: dict[str, _Sum] = field(default_factory=dict)
    _by_dataset: dict[Hashable, _Sum] = field(default_factory=dict)
    _all: _Sum = field(default_factory=_Sum)

    def learn(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take in finished cells: rows of the cells table."""
        for row in rows:
            seconds = row.get("total_seconds")
            # A NaN is a null that a table has come through.
            if row["status"] == "ok" and seconds is not None and seconds == seconds:
                examples = row.get("n_examples") or 0
                self._add(row["dataset"], row["algorithm"], 1, seconds, examples)

    def learn_table(self, cells: pd.DataFrame) -> None:
        """Take in finished cells, all at once."""
        ok = cells[(cells["status"] == "ok") & cells["total_seconds"].notna()]
        by_name = ok.groupby(["dataset", "algorithm"])
        sums = by_name.agg(
            cells=("total_seconds", "count"), seconds=("total_seconds", "sum"), examples=("n_examples", "sum")
        )
        for row in sums.reset_index().to_dict("records"):
            self._add(row["dataset"], row["algorithm"], row["cells"], row["seconds"], float(row["examples"]))

    def _add(self, dataset: Hashable, algorithm: str, cells: int, seconds: float, examples: float) -> None:
        for found in (
            self._by_name.setdefault((dataset, algorithm), _Sum()),
            self._by_algorithm.setdefault(algorithm, _Sum()),
            self._by_dataset.setdefault(dataset, _Sum()),
            self._all,
        ):
            found.add(cells, seconds, examples)

    def __contains__(self, name: Name) -> bool:
        """Whether cells of this data set and algorithm are finished."""
        return name in self._by_name

    def __bool__(self) -> bool:
        return self._all.cells > 0

    def seconds(self, name: Name, examples: int | None = None) -> float | None:
        """Return what a cell is expected to take, None as long as nothing is finished.

        Parameters
        ----------
        name : tuple of (data set, algorithm)
        examples : int, default=None
            Of a cell of the data set, where that is known before any of its cells is finished.
        """
        dataset, algorithm = name
        own = self._by_name.get(name)
        if own is not None:
            return own.seconds / own.cells
        elsewhere, here = self._by_algorithm.get(algorithm), self._by_dataset.get(dataset)
        if here is not None and here.examples:
            examples = round(here.examples / here.cells)
        if elsewhere is not None and elsewhere.examples and examples:
            return elsewhere.seconds / elsewhere.examples * examples
        for found in (here, elsewhere, self._all):
            if found is not None and found.cells:
                return found.seconds / found.cells
        return None
