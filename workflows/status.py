"""Implement `singlepass status`, which reports a run's progress, and `compact`, which merges its files."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta

import pandas as pd

from ..pipeline.analysis.failures import Failure, failures
from ..pipeline.errors import InputError
from ..pipeline.store.bases import BASES
from ..pipeline.store.locking import holder_of, silence
from ..pipeline.store.reference import REFERENCE
from ..pipeline.store.schema import STATUSES
from ..pipeline.store.store import CLUSTER, MARK, PROGRESS, Store, exclusive, existing
from ..pipeline.store.tables import best_first
from ..pipeline.workers.cluster.aside import Attendance
from ..pipeline.workers.cluster.cluster_file import left_behind

# Cells per minute are measured over this time only, because cells of a study differ, and workers come and go.
RATE_OVER = timedelta(minutes=5)
# Largest numbers of lines shown: of errors, the most frequent first, and of workers, the last active first.
ERRORS_SHOWN, WORKERS_SHOWN = 5, 20


@dataclass(frozen=True)
class WorkerStatus:
    """Count the cells that a worker has finished, and the seconds since the last one.

    The seconds are the difference between this machine's clock and the worker's.
    """

    name: str
    cells: int
    seconds_ago: float


@dataclass(frozen=True)
class RunStatus:
    """Describe the progress of a run."""

    url: str
    study: str
    # Number of planned cells; None before the plan is written.
    planned: int | None
    # Number of finished cells by status, including those read from bases (other results, `--base`).
    cells: dict[str, int]
    # Number of finished cells that were read from each base, by the base's name.
    from_bases: dict[str, int]
    # Names of the bases that are no longer there.
    absent_bases: list[str]
    per_minute: float
    # Seconds until the run ends; None if unknown.
    seconds_left: float | None
    # The process that runs the study; "" if there is none.
    holder: str
    # Seconds since the process that runs the study renewed its lease, by the clocks of this machine and of
    # the store; None if it has a file lock, which is never renewed.
    silent_seconds: float | None
    # The workers of the cluster now; None without a cluster.
    attendance: Attendance | None
    # Workers that have finished cells, the latest first.
    workers: list[WorkerStatus]
    # Cells without a result, by algorithm and error, the largest group first.
    failures: list[Failure]
    # Jobs or a scheduler that a killed run may have left behind; "" for nothing.
    left: str

    def json(self) -> str:
        """Return the status as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False)

    def lines(self) -> Iterator[str]:
        """Yield the status as lines for the terminal."""
        finished = sum(self.cells.values())
        planned = "" if self.planned is None else f" of {self.planned:,}"
        share = f" ({100 * finished / self.planned:.0f}%)" if self.planned else ""
        yield f"{self.url}: " + (f"study {self.study!r}" if self.study else "no run has recorded a study yet")
        ends = [f"{n:,} {name}" for name, n in self.cells.items() if name != "ok" and n]
        for name, n in self.from_bases.items():
            absent = " (not there now)" if name in self.absent_bases else ""
            ends += [f"{n:,} from {name}{absent}"] if n else []
        yield "cells    " + ", ".join([f"{finished:,}{planned} finished{share}", *ends])
        if self.planned is not None and finished >= self.planned:
            yield "rate     all cells are finished"
        elif not self.per_minute:
            yield f"rate     no cell in the last {span(RATE_OVER.total_seconds())}"
        else:
            left = "" if self.seconds_left is None else f", about {span(self.seconds_left)} left"
            yield f"rate     {self.per_minute:,.0f} cells a minute{left}"
        seen = "" if self.silent_seconds is None else f", seen {span(self.silent_seconds)} ago"
        yield f"run by   {self.holder}{seen}" if self.holder else "run by   no process now"
        if self.left:
            yield f"left     perhaps {self.left}"
        there = [] if self.attendance is None else [f"now {self.attendance}"]
        if there or self.workers:
            yield "workers  " + "; ".join([*there, f"{len(self.workers):,} with finished cells"])
        if self.workers:
            width = max(len(worker.name) for worker in self.workers[:WORKERS_SHOWN])
            for worker in self.workers[:WORKERS_SHOWN]:
                ago = span(worker.seconds_ago)
                cells = "cell" if worker.cells == 1 else "cells"
                yield f"  {worker.name:{width}}  {worker.cells:>9,} {cells}, last {ago} ago"
            if len(self.workers) > WORKERS_SHOWN:
                yield f"  … and {len(self.workers) - WORKERS_SHOWN:,} more"
        if self.failures:
            yield "errors"
            for failure in self.failures[:ERRORS_SHOWN]:
                yield f"  {failure}"
            if len(self.failures) > ERRORS_SHOWN:
                yield f"  … and {len(self.failures) - ERRORS_SHOWN:,} more kinds"


