"""Write a study's report: one HTML file, the same in Markdown, every table as CSV and LaTeX."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...pipeline.errors import InputError

if TYPE_CHECKING:
    from ...pipeline.analysis.study_results import StudyResults

_TEMPLATES = Path(__file__).parent / "templates"

# The names of a report's files, for the next one; and what such a name looks like.
_MANIFEST = "report-files.txt"
_OWN = re.compile(r"(tables/[\w.-]+\.(csv|tex)|figures/[\w.-]+\.svg)")


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
    from .content import report_content

    content, tables = report_content(results)
    yield "report.html", _html(content)
    yield "report.md", _markdown(content)
    pictures = [content["rank_figure"], *content["diagrams"], *content["boxes"], *content["curve_groups"]]
    pictures += [picture for ranking in content["rankings"] for picture in ranking.pictures]
    pictures += [each.sheet for each in content["along"]]
    pictures += content["support"].files if content["support"] else []
    pictures += [group.sheet for group in content["solutions"].groups] if content["solutions"] else []
    for picture in pictures:
        if picture is not None:
            yield picture.file, picture.content
    for table in tables:
        yield f"tables/{table.name}.csv", table.to_csv()
        yield f"tables/{table.name}.tex", table.to_latex()


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


def _html(content: dict[str, Any]) -> str:
    from markupsafe import Markup

    from .plots.line_plots import swatch
    from .plots.styles import PALETTE, series_styles
    from .plots.svg import inline, size

    serial = 0

    def show(picture: Any) -> dict[str, Any]:
        nonlocal serial
        serial += 1
        return {
            "heading": picture.heading,
            "width": round(size(picture.svg)[0]),
            "svg": Markup(inline(picture.svg, f"f{serial}", picture.title)),
        }

    def swatches(place: int) -> dict[str, Markup]:
        styles = series_styles(content["algorithms"])
        return {
            name: Markup(inline(swatch(style), f"k{place}-{index}", f"line of {name}"))
            for index, (name, style) in enumerate(styles.items())
        }

    environment = _environment(escape=True)
    groups = [
        {"name": group.name, "figures": [show(panel) for panel in group.panels], "finals": group.finals}
        for group in content["curve_groups"]
    ]
    rank_figure = content["rank_figure"]
    sections = [
        ("ranks", content["rank_heading"], content["rank_table"]),
        ("significance", "Significance", content["tests"]),
        ("rankings", content["rankings_heading"], content["rankings"]),
        ("groups", "Groups of tasks", content["by_group"]),
        ("accuracy", "Test accuracy", content["accuracy"]),
        ("mistakes", "Online mistakes", content["mistakes"]),
        ("curves", "Learning curves", groups),
        ("along", "Along the stream", content["along"]),
        ("support", "Support sets", content["support"]),
        ("solutions", "Solutions", content["solutions"]),
        ("cost", "Updates and speed", content["cost"]),
        ("tuning", "Tuning", content["grids"]),
        ("failed", "Failed and stopped cells", content["failed"]),
        ("provenance", "Provenance", True),
    ]
    page = {
        **content,
        "style": Markup(_environment(escape=False).get_template("report.css").render(palette=PALETTE)),
        "contents": [(name, heading) for name, heading, there in sections if there],
        "rank_figure": show(rank_figure) if rank_figure else None,
        "diagrams": [show(picture) for picture in content["diagrams"]],
        "boxes": [show(picture) for picture in content["boxes"]],
        "curve_groups": groups,
        "along": [
            {**vars(each), "panels": [show(picture) for picture in each.panels]} for each in content["along"]
        ],
        "support": {
            **vars(content["support"]),
            "errors": [show(picture) for picture in content["support"].errors],
            "curves": [show(picture) for picture in content["support"].curves],
        }
        if content["support"]
        else None,
        "solutions": {
            **vars(content["solutions"]),
            "groups": [
                {
                    "name": group.name,
                    "figures": [show(picture) for picture in group.panels],
                    "legend": [
                        (name, Markup(inline(svg, f"m{place}-{kind}", name)))
                        for kind, (name, svg) in enumerate(group.legend)
                    ],
                }
                for place, group in enumerate(content["solutions"].groups)
            ],
        }
        if content["solutions"]
        else None,
        "rankings": [
            {
                **vars(ranking),
                "diagrams": [show(picture) for picture in ranking.diagrams],
                "focus": [
                    {**vars(row), "figures": [show(picture) for picture in row.pictures]}
                    for row in ranking.focus
                ],
            }
            for ranking in content["rankings"]
        ],
        "swatches": [swatches(place) for place in range(3 + len(content["along"]))],
    }
    return str(environment.get_template("report.html.j2").render(page))


def _markdown(content: dict[str, Any]) -> str:
    rank_figure = content["rank_figure"]
    page = {**content, "rank_file": rank_figure.file if rank_figure else ""}
    text = _environment(escape=False).get_template("report.md.j2").render(page)
    # Markdown glues a heading or a table's title to the line beside it unless a blank line is between them.
    apart = re.sub(r"^(#+ .+|\*\*.+\*\*)$", r"\n\1\n", str(text), flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", apart).strip() + "\n"
