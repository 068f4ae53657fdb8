"""Tables of significance tests."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....pipeline.analysis.comparison import ALPHA, Comparison
from ....pipeline.analysis.design import Design
from ..page.table import TableBlock, TableCell
from ..words.phrases import p_value, percent


def friedman_table(comparisons: Sequence[Comparison]) -> TableBlock:
    """Friedman and Iman–Davenport tests and Nemenyi's difference, one row per noise rate and metric.

    Parameters
    ----------
    comparisons : sequence of Comparison
        Of one or more metrics.

    Returns
    -------
    TableBlock
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
    """Wilcoxon–Holm for every pair, one column per noise rate; None where no pair could be tested.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per noise rate, of one metric.
    design : Design
        The study's names and their order.

    Returns
    -------
    TableBlock or None
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
