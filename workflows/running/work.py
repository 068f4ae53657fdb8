"""The missing cells of a stage: their order, their expected cost, and the time left."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from ...pipeline.run.readings import Reading, are_read_together, readings
from ...pipeline.store.schema import CellResult
from ...pipeline.study.cell import CellGroup

# Cells of one data set (its label or another identifier) and one algorithm (its label) have one cost.
Name = tuple[Hashable, str]
# Columns of the cells table from which the time that further cells take is estimated.
COSTS = ("dataset", "algorithm", "status", "n_examples", "total_seconds")


@dataclass
class _Sum:
    """Sums of seconds and examples over a number of cells."""

    cells: int = 0
    seconds: float = 0.0
    examples: float = 0.0


class Costs:
    """Estimate the seconds of a cell from the means of finished cells.

    The estimate is the mean of the first of these that has finished cells: the same data set and algorithm;
    the algorithm on other data sets, per example; the same data set; the same algorithm; all cells.
    """

    def __init__(self) -> None:
        # Sums by data set and algorithm; None stands for all data sets or for all algorithms.
        self._sums: dict[tuple[Hashable, str | None], _Sum] = {}

    def learn(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add the times of finished cells, given as rows of the cells table."""
        for row in rows:
            seconds = row.get("total_seconds")
            # Skip NaN too: a missing time becomes NaN in a data frame.
            if row["status"] == "ok" and seconds is not None and seconds == seconds:
                examples = row.get("n_examples") or 0
                self._add(row["dataset"], row["algorithm"], 1, seconds, examples)

    def learn_table(self, cells: pd.DataFrame) -> None:
        """Add the times of all finished cells of a cells table at once."""
        ok = cells[(cells["status"] == "ok") & cells["total_seconds"].notna()]
        by_name = ok.groupby(["dataset", "algorithm"])
        sums = by_name.agg(
            cells=("total_seconds", "count"), seconds=("total_seconds", "sum"), examples=("n_examples", "sum")
        )
        for row in sums.reset_index().to_dict("records"):
            self._add(row["dataset"], row["algorithm"], row["cells"], row["seconds"], float(row["examples"]))

    def _add(self, dataset: Hashable, algorithm: str, cells: int, seconds: float, examples: float) -> None:
        for name in ((dataset, algorithm), (None, algorithm), (dataset, None), (None, None)):
            found = self._sums.setdefault(name, _Sum())
            found.cells += cells
            found.seconds += seconds
            found.examples += examples

    def __contains__(self, name: Name) -> bool:
        """Return whether a cell of this data set and algorithm is finished."""
        return name in self._sums

    def __bool__(self) -> bool:
        return bool(self._sums)

    def seconds(self, name: Name, examples: int | None = None) -> float | None:
        """Return the expected seconds of a cell, or None as long as no cell at all has finished.

        `examples` is the number of examples of a cell, if known. Once a cell of the data set has finished,
        the mean over the data set's finished cells is used instead.
        """
        dataset, algorithm = name
        own = self._sums.get(name)
        if own is not None:
            return own.seconds / own.cells
        elsewhere, here = self._sums.get((None, algorithm)), self._sums.get((dataset, None))
        if here is not None and here.examples:
            examples = round(here.examples / here.cells)
        if elsewhere is not None and elsewhere.examples and examples:
            return elsewhere.seconds / elsewhere.examples * examples
        found = here or elsewhere or self._sums.get((None, None))
        return found.seconds / found.cells if found else None


# Cells that take longer than this run first, longest first, because a long cell started last keeps all other
# workers waiting. Shorter cells keep their order, next to cells that read the same rows.
_LONG_SECONDS = 1.0
# Seconds between two estimates of the time left, because an estimate sums over all data sets and algorithms.
_ESTIMATE_SECONDS = 1.0
# Share of the cells that must finish before the time left is shown. The first cells are slower than the
# others, because they also read the data.
_TELLING_SHARE = 0.01
# Seconds after which the time left is shown even if some algorithm has not finished a cell. Before that,
# finished cells took most of their time for starting workers and compiling learners.
_COMPILING_SECONDS = 60.0


