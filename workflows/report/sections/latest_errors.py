"""Draw metrics over the latest examples along the stream: in a window, and with a fading factor."""

from __future__ import annotations

from ....pipeline.analysis.curves import mean_curves
from ....pipeline.analysis.metrics import Metric
from ..page.blocks import Block, Heading, Panels, Section, Text
from ..page.view import StudyView, fading, latest, spaced
from ..parts.figures import CurvePanel, curve_panels
from ..plots.curve_plots import Axis
from ..plots.svg import shorten
from ..words import wording
from ..words.markup import slug
from ..words.wording import count

# Panels per quantity: enough for a study that compares streams, too few for a benchmark of a hundred tasks.
_MOST_PANELS = 15
_MOST_LEVELS = 3
_ERROR = Axis(y="error, %")


def section(view: StudyView) -> Section | None:
    """Draw windowed metrics and fading errors per data set; return None if the study requests none."""
    study = view.results.study
    blocks: list[Block] = []
    if window := study.get("window"):
        says = f"Share of mistakes (clean labels) among the latest {count(window, 'example')}"
        blocks += _drawn(view, "window_error_clean", "Windowed error", says)
        for metric in view.windowed:
            says = f"{_opening(metric)} among the latest {count(window, 'example')}"
            blocks += _of(view, metric, latest(metric), "Windowed", says)
    if factor := study.get("fading"):
        says = f"Share of mistakes (clean labels), each example counting {factor:g} times as much as the next"
        blocks += _drawn(view, "fading_error_clean", "Fading error", says)
        for metric in view.faded:
            says = f"{_opening(metric)}, each example counting {factor:g} times as much as the next"
            blocks += _of(view, metric, fading(metric), "Fading", says)
    return Section("latest-errors", "Error of the latest examples", blocks) if blocks else None


def _label(metric: Metric) -> str:
    return metric.label.removeprefix("online ")


def _opening(metric: Metric) -> str:
    label = _label(metric)
    # Keep a lower-case kappa: a capital one is another symbol.
    return label[0].upper() + label[1:] if label.isascii() else label


def _of(view: StudyView, metric: Metric, column: str, kind: str, says: str) -> list[Block]:
    label = _label(metric)
    axis = Axis(y=f"{label}, %" if metric.percent else label, zero=metric.percent)
    return _drawn(view, column, f"{kind} {label}", says, axis, f"{kind.lower()}-{metric.name}")


def _drawn(
    view: StudyView, column: str, heading: str, says: str, axis: Axis = _ERROR, file: str = ""
) -> list[Block]:
    levels = spaced(view.design.noise, _MOST_LEVELS)
    shown = view.design.datasets[: max(1, _MOST_PANELS // len(levels))]
    panels = []
    changes = False
    for dataset in shown:
        for noise in levels:
            curves = mean_curves(
                view.curves,
                dataset=dataset,
                noise=noise,
                algorithms=view.drawn,
                column=column,
                from_zero=False,
            )
            if curves:
                changes = changes or any(curve.changes for curve in curves)
                name = f"{shorten(dataset, 24)}, {noise.short} noise"
                panels.append(CurvePanel(f"{heading} on {dataset}, {noise.label}", name, name, curves))
    if not panels:
        return []
    note = f"{says}: {wording.shaded(view.design)}."
    if changes:
        note += " Dashed vertical lines: the stream changes."
    if len(shown) < len(view.design.datasets):
        note += f" Shown: the first {len(shown)} of {count(len(view.design.datasets), 'data set')}."
    drawn: Panels = curve_panels(
        panels, view.styles, axis, heading, f"figures/{slug(file or heading.lower())}.svg"
    )
    return [Heading(heading), Text(note, "soft"), view.legend(view.drawn), drawn]
