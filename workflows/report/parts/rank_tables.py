"""Build tables of mean ranks and of significance tests.

Arguments called `comparisons` have one comparison per noise level, all by the same metric.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....pipeline.analysis.bayes import ROPE
from ....pipeline.analysis.comparison import ALPHA, Comparison, overall_ranks
from ....pipeline.analysis.design import Design
from ....pipeline.analysis.intervals import FEWEST, level_with_best
from ....pipeline.analysis.pairwise import PairTest
from ....pipeline.noise import Noise
from ..page.table import TableBlock, tabulate
from ..words.markup import slug
from ..words.wording import enumerate_names, p_value, percent


def rank_frame(comparisons: Sequence[Comparison], design: Design) -> pd.DataFrame:
    """Return mean ranks, with a row per ranked algorithm and a column per noise level; NaN if not ranked.

    Rows are sorted by their mean over the columns, the best first.
    """
    columns = {c.noise: c.mean_ranks for c in comparisons}
    frame = pd.DataFrame(columns, index=design.algorithms, dtype="float64").dropna(how="all")
    return frame.loc[frame.mean(axis=1).sort_values(kind="stable").index]


def rank_texts(ranks: pd.DataFrame, places: Sequence[int]) -> pd.DataFrame:
    """Write ranks as texts; `places` has the number of decimal places of each column; NaN becomes a dash."""
    columns = [
        [f"{value:.{digits}f}" if np.isfinite(value) else "–" for value in ranks.iloc[:, place]]
        for place, digits in enumerate(places)
    ]
    return pd.DataFrame(dict(enumerate(columns)), index=ranks.index)


def by_algorithm(
    values: pd.DataFrame, texts: pd.DataFrame, name: str, title: str, *, bold: Any = (), note: str
) -> TableBlock:
    """Return a table with a row per algorithm and a column per noise level.

    `values` has the numbers, for the CSV file, and `texts` the entries to print. Columns of `values` are
    `Noise` objects or names; `bold` is a mask of the same shape.
    """
    header = ["algorithm", *(str(getattr(column, "short", column)) for column in values)]
    csv_names = {column: f"noise {column.slug}" for column in values if isinstance(column, Noise)}
    return tabulate(
        texts.reset_index().set_axis(header, axis="columns"),
        name,
        title,
        bold=bold,
        note=note,
        data=values.rename(columns=csv_names).rename_axis("algorithm").reset_index(),
    )


def _places(comparisons: Sequence[Comparison]) -> int:
    """Return how many decimals ranks need: 2 for means; on one data set 1 if ties make halves, else 0."""
    if any(c.n > 1 for c in comparisons):
        return 2
    return 0 if all((c.ranks % 1 == 0).all(axis=None) for c in comparisons) else 1


def bold_among(
    tables: Sequence[pd.DataFrame],
    comparisons: Sequence[Comparison],
    rows: pd.Index[str],
    *,
    highest: bool = False,
) -> tuple[NDArray[np.bool_], str]:
    """Return a mask of the means that do not differ significantly from the best of their column, and a note.

    The mask has a row per algorithm in `rows` and a column per comparison. `tables` has, per comparison, the
    values that are averaged: data sets as rows, algorithms as columns. The note says what is bold.
    """
    masks = [
        level_with_best(table, c.sources, highest=highest).reindex(rows, fill_value=False)
        for table, c in zip(tables, comparisons, strict=True)
    ]
    bold = np.array([mask.to_numpy(bool) for mask in masks]).T.reshape(len(rows), len(masks))
    if all(c.n == 1 for c in comparisons):
        return bold, " Bold: the best."
    if any(c.n_sources >= FEWEST for c in comparisons):
        return bold, (
            " Bold: not told apart from the best by the 95% interval of the paired difference (bootstrap of "
            "base sets)."
        )
    return bold, f" Bold: the best, without an interval, which would need {FEWEST} base sets."


# With more noise levels, a table of mean ranks has their confidence intervals only in its CSV file.
_MOST_INTERVALS = 4


def mean_rank_table(comparisons: Sequence[Comparison], design: Design) -> TableBlock:
    """Return mean ranks with 95% intervals by noise level, and the average over levels in the last column."""
    frame = rank_frame(comparisons, design)
    metric, places = comparisons[0].metric, [_places(comparisons)] * len(comparisons)
    same = len({c.n for c in comparisons}) == 1
    sizes = ", ".join(f"{c.n} at {c.noise.short}" for c in comparisons)
    note = f"1 is best. Data sets ranked: {comparisons[0].n if same else sizes}."
    if left_out := comparisons[0].left_out:
        note += f" Not ranked, without a value: {enumerate_names(left_out)}."
    known = [c for c in comparisons if c.n]
    bold, told = bold_among([c.ranks for c in known], known, frame.index)
    mask = np.zeros(frame.shape, bool)
    mask[:, [place for place, c in enumerate(comparisons) if c.n]] = bold
    if len(comparisons) > 1:
        frame = frame.assign(overall=overall_ranks(list(comparisons)).reindex(frame.index))
        mask = np.column_stack([mask, np.zeros(len(frame), bool)])
        places.append(2)
        note += (
            " The last column averages the noise levels within each data set that is complete at all of "
            "them; it is not tested."
        )
    texts = rank_texts(frame, places)
    data = frame.rename(columns={c.noise: f"noise {c.noise.slug}" for c in comparisons})
    printed = len(comparisons) <= _MOST_INTERVALS
    for place, c in enumerate(comparisons):
        if (found := c.rank_intervals) is not None:
            found = found.reindex(frame.index)
            data = data.join(found.add_prefix(f"noise {c.noise.slug} "))
            if printed:
                texts.iloc[:, place] = [
                    f"{text} ({low:.2f} to {high:.2f})" if np.isfinite(low) else text
                    for text, low, high in zip(texts.iloc[:, place], found["low"], found["high"], strict=True)
                ]
    if data.shape[1] > frame.shape[1]:
        shown = "In brackets" if printed else "In the table's file"
        note += f" {shown}: 95% intervals, by a bootstrap of the base sets."
    kind = "Mean rank" if any(c.n > 1 for c in comparisons) else "Rank"
    title = f"{kind} by {metric.label}, by label noise"
    name = f"mean-ranks-{slug(metric.name)}"
    table = by_algorithm(frame, texts, name, title, bold=mask, note=note + told)
    return replace(table, data=data.rename_axis("algorithm").reset_index())


def model_rank_table(comparisons: Sequence[Comparison], design: Design) -> TableBlock | None:
    """Return a table of mean ranks per noise model, averaged over its levels; None if there is one model."""
    of_kind: dict[str, list[Comparison]] = {}
    for c in comparisons:
        if c.noise.rate:
            of_kind.setdefault(c.noise.kind, []).append(c)
    if len(of_kind) < 2:
        return None
    ranks = {kind: overall_ranks(some) for kind, some in of_kind.items()}
    frame = pd.DataFrame(ranks, index=rank_frame(comparisons, design).index, dtype="float64").dropna(
        how="all"
    )
    metric = comparisons[0].metric
    return by_algorithm(
        frame,
        rank_texts(frame, [2] * len(of_kind)),
        f"mean-ranks-{slug(metric.name)}-by-model",
        f"Mean rank by {metric.label}, by model of noise",
        note="1 is best. Mean over the levels of each model, within each data set complete at all of them.",
    )


def friedman_table(comparisons: Sequence[Comparison]) -> TableBlock | None:
    """Return a table of Friedman and Iman–Davenport tests and Nemenyi's critical differences.

    The table has a row per comparison with a Friedman test; without any, None is returned. The comparisons
    may be of several metrics.
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
            "F_p": f.f_p if np.isfinite(f.f) else np.nan,
            "nemenyi_cd": c.critical_difference,
            "smallest_p_holm": c.smallest_p if c.pairs else None,
        }
        rows.append([c.noise.short, c.metric.label, c.n_sources, c.k, *values.values()])
        sizes = {"datasets": c.n, "base_sets": c.n_sources, "algorithms": c.k}
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
        note="N base sets, k algorithms; χ² corrected for ties. The last column is the smallest "
        "Holm-adjusted p-value that a pair can reach on N base sets.",
        data=pd.DataFrame(data),
    )


