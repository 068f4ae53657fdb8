"""Read numbers from the results of the studies that repeat a paper; raise `NotThere` if one is missing."""

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
    """Return the row called `name`, typed as a series; pandas' own type allows several rows of that name."""
    return cast("pd.Series[float]", frame.loc[name])


def half_width(values: pd.Series[float]) -> float:
    """Return half the width of the 95% confidence interval (Student's t) of the mean of `values`.

    NaN is left out. Raise `NotThere` if there are fewer than two values.
    """
    known = values.dropna()
    if len(known) < 2:
        raise NotThere(f"a 95% interval needs two values, but the results have {len(known)}")
    return float(stats.t.ppf(0.975, len(known) - 1) * known.std() / np.sqrt(len(known)))


class StudyEvidence:
    """Read numbers from the results of one study.

    Methods take data sets and algorithms by their labels, and `noise` as a rate of uniform label noise. A
    method raises `NotThere` if the results lack the numbers that it should return. The attribute `view` has
    the same results in the form that sections of a report use.
    """

    def __init__(self, name: str, results: StudyResults) -> None:
        self.name, self.view = name, StudyView(results)

    @property
    def design(self) -> Design:
        """What the study compares: its data sets, algorithms, noise and seeds."""
        return self.view.design

    @property
    def rates(self) -> list[float]:
        """The study's rates of label noise, in increasing order."""
        return [noise.rate for noise in self.design.noise]

    @cached_property
    def cells(self) -> pd.DataFrame:
        """The finished cells (runs of an algorithm on a data set), without those that tune parameters."""
        return evaluation_rows(self.view.cells, status="ok")

    @cached_property
    def lacking(self) -> str:
        """How many of the study's cells were not run, as a sentence; "" if it was run to its end."""
        coverage = self.view.coverage
        if not coverage.missing:
            return ""
        return f"{self.name}: {coverage.missing:,} of {coverage.planned:,} cells were not run"

    @cached_property
    def has_repetition(self) -> bool:
        """Whether all cells of some seed were run, and all cells that tune parameters."""
        by_seed = evaluation_rows(self.view.cells).groupby("seed").size()
        whole = by_seed.max() * len(self.design.seeds)
        return bool(by_seed.sum() + self.view.coverage.missing == whole)

    def datasets(self, part: str = "") -> list[str]:
        """Return the data sets whose label begins with `part`, such as "usps"; by default all data sets."""
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
        """Return a metric's means over seeds, shape (datasets, algorithms).

        With `spread`, return standard deviations (n - 1) instead. `metric` is one of `METRICS`; accuracies
        are fractions, not percentages. A mean needs results of `least_seeds` seeds, by default of all the
        study's seeds. If there are fewer, `NotThere` is raised; with `gaps`, the mean is NaN instead.
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
            what = "no data set or no algorithm is selected"
            if len(rows):
                what = f"{who[columns[0]]} on {names[rows[0]]} is not complete"
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
        """The curves of all cells; if a cell was stopped at its time limit, its curve ends at that point."""
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
        """Return one curve per algorithm: a column's mean over seeds, by number of examples learned.

        `column` is a column of the curves table, such as "mistakes_clean", or "test_error", in percent. With
        `stopped`, cells that were stopped at their time limit are included up to that point. A page that
        shows such curves must say that cells were stopped.
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
                raise NotThere(f"{self.name}: no curve of {column} of {name} on {dataset}")
        return found

    def curve(self, column: str, algorithm: str, dataset: str, noise: float = 0.0) -> Curve:
        """Return one algorithm's curve: a column's mean over seeds, by number of examples learned."""
        return self.curves(column, [algorithm], dataset, noise)[0]

    def at(self, column: str, algorithm: str, dataset: str, t: float, noise: float = 0.0) -> float:
        """Return a curve's interpolated value after `t` examples; raise `NotThere` if `t` is outside it."""
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
    """The results of a paper's studies, by the names that the code of its claims and exhibits uses.

    In the mapping `studies`, a study without results is replaced by a string that says why it has none.
    """

    def __init__(self, studies: Mapping[str, StudyEvidence | str]) -> None:
        self._studies = studies

    def __getitem__(self, name: str) -> StudyEvidence:
        """Return the results of a study by its name; raise `NotThere` if it has not been run."""
        found = self._studies[name]
        if isinstance(found, str):
            raise NotThere(found)
        return found

    def judgeable(self, *, repetitions: bool = False) -> Evidence:
        """Return the evidence for claims: without the studies that were not run to their end.

        With `repetitions`, a study is kept if at least one of its repetitions is complete.
        """

        def kept(found: StudyEvidence | str) -> StudyEvidence | str:
            if isinstance(found, str) or (repetitions and found.has_repetition):
                return found
            return found.lacking or found

        return Evidence({name: kept(found) for name, found in self._studies.items()})

    @property
    def there(self) -> list[StudyEvidence]:
        """The studies that have been run; a study that `studies` has under several names is listed once."""
        found = [each for each in self._studies.values() if isinstance(each, StudyEvidence)]
        return list({each.name: each for each in found}.values())

    @property
    def absent(self) -> list[str]:
        """For each study without results, the sentence that says why it has none."""
        return list(dict.fromkeys(each for each in self._studies.values() if isinstance(each, str)))
