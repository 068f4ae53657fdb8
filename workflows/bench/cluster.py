"""Measure what a Dask cluster adds to a cell, how it scales, and how long large studies take to start.

Scheduler, workers and client run as separate processes on this machine. The scheduler's processor time per
cell limits how many cells a second any cluster can run; it does not depend on how many cores there are.
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psutil

from ...pipeline.study.study import Study
from ..running.progress import RunProgress
from ..running.run import run_study
from ..running.workers import WorkerOptions
from .cells import empty_study, equal_study, memory_growth, own_megabytes
from .runner import Measurement, milliseconds, wall_time

# Number of empty cells (which learn almost nothing) if --cells is not given: they take about a minute.
CELLS = 5000
# The time until the first cell returns, and its memory, are measured on a study with this many times --cells.
PLANNED = 10
# Numbers of workers to compare. Each worker has one thread; workers share cores if there are too few.
SCALES = (1, 2, 4)
# Cells per worker, and rows of a cell, to measure how a cluster scales. A cell takes about 60 ms, so a run
# takes 7 s.
CELLS_A_WORKER, ROWS = 120, 64_000
# Share of the cells that must finish before memory is first measured.
WARM = 0.2

_CLUSTER = """
class = "distributed.deploy.subprocess.SubprocessCluster"
wait = 2
[kwargs]
n_workers = {n_workers}
threads_per_worker = 1
dashboard_address = "127.0.0.1:0"
"""


class _Look(NamedTuple):
    """Memory (MB) and processor time (s) of client and scheduler at one moment of a run."""

    cells: int
    seconds: float
    memory: dict[str, float]
    processor: dict[str, float]


class _Watching(RunProgress):
    """Measure memory and processor time of client and scheduler whenever cells return."""

    def __init__(self) -> None:
        self.looks: list[_Look] = []
        self.cells = 0
        self._scheduler: psutil.Process | None = None

    def advance(self, cells: int) -> None:
        """Record memory and processor time of client and scheduler, when `cells` more cells have returned."""
        if not cells:
            return
        self.cells += cells
        scheduler = self._scheduler = self._scheduler or _scheduler_process()
        memory = {"client": own_megabytes(), "scheduler": scheduler.memory_info().rss / 1e6}
        processes = {"client": psutil.Process(), "scheduler": scheduler}
        processor = {name: sum(process.cpu_times()[:2]) for name, process in processes.items()}
        self.looks.append(_Look(self.cells, time.perf_counter(), memory, processor))


def _scheduler_process() -> psutil.Process:
    children = psutil.Process().children(recursive=True)
    return next(each for each in children if "distributed.Scheduler" in " ".join(each.cmdline()))


def _watched(study: Study, n_workers: int) -> list[_Look]:
    """Run a study on a cluster, with an empty folder for its results, and return the measurements."""
    watching = _Watching()
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as out:
        path = Path(folder, "cluster.toml")
        path.write_text(_CLUSTER.format(n_workers=n_workers))
        summary = run_study(study, out, progress=watching, options=WorkerOptions(cluster=str(path)))
        if summary.failed:
            raise RuntimeError(f"{summary.failed} cells failed")
    return watching.looks


def _empty_cells(cells: int) -> list[Measurement]:
    looks = _watched(empty_study(cells), 2)
    last = looks[-1]
    first = next(look for look in looks if look.cells >= min(WARM * cells, last.cells))
    later = [look for look in looks if look.cells >= first.cells]
    done = max(last.cells - first.cells, 1)
    per_cell = (last.seconds - first.seconds) / done
    client, scheduler = (
        (last.processor[name] - first.processor[name]) / done for name in ("client", "scheduler")
    )
    return [
        Measurement(
            f"an empty cell on a cluster ({cells:,} of them, 2 workers, {os.cpu_count()} cores)",
            milliseconds(per_cell),
            f"processor: scheduler {milliseconds(scheduler)}, client {milliseconds(client)}",
            scheduler / per_cell,
        ),
        Measurement(
            "cells a second that would keep a core busy with the scheduler, with the client",
            f"{1 / max(scheduler, 1e-9):,.0f}, {1 / max(client, 1e-9):,.0f}",
            f"now {1 / per_cell:,.0f}",
            per_cell / max(scheduler, client, 1e-9),
        ),
        *(
            memory_growth(
                f"the {name} at {cells:,} cells",
                [start, *(look.memory[name] for look in later)],
                f"at {first.cells:,}",
            )
            for name, start in first.memory.items()
        ),
    ]


def _rate(looks: list[_Look]) -> float:
    """Return the cells per second between 50% and 90% of a run's cells, when all workers are busy."""
    total = looks[-1].cells
    first = next(look for look in looks if look.cells >= total * 0.5)
    last = next(look for look in looks if look.cells >= total * 0.9)
    if first is last:
        # All cells between 50% and 90% of the run returned at once, so there is no time to divide by.
        return math.nan
    return (last.cells - first.cells) / (last.seconds - first.seconds)


