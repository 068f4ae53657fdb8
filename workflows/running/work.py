"""The cells that a stage still lacks: in which order they are run, and how long they will take."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from ...pipeline.store.cell_result import CellResult
from ...pipeline.study.cell import Cell
from ...pipeline.study.cell_group import CellGroup
from .costs import Costs, Name

# Cells that take longer come first, the longest at the head: one that is begun last has everybody wait for
# it. Shorter ones stay where they are, beside those that read the same rows.
_LONG_SECONDS = 1.0
# Cells after which they are ranked anew: often beside a study, seldom beside what ranking takes.
_RANKED_CELLS = 256
# Between two estimates of the time left: each sums over the groups.
_ESTIMATE_SECONDS = 1.0
# Before this share of the cells is finished nothing is said: the first ones have read the data for others.
_TELLING_SHARE = 0.01


class Work:
    """The missing cells of a stage.

    Parameters
    ----------
    groups : list of CellGroup
    keys : list of str
        Of all their cells, in order.
    known : set of str
        Keys of those that are there.
    later : mapping of (data set, algorithm) to int, default={}
        Cells of the stages after it, which count for the time left.

    Attributes
    ----------
    missing : int
        How many are not.
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
        # Algorithms with equal parameters share their cells: each is run once, where it comes first.
        first = {key: place for place, key in reversed(list(enumerate(keys)))}
        self._repeated = {place for place, key in enumerate(keys) if first[key] != place}
        start = 0
        for group in groups:
            stop = start + len(group)
            self._left[group.name] += sum(self._lacks(place) for place in range(start, stop))
            start = stop
        self.missing = self._left.total()
        self._began, self._cell_seconds = time.monotonic(), 0.0
        self._finished, self._estimated = 0, 0.0
        self._estimate: float | None = None
        self._thread_seconds: float | None = None

    def _lacks(self, place: int) -> bool:
        return self._keys[place] not in self._known and place not in self._repeated

    def cells(self, costs: Costs) -> Iterator[Cell]:
        """Yield them seed by seed; of each seed the longest first as far as their costs are known.

        Groups follow each other by data set, so the cells of a data set and seed, which share their inputs,
        do too. An interrupted run then has the same seeds of nearly all algorithms.
        """
        starts, start = [], 0
        # Most groups have the same seeds: the places of each seed are worked out once for all of them.
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
                group = self._groups[index]
                for place in places[index][seed]:
                    if self._lacks(starts[index] + place):
                        key = self._keys[starts[index] + place]
                        yield group.cell(*group.members[place]).with_key(key)

    def _ranked(self, groups: list[int], costs: Costs) -> Iterator[int]:
        """Yield the numbers of groups, those with the longest cells first."""

        def rank(index: int) -> float:
            seconds = costs.seconds(self._groups[index].name) or 0.0
            return seconds if seconds > _LONG_SECONDS else 0.0

        # The next one is last. Costs are asked for again on the way: finished cells tell of the others.
        left, ranked = groups, 0
        while left:
            if ranked <= 0:
                left.sort(key=lambda index: (rank(index), -index))
                ranked = max(_RANKED_CELLS, len(left))
            ranked -= 1
            yield left.pop()

    @property
    def left(self) -> int:
        """How many cells have not finished."""
        return self.missing - self._finished

    def thread_seconds_left(self, later: int) -> float | None:
        """Return what the rest takes in one thread, and `later` cells of other stages; None: no telling."""
        if self._thread_seconds is None:
            return None
        return self._thread_seconds + later * self._cell_seconds / self._finished

    def note(self, results: Iterable[CellResult]) -> None:
        """Note that cells are finished."""
        for result in results:
            row = result.row
            self._left[row["dataset"], row["algorithm"]] -= 1
            self._cell_seconds += row.get("total_seconds") or 0.0
            self._finished += 1

    def seconds_left(self, costs: Costs) -> float | None:
        """Return how long the rest is expected to take at the speed so far; None: no telling."""
        now = time.monotonic()
        if now - self._estimated >= _ESTIMATE_SECONDS:
            self._estimated = now
            stage, later = _seconds(self._left, costs), _seconds(self._later, costs)
            if self._cell_seconds and stage is not None:
                self._thread_seconds = stage
                if later is not None and self._finished >= _TELLING_SHARE * self.missing:
                    self._estimate = (stage + later) * (now - self._began) / self._cell_seconds
        return self._estimate


def _seconds(cells: Mapping[Name, int], costs: Costs) -> float | None:
    """Return what cells are expected to take together; None where nothing is known."""
    expected = [(n, costs.seconds(name)) for name, n in cells.items() if n > 0]
    if any(seconds is None for _, seconds in expected):
        return None
    return sum(n * (seconds or 0.0) for n, seconds in expected)
