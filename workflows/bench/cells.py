"""Measure what the pipeline adds to learning: the cost of a cell, of metrics and of third-party learners."""

from __future__ import annotations

import math
import tempfile
from functools import partial
from pathlib import Path
from statistics import geometric_mean
from typing import Any

import numpy as np
import pandas as pd

from ...learners import take_rows
from ...pipeline.run.shared_inputs import inputs_of
from ...pipeline.run.task import run_cell
from ...pipeline.study.cell import Cell
from ...pipeline.study.learner_factory import resolve_learner
from ...pipeline.study.plan import make_plan
from ...pipeline.study.study import Study
from ...pipeline.study.study_file import parse_study
from ..running.progress import RunProgress
from ..running.run import run_study
from ..running.workers import WorkerOptions
from . import runner
from .runner import Contest, Measurement, Work, cost, microseconds, milliseconds, processor_time
from .streams import with_data

_AROW, _PA = {"name": "AROW"}, {"name": "PassiveAggressive", "label": "PA-I"}

# Tasks of the study `arow-binary-small`, each given as data set, two of its classes and protocol: with few
# features (USPS), many (MNIST), and very many that are mostly 0 (Amazon).
TASKS = (
    ("usps", ("3", "4"), "holdout"),
    ("mnist", ("2", "5"), "holdout"),
    ("amazon", ("apparel", "books"), "crossval"),
    ("amazon", ("music", "video"), "crossval"),
)
# Aims for the time of a cell divided by the time of only learning and scoring its rows: for the geometric
# mean over all cells, and for each cell.
MEAN_AIM, EACH_AIM = "≤ 2.5", "≤ 4"

# Data sets on which cells with metrics are compared with cells without: sparse rows, which are learned so
# fast that metrics take a large share of the time, and dense rows.
DATASETS: tuple[dict[str, object], ...] = (
    {"name": "a9a"},
    {"name": "arow-synthetic", "n_train": 30_000, "n_test": 0},
)
METRICS = ("balanced_accuracy", "macro_f1", "f1", "g_mean", "mcc", "kappa", "kappa_m", "kappa_temporal")
METRICS_AIM = "≤ 1.05"
CELL_TURNS, METRICS_TURNS = 60, 40

GUEST_ROWS, GUEST_FEATURES = 20_000, 20
# Limit of the microseconds per row that a cell adds to the calls of a third-party learner.
GUEST_LIMIT = 10

# Milliseconds that the package benchopt takes per (data set, solver, repetition), on a machine like the
# project's.
BENCHOPT_MS = 16
EMPTY_CELLS = 4000
# Number of cells of a long run, and of those finished before its memory is first measured.
MANY_CELLS, WARM_CELLS = 100_000, 20_000


def make_study(datasets: list[Any], algorithms: list[Any], seeds: int = 1, **study: Any) -> Study:
    """Return a study of the given data sets and algorithms."""
    table = {"name": "bench", "seeds": seeds, "datasets": datasets, "algorithms": algorithms, **study}
    return parse_study(table)


def cells_of(study: Study) -> list[Cell]:
    """Return the cells of a study."""
    return list(make_plan(study).evaluation_cells({}))


def run(cell: Cell) -> dict[str, Any]:
    """Run a cell, and return its row of the cells table. Raises RuntimeError if the cell fails."""
    row = run_cell(cell).row
    if row["status"] != "ok":
        raise RuntimeError(row["error"])
    return row


def cell() -> list[Measurement]:
    """Compare whole cells with only learning and scoring the same rows, to measure everything else."""
    lines: list[Measurement] = []
    for name, classes, protocol in TASKS:
        datasets = [{"name": name, "task": f"pair:{','.join(classes)}"}]
        compare = partial(_compare_with_passes, datasets, protocol)
        lines += with_data(f"{name}, {' or '.join(classes)}", name, compare)
    ratios = [each.ratio for each in lines if not math.isnan(each.ratio)]
    if ratios:
        lines.append(Measurement("geometric mean", "", "", geometric_mean(ratios), MEAN_AIM))
    return lines


def _compare_with_passes(datasets: list[Any], protocol: str) -> list[Measurement]:
    lines: list[Measurement] = []
    for cell in cells_of(make_study(datasets, [_AROW, _PA], protocol=protocol, max_examples=1000, folds=10)):
        row = run(cell)
        task = f"{cell.spec.dataset.parent}, {' or '.join(inputs_of(cell.spec).stream.classes)}"
        what = f"{task}, {cell.spec.algorithm} ({row['n_examples']:,} rows of {row['n_features']:,})"
        works: dict[str, Work] = {
            "whole": partial(processor_time, partial(run_cell, cell)),
            "bare pass and scoring": _bare_pass(cell),
        }
        contest = Contest(what, "whole", "bare pass and scoring", EACH_AIM, ratio=cost)
        lines += runner.contend(works, [contest], CELL_TURNS, timed=_self_timed)
    return lines


