"""Tables of mean ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....pipeline.analysis.comparison import Comparison, overall_ranks
from ....pipeline.analysis.design import Design
from ....pipeline.noise import Noise
from ..page.table import TableBlock, TableCell
from ..words.markup import slug


def rank_frame(comparisons: Sequence[Comparison], design: Design) -> pd.DataFrame:
    """Return mean ranks, algorithms by noise rates, NaN where nothing could be ranked.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per noise rate, of one metric.
    design : Design
        The study's names and their order.

    Returns
    -------
    DataFrame of float, shape (k, noise)
        Columns of `Noise`, in the order of the comparisons; without algorithms that have no rank at all.
    """
    columns = {c.noise: c.mean_ranks for c in comparisons}
    frame = pd.DataFrame(columns, index=design.algorithms, dtype="float64")
    return frame.dropna(how="all")


def ranked(values: Sequence[float], places: int = 2) -> list[TableCell]:
    """Return the cells of one row or column of ranks, the smallest bold.

    Parameters
    ----------
    values : sequence of float
        Ranks; one that is not finite is shown as a dash.
    places : int, default=2
        Digits after the point; ranks that look the same share the bold.

    Returns
    -------
    list of TableCell
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
    """Return what a CSV file calls a column of one noise rate; other names stay.

    Parameters
    ----------
    column : Noise or str
        Noise, or the name of a column of something else.

    Returns
    -------
    str
    """
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
    """Mean ranks by model of noise, whatever the rate; None where there are not two models.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per level of noise, of one metric.
    design : Design
        The study's names and their order.

    Returns
    -------
    TableBlock or None
        One row per algorithm, in the study's order.
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
