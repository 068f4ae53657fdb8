"""Define `StudyView`, from which all sections of a report read a study's results and derived values."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

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
from ....pipeline.scoring import ALWAYS, SCORINGS, can_rank, is_of_test_part
from ..plots.svg import Styles, styles_of, swatch
from .blocks import Legend

T = TypeVar("T")
# Largest number of data sets that are drawn one by one: with more, a table takes less space than a picture of
# each data set.
_FEW = 4
# With more data sets than this, tables with one row per data set are only written to files, except those of
# test accuracy. In the page, each would add some 50 kB per noise level that hardly anyone reads.
FILES_ONLY_ABOVE = 100


def spaced(values: Sequence[T], most: int) -> list[T]:
    """Return at most `most` (at least 2) of the values, evenly spaced, including the first and the last."""
    if len(values) <= most:
        return list(values)
    places = np.unique(np.linspace(0, len(values) - 1, most).round().astype(int))
    return [values[place] for place in places]


# For each study key that asks for metrics over the latest examples: the function that computes them from the
# curves table.
_LATEST = {"window": windowed, "fading": faded}


def is_error(metric: Metric) -> bool:
    """Return whether a metric is the share of wrong predictions, or of right ones."""
    if metric.name in SCORINGS:
        return SCORINGS[metric.name].measure in ("error", "accuracy")
    return metric.name in ("test_accuracy", "clean_error", "online_error")


def judges_given_labels(metric: Metric) -> bool:
    """Return whether a metric judges predictions by the labels that learners get, not by the clean ones."""
    return metric.name in ("online_error", "mistakes") or metric.name.startswith("given_")


def latest(key: str, metric: Metric) -> str:
    """Name the curves column of a metric over the latest examples; `key` is "window" or "fading"."""
    return f"{key} {metric.name}"


@dataclass(frozen=True, eq=False)
class StudyView:
    """Give the sections of a report a study's results, and values computed from them once.

    A cell of the results is one run: an algorithm on a data set with a noise level and a seed. At least one
    cell must not be for tuning.
    """

    results: StudyResults

    @property
    def cells(self) -> pd.DataFrame:
        """Return the table of results, with one row per cell (one run of an algorithm)."""
        return self.results.cells

    @cached_property
    def finished(self) -> pd.DataFrame:
        """Return the cells that are averaged over seeds in tables and figures.

        For each data set and noise level, these are the cells of algorithms whose cells have all finished, on
        seeds that every algorithm has run.
        """
        return finished_rows(self.cells)

    @cached_property
    def curves(self) -> CellCurves:
        """Return the learning curves of the cells in `finished`; see `curves_of` for their columns."""
        return self.curves_of(self.finished)

    def curves_of(self, rows: pd.DataFrame) -> CellCurves:
        """Return the learning curves of cells, with test error and metrics over the latest examples, in %."""
        curves = self.results.curves
        drawn = {name: 100 * curves[name] for name in LATEST_ERRORS if name in curves}
        drawn["test_error"] = 100 * (1 - curves["test_accuracy"])
        for key, values in _LATEST.items():
            for metric in self.asked_over(key):
                drawn[latest(key, metric)] = (100 if metric.percent else 1) * values(metric, curves)
        return CellCurves(rows, curves.assign(**drawn))

    def asked_over(self, key: str) -> list[Metric]:
        """Return the metrics also computed over the latest examples; none if the study does not set `key`.

        `key` is "window" (equal weights) or "fading" (weights that decrease with age).
        """
        return [each for each in self.asked if has_windows(each) and self.results.study.get(key)]

    @cached_property
    def design(self) -> Design:
        """Return the data sets, algorithms and noise levels in the order in which tables print them."""
        return study_design(self.cells, self.results.study)

    @cached_property
    def coverage(self) -> Coverage:
        """Return how many cells of the study have finished, failed, or not run yet."""
        return study_coverage(self.cells, self.results.planned)

    @cached_property
    def metric(self) -> Metric:
        """Return the metric that ranks the algorithms."""
        return primary_metric(self.cells, self.results.study)

    @cached_property
    def error(self) -> tuple[str, Metric]:
        """Return the name and the metric of the errors that figures draw.

        The metric is the one that ranks the algorithms. If that is no error, it is the test error if all data
        sets have a test part, otherwise the online error.
        """
        metric = self.metric
        if not is_error(metric):
            tested = self.cells.groupby("dataset")["test_accuracy"].count().gt(0).all()
            metric = METRICS["test_accuracy" if tested else "clean_error"]
        if is_of_test_part(metric.name):
            return "test error", metric
        return f"online error{' (given labels)' if judges_given_labels(metric) else ''}", metric

    def errors(self, noise: Noise, part: Design) -> pd.DataFrame:
        """Return mean errors in %, data sets by algorithms; NaN if a cell is missing, failed or stopped."""
        _, metric = self.error
        scores = self.averages.scores(metric, noise, part)
        mean = scores.mean.where(scores.complete)
        return 100 * (1 - mean if metric.direction == "higher" else mean)

    @cached_property
    def asked(self) -> list[Metric]:
        """Return the metrics that the study requests, the ranking one first."""
        return asked_metrics(self.results.study)

    @cached_property
    def averages(self) -> Averages:
        """Return the object that averages metrics over seeds, for tables, ranks and tests alike."""
        return Averages(self.cells)

    @cached_property
    def comparisons(self) -> list[Comparison]:
        """Return the comparisons of all algorithms by the ranking metric, one per noise level."""
        return self.compared(self.metric, self.design)

    @cached_property
    def other_comparisons(self) -> list[list[Comparison]]:
        """Return a list for each further metric with a rank table: its comparisons, one per noise level."""
        names = ("clean_error", "online_error") if self.noisy else ("clean_error",)
        others = [METRICS[name] for name in names]
        if self.asked:
            others = [each for each in self.asked if can_rank(each.name) and self.averages.measured(each)]
        return [self.compared(metric, self.design) for metric in others if metric is not self.metric]

    def compared(self, metric: Metric, part: Design) -> list[Comparison]:
        """Compare the algorithms by a metric on `part` of the study, once for each of its noise levels."""
        return [compare(self.averages, metric, noise, part) for noise in part.noise]

    def comparisons_of(self, metric: str | None, noise: object) -> list[Comparison]:
        """Compare all algorithms by a metric at a noise level that the user names.

        `metric` None means the report's ranking metric, `noise` None all noise levels. Raises InputError if
        the study lacks the metric or the level.
        """
        levels = self.levels(noise)
        if metric is None or metric == self.metric.name:
            found = self.comparisons
        elif str(metric) not in METRICS:
            raise InputError(f"metric: there is no {metric!r}: {did_you_mean(metric, METRICS)}")
        elif not can_rank(metric):
            raise InputError(
                f"metric: {metric!r} cannot rank algorithms, because it compares each with "
                "other weights: the best ones of at most the norm of its own weights; name another metric"
            )
        elif not self.averages.measured(METRICS[metric]):
            if metric in ALWAYS or METRICS[metric] in self.asked:
                raise InputError(
                    f"metric {metric!r}: no finished cell has a value of it; name another metric"
                )
            raise InputError(
                f'metric {metric!r} was not measured: name it in the study, metrics = ["{metric}"]'
            )
        else:
            found = self.compared(METRICS[metric], self.design)
        return [each for each in found if each.noise in levels]

    def levels(self, noise: object) -> list[Noise]:
        """Return the noise level that the user names, in a list; all levels of the study for None.

        The level is a rate, a table as in a study file, or a text: a rate or a `Noise.slug`. Raises
        InputError if the study has no such level.
        """
        known = self.design.noise
        if noise is None:
            return known
        try:
            wanted = noise if isinstance(noise, str) else parse_noise(noise).slug
        except ValueError as error:
            raise InputError(f"noise: {error}") from None
        with suppress(ValueError):
            wanted = Noise(float(wanted)).slug
        levels = {each.slug: each for each in known}
        if wanted not in levels:
            raise InputError(f"noise: the study has no level {wanted}: it has {', '.join(levels)}")
        return [levels[wanted]]

    @property
    def noisy(self) -> bool:
        """Return whether given labels differ from clean labels at some noise level."""
        return any(noise.rate > 0 and noise.relabels for noise in self.design.noise)

    @property
    def single(self) -> bool:
        """Return whether there is one data set, so that tables have one row per algorithm."""
        return len(self.design.datasets) == 1

    @property
    def few(self) -> bool:
        """Return whether there are few enough data sets to draw each one."""
        return len(self.design.datasets) <= _FEW

    @property
    def many(self) -> bool:
        """Return whether tables with one row per task are left out of the page and only written to files."""
        return len(self.design.datasets) > FILES_ONLY_ABOVE

    @cached_property
    def styles(self) -> Styles:
        """Return color, mark and dash of every algorithm, the same in all figures."""
        return styles_of(self.design.algorithms)

    @cached_property
    def swatches(self) -> dict[str, str]:
        """Return a drawing of every algorithm's line, for legends."""
        return {name: swatch(style) for name, style in self.styles.items()}

    def legend(self, names: Sequence[str]) -> Legend:
        """Return the page's legend of the algorithms in `names`, in the study's order."""
        return Legend([(name, svg) for name, svg in self.swatches.items() if name in names])

    @cached_property
    def drawn(self) -> list[str]:
        """Return the algorithms whose curves are drawn: those in the study's key `curves`, by default all."""
        asked = self.results.study.get("curves") or self.design.algorithms
        return [name for name in self.design.algorithms if name in asked]
