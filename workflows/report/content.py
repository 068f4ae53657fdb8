"""What a report contains: comparisons, tables, pictures and words, before any template."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from typing import Any

import pandas as pd

from ...pipeline.analysis.averages import Design, primary_metric, study_design
from ...pipeline.analysis.comparison import compare
from ...pipeline.analysis.metrics import METRICS, Metric
from ...pipeline.analysis.study_results import StudyResults
from ...pipeline.analysis.subsets import task_groups, within
from .plots import pictures
from .plots.pictures import MAX_BOX_DATASETS
from .sections import rank_tables, rankings, score_tables, support, tuning_tables
from .sections.curves_section import along_stream
from .sections.solutions import solutions_section
from .table import TableBlock
from .words import wording

# Longer tables are folded in the page and left to their CSV file in Markdown.
FOLD_ABOVE = 30
# With more tasks the page shows their accuracies only: every further table of a row a task and noise level
# adds some 50 kB, which nobody reads in a page.
FILES_ONLY_ABOVE = 100
_TRACEBACKS = 5
_DIAGRAMS_NOTE = (
    "Critical difference diagrams: every algorithm hangs at its mean rank, best on the left. A thick bar "
    "spans neighbours of which no two differ significantly (Wilcoxon–Holm at 5%; of three or more algorithms "
    "only where a Friedman test rejects too). The ruler is "
    "Nemenyi's critical difference, for comparison; the bars do not use it."
)
_PROTOCOLS = {
    "holdout": "Protocol: holdout. The training part is streamed once, each example predicted before it is "
    "learnt from; accuracy is then measured on clean test labels.",
    "prequential": "Protocol: prequential. The whole stream is seen once, each example predicted before it "
    "is learnt from; there is no test part.",
    "crossval": "Protocol: cross-validation. Every seed is a fold, streamed once and tested on clean labels.",
}


def _protocols(study: dict[str, Any]) -> str:
    """Say how the data sets are used; a data set may have a protocol of its own."""
    usual = str(study.get("protocol"))
    used = [str(entry.get("protocol") or usual) for entry in study.get("datasets", [])] or [usual]
    texts = []
    for name in dict.fromkeys(used):
        text = _PROTOCOLS.get(name, f"Protocol: {name}.")
        if len(set(used)) > 1:
            own = [entry for entry, each in zip(study["datasets"], used, strict=True) if each == name]
            names = [str(entry.get("label") or entry.get("name") or entry.get("path")) for entry in own]
            text = f"{', '.join(dict.fromkeys(names))}: {text[0].lower()}{text[1:]}"
        texts.append(text)
    return " ".join(texts)


def report_content(results: StudyResults) -> tuple[dict[str, Any], list[TableBlock]]:
    """Work out everything the templates print, and the tables that get files of their own.

    Parameters
    ----------
    results : StudyResults
        Cells, curves and metadata; at least one cell on the study's seeds.

    Returns
    -------
    content : dict
        Texts, tables and pictures by the names the templates use.
    tables : list of TableBlock
        With names that differ.
    """
    cells, meta = results.cells, results.meta
    study: dict[str, Any] = {key: value for key, value in meta["study"].items() if key != "planned"}
    design = study_design(cells, meta)
    metric = primary_metric(cells)
    comparisons = [compare(cells, metric, noise, design) for noise in design.noise]
    noisy = any(noise.rate > 0 for noise in design.noise)
    other_metrics = [
        METRICS[name]
        for name in ("clean_error", "online_error")
        if name != metric.name and (noisy or name != "online_error")
    ]
    others = [[compare(cells, other, noise, design) for noise in design.noise] for other in other_metrics]
    rank_table = rank_tables.mean_rank_table(comparisons, design)
    other_ranks = [rank_tables.mean_rank_table(series, design) for series in others]
    tested = [c for series in (comparisons, *others) for c in series if c.friedman is not None]
    friedman = rank_tables.friedman_table(tested) if tested else None
    pairs = rank_tables.pairs_table(comparisons, design)
    mean_scores = (
        rank_tables.mean_score_table(comparisons, design)
        if len(design.datasets) > MAX_BOX_DATASETS and any(c.n for c in comparisons)
        else None
    )
    by_group = _by_group(cells, metric, design)
    some = rankings.rankings(cells, metric, design, study)
    dropped = rank_tables.dropped_table(comparisons)
    accuracy = score_tables.score_tables(cells, METRICS["test_accuracy"], design)
    mistakes = score_tables.score_tables(cells, METRICS["mistakes_clean"], design)
    # Without noise the given labels are the clean ones, and the table would be printed twice.
    given = score_tables.score_tables(cells, METRICS["mistakes"], design) if noisy else []
    given = [table for table in given if not table.name.endswith("-noise-0")]
    cost = score_tables.cost_table(cells, design)
    tuning = meta.get("tuning") or []
    grids = tuning_tables.grid_table(tuning, design) if tuning else None
    winners = tuning_tables.winner_tables(tuning, design)
    failed = score_tables.failed_table(cells)
    many = len(design.datasets) > FILES_ONLY_ABOVE
    groups, curves_note = pictures.curve_groups(cells, results.curves, design, study.get("curves") or ())
    boxes = pictures.boxes(cells, design)
    sizes = support.support_section(cells, results.curves, design, metric, study.get("curves") or ())
    provenance = meta.get("provenance") or {}
    content = {
        "title": study.get("title") or study.get("name") or "Study",
        "description": study.get("description", ""),
        "protocol": _protocols(study),
        "headline": wording.headline(comparisons),
        "facts": wording.facts(design),
        "cautions": wording.cautions(design, comparisons),
        "algorithms": design.algorithms,
        "rank_heading": "Mean ranks" if len(design.datasets) > 1 else "Ranks",
        "rank_table": rank_table,
        "mean_scores": mean_scores,
        "by_group": by_group,
        "why_no_test": wording.why_no_test(design),
        "rankings_heading": "Selected algorithms among themselves",
        "rankings": some,
        "other_ranks": other_ranks,
        "rank_figure": pictures.rank_picture(comparisons, design),
        "dropped": dropped,
        "diagrams": pictures.diagrams(comparisons),
        "diagrams_note": _DIAGRAMS_NOTE,
        "tests": [(c.noise.opening, wording.friedman_sentence(c)) for c in comparisons]
        if len(design.datasets) > 1
        else [],
        "friedman": friedman,
        "pairs": pairs,
        "accuracy": accuracy,
        "boxes": boxes,
        "boxes_note": wording.boxes_note(design, len(boxes)) if boxes else "",
        "mistakes": [] if many else mistakes,
        "given_mistakes": [] if many else given,
        "files_only": [table.name for table in (*mistakes, *given, *winners)] if many else [],
        "drawn": study.get("curves") or design.algorithms,
        "curve_groups": groups,
        "curves_note": curves_note,
        "along": along_stream(cells, results.curves, design, study.get("curves") or ()),
        "support": sizes,
        "support_sizes": [] if many or sizes is None else sizes.sizes,
        "solutions": solutions_section(results, design),
        "cost": cost,
        "grids": grids,
        "winners": [] if many else winners,
        "failed": failed,
        "tracebacks": _tracebacks(cells),
        "provenance": score_tables.provenance_table(
            {key: value for key, value in provenance.items() if key != "command"}
        )
        if provenance
        else None,
        "command": _command(study, provenance),
        "study": json.dumps(study, indent=2, ensure_ascii=False),
        "fold": len(design.datasets) > FOLD_ABOVE,
        "fold_above": FOLD_ABOVE,
        "single": len(design.datasets) == 1,
    }
    optional = [mean_scores, by_group, friedman, pairs, dropped, grids, failed]
    own = [table for ranking in some for table in ranking.tables]
    tables = [rank_table, *other_ranks, *own, *accuracy, *mistakes, *given, cost, *winners]
    tables += sizes.tables if sizes else []
    return content, tables + [table for table in optional if table is not None]


def _by_group(cells: pd.DataFrame, metric: Metric, design: Design) -> TableBlock | None:
    """Mean ranks within groups of tasks; None where groups are the whole study or single data sets."""
    groups = task_groups(cells, design)
    if len(groups) < 2 or len(groups) == len(design.datasets) or len(design.algorithms) < 2:
        return None
    parts = [(group.name, within(design, group.datasets)) for group in groups]
    compared = [
        (name, [compare(cells, metric, noise, part) for noise in design.noise]) for name, part in parts
    ]
    return rank_tables.group_table(compared, design)


def _command(study: Mapping[str, Any], provenance: Mapping[str, Any]) -> str:
    """Return the command line of the latest run, or that of a study of this name where none was kept."""
    command = provenance.get("command")
    if isinstance(command, str) and command.strip():
        return command.strip()
    name = shlex.quote(str(study.get("name", "STUDY")))
    return f"singlepass run {name}\nsinglepass report results/{name}"


def _tracebacks(cells: pd.DataFrame) -> list[tuple[str, str]]:
    bad = cells[(cells["status"] == "failed") & cells["traceback"].notna()]
    bad = bad.drop_duplicates("traceback").head(_TRACEBACKS)
    return [
        (f"{row['dataset']}, {row['algorithm']}", str(row["traceback"])) for row in bad.to_dict("records")
    ]
