"""What a study will take: cells, data and what is missing of them, memory, time. Nothing is written."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..pipeline import data
from ..pipeline.errors import InputError
from ..pipeline.store.store import Store
from ..pipeline.study.learner_factory import with_dataset_parameters
from ..pipeline.study.plan import Plan, make_plan
from ..pipeline.study.study import Study
from .running.stages import Matched, Stage, Tuning

if TYPE_CHECKING:
    import pandas as pd

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
    seconds : dict
        Mean time of a cell, by data set and algorithm.
    """

    done: Counter[tuple[str, Pair]]
    failed: Counter[tuple[str, Pair]]
    seconds: dict[Pair, float]


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
    finished : Finished
    covariances : dict of str to int
        Bytes of a full covariance, by algorithm and data set.
    """

    study: Study
    out: str
    outlooks: list[data.Outlook]
    planned: Counter[tuple[str, Pair]]
    finished: Finished
    covariances: dict[str, int]

    @property
    def missing(self) -> list[data.Outlook]:
        """The data sets that somebody has to see to."""
        return [outlook for outlook in self.outlooks if outlook.missing]

    def left(self) -> Counter[tuple[str, Pair]]:
        """Return the cells that a run would compute."""
        return self.planned - self.finished.done - self.finished.failed

    def seconds_left(self) -> float | None:
        """Return the time of one thread that the cells which are left take; None where nothing is known."""
        means = _Means(self.finished.seconds, [outlook.rows for outlook in self.outlooks])
        return means.total(self.left()) if self.finished.seconds else None


def outline(
    study: Study, out: str, *, file: Path | None = None, plugins: tuple[str, ...] = ()
) -> StudyOutline:
    """Return what a study will take; nothing is downloaded, parsed or written for it.

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
            name=each.name,
            path=each.path,
            target=each.target,
            task=each.task,
            label=each.label,
            options=each.options,
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
    return StudyOutline(
        study,
        out,
        outlooks,
        _planned(study, plan, outlooks),
        _finished(plan, places, Store(out)),
        _covariances(study, plan, outlooks),
    )


def _planned(study: Study, plan: Plan, outlooks: list[data.Outlook]) -> Counter[tuple[str, Pair]]:
    planned: Counter[tuple[str, Pair]] = Counter()
    for number, (dataset, outlook) in enumerate(zip(study.datasets, outlooks, strict=True)):
        groups = (outlook.tasks or 0) * len(study.noise)
        for each in study.algorithms:
            algorithm = with_dataset_parameters(each, dataset, plan.learners[each.label])
            pair = number, algorithm.label
            if algorithm.grid:
                planned["tuning", pair] += groups * math.prod(map(len, algorithm.grid.values()))
            planned["matched" if algorithm.support_of else "evaluation", pair] += groups * len(study.seeds)
    return planned


def _finished(plan: Plan, places: Mapping[str, int], store: Store) -> Finished:
    """Count what a store has of a plan."""
    found = Finished(Counter(), Counter(), {})
    if not store.exists():
        return found
    store.check_version()
    rows = store.cells()
    statuses = dict(zip(rows["key"], rows["status"], strict=True))
    pairs: dict[str, Pair] = {}
    stage: Stage | None = Tuning(plan)
    while stage is not None:
        name = "matched" if isinstance(stage, Matched) else "evaluation" if stage.counts else "tuning"
        for cell in stage.cells():
            status = statuses.get(cell.key)
            if status is not None:
                pair = pairs[cell.key] = places[cell.spec.dataset.label], cell.spec.algorithm
                (found.done if status == "ok" else found.failed)[name, pair] += 1
        stage = stage.after(lambda: rows)
    found.seconds.update(_mean_seconds(rows, pairs))
    return found


def _mean_seconds(rows: pd.DataFrame, pairs: Mapping[str, Pair]) -> dict[Pair, float]:
    found: dict[Pair, list[float]] = defaultdict(list)
    timed = rows[rows["total_seconds"].notna()]
    for key, seconds in zip(timed["key"], timed["total_seconds"], strict=True):
        if key in pairs:
            found[pairs[key]].append(float(seconds))
    return {pair: _mean(values) for pair, values in found.items()}


def _covariances(study: Study, plan: Plan, outlooks: list[data.Outlook]) -> dict[str, int]:
    found = {}
    for dataset, outlook in zip(study.datasets, outlooks, strict=True):
        for each in study.algorithms if outlook.features else ():
            algorithm = with_dataset_parameters(each, dataset, plan.learners[each.label])
            default = plan.learners[each.label].factory().get_params().get("covariance")
            chosen = algorithm.grid.get("covariance", [algorithm.fixed.get("covariance", default)])
            if "full" in chosen:
                # One block a class where there are many.
                side = (outlook.features or 0) * (outlook.classes if outlook.classes > 2 else 1)
                found[f"{each.label} on {outlook.label}, {side:,} × {side:,}"] = 8 * side**2
    return found


class _Means:
    """Times of cells: measured, or by the rates of what is known."""

    def __init__(self, seconds: Mapping[Pair, float], rows: list[int | None]) -> None:
        self._seconds, self._rows = seconds, rows
        self._of_algorithm: dict[str, list[float]] = defaultdict(list)
        self._a_row: dict[str, list[float]] = defaultdict(list)
        self._of_dataset: dict[int, list[float]] = defaultdict(list)
        for (dataset, algorithm), mean in seconds.items():
            self._of_algorithm[algorithm].append(mean)
            self._of_dataset[dataset].append(mean)
            if rows[dataset]:
                self._a_row[algorithm].append(mean / (rows[dataset] or 1))

    def total(self, left: Mapping[tuple[str, Pair], int]) -> float:
        return sum(n * self._of(pair) for (_, pair), n in left.items())

    def _of(self, pair: Pair) -> float:
        """Return the mean time of a pair: its own, else the algorithm's a row, else the data set's."""
        dataset, algorithm = pair
        if pair in self._seconds:
            return self._seconds[pair]
        rows = self._rows[dataset]
        if rows and self._a_row[algorithm]:
            return rows * _mean(self._a_row[algorithm])
        known = self._of_dataset[dataset] or self._of_algorithm[algorithm] or [*self._seconds.values()]
        return _mean(known)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)
