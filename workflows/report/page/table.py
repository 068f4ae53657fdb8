"""Define a table that converts to Markdown, LaTeX and CSV; the template prints it as HTML."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal, TypeAlias

from ..words.markup import latex, markdown

if TYPE_CHECKING:
    import pandas as pd


# The page folds a table with more rows, and Markdown refers to its file instead.
LONG = 30


Show: TypeAlias = Literal["open", "long", "folded", "opened", "file"]


@dataclass(frozen=True)
class TableCell:
    """Hold one table entry.

    Attributes
    ----------
    best : bool
        Whether to print it bold.
    flag : bool
        Whether it carries a warning sign.
    mark : str
        SVG before the text in the page.
    """

    text: str
    best: bool = False
    flag: bool = False
    mark: str = ""


@dataclass(frozen=True)
class TableBlock:
    """Hold a titled table.

    Attributes
    ----------
    name : str
        Stem of its files, unique in a report; empty for a table without files.
    title : str
        Plain text.
    rows : list of list of TableCell
        The body, as wide as the header.
    labels : int
        Number of leading columns with names, aligned left; the others contain numbers.
    note : str
        A remark printed below.
    data : DataFrame or None
        Unrounded values in long form for the CSV file; with None the file contains the texts.
    scope : str
        The part of the study that the table covers, for the LaTeX caption; in a page a heading says it.
    show : {"open", "long", "folded", "opened", "file"}
        "open": always visible. "long": folded if it has more rows than `LONG`; Markdown then only names its
        file. "folded": likewise, but always folded in the page. "opened": in a fold that is open at first.
        "file": page and Markdown only name its file.
    wrap : bool
        Whether the page wraps long texts.
    typeset : bool
        Whether it has a LaTeX file; data that no paper prints, such as the points of a curve, needs none.
    """

    kind: ClassVar[str] = "table"
    name: str
    title: str
    header: list[str]
    rows: list[list[TableCell]]
    labels: int = 1
    note: str = ""
    data: pd.DataFrame | None = None
    scope: str = ""
    show: Show = "open"
    wrap: bool = False
    typeset: bool = True

    @property
    def folds(self) -> bool:
        """Return whether the page folds the table."""
        return self.show in ("folded", "opened") or (self.show == "long" and len(self.rows) > LONG)

    @property
    def elsewhere(self) -> bool:
        """Return whether Markdown only names its file."""
        long = self.show in ("long", "folded") and len(self.rows) > LONG
        return self.show == "file" or (long and bool(self.name))

    def to_markdown(self) -> str:
        """Return a Markdown table with the best entries bold."""
        rule = [":--" if i < self.labels else "--:" for i in range(len(self.header))]
        lines = [[markdown(head) or " " for head in self.header], rule]
        for row in self.rows:
            texts = [markdown(cell.text) + (" ⚠" if cell.flag else "") for cell in row]
            lines.append(
                [f"**{text}**" if cell.best else text for text, cell in zip(texts, row, strict=True)]
            )
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def to_latex(self) -> str:
        """Return a LaTeX table environment in booktabs style, best entries bold, flagged ones starred."""
        columns = "l" * self.labels + "r" * (len(self.header) - self.labels)
        lines = [
            "% needs \\usepackage{booktabs}",
            "\\begin{table}",
            "\\centering",
            f"\\caption{{{latex(f'{self.title} ({self.scope})' if self.scope else self.title)}}}",
            f"\\label{{tab:{self.name}}}",
            f"\\begin{{tabular}}{{{columns}}}",
            "\\toprule",
            " & ".join(latex(head) for head in self.header) + " \\\\",
            "\\midrule",
        ]
        for row in self.rows:
            texts = [latex(cell.text) + ("$^{*}$" if cell.flag else "") for cell in row]
            bold = [
                f"\\textbf{{{text}}}" if cell.best else text for text, cell in zip(texts, row, strict=True)
            ]
            lines.append(" & ".join(bold) + " \\\\")
        lines += ["\\bottomrule", "\\end{tabular}", "\\end{table}", ""]
        return "\n".join(lines)

    def to_csv(self) -> str:
        """Return CSV: the unrounded long form if there is one, otherwise the texts."""
        if self.data is not None:
            return self.data.to_csv(index=False, lineterminator="\n")
        import csv

        sink = io.StringIO()
        writer = csv.writer(sink, lineterminator="\n")
        writer.writerow(self.header)
        writer.writerows([cell.text for cell in row] for row in self.rows)
        return sink.getvalue()