def _two(value: float) -> str:
    return f"{value:.2f}" if np.isfinite(value) else "∞"


# Names of columns in files, where they differ from the names of the fields of `PairTest`.
_COLUMNS = {"difference": "mean_difference", "statistic": "W"}


def pair_numbers(test: PairTest) -> dict[str, object]:
    """Return the numbers of a pair's test by their columns in files."""
    names = {"first", "second"}
    return {_COLUMNS.get(name, name): value for name, value in vars(test).items() if name not in names}


def pairs_frame(comparisons: Sequence[Comparison]) -> pd.DataFrame:
    """Return tests, effects and posterior probabilities, one row per pair of algorithms and noise level."""
    rows = []
    for c in comparisons:
        for p in c.pairs:
            row = {
                "noise": c.noise.slug,
                "first": p.first,
                "second": p.second,
                "base_sets": c.n_sources,
                **pair_numbers(p),
                "significant": frozenset({p.first, p.second}) in c.different,
            }
            if c.beliefs:
                here = c.beliefs.get((p.first, p.second))
                there = here or c.beliefs[p.second, p.first]
                better, worse = (there.better, there.worse) if here else (there.worse, there.better)
                row |= {"p_better": better, "p_equal": there.equal, "p_worse": worse}
            rows.append(row)
    return pd.DataFrame(rows)


