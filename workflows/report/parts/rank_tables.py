"""Tables of mean ranks and of significance tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....pipeline.analysis.comparison import ALPHA, Comparison, overall_ranks
from ....pipeline.analysis.design import Design
from ....pipeline.noise import Noise
from ..page.table import TableBlock, TableCell
from ..words.markup import slug
from ..words.wording import p_value, percent


def rank_frame(comparisons: Sequence[Comparison], design: Design) -> pd.DataFrame:
    """Return mean ranks, shape (algorithms, noise rates), NaN where nothing could be ranked.

    The comparisons are one per noise rate, of one metric; the columns are their `Noise`, in the same order.
    Algorithms without any rank are left out.
    """
    columns = {c.noise: c.mean_ranks for c in comparisons}
    frame = pd.DataFrame(columns, index=design.algorithms, dtype="float64")
    return frame.dropna(how="all")


def ranked(values: Sequence[float], places: int = 2) -> list[TableCell]:
    """Return the cells of one row or column of ranks, the smallest bold.

    A value that is not finite is shown as a dash. Ranks that are equal after rounding to `places` digits
    share the bold.
    """
    known = [round(value, places) for value in values if np.isfinite(value)]
    best = min(known, default=None)
    return [
        TableCell(f"{value:.{places}f}", best=round(value, places) == best)
        if np.isfinite(value)
        else TableCell("–")
        for value in values
    ]


def noise_column(column: Noise | str) -> str:
    """Return a CSV column name for a noise rate; other names stay unchanged."""
    return column if isinstance(column, str) else f"noise {column.slug}"


def _places(comparisons: Sequence[Comparison]) -> int:
    """Return the digits after the point of mean ranks; ranks on one data set are whole or halves."""
    if any(c.n > 1 for c in comparisons):
        return 2
    return 0 if all((c.ranks % 1 == 0).all(axis=None) for c in comparisons) else 1


def _sizes(comparisons: Sequence[Comparison]) -> str:
    """Say how many data sets were ranked at each noise rate."""
    sizes = ", ".join(f"{c.n} at {c.noise.short}" for c in comparisons)
    same = len({c.n for c in comparisons}) == 1
    return f"Data sets ranked: {comparisons[0].n if same else sizes}."


def mean_rank_table(comparisons: Sequence[Comparison], design: Design) -> TableBlock:
    """Build the table of mean ranks by noise rate, with the average over rates in the last column.

    The comparisons are one per noise rate, of one metric. Rows are algorithms in the study's order.
    """
    frame = rank_frame(comparisons, design)
    metric = comparisons[0].metric
    places = _places(comparisons)
    columns = [ranked(frame[c.noise].tolist(), places) for c in comparisons]
    header = ["algorithm", *(c.noise.short for c in comparisons)]
    if len(comparisons) > 1:
        overall = overall_ranks(list(comparisons)).reindex(frame.index)
        columns.append(ranked(overall.tolist()))
        header.append("overall")
        frame = frame.assign(overall=overall)
    rows = [[TableCell(str(name)), *cells] for name, *cells in zip(frame.index, *columns, strict=True)]
    note = f"1 is best. {_sizes(comparisons)}"
    if len(comparisons) > 1:
        note += (
            " The last column averages the noise levels within each data set complete at all of them; no "
            "test is made of it."
        )
    what = "Mean rank" if any(c.n > 1 for c in comparisons) else "Rank"
    return TableBlock(
        name=f"mean-ranks-{slug(metric.name)}",
        title=f"{what} by {metric.label}, by label noise",
        header=header,
        rows=rows,
        note=note,
        data=frame.rename(columns=noise_column).rename_axis("algorithm").reset_index(),
    )


def model_rank_table(comparisons: Sequence[Comparison], design: Design) -> TableBlock | None:
    """Build the table of mean ranks per noise model, averaged over levels; None below two models.

    The comparisons are one per noise level, of one metric. Rows are algorithms in the study's order.
    """
    of_kind: dict[str, list[Comparison]] = {}
    for c in comparisons:
        if c.noise.rate:
            of_kind.setdefault(c.noise.kind, []).append(c)
    if len(of_kind) < 2:
        return None
    ranks = {kind: overall_ranks(some) for kind, some in of_kind.items()}
    frame = pd.DataFrame(ranks, index=design.algorithms, dtype="float64").dropna(how="all")
    columns = [ranked(frame[kind].tolist()) for kind in frame]
    metric = comparisons[0].metric
    return TableBlock(
        name=f"mean-ranks-{slug(metric.name)}-by-model",
        title=f"Mean rank by {metric.label}, by model of noise",
        header=["algorithm", *of_kind],
        rows=[[TableCell(str(name)), *cells] for name, *cells in zip(frame.index, *columns, strict=True)],
        note="1 is best. Mean over the levels of each model, within each data set complete at all of them.",
        data=frame.rename_axis("algorithm").reset_index(),
    )


def friedman_table(comparisons: Sequence[Comparison]) -> TableBlock:
    """Build the table of Friedman and Iman–Davenport tests and Nemenyi's critical differences.

    It has one row per comparison, which may be of several metrics.
    """
    rows, data = [], []
    for c in comparisons:
        f = c.friedman
        cells = [c.noise.short, c.metric.label, str(c.n), str(c.k)]
        if f is None:
            cells += ["–", "–", "–", "–"]
        else:
            finite = np.isfinite(f.f)
            cells += [f"{f.chi2:.2f}", p_value(f.chi2_p), f"{f.f:.2f}" if finite else "∞"]
            cells += [p_value(f.f_p) if finite else "–"]
        cells += [f"{c.critical_difference:.2f}" if c.critical_difference is not None else "–"]
        cells += [p_value(c.smallest_p) if c.pairs else "–"]
        rows.append([TableCell(text) for text in cells])
        data.append(
            {
                "noise": c.noise.slug,
                "metric": c.metric.name,
                "datasets": c.n,
                "algorithms": c.k,
                "chi2": f.chi2 if f else None,
                "chi2_p": f.chi2_p if f else None,
                "F": f.f if f else None,
                "F_p": f.f_p if f else None,
                "nemenyi_cd": c.critical_difference,
                "smallest_p_holm": c.smallest_p if c.pairs else None,
            }
        )
    return TableBlock(
        name="friedman",
        title="Friedman and Iman–Davenport tests, Nemenyi critical difference",
        header=["noise", "metric", "N", "k", "χ²", "p", "F", "p of F", "CD", "smallest p (Holm)"],
        rows=rows,
        labels=2,
        note="N data sets, k algorithms; χ² corrected for ties. The last column is the least Holm-adjusted "
        "p-value that N data sets allow a pair to reach.",
        data=pd.DataFrame(data),
    )


def pairs_table(comparisons: Sequence[Comparison], design: Design) -> TableBlock | None:
    """Build the table of Wilcoxon–Holm tests, one row per pair and one column per noise rate.

    The comparisons are one per noise rate, of one metric. Returns None if no pair could be tested.
    """
    tested = [c for c in comparisons if c.pairs]
    if not tested:
        return None
    by_pair = {(c.noise, p.first, p.second): p for c in tested for p in c.pairs}
    rows, data = [], []
    names = design.algorithms
    for i, first in enumerate(names):
        for second in names[i + 1 :]:
            cells = [TableCell(first), TableCell(second)]
            for c in tested:
                pair = by_pair.get((c.noise, first, second))
                if pair is None:
                    cells.append(TableCell("–"))
                    continue
                significant = frozenset({first, second}) in c.different
                cells.append(
                    TableCell(
                        f"{p_value(pair.p_holm)} ({pair.wins}–{pair.ties}–{pair.losses})", best=significant
                    )
                )
                data.append(
                    {
                        "noise": c.noise.slug,
                        "first": first,
                        "second": second,
                        "wins": pair.wins,
                        "ties": pair.ties,
                        "losses": pair.losses,
                        "mean_difference": pair.difference,
                        "W": pair.statistic,
                        "p": pair.p,
                        "p_holm": pair.p_holm,
                        "significant": significant,
                    }
                )
            if any(cell.text != "–" for cell in cells[2:]):
                rows.append(cells)
    return TableBlock(
        name="wilcoxon-holm",
        title=f"Wilcoxon signed-rank tests of every pair by {tested[0].metric.label}, Holm-adjusted p-values",
        header=["first", "second", *(c.noise.short for c in tested)],
        rows=rows,
        labels=2,
        note="In brackets: data sets on which the first is better, level, worse. Bold: significant at "
        f"{percent(ALPHA)}, which also asks the Friedman test of that noise level to find differences. "
        "Holm's correction is for all pairs of one noise level.",
        data=pd.DataFrame(data),
    )
