"""Write a study's report: one HTML file, the same in Markdown, every table as CSV and LaTeX."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ...pipeline.errors import InputError
from .document import Page, rare_collections

if TYPE_CHECKING:
    from ...pipeline.analysis.study_results import StudyResults


def write_report(results: str | Path, out: Path | None = None) -> list[Path]:
    """Write the report of a folder of results.

    Parameters
    ----------
    results : str or Path
        Folder or fsspec URL that ``singlepass run`` wrote to.
    out : Path or None, default=None
        Where the report goes; None: beside the results, which must then be a local folder.

    Returns
    -------
    list of Path
        The files written, ``report.html`` first.

    Raises
    ------
    InputError
        There are no results, or the report cannot be written.
    """
    with rare_collections():
        from ...pipeline.analysis.study_results import read_results

        return render_report(read_results(str(results)), Path(results) if out is None else Path(out))


def render_report(results: StudyResults, out: Path) -> list[Path]:
    """Write the report of results at hand.

    Parameters
    ----------
    results : StudyResults
        Cells, curves and metadata.
    out : Path
        Folder of the report; made if need be.

    Returns
    -------
    list of Path
        The files written, ``report.html`` first.

    Raises
    ------
    InputError
        No cell on the study's seeds has run, or the folder cannot be written to.
    """
    if not len(results.cells) or not (results.cells["stage"] == "run").any():
        raise InputError(f"{out}: no cell of the study has run yet, so there is nothing to report")
    from .page.view import StudyView
    from .parts.opening import opening
    from .sections import SECTIONS

    view = StudyView(results)
    sections = [section for make in SECTIONS if (section := make(view)) is not None]
    title = results.study.get("title") or results.study.get("name") or "Study"
    return Page(title, opening(view), sections).write(out)
