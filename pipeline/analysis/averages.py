"""Average cells over seeds into tables of means and spread, and list missing seeds."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from ..noise import Noise
from ..scoring import can_rank, is_of_test_part
from .design import Design, evaluation_rows, shared_seeds
from .metrics import METRICS, Metric
from .pairwise import LEVEL
from .progress import Shortfall, shortfalls
from .ranks import NOT_THERE, DroppedBlock, score_levels, snap_behind


def asked_metrics(study: Mapping[str, Any]) -> list[Metric]:
    """Return the known metrics that a study requests; the metric used for ranking comes first."""
    names = [name for name in study.get("metrics") or [] if name in METRICS]
    first = study.get("rank_by")
    return [METRICS[name] for name in sorted(names, key=lambda name: name != first)]


def primary_metric(cells: pd.DataFrame, study: Mapping[str, Any]) -> Metric:
    """Return the metric by which algorithms are ranked.

    It is the one that the study sets. If the study sets none, it is test accuracy if that was measured, and
    otherwise the online error against the labels before noise.
    """
    # Studies of earlier versions may name a metric that is no longer allowed for ranking: skip it.
    if asked := [metric for metric in asked_metrics(study) if can_rank(metric.name)]:
        return asked[0]
    measured = bool(evaluation_rows(cells, status="ok")["test_accuracy"].notna().any())
    return METRICS["test_accuracy" if measured else "clean_error"]


def deviations(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the standard deviation (n - 1) of each column; huge values are scaled before squaring."""
    size = np.abs(values).max(axis=0)
    scale = np.where((size > 1e100) & (size < np.inf), size, 1.0)
    with np.errstate(invalid="ignore"):
        return np.asarray((values / scale).std(axis=0, ddof=1) * scale)