class Work:
    """The missing cells of a stage: their order, and the time that they will take.

    `keys` are the keys of all cells in the order of `groups`, and `known` those whose results exist already.
    `later` has the number of cells of later stages by (data set, algorithm); they count for the time left.
    `missing` is the number of cells to run.
    """

    def __init__(
        self,
        groups: list[CellGroup],
        keys: list[str],
        known: set[str],
        later: Mapping[Name, int] | None = None,
    ) -> None:
        self._groups, self._keys, self._known = groups, keys, known
        self._left, self._later = Counter[Name](), Counter(later)
        # Algorithms with equal parameters share cells, so a key may occur more than once. The cell then runs
        # once, at the first place of its key.
        first = {key: place for place, key in reversed(list(enumerate(keys)))}
        self._repeated = {place for place, key in enumerate(keys) if first[key] != place}
        start = 0
        for group in groups:
            stop = start + len(group)
            self._left[group.name] += sum(self._lacks(place) for place in range(start, stop))
            start = stop
        self.missing = self._left.total()
        self._cell_seconds = 0.0
        self._finished, self._estimated = 0, 0.0
        # When the measurement of speed began, and the sum of the seconds of the cells finished before that.
        self._since = time.monotonic(), 0.0
        # Algorithms of which no cell has finished yet: they may still have to be compiled.
        self._unseen = {label for (_, label), n in self._left.items() if n > 0}
        self._estimate: float | None = None
        self._thread_seconds: float | None = None

    def _lacks(self, place: int) -> bool:
        return self._keys[place] not in self._known and place not in self._repeated

    def readings(self, costs: Costs) -> Iterator[Reading]:
        """Yield the missing cells seed by seed, so that an interrupted run has equal seeds of all algorithms.

        Within a seed, cells that are known to take long come first. The others are in the order of the data
        sets, so that cells that share their inputs follow one another. Each item (a reading) is a tuple of
        cells: points of a parameter grid that can learn together in one pass over the rows, or a single cell.
        """
        starts, start = [], 0
        # Most groups of cells have the same seeds, so the positions of each seed in a group are computed once
        # for all groups with the same seeds.
        alike: dict[tuple[int, ...], dict[int, list[int]]] = {}
        places = []
        for group in self._groups:
            starts.append(start)
            start += len(group)
            seeds = tuple(seed for seed, _ in group.members)
            if seeds not in alike:
                alike[seeds] = {}
                for place, seed in enumerate(seeds):
                    alike[seeds].setdefault(seed, []).append(place)
            places.append(alike[seeds])
        for seed in sorted({seed for seeds in alike for seed in seeds}):
            for index in self._ranked([i for i, own in enumerate(places) if seed in own], costs):
                group, own = self._groups[index], []
                for place in places[index][seed]:
                    if self._lacks(starts[index] + place):
                        key = self._keys[starts[index] + place]
                        own.append(group.cell(*group.members[place]).with_key(key))
                if len(own) > 1 and are_read_together(own[0].spec, group.execution):
                    yield from readings(own)
                else:
                    yield from ((cell,) for cell in own)

    def _ranked(self, groups: list[int], costs: Costs) -> list[int]:
        """Sort indices of groups of cells: groups of long cells first, longest first, the others in order."""

        def rank(index: int) -> float:
            seconds = costs.seconds(self._groups[index].name) or 0.0
            return seconds if seconds > _LONG_SECONDS else 0.0

        return sorted(groups, key=lambda index: (-rank(index), index))

    @property
    def left(self) -> int:
        """Return how many cells have not finished."""
        return self.missing - self._finished

    def thread_seconds_left(self, later: int) -> float | None:
        """Return the seconds that one thread needs for all unfinished cells, or None if unknown.

        These are the stage's unfinished cells and `later` cells, which count with the mean duration so far.
        """
        if self._thread_seconds is None:
            return None
        return self._thread_seconds + later * self._cell_seconds / self._finished

    def note(self, results: Iterable[CellResult]) -> None:
        """Count finished cells and their seconds."""
        for result in results:
            row = result.row
            self._left[row["dataset"], row["algorithm"]] -= 1
            self._cell_seconds += row.get("total_seconds") or 0.0
            self._finished += 1
            self._unseen.discard(row["algorithm"])

    def seconds_left(self, costs: Costs) -> float | None:
        """Return the expected seconds of the rest of the run at the speed so far, or None if unknown."""
        now = time.monotonic()
        if now - self._estimated >= _ESTIMATE_SECONDS:
            self._estimated = now
            stage, later = _seconds(self._left, costs), _seconds(self._later, costs)
            if self._cell_seconds and stage is not None:
                self._thread_seconds = stage
                speed = self._speed(now)
                if speed and later is not None and self._finished >= _TELLING_SHARE * self.missing:
                    self._estimate = (stage + later) / speed
        return self._estimate

    def _speed(self, now: float) -> float:
        """Return how many seconds of cell time finish in a second of wall time, or 0 if unknown."""
        began, before = self._since
        if not before and now - began < _COMPILING_SECONDS:
            if not self._unseen:
                # Every algorithm has finished a cell, so all code is compiled: measure the speed from now on.
                self._since = now, self._cell_seconds
            return 0.0
        return (self._cell_seconds - before) / (now - began)


def _seconds(cells: Mapping[Name, int], costs: Costs) -> float | None:
    """Return the expected seconds of `cells` (counts by data set and algorithm), or None if unknown."""
    expected = [(n, costs.seconds(name)) for name, n in cells.items() if n > 0]
    if any(seconds is None for _, seconds in expected):
        return None
    return sum(n * (seconds or 0.0) for n, seconds in expected)
