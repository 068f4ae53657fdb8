"""Study → cells: every (dataset, algorithm, noise, seed), the grids' cells first, each with a stable key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from ...learners import registry
from .. import data
from ..errors import InputError
from ..noise import Noise
from .checks import check_class_counts, check_study
from .learner_factory import given_by, grid_points
from .specs import AlgorithmSpec, DatasetSpec, Protocol, Scalar
from .study import TUNING_SEED, Study

# Part of every key. Raise it when the way a cell is run changes its integers.
CELL_VERSION = 1

Stage = Literal["tune", "run"]
# (dataset, algorithm, noise), by label
Group = tuple[str, str, Noise]


@dataclass(frozen=True)
class Cell:
    """Everything a worker needs to run one cell: a few hundred bytes, no data.

    Two cells with equal `key` have equal integer outcomes.
    """

    dataset: data.TaskRef
    algorithm: str
    learner: str
    params: tuple[tuple[str, Scalar], ...]
    noise: Noise
    seed: int
    stage: Stage
    protocol: Protocol
    judge: str
    root_seed: int
    checkpoints: str | int
    test_fraction: float
    validation_fraction: float
    folds: int
    max_examples: int | None
    max_train: int | None
    max_test: int | None
    fingerprint: str
    algorithm_version: int
    grid: str | None = None
    plugins: tuple[str, ...] = ()
    time_limit: float | None = None
    test_curve: bool = False

    @cached_property
    def key(self) -> str:
        """Hex digest of the resolved spec, the data's fingerprint and the versions of cell and learner."""
        # Where the files lie, what else was on the grid and how long it may take do not change what this
        # cell computes.
        besides = ["grid", "plugins", "time_limit"]
        # Without it the key is that of the versions which could not measure it.
        besides += [] if self.test_curve else ["test_curve"]
        spec = {name: value for name, value in vars(self).items() if name not in besides}
        spec["dataset"] = {"label": self.dataset.label, "task": self.dataset.task}
        spec["noise"] = self.noise.spec
        spec["cell_version"] = CELL_VERSION
        return hashlib.sha256(json.dumps(spec, sort_keys=True).encode()).hexdigest()[:32]

    @property
    def group(self) -> Group:
        """The (dataset, algorithm, noise) that a grid is tuned for."""
        return self.dataset.label, self.algorithm, self.noise


