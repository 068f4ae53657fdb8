"""Plan a study as cells, one per (data set, algorithm, noise, seed): those that tune grids come first."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from ...learners import registry
from ...learners.guests.given import find_given
from .. import data
from ..errors import InputError
from ..noise import Noise
from ..scoring import Kept, kept_for
from .cell import Cell, CellGroup, CellSpec, Execution, FeatureWork, Group, Params, StageName
from .checks import Learners, check_study, check_tasks, draws_randomly
from .learner_factory import (
    grid_points,
    refuse_changed,
    refuse_left_out,
    resolve_learner,
    with_canonical_numbers,
    with_dataset_parameters,
)
from .specs import AlgorithmSpec, Course, DatasetSpec, Scalar
from .study import Study

# The best parameters of each grid, by ((data set, algorithm, noise), seed on which the grid was tuned).
Winners = Mapping[tuple[Group, int], dict[str, Scalar]]
# The number of support vectors at the end of each cell, by ((data set, algorithm, noise), seed).
SupportSizes = Mapping[tuple[Group, int], int]


class GridUse(NamedTuple):
    """The parameters of an algorithm on a data set that are those of a grid's winner."""

    dataset: str
    algorithm: str
    # The algorithm whose grid it is: the same, or the one that `tuned_as` names.
    model: str
    grid: dict[str, list[Scalar]]
    names: list[str]


@dataclass(frozen=True)
class PlannedAlgorithm:
    """An algorithm of the study, with what all its cells on a task have in common."""

    algorithm: AlgorithmSpec
    # The version of the algorithm's learner.
    version: int | str
    # Parameters of the object that wraps the learner: a query strategy, a tuner along the stream, or a change
    # detector; empty without one.
    strategy: dict[str, Scalar]
    execution: Execution

    @cached_property
    def points(self) -> list[Params]:
        """Return the parameter settings of the grid, each with the parameters in `strategy`."""
        return [self.with_strategy(point) for point in grid_points(self.algorithm)]

    def with_strategy(self, params: dict[str, Scalar]) -> Params:
        """Return a learner's parameters together with those in `strategy`, sorted by name."""
        return tuple(sorted({**params, **self.strategy}.items()))


