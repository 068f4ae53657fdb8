"""What a study will take: cells, data and what is missing of them, memory, time; no results are written."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ..pipeline import data
from ..pipeline.errors import InputError
from ..pipeline.store.store import Store
from ..pipeline.study.plan import Plan, make_plan
from ..pipeline.study.planned_algorithm import with_dataset_parameters
from ..pipeline.study.specs import DatasetSpec
from ..pipeline.study.study import Study
from .running.costs import COSTS, Costs
from .running.run import refused_splits
from .running.stages import Matched, Stage, Tuning
from .running.trials import trials

if TYPE_CHECKING:
    pass

STAGES = ("tuning", "evaluation", "matched")

# Number of the data set in the study, and label of the algorithm.
Pair = tuple[int, str]


@dataclass(frozen=True)
class Finished:
    """What a store has of a plan.

    Attributes
    ----------
    done, failed : Counter
        Cells by stage, data set and algorithm; failed are those that failed, crashed or were stopped.
    costs : Costs
        What cells have taken, by number of the data set and algorithm.
    tried : tuple of str
        Where no cell is finished: the algorithms whose short trial cells the costs are of.
    """

    done: Counter[tuple[str, Pair]]
    failed: Counter[tuple[str, Pair]]
    costs: Costs
    tried: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyOutline:
    """What a study will take.

    Attributes
    ----------
    study : Study
    out : str
        Where its results are or will be.
    outlooks : list of data.Outlook
        Of its data sets, in their order.
    planned : Counter
        Cells by stage, data set and algorithm, as far as the number of tasks is known.
    repetitions : int
        Of the data set and level of noise that has the most: fewer than seeds if the others would repeat one.
    finished : Finished
    covariances : dict of str to int
        Bytes of a full covariance, by algorithm and data set.
    file : str
        What a line of error begins with: the study's file, where there is one.
    unsplit : str
        Why data sets that are ready cannot be split as the study wants it.
    """

    study: Study
    out: str
    outlooks: list[data.Outlook]
    planned: Counter[tuple[str, Pair]]
    repetitions: int
    finished: Finished
    covariances: dict[str, int]
    file: str = ""
    unsplit: str = ""

    @property
    def missing(self) -> list[data.Outlook]:
        """The data sets that somebody has to see to."""
        return [outlook for outlook in self.outlooks if outlook.missing]

    @property
    def refusal(self) -> str:
        """What a run would end with before its first cell; empty where it can begin."""
        return next((f"{self.file}{outlook.problem}" for outlook in self.missing), self.unsplit)

    def left(self) -> Counter[tuple[str, Pair]]:
        """Return the cells that a run would compute."""
        return self.planned - self.finished.done - self.finished.failed

    def seconds_left(self) -> float | None:
        """Return the time of one thread that the cells which are left take; None where nothing is known."""
        costs, total = self.finished.costs, 0.0
        for (_, pair), n in self.left().items():
            total += n * (costs.seconds(pair, self.outlooks[pair[0]].rows) or 0.0)
        return total if costs else None


def outline(
    study: Study, out: str, *, file: Path | None = None, plugins: tuple[str, ...] = ()
) -> StudyOutline:
    """Return what a study will take; nothing is downloaded, parsed or written for it but compiled code.

    Parameters
    ----------
    study : Study
    out : str
        Folder or fsspec URL of its results, there or not.
    file : Path, default=None
        The study's file: relative paths start from its folder.
    plugins : tuple of str, default=()
        Python files with further learners.

    Returns
    -------
    StudyOutline

    Raises
    ------
    InputError
        Something in the study but its data is not as it must be, or the store cannot be read.
    """
    base = Path() if file is None else file.parent
    outlooks = [
        data.look(
            **each.entry,
            base=base,
        )
        for each in study.datasets
    ]
    ready = [each for each, outlook in zip(study.datasets, outlooks, strict=True) if outlook.ready]
    try:
        plan = make_plan(study.model_copy(update={"datasets": ready}), base=base, plugins=plugins)
    except InputError as error:
        raise InputError(f"{file}: {error}" if file else str(error)) from None
    numbers = {id(each): number for number, each in enumerate(study.datasets)}
    places = {label: numbers[id(each)] for label, each in plan.datasets.items()}
    finished = _finished(plan, places, Store(out))
    if not finished.costs:
        finished = _with_trials(finished, plan, places, outlooks)
    return StudyOutline(
        study,
        out,
        outlooks,
        _planned(study, plan, outlooks),
        max(n for dataset in study.datasets for n in _repetitions(plan, dataset)),
        finished,
        _covariances(study, plan, outlooks),
        f"{file}: " if file else "",
        refused_splits(plan),
    )


def _planned(study: Study, plan: Plan, outlooks: list[data.Outlook]) -> Counter[tuple[str, Pair]]:
    planned: Counter[tuple[str, Pair]] = Counter()
    for number, (dataset, outlook) in enumerate(zip(study.datasets, outlooks, strict=True)):
        groups = (outlook.tasks or 0) * len(study.noise)
        repeated = (outlook.tasks or 0) * sum(_repetitions(plan, dataset))
        for each in study.algorithms:
            if not each.runs_on(dataset.label):
                continue
            algorithm = with_dataset_parameters(each, dataset, plan.learners[each.label])
            pair = number, algorithm.label
            if algorithm.grid:
                planned["tuning", pair] += groups * math.prod(map(len, algorithm.grid.values()))
            planned["matched" if algorithm.support_of else "evaluation", pair] += repeated
    return planned


def _repetitions(plan: Plan, dataset: DatasetSpec) -> list[int]:
    """Return how many repetitions a task of a data set has, for each level of noise."""
    tasks = [task for task in plan.tasks if plan.datasets[task.label] is dataset]
    # Only files have to be parsed first, and files hold the same rows for every seed.
    drawn = any(data.is_drawn(task) for task in tasks)
    return [len(plan.repetitions(dataset, noise, drawn=drawn)) for noise in plan.study.noise]


def _finished(plan: Plan, places: Mapping[str, int], store: Store) -> Finished:
    """Count what a store has of a plan."""
    found = Finished(Counter(), Counter(), Costs())
    if not store.exists():
        return found
    store.check_version()
    rows = store.cells()
    kept = dict(zip(rows["key"], rows[list(COSTS)].to_dict("records"), strict=True))
    stage: Stage | None = Tuning(plan)
    while stage is not None:
        name = "matched" if isinstance(stage, Matched) else "evaluation" if stage.counts else "tuning"
        for group in stage.groups:
            place, algorithm = places[group.spec.dataset.label], group.spec.algorithm
            there = [kept[key] for key in group.cell_keys() if key in kept]
            for row in there:
                (found.done if row["status"] == "ok" else found.failed)[name, (place, algorithm)] += 1
            found.costs.learn(row | {"dataset": place} for row in there)
        stage = stage.after(lambda: rows)
    return found


def _with_trials(
    finished: Finished, plan: Plan, places: Mapping[str, int], outlooks: list[data.Outlook]
) -> Finished:
    """Take the costs from trial cells."""
    rows = {task.label: outlooks[places[task.label]].rows or 0 for task in plan.tasks}
    tried = trials(plan, rows)
    finished.costs.learn(row | {"dataset": places[row["dataset"]]} for row in tried)
    return replace(finished, tried=tuple(row["algorithm"] for row in tried))


def _covariances(study: Study, plan: Plan, outlooks: list[data.Outlook]) -> dict[str, int]:
    found = {}
    for dataset, outlook in zip(study.datasets, outlooks, strict=True):
        for each in study.algorithms if outlook.features else ():
            learner = plan.learners[each.label]
            if not each.runs_on(dataset.label) or "covariance" not in learner.parameters:
                continue
            algorithm = with_dataset_parameters(each, dataset, learner)
            default = learner.make({}).get_params().get("covariance")
            chosen = algorithm.grid.get("covariance", [algorithm.fixed.get("covariance", default)])
            if "full" in chosen:
                # One block a class where there are many.
                side = (outlook.features or 0) * (outlook.classes if outlook.classes > 2 else 1)
                found[f"{each.label} on {outlook.label}, {side:,} × {side:,}"] = 8 * side**2
    return found
