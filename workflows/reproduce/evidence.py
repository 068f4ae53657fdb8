"""Read numbers from the results of a paper's studies; raise `NotThere` if a number is missing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import cast

import numpy as np
import pandas as pd
from scipy import stats

from ...pipeline.analysis.curves import CellCurves, Curve, mean_curves
from ...pipeline.analysis.design import Design, evaluation_rows
from ...pipeline.analysis.metrics import METRICS
from ...pipeline.analysis.ranks import block_ranks
from ...pipeline.analysis.study_results import StudyResults
from ...pipeline.analysis.subsets import among
from ...pipeline.noise import Noise
from ..report.page.view import StudyView


class NotThere(Exception):
    """Raised if the results lack a number or a study; the message says what is missing."""


def row_of(frame: pd.DataFrame, name: str) -> pd.Series[float]:
    """Return the row called `name`, typed as a series (by pandas' types it could be several rows)."""
    return cast("pd.Series[float]", frame.loc[name])


def half_width(values: pd.Series[float]) -> float:
    """Return half the width of Student's 95% interval of the mean of `values`."""
    return float(stats.t.ppf(0.975, len(values) - 1) * values.std() / np.sqrt(len(values)))


class StudyEvidence:
    """Read numbers from the results of one study.

    Data sets and algorithms are given by their labels, `noise` as a rate of uniform label noise. A method
    raises `NotThere` if the results lack what it returns. `view` has the same results in the form that the
    sections of a report use.
    """

    def __init__(self, name: str, results: StudyResults) -> None:
        self.name, self.view = name, StudyView(results)

    @property
    def design(self) -> Design:
        """Data sets, algorithms, noise and seeds of the study."""
        return self.view.design

    @property
    def rates(self) -> list[float]:
        """Rates of uniform label noise, in increasing order."""
        return [noise.rate for noise in self.design.noise]

    @cached_property
    def cells(self) -> pd.DataFrame:
        """The finished cells on the study's seeds."""
        return evaluation_rows(self.view.cells, status="ok")

    def datasets(self, part: str = "") -> list[str]:
        """Return the labels of data sets that begin with `part`, such as "usps"; by default all."""
        return [name for name in self.design.datasets if name.startswith(part)]

    def table(
        self,
        metric: str,
        noise: float = 0.0,
        *,
        datasets: Sequence[str] | None = None,
        algorithms: Sequence[str] | None = None,
        least_seeds: int | None = None,
        gaps: bool = False,
        spread: bool = False,
    ) -> pd.DataFrame:
        """Return means over seeds, shape (datasets, algorithms); with `spread` standard deviations (n - 1).

        `metric` is one of `METRICS`; shares such as accuracy are fractions, not percentages. A mean needs
        `least_seeds` seeds, by default all of the study. If it has fewer, the mean is NaN with `gaps`;
        otherwise `NotThere` is raised.
        """
        names = list(self.design.datasets if datasets is None else datasets)
        who = list(self.design.algorithms if algorithms is None else algorithms)
        level = self._noise(noise)
        # Average each algorithm separately, over all seeds that it has finished. Averaging all algorithms at
        # once would be limited to the seeds that all of them have run.
        scores = [
            self.view.averages.scores(METRICS[metric], level, among(self.design, [name]))
            for name in dict.fromkeys(who)
        ]

        def joined(tables: list[pd.DataFrame]) -> pd.DataFrame:
            return pd.concat(tables, axis=1).reindex(index=names, columns=who)

        planned = [len(self.design.seeds_of(name, level)) for name in names]
        least = np.maximum(1, planned if least_seeds is None else least_seeds)
        enough = joined([each.count for each in scores]).fillna(0).ge(least, axis=0)
        mean = joined([each.mean for each in scores]).where(enough)
        if not gaps and (mean.isna().any(axis=None) or mean.empty):
            rows, columns = np.nonzero(mean.isna().to_numpy())
            what = (
                f"{who[columns[0]]} on {names[rows[0]]} is not complete"
                if len(rows)
                else "no data set or no algorithm is selected"
            )
            raise NotThere(f"{self.name}: cannot average {METRICS[metric].label}: {what}")
        return joined([each.sd for each in scores]).where(enough) if spread else mean

    def value(self, metric: str, algorithm: str, dataset: str, noise: float = 0.0) -> float:
        """Return a metric's mean over seeds, for one algorithm on one data set."""
        table = self.table(metric, noise, datasets=[dataset], algorithms=[algorithm])
        return float(table.to_numpy()[0, 0])

    def ranks(
        self, algorithms: Sequence[str], noise: float = 0.0, *, datasets: Sequence[str] | None = None
    ) -> pd.Series[float]:
        """Return mean ranks by test accuracy over data sets, in the order of `algorithms`; 1 is best."""
        table = self.table("test_accuracy", noise, datasets=datasets, algorithms=algorithms)
        return block_ranks(table, METRICS["test_accuracy"].direction).mean(axis=0)

    @cached_property
    def _whole_curves(self) -> CellCurves:
        return self.view.curves_of(self.cells)

    @cached_property
    def curves_so_far(self) -> CellCurves:
        """The curves of all cells; that of a cell stopped at its time limit ends where the cell stopped."""
        return self.view.curves_of(self.view.cells)

    def curves(
        self,
        column: str,
        algorithms: Sequence[str],
        dataset: str,
        noise: float = 0.0,
        *,
        stopped: bool = False,
    ) -> list[Curve]:
        """Return the mean over seeds of a column along the stream, one curve per algorithm.

        `column` is a column of the curves table, such as "mistakes_clean", or "test_error", in percent. With
        `stopped`, cells that were stopped at their time limit are included up to that point. A page
        that uses this must say so.
        """
        found = mean_curves(
            self.curves_so_far if stopped else self._whole_curves,
            dataset=dataset,
            noise=self._noise(noise),
            algorithms=list(algorithms),
            column=column,
            from_zero=column != "test_error",
        )
        there = {each.algorithm for each in found}
        for name in algorithms:
            if name not in there:
                raise NotThere(f"{self.name}: no curve of {name} on {dataset}")
        return found

    def curve(self, column: str, algorithm: str, dataset: str, noise: float = 0.0) -> Curve:
        """Return the mean over seeds of a column along the stream, for one algorithm."""
        return self.curves(column, [algorithm], dataset, noise)[0]

    def at(self, column: str, algorithm: str, dataset: str, t: float, noise: float = 0.0) -> float:
        """Return a curve's value after `t` examples, interpolated; raise `NotThere` outside the curve."""
        curve = self.curve(column, algorithm, dataset, noise)
        if not curve.t[0] <= t <= curve.t[-1]:
            raise NotThere(f"{self.name}: {column} of {algorithm} on {dataset} is not known at {t:,.0f}")
        return float(np.interp(t, curve.t, curve.mean))

    def _noise(self, rate: float) -> Noise:
        for noise in self.design.noise:
            if noise == Noise(rate):
                return noise
        raise NotThere(f"{self.name}: has not been run with {Noise(rate).label}")


class Evidence:
    """The studies of a paper, by the name that its claims and exhibits use.

    In the mapping `studies`, a missing study is replaced by a string with the reason.
    """

    def __init__(self, studies: Mapping[str, StudyEvidence | str]) -> None:
        self._studies = studies

    def __getitem__(self, name: str) -> StudyEvidence:
        """Return a study; raise `NotThere` if it has not been run."""
        found = self._studies[name]
        if isinstance(found, str):
            raise NotThere(found)
        return found

    @property
    def there(self) -> list[StudyEvidence]:
        """The studies that have been run; a study with several names in `studies` is listed once."""
        found = [each for each in self._studies.values() if isinstance(each, StudyEvidence)]
        return list({each.name: each for each in found}.values())

    @property
    def absent(self) -> list[str]:
        """The reasons why studies are missing."""
        return list(dict.fromkeys(each for each in self._studies.values() if isinstance(each, str)))