@dataclass(frozen=True)
class Plan:
    """A study with everything that it names: its tasks, their data and its learners; makes its cells."""

    study: Study
    tasks: tuple[data.TaskRef, ...]
    # The data set table of the study from which each task is made, by the task's label.
    datasets: dict[str, DatasetSpec]
    fingerprints: dict[str, str]
    # The learner of each algorithm, by the algorithm's label.
    learners: Learners
    plugins: tuple[str, ...]
    # Labels of tasks whose data are not on this machine. Their fingerprints are known from finished results.
    absent: frozenset[str] = frozenset()

    def tuning_groups(self) -> Iterator[CellGroup]:
        """Yield the tuning cells in groups: one cell per parameter setting of a grid and tuning seed."""
        for task, noise, entry in self._groups():
            if entry.algorithm.grid:
                seeds = self._tuning_seeds(task, noise)
                members = [(seed, point) for seed in seeds for point in entry.points]
                yield self._group(task, entry, noise, "tune", members)

    def evaluation_groups(self, winners: Winners) -> Iterator[CellGroup]:
        """Yield, in groups, the evaluation cells whose parameters are known, given the winners of grids.

        Cells that need the support size of another algorithm are left out; see `matched_groups`.
        """
        for task, noise, entry in self._groups():
            algorithm, members = entry.algorithm, []
            if algorithm.support_of:
                continue
            for seed in self.seeds_of(task, noise):
                params: dict[str, Scalar] | None = algorithm.fixed
                tuned = self.study.tuning_seed(seed)
                if algorithm.grid:
                    params = winners.get(((task.label, algorithm.label, noise), tuned))
                elif algorithm.tuned_as is not None:
                    won = winners.get(((task.label, algorithm.tuned_as, noise), tuned))
                    params = self._as_tuned(algorithm, task, won)
                if params is not None:
                    members.append((seed, entry.with_strategy(params)))
            if members:
                yield self._group(task, entry, noise, "run", members)

    def matched_groups(self, sizes: SupportSizes) -> Iterator[CellGroup]:
        """Yield, in groups, the evaluation cells that have another algorithm's support size as a parameter.

        Cells whose support size is not known yet are left out.
        """
        for task, noise, entry in self._groups():
            algorithm, members = entry.algorithm, []
            for seed in self.seeds_of(task, noise) if algorithm.support_of else ():
                own = {
                    key: sizes.get(((task.label, label, noise), seed))
                    for key, label in algorithm.support_of.items()
                }
                # The size becomes a budget, which must be at least 1, but a learner without a mistake has no
                # support vector.
                found = {key: max(1, size) for key, size in own.items() if size is not None}
                if len(found) == len(own):
                    members.append((seed, entry.with_strategy({**algorithm.fixed, **found})))
            if members:
                yield self._group(task, entry, noise, "run", members)

    def tuning_cells(self) -> Iterator[Cell]:
        """Yield all tuning cells."""
        return chain.from_iterable(group.cells() for group in self.tuning_groups())

    def evaluation_cells(self, winners: Winners) -> Iterator[Cell]:
        """Yield the evaluation cells that `evaluation_groups` makes, one by one."""
        return chain.from_iterable(group.cells() for group in self.evaluation_groups(winners))

    def cell(self, group: Group, stage: str, seed: int, params: Mapping[str, Scalar]) -> Cell | None:
        """Return the cell with these properties; None if no winners of its grids give the study such a cell.

        `group` is (data set, algorithm, noise); `params` include those of a query strategy. Parameters that
        are the support size of another algorithm may have any value.
        """
        if group not in self._by_name:
            return None
        task, noise, entry = self._by_name[group]
        seeds, own = self.study.seeds, tuple(sorted(params.items()))
        if stage == "run" and seed in seeds and own in self._settings(task, noise, entry, params):
            return self._group(task, entry, noise, "run", []).cell(seed, own)
        tuned = entry.algorithm.grid and seed in map(self.study.tuning_seed, seeds)
        if stage == "tune" and tuned and own in entry.points:
            return self._group(task, entry, noise, "tune", []).cell(seed, own)
        return None

    def _settings(
        self, task: data.TaskRef, noise: Noise, entry: PlannedAlgorithm, given: Mapping[str, Scalar]
    ) -> list[Params]:
        """Return the parameters that evaluation cells may have; support sizes are those in `given`."""
        algorithm = entry.algorithm
        if algorithm.support_of:
            sizes = {key: given.get(key, 0) for key in algorithm.support_of}
            return [entry.with_strategy({**algorithm.fixed, **sizes})]
        if algorithm.tuned_as is None:
            return entry.points
        points = grid_points(self._by_name[task.label, algorithm.tuned_as, noise][2].algorithm)
        found = (self._as_tuned(algorithm, task, point) for point in points)
        return [entry.with_strategy(params) for params in found if params is not None]

    def grids(self) -> Iterator[GridUse]:
        """Yield which grid's winner sets which parameters, by data set and algorithm."""
        for (label, name, noise), (_, _, entry) in self._by_name.items():
            algorithm = entry.algorithm
            model = algorithm.tuned_as or name
            grid = self._by_name[label, model, noise][2].algorithm.grid
            if grid and noise == self.study.noise[0]:
                yield GridUse(label, name, model, grid, [key for key in grid if key not in algorithm.fixed])

    @cached_property
    def _by_name(self) -> dict[Group, tuple[data.TaskRef, Noise, PlannedAlgorithm]]:
        return {(each[0].label, each[2].algorithm.label, each[1]): each for each in self._groups()}

    def unmatched(self, sizes: SupportSizes) -> dict[tuple[str, str], int]:
        """Count the cells that cannot run, because the support size of another algorithm is not known.

        The counts are by (algorithm, other algorithm).
        """
        missing: dict[tuple[str, str], int] = {}
        for task, noise, entry in self._groups():
            algorithm = entry.algorithm
            for label in set(algorithm.support_of.values()):
                seeds = self.seeds_of(task, noise)
                lacking = sum(((task.label, label, noise), seed) not in sizes for seed in seeds)
                if lacking:
                    pair = algorithm.label, label
                    missing[pair] = missing.get(pair, 0) + lacking
        return missing

    def split_cells(self) -> Iterator[Cell]:
        """Yield one cell for each split into training and test rows, to check the splits.

        A task has one split per seed, and one per tuning seed. Tasks whose data are elsewhere are left out.
        """
        entry, noise = self._entries[0], self.study.noise[0]
        for task in self.here:
            if self.n_tuning_cells:
                own: list[tuple[int, Params]] = [(seed, ()) for seed in self._tuning_seeds(task, noise)]
                yield from self._group(task, entry, noise, "tune", own).cells()
            members: list[tuple[int, Params]] = [(seed, ()) for seed in self.seeds_of(task, noise)]
            yield from self._group(task, entry, noise, "run", members).cells()

    @property
    def here(self) -> list[data.TaskRef]:
        """Return the tasks whose data are on this machine."""
        return [task for task in self.tasks if task.label not in self.absent]

    def present(self, label: str) -> Plan:
        """Get the data of a task that are not on this machine; return a plan in which they are present.

        The data are downloaded if possible. Raises InputError if they are not available, or differ from the
        data from which a base (``--base``) computed its results.
        """
        task = next(each for each in self.tasks if each.label == label)
        found, known = data.fingerprint(task), self.fingerprints[label]
        if found != known:
            raise InputError(
                f"data set {label!r}: its data differ from those of the base (fingerprint {found[:16]}, "
                f"there {known[:16]}): run without that base"
            )
        return replace(self, absent=self.absent - {label})

    @cached_property
    def data_fingerprints(self) -> dict[str, str]:
        """Return the fingerprints of the tasks' data, by what identifies the data (see `data_id`)."""
        return {data_id(task): self.fingerprints[task.label] for task in self.tasks}

    @cached_property
    def n_tuning_cells(self) -> int:
        """Return the number of tuning cells."""
        return sum(
            len(self._tuning_seeds(task, noise)) * math.prod(map(len, entry.algorithm.grid.values()))
            for task, noise, entry in self._groups()
            if entry.algorithm.grid
        )

    @property
    def n_evaluation_cells(self) -> int:
        """Return the number of evaluation cells, which run once every grid has a winner."""
        return sum(len(self.seeds_of(task, noise)) for task, noise, _ in self._groups())

    def n_by_name(self, *, matched: bool = False) -> Counter[tuple[Hashable, str]]:
        """Return the number of evaluation cells by (data set, algorithm).

        With `matched`, only cells that need another algorithm's support size are counted.
        """
        found: Counter[tuple[Hashable, str]] = Counter()
        for task, noise, entry in self._groups():
            if entry.algorithm.support_of or not matched:
                found[task.label, entry.algorithm.label] += len(self.seeds_of(task, noise))
        return found

    def seeds_of(self, task: data.TaskRef, noise: Noise) -> list[int]:
        """Return the seeds of a task's cells: only the first if all repetitions would be identical."""
        return self.repetitions(self.datasets[task.label], noise, drawn=data.differs_by_seed(task))

    def repetitions(self, dataset: DatasetSpec, noise: Noise, *, drawn: bool = False) -> list[int]:
        """Return the seeds of a data set's cells: only the first if all repetitions would be identical.

        `drawn` says that the rows, or their order in the data set, are drawn for each seed.
        """
        differ = self._differ(dataset, noise, drawn=drawn)
        return self.study.seeds if differ else self.study.seeds[:1]

    def _differ(self, dataset: DatasetSpec, noise: Noise, *, drawn: bool) -> bool:
        """Return whether repetitions differ, also if the study has one seed; `drawn` as in `repetitions`."""
        moved = self.study.order_of(dataset) != "given" or noise.rate > 0 or drawn
        return moved or draws_randomly(self.study, dataset, self.learners)

    def _tuning_seeds(self, task: data.TaskRef, noise: Noise) -> list[int]:
        return list(dict.fromkeys(map(self.study.tuning_seed, self.seeds_of(task, noise))))

    @cached_property
    def _tuned(self) -> frozenset[str]:
        """Return the labels of the tasks on which at least one algorithm has a grid."""
        return frozenset(task.label for task, _, entry in self._groups() if entry.algorithm.grid)

    def _as_tuned(
        self, algorithm: AlgorithmSpec, task: data.TaskRef, winner: dict[str, Scalar] | None
    ) -> dict[str, Scalar] | None:
        """Return the parameters of an algorithm that uses the winning parameters of another (`tuned_as`).

        They are those winning parameters that belong to the grid, and the algorithm's own. `winner` has all
        parameters of the other algorithm's winner; if it is not known yet, both it and the result are None.
        """
        if winner is None:
            return None
        model = next(each for each in self.study.algorithms if each.label == algorithm.tuned_as)
        dataset = self.datasets[task.label]
        grid = with_dataset_parameters(model, dataset, self.learners[model.label]).grid
        return {key: winner[key] for key in grid} | algorithm.fixed

    @cached_property
    def features(self) -> dict[str, FeatureWork]:
        """Return from which rows cells standardize features, by task label; see `CellSpec.features`."""
        return {task.label: self._features_of(task) for task in self.tasks}

    def _features_of(self, task: data.TaskRef) -> FeatureWork:
        fit, protocol = data.feature_fit(task), self.study.protocol_of(self.datasets[task.label])
        if fit == "online":
            return "standardised along the stream"
        # Only if test rows are split off the rows of the task, instead of coming from a test file.
        if fit and (protocol == "crossval" or (protocol == "holdout" and not data.has_test(task))):
            return "fitted on the training part"
        return ""

    @property
    def versions(self) -> dict[str, int | str]:
        """Return the version of each algorithm's learner, as it is in the keys of its cells, by label."""
        return {entry.algorithm.label: entry.version for entry in self._entries}

    @cached_property
    def _entries(self) -> list[PlannedAlgorithm]:
        return [self._entry(algorithm) for algorithm in self.study.algorithms]

    def _groups(self) -> Iterator[tuple[data.TaskRef, Noise, PlannedAlgorithm]]:
        # Loop over tasks first, so that the cells of one data set run in succession and share cached data.
        for task in self.tasks:
            dataset = self.datasets[task.label]
            entries = []
            for entry in self._entries:
                algorithm = entry.algorithm
                own = with_dataset_parameters(algorithm, dataset, self.learners[algorithm.label])
                if algorithm.runs_on(dataset.label):
                    entries.append(entry if own is algorithm else self._entry(own))
            for noise in self.study.noise:
                for entry in entries:
                    yield task, noise, entry

    def _group(
        self,
        task: data.TaskRef,
        entry: PlannedAlgorithm,
        noise: Noise,
        stage: StageName,
        members: list[tuple[int, Params]],
    ) -> CellGroup:
        study, dataset, algorithm = self.study, self.datasets[task.label], entry.algorithm
        max_tune = dataset.max_tune or study.max_tune
        course = study.course_of(dataset, tuned=task.label in self._tuned)
        execution = entry.execution
        if not self._differ(dataset, noise, drawn=data.differs_by_seed(task)):
            execution = replace(execution, repetitions=1)
        spec = CellSpec(
            dataset=task,
            fingerprint=self.fingerprints[task.label],
            algorithm=algorithm.label,
            learner=algorithm.name,
            algorithm_version=entry.version,
            params=(),
            noise=noise,
            seed=0,
            root_seed=study.root_seed,
            stage=stage,
            protocol=study.protocol_of(dataset),
            judge=study.judge_of(dataset),
            checkpoints=study.checkpoints,
            test_fraction=dataset.test_fraction or study.test_fraction,
            validation_fraction=study.validation_fraction,
            folds=study.folds,
            max_examples=dataset.max_examples or study.max_examples,
            max_train=_least(study.max_train, max_tune if stage == "tune" else None),
            max_test=study.max_test,
            test_curve=study.test_curve and stage == "run",
            course=course,
            # Tuning cells store only mistakes, by which the settings of a grid are compared, unless the study
            # wants all measures of them (`test_points`).
            kept=self._kept(entry, course) if stage == "run" or study.test_points else (),
            test_point=study.test_points and stage == "tune",
            features=self.features[task.label],
        )
        return CellGroup(spec, execution, members)

    def _kept(self, entry: PlannedAlgorithm, course: Course) -> tuple[Kept, ...]:
        """Return what cells must store for the study's metrics, without scores that the learner lacks."""
        kept, algorithm = kept_for(self.study.metrics), entry.algorithm
        # Cells that once stored losses of such a learner's predictions thus have other keys now.
        learner, late = self.learners[algorithm.label], course.delay > 0
        if "scores" in kept and not any(learner.gives_scores(each, late) for each in grid_points(algorithm)):
            return tuple(each for each in kept if each != "scores")
        return kept

    def _entry(self, algorithm: AlgorithmSpec) -> PlannedAlgorithm:
        grid = json.dumps(algorithm.grid, sort_keys=True) if algorithm.grid else None
        given = find_given(algorithm.name)
        execution = Execution(grid, self.plugins, self.study.time_limit, given=given)
        return PlannedAlgorithm(
            algorithm, self.learners[algorithm.label].version, algorithm.strategy, execution
        )


