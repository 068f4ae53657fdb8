"""Tables on the terminal, and in what it is piped into."""

from __future__ import annotations

from typing import Literal

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """Return an empty table.

    Parameters
    ----------
    *columns : str
        Headings; the first column is never folded: a name that is cannot be copied.
    right : tuple of str
        Those of the columns that hold numbers.
    """
    found = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        side: Literal["left", "right"] = "right" if column in right else "left"
        found.add_column(column, overflow="fold", no_wrap=number == 0, justify=side)
    return found


def plain(*cells: str) -> list[str]:
    """Keep brackets as they are: rich would read a label such as ``usps[3-vs-5]`` as a style."""
    return [escape(cell) for cell in cells]


def console() -> Console:
    """Return what tables are printed on."""
    found = Console()
    # Piped output is read by programs: wide enough that no name is ever folded.
    return found if found.is_terminal else Console(width=240)
