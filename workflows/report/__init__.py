"""Write reports of results: HTML, Markdown, CSV and LaTeX from a results folder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from ...pipeline.errors import InputError
from .document import Page

if TYPE_CHECKING:
    from ...pipeline.analysis.study_results import StudyResults


def write_report(results: str | Path, out: Path | None = None) -> list[Path]:
    """Write the report of a results folder or URL, and return the paths written, `report.html` first.

    Without `out` the report goes into the results folder, which must then be local. Raises InputError if
    there are no results, if only tuning cells have run, or if the folder cannot be written to.
    """
    from ...pipeline.analysis.study_results import read_results

    folder = os.path.expanduser(results if out is None else out)
    return render_report(read_results(str(results)), Path(folder))


def render_report(results: StudyResults, out: Path) -> list[Path]:
    """Write the report of loaded results into folder `out`; return the paths written, `report.html` first.

    Raises InputError if no cell has run except tuning cells, or if the folder cannot be written to.
    """
    if not len(results.cells) or not (results.cells["stage"] == "run").any():
        raise InputError(f"{out}: no cell of the study has run yet, so there is nothing to report")
    from .page.view import StudyView
    from .parts.embedded import numbers
    from .parts.opening import opening
    from .sections import SECTIONS

    view = StudyView(results)
    sections = [section for make in SECTIONS if (section := make(view)) is not None]
    title = " ".join((results.study.get("title") or "").split()) or results.study.get("name") or "Study"
    return Page(title, opening(view), sections, numbers(view)).write(out)
