"""Take the best of several times in turns, and show them in a table."""

from __future__ import annotations

import gc
import math
import operator
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

_COMPARED = {"≥": operator.ge, ">": operator.gt, "≤": operator.le}


@dataclass(frozen=True)
class Measurement:
    """Hold one line of a benchmark.

    Attributes
    ----------
    work : str
        What was measured.
    ours, peer : str
        The figure for singlepass, and the one to compare it with.
    ratio : float
        Larger is better, unless the aim is an upper bound.
    aim : str
        The project's aim for the ratio; empty if there is none.
    """

    work: str
    ours: str
    peer: str
    ratio: float
    aim: str = ""

    @property
    def verdict(self) -> str:
        """Return the aim, followed by ": missed" if it is a bound that the ratio misses.

        Examples
        --------
        >>> Measurement("work", "1 s", "2 s", 2.0, "≥ 3").verdict
        '≥ 3: missed'
        """
        bound = re.match(r"([≥>≤]) ([\d.]+)", self.aim)
        if bound is None:
            return self.aim
        reached = _COMPARED[bound[1]](self.ratio, float(bound[2]))
        return self.aim if reached or math.isnan(self.ratio) else f"{self.aim}: missed"


def best_times(works: dict[str, Callable[[], object]], repeats: int = 7) -> dict[str, float]:
    """Return the shortest time of each work in seconds, over `repeats` turns.

    The works take turns, so that a slow moment of the machine affects all of them. The first turn, which
    compiles and warms caches, does not count.
    """
    best = dict.fromkeys(works, float("inf"))
    for turn in range(repeats + 1):
        for name, work in works.items():
            gc.collect()
            began = time.perf_counter()
            work()
            seconds = time.perf_counter() - began
            if turn:
                best[name] = min(best[name], seconds)
    return best


def milliseconds(seconds: float) -> str:
    """Format a time."""
    return f"{seconds * 1e3:.2f} ms"


def show(title: str, measurements: list[Measurement], out: Path | None) -> None:
    """Print the table, and append it to a Markdown file."""
    columns = ("work", "singlepass", "beside", "ratio", "aim")
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
