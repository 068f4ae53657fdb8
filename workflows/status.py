"""How far a run is, told by its store: while it runs, and from any machine that sees the results."""

from __future__ import annotations

import contextlib
import json
import socket
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from ..pipeline.errors import InputError
from ..pipeline.store.schema import STATUSES
from ..pipeline.store.store import LEFTOVERS, PROGRESS, Store

if TYPE_CHECKING:
    import pandas as pd

# The rate is that of the last minutes: cells of a study differ, and workers come and go.
RATE_OVER = timedelta(minutes=5)
# Errors and workers that are named, the most frequent and the latest first.
ERRORS_SHOWN, WORKERS_SHOWN = 5, 20
# A scheduler that is there answers at once.
ANSWER_SECONDS = 2.0


@dataclass(frozen=True)
class WorkerStatus:
    """What a worker has done.

    Attributes
    ----------
    name : str
    cells : int
    seconds_ago : float
        Since it finished its last cell, by this machine's clock and the worker's.
    """

    name: str
    cells: int
    seconds_ago: float


@dataclass(frozen=True)
class RunStatus:
    """How far a run is.

    Attributes
    ----------
    url, study : str
    planned : int or None
        Cells of the plan; None before it is written.
    cells : dict
        Finished cells by status.
    per_minute : float
        Cells a minute over the last minutes.
    seconds_left : float or None
        At that rate; None where it cannot be told.
    holder : str
        Who runs it; empty for nobody.
    silent_seconds : float or None
        Since the holder last renewed a lease, by this machine's clock and that of the store; None for a lock.
    workers : list of WorkerStatus
        Those that were seen last come first.
    errors : dict
        How many cells ended with each error.
    left : str
        What the cluster of a run that was killed may have left; empty for nothing.
    """

    url: str
    study: str
    planned: int | None
    cells: dict[str, int]
    per_minute: float
    seconds_left: float | None
    holder: str
    silent_seconds: float | None
    workers: list[WorkerStatus]
    errors: dict[str, int]
    left: str

    def json(self) -> str:
        """Return it as JSON."""
        return json.dumps(asdict(self), indent=1, ensure_ascii=False)

    def lines(self) -> Iterator[str]:
        """Yield it as lines."""
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
        if self.workers:
            yield f"workers  {len(self.workers):,}"
            width = max(len(worker.name) for worker in self.workers[:WORKERS_SHOWN])
            for worker in self.workers[:WORKERS_SHOWN]:
                ago = span(worker.seconds_ago)
                yield f"  {worker.name:{width}}  {worker.cells:>9,} cells, last {ago} ago"
            if len(self.workers) > WORKERS_SHOWN:
                yield f"  … and {len(self.workers) - WORKERS_SHOWN:,} more"
        if self.errors:
            yield "errors"
            for error, n in list(self.errors.items())[:ERRORS_SHOWN]:
                yield f"  {n:>7,} × {error}"
            if len(self.errors) > ERRORS_SHOWN:
                yield f"  … and {len(self.errors) - ERRORS_SHOWN:,} more kinds"


def run_status(url: str) -> RunStatus:
    """Read how far a run is, and disturb nobody.

    Parameters
    ----------
    url : str
        What ``singlepass run`` writes to, a folder or an fsspec URL.

    Returns
    -------
    RunStatus

    Raises
    ------
    InputError
        There is no store, or it cannot be read.
    """
    store = Store(url)
    if not store.exists():
        raise InputError(f"{url}: no results here: give a folder that `singlepass run` writes to")
    holder, silence = store.holder(), store.silence()
    rows = _one_a_cell(store.new_rows(set(), (*PROGRESS, "error")))
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
        workers=_workers(own, ended, now),
        errors=_errors(own),
        left="" if holder is not None else _left(store.read_json(LEFTOVERS)),
    )


def _left(leftovers: dict[str, str]) -> str:
    """Return a line about what is left of the cluster of a run that was killed, as far as it can be known."""
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
    """Return of each cell the row that counts: a success, else what was begun last."""
    ranked = rows.assign(lost=rows["status"] != "ok")
    ranked = ranked.sort_values(["lost", "started"], ascending=[True, False], kind="stable")
    return ranked.drop_duplicates("key").drop(columns="lost")


def _of_the_plan(rows: pd.DataFrame, store: Store, since: str | None) -> pd.DataFrame:
    """Return the rows that count: the plan does not name the cells that judge grids until that is done."""
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
    # A cell that is planned under two labels counts twice.
    return pd.concat([rows.merge(planned, on="key"), rows[new]])


def _ended(rows: pd.DataFrame) -> pd.Series[pd.Timestamp]:
    """Return when cells ended, as far as their rows say."""
    import pandas as pd

    return rows["started"] + pd.to_timedelta(rows["total_seconds"].astype(float), unit="s")


def _per_minute(ended: pd.Series[pd.Timestamp], now: datetime) -> float:
    recent = ended[ended > now - RATE_OVER]
    if recent.empty:
        return 0.0
    # A run that has just begun did nothing before its first cell.
    earlier = len(recent) < len(ended.dropna())
    minutes = (RATE_OVER if earlier else now - recent.min()).total_seconds() / 60
    return len(recent) / max(minutes, 1 / 60)


def _workers(rows: pd.DataFrame, ended: pd.Series[pd.Timestamp], now: datetime) -> list[WorkerStatus]:
    import pandas as pd

    cells = rows["worker"].value_counts()
    latest = ended.groupby(rows["worker"]).max().dropna().sort_values(ascending=False)
    # Two clocks: a worker's may be ahead.
    ago = (pd.Timestamp(now) - latest).dt.total_seconds().clip(lower=0)
    return [WorkerStatus(str(name), int(cells[name]), float(ago[name])) for name in latest.index]


def _errors(rows: pd.DataFrame) -> dict[str, int]:
    errors = rows["error"].dropna().map(lambda error: (str(error).splitlines() or [""])[0])
    return {str(error): int(n) for error, n in errors.value_counts().items()}


def span(seconds: float) -> str:
    """Return a span of time in the unit that suits it.

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
