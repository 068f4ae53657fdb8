"""Define the metrics by which algorithms are compared, each with the direction that is better."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..counts import COUNTS, Measure
from ..scoring import BY_FADING, BY_WINDOW, SCORINGS, Direction, Scoring
from .class_measures import CLASS_MEASURES, REFERENCE_OF, ClassCounts, beyond


@dataclass(frozen=True)
class Metric:
    """Define a metric: how to compute it for each cell, which direction is better, and how to print it."""

    # `name`: the identifier, also used in file names. `label`: the metric's name in prose, in lower case.
    name: str
    label: str
    direction: Direction
    # Returns one value for each row of the cells table; NaN if the metric is undefined for the cell.
    of: Callable[[pd.DataFrame], pd.Series[float]]
    # `percent`: whether values are shares, which are shown as percentages. `decimals`: the number of digits
    # shown after the decimal point.
    percent: bool = False
    decimals: int = 1
    # The definition of the metric, which the report prints; empty if the label says enough.
    sentence: str = ""
    # Whether values are shown with a power of ten.
    scientific: bool = False
    # Whether a single cell's value is a whole number, such as mistakes.
    whole: bool = False

    def digits(self, values: Iterable[float]) -> int:
        """Return the number of digits after the point for values that are shown together.

        Shares whose best value is within 0.01 of 0 or 1 get one digit more than `decimals`, because tenths of
        a percent matter there. Whole numbers, such as counts of single runs, get no digits. Otherwise, with
        no `decimals`, a least value below 10 gets two significant digits.
        """
        known = [value for value in values if np.isfinite(value)]
        if self.whole and all(float(value).is_integer() for value in known):
            return 0
        least = min((abs(value) for value in known if value), default=math.inf)
        if not self.decimals and not self.whole and least < 10:
            return 1 - math.floor(math.log10(least))
        if not self.percent or not known:
            return self.decimals
        best = max(known) if self.direction == "higher" else min(known)
        return self.decimals + (min(best, 1 - best) < 0.01)

    def show(self, value: float, *, unit: bool = False, digits: int | None = None) -> str:
        """Format one value as the reports print it, with `decimals` digits after the point by default.

        Losses of learners that diverge can have 300 digits: from 1e15 on a value has a power of ten.
        """
        if not np.isfinite(value):
            return "–" if np.isnan(value) else "∞" if value > 0 else "-∞"
        if digits is None:
            digits = self.decimals or self.digits([value])
        if self.scientific:
            return f"{value:.{digits}e}"
        number = 100 * value if self.percent else value
        text = f"{number:.3e}" if abs(number) >= 1e15 else f"{number:,.{digits}f}"
        return f"{text}%" if unit and self.percent else text


def _column(name: str) -> Callable[[pd.DataFrame], pd.Series[float]]:
    return lambda cells: cells[name].astype("float64")


def _measured(count: str, measure: Measure) -> Callable[[pd.DataFrame], pd.Series[float]]:
    def of(cells: pd.DataFrame) -> pd.Series[float]:
        per = cells["n_examples"].astype("float64") if measure.per_example else 1.0
        return cells[count].astype("float64") / per / measure.unit

    return of


def _speed(cells: pd.DataFrame) -> pd.Series[float]:
    # If a stream is so short that the clock measures 0 s, its speed is NaN rather than infinite.
    seconds = cells["fit_seconds"].astype("float64")
    return cells["n_examples"].astype("float64") / seconds.where(seconds > 0)


def _ram_hours(cells: pd.DataFrame) -> pd.Series[float]:
    return cells["model_bytes"].astype("float64") * cells["fit_seconds"].astype("float64") / 2**30 / 3600


def class_counts(rows: pd.DataFrame, side: str) -> Iterable[tuple[NDArray[np.intp], ClassCounts]]:
    """Yield counts by class for rows of cells or curves, grouped by the number of classes.

    `rows` has the columns of counts by class; rows in which they are None or NaN are skipped. `side` says
    which labels: "clean" (of the stream, before noise), "given" (after noise) or "test". Each item is the
    positions of the rows in the table and their counts.
    """
    names = (f"right_{side}", "predicted", f"occurred_{side}")
    if side == "test":
        names = ("test_right", "test_predicted", "test_occurred")
    lists = [rows[name].tolist() for name in names]
    widths = np.array(
        [min(np.size(x) if np.ndim(x) else 0 for x in each) for each in zip(*lists, strict=True)]
    )
    for width in np.unique(widths[widths > 0]):
        places = np.flatnonzero(widths == width)
        yield places, ClassCounts(*(np.array([each[i] for i in places], np.float64) for each in lists))


def _scored(scoring: Scoring) -> Callable[[pd.DataFrame], pd.Series[float]]:
    """Return the function that computes a metric from rows of cells, or of curves with the same columns."""
    measure, side = scoring.measure, scoring.side
    if scoring.needs != "classes":
        return _column(f"test_{measure}" if side == "test" else f"{measure}_{side}")

    def of(rows: pd.DataFrame) -> pd.Series[float]:
        values = np.full(len(rows), np.nan)
        for places, counts in class_counts(rows, side):
            if scoring.two_classes and counts.right.shape[1] != 2:
                continue
            if measure in REFERENCE_OF:
                reference = rows[f"{REFERENCE_OF[measure]}_{side}"].to_numpy(np.float64)[places]
                values[places] = beyond(counts.right.sum(axis=1), reference, counts.total)
            else:
                values[places] = CLASS_MEASURES[measure](counts)
        return pd.Series(values, rows.index)

    return of


def has_windows(metric: Metric) -> bool:
    """Return whether a metric can have windowed and fading variants; regret and test metrics cannot."""
    scoring = SCORINGS.get(metric.name)
    return scoring is not None and scoring.side != "test" and scoring.needs != "regret"


def windowed(metric: Metric, curves: pd.DataFrame) -> pd.Series[float]:
    """Return a metric over a window of the latest examples, one value per point of the curves."""
    return metric.of(curves.assign(**{name: curves[latest] for latest, name in BY_WINDOW.items()}))


def faded(metric: Metric, curves: pd.DataFrame) -> pd.Series[float]:
    """Return a metric in which older examples weigh less (fading), one value per point of the curves."""
    return metric.of(curves.assign(**{name: curves[latest] for latest, name in BY_FADING.items()}))


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("test_accuracy", "test accuracy", "higher", _column("test_accuracy"), percent=True),
        *(
            Metric(
                measure.name,
                measure.label,
                "lower",
                _measured(count.name, measure),
                percent=measure.percent,
                decimals=measure.decimals,
                whole=not measure.per_example and measure.unit == 1,
            )
            for count in COUNTS.values()
            for measure in count.measures
        ),
        Metric("examples_per_second", "examples per second", "higher", _speed, decimals=0),
        Metric(
            "ram_hours",
            "RAM-hours",
            "lower",
            _ram_hours,
            scientific=True,
            sentence="The size of the model at the end in GiB times the hours of learning.",
        ),
        *(
            Metric(
                scoring.name,
                scoring.label,
                scoring.direction,
                _scored(scoring),
                percent=scoring.percent,
                decimals=scoring.decimals,
                sentence=scoring.sentence,
            )
            for scoring in SCORINGS.values()
        ),
    )
}
