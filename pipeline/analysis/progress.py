"""Find which cells of a study are comparable, and the progress of unfinished algorithms."""

from __future__ import annotations

import itertools
from collections import defaultdict
from dataclasses import dataclass, replace

import pandas as pd

from ..noise import Noise
from .design import Design, evaluation_rows, shared_seeds

_BLOCK = ["dataset", "noise"]


@dataclass(frozen=True)
class Shortfall:
    """Describe the progress of an algorithm whose cells on a data set and noise rate are not all finished."""

    # Numbers of cells: in all, stopped at the time limit, failed or crashed, and not yet run.
    planned: int
    stopped: int = 0
    failed: int = 0
    waiting: int = 0
    # The fewest and the most examples after which cells were stopped; empty if no cell was stopped.
    reached: tuple[int, ...] = ()
    # Number of examples in the longest stream that any cell finished on the data set; 0 if none finished.
    examples: int = 0


@dataclass(frozen=True)
class NotRun:
    """Describe consecutive seeds on which cells of the same data sets and algorithms have not run."""

    seeds: list[int]
    datasets: list[str]
    algorithms: list[str]
    cells: int


def finished_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells that enter means over seeds.

    For each data set and noise level, these are the cells on seeds that all algorithms have run (see
    `shared_seeds`), except those of algorithms with a failed, crashed or stopped cell there.
    """
    rows = evaluation_rows(cells)
    group = [rows[name] for name in (*_BLOCK, "algorithm")]
    return rows[shared_seeds(rows) & (rows["status"] == "ok").groupby(group).transform("all")]


def comparable_rows(finished: pd.DataFrame, design: Design) -> pd.DataFrame:
    """Return the `finished` cells of the data sets and noise levels on which every algorithm finished.

    Algorithms without any finished cell are ignored.
    """
    names = finished["algorithm"].unique()
    expected = {dataset: sum(design.runs(name, dataset) for name in names) for dataset in design.datasets}
    there = finished.groupby(_BLOCK)["algorithm"].transform("nunique")
    return finished[there == finished["dataset"].map(expected)]


def shortfalls(rows: pd.DataFrame, noise: Noise, design: Design) -> dict[tuple[str, str], Shortfall]:
    """Return the progress of every unfinished (data set, algorithm) at one noise rate."""
    finished = rows["status"] == "ok"
    longest = rows.loc[finished].groupby("dataset")["n_examples"].max().to_dict()
    here = rows[rows["noise"] == noise.slug]
    ended = here.groupby(["dataset", "algorithm", "status"]).size().to_dict()
    stopped = here[here["status"] == "stopped"].groupby(["dataset", "algorithm"])["n_examples"]
    reached = {pair: (int(part.min()), int(part.max())) for pair, part in stopped}
    found = {}
    for pair in itertools.product(design.datasets, design.algorithms):
        dataset, algorithm = pair
        if not design.runs(algorithm, dataset):
            continue
        by_status = {
            status: ended.get((*pair, status), 0) for status in ("ok", "stopped", "failed", "crashed")
        }
        planned = len(design.seeds_of(dataset, noise))
        if by_status["ok"] < planned:
            found[pair] = Shortfall(
                planned,
                by_status["stopped"],
                by_status["failed"] + by_status["crashed"],
                max(0, planned - sum(by_status.values())),
                reached.get(pair, ()),
                int(longest.get(dataset, 0)),
            )
    return found


def not_run(cells: pd.DataFrame, design: Design) -> list[NotRun]:
    """Return the cells on the study's seeds that have not run; data sets without any cell are ignored."""
    rows = evaluation_rows(cells)
    there = set(zip(*(rows[name] for name in ("seed", "dataset", "noise", "algorithm")), strict=True))
    lacking: dict[int, list[tuple[str, str]]] = defaultdict(list)
    for dataset, noise in itertools.product(design.datasets, design.noise):
        for seed, name in itertools.product(design.seeds_of(dataset, noise), design.algorithms):
            if design.runs(name, dataset) and (seed, dataset, noise.slug, name) not in there:
                lacking[seed].append((dataset, name))
    places = {seed: place for place, seed in enumerate(design.seeds)}
    found: list[NotRun] = []
    for seed in sorted(lacking):
        datasets, algorithms = (set(each) for each in zip(*lacking[seed], strict=True))
        one = NotRun(
            [seed],
            [name for name in design.datasets if name in datasets],
            [name for name in design.algorithms if name in algorithms],
            len(lacking[seed]),
        )
        last = found[-1] if found else one
        next_to = places[seed] == places[last.seeds[-1]] + 1
        if next_to and (last.datasets, last.algorithms) == (one.datasets, one.algorithms):
            last.seeds.append(seed)
            found[-1] = replace(last, cells=last.cells + one.cells)
        else:
            found.append(one)
    return found
