"""Tables of ranks and tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....pipeline.analysis.averages import Design
from ....pipeline.analysis.comparison import ALPHA, Comparison, overall_ranks
from ....pipeline.noise import Noise, parse_noise
from ..table import TableBlock, TableCell
from ..words.markup import slug
from ..words.phrases import p_value, percent


def rank_frame(comparisons: Sequence[Comparison], design: Design) -> pd.DataFrame:
    """Return mean ranks, algorithms by noise rates, NaN where nothing could be ranked."""
    columns = {c.noise: c.mean_ranks for c in comparisons}
    frame = pd.DataFrame(columns, index=design.algorithms, dtype="float64")
    return frame.dropna(how="all")


def _ranked(values: Sequence[float], places: int = 2) -> list[TableCell]:
    """Cells of one row or column of ranks, the smallest bold."""
    known = [round(value, places) for value in values if np.isfinite(value)]
    best = min(known, default=None)
    return [
        TableCell(f"{value:.{places}f}", best=round(value, places) == best)
        if np.isfinite(value)
        else TableCell("–")
        for value in values
    ]


def _noise_column(column: Noise | str) -> str:
    return column if isinstance(column, str) else f"noise {column.slug}"


def _places(comparisons: Sequence[Comparison]) -> int:
    """Digits after the point that mean ranks need; the ranks of a single data set are whole or halves."""
    if any(c.n > 1 for c in comparisons):
        return 2
    return 0 if all((c.ranks % 1 == 0).all(axis=None) for c in comparisons) else 1


def _sizes(comparisons: Sequence[Comparison]) -> str:
    """Say how many data sets were ranked at each noise rate."""
    sizes = ", ".join(f"{c.n} at {c.noise.short}" for c in comparisons)
    same = len({c.n for c in comparisons}) == 1
    return f"Data sets ranked: {comparisons[0].n if same else sizes}."


def mean_rank_table(comparisons: Sequence[Comparison], design: Design) -> TableBlock:
    """Mean ranks by noise rate, with their average over rates and the number of data sets below.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per noise rate, of one metric.
    design : Design
        The study's names and their order.

    Returns
    -------
    TableBlock
        One row per algorithm, in the study's order.
    """
    frame = rank_frame(comparisons, design)
    metric = comparisons[0].metric
    places = _places(comparisons)
    columns = [_ranked(frame[noise].tolist(), places) for noise in frame.columns]
    header = ["algorithm", *(parse_noise(column).short for column in frame.columns)]
    if len(comparisons) > 1:
        overall = overall_ranks(list(comparisons)).reindex(frame.index)
        columns.append(_ranked(overall.tolist()))
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
        data=frame.rename(columns=_noise_column).rename_axis("algorithm").reset_index(),
    )


def mean_score_table(comparisons: Sequence[Comparison], design: Design) -> TableBlock:
    """Mean of the metric itself over the data sets that were ranked, by noise rate.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per noise rate, of one metric.
    design : Design
        The study's names and their order.

    Returns
    -------
    TableBlock
        One row per algorithm, in the study's order; every data set counts the same.
    """
    metric = comparisons[0].metric
    columns = {c.noise: c.scores.mean(axis=0) for c in comparisons if c.n}
    frame = pd.DataFrame(columns, index=design.algorithms, dtype="float64").dropna(how="all")
    shown = []
    for noise in frame.columns:
        digits = metric.digits(frame[noise])
        texts = [metric.show(value, digits=digits) for value in frame[noise]]
        place = frame[noise].argmax() if metric.direction == "higher" else frame[noise].argmin()
        shown.append([TableCell(text, best=text == texts[place]) for text in texts])
    return TableBlock(
        name=f"mean-{slug(metric.name)}",
        title=f"Mean {metric.label}{', %' if metric.percent else ''}, by label noise",
        header=["algorithm", *(parse_noise(column).short for column in frame.columns)],
        rows=[[TableCell(str(name)), *cells] for name, *cells in zip(frame.index, *shown, strict=True)],
        note="Mean over the data sets ranked, each a mean over seeds.",
        data=frame.rename(columns=_noise_column).rename_axis("algorithm").reset_index(),
    )


def group_table(groups: Sequence[tuple[str, Sequence[Comparison]]], design: Design) -> TableBlock:
    """Mean ranks within groups of tasks, one row per group and noise rate.

    Parameters
    ----------
    groups : sequence of (name, comparisons)
        For each group its comparisons, one per noise rate, of one metric.
    design : Design
        The study's names and their order.

    Returns
    -------
    TableBlock
        Columns are the algorithms, in the study's order.
    """
    rows, data = [], []
    for name, comparisons in groups:
        for c in comparisons:
            ranks = c.mean_ranks.reindex(design.algorithms).astype("float64")
            rows.append([TableCell(f"{name} ({c.n})"), TableCell(c.noise.short), *_ranked(ranks.tolist())])
            data += [(name, c.noise.slug, c.n, algorithm, rank) for algorithm, rank in ranks.items()]
    return TableBlock(
        name="mean-ranks-by-task-group",
        title=f"Mean rank by {groups[0][1][0].metric.label}, by base set and kind of task",
        header=["tasks (number ranked)", "noise", *design.algorithms],
        rows=rows,
        labels=2,
        note="1 is best. No test is made within groups: their tasks share examples.",
        data=pd.DataFrame(data, columns=["group", "noise", "datasets", "algorithm", "mean_rank"]),
    )


def friedman_table(comparisons: Sequence[Comparison]) -> TableBlock:
    """Friedman and Iman–Davenport tests and Nemenyi's difference, one row per noise rate and metric."""
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
    """Wilcoxon–Holm for every pair, one column per noise rate; None where no pair could be tested."""
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


def dropped_table(comparisons: Sequence[Comparison]) -> TableBlock | None:
    """Data sets left out of the ranks, with what they lack; None when all are complete."""
    rows = [
        [
            TableCell(c.noise.short),
            TableCell(block.dataset),
            TableCell("; ".join(f"{name}: {what}" for name, what in block.missing.items())),
        ]
        for c in comparisons
        for block in c.dropped
    ]
    if not rows:
        return None
    return TableBlock(
        name="dropped",
        title="Data sets left out of the ranks",
        header=["noise", "data set", "missing"],
        rows=rows,
        labels=3,
    )
