"""`singlepass status` and `compact`: a run's progress, read from its store; merge its many files into few."""

from __future__ import annotations

import contextlib
import json
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..pipeline.analysis.failures import Failure, failures
from ..pipeline.errors import InputError
from ..pipeline.store.schema import STATUSES
from ..pipeline.store.store import CLUSTER, PROGRESS, Store, exclusive
from ..pipeline.workers.cluster.aside import Attendance

if TYPE_CHECKING:
    import pandas as pd

# The rate covers the last minutes only: cells of a study differ, and workers come and go.
RATE_OVER = timedelta(minutes=5)
# Numbers of errors and workers listed, the most frequent errors and the latest workers first.
ERRORS_SHOWN, WORKERS_SHOWN = 5, 20
# A live scheduler answers at once.
ANSWER_SECONDS = 2.0


@dataclass(frozen=True)
class WorkerStatus:
    """Describe what a worker has done.

    Attributes
    ----------
    seconds_ago : float
        Since it finished its last cell, as the difference of this machine's clock and the worker's.
    """

    name: str
    cells: int
    seconds_ago: float


@dataclass(frozen=True)
class RunStatus:
    """Describe the progress of a run.

    Attributes
    ----------
    planned : int or None
        Cells of the plan; None before it is written.
    cells : dict
        Finished cells by status.
    per_minute : float
        Cells per minute over the last minutes.
    seconds_left : float or None
        At that rate; None if unknown.
    holder : str
        The process that runs it; empty if none does.
    silent_seconds : float or None
        Since the holder last renewed its lease, by this machine's clock and that of the store; None for a
        lock.
    attendance : Attendance or None
        Workers of its cluster: connected now, lost, silent, unfit; None without a cluster.
    workers : list of WorkerStatus
        Workers that have finished cells, the latest first.
    failures : list of Failure
        Cells without a result, by algorithm and error, largest group first.
    left : str
        What the cluster of a killed run may have left behind; empty for nothing.
    """

    url: str
    study: str
    planned: int | None
    cells: dict[str, int]
    per_minute: float
    seconds_left: float | None
    holder: str
    silent_seconds: float | None
    attendance: Attendance | None
    workers: list[WorkerStatus]
    failures: list[Failure]
    left: str

    def json(self) -> str:
        """Return the status as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False)

    def lines(self) -> Iterator[str]:
        """Yield the status as lines for the terminal."""
        finished = sum(self.cells.values())
        planned = "" if self.planned is None else f" of {self.planned:,}"
        share = f" ({100 * finished / self.planned:.0f}%)" if self.planned else ""
        yield f"{self.url}: study {self.study!r}"
        ends = [f"{n:,} {name}" for name, n in self.cells.items() if name != "ok" and n]
        yield "cells    " + ", ".join([f"{finished:,}{planned} finished{share}", *ends])
        if self.planned is not None and finished >= self.planned:
            yield "rate     nothing is left to do"
        elif self.seconds_left is None:
            yield f"rate     no cell in the last {span(RATE_OVER.total_seconds())}"
        else:
            yield f"rate     {self.per_minute:,.0f} cells a minute, about {span(self.seconds_left)} left"
        seen = "" if self.silent_seconds is None else f", seen {span(self.silent_seconds)} ago"
        yield f"run by   {self.holder}{seen}" if self.holder else "run by   nobody now"
        if self.left:
            yield f"left     {self.left}"
        there = [] if self.attendance is None else [f"now {self.attendance}"]
        if there or self.workers:
            yield "workers  " + "; ".join([*there, f"{len(self.workers):,} have finished cells"])
        if self.workers:
            width = max(len(worker.name) for worker in self.workers[:WORKERS_SHOWN])
            for worker in self.workers[:WORKERS_SHOWN]:
                ago = span(worker.seconds_ago)
                yield f"  {worker.name:{width}}  {worker.cells:>9,} cells, last {ago} ago"
            if len(self.workers) > WORKERS_SHOWN:
                yield f"  … and {len(self.workers) - WORKERS_SHOWN:,} more"
        if self.failures:
            yield "errors"
            for failure in self.failures[:ERRORS_SHOWN]:
                yield f"  {failure}"
            if len(self.failures) > ERRORS_SHOWN:
                yield f"  … and {len(self.failures) - ERRORS_SHOWN:,} more kinds"


def run_status(url: str) -> RunStatus:
    """Return a run's progress without taking its lock.

    `url` is the folder or fsspec URL to which ``singlepass run`` writes. Raises InputError if there is no
    store, or if it cannot be read.
    """
    store = Store(url)
    if not store.exists():
        raise InputError(f"{url}: no results here: give a folder that `singlepass run` writes to")
    holder, silence, cluster = store.holder(), store.silence(), store.read_json(CLUSTER)
    rows = _one_a_cell(store.new_rows(set(), (*PROGRESS, "error", "algorithm", "dataset")))
    planned = store.read_json("plan.json").get("planned")
    own = _of_the_plan(rows, store, None if holder is None else holder.since)
    now = datetime.now(UTC)
    ended = _ended(own)
    per_minute = _per_minute(ended, now)
    left = None if planned is None else planned - len(own)
    return RunStatus(
        url=url,
        study=str(store.read_json("study.json").get("name", "")),
        planned=planned,
        cells={status: int((own["status"] == status).sum()) for status in STATUSES},
        per_minute=per_minute,
        seconds_left=max(left, 0) / per_minute * 60 if per_minute and left is not None else None,
        holder="" if holder is None else str(holder),
        silent_seconds=None if silence is None else silence.total_seconds(),
        attendance=None if holder is None or "workers" not in cluster else Attendance(**cluster["workers"]),
        workers=_workers(own, ended, now),
        failures=failures(own),
        left="" if holder is not None else _left(cluster),
    )


def _left(leftovers: dict[str, Any]) -> str:
    """Return a line about jobs or a scheduler that a killed run has left behind; "" if none is found."""
    cluster, jobs = leftovers.get("cluster"), leftovers.get("jobs")
    if jobs:
        return f"jobs named {jobs} of {cluster}, whose client was killed; they end soon after they start"
    address = urlsplit(leftovers.get("scheduler", ""))
    if address.hostname and address.port:
        with (
            contextlib.suppress(OSError),
            socket.create_connection((address.hostname, address.port), ANSWER_SECONDS),
        ):
            return f"scheduler {address.geturl()} of {cluster}, whose client was killed, and its workers"
    return ""


def _one_a_cell(rows: pd.DataFrame) -> pd.DataFrame:
    """Return one row per cell: a success if there is one, otherwise the attempt that started last."""
    ranked = rows.assign(lost=rows["status"] != "ok")
    ranked = ranked.sort_values(["lost", "started"], ascending=[True, False], kind="stable")
    return ranked.drop_duplicates("key").drop(columns="lost")


def _of_the_plan(rows: pd.DataFrame, store: Store, since: str | None) -> pd.DataFrame:
    """Return the rows of planned cells and, during a run, rows computed since its start.

    The latter include the tuning cells, which enter the plan only when tuning is complete.
    """
    import pandas as pd

    try:
        planned = store.plan()["key"].to_pandas()
    except InputError:
        return rows
    new = ~rows["key"].isin(planned)
    if since is not None:
        with contextlib.suppress(ValueError):
            new &= rows["started"] >= pd.Timestamp(since)
    else:
        new &= False
    # The merge counts a cell twice if it is planned under two labels.
    return pd.concat([rows.merge(planned, on="key"), rows[new]])


def _ended(rows: pd.DataFrame) -> pd.Series[pd.Timestamp]:
    """Return the times at which cells ended; missing if their rows lack it."""
    import pandas as pd

    return rows["started"] + pd.to_timedelta(rows["total_seconds"].astype(float), unit="s")


def _per_minute(ended: pd.Series[pd.Timestamp], now: datetime) -> float:
    recent = ended[ended > now - RATE_OVER]
    if recent.empty:
        return 0.0
    # A run that started recently is measured from its first cell.
    earlier = len(recent) < len(ended.dropna())
    minutes = (RATE_OVER if earlier else now - recent.min()).total_seconds() / 60
    return len(recent) / max(minutes, 1 / 60)


def _workers(rows: pd.DataFrame, ended: pd.Series[pd.Timestamp], now: datetime) -> list[WorkerStatus]:
    import pandas as pd

    cells = rows["worker"].value_counts()
    latest = ended.groupby(rows["worker"]).max().dropna().sort_values(ascending=False)
    # Clipped, because a worker's clock may be ahead of this one.
    ago = (pd.Timestamp(now) - latest).dt.total_seconds().clip(lower=0)
    return [WorkerStatus(str(name), int(cells[name]), float(ago[name])) for name in latest.index]


def span(seconds: float) -> str:
    """Return a time span in a suitable unit.

    Examples
    --------
    >>> span(4.4), span(300), span(7200), span(300000)
    ('4 s', '5 min', '2.0 h', '3.5 days')
    """
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def compact_results(url: str, note: Callable[[str], None]) -> str:
    """Merge the parts of results, and return a line that describes the outcome.

    `note` receives a line for each damaged part, and for what the merge waits for. Raises InputError if there
    are no results or a run is writing to them.
    """
    began = time.perf_counter()
    store = Store(url)
    if not store.exists():
        raise InputError(f"{url}: no results here: give a folder that `singlepass run` wrote")
    store.prepare()
    with exclusive(store, note):
        for part in store.set_aside:
            note(f"{part}: damaged, moved to {url}/damaged; `singlepass run` makes what it held again")
        came_to = store.compact(above=0)
    if came_to is None:
        return f"{url}: holds no cells yet"
    parts = "part" if came_to.after == 1 else "parts"
    if came_to.before == came_to.after and not came_to.repeats:
        return f"{url}: nothing to merge: {came_to.cells:,} cells in {came_to.after:,} {parts}"
    dropped = f", {came_to.repeats:,} repeated rows dropped" if came_to.repeats else ""
    return (
        f"{url}: {came_to.before:,} parts became {came_to.after:,}, with {came_to.cells:,} cells{dropped}, "
        f"{time.perf_counter() - began:.1f} s"
    )
