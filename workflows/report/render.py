"""Write a study's report: one HTML file, the same in Markdown, every table as CSV and LaTeX."""

from __future__ import annotations

import gc
import itertools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...pipeline.errors import InputError

if TYPE_CHECKING:
    from ...pipeline.analysis.study_results import StudyResults

_TEMPLATES = Path(__file__).parent / "templates"

# The names of a report's files, for the next one; and what such a name looks like.
_MANIFEST = "report-files.txt"
_OWN = re.compile(r"(tables/[\w.-]+\.(csv|tex)|figures/[\w.-]+\.svg)")
# New objects after which Python looks for garbage in cycles while a report is written. At its usual 700 an
# eighth of the time goes into looking through modules and tables, over and over; a figure that is done with
# is found soon enough: memory grows by less than 5 MB.
_NEW_OBJECTS = 30_000


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
    with _rare_collections():
        from ...pipeline.analysis.study_results import read_results

        return render_report(read_results(str(results)), Path(results) if out is None else Path(out))


@contextmanager
def _rare_collections() -> Iterator[None]:
    usual = gc.get_threshold()
    gc.set_threshold(_NEW_OBJECTS, *usual[1:])
    try:
        yield
    finally:
        gc.set_threshold(*usual)


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
    files = dict(_files(results))
    files[_MANIFEST] = "".join(f"{name}\n" for name in files)
    written = []
    try:
        _remove_earlier(out, files)
        for name, text in files.items():
            path = out / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8", newline="\n")
            written.append(path)
    except OSError as error:
        raise InputError(
            f"report {out}: cannot be written ({error.strerror or error}): choose another folder"
        ) from None
    return written


def _remove_earlier(out: Path, files: Mapping[str, str]) -> None:
    """Remove what an earlier report wrote and this one does not: it would be taken for a part of it."""
    try:
        names = (out / _MANIFEST).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        # There was no earlier report, or somebody has changed the list: nothing is removed.
        return
    for name in names:
        if name not in files and _OWN.fullmatch(name):
            (out / name).unlink(missing_ok=True)


def _files(results: StudyResults) -> Iterator[tuple[str, str]]:
    """Yield (relative name, text) of every file of the report."""
    from .page.blocks import files
    from .page.view import StudyView
    from .parts.opening import opening
    from .sections import SECTIONS

    view = StudyView(results)
    sections = [section for make in SECTIONS if (section := make(view)) is not None]
    content = {
        "title": results.study.get("title") or results.study.get("name") or "Study",
        "opening": opening(view),
        "sections": sections,
    }
    yield "report.html", _html(content)
    yield "report.md", _markdown(content)
    for section in sections:
        yield from files(section.blocks)


def _environment(*, escape: bool) -> Any:
    import jinja2

    from .words.markup import fence, markdown

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=escape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = markdown
    environment.filters["fence"] = fence
    return environment


def _html(content: Mapping[str, Any]) -> str:
    from markupsafe import Markup

    from .plots.styles import PALETTE
    from .plots.svg import inline

    serials = itertools.count(1)

    def svg(drawing: str, title: str) -> Markup:
        return Markup(inline(drawing, f"f{next(serials)}", title))

    style = _environment(escape=False).get_template("report.css").render(palette=PALETTE)
    template = _environment(escape=True).get_template("report.html.j2")
    return str(template.render(content, style=Markup(style), svg=svg))


def _markdown(content: Mapping[str, Any]) -> str:
    text = _environment(escape=False).get_template("report.md.j2").render(content)
    # Blocks that print nothing leave their blank lines.
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
