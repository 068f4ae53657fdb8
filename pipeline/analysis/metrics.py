"""The metrics that algorithms are compared by; which way is better is part of each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from ..counts import COUNTS, Measure
from .ranks import Direction


@dataclass(frozen=True)
class Metric:
    """One number per cell, and which way is better.

    Attributes
    ----------
    name : str
        Identifier, also the stem of file names.
    label : str
        How it is called in prose, in lower case.
    direction : {"lower", "higher"}
        Which values are better.
    of : callable
        Maps the cells table, shape (n, …), to a Series of n floats; NaN where a cell has no such number.
    percent : bool
        Whether values are shares, shown as percentages.
    decimals : int
        Digits after the point when shown.
    """

    name: str
    label: str
    direction: Direction
    of: Callable[[pd.DataFrame], pd.Series[float]]
    percent: bool = False
    decimals: int = 1

    def digits(self, values: Iterable[float]) -> int:
        """Return the digits after the point with which values that are compared are shown.

        One more than `decimals` for shares of which the best is within a hundredth of 0 or 1: a tenth of a
        point is much there.

        Examples
        --------
        >>> METRICS["test_accuracy"].digits([0.95, 0.98]), METRICS["test_accuracy"].digits([0.95, 0.997])
        (1, 2)
        """
        known = [value for value in values if np.isfinite(value)]
        if not self.percent or not known:
            return self.decimals
        best = max(known) if self.direction == "higher" else min(known)
        return self.decimals + (min(best, 1 - best) < 0.01)

    def show(self, value: float, *, unit: bool = False, digits: int | None = None) -> str:
        """Format one value as the reports print it, with `decimals` digits after the point by default.

        Examples
        --------
        >>> METRICS["test_accuracy"].show(0.9543), METRICS["mistakes_clean"].show(1234.5)
        ('95.4', '1,234.5')
        """
        if not np.isfinite(value):
            return "–"
        digits = self.decimals if digits is None else digits
        text = f"{100 * value if self.percent else value:,.{digits}f}"
        return f"{text}%" if unit and self.percent else text


def _column(name: str) -> Callable[[pd.DataFrame], pd.Series[float]]:
    return lambda cells: cells[name].astype("float64")


def _measured(count: str, measure: Measure) -> Callable[[pd.DataFrame], pd.Series[float]]:
    def of(cells: pd.DataFrame) -> pd.Series[float]:
        per = cells["n_examples"].astype("float64") if measure.per_example else 1.0
        return cells[count].astype("float64") / per / measure.unit

    return of


def _speed(cells: pd.DataFrame) -> pd.Series[float]:
    # A stream too short for the clock took 0 s: no speed rather than an infinite one.
    seconds = cells["fit_seconds"].astype("float64")
    return cells["n_examples"].astype("float64") / seconds.where(seconds > 0)


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
            )
            for count in COUNTS.values()
            for measure in count.measures
        ),
        Metric("examples_per_second", "examples per second", "higher", _speed, decimals=0),
    )
}
