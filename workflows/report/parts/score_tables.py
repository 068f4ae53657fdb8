"""Build tables of a metric's means over seeds, with the standard error of the difference to the best."""

from __future__ import annotations

import numpy as np
import pandas as pd

from ....pipeline.analysis.averages import Averages
from ....pipeline.analysis.design import Design
from ....pipeline.analysis.metrics import Metric
from ....pipeline.noise import Noise
from ....pipeline.scoring import can_rank
from ..page.table import TableBlock, tabulate
from ..words.markup import slug
from ..words.wording import how_far

# Maximum number of means to name below a table because some of their cells failed or were stopped.
_MOST_GAPS = 5


def score_tables(averages: Averages, metric: Metric, design: Design) -> list[TableBlock]:
    """Return tables of means over seeds: one per noise level, with data sets as rows, algorithms as columns.

    Noise levels without any value are left out. A study of a single data set has one table, with
    algorithms as rows and noise levels as columns.
    """
    data = averages.long_table(metric, design)
    if not len(data):
        return []
    title = f"{metric.label[0].upper()}{metric.label[1:]}{', %' if metric.percent else ''}"
    parts = [_Part(averages, metric, noise, design) for noise in design.noise]
    parts = [part for part in parts if part.known]
    if len(design.datasets) == 1:
        texts = pd.concat([part.texts.T for part in parts], axis=1)
        return [
            tabulate(
                _named(texts, "algorithm", [f"{part.noise.short} noise" for part in parts]),
                slug(metric.name),
                f"{title}, {design.datasets[0]}",
                bold=np.hstack([part.bold.T for part in parts]),
                flags=np.hstack([part.partial.T for part in parts]),
                note=_note(parts),
                data=data,
            )
        ]
    return [
        tabulate(
            _named(part.texts, "data set", design.algorithms),
            f"{slug(metric.name)}-noise-{part.noise.stem}",
            f"{title}, {part.noise.label}",
            bold=part.bold,
            flags=part.partial,
            note=_note([part]),
            data=data[data["noise"] == part.noise.slug],
        )
        for part in parts
    ]


def _named(texts: pd.DataFrame, label: str, columns: list[str]) -> pd.DataFrame:
    return texts.reset_index().set_axis([label, *columns], axis="columns")


class _Part:
    """The entries of a score table at one noise level, as texts and masks (data sets by algorithms)."""

    def __init__(self, averages: Averages, metric: Metric, noise: Noise, design: Design) -> None:
        scores, lacks = averages.scores(metric, noise, design), averages.shortfalls(noise, design)
        self.noise = noise
        self.known = bool(scores.count.to_numpy().any())
        means = scores.mean.to_numpy(float)
        errors, level = scores.paired(highest=metric.direction == "higher")
        # All entries of a table have as many decimals as the data set that needs the most.
        digits = max(metric.digits(row) for row in means)
        if metric.whole and not digits:
            digits = max(metric.digits(se) for se in errors)
        texts = [[metric.show(mean, digits=digits) for mean in row] for row in means]
        # Means of fewer seeds than planned are flagged.
        planned = np.array([[len(design.seeds_of(dataset, noise))] for dataset in design.datasets])
        self.partial = ~np.isnan(means) & (scores.count.to_numpy() < planned)
        self.bold = level & can_rank(metric.name)
        # Why means are flagged: a seed has no result, or the metric is undefined for some cell of the mean.
        flagged = [
            (dataset, design.algorithms[j])
            for dataset, row in zip(design.datasets, self.partial, strict=True)
            for j in np.flatnonzero(row)
        ]
        self.undefined = any(pair in scores.undefined for pair in flagged)
        self.waits = any(pair not in scores.undefined for pair in flagged)
        self.gaps = []
        for i, dataset in enumerate(design.datasets):
            for j, name in enumerate(design.algorithms):
                lack = lacks.get((dataset, name))
                if np.isfinite(errors[i, j]):
                    texts[i][j] += f" ± {metric.show(errors[i, j], digits=digits)}"
                if lack is not None and np.isnan(means[i, j]):
                    texts[i][j] = how_far(lack)
                elif lack is not None and lack.stopped + lack.failed:
                    self.gaps.append(f"{name} on {dataset} ({how_far(lack)})")
        self.texts = pd.DataFrame(texts, index=design.datasets, columns=design.algorithms)


def _note(parts: list[_Part]) -> str:
    """Explain the flags of means that lack seeds, and name the means with a stopped or failed cell."""
    if not any(part.partial.any() for part in parts):
        return ""
    gaps = [gap for part in parts for gap in part.gaps]
    if len(gaps) > _MOST_GAPS:
        gaps[_MOST_GAPS:] = [f"{len(gaps) - _MOST_GAPS} more"]
    reasons = ["not all seeds have a result"] if any(part.waits for part in parts) else []
    reasons += ["the metric is undefined at some seeds"] if any(part.undefined for part in parts) else []
    text = f"Flagged: {' or '.join(reasons)}."
    return f"{text} Means without all of their seeds, never bold: {', '.join(gaps)}." if gaps else text