def comparison_matrices(comparisons: Sequence[Comparison]) -> list[TableBlock]:
    """Return a multiple comparison matrix for each noise level with tests.

    Above the diagonal are effects, below it p-values. A. Ismail-Fawaz, A. Dempster, C. W. Tan, M. Herrmann,
    L. Miller, D. F. Schmidt, S. Berretti, J. Weber, M. Devanne, G. Forestier, G. I. Webb, "An Approach to
    Multiple Comparison Benchmark Evaluations that is Stable Under Manipulation of the Comparate Set" (2023).
    """
    return [_matrix(c) for c in comparisons if c.pairs]


def _matrix(c: Comparison) -> TableBlock:
    names = [str(name) for name in c.mean_ranks.index]
    found = {frozenset({p.first, p.second}): p for p in c.pairs}
    unit = ", points" if c.metric.percent else ""
    # Without decimals, effects below 1, such as of sizes in kB, would all be 0.
    # Effects below 0.0005, such as rounding errors, do not count.
    digits = c.metric.decimals or min(c.metric.digits([round(abs(p.effect), 3) for p in c.pairs]), 3)
    known = any(math.isfinite(p.low) or math.isfinite(p.high) for p in c.pairs)
    interval = (
        "with its uncorrected 95% interval" if known else "without an interval, which needs six base sets"
    )
    rows, bold = [], []
    for i, row in enumerate(names):
        texts, strong = [], []
        for j, column in enumerate(names):
            pair = frozenset({row, column})
            if i == j:
                texts.append("")
            elif i < j:
                texts.append(_effect(c, found[pair], row, digits))
            else:
                p = found[pair]
                wins, losses = (p.wins, p.losses) if p.first == row else (p.losses, p.wins)
                texts.append(f"{p_value(p.p_holm)} ({wins}–{p.ties}–{losses})")
            strong.append(i != j and pair in c.different)
        rows.append([row, *texts])
        bold.append(strong)
    return tabulate(
        pd.DataFrame(rows, columns=["", *names]),
        f"pairs-noise-{c.noise.stem}",
        f"Every pair by {c.metric.label}, {c.noise.label}",
        bold=bold,
        note=f"Best mean rank first. Above the diagonal: Hodges–Lehmann estimate of row minus column{unit}, "
        f"{interval}. Below it: Holm-adjusted p-value of Wilcoxon's signed-rank test, and in brackets on how "
        f"many of {c.n_sources} base sets the row is better, equal, worse. Bold: significant at "
        f"{percent(ALPHA)}, which also requires that the Friedman test finds differences.",
        data=pairs_frame([c]),
    )


def _effect(c: Comparison, pair: PairTest, row: str, digits: int) -> str:
    """Write how much `row` differs from the pair's other algorithm, with its interval if an end is finite."""
    sign = 1.0 if pair.first == row else -1.0
    ends = sorted((sign * pair.low, sign * pair.high))
    effect, low, high = (_signed(c, value, digits) for value in (sign * pair.effect, *ends))
    return f"{effect} ({low} to {high})" if any(map(math.isfinite, ends)) else effect


def _signed(c: Comparison, value: float, digits: int) -> str:
    text = c.metric.show(abs(value), digits=digits)
    zero = not any(letter in "123456789∞" for letter in text)
    return text if zero else f"{'+' if value > 0 else '−'}{text}"


def equivalence_table(c: Comparison) -> TableBlock | None:
    """Tabulate for each pair of algorithms how probably the first is better, equal or worse."""
    if not c.beliefs:
        return None
    names = [str(name) for name in c.mean_ranks.index]
    rows, bold = [], []
    for i, first in enumerate(names[:-1]):
        found = [c.beliefs[first, second] for second in names[i + 1 :]]
        texts = [f"{b.better:.2f} / {b.equal:.2f} / {b.worse:.2f}" for b in found]
        rows.append([first, *[""] * i, *texts])
        bold.append([*[False] * i, *(max(b.better, b.equal, b.worse) >= 1 - ALPHA for b in found)])
    return tabulate(
        pd.DataFrame(rows, columns=["", *names[1:]]),
        f"posterior-noise-{c.noise.stem}",
        f"Probabilities of better / equal / worse by {c.metric.label}, {c.noise.label}",
        bold=bold,
        note="Bayesian signed-rank test of row against column (Benavoli et al. 2017). Equal: within "
        f"{100 * ROPE:g} point. Bold: at least {percent(1 - ALPHA)}.",
        data=pairs_frame([c]),
        show="folded",
    )
