"""Report the grids of parameter values that were tuned, and the winner of each grid."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ....pipeline.analysis.design import Design, evaluation_rows
from ....pipeline.analysis.tuning import Tuned
from ..page.blocks import Block, Section
from ..page.table import TableBlock, tabulate
from ..page.view import StudyView
from ..parts.opening import few
from ..words.wording import setting

_CHOSEN = (
    "The winner of a grid is chosen once for each data set, algorithm and noise level, on a separate seed, "
    "by the labels the learner is given, never by clean labels. All repetitions share it, so that no printed "
    "spread contains the choice."
)
_CHOSEN_BY_EACH = (
    "Each repetition chooses the winner of a grid itself, for each data set, algorithm and noise level, by "
    "the labels the learner is given, never by clean labels. Spreads over repetitions contain the choice."
)
_EDGE = (
    "Flagged: the smallest or largest value of a grid makes fewer mistakes than all between them; a wider "
    "grid may have a better value."
)


def section(view: StudyView) -> Section | None:
    """Print the grids and their winners; return None if no algorithm has a grid."""
    tuning = view.results.tuning
    if not tuning:
        return None
    blocks: list[Block] = [_grid_table(view), *_winner_tables(tuning, view.design, view.many)]
    return Section("tuning", "Tuning", blocks)


def _setting(tuned: Tuned) -> str:
    """Write the values that the winner of a grid has for the tuned parameters."""
    if not tuned.winner:
        return "none: every point failed"
    return ", ".join(setting(name, tuned.winner[name]) for name in tuned.grid)


def _grid_table(view: StudyView) -> TableBlock:
    """Return a table of grids, their criteria, and how often the winner had the least or largest value."""
    rows, flags = [], []
    for name in view.design.algorithms:
        # The grid may differ from data set to data set.
        grids: dict[str, list[Tuned]] = {}
        for tuned in view.results.tuning:
            if tuned.algorithm == name:
                grids.setdefault(json.dumps(tuned.grid), []).append(tuned)
        for own in grids.values():
            label = name
            if len(grids) > 1:
                label += f" on {few(list(dict.fromkeys(tuned.dataset for tuned in own)))}"
            criteria = " / ".join(sorted({tuned.criterion for tuned in own if tuned.criterion})) or None
            points = str(math.prod(map(len, own[0].grid.values())))
            for parameter, values in own[0].grid.items():
                edge = sum(parameter in tuned.at_edge for tuned in own)
                shown = ", ".join(f"{each:g}" if isinstance(each, float) else str(each) for each in values)
                # Of two values, each is at an edge.
                edges = f"{edge} of {len(own)}" if len(values) > 2 else None
                rows.append((label, points, parameter, shown, criteria, edges))
                flags.append([edge > 0])
    header = ["algorithm", "points", "parameter", "grid", "judged by", "winners at the edge"]
    frame = pd.DataFrame(rows, columns=header)
    chosen = _CHOSEN_BY_EACH if view.results.study.get("tune_each") else _CHOSEN
    reason = [_EDGE] if any(any(each) for each in flags) else []
    note = " ".join([chosen, *_rows_that_tune(view), *reason])
    return tabulate(frame, "grids", "Tuning grids", flags=flags, labels=5, wrap=True, note=note)


def _rows_that_tune(view: StudyView) -> list[str]:
    """Say whether rows used for tuning also enter the results, in a sentence for each kind of data set."""
    study = view.results.study
    tuned = {each.dataset for each in view.results.tuning}
    runs = evaluation_rows(view.cells)
    found: dict[str, dict[str, None]] = {}
    for _, rows in runs[runs["dataset"].isin(tuned)].groupby("dataset", sort=False):
        parent = str(rows["parent"].iloc[0])
        text = _reuse(rows, study, parent)
        if rows["drawn"].isna().all():  # cells of an earlier version
            none = "the results contain no row used for tuning"
            text = f"If rows are drawn for each seed, {none}. Otherwise: {text}"
        found.setdefault(text, {})[parent] = None
    if len(found) < 2:
        return list(found)
    return [f"{', '.join(names)}: {text}" for text, names in found.items()]


def _reuse(rows: pd.DataFrame, study: Mapping[str, Any], parent: str) -> str:
    """Say whether a data set's results come from rows also used for tuning; `rows` is its cells table."""
    if rows["drawn"].eq(True).any() and not study.get("tune_each"):
        return "Rows are drawn for each seed: the results contain no row used for tuning."
    if rows["order"].eq("given").any():
        share = 100 * float(study.get("tune_fraction", 0.1))
        return f"Winners are chosen on the first {share:g}% of the stream, which are not reported."
    if study.get("tune_each"):
        return (
            "No test row of a repetition is used for its tuning; mistakes along the stream are of rows that "
            "are also used for tuning."
        )
    protocol = rows["protocol"].iloc[0]
    if protocol == "prequential":
        return (
            "Winners are chosen on the reported stream in another order: reported rows are also used for "
            "tuning."
        )
    own_test = rows["own_test"].dropna()
    if protocol == "holdout" and own_test.any():
        return (
            "The data set has its own test part, of which no row is used for tuning; mistakes along the "
            "stream are of rows that are also used for tuning."
        )
    entries = [entry for entry in study.get("datasets", []) if entry.get("label") == parent]
    fraction = next((entry.get("test_fraction") for entry in entries), None) or study.get(
        "test_fraction", 0.3
    )
    held_out = 1 / study.get("folds", 10) if protocol == "crossval" else fraction
    text = (
        "Winners are chosen on another split of the rows: of the test rows of a seed up to "
        f"{100 * (1 - held_out):.0f}%, on average, are also used for tuning."
    )
    if protocol == "holdout" and not len(own_test):
        return f"If a data set has its own test part, no row of it is used for tuning. Otherwise: {text}"
    return text


def _winner_tables(tuning: Sequence[Tuned], design: Design, files_only: bool) -> list[TableBlock]:
    """Return tables of grid winners, one per noise level: data sets as rows, tuned algorithms as columns."""
    names = [name for name in design.algorithms if any(tuned.algorithm == name for tuned in tuning)]
    datasets = list(dict.fromkeys([*design.datasets, *(tuned.dataset for tuned in tuning)]))
    places: dict[Any, list[Tuned]] = {}
    for tuned in tuning:
        places.setdefault(tuned.group, []).append(tuned)
    tables = []
    for noise in sorted({tuned.noise for tuned in tuning}):
        found = [[places.get((dataset, name, noise), []) for name in names] for dataset in datasets]
        texts = [
            [dataset, *("; ".join(dict.fromkeys(map(_setting, each))) or None for each in row)]
            for dataset, row in zip(datasets, found, strict=True)
        ]
        data = [
            {
                "dataset": tuned.dataset,
                "noise": noise.slug,
                "algorithm": tuned.algorithm,
                "seed": tuned.seed,
                "winner": json.dumps(tuned.winner),
                "at_edge": " ".join(tuned.at_edge),
                "criterion": tuned.criterion,
                "grid": json.dumps(tuned.grid),
                "scores": json.dumps(tuned.scores),
            }
            for row in found
            for each in row
            for tuned in each
        ]
        tables.append(
            tabulate(
                pd.DataFrame(texts, columns=["data set", *names]),
                f"tuning-noise-{noise.stem}",
                f"Winners of the grids, {noise.label}",
                flags=[[any(tuned.at_edge for tuned in each) for each in row] for row in found],
                labels=1 + len(names),
                note=_EDGE,
                data=pd.DataFrame(data),
                show="file" if files_only else "folded",
            )
        )
    return tables