@dataclass(frozen=True)
class Scores:
    """The means over seeds of one metric at one noise rate; rows are data sets, columns algorithms."""

    # Mean and standard deviation (n - 1) over the seeds that all algorithms have run on a data set. The mean
    # is NaN if no seed has a value, the deviation is NaN if fewer than two have one.
    mean: pd.DataFrame
    sd: pd.DataFrame
    # Number of seeds averaged.
    count: pd.DataFrame
    # Whether the mean is comparable: it covers all shared seeds, and no cell failed or was stopped.
    complete: pd.DataFrame
    # For (data set, algorithm): what is missing, such as "seeds 3, 4" if these have not run or failed,
    # "undefined at seed 3", "no test part" or "does not run there".
    missing: dict[tuple[str, str], str]
    # The (data set, algorithm) with a finished cell for which the metric is undefined.
    undefined: set[tuple[str, str]]
    # The values that are averaged: rows are (data set, seed), columns algorithms.
    by_seed: pd.DataFrame

    def paired(self, *, highest: bool) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Compare each mean with the best complete mean of its data set, over the same seeds.

        Returns two arrays with a row per data set and a column per algorithm. The first has the standard
        error of the mean difference to the best; NaN for the best itself, and below two seeds. The second
        says whether the 95% interval of that difference (Student's t) contains 0; true for the best. The
        interval covers the randomness of row orders, splits and label
        noise, not the choice of data sets.
        """
        means, complete = self.mean.to_numpy(np.float64), self.complete.to_numpy(bool)
        errors, level = np.full(means.shape, np.nan), np.zeros(means.shape, bool)
        values = self.by_seed.reindex(columns=self.mean.columns)
        for row, dataset in enumerate(self.mean.index):
            known = complete[row] & np.isfinite(means[row])
            if not known.any():
                continue
            keyed = np.where(known, means[row] if highest else -means[row], -np.inf)
            best = int(score_levels(keyed).argmax())
            seeds = values.loc[dataset].to_numpy(np.float64)
            behind = snap_behind(seeds, best)
            n = len(seeds)
            if n > 1:
                errors[row] = deviations(behind) / np.sqrt(n)
            reach = stats.t.ppf((1 + LEVEL) / 2, n - 1) * errors[row] if n > 1 else np.zeros(len(known))
            level[row] = known & (np.abs(behind.mean(axis=0)) <= reach)
            errors[row, best] = np.nan
        return errors, level

    def complete_blocks(self, algorithms: list[str]) -> tuple[pd.DataFrame, list[DroppedBlock]]:
        """Return the scores of the data sets that all `algorithms` finished, and the data sets left out.

        A data set with a failed or stopped cell is left out. The mean without this cell would cover fewer
        seeds, that is, other row orders and other noisy labels, and would not be comparable.
        """
        complete = self.complete[algorithms].all(axis=1)
        dropped = [
            DroppedBlock(
                dataset,
                {name: self.missing[dataset, name] for name in algorithms if (dataset, name) in self.missing},
            )
            for dataset in self.mean.index[~complete]
        ]
        return self.mean.loc[complete, algorithms], dropped


def _lacking(seeds: list[int], present: set[int]) -> str:
    absent = [seed for seed in seeds if seed not in present]
    if len(absent) == len(seeds):
        return "all seeds"
    shown = ", ".join(str(seed) for seed in absent[:5])
    more = f" and {len(absent) - 5} more" if len(absent) > 5 else ""
    return f"seed{'s' if len(absent) > 1 else ''} {shown}{more}"


@dataclass(frozen=True)
class _Tables:
    """Means over seeds for one metric, noise rate and list of algorithms, on all data sets."""

    mean: pd.DataFrame
    sd: pd.DataFrame
    count: pd.DataFrame
    complete: pd.DataFrame
    # For (data set, algorithm): the seeds that have a value, and those whose cells finished.
    seeds: dict[tuple[str, str], set[int]]
    finished: dict[tuple[str, str], set[int]]
    # The data sets with a test part.
    tested: set[str]
    # The values that are averaged: rows are (data set, seed), columns algorithms.
    by_seed: pd.DataFrame


class Averages:
    """Average the metrics of a cells table over seeds, and cache the averages for all parts of a report."""

    def __init__(self, cells: pd.DataFrame) -> None:
        # Sort the rows: the order in the store may vary, and sums of floats depend on the order.
        self._rows = evaluation_rows(cells).sort_values(["dataset", "algorithm", "seed"])
        self._measured: dict[str, set[str]] = {}
        # `_parts` caches, by (noise, algorithms), the cells with a column "shared", which marks the seeds
        # that all these algorithms have run. `_tables` caches, by (metric, noise, algorithms), means over
        # these seeds.
        self._parts: dict[tuple[str, tuple[str, ...]], pd.DataFrame] = {}
        self._tables: dict[tuple[str, str, tuple[str, ...]], _Tables] = {}

    def measured(self, metric: Metric) -> set[str]:
        """Return the algorithms that have any value of a metric, at any noise rate."""
        if metric.name not in self._measured:
            rows = self._rows[self._rows["status"] == "ok"]
            self._measured[metric.name] = set(rows.loc[metric.of(rows).notna(), "algorithm"].unique())
        return self._measured[metric.name]

    def scores(self, metric: Metric, noise: Noise, design: Design) -> Scores:
        """Average one metric over seeds for every data set and algorithm at one noise rate."""
        tables = self._of(metric, noise, tuple(design.algorithms))

        def part(table: pd.DataFrame) -> pd.DataFrame:
            return table.reindex(index=design.datasets, columns=design.algorithms)

        missing: dict[tuple[str, str], str] = {}
        undefined: set[tuple[str, str]] = set()
        for dataset, algorithm in itertools.product(design.datasets, design.algorithms):
            pair, expected = (dataset, algorithm), design.seeds_of(dataset, noise)
            finished, valued = tables.finished.get(pair, set()), tables.seeds.get(pair, set())
            if finished > valued:
                undefined.add(pair)
            if not finished and not design.runs(algorithm, dataset):
                missing[pair] = NOT_THERE
            elif finished and is_of_test_part(metric.name) and dataset not in tables.tested:
                missing[pair] = "no test part"
            elif len(valued) < len(expected):
                absent = [_lacking(expected, finished)] if len(finished) < len(expected) else []
                if finished > valued:
                    absent.append(f"undefined at {_lacking(expected, {*expected} - (finished - valued))}")
                missing[pair] = ", ".join(absent)
        return Scores(
            mean=part(tables.mean),
            sd=part(tables.sd),
            count=part(tables.count).fillna(0).astype("int64"),
            complete=part(tables.complete) == 1,
            missing=missing,
            undefined=undefined,
            by_seed=tables.by_seed,
        )

    def shortfalls(self, noise: Noise, design: Design) -> dict[tuple[str, str], Shortfall]:
        """Return the progress of each algorithm on each data set that it has not finished."""
        return shortfalls(self._rows, noise, design)

    def long_table(self, metric: Metric, design: Design) -> pd.DataFrame:
        """Return means over seeds, one row per (data set, noise, algorithm) with a result.

        Column sd has the standard deviation (n - 1), se_to_best the standard error of `Scores.paired`.
        """
        parts = []
        for noise in design.noise:
            table = self.scores(metric, noise, design)
            errors, _ = table.paired(highest=metric.direction == "higher")
            index = pd.MultiIndex.from_product(
                [design.datasets, design.algorithms], names=["dataset", "algorithm"]
            )
            part = pd.DataFrame(
                {
                    "noise": noise.slug,
                    "seeds": table.count.to_numpy().ravel(),
                    "mean": table.mean.to_numpy().ravel(),
                    "sd": table.sd.to_numpy().ravel(),
                    "se_to_best": errors.ravel(),
                },
                index=index,
            ).reset_index()
            parts.append(part[part["seeds"] > 0])
        columns = ["dataset", "noise", "algorithm", "seeds", "mean", "sd", "se_to_best"]
        return pd.concat(parts, ignore_index=True)[columns] if parts else pd.DataFrame(columns=columns)

    def _of(self, metric: Metric, noise: Noise, algorithms: tuple[str, ...]) -> _Tables:
        key = metric.name, noise.slug, algorithms
        if key not in self._tables:
            if key[1:] not in self._parts:
                named = self._rows["algorithm"].isin(algorithms)
                rows = self._rows[named & (self._rows["noise"] == noise.slug)]
                self._parts[key[1:]] = rows.assign(shared=shared_seeds(rows))
            self._tables[key] = _averaged(self._parts[key[1:]], metric)
        return self._tables[key]


def _averaged(rows: pd.DataFrame, metric: Metric) -> _Tables:
    values = rows[["dataset", "algorithm", "seed", "shared"]].assign(value=np.nan)
    finished = rows["status"] == "ok"
    values.loc[finished, "value"] = metric.of(rows[finished])
    whole = values["value"].notna().groupby([values["dataset"], values["algorithm"]]).all()
    values = values.dropna(subset=["value"])
    averaged = values[values["shared"]]
    groups = averaged.groupby(["dataset", "algorithm"])["value"]
    by_seed = averaged.pivot(index=["dataset", "seed"], columns="algorithm", values="value")
    count, sd = groups.count(), groups.std(ddof=1)
    for group in sd.index[np.isinf(sd)]:
        sd[group] = deviations(groups.get_group(group).to_numpy(np.float64))
    complete = whole & (count.reindex(whole.index) > 0)

    def table(reduced: pd.Series[Any]) -> pd.DataFrame:
        wide = reduced.unstack() if len(reduced) else pd.DataFrame()
        return wide.astype("float64")

    return _Tables(
        mean=table(groups.mean()),
        sd=table(sd),
        count=table(count),
        complete=table(complete),
        seeds=_seeds(values),
        finished=_seeds(rows[finished]),
        tested=set(rows.loc[finished & rows["test_accuracy"].notna(), "dataset"]),
        by_seed=by_seed,
    )


def _seeds(rows: pd.DataFrame) -> dict[tuple[str, str], set[int]]:
    """Return the seeds of each (data set, algorithm) in `rows`."""
    seeds: dict[tuple[str, str], set[int]] = {}
    columns = (rows[name].tolist() for name in ("dataset", "algorithm", "seed"))
    for dataset, algorithm, seed in zip(*columns, strict=True):
        seeds.setdefault((dataset, algorithm), set()).add(seed)
    return seeds
