"""Study → cells: every (dataset, algorithm, noise, seed), the grids' cells first, each with a stable key."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from ..learners import registry
from . import data
from .algorithm import make_learner
from .entries import AlgorithmEntry, DatasetEntry, Protocol, Scalar
from .errors import InputError, did_you_mean
from .study import TUNING_SEED, Study

# Part of every key. Raise it when the way a cell is run changes its integers.
CELL_VERSION = 1

Stage = Literal["tune", "run"]
# (dataset, algorithm, noise), by label
Group = tuple[str, str, float]


@dataclass(frozen=True)
class Cell:
    """Everything a worker needs to run one cell: a few hundred bytes, no data.

    Two cells with equal `key` have equal integer outcomes.
    """

    dataset: data.TaskRef
    algorithm: str
    learner: str
    params: tuple[tuple[str, Scalar], ...]
    noise: float
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
    entries: dict[str, DatasetEntry]
    fingerprints: dict[str, str]
    plugins: tuple[str, ...]

    def tuning_cells(self) -> Iterator[Cell]:
        """Yield one cell on the reserved seed for every grid point of every (dataset, algorithm, noise)."""
        for task, noise, entry in self._groups():
            if entry.grid:
                for point in grid_points(entry):
                    yield self._cell(task, entry, noise, TUNING_SEED, "tune", point)

    def run_cells(self, winners: dict[Group, dict[str, Scalar]]) -> Iterator[Cell]:
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
    def n_run_cells(self) -> int:
        """How many cells `run_cells` yields once every grid has a winner."""
        study = self.study
        return len(self.tasks) * len(study.algorithms) * len(study.noise) * len(study.seeds)

    def _groups(self) -> Iterator[tuple[data.TaskRef, float, AlgorithmEntry]]:
        # Tasks outermost: a worker then meets the cells of one data set in a row and opens it once.
        for task in self.tasks:
            algorithms = [_given(self.entries[task.label], entry) for entry in self.study.algorithms]
            for noise in self.study.noise:
                for entry in algorithms:
                    yield task, noise, entry

    def _cell(
        self,
        task: data.TaskRef,
        entry: AlgorithmEntry,
        noise: float,
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


def grid_points(entry: AlgorithmEntry) -> Iterator[dict[str, Scalar]]:
    """Yield the parameter settings of an algorithm: the product of its lists, the last one fastest.

    Examples
    --------
    >>> entry = AlgorithmEntry.model_validate({"name": "AROW", "loss": "hinge", "r": [0.1, 1.0]})
    >>> list(grid_points(entry))
    [{'loss': 'hinge', 'r': 0.1}, {'loss': 'hinge', 'r': 1.0}]
    """
    for values in itertools.product(*entry.grid.values()):
        yield {**entry.fixed, **dict(zip(entry.grid, values, strict=True))}


def _given(dataset: DatasetEntry, algorithm: AlgorithmEntry) -> AlgorithmEntry:
    """Return an algorithm with the parameters that a data set gives to it: those that it has."""
    if not dataset.parameters:
        return algorithm
    names = registry.available()[algorithm.name]().get_params()
    given = {key: value for key, value in dataset.parameters.items() if key in names}
    try:
        return algorithm.with_parameters(given)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"algorithm {algorithm.label!r} on data set {dataset.called!r}: {message}") from None


def _check_dataset_parameters(study: Study) -> None:
    """Refuse a data set's parameter that no algorithm has, or a value that one does not take."""
    learners = {entry.name: registry.available()[entry.name]().get_params() for entry in study.algorithms}
    known = {name for names in learners.values() for name in names}
    for dataset in study.datasets:
        for key in dataset.parameters:
            if key not in known:
                raise InputError(
                    f"data set {dataset.called!r}: no algorithm of the study has a parameter {key!r}: "
                    f"{did_you_mean(key, known)}"
                )
        for algorithm in study.algorithms if dataset.parameters else ():
            check_algorithm(_given(dataset, algorithm))


def check_algorithm(entry: AlgorithmEntry) -> None:
    """Refuse an unknown learner or parameter, or a value the learner does not take.

    Parameters
    ----------
    entry : AlgorithmEntry

    Raises
    ------
    InputError
        One line with the nearest name, or with the learner's own words on the value.
    """
    known = registry.available()
    if entry.name not in known:
        hint = did_you_mean(entry.name, known)
        raise InputError(f"algorithm {entry.name!r} is unknown: {hint}; your own ones need --plugin FILE")
    learner = known[entry.name]
    names = learner().get_params()
    for key in (*entry.fixed, *entry.grid, *entry.matched):
        if key not in names:
            raise InputError(f"algorithm {entry.name!r} has no parameter {key!r}: {did_you_mean(key, names)}")
    for point in grid_points(entry):
        try:
            made = make_learner(entry.name, {**point, **entry.strategy})
            # A learner of the user's own may have neither method: its cells then say what is wrong.
            check = getattr(made, "check_parameters", None) or getattr(made, "_validate_params", None)
            if check is not None:
                check()
        except (TypeError, ValueError) as error:
            # The label names the entry; the learner's own name before its words would say it twice.
            words = str(error).removeprefix(f"{learner.__name__}: ")
            raise InputError(f"algorithm {entry.label!r}: {words}") from None


def _check_batch(study: Study) -> None:
    """Refuse a batch baseline where there is no test part, or where online mistakes judge its grid."""
    for entry in study.algorithms:
        if not registry.is_batch(registry.available()[entry.name]):
            continue
        for dataset in study.datasets:
            what = f"algorithm {entry.label!r} is fitted in batch and predicts nothing along the stream"
            if study.protocol_of(dataset) == "prequential":
                raise InputError(
                    f"{what}: data set {dataset.called!r} needs protocol 'holdout' or 'crossval'"
                )
            if _given(dataset, entry).grid and study.judge_of(dataset) == "online":
                raise InputError(f"{what}: its grid needs tune_by = 'validation'")


def _check_class_counts(study: Study, tasks: list[data.TaskRef]) -> None:
    """Refuse a task of many classes for a learner of two."""
    many = next((task.label for task in tasks if task.task == "multiclass"), None)
    if many is None:
        return
    for entry in study.algorithms:
        learner = registry.available()[entry.name]
        tags = getattr(learner(), "__sklearn_tags__", None)
        if tags is not None and not tags().classifier_tags.multi_class:
            raise InputError(
                f"data set {many!r} has more than two classes and algorithm {entry.name!r} takes two: "
                "give the data set task = 'one-vs-rest' or 'pairs'"
            )


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
    for algorithm in study.algorithms:
        check_algorithm(algorithm)
    _check_dataset_parameters(study)
    _check_batch(study)
    found: list[tuple[data.TaskRef, DatasetEntry]] = []
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
    _check_class_counts(study, tasks)
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