def _self_timed(work: Any) -> float:
    """Run a function that measures its own time, and return its result, a number of seconds."""
    return float(work())


def _bare_pass(cell: Cell) -> Work:
    """Return a function that learns and scores a cell's rows directly, and returns its processor time.

    Copying the rows of the cell and the learner's `begin` are not timed.
    """
    given = inputs_of(cell.spec).with_all_features()
    assert given.test is not None
    rows, held_out = (take_rows(fold.X, fold.rows) for fold in (given.train, given.test))
    classes = np.arange(len(given.stream.classes), dtype=np.int32)
    factory = resolve_learner(cell.spec.learner)
    learner: Any = factory.make(dict(cell.spec.params), classes=given.stream.classes)

    def learn_and_score() -> None:
        learner.learn_rows(rows, given.noisy)
        learner.score_rows(held_out)

    def bare() -> float:
        learner.begin(classes, given.train.n_features)
        return processor_time(learn_and_score)

    return bare


def metrics() -> list[Measurement]:
    """Compare cells that measure metrics, and so count predictions by class, with cells that do not."""
    lines: list[Measurement] = []
    for dataset in DATASETS:
        name = str(dataset["name"])
        lines += with_data(name, name, partial(_compare_metrics, dataset))
    return lines


def _compare_metrics(dataset: dict[str, object]) -> list[Measurement]:
    without, counting = (
        cells_of(make_study([dataset], [_AROW, {**_PA, "variant": "PA-I"}], metrics=list(names)))
        for names in ((), METRICS)
    )
    lines: list[Measurement] = []
    for plain, own in zip(without, counting, strict=True):
        row, _ = (run(each) for each in (plain, own))
        what = f"{plain.spec.dataset.label}, {plain.spec.algorithm} ({row['n_examples']:,} rows)"
        works = {"with metrics": partial(run_cell, own), "without metrics": partial(run_cell, plain)}
        contest = Contest(what, "with metrics", "without metrics", METRICS_AIM, ratio=cost)
        lines += runner.contend(works, [contest], METRICS_TURNS, timed=processor_time)
    return lines


class Idle:
    """A learner with scikit-learn's interface that does nothing, so that only the cell's own time counts."""

    _answer = np.ones(1)

    def partial_fit(self, X: Any, y: Any, classes: Any = None) -> Idle:
        """Learn nothing."""
        return self

    def predict(self, X: Any) -> Any:
        """Return a constant."""
        return self._answer


class IdleModel:
    """A learner with River's interface that does nothing, so that only the cell's own time counts."""

    def learn_one(self, x: dict[int, float], y: bool) -> None:
        """Learn nothing."""

    def predict_one(self, x: dict[int, float]) -> bool:
        """Return a constant."""
        return True


def _calls(predict: Any, learn: Any, rows: Any, labels: Any) -> None:
    for row, label in zip(rows, labels, strict=True):
        predict(row)
        learn(row, label)


def guests() -> list[Measurement]:
    """Compare the time that a cell adds to the calls of a third-party learner with its limit."""
    random = np.random.RandomState(0)
    X = random.standard_normal((GUEST_ROWS, GUEST_FEATURES))
    y = (X[:, 0] > 0).astype(np.int32)
    rows, labels = [X[t : t + 1] for t in range(len(X))], [y[t : t + 1] for t in range(len(X))]
    idle, model = Idle(), IdleModel()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(GUEST_FEATURES)])
        frame.assign(y=y).to_parquet(path)
        datasets = [{"path": str(path), "target": "y"}]
        cells = [
            cells_of(make_study(datasets, [{"name": f"{__name__}:{each.__name__}"}]))[0]
            for each in (Idle, IdleModel)
        ]
        works: dict[str, Work] = {
            "sklearn": partial(run, cells[0]),
            "sklearn calls": lambda: _calls(idle.predict, idle.partial_fit, rows, labels),
            "River": partial(run, cells[1]),
            "River calls": lambda: _calls(model.predict_one, model.learn_one, rows, labels),
        }
        contests = [
            Contest(
                f"a row of {GUEST_FEATURES} features through a cell, {what}: added time / {GUEST_LIMIT} µs",
                ours,
                f"{ours} calls",
                "≤ 1",
                microseconds(GUEST_ROWS, digits=1),
                peer_named="the bare calls",
                ratio=lambda ours, peer: 1e6 * (ours - peer) / GUEST_ROWS / GUEST_LIMIT,
            )
            for what, ours in (
                ("scikit-learn's interface", "sklearn"),
                ("River's interface, with the conversion to dicts", "River"),
            )
        ]
        return runner.contend(works, contests)


