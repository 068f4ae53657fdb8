"""A study's results as the sections of its report see them: what several of them need is worked out once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from ....pipeline.analysis.averages import Averages, asked_metrics, primary_metric
from ....pipeline.analysis.comparison import Comparison, compare
from ....pipeline.analysis.curves import CellCurves
from ....pipeline.analysis.design import Coverage, Design, study_coverage, study_design
from ....pipeline.analysis.metrics import METRICS, Metric, faded, has_windows, windowed
from ....pipeline.analysis.progress import finished_rows
from ....pipeline.analysis.study_results import StudyResults
from ....pipeline.counts import LATEST_ERRORS
from ....pipeline.errors import InputError, did_you_mean
from ....pipeline.noise import Noise, parse_noise
from ....pipeline.scoring import can_rank
from ..plots.legends import swatch
from ..plots.styles import Styles, styles_of
from .blocks import Legend

# From five data sets on the tables say it in less room than a picture of each.
_FEW = 4
# With more tasks the page shows their accuracies only: every further table of a row a task and noise level
# adds some 50 kB, which nobody reads in a page.
FILES_ONLY_ABOVE = 100


def spaced(levels: Sequence[Noise], most: int) -> list[Noise]:
    """Return at most `most` of the levels, evenly spaced, the first and the last among them.

    Parameters
    ----------
    levels : sequence of Noise
        In their order.
    most : int
        At least 2.

    Returns
    -------
    list of Noise
    """
    if len(levels) <= most:
        return list(levels)
    places = np.unique(np.linspace(0, len(levels) - 1, most).round().astype(int))
    return [levels[place] for place in places]


def latest(metric: Metric) -> str:
    """Return the column of `StudyView.curves` with a metric's values among the latest examples."""
    return f"latest {metric.name}"


def fading(metric: Metric) -> str:
    """Return the column of `StudyView.curves` with a metric's values with the study's fading factor."""
    return f"fading {metric.name}"