def _scaling() -> list[Measurement]:
    cores = os.cpu_count() or 1
    with tempfile.TemporaryDirectory() as folder:
        rates = {}
        for n_workers in SCALES:
            study = equal_study(Path(folder), CELLS_A_WORKER * n_workers, ROWS)
            rates[n_workers] = _rate(_watched(study, n_workers))
    one = rates[SCALES[0]]
    return [
        Measurement(
            f"{CELLS_A_WORKER} equal cells for each of {n} workers ({cores} cores)",
            f"{rate:.1f} a second",
            f"1 worker {one:.1f}",
            rate / one,
            "≥ 1.7" if n == 2 <= cores else "",
        )
        for n, rate in rates.items()
        if n > 1
    ]


class _Stop(Exception):
    """Signal that the first cell has returned."""


class _UntilFirst(RunProgress):
    def advance(self, cells: int) -> None:
        """Raise `_Stop` at the first cell."""
        if cells:
            raise _Stop


def _to_first_cell(cells: int) -> tuple[float, float]:
    """Run a study until its first cell returns; return the seconds, with planning, and peak memory in MB."""
    study, began = empty_study(cells), time.perf_counter()
    with tempfile.TemporaryDirectory() as out:
        with contextlib.suppress(_Stop):
            run_study(study, out, progress=_UntilFirst(), options=WorkerOptions(threads=2))
        return time.perf_counter() - began, own_megabytes("VmHWM")


def _again(cells: int) -> tuple[float, float]:
    """Run a study of empty cells twice, the second time with all cells stored; return both runs' seconds."""
    study = empty_study(cells)
    with tempfile.TemporaryDirectory() as out:
        run = partial(run_study, study, out, progress=RunProgress(), options=WorkerOptions(threads=2))
        return wall_time(run), wall_time(run)


def _in_subprocess(function: Any, *args: Any) -> Any:
    """Call a function in a subprocess, so that the memory that it measures is only its own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(function, *args).result()


def cluster(cells: int = CELLS) -> list[Measurement]:
    """Measure clusters and studies of `cells` empty cells; the printed limits suit 100,000 cells."""
    planned = PLANNED * cells
    found = [*_empty_cells(cells), *_scaling()]
    # The times until the first cell of a study of one cell and of a large study can be compared, because both
    # include imports and compilation.
    smallest, _ = _in_subprocess(_to_first_cell, 1)
    seconds, megabytes = _in_subprocess(_to_first_cell, planned)
    first, second = _in_subprocess(_again, cells)
    return [
        *found,
        Measurement(
            f"{planned:,} planned cells: time until the first has returned",
            f"{seconds:.1f} s",
            f"1 planned {smallest:.1f} s",
            seconds / 10,
            "≤ 1 (10 s for a million)",
        ),
        Measurement(
            f"{planned:,} planned cells: memory until the first has returned",
            f"{megabytes:.0f} MB",
            "1,000 MB",
            megabytes / 1e3,
            "≤ 1 (for a million)",
        ),
        Measurement(
            f"a finished store of {cells:,} cells: time of the next run",
            f"{second:.2f} s",
            f"the first run {first:.1f} s",
            second / 3,
            "≤ 1 (3 s for 100,000)",
        ),
    ]
