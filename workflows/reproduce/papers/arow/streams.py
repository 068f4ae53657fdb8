"""Figs. 5 to 7: mistakes along the stream of the synthetic data and of MNIST 3 against 5, and test errors."""

from __future__ import annotations

import math

import pandas as pd

from ....report.page.blocks import Block, Panels, Picture, Text
from ....report.page.table import TableBlock, TableCell
from ....report.plots.box_plot import box_plot
from ....report.plots.curve_plots import Axis
from ....report.words.markup import slug
from ...beside import ABSENT, beside
from ...evidence import Evidence, StudyEvidence
from ...figures import curves_figure, numbers_file
from ...printed import number as printed
from .parts import percent, row

SYNTHETIC, NOISE = "arow-synthetic", 0.1
# Fig. 6 is of what Fig. 5 has learnt, says its caption; all experiments tune passes, says Sec. 5.1.
READINGS = {"one pass": "synthetic", "passes tuned": "synthetic-batch"}
# Examples after which mistakes are tabled; the paper speaks of the first and the last.
_POINTS = (500, 1000, 2000, 5000)
_MISTAKES = Axis(y="mistakes against clean labels")


def fewer(study: StudyEvidence, other: str, t: float) -> float:
    """Return by how many percent full AROW has made fewer mistakes than another after `t` examples.

    Raises
    ------
    NotThere
    """
    ours, theirs = (study.at("mistakes_clean", name, SYNTHETIC, t, NOISE) for name in ("AROW full", other))
    return 100 * (1 - ours / theirs) if theirs else math.nan


def synthetic_curves(evidence: Evidence) -> list[Block]:
    """Return Fig. 5, with its numbers at a few places."""
    study = evidence["synthetic"]
    names = study.design.algorithms
    curves = study.curves("mistakes_clean", names, SYNTHETIC, NOISE)
    rows = [
        [
            TableCell(name),
            *(beside(study.at("mistakes_clean", name, SYNTHETIC, t, NOISE), None) for t in _POINTS),
        ]
        for name in names
    ]
    rows.append([TableCell("each of them in the paper"), *[TableCell(ABSENT)] * len(_POINTS)])
    said = {5000: printed("arow", "arow-n15")}
    rows.append(
        [
            TableCell("AROW full against CW diagonal: fewer by, %"),
            *(beside(fewer(study, "CW diagonal", t), said.get(t)) for t in _POINTS),
        ]
    )
    note = (
        f"Mistakes against clean labels, mean of {len(study.design.seeds)} runs. The paper: about 75% fewer "
        "than the next best (CW) after 5,000 examples, and much the same after 500."
    )
    head = ["algorithm", *(f"{t:,} examples" for t in _POINTS)]
    title = f"Mistakes along the synthetic stream, {percent(NOISE)} of labels flipped"
    return [
        Text("The picture is lost; printed numbers are those of the running text.", "soft"),
        *curves_figure(study.view, "fig-5", "Fig. 5", [("synthetic data", curves)], _MISTAKES),
        TableBlock("fig-5-mistakes", title, head, rows, note=note),
    ]


def synthetic_test_errors(evidence: Evidence) -> list[Block]:
    """Return Fig. 6: test errors over the runs, after the one pass of Fig. 5 and with passes tuned."""
    pictures, parts = [], []
    columns: dict[str, list[TableCell]] = {}
    names: list[str] = []
    for reading, key in READINGS.items():
        study = evidence[key]
        errors = study_errors(study)
        names = [str(name) for name in errors]
        title = f"Test error over {len(errors)} runs, {reading}"
        svg = box_plot([(name, errors[name].tolist()) for name in names], study.view.styles, "test error, %")
        pictures.append(Picture(f"{title}, in percent", title, svg, f"figures/fig-6-{slug(reading)}.svg"))
        parts.append(errors.melt(var_name="algorithm", value_name="test_error").assign(passes=reading))
        columns[reading] = [
            beside(mean, None, 2, sd=sd) for mean, sd in zip(errors.mean(), errors.std(ddof=1), strict=True)
        ]
    rows = [
        [TableCell(name), *entries, TableCell(ABSENT)]
        for name, *entries in zip(names, *columns.values(), strict=True)
    ]
    title = "Test error on 10,000 clean examples, in percent: mean ± standard deviation over runs"
    note = "One pass: tuned by mistakes along it. Passes tuned: up to ten, by a held-out fifth."
    return [
        Text("The picture is lost, and the text has no number of it.", "soft"),
        Panels(pictures, roomy=True),
        numbers_file("fig-6", "Test error of every run", pd.concat(parts)),
        TableBlock("fig-6-errors", title, ["algorithm", *READINGS, "printed"], rows, note=note),
    ]


def study_errors(study: StudyEvidence) -> pd.DataFrame:
    """Return test errors of the synthetic runs in percent, shape (runs, algorithms).

    Raises
    ------
    NotThere
        A run is not there.
    """
    # Asked for what is missing.
    study.table("test_accuracy", NOISE, datasets=[SYNTHETIC])
    cells = study.cells[study.cells["dataset"] == SYNTHETIC]
    wide = cells.pivot_table(index="seed", columns="algorithm", values="test_accuracy")
    return 100 * (1 - wide[study.design.algorithms].astype("float64"))


def mnist_curves(evidence: Evidence) -> list[Block]:
    """Return Fig. 7, with its numbers at the end."""
    study = evidence["mnist"]
    (task,) = study.datasets()
    names = study.design.algorithms
    panels = [(f"{percent(q)} noise", study.curves("mistakes_clean", names, task, q)) for q in study.rates]
    means, spread = (
        {q: dict(zip(names, row(each("mistakes_clean", q), task), strict=True)) for q in study.rates}
        for each in (study.table, study.spread)
    )
    rows = [
        [
            TableCell(name),
            *(beside(means[q][name], None, sd=spread[q][name]) for q in study.rates),
            *(beside(means[q][name] - means[q]["AROW"], None) for q in study.rates),
            TableCell(ABSENT),
        ]
        for name in names
    ]
    at = [f"{percent(q)} noise" for q in study.rates]
    head = ["algorithm", *at, *(f"more than AROW, {each}" for each in at), "printed"]
    title = "Mistakes over the whole stream of MNIST 3 against 5, mean ± standard deviation"
    return [
        Text("The picture is lost, and the text has no number of it.", "soft"),
        *curves_figure(study.view, "fig-7", "Fig. 7", panels, _MISTAKES),
        TableBlock("fig-7-mistakes", title, head, rows, note=f"{len(study.design.seeds)} orders."),
    ]
