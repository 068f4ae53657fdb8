"""What there is: learners, data sets, shipped studies, as tables on the terminal."""

from __future__ import annotations

import inspect
from collections.abc import Callable

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ..learners import registry
from ..pipeline import data
from .shipped import find_study, shipped_studies


def _table(*columns: str) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        # A name that is folded cannot be copied.
        table.add_column(column, overflow="fold", no_wrap=number == 0)
    return table


def _plain(*cells: str) -> list[str]:
    """Keep brackets as they are: rich would read a label such as ``usps[3-vs-5]`` as a style."""
    return [escape(cell) for cell in cells]


def _learners() -> Table:
    table = _table("learner", "parameters and defaults", "what it is")
    for name, learner in sorted(registry.available().items()):
        signature = inspect.signature(learner)
        parameters = ", ".join(f"{key}={value.default!r}" for key, value in signature.parameters.items())
        summary = (inspect.getdoc(learner) or "").partition("\n")[0].replace("``", "")
        table.add_row(*_plain(name, parameters, summary))
    return table


def _datasets() -> Table:
    table = _table("data set", "kind", "rows × features", "classes", "tasks", "state", "licence")
    for row in data.describe():
        rows, features = row.shape
        classes = ", ".join(row.classes)
        # What nobody here has opened yet has no known size.
        shape = f"{rows:,} × {features:,}" if rows else "–"
        table.add_row(
            *_plain(row.name, row.kind, shape, classes, ", ".join(row.tasks), row.state, row.licence)
        )
    return table


def _studies() -> Table:
    table = _table("study", "title", "what it runs")
    for name in shipped_studies():
        study, _ = find_study(name)
        table.add_row(*_plain(name, study.title, study.description))
    return table


def show(what: str) -> None:
    """Print a table.

    Parameters
    ----------
    what : {"learners", "datasets", "studies"}
    """
    tables: dict[str, Callable[[], Table]] = {
        "learners": _learners,
        "datasets": _datasets,
        "studies": _studies,
    }
    console = Console()
    if not console.is_terminal:
        # Piped output is read by programs: wide enough that no name is ever folded.
        console = Console(width=240)
    console.print(tables[what]())
