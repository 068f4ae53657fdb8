"""Draw one algorithm, named by the key `focus` of a ranking, against each of the others, task by task."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from ....pipeline.analysis.comparison import Comparison
from ....pipeline.analysis.metrics import Metric
from ....pipeline.noise import Noise
from ..page.blocks import Block, Folded, Panels, Picture, Text
from ..page.view import spaced
from ..plots.curve_plots import values_by_noise
from ..plots.head_to_head_plots import error_reductions, scatter
from ..plots.svg import Styles
from ..words.markup import slug
from ..words.wording import count

# Number of noise levels shown task by task: as in the AROW paper, no, some and much noise.
_LEVELS = 3


def head_to_head(
    comparisons: Sequence[Comparison],
    focus: str | None,
    styles: Styles,
    *,
    noise: Sequence[Noise] = (),
    prefix: str = "",
    scope: str = "",
) -> list[Block]:
    """Draw the algorithm `focus` against each of the others; return no block if it is None or lacks results.

    The comparisons are of one metric, one per noise level. They are drawn if the metric is a share, such as
    accuracy, and if `focus` and another algorithm have results on at least two data sets. `noise` gives the
    levels to show task by task, by default three evenly spaced ones; without results at any of these, nothing
    is drawn. File names start with `prefix`; `scope` names the part of the study.

    The plots follow K. Crammer, A. Kulesza, M. Dredze, "Adaptive Regularization of Weight Vectors", Machine
    Learning 91 (2013): figure 8 (scatter), 9 (by noise) and 10 (by difficulty).
    """
    usable = [c for c in comparisons if c.n >= 2 and c.k >= 2 and c.metric.percent and focus in c.scores]
    if focus is None or not usable:
        return []
    levels = noise or spaced([c.noise for c in usable], _LEVELS)
    shown = [c for c in usable if c.noise in levels]
    if not shown:
        return []
    rows: list[Block] = [_scatters(shown, focus, styles, prefix, scope)]
    if len(usable) >= 2:
        rows.append(_by_noise(usable, styles, prefix, scope))
    rows.append(_by_difficulty(shown, focus, styles, prefix, scope))
    return rows


def _row(title: str, scope: str, note: str, pictures: Sequence[Picture]) -> Folded:
    return Folded(f"{title}: {scope}", [Text(note, "soft"), Panels(pictures, roomy=True)])


def _errors(scores: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    return 1.0 - scores if metric.direction == "higher" else scores


def _scatters(shown: Sequence[Comparison], focus: str, styles: Styles, prefix: str, scope: str) -> Folded:
    metric = shown[0].metric
    above = "above" if metric.direction == "higher" else "below"
    pictures = []
    # Labels may differ only in characters that `slug` replaces, so file names also have a number.
    for place, other in enumerate((name for name in shown[0].scores.columns if name != focus), 1):
        for comparison in shown:
            ours, theirs = comparison.scores[focus], comparison.scores[other]
            # Compare ranks, because they treat scores that differ only by rounding error as equal.
            wins = int((comparison.ranks[focus] < comparison.ranks[other]).sum())
            at = comparison.noise.label
            pictures.append(
                Picture(
                    f"{metric.label} of {focus} against {other}, {at} ({scope})",
                    f"{other}, {at}: {wins} of {count(comparison.n, 'task')} {above} the line",
                    scatter(
                        100 * theirs.to_numpy(),
                        100 * ours.to_numpy(),
                        styles[other],
                        f"{other}, %",
                        f"{focus}, %",
                    ),
                    f"figures/{prefix}{slug(focus)}-against-{place}-{slug(other)}-{comparison.noise.stem}.svg",
                )
            )
    note = f"Every point is a task: {metric.label} of {focus} against that of another algorithm."
    return _row(f"{focus} against each of the others", scope, note, pictures)


def _by_noise(usable: Sequence[Comparison], styles: Styles, prefix: str, scope: str) -> Folded:
    metric = usable[0].metric
    shared = [name for name in usable[0].scores.index if all(name in c.scores.index for c in usable)]
    noise = [c.noise for c in usable]
    means = pd.DataFrame({c.noise: c.scores.loc[shared].mean() for c in usable})
    errors = _errors(means, metric)
    least = usable[0].noise
    # The increase is NaN for a learner without errors at the lowest noise level, because it is relative.
    increase = 100 * (errors.div(errors[least].where(errors[least] > 0), axis=0) - 1)
    of = f"{metric.label}, mean of {count(len(shared), 'task')}"
    pictures = [
        Picture(
            f"{of}, against label noise ({scope})",
            f"Mean {metric.label}",
            values_by_noise(100 * means, noise, styles, f"{metric.label}, %"),
            f"figures/{prefix}mean-by-noise.svg",
        ),
        Picture(
            f"Increase in error against label noise ({scope})",
            "Increase in error",
            values_by_noise(increase, noise, styles, "increase in error, %"),
            f"figures/{prefix}increase-in-error.svg",
        ),
    ]
    note = (
        f"Means over the {count(len(shared), 'task')} with results at every noise level; the increase is "
        f"that of the mean error, relative to the mean error at {least.short} noise."
    )
    return _row("The effect of label noise", scope, note, pictures)


def _by_difficulty(
    shown: Sequence[Comparison], focus: str, styles: Styles, prefix: str, scope: str
) -> Folded:
    metric = shown[0].metric
    points = []
    for comparison in shown:
        errors = _errors(comparison.scores, metric)
        others = errors.drop(columns=focus).mean(axis=1)
        kept = others > 0  # where the others make no error, none can be reduced
        reduction = 100 * (1 - errors[focus][kept] / others[kept])
        difficulty = 100 * comparison.scores.drop(columns=focus).mean(axis=1)[kept]
        points.append((f"{comparison.noise.short} noise", difficulty.to_numpy(), reduction.to_numpy()))
    others_named = ", ".join(str(name) for name in shown[0].scores.columns if name != focus)
    picture = Picture(
        f"Error reduction of {focus} against the mean {metric.label} of the others ({scope})",
        "",
        error_reductions(
            points, styles[focus], f"mean {metric.label} of the others, %", f"error reduction of {focus}, %"
        ),
        f"figures/{prefix}error-reduction.svg",
    )
    note = (
        f"Every point is a task: by how much the error of {focus} is below the mean error of the others "
        f"({others_named}), against their mean {metric.label}. Lines are least-squares fits."
    )
    return _row(f"Error reduction of {focus} by difficulty of the task", scope, note, [picture])
