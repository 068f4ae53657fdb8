"""Tables on the terminal, and in what it is piped into."""

from __future__ import annotations

from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

# Longer than any row: rich must be given some width.
_ENDLESS = 1 << 20


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


def plain(*cells: str) -> list[Text]:
    """Keep brackets as they are, which rich would read as styles (``usps[3-vs-5]``), and a cell in a line."""
    return [Text(" ".join(cell.splitlines())) for cell in cells]


def put(found: Table | str = "") -> None:
    """Print a table or a line.

    Piped output is read by programs: there a row is one line, however long, that ends with its last word.

    Parameters
    ----------
    found : Table or str
        Brackets in a line stay as they are.
    """
    out = Console()
    if out.is_terminal:
        out.print(found, markup=False, highlight=False, emoji=False)
        return
    if isinstance(found, Table):
        wide = Console(width=_ENDLESS, markup=False, emoji=False, highlight=False)
        wide.width = max(1, wide.measure(found).maximum)
        with wide.capture() as printed:
            wide.print(found)
        found = "\n".join(line.rstrip() for line in printed.get().splitlines())
    # Not print: this ends in silence when whoever reads has gone.
    out.out(found, highlight=False)
