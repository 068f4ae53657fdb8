"""Print tables to the terminal or into a pipe."""

from __future__ import annotations

from typing import Literal

from rich.console import Console
from rich.table import Table
from rich.text import Text

# Width with which rich prints a table without folding rows: larger than that of any row.
_ENDLESS = 1 << 20


def table(*columns: str, right: tuple[str, ...] = ()) -> Table:
    """Return an empty table with these headings; the columns in `right`, which contain numbers, align right.

    The first column is never folded, because a folded name cannot be copied.
    """
    found = Table(box=None, pad_edge=False, header_style="bold")
    for number, column in enumerate(columns):
        side: Literal["left", "right"] = "right" if column in right else "left"
        found.add_column(column, overflow="fold", no_wrap=number == 0, justify=side)
    return found


def plain(*cells: str) -> list[Text]:
    """Return texts as table cells of one line each, in which rich does not take brackets for markup."""
    return [Text(" ".join(cell.splitlines())) for cell in cells]


def put(found: Table | str = "") -> None:
    """Print a table or a line; brackets in it are not taken for markup.

    If the output goes to a pipe, for programs to read, each row of a table is one line, however long, without
    trailing spaces.
    """
    out = Console()
    # With COLUMNS=0 in its environment, rich would print nothing.
    out.width = out.width or 80
    if out.is_terminal:
        out.print(found, markup=False, highlight=False, emoji=False)
        return
    if isinstance(found, Table):
        wide = Console(width=_ENDLESS, markup=False, emoji=False, highlight=False)
        wide.width = max(1, wide.measure(found).maximum)
        with wide.capture() as printed:
            wide.print(found)
        found = "\n".join(line.rstrip() for line in printed.get().splitlines())
    # Use rich, which, unlike `print`, exits silently if the reader has closed the pipe.
    out.out(found, highlight=False)
