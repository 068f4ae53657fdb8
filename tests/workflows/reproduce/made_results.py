"""Build results of studies that never ran, with figures that a test chooses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pandas as pd

from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.pipeline.store.schema import CURVES
from singlepass.workflows.reproduce.evidence import Evidence
from singlepass.workflows.reproduce.paper import Paper
from singlepass.workflows.reproduce.printed import claims
from singlepass.workflows.reproduce.verdicts import Verdict, judge

from ..synthetic_results import make_results

T = np.linspace(50, 1000, 20)
Figures = Mapping[str, Mapping[str, float]]


def results_of(
    figures: Figures,
    *,
    datasets: tuple[str, ...] = ("gauss", "usps[0-vs-rest]", "usps[1-vs-rest]"),
    noise: tuple[float, ...] = (0.0,),
    protocol: str = "holdout",
) -> StudyResults:
    """Return results with the given columns of the cells, by algorithm; counts along the stream grow evenly.

    Three figures are not columns: "level" is the share of the stream after which the support set stops
    growing, "seconds" the time at the end, and "power" the exponent with which time grows.
    """
    made = make_results(
        datasets=datasets, algorithms=tuple(figures), noise=noise, seeds=2, tuned=(), protocol=protocol
    )
    cells, curves = made.cells, []
    for algorithm, columns in figures.items():
        own = cells["algorithm"] == algorithm
        for column, value in columns.items():
            if column in cells:
                cells.loc[own, column] = value
        for key in cells.loc[own, "key"]:
            share = T / 1000
            grown = np.minimum(1.0, share / columns.get("level", 1.0))
            curve = {
                "t": T,
                "fit_seconds": columns.get("seconds", 0.001) * share ** columns.get("power", 1.0),
            }
            for column in ("mistakes", "updates"):
                curve[column] = np.round(columns.get(column, 0.0) * share)
            curve["support_vectors"] = np.round(columns.get("support_vectors", 0.0) * grown)
            curves.append(pd.DataFrame({"key": key, **curve}))
    return replace(made, cells=cells, curves=pd.concat(curves).reindex(columns=CURVES.names))


def verdicts_on(paper: Paper, evidence: Evidence, *ids: str) -> dict[str, Verdict]:
    """Return the verdicts on some of a paper's claims, by default on all."""
    judged = [each for each in claims(paper.name) if not ids or each.id in ids]
    found = judge(judged, paper.checks, evidence, repetitions=paper.repetitions)
    return {claim.id: verdict for claim, verdict in found}


def with_figures(figures: Figures, algorithm: str, **columns: float) -> Figures:
    """Return a copy of the figures with some of one algorithm's replaced."""
    return {**figures, algorithm: {**figures[algorithm], **columns}}
