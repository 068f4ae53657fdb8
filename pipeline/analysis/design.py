"""Derive what a study compares, and how much of it is done, from its cells."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pandas as pd

from ..data import base_set
from ..noise import Noise, noise_of, parse_noise


def natural_key(text: str) -> list[tuple[int, int, str]]:
    """Return a sort key under which "digits[2]" comes before "digits[10]"."""
    parts = re.split(r"(\d+)", text)
    # Compare numbers by length, then digits: Python refuses to convert thousands of digits.
    return [
        (1, len(part.lstrip("0")), part.lstrip("0")) if i % 2 else (0, 0, part)
        for i, part in enumerate(parts)
    ]


@dataclass(frozen=True)
class Design:
    """What a study compares, in the order in which its tables print it."""

    # Labels of the data sets (tasks), and the base set of each: the data set from which the task is cut.
    datasets: list[str]
    sources: list[str]
    algorithms: list[str]
    # The noise of the study, sorted by model and rate.
    noise: list[Noise]
    # Seeds of the repetitions, ascending.
    seeds: list[int]
    # For each (data set label, noise slug) whose results do not depend on the seed: the one seed that runs.
    once: Mapping[tuple[str, str], set[int]] = field(default_factory=dict)
    # For each algorithm that is restricted to some data sets: the labels of these data sets.
    bound: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def runs(self, algorithm: str, dataset: str) -> bool:
        """Return whether an algorithm runs on a data set."""
        return algorithm not in self.bound or dataset in self.bound[algorithm]

    def runs_everywhere(self, algorithm: str) -> bool:
        """Return whether an algorithm runs on every data set."""
        return all(self.runs(algorithm, dataset) for dataset in self.datasets)

    @property
    def everywhere(self) -> list[str]:
        """Return the algorithms that run on every data set, or all algorithms if fewer than two do."""
        found = [name for name in self.algorithms if self.runs_everywhere(name)]
        return found if len(found) > 1 else self.algorithms

    @property
    def repetitions(self) -> int:
        """Return the largest number of repetitions of any data set and noise level."""
        return max(
            (len(self.seeds_of(name, noise)) for name in self.datasets for noise in self.noise), default=0
        )

    def seeds_of(self, dataset: str, noise: Noise) -> list[int]:
        """Return the seeds that run on a data set at one noise rate, ascending."""
        return sorted(self.once.get((dataset, noise.slug), self.seeds))


@dataclass(frozen=True)
class Coverage:
    """Count how many cells of a study are in the store."""

    # Numbers of evaluation cells, by status; `failed` includes crashed cells.
    ok: int
    failed: int
    stopped: int
    # Number of tuning cells, and how many of them failed, crashed or were stopped.
    tuning: int
    lost: int
    # Number of cells of the whole study, tuning included, and how many of them are not in the store yet.
    planned: int
    missing: int


def one_repetition(cells: pd.DataFrame, study: Mapping[str, Any]) -> pd.DataFrame:
    """Return the cells, with results that do not depend on the seed once, on the first seed of the study.

    Results of several studies that are merged or compared may have computed them on several seeds, or each
    algorithm on another one. A successful cell is kept rather than another one.
    """
    once = (cells["stage"] == "run") & cells["repetitions"].notna()
    if not once.any():
        return cells
    ranked = cells[once].assign(lost=cells["status"] != "ok").sort_values(["lost", "seed"], kind="stable")
    equal = ranked.index[ranked.duplicated(["algorithm", "dataset", "noise"])]
    rows = cells.assign(seed=cells["seed"].mask(once, study["seeds"][0]))
    return rows.drop(index=equal).reset_index(drop=True)


def evaluation_rows(cells: pd.DataFrame, *, status: str | None = None) -> pd.DataFrame:
    """Return the cells on the study's seeds, without tuning cells, optionally only those of one status."""
    rows = cells[cells["stage"] == "run"]
    return rows if status is None else rows[rows["status"] == status]


def shared_seeds(rows: pd.DataFrame) -> pd.Series[bool]:
    """Mark the rows of shared seeds, for each data set and noise level separately.

    Shared seeds are those below the lowest seed that only some of the algorithms have run; without such a
    seed, all are shared. Algorithms without any row on a data set and noise level are ignored there.
    """
    block = ["dataset", "noise"]
    begun = rows.groupby(block)["algorithm"].transform("nunique")
    lacking = rows.groupby([*block, "seed"])["algorithm"].transform("nunique") < begun
    first = rows["seed"].where(lacking).groupby([rows[name] for name in block]).transform("min")
    return first.isna() | (rows["seed"] < first)


def study_design(cells: pd.DataFrame, study: Mapping[str, Any]) -> Design:
    """Return a study's design, in the study's order; names that occur only in stored cells come last."""
    runs = evaluation_rows(cells)
    entries = [entry["label"] for entry in study.get("datasets", [])]
    place = {name: i for i, name in reversed(list(enumerate(entries)))}
    tasks = sorted(
        set(zip(runs["dataset"], runs["source"], runs["parent"], strict=True)),
        key=lambda task: (place.get(task[2], len(entries)), natural_key(task[1]), natural_key(task[0])),
    )
    algorithms = list(dict.fromkeys(entry["label"] for entry in study.get("algorithms", [])))
    algorithms += sorted(set(runs["algorithm"]).difference(algorithms), key=natural_key)
    planned_noise = {parse_noise(spec) for spec in study.get("noise", [])}
    return Design(
        datasets=[dataset for dataset, _, _ in tasks],
        sources=[base_set(source) for _, source, _ in tasks],
        algorithms=algorithms,
        noise=sorted(planned_noise | {noise_of(slug) for slug in runs["noise"].unique()}),
        seeds=sorted({int(seed) for seed in study.get("seeds", [])} | {int(seed) for seed in runs["seed"]}),
        once=_once(runs),
        bound={
            entry["label"]: frozenset(dataset for dataset, _, parent in tasks if parent in entry["datasets"])
            for entry in study.get("algorithms", [])
            if entry.get("datasets")
        },
    )


def _once(runs: pd.DataFrame) -> dict[tuple[str, str], set[int]]:
    """Return the one seed that ran for each (data set, noise) whose results do not depend on the seed."""
    once: dict[tuple[str, str], set[int]] = {}
    if "repetitions" in runs:
        single = runs[runs["repetitions"].notna()]
        for dataset, noise, seed in zip(single["dataset"], single["noise"], single["seed"], strict=True):
            once.setdefault((dataset, noise), set()).add(int(seed))
    return once


def study_coverage(cells: pd.DataFrame, planned: int) -> Coverage:
    """Count a study's cells in the store; `planned` is the number of cells of the finished study."""
    runs = evaluation_rows(cells)
    return Coverage(
        ok=int((runs["status"] == "ok").sum()),
        failed=int(runs["status"].isin(["failed", "crashed"]).sum()),
        stopped=int((runs["status"] == "stopped").sum()),
        tuning=len(cells) - len(runs),
        lost=int((cells["status"] != "ok").sum() - (runs["status"] != "ok").sum()),
        planned=planned,
        missing=max(0, planned - len(cells)),
    )
