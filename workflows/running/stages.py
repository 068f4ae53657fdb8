"""Order a study's cells in stages: tuning, evaluation, then cells that need other cells' support sizes.

The support size of a cell is the number of support vectors of its learner at the end.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import ClassVar

import numpy as np
import pandas as pd
import pyarrow as pa

from ...pipeline.analysis.tuning import tuned_grids
from ...pipeline.noise import noise_of
from ...pipeline.store.schema import PLAN
from ...pipeline.store.store import Store
from ...pipeline.store.tables import as_planned
from ...pipeline.study.cell import CellGroup, Group
from ...pipeline.study.plan import Plan, SupportSizes, Winners
from .work import Name

# A function that reads the cells table of the store.
Read = Callable[[], pd.DataFrame]


class Stage(ABC):
    """A set of cells that can run in any order; the cells of the next stage may need their results."""

    # Whether the stage's cells are results of the study; tuning cells are not, they only serve to choose
    # parameters.
    counts: ClassVar[bool] = True

    @abstractmethod
    def found(self) -> Iterator[CellGroup]:
        """Yield the cells in groups: cells of a group differ in seed and parameters only."""

    @cached_property
    def groups(self) -> list[CellGroup]:
        """Return the groups of cells that `found` yields, as a cached list."""
        return list(self.found())

    @cached_property
    def keys(self) -> list[str]:
        """Return the keys of the cells, in the order of the groups."""
        return [key for group in self.groups for key in group.cell_keys()]

    @cached_property
    def planned(self) -> pa.Table:
        """Return the key of each cell, with the study's labels, as a table for `Store.write_plan`."""
        of_group = np.repeat(np.arange(len(self.groups)), [len(group) for group in self.groups])
        columns = {
            "algorithm": [group.spec.algorithm for group in self.groups],
            "grid": [group.execution.grid for group in self.groups],
            "repetitions": [group.execution.repetitions for group in self.groups],
            "parent": [group.spec.dataset.parent for group in self.groups],
            "source": [group.spec.dataset.source for group in self.groups],
        }
        named = [pa.array(values, PLAN.field(name).type).take(of_group) for name, values in columns.items()]
        return pa.table([pa.array(self.keys, pa.string()), *named], schema=PLAN)

    def after(self, read: Read) -> Stage | None:
        """Return the next stage, when the cells of this one are in the store; None after the last stage.

        `read` returns the store's cells table; it is called at most once.
        """
        return None

    @property
    def later(self) -> Counter[Name]:
        """Return the number of cells in later stages, by data set and algorithm."""
        return Counter()

    def lacking(self) -> Iterator[str]:
        """Yield a line for each kind of cell that cannot run because a result is missing."""
        return iter(())


def stages(plan: Plan, store: Store) -> Iterator[tuple[Stage, Read]]:
    """Yield a plan's stages, each with a function that returns its cells, read from the store only once."""
    stage: Stage | None = Tuning(plan)
    while stage is not None:
        read = cache(partial(store.cells, stage.keys))
        yield stage, read
        stage = stage.after(read)


@dataclass(frozen=True)
class Tuning(Stage):
    """The first stage: one cell for every point of every parameter grid and every seed for tuning."""

    plan: Plan
    counts: ClassVar[bool] = False

    def found(self) -> Iterator[CellGroup]:
        return self.plan.tuning_groups()

    def after(self, read: Read) -> Stage:
        """Return the evaluation stage, with the parameters that won on each grid."""
        if not self.keys:
            return Evaluation(self.plan, {})
        rows = read()
        study = self.plan.study
        tuned = tuned_grids(as_planned(rows, self.planned), study.winner, study.own_winners)
        winners = {(grid.group, grid.seed): grid.winner for grid in tuned if grid.winner is not None}
        decided = {group for group, _ in winners}
        asked = dict.fromkeys(group.spec.group for group in self.groups)
        return Evaluation(self.plan, winners, tuple(group for group in asked if group not in decided))

    @property
    def later(self) -> Counter[Name]:
        return self.plan.n_by_name()


@dataclass(frozen=True)
class Evaluation(Stage):
    """The stage after tuning: cells with the study's seeds; tuned algorithms use the parameters that won.

    `undecided` has each (data set, algorithm, noise) without a winner, as no cell of its grid was finished.
    """

    plan: Plan
    winners: Winners
    undecided: tuple[Group, ...] = ()

    def found(self) -> Iterator[CellGroup]:
        return self.plan.evaluation_groups(self.winners)

    def after(self, read: Read) -> Stage | None:
        """Return the stage of cells that use other cells' support sizes, or None if there are none."""
        models = {label for each in self.plan.study.algorithms for label in each.support_of.values()}
        if not models:
            return None
        rows = as_planned(read(), self.planned)
        rows = rows[(rows["status"] == "ok") & rows["algorithm"].isin(models)]
        sizes = {}
        for row in rows.dropna(subset=["support_vectors"]).to_dict("records"):
            group = row["dataset"], row["algorithm"], noise_of(row["noise"])
            sizes[group, row["seed"]] = int(row["support_vectors"])
        return Matched(self.plan, sizes)

    @property
    def later(self) -> Counter[Name]:
        return self.plan.n_by_name(matched=True)

    def lacking(self) -> Iterator[str]:
        """Yield a line for each algorithm that has a grid without a finished point on some data set."""
        for label, times in Counter(algorithm for _, algorithm, _ in self.undecided).items():
            dataset, _, noise = next(group for group in self.undecided if group[1] == label)
            where = f"{dataset}, noise {noise.spec}" + (f", and {times - 1} more" if times > 1 else "")
            yield f"{label}: no point of its grid was finished on {where}: its cells there are not run"


@dataclass(frozen=True)
class Matched(Stage):
    """The last stage: cells with a parameter that is set to the support size of another algorithm's cell."""

    plan: Plan
    sizes: SupportSizes

    def found(self) -> Iterator[CellGroup]:
        return self.plan.matched_groups(self.sizes)

    def lacking(self) -> Iterator[str]:
        """Yield a line for each algorithm that is not run because another one has no support size."""
        for (label, model), lacking in self.plan.unmatched(self.sizes).items():
            yield f"{label}: not run {lacking} times, because {model} has no number of support vectors there"