class _Weighing(RunProgress):
    """Record this process's memory whenever cells finish, after the first `WARM_CELLS` cells."""

    def __init__(self) -> None:
        self.cells, self.megabytes = 0, [math.nan]

    def advance(self, cells: int) -> None:
        """Record this process's memory, if enough cells have finished."""
        self.cells += cells
        if self.cells >= WARM_CELLS:
            self.megabytes.append(own_megabytes())


def own_megabytes(entry: str = "RssAnon") -> float:
    """Return this process's memory in MB, by default without file-backed memory.

    `entry` is a name in /proc/self/status. Returns NaN if the system does not have this file.
    """
    status = Path("/proc/self/status")
    if not status.exists():
        return math.nan
    line = next(line for line in status.read_text().splitlines() if line.startswith(entry))
    return int(line.split()[1]) / 1e3


def memory_growth(what: str, megabytes: list[float], when: str) -> Measurement:
    """Return the table line that compares the largest of a process's memory measurements with the first."""
    first, most = megabytes[0], max(megabytes[1:], default=megabytes[0])
    return Measurement(
        f"memory of {what}", f"at most {most:.0f} MB", f"{first:.0f} MB {when}", most / first, "≤ 1.1"
    )


def study_seconds(study: Study, threads: int, progress: RunProgress | None = None) -> float:
    """Run a study, with an empty folder for its results, and return the wall time in seconds."""
    with tempfile.TemporaryDirectory() as folder:
        options = WorkerOptions(threads=threads)
        summary = run_study(study, folder, progress=progress or RunProgress(), options=options)
    if summary.failed or summary.reused:
        raise RuntimeError(f"{summary.failed} cells failed, {summary.reused} were already in the store")
    return summary.seconds


def empty_study(seeds: int) -> Study:
    """Return a study whose cells learn two examples each, so that almost all of their time is overhead."""
    study = make_study([{"name": "breast-cancer"}], [{"name": "Perceptron"}], seeds)
    return study.model_copy(update={"max_train": 2})


def equal_study(folder: Path, cells: int, rows: int = 16_000) -> Study:
    """Return a study of cells that differ only in seed, so that other differences in time are the pipeline's.

    Its data are written to `folder`. A cell has `rows` rows, each of which takes about a microsecond.
    """
    path = folder / "equal.parquet"
    rng = np.random.RandomState(0)
    X = rng.standard_normal((rows, 100)).astype(np.float32)
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(100)])
    frame["y"] = (X[:, 0] + X[:, 1] * rng.standard_normal(len(X)) > 0).astype(np.int64)
    frame.to_parquet(path)
    full = [{"name": "AROW", "covariance": "full"}]
    return make_study([{"path": str(path), "target": "y"}], full, cells)


def overhead() -> list[Measurement]:
    """Measure the time of a cell that learns almost nothing, memory growth, and how much two threads gain."""
    started = min(study_seconds(empty_study(1), 2) for _ in range(3))
    whole = min(study_seconds(empty_study(EMPTY_CELLS), 2) for _ in range(3))
    per_cell = (whole - started) / (EMPTY_CELLS - 1)
    weighing = _Weighing()
    seconds = study_seconds(empty_study(MANY_CELLS), 2, weighing)
    with tempfile.TemporaryDirectory() as folder:
        study = equal_study(Path(folder), 64)
        threads = runner.contend(
            {"two": partial(study_seconds, study, 2), "1 thread": partial(study_seconds, study, 1)},
            [Contest("64 equal cells, 2 threads", "two", "1 thread", "≥ 1.7")],
            3,
            timed=_self_timed,
        )
    return [
        Measurement(
            f"an empty cell ({EMPTY_CELLS:,} of them, 2 threads)",
            milliseconds(per_cell),
            f"benchopt about {BENCHOPT_MS} ms",
            BENCHOPT_MS / (per_cell * 1e3),
            "≥ 32 (0.5 ms)",
        ),
        memory_growth(
            f"a run of {MANY_CELLS:,} empty cells ({milliseconds(seconds / MANY_CELLS)} each)",
            weighing.megabytes[1:] or weighing.megabytes,
            f"after {WARM_CELLS:,}",
        ),
        *threads,
    ]