@dataclass(frozen=True, eq=False)
class StudyView:
    """The results of a study and what is made of them.

    Attributes
    ----------
    results : StudyResults
        Cells, curves and metadata; at least one cell on the study's seeds.
    """

    results: StudyResults

    @property
    def cells(self) -> pd.DataFrame:
        """The store's cells table."""
        return self.results.cells

    @cached_property
    def finished(self) -> pd.DataFrame:
        """The cells that means over seeds are made of; see `finished_rows`."""
        return finished_rows(self.cells)

    @cached_property
    def curves(self) -> CellCurves:
        """The curves of the finished cells; see `curves_of`."""
        return self.curves_of(self.finished)

    def curves_of(self, rows: pd.DataFrame) -> CellCurves:
        """Return the curves of cells, with test error and figures of the latest examples, in percent."""
        curves = self.results.curves
        drawn = {name: 100 * curves[name] for name in LATEST_ERRORS if name in curves}
        drawn["test_error"] = 100 * (1 - curves["test_accuracy"])
        for metric in self.windowed:
            drawn[latest(metric)] = (100 if metric.percent else 1) * windowed(metric, curves)
        for metric in self.faded:
            drawn[fading(metric)] = (100 if metric.percent else 1) * faded(metric, curves)
        return CellCurves(rows, curves.assign(**drawn))

    @property
    def windowed(self) -> list[Metric]:
        """The metrics that the study asks for, as far as they are measured in its windows too."""
        return self._along if self.results.study.get("window") else []

    @property
    def faded(self) -> list[Metric]:
        """Likewise, with its fading factor."""
        return self._along if self.results.study.get("fading") else []

    @property
    def _along(self) -> list[Metric]:
        return [metric for metric in self.asked if has_windows(metric)]

    @cached_property
    def design(self) -> Design:
        """What is compared, in the order that tables print it."""
        return study_design(self.cells, self.results.study)

    @cached_property
    def coverage(self) -> Coverage:
        """How much of the study is there."""
        return study_coverage(self.cells, self.results.planned)

    @cached_property
    def metric(self) -> Metric:
        """What algorithms are judged by."""
        return primary_metric(self.cells, self.results.study)

    @cached_property
    def asked(self) -> list[Metric]:
        """The metrics that the study asks for, the one that ranks first."""
        return asked_metrics(self.results.study)

    @cached_property
    def averages(self) -> Averages:
        """Means over seeds, which tables, ranks and tests share."""
        return Averages(self.cells)

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """By the metric that the report judges by, one per noise rate."""
        return self.compared(self.metric, self.design)

    @cached_property
    def other_comparisons(self) -> list[list[Comparison]]:
        """By further metrics of which ranks are shown, each one per noise rate."""
        names = ("clean_error", "online_error") if self.noisy else ("clean_error",)
        others = [METRICS[name] for name in names]
        if self.asked:
            others = [each for each in self.asked if can_rank(each.name) and self.averages.measured(each)]
        return [self.compared(metric, self.design) for metric in others if metric is not self.metric]

    def compared(self, metric: Metric, part: Design) -> list[Comparison]:
        """Compare a part of the study, at every noise rate.

        Parameters
        ----------
        metric : Metric
            What to compare by.
        part : Design
            Some of the study's data sets and algorithms.

        Returns
        -------
        list of Comparison
            One per noise rate of the part.
        """
        return [compare(self.averages, metric, noise, part) for noise in part.noise]

    def comparisons_of(self, metric: str | None, noise: object) -> list[Comparison]:
        """Compare all algorithms by a metric at a noise level, each as a user names it.

        Parameters
        ----------
        metric : str or None
            One that the study measured; None: the one that the report judges by.
        noise : float, dict, Noise or None
            See `levels`.

        Returns
        -------
        list of Comparison
            One per noise level.

        Raises
        ------
        InputError
            There is no such metric or level.
        """
        levels = self.levels(noise)
        if metric is None or metric == self.metric.name:
            found = self.comparisons
        elif metric not in METRICS:
            raise InputError(f"metric: there is no {metric!r}: {did_you_mean(metric, METRICS)}")
        elif not can_rank(metric):
            raise InputError(
                f"metric: {metric!r} cannot rank: it compares each learner with weights of that learner's "
                "own norm; name another metric"
            )
        elif not self.averages.measured(METRICS[metric]):
            raise InputError(
                f'metric {metric!r} was not measured: name it in the study, metrics = ["{metric}"]'
            )
        else:
            found = self.compared(METRICS[metric], self.design)
        return [each for each in found if each.noise in levels]

    def levels(self, noise: object) -> list[Noise]:
        """Return a noise level of the study as a user writes it, or all of them.

        Parameters
        ----------
        noise : float, dict, Noise or None
            As in a study; None: all levels.

        Returns
        -------
        list of Noise

        Raises
        ------
        InputError
            The study has no such level.
        """
        known = self.design.noise
        if noise is None:
            return known
        try:
            wanted = parse_noise(noise)
        except ValueError as error:
            raise InputError(f"noise: {error}") from None
        if wanted not in known:
            levels = ", ".join(each.slug for each in known)
            raise InputError(f"noise: the study has no level {wanted.slug}: it has {levels}")
        return [wanted]

    @property
    def noisy(self) -> bool:
        """Whether labels given and clean labels differ."""
        return any(noise.rate > 0 and noise.relabels for noise in self.design.noise)

    @property
    def single(self) -> bool:
        """Whether there is one data set, so that tables have a row an algorithm."""
        return len(self.design.datasets) == 1

    @property
    def few(self) -> bool:
        """Whether every data set can be shown on its own."""
        return len(self.design.datasets) <= _FEW

    @property
    def many(self) -> bool:
        """Whether tables of a row a task are left to their files."""
        return len(self.design.datasets) > FILES_ONLY_ABOVE

    @cached_property
    def styles(self) -> Styles:
        """Colour, mark and dash of every algorithm, in all figures."""
        return styles_of(self.design.algorithms)

    @cached_property
    def swatches(self) -> dict[str, str]:
        """A drawing of every algorithm's line, for legends."""
        return {name: swatch(style) for name, style in self.styles.items()}

    def legend(self, names: Sequence[str]) -> Legend:
        """Return the page's legend of some algorithms.

        Parameters
        ----------
        names : sequence of str
            The algorithms; others are left out.

        Returns
        -------
        Legend
            In the study's order.
        """
        return Legend([(name, svg) for name, svg in self.swatches.items() if name in names])

    @cached_property
    def drawn(self) -> list[str]:
        """The algorithms whose curves are drawn."""
        asked = self.results.study.get("curves") or self.design.algorithms
        return [name for name in self.design.algorithms if name in asked]