def run_status(url: str) -> RunStatus:
    """Return the progress of the run that writes to a folder or fsspec URL, without taking its lock."""
    store = existing(url)
    holder, silent, cluster = holder_of(store.folder), silence(store.folder), store.read_json(CLUSTER)
    rows = best_first(store.new_rows(set(), (*PROGRESS, "error", "algorithm", "dataset")))
    planned = store.read_json("plan.json").get("planned")
    own = _of_the_plan(rows.drop_duplicates("key"), store)
    now = datetime.now(UTC)
    # The time at which each cell ended; NaT for cells without a recorded start or duration.
    ended = own["started"] + pd.to_timedelta(own["total_seconds"].astype(float), unit="s")
    # If a worker's clock is ahead of this machine's, count from its last cell as if that had ended now.
    ahead = ended.groupby(own["worker"]).transform("max") - now
    ended -= ahead.where(ahead > pd.Timedelta(0), pd.Timedelta(0))
    per_minute = _per_minute(ended, now)
    recorded = store.read_json(BASES).get("bases", [])
    bases = {each["name"]: each["cells"] for each in recorded}
    cells: dict[str, int] = {status: int((own["status"] == status).sum()) for status in STATUSES}
    cells["ok"] += sum(bases.values())
    left = None if planned is None else planned - sum(cells.values())
    return RunStatus(
        url=url,
        study=str(store.read_json("study.json").get("name", "")),
        planned=planned,
        cells=cells,
        from_bases=bases,
        absent_bases=[each["name"] for each in recorded if not _is_there(each["url"])],
        per_minute=per_minute,
        seconds_left=max(left, 0) / per_minute * 60 if holder and per_minute and left is not None else None,
        holder="" if holder is None else str(holder),
        silent_seconds=None if silent is None else silent.total_seconds(),
        attendance=None if holder is None or "workers" not in cluster else Attendance(**cluster["workers"]),
        workers=_workers(own, ended, now),
        failures=failures(own),
        left="" if holder is not None else left_behind(cluster) or (_storing(store) if left else ""),
    )


def _storing(store: Store) -> str:
    """Return a line if workers of a run whose client has ended may still store cells, or an empty text."""
    return "workers of the last run, which store the cells that they have" if store.read_json(MARK) else ""


def _is_there(base: str) -> bool:
    """Return whether a base has results, without reading them; a URL is not asked."""
    return base == REFERENCE or "://" in base or Store(base).exists()


def _of_the_plan(rows: pd.DataFrame, store: Store) -> pd.DataFrame:
    """Return the rows of planned cells, or all rows before the plan is written."""
    try:
        planned = store.plan()["key"].to_pandas()
    except InputError:
        return rows
    # After `merge`, a cell that is planned under two labels has two rows.
    return rows.merge(planned, on="key")


def _per_minute(ended: pd.Series[pd.Timestamp], now: datetime) -> float:
    recent = ended[ended > now - RATE_OVER]
    if recent.empty:
        return 0.0
    # If the first cell ended less than `RATE_OVER` ago, measure the rate from then on.
    earlier = len(recent) < len(ended.dropna())
    minutes = (RATE_OVER if earlier else now - recent.min()).total_seconds() / 60
    return len(recent) / max(minutes, 1 / 60)


def _workers(rows: pd.DataFrame, ended: pd.Series[pd.Timestamp], now: datetime) -> list[WorkerStatus]:
    cells = rows["worker"].value_counts()
    latest = ended.groupby(rows["worker"]).max().dropna().sort_values(ascending=False)
    ago = (pd.Timestamp(now) - latest).dt.total_seconds()
    return [WorkerStatus(str(name), int(cells[name]), float(ago[name])) for name in latest.index]


def span(seconds: float) -> str:
    """Format a time span: "4 s", "5 min", "2.0 h", "3.5 days"."""
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def compact_results(url: str, note: Callable[[str], None]) -> str:
    """Merge the Parquet files of results into few, and return a line that describes the outcome.

    `note` receives a line for each damaged file and each wait for the lock. Raises InputError while a run
    writes there.
    """
    began = time.perf_counter()
    store = existing(url)
    store.prepare()
    with exclusive(store, note):
        for part in store.set_aside:
            note(f"{part}: damaged, moved to {url}/damaged; `singlepass run` computes its content again")
        merged = store.compact(above=0)
    if merged is None:
        return f"{url}: contains no cells yet"
    parts = "part" if merged.after == 1 else "parts"
    if merged.before == merged.after and not merged.repeats:
        return f"{url}: nothing to merge: {merged.cells:,} cells in {merged.after:,} {parts}"
    dropped = f", {merged.repeats:,} repeated rows dropped" if merged.repeats else ""
    return (
        f"{url}: {merged.before:,} parts became {merged.after:,}, with {merged.cells:,} cells{dropped}, "
        f"{time.perf_counter() - began:.1f} s"
    )