@dataclass(frozen=True)
class Plan:
    """A study with its names resolved: the tasks, the entry each comes from, and their fingerprints."""

    study: Study
    tasks: tuple[data.TaskRef, ...]
    entries: dict[str, DatasetSpec]
    fingerprints: dict[str, str]
    plugins: tuple[str, ...]

    def tuning_cells(self) -> Iterator[Cell]:
        """Yield one cell on the reserved seed for every grid point of every (dataset, algorithm, noise)."""
        for task, noise, entry in self._groups():
            if entry.grid:
                for point in grid_points(entry):
                    yield self._cell(task, entry, noise, TUNING_SEED, "tune", point)

    def evaluation_cells(self, winners: dict[Group, dict[str, Scalar]]) -> Iterator[Cell]:
        """Yield the cells of the study's seeds, but for those of `matched_cells`.

        Parameters
        ----------
        winners : dict
            Parameters that won the grid, by `Cell.group`; groups with a grid but no winner are left out.
        """
        for task, noise, entry in self._groups():
            if entry.matched:
                continue
            params = entry.fixed
            if entry.grid:
                winner = winners.get((task.label, entry.label, noise))
                if winner is None:
                    continue
                params = winner
            for seed in self.study.seeds:
                yield self._cell(task, entry, noise, seed, "run", params)

    def matched_cells(self, supports: dict[tuple[Group, int], int]) -> Iterator[Cell]:
        """Yield the cells of the study's seeds whose parameters are other cells' support sizes.

        Parameters
        ----------
        supports : dict
            Support vectors at the end, by `Cell.group` and seed; a cell whose model has none is left out.
        """
        for task, noise, entry in self._groups():
            for seed in self.study.seeds if entry.matched else ():
                sizes = {
                    key: supports.get(((task.label, label, noise), seed))
                    for key, label in entry.matched.items()
                }
                # A stream without a mistake leaves no support vector; there is no budget below 1.
                found = {key: max(1, size) for key, size in sizes.items() if size is not None}
                if len(found) == len(sizes):
                    yield self._cell(task, entry, noise, seed, "run", {**entry.fixed, **found})

    def unmatched(self, supports: dict[tuple[Group, int], int]) -> dict[tuple[str, str], int]:
        """Count the cells that `matched_cells` leaves out, by algorithm and the one it is matched with."""
        missing: dict[tuple[str, str], int] = {}
        for task, noise, entry in self._groups():
            for label in set(entry.matched.values()):
                lacking = sum(((task.label, label, noise), seed) not in supports for seed in self.study.seeds)
                if lacking:
                    pair = entry.label, label
                    missing[pair] = missing.get(pair, 0) + lacking
        return missing

    def split_cells(self) -> Iterator[Cell]:
        """Yield one cell for every way in which a task's rows are divided: by seed, the reserved one too."""
        entry, noise = self.study.algorithms[0], self.study.noise[0]
        for task in self.tasks:
            if self.n_tuning_cells:
                yield self._cell(task, entry, noise, TUNING_SEED, "tune", {})
            for seed in self.study.seeds:
                yield self._cell(task, entry, noise, seed, "run", {})

    @property
    def n_tuning_cells(self) -> int:
        """How many cells `tuning_cells` yields."""
        return sum(sum(1 for _ in grid_points(entry)) for _, _, entry in self._groups() if entry.grid)

    @property
    def n_evaluation_cells(self) -> int:
        """How many cells `evaluation_cells` yields once every grid has a winner."""
        study = self.study
        return len(self.tasks) * len(study.algorithms) * len(study.noise) * len(study.seeds)

    def _groups(self) -> Iterator[tuple[data.TaskRef, Noise, AlgorithmSpec]]:
        # Tasks outermost: a worker then meets the cells of one data set in a row and opens it once.
        for task in self.tasks:
            algorithms = [given_by(self.entries[task.label], entry) for entry in self.study.algorithms]
            for noise in self.study.noise:
                for entry in algorithms:
                    yield task, noise, entry

    def _cell(
        self,
        task: data.TaskRef,
        entry: AlgorithmSpec,
        noise: Noise,
        seed: int,
        stage: Stage,
        params: dict[str, Scalar],
    ) -> Cell:
        study, source = self.study, self.entries[task.label]
        params = {**params, **entry.strategy}
        return Cell(
            dataset=task,
            algorithm=entry.label,
            learner=entry.name,
            params=tuple(sorted(params.items())),
            noise=noise,
            seed=seed,
            stage=stage,
            protocol=study.protocol_of(source),
            judge=study.judge_of(source),
            root_seed=study.root_seed,
            checkpoints=study.checkpoints,
            test_fraction=study.test_fraction,
            validation_fraction=study.validation_fraction,
            folds=study.folds,
            max_examples=source.max_examples or study.max_examples,
            max_train=_least(study.max_train, study.max_tune if stage == "tune" else None),
            max_test=study.max_test,
            fingerprint=self.fingerprints[task.label],
            algorithm_version=getattr(registry.available()[entry.name], "algorithm_version", 1),
            grid=json.dumps(entry.grid, sort_keys=True) if entry.grid else None,
            plugins=self.plugins,
            time_limit=study.time_limit,
            test_curve=study.test_curve and stage == "run",
        )


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def make_plan(study: Study, *, base: Path | None = None, plugins: tuple[str, ...] = ()) -> Plan:
    """Resolve the names of a study.

    Parameters
    ----------
    study : Study
    base : Path, default=None
        Folder that relative paths of data files start from; None: the current one.
    plugins : tuple of str, default=()
        Python files with learners of the user's own.

    Returns
    -------
    Plan

    Raises
    ------
    InputError
        A data set, algorithm, parameter or task is unknown, a file is missing or malformed, or two data
        sets come out with one label.
    """
    for plugin in plugins:
        try:
            registry.load_plugin(Path(plugin))
        except (OSError, ImportError, SyntaxError, ValueError) as error:
            raise InputError(str(error)) from None
    check_study(study)
    found: list[tuple[data.TaskRef, DatasetSpec]] = []
    for entry in study.datasets:
        refs = data.expand(
            name=entry.name,
            path=entry.path,
            target=entry.target,
            task=entry.task,
            label=entry.label,
            options=entry.options,
            base=base or Path(),
        )
        found += [(ref, entry) for ref in refs]
    tasks = [ref for ref, _ in found]
    check_class_counts(study, tasks)
    labels = [task.label for task in tasks]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise InputError(f"datasets: two tasks are called {twice[0]!r}: give one data set a 'label'")
    return Plan(
        study=study,
        tasks=tuple(tasks),
        entries={ref.label: entry for ref, entry in found},
        fingerprints={task.label: data.fingerprint(task) for task in tasks},
        plugins=plugins,
    )
