"""Time pairs of functions, ours and one to compare with (the peer), and print ratios of times in a table."""

from __future__ import annotations

import gc
import math
import operator
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

# A function to be timed.
Work = Callable[[], object]

_COMPARED = {"≥": operator.ge, ">": operator.gt, "≤": operator.le}


@dataclass(frozen=True)
class Measurement:
    """One line of a benchmark: what was measured, our figure, that of the peer, and their ratio.

    A larger ratio is better unless the aim is an upper bound. `aim` is empty without an aim.
    """

    work: str
    ours: str
    peer: str
    ratio: float
    aim: str = ""

    @property
    def verdict(self) -> str:
        """Return the aim, followed by ": missed" if it is a limit such as "≥ 2" that the ratio misses."""
        bound = re.match(r"([≥>≤]) ([\d.]+)", self.aim)
        if bound is None:
            return self.aim
        reached = _COMPARED[bound[1]](self.ratio, float(bound[2]))
        return self.aim if reached or math.isnan(self.ratio) else f"{self.aim}: missed"


def milliseconds(seconds: float) -> str:
    """Format a time as milliseconds."""
    return f"{seconds * 1e3:.2f} ms"


def microseconds(n: int, each: str = "", digits: int = 2) -> Callable[[float], str]:
    """Return a function that formats a time in seconds for `n` rows or updates as microseconds for each."""
    return lambda seconds: f"{seconds / n * 1e6:.{digits}f} µs{each}"


def speedup(ours: float, peer: float) -> float:
    """Return how many times faster our function is than the peer, given the seconds of both."""
    return peer / ours


def cost(ours: float, peer: float) -> float:
    """Return how many times longer our function takes than the peer, given the seconds of both."""
    return ours / peer


class Contest(NamedTuple):
    """Compare the times of two functions, given by their names in `works`, in one line of a table."""

    what: str
    subject: str
    peer: str
    aim: str = ""
    # Functions that format a number of seconds as text, for our time and for the peer's (None: the same
    # function).
    unit: Callable[[float], str] = milliseconds
    peer_unit: Callable[[float], str] | None = None
    # Text before our time in the table (by default none), and before the peer's time (by default the name in
    # `peer`).
    named: str = ""
    peer_named: str = ""
    ratio: Callable[[float, float], float] = speedup

    def line(self, times: Mapping[str, float]) -> Measurement:
        """Return this contest's line of the table, given the seconds of each function."""
        ours, peer = times[self.subject], times[self.peer]
        shown = (self.peer_unit or self.unit)(peer)
        return Measurement(
            self.what,
            f"{self.named} {self.unit(ours)}".lstrip(),
            f"{self.peer_named or self.peer} {shown}",
            self.ratio(ours, peer),
            self.aim,
        )


def contend(
    works: Mapping[str, Work],
    contests: Sequence[Contest],
    repeats: int = 7,
    **options: Callable[[Work], float],
) -> list[Measurement]:
    """Time all functions (`works`) alternately, and return one line of a table per contest."""
    times = best_times(works, repeats, **options)
    return [contest.line(times) for contest in contests]


def wall_time(work: Work) -> float:
    """Run a function, and return the seconds that it takes."""
    gc.collect()
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def processor_time(work: Work) -> float:
    """Run a function, and return the processor time of this thread in seconds."""
    began = time.thread_time()
    work()
    return time.thread_time() - began


def prepared_time(prepare: Any) -> float:
    """Return the seconds of the function that `prepare` returns; preparing it is not timed."""
    return wall_time(prepare())


def best_times(
    works: Mapping[str, Work], repeats: int = 7, timed: Callable[[Work], float] = wall_time
) -> dict[str, float]:
    """Return the shortest time of each function in seconds, over `repeats` turns.

    The functions take turns, so that a slow moment of the machine affects all of them. The first turn, which
    compiles and warms caches, does not count.
    """
    for work in works.values():
        timed(work)
    turns = [{name: timed(work) for name, work in works.items()} for _ in range(repeats)]
    return {name: min(turn[name] for turn in turns) for name in works}


def skipped(work: str, reason: str) -> Measurement:
    """Return a line for a comparison that could not be measured."""
    return Measurement(work, "skipped", reason, math.nan)


def show(title: str, measurements: Sequence[Measurement], out: Path | None) -> None:
    """Print measurements as a table, and append it to the Markdown file `out` unless that is None."""
    columns = ("work", "singlepass", "compared with", "ratio", "aim")
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for column in columns:
        table.add_column(column, overflow="fold")
    rows = [(m.work, m.ours, m.peer, f"{m.ratio:.2f}", m.verdict) for m in measurements]
    for row in rows:
        table.add_row(*row)
    console = Console()
    (console if console.is_terminal else Console(width=160)).print(table)
    if out is not None:
        lines = [f"### {title}", "", "| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
        lines += ["| " + " | ".join(row) + " |" for row in rows]
        with out.open("a", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n\n")
