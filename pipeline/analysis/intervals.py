"""Compute confidence intervals of means over tasks that are cut from a few base sets."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from .pairwise import LEVEL
from .ranks import score_levels, score_tolerances

# Fewest base sets for an interval. In simulated studies, 95% intervals from six base sets covered the mean in
# 91 to 94% of cases, those from eight in 93 to 95%.
FEWEST = 8
# Number of bootstrap samples. With 10,000, another random seed moves an end of an interval by about a
# fiftieth of the interval's width.
_DRAWS = 10_000
# Represents infinite differences. Sums of many of them are finite.
_HUGE = 1e300


def mean_intervals(table: pd.DataFrame, sources: Sequence[str]) -> pd.DataFrame | None:
    """Return 95% intervals (columns low and high) of the mean of each column; None below eight base sets.

    `table` has one row per task, such as its ranks, without gaps; `sources` names the base set of each row.

    Base sets are drawn with replacement, each with all its tasks (A. C. Davison, D. V. Hinkley, "Bootstrap
    Methods and Their Application" (1997), section 3.8). The percentiles are moved outwards, as Student's t
    does for small samples (T. Hesterberg, "What Teachers Should Know About the Bootstrap", The American
    Statistician 69 (2015), section 5.3), with the effective number of base sets (A. V. Carter,
    K. T. Schnepel, D. G. Steigerwald, Review of Economics and Statistics 99 (2017)) as sample size.
    """
    codes, names = pd.factorize(np.asarray(sources, dtype=object))
    n = len(names)
    if n < FEWEST:
        return None
    sizes = np.bincount(codes).astype(np.float64)
    sums = np.zeros((n, table.shape[1]))
    np.add.at(sums, codes, table.to_numpy(np.float64))
    # The seed is fixed, so that a report that is made again has the same digits.
    generator = np.random.RandomState(np.random.PCG64(0))
    times = generator.multinomial(n, np.full(n, 1 / n), size=_DRAWS)
    means = (times @ sums) / (times @ sizes)[:, np.newaxis]
    effective = sizes.sum() ** 2 / (sizes**2).sum()
    quantile = float(stats.t.ppf((1 + LEVEL) / 2, max(1.0, effective - 1)))
    outside = float(stats.norm.cdf(-math.sqrt(n / (n - 1)) * quantile))
    low, high = np.quantile(means, [outside, 1 - outside], axis=0)
    return pd.DataFrame({"low": low, "high": high}, index=table.columns)


def level_with_best(table: pd.DataFrame, sources: Sequence[str], *, highest: bool = False) -> pd.Series[bool]:
    """Return which columns do not differ significantly from the column with the best mean.

    The 95% interval of their difference to that column contains 0 (see `mean_intervals`). Below eight base
    sets these are only the best column itself and columns with the same mean.
    """
    means = table.mean().to_numpy(np.float64)
    levels = score_levels(means if highest else -means)
    best, values = int(levels.argmax()), table.to_numpy(np.float64)
    near = np.array([score_tolerances(row) for row in values])
    # A bootstrap sample can leave out an infinite difference, which 0 times infinity cannot express.
    with np.errstate(invalid="ignore"):
        behind = np.clip(values - values[:, [best]], -_HUGE, _HUGE)
    behind[np.abs(behind) <= np.maximum(near, near[:, [best]])] = 0
    found = mean_intervals(pd.DataFrame(behind, table.index, table.columns), sources)
    if found is None:
        return pd.Series(levels == levels.max(), table.columns)
    return (found["low"] <= 0) & (found["high"] >= 0)
