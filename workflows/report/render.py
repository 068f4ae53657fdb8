"""Write a study's report: one HTML file, the same in Markdown, every table as CSV and LaTeX."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...pipeline.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from ...pipeline.results import Results
    from .table import Table

_TEMPLATES = Path(__file__).parent / "templates"
# Longer tables are folded in the page and left to their CSV file in Markdown.
FOLD_ABOVE = 30
_TRACEBACKS = 5
_PROTOCOLS = {
    "holdout": "Protocol: holdout. The training part is streamed once, each example predicted before it is "
    "learnt from; accuracy is then measured on clean test labels.",
    "prequential": "Protocol: prequential. The whole stream is seen once, each example predicted before it "
    "is learnt from; there is no test part.",
    "crossval": "Protocol: cross-validation. Every seed is a fold, streamed once and tested on clean labels.",
}


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
    from ...pipeline.results import read_results

    return render_report(read_results(str(results)), Path(results) if out is None else Path(out))


def render_report(results: Results, out: Path) -> list[Path]:
    """Write the report of results at hand.

    Parameters
    ----------
    results : Results
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
    written = []
    try:
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


def _files(results: Results) -> Iterator[tuple[str, str]]:
    """Yield (relative name, text) of every file of the report."""
    content, tables = _content(results)
    yield "report.html", _html(content)
    yield "report.md", _markdown(content)
    pictures = [content["rank_figure"], *content["diagrams"], *content["boxes"], *content["curve_groups"]]
    for picture in pictures:
        if picture is not None:
            yield picture.file, picture.content
    for table in tables:
        yield f"tables/{table.name}.csv", table.to_csv()
        yield f"tables/{table.name}.tex", table.to_latex()


def _content(results: Results) -> tuple[dict[str, Any], list[Table]]:
    """Everything the templates print, and the tables that get files of their own."""
    from ...pipeline.comparison import compare
    from ...pipeline.metrics import METRICS
    from ...pipeline.tables import layout, primary_metric
    from . import pictures, rank_tables, score_tables, tuning_tables, wording

    cells, meta = results.cells, results.meta
    study: dict[str, Any] = {key: value for key, value in meta["study"].items() if key != "planned"}
    plan = layout(cells, meta)
    metric = primary_metric(cells)
    comparisons = [compare(cells, metric, noise, plan) for noise in plan.noise]
    noisy = any(rate > 0 for rate in plan.noise)
    other_metrics = [
        METRICS[name]
        for name in ("clean_error", "online_error")
        if name != metric.name and (noisy or name != "online_error")
    ]
    others = [[compare(cells, other, noise, plan) for noise in plan.noise] for other in other_metrics]
    rank_table = rank_tables.mean_rank_table(comparisons, plan)
    other_ranks = [rank_tables.mean_rank_table(series, plan) for series in others]
    tested = [c for series in (comparisons, *others) for c in series if c.n > 1 and c.k > 1]
    friedman = rank_tables.friedman_table(tested) if tested else None
    pairs = rank_tables.pairs_table(comparisons, plan)
    dropped = rank_tables.dropped_table(comparisons)
    accuracy = score_tables.score_tables(cells, METRICS["test_accuracy"], plan)
    mistakes = score_tables.score_tables(cells, METRICS["mistakes_clean"], plan)
    # Without noise the given labels are the clean ones, and the table would be printed twice.
    given = score_tables.score_tables(cells, METRICS["mistakes"], plan) if noisy else []
    given = [table for table in given if not table.name.endswith("-noise-0")]
    cost = score_tables.cost_table(cells, plan)
    tuning = meta.get("tuning") or []
    grids = tuning_tables.grid_table(tuning, plan) if tuning else None
    winners = tuning_tables.winner_tables(tuning, plan)
    failed = score_tables.failed_table(cells)
    groups, curves_note = pictures.curve_groups(cells, results.curves, plan)
    boxes = pictures.boxes(cells, plan)
    provenance = meta.get("provenance") or {}
    content = {
        "title": study.get("title") or study.get("name") or "Study",
        "description": study.get("description", ""),
        "protocol": _PROTOCOLS.get(str(study.get("protocol")), f"Protocol: {study.get('protocol')}."),
        "headline": wording.headline(comparisons),
        "facts": wording.facts(plan),
        "cautions": wording.cautions(plan, comparisons),
        "algorithms": plan.algorithms,
        "rank_table": rank_table,
        "other_ranks": other_ranks,
        "rank_figure": pictures.rank_picture(comparisons, plan),
        "dropped": dropped,
        "diagrams": pictures.diagrams(comparisons),
        "tests": [(wording.at_noise(c.noise), wording.friedman_sentence(c)) for c in comparisons],
        "friedman": friedman,
        "pairs": pairs,
        "accuracy": accuracy,
        "boxes": boxes,
        "boxes_note": wording.boxes_note(plan, len(boxes)) if boxes else "",
        "mistakes": mistakes,
        "given_mistakes": given,
        "curve_groups": groups,
        "curves_note": curves_note,
        "cost": cost,
        "grids": grids,
        "winners": winners,
        "failed": failed,
        "tracebacks": _tracebacks(cells),
        "provenance": score_tables.provenance_table(provenance) if provenance else None,
        "commands": _commands(study),
        "study": json.dumps(study, indent=2, ensure_ascii=False),
        "fold": len(plan.datasets) > FOLD_ABOVE,
        "fold_above": FOLD_ABOVE,
    }
    optional = [friedman, pairs, dropped, grids, failed]
    tables = [rank_table, *other_ranks, *accuracy, *mistakes, *given, cost, *winners]
    return content, tables + [table for table in optional if table is not None]


