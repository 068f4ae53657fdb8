"""One algorithm against the others, task by task: the pictures that a ranking's `focus` asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd

from ....pipeline.analysis.averages import Design
from ....pipeline.analysis.comparison import Comparison
from ....pipeline.analysis.metrics import Metric
from ....pipeline.noise import Noise
from ..plots.head_to_head_plots import error_reductions, scatter, values_by_noise
from ..plots.pictures import Picture, spaced
from ..plots.svg import standalone
from ..words.markup import slug
from ..words.phrases import count

# No noise, some and much: the AROW paper's choice for both kinds of picture.
_LEVELS = 3


@dataclass(frozen=True)
class PictureRow:
    """Pictures of one kind.

    Attributes
    ----------
    title : str
        What they show.
    note : str
        How they are made.
    pictures : list of Picture
        In reading order.
    """

    title: str
    note: str
    pictures: list[Picture]


def focus_pictures(
    comparisons: Sequence[Comparison],
    focus: str | None,
    design: Design,
    *,
    noise: Sequence[Noise] = (),
    prefix: str = "",
    scope: str = "",
) -> list[PictureRow]:
    """Draw one algorithm against each of the others.

    Parameters
    ----------
    comparisons : sequence of Comparison
        One per noise rate, of one metric whose values are shares.
    focus : str or None
        The algorithm; None draws nothing.
    design : Design
        The whole study, whose algorithms fix the colours.
    noise : sequence of Noise, default=()
        Rates that are shown task by task; three evenly chosen ones when empty.
    prefix : str, default=""
        Put before the files' names.
    scope : str, default=""
        The part of the study they are about, for readers who cannot see them.

    Returns
    -------
    list of PictureRow
        Empty without a result of `focus` and of another algorithm on two data sets or more.

    Notes
    -----
    The pictures are those of K. Crammer, A. Kulesza, M. Dredze, "Adaptive Regularization of Weight Vectors",
    Machine Learning 91 (2013): figure 8 (scatter), 9 (by noise) and 10 (by difficulty).
    """
    usable = [c for c in comparisons if c.n >= 2 and c.k >= 2 and c.metric.percent and focus in c.scores]
    if focus is None or not usable:
        return []
    levels = noise or spaced([c.noise for c in usable], _LEVELS)
    shown = [c for c in usable if c.noise in levels]
    rows = [_scatter_row(shown, focus, prefix, scope)]
    if len(usable) >= 2:
        rows.append(_noise_row(usable, design, prefix, scope))
    rows.append(_difficulty_row(shown, focus, prefix, scope))
    return rows


def _picture(title: str, heading: str, svg: str, file: str) -> Picture:
    return Picture(title, heading, svg, file, standalone(svg, title))


def _errors(scores: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    return 1.0 - scores if metric.direction == "higher" else scores


def _scatter_row(shown: Sequence[Comparison], focus: str, prefix: str, scope: str) -> PictureRow:
    metric = shown[0].metric
    above = "above" if metric.direction == "higher" else "below"
    pictures = []
    for other in [name for name in shown[0].scores.columns if name != focus]:
        for comparison in shown:
            ours, theirs = comparison.scores[focus], comparison.scores[other]
            # By ranks, which take scores that differ by rounding error only for equal.
            wins = int((comparison.ranks[focus] < comparison.ranks[other]).sum())
            at = comparison.noise.label
            pictures.append(
                _picture(
                    f"{metric.label} of {focus} against {other}, {at} ({scope})",
                    f"{other}, {at}: {wins} of {count(comparison.n, 'task')} {above} the line",
                    scatter(100 * theirs.to_numpy(), 100 * ours.to_numpy(), f"{other}, %", f"{focus}, %"),
                    f"figures/{prefix}{slug(focus)}-against-{slug(other)}-{comparison.noise.slug}.svg",
                )
            )
    note = f"Every point is a task: {metric.label} of {focus} against that of another algorithm."
    return PictureRow(f"{focus} against each of the others", note, pictures)


def _noise_row(usable: Sequence[Comparison], design: Design, prefix: str, scope: str) -> PictureRow:
    metric = usable[0].metric
    shared = [name for name in usable[0].scores.index if all(name in c.scores.index for c in usable)]
    means = pd.DataFrame({c.noise: c.scores.loc[shared].mean() for c in usable})
    errors = _errors(means, metric)
    least = usable[0].noise
    # A learner without errors at the lowest rate has no relative increase.
    increase = 100 * (errors.div(errors[least].where(errors[least] > 0), axis=0) - 1)
    of = f"{metric.label}, mean of {count(len(shared), 'task')}"
    pictures = [
        _picture(
            f"{of}, against label noise ({scope})",
            f"Mean {metric.label}",
            values_by_noise(100 * means, design.algorithms, f"{metric.label}, %"),
            f"figures/{prefix}mean-by-noise.svg",
        ),
        _picture(
            f"Increase in error against label noise ({scope})",
            "Increase in error",
            values_by_noise(increase, design.algorithms, "increase in error, %"),
            f"figures/{prefix}increase-in-error.svg",
        ),
    ]
    note = (
        f"Means over the {count(len(shared), 'task')} complete at every rate; the increase is that of the "
        f"mean error, relative to the mean error at {least.short} noise."
    )
    return PictureRow("The effect of label noise", note, pictures)


def _difficulty_row(shown: Sequence[Comparison], focus: str, prefix: str, scope: str) -> PictureRow:
    metric = shown[0].metric
    points = []
    for comparison in shown:
        errors = _errors(comparison.scores, metric)
        others = errors.drop(columns=focus).mean(axis=1)
        kept = others > 0  # an error of 0 cannot be reduced
        reduction = 100 * (1 - errors[focus][kept] / others[kept])
        difficulty = 100 * comparison.scores.drop(columns=focus).mean(axis=1)[kept]
        points.append((f"{comparison.noise.short} noise", difficulty.to_numpy(), reduction.to_numpy()))
    others_named = ", ".join(str(name) for name in shown[0].scores.columns if name != focus)
    picture = _picture(
        f"Error reduction of {focus} against the mean {metric.label} of the others ({scope})",
        "",
        error_reductions(points, f"mean {metric.label} of the others, %", f"error reduction of {focus}, %"),
        f"figures/{prefix}error-reduction.svg",
    )
    note = (
        f"Every point is a task: by how much the error of {focus} is below the mean error of the others "
        f"({others_named}), against their mean {metric.label}. Lines are least-squares fits."
    )
    return PictureRow(f"Error reduction of {focus} by difficulty of the task", note, [picture])
