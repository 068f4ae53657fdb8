"""Build tables of mean ranks and of significance tests.

The comparisons that a function takes are of one metric, one per noise level.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....pipeline.analysis.comparison import ALPHA, Comparison, overall_ranks
from ....pipeline.analysis.design import Design
from ....pipeline.noise import Noise
from ..page.table import TableBlock, best_of, tabulate
from ..words.markup import slug
from ..words.wording import p_value, percent


def rank_frame(comparisons: Sequence[Comparison], design: Design) -> pd.DataFrame:
    """Return mean ranks, one row per ranked algorithm and one column per `Noise`; NaN without a rank."""
    columns = {c.noise: c.mean_ranks for c in comparisons}
    return pd.DataFrame(columns, index=design.algorithms, dtype="float64").dropna(how="all")


def rank_texts(ranks: pd.DataFrame, places: Sequence[int]) -> pd.DataFrame:
    """Write ranks as texts; `places` has the number of decimal places of each column; NaN becomes a dash."""
    columns = [
        [f"{value:.{digits}f}" if np.isfinite(value) else "–" for value in ranks.iloc[:, place]]
        for place, digits in enumerate(places)
    ]
    return pd.DataFrame(dict(enumerate(columns)), index=ranks.index)


def by_algorithm(
    values: pd.DataFrame, texts: pd.DataFrame, name: str, title: str, *, highest: bool = False, note: str
) -> TableBlock:
    """Return a table with a row per algorithm and a column per noise level; the best of a column is bold.

    `texts` has the entries for the numbers in `values`, whose columns are `Noise` or other names.
    """
    header = ["algorithm", *(str(getattr(column, "short", column)) for column in values)]
    csv_names = {column: f"noise {column.slug}" for column in values if isinstance(column, Noise)}
    return tabulate(
        texts.reset_index().set_axis(header, axis="columns"),
        name,
        title,
        bold=best_of(values, texts, highest=highest),
        note=note,
        data=values.rename(columns=csv_names).rename_axis("algorithm").reset_index(),
    )


def _places(comparisons: Sequence[Comparison]) -> int:
    """Return the number of decimal places of ranks: 2 for means; on one data set they are whole or halves."""
    if any(c.n > 1 for c in comparisons):
        return 2
    return 0 if all((c.ranks % 1 == 0).all(axis=None) for c in comparisons) else 1


def mean_rank_table(comparisons: Sequence[Comparison], design: Design) -> TableBlock:
    """Return mean ranks by noise level, with the average over levels in the last column."""
    frame = rank_frame(comparisons, design)
    metric, places = comparisons[0].metric, [_places(comparisons)] * len(comparisons)
    same = len({c.n for c in comparisons}) == 1
    sizes = ", ".join(f"{c.n} at {c.noise.short}" for c in comparisons)
    note = f"1 is best. Data sets ranked: {comparisons[0].n if same else sizes}."
    if len(comparisons) > 1:
        frame = frame.assign(overall=overall_ranks(list(comparisons)).reindex(frame.index))
        places.append(2)
        note += (
            " The last column averages the noise levels within each data set that is complete at all of "
            "them; it is not tested."
        )
    kind = "Mean rank" if any(c.n > 1 for c in comparisons) else "Rank"
    title = f"{kind} by {metric.label}, by label noise"
    return by_algorithm(frame, rank_texts(frame, places), f"mean-ranks-{slug(metric.name)}", title, note=note)


def model_rank_table(comparisons: Sequence[Comparison], design: Design) -> TableBlock | None:
    """Return mean ranks per noise model, averaged over levels; None if there are fewer than two models."""
    of_kind: dict[str, list[Comparison]] = {}
    for c in comparisons:
        if c.noise.rate:
            of_kind.setdefault(c.noise.kind, []).append(c)
    if len(of_kind) < 2:
        return None
    ranks = {kind: overall_ranks(some) for kind, some in of_kind.items()}
    frame = pd.DataFrame(ranks, index=design.algorithms, dtype="float64").dropna(how="all")
    metric = comparisons[0].metric
    return by_algorithm(
        frame,
        rank_texts(frame, [2] * len(of_kind)),
        f"mean-ranks-{slug(metric.name)}-by-model",
        f"Mean rank by {metric.label}, by model of noise",
        note="1 is best. Mean over the levels of each model, within each data set complete at all of them.",
    )


def friedman_table(comparisons: Sequence[Comparison]) -> TableBlock | None:
    """Return Friedman and Iman–Davenport tests and Nemenyi's critical differences; None without any test.

    The table has one row per tested comparison. Here the comparisons may be of several metrics.
    """
    rows, data = [], []
    for c in comparisons:
        f = c.friedman
        if f is None:
            continue
        values = {
            "chi2": f.chi2,
            "chi2_p": f.chi2_p,
            "F": f.f,
            "F_p": f.f_p,
            "nemenyi_cd": c.critical_difference,
            "smallest_p_holm": c.smallest_p if c.pairs else None,
        }
        shown = values if np.isfinite(f.f) else {**values, "F_p": None}
        rows.append([c.noise.short, c.metric.label, c.n, c.k, *shown.values()])
        sizes = {"datasets": c.n, "algorithms": c.k}
        data.append({"noise": c.noise.slug, "metric": c.metric.name, **sizes, **values})
    if not rows:
        return None
    header = ["noise", "metric", "N", "k", "χ²", "p", "F", "p of F", "CD", "smallest p (Holm)"]
    return tabulate(
        pd.DataFrame(rows, columns=header),
        "friedman",
        "Friedman and Iman–Davenport tests, Nemenyi critical difference",
        write=[str, str, _two, p_value, _two, p_value, _two, p_value],
        labels=2,
        note="N data sets, k algorithms; χ² corrected for ties. The last column is the smallest "
        "Holm-adjusted p-value that a pair can reach on N data sets.",
        data=pd.DataFrame(data),
    )


def _two(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "∞"


def pairs_table(comparisons: Sequence[Comparison], design: Design) -> TableBlock | None:
    """Return Wilcoxon–Holm tests, one row per pair and one column per noise level; None without any test."""
    tested = [c for c in comparisons if c.pairs]
    if not tested:
        return None
    found = {(c.noise, p.first, p.second): p for c in tested for p in c.pairs}
    rows, bold, data = [], [], []
    for first, second in itertools.combinations(design.algorithms, 2):
        tests = [found.get((c.noise, first, second)) for c in tested]
        if not any(tests):
            continue
        different = [frozenset({first, second}) in c.different for c in tested]
        rows.append(
            [first, second, *(p and f"{p_value(p.p_holm)} ({p.wins}–{p.ties}–{p.losses})" for p in tests)]
        )
        bold.append([p is not None and each for p, each in zip(tests, different, strict=True)])
        data += [
            {
                "noise": c.noise.slug,
                "first": first,
                "second": second,
                "wins": p.wins,
                "ties": p.ties,
                "losses": p.losses,
                "mean_difference": p.difference,
                "W": p.statistic,
                "p": p.p,
                "p_holm": p.p_holm,
                "significant": significant,
            }
            for c, p, significant in zip(tested, tests, different, strict=True)
            if p is not None
        ]
    return tabulate(
        pd.DataFrame(rows, columns=["first", "second", *(c.noise.short for c in tested)]),
        "wilcoxon-holm",
        f"Wilcoxon signed-rank tests of every pair by {tested[0].metric.label}, Holm-adjusted p-values",
        bold=bold,
        labels=2,
        note="In brackets: data sets on which the first is better, equal, worse. Bold: significant at "
        f"{percent(ALPHA)}, which also requires that the Friedman test of that noise level finds "
        "differences. Holm's correction covers all pairs of one noise level.",
        data=pd.DataFrame(data),
    )
