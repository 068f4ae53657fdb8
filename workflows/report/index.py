"""Write an index page that lists all results in a folder and links their reports."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from ...pipeline.analysis.study_results import has_results, read_results
from ...pipeline.errors import InputError
from . import render_report
from .document import Page
from .page.blocks import Section, Text
from .page.table import TableBlock, TableCell
from .page.view import StudyView
from .words.wording import enumerate_names, leaders

_HEADER = [
    *("study", "best mean rank", "data sets", "algorithms"),
    *("cells finished", "failed or stopped", "not yet run", "run"),
]


def results_in(folder: Path) -> list[Path]:
    """Return the subfolders with results, sorted by name; empty if the folder itself contains results."""
    if not folder.is_dir() or has_results(str(folder)):
        return []
    return sorted(each for each in folder.iterdir() if each.is_dir() and has_results(str(each)))


def write_index(folder: Path, out: Path) -> list[Path]:
    """Write the reports of all results in a folder, and their index; return paths, ``index.html`` first.

    The report of each results folder goes into the subfolder of `out` with the same name. Results for which
    no report can be written are listed with the reason. Raises InputError if `out` cannot be written to.
    """
    title = f"Results in {folder.name}"
    rows = [_row(each, out / each.name) for each in results_in(folder)]
    table = TableBlock("", title, _HEADER, rows, labels=2, wrap=True)
    note = Text("Each study's best mean rank is given at its lowest and its highest noise level.", "soft")
    return Page(title, [note], [Section("results", "Results", [table])], stem="index").write(out)


def _row(results: Path, target: Path) -> list[TableCell]:
    try:
        found = read_results(str(results))
        render_report(found, target)
    except InputError as error:
        texts = [results.name, str(error), *[""] * (len(_HEADER) - 2)]
        return [TableCell(text) for text in texts]
    view = StudyView(found)
    ranked = [c for c in view.comparisons if c.n]
    ends = ranked if len(ranked) < 2 else [ranked[0], ranked[-1]]
    leads = "; ".join(f"{enumerate_names(leaders(c))} ({c.noise.short})" for c in ends)
    started = pd.to_datetime(view.cells["started"]).max()
    words = " ".join((found.study.get("title") or "").split())
    title = TableCell(words or results.name, link=f"{target.name}/report.html")
    cells = view.coverage
    counts = len(view.design.datasets), len(view.design.algorithms), cells.ok, cells.failed + cells.stopped
    run = "–" if pd.isna(started) else f"{started:%Y-%m-%d %H:%M} UTC"
    return [title, *map(TableCell, (leads or "–", *(f"{n:,}" for n in (*counts, cells.missing)), run))]