def _commands(study: Mapping[str, Any]) -> str:
    name = shlex.quote(str(study.get("name", "STUDY")))
    return f"singlepass run {name}\nsinglepass report results/{name}"


def _tracebacks(cells: pd.DataFrame) -> list[tuple[str, str]]:
    bad = cells[(cells["status"] == "failed") & cells["traceback"].notna()]
    bad = bad.drop_duplicates("traceback").head(_TRACEBACKS)
    return [
        (f"{row['dataset']}, {row['algorithm']}", str(row["traceback"])) for row in bad.to_dict("records")
    ]


def _environment(*, escape: bool) -> Any:
    import jinja2

    from .markup import markdown

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=escape,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["md"] = markdown
    return environment


def _html(content: dict[str, Any]) -> str:
    from markupsafe import Markup

    from .figures import swatch
    from .svg import PALETTE, inline, size

    serial = 0

    def show(picture: Any) -> dict[str, Any]:
        nonlocal serial
        serial += 1
        return {
            "heading": picture.heading,
            "width": round(size(picture.svg)[0]),
            "svg": Markup(inline(picture.svg, f"f{serial}", picture.title)),
        }

    environment = _environment(escape=True)
    groups = [
        {"name": group.name, "figures": [show(panel) for panel in group.panels]}
        for group in content["curve_groups"]
    ]
    rank_figure = content["rank_figure"]
    sections = [
        ("ranks", "Mean ranks", content["rank_table"]),
        ("significance", "Significance", content["rank_table"]),
        ("accuracy", "Test accuracy", content["accuracy"]),
        ("mistakes", "Online mistakes", content["mistakes"]),
        ("curves", "Learning curves", groups),
        ("cost", "Updates and speed", content["cost"]),
        ("tuning", "Tuning", content["grids"]),
        ("failed", "Failed cells", content["failed"]),
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
        "legends": [
            [
                (name, Markup(inline(swatch(index), f"k{place}-{index}", f"line of {name}")))
                for index, name in enumerate(content["algorithms"])
            ]
            for place in range(2)
        ],
    }
    return str(environment.get_template("report.html.j2").render(page))


def _markdown(content: dict[str, Any]) -> str:
    rank_figure = content["rank_figure"]
    page = {**content, "rank_file": rank_figure.file if rank_figure else ""}
    text = _environment(escape=False).get_template("report.md.j2").render(page)
    return re.sub(r"\n{3,}", "\n\n", str(text)).strip() + "\n"
