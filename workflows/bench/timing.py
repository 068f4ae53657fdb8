"""Best-of-n times, taken in turns, and the table they are shown in."""

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
    """One line of a benchmark.

    Attributes
    ----------
    work : str
        What was done.
    ours, peer : str
        The figure for singlepass, and the one it is compared with.
    ratio : float
        Larger is better, but where the aim is a bound from above.
    aim : str
        What the project asks of the ratio, empty where it asks nothing.
    """

    work: str
    ours: str
    peer: str
    ratio: float
    aim: str = ""

    @property
    def verdict(self) -> str:
        """The aim, and whether it is missed where it is a bound.

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
    """Return the shortest time of each work in seconds.

    The works take turns, so that a slow moment of the machine meets all of them; the first turn, which
    compiles and warms the caches, does not count.

    Parameters
    ----------
    works : dict of str to callable
    repeats : int, default=7
        Turns that count.

    Returns
    -------
    dict of str to float
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