def _least(*limits: int | None) -> int | None:
    return min((limit for limit in limits if limit is not None), default=None)


def data_id(task: data.TaskRef) -> str:
    """Return text that identifies a task's data across studies: source, classes and options, as JSON."""
    return json.dumps([task.source, task.task, task.options])


def make_plan(
    study: Study,
    *,
    base: Path | None = None,
    plugins: tuple[str, ...] = (),
    known: Mapping[str, str] | None = None,
    parse: bool = True,
) -> Plan:
    """Find the data and learners that a study names, check the study, and return its plan.

    Relative paths of data files start at `base`, by default the current folder. `plugins` are Python files
    with the user's learners. `known` has fingerprints of data, by `data_id`; they are used for data that
    are not on this machine, so that these need not be downloaded. With `parse` False they are also used for
    files that were not parsed before. Raises InputError if anything in the study is unknown or wrong.
    """
    for plugin in plugins:
        try:
            registry.load_plugin(Path(plugin))
        except (OSError, ImportError, SyntaxError, ValueError) as error:
            raise InputError(str(error)) from None
    refuse_left_out(study, plugins)
    refuse_changed(study)
    learners = {each.label: resolve_learner(each.name, again=True) for each in study.algorithms}
    own = [with_canonical_numbers(each, learners[each.label]) for each in study.algorithms]
    study = study.model_copy(update={"algorithms": own})
    check_study(study, learners)
    # Files at URLs may have changed since the last plan of this process, as local files may have.
    data.look_again()
    found: list[tuple[data.TaskRef, DatasetSpec]] = []
    for dataset in study.datasets:
        found += [(ref, dataset) for ref in data.expand(**dataset.entry, base=base or Path())]
    tasks = [ref for ref, _ in found]
    check_tasks(study, learners, tasks)
    elsewhere = {task.label: known.get(data_id(task)) for task in tasks} if known else {}
    absent = {
        task.label: fingerprint
        for task in tasks
        if (fingerprint := elsewhere.get(task.label)) is not None and not data.is_here(task, parsed=not parse)
    }
    return Plan(
        study=study,
        tasks=tuple(tasks),
        datasets={ref.label: dataset for ref, dataset in found},
        fingerprints={task.label: absent.get(task.label) or data.fingerprint(task) for task in tasks},
        learners=learners,
        plugins=plugins,
        absent=frozenset(absent),
    )
