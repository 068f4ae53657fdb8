"""Make table blocks from data frames, and write them as Markdown, LaTeX and CSV.

As HTML, table blocks are printed by the page's template.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..words.markup import latex, markdown

# A table with more rows than this counts as long (see `Show`): the page folds it, which hides the rows until
# a reader opens them, and Markdown names the table's file instead of printing it.
LONG = 30

# How a table is shown. "open": the page and Markdown print it. "long": as "open", but if it has more rows
# than `LONG`, the page folds it and Markdown only names its file. "folded": as "long", but the page always
# folds it. "opened": as "open", but a reader can fold it. "file": the page and Markdown only name its file.
Show: TypeAlias = Literal["open", "long", "folded", "opened", "file"]


@dataclass(frozen=True)
class TableCell:
    """One table entry: its text, and whether it is bold (`best`) and carries a warning sign (`flag`).

    `mark` is an SVG that the page shows before the text. `link` is the path to which the text links. A `grey`
    entry was not measured in this run but in other results; files print it in italics.
    """

    text: str
    best: bool = False
    flag: bool = False
    mark: str = ""
    link: str = ""
    grey: bool = False


@dataclass(frozen=True)
class TableBlock:
    """A table of a report: its title, header and rows, how it is shown and its files."""

    # Stem of the table's files, unique in a report; empty for a table without files.
    name: str
    title: str
    header: list[str]
    # Each row has as many entries as the header.
    rows: list[list[TableCell]]
    # Number of leading columns that are aligned left because they contain text.
    labels: int = 1
    # A remark printed below the table.
    note: str = ""
    # Unrounded values for the CSV file; with None the CSV file contains the printed texts.
    data: pd.DataFrame | None = None
    # The part of the study that the table covers, for the LaTeX caption; in a page a heading names it.
    scope: str = ""
    show: Show = "open"
    # Whether the page wraps long texts.
    wrap: bool = False
    # Whether the table also gets a LaTeX file. Papers do not print data such as the points of a curve.
    typeset: bool = True

    @property
    def folds(self) -> bool:
        """Return whether the page puts the table into a part that a reader can open and close."""
        return self.show in ("folded", "opened") or (self.show == "long" and len(self.rows) > LONG)

    @property
    def elsewhere(self) -> bool:
        """Return whether Markdown names the table's file instead of printing the table."""
        long = self.show in ("long", "folded") and len(self.rows) > LONG
        return self.show == "file" or (long and bool(self.name))

    def to_markdown(self) -> str:
        """Return a Markdown table with the best entries bold."""
        rule = [":--" if i < self.labels else "--:" for i in range(len(self.header))]
        lines = [[markdown(head) or " " for head in self.header], rule]
        for row in self.rows:
            texts = [(cell, _linked(cell) + (" ⚠" if cell.flag else "")) for cell in row]
            texts = [(cell, f"*{text}*" if cell.grey else text) for cell, text in texts]
            lines.append([f"**{text}**" if cell.best else text for cell, text in texts])
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def to_latex(self) -> str:
        """Return a LaTeX table environment in booktabs style, best entries bold, flagged ones starred."""
        lines = [
            "% needs \\usepackage{booktabs}",
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{latex(f'{self.title} ({self.scope})' if self.scope else self.title)}}}",
            f"\\label{{tab:{self.name}}}",
            f"\\begin{{tabular}}{{{'l' * self.labels + 'r' * (len(self.header) - self.labels)}}}",
            "\\toprule",
            " & ".join(latex(head) for head in self.header) + " \\\\",
            "\\midrule",
        ]
        for row in self.rows:
            texts = [(cell, latex(cell.text) + ("$^{*}$" if cell.flag else "")) for cell in row]
            texts = [(cell, f"\\textit{{{text}}}" if cell.grey else text) for cell, text in texts]
            entries = [f"\\textbf{{{text}}}" if cell.best else text for cell, text in texts]
            lines.append(" & ".join(entries) + " \\\\")
        return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", "\\end{table}", ""])

    def to_csv(self) -> str:
        """Return the table as CSV, with unrounded values if it has them, otherwise with the printed texts."""
        texts = pd.DataFrame([[cell.text for cell in row] for row in self.rows], columns=self.header)
        return (texts if self.data is None else self.data).to_csv(index=False, lineterminator="\n")


def _linked(cell: TableCell) -> str:
    text = markdown(cell.text)
    return f"[{text}](<{cell.link}>)" if cell.link else text


def tabulate(
    frame: pd.DataFrame,
    name: str,
    title: str,
    *,
    write: Callable[[Any], str] | Sequence[Callable[[Any], str]] = str,
    bold: Any = (),
    flags: Any = (),
    grey: Any = (),
    marks: Mapping[Any, str] | None = None,
    labels: int = 1,
    **options: Any,
) -> TableBlock:
    """Return a table block with one row per row of a frame, whose column names are the header.

    The first `labels` columns are text. `write` turns the other values into texts: one function for all of
    them, or a list with one function for each of the last columns. Missing values become dashes. `bold`,
    `flags` and `grey` are masks with one row per row of the frame; a mask with m columns applies to the last
    m columns. `marks` maps texts of the first column to SVG marks. `options` are further fields of
    `TableBlock`.
    """
    writers = [write] * (frame.shape[1] - labels) if callable(write) else [*write]
    writers = [str] * (frame.shape[1] - len(writers)) + writers
    best, flagged, away = (_widened(mask, frame.shape) for mask in (bold, flags, grey))
    rows = [
        [
            TableCell(
                "–" if value is None or value != value else write(value),
                best=bool(best[i, j]),
                flag=bool(flagged[i, j]),
                grey=bool(away[i, j]),
            )
            for j, (value, write) in enumerate(zip(values, writers, strict=True))
        ]
        for i, values in enumerate(frame.itertuples(index=False, name=None))
    ]
    if marks:
        rows = [[replace(first, mark=marks.get(first.text, "")), *rest] for first, *rest in rows]
    return TableBlock(name, title, [str(column) for column in frame.columns], rows, labels, **options)


def _widened(mask: Any, shape: tuple[int, int]) -> NDArray[np.bool_]:
    """Extend a mask of a table's last columns to the table's `shape`; entries not in the mask are False."""
    wide = np.zeros(shape, bool)
    if len(mask):
        wide[:, shape[1] - np.shape(mask)[1] :] = mask
    return wide
