"""Compute the Friedman test over several data sets, and Nemenyi's critical difference of mean ranks.

Both take ranks within data sets, one row per data set (scores already averaged over seeds): J. Demšar,
"Statistical Comparisons of Classifiers over Multiple Data Sets", JMLR 7 (2006). Nemenyi's difference is shown
for comparison only, because its verdict on a pair depends on which other algorithms take part (A. Benavoli,
G. Corani, F. Mangili, "Should We Really Use Post-Hoc Tests Based on Mean-Ranks?", JMLR 17 (2016)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


@dataclass(frozen=True)
class Friedman:
    """The result of the Friedman test and of its Iman–Davenport refinement."""

    # Numbers of data sets and algorithms.
    n: int
    k: int
    # Friedman's statistic, by default corrected for ties, and its p-value (k - 1 degrees of freedom).
    chi2: float
    chi2_p: float
    # Iman and Davenport's F and its p-value; F is infinite if all data sets have the same ranks.
    f: float
    f_p: float
    # Degrees of freedom of F: (k - 1, (k - 1)(n - 1)).
    df: tuple[int, int]

    @property
    def p(self) -> float:
        """Return the p-value that decides: F's, or chi-square's if F is infinite.

        If all data sets have the same ranks, the p-value of F is 0 for any number of data sets. Yet two data
        sets agree on three algorithms by chance once in six times, so the more cautious chi-square decides.
        """
        return self.f_p if math.isfinite(self.f) else self.chi2_p


def friedman(ranks: ArrayLike, *, correct_ties: bool = True) -> Friedman:
    """Test whether the algorithms' ranks differ at all.

    `ranks` has shape (n, k): ranks within each data set, ties averaged. `correct_ties` divides by the share
    of rank variance that ties leave, as R and SciPy do; without it the statistic is Demšar's formula, which
    is too small if there are ties. If all algorithms tie everywhere, the statistic is 0 and the p-value 1.
    Raises ValueError with fewer than two data sets or three algorithms.

    M. Friedman (1937); R. L. Iman and J. M. Davenport (1980); Demšar (2006), section 3.2.2.

    Examples
    --------
    >>> outcome = friedman([[1, 2, 3], [1, 3, 2], [1, 2, 3], [1, 2, 3]])
    >>> round(outcome.chi2, 3), round(outcome.f, 3), outcome.df
    (6.5, 13.0, (2, 6))
    """
    table = np.asarray(ranks, dtype=np.float64)
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 3:
        raise ValueError("the Friedman test needs at least two data sets and three algorithms")
    n, k = table.shape
    means = table.mean(axis=0)
    between = 12 * n / (k * (k + 1)) * (float((means**2).sum()) - k * (k + 1) ** 2 / 4)
    if correct_ties:
        spread = float(((table - (k + 1) / 2) ** 2).sum()) / (n * k * (k * k - 1) / 12)
        between = between / spread if spread > 0 else 0.0
    df = (k - 1, (k - 1) * (n - 1))
    chi2 = max(between, 0.0)
    room = n * (k - 1) - chi2
    # If all data sets have the same ranks, F is infinite, but its denominator `room` may be a rounding error
    # instead of 0.
    f = math.inf if room < 1e-9 * n * (k - 1) else (n - 1) * chi2 / room
    return Friedman(
        n=n,
        k=k,
        chi2=chi2,
        chi2_p=float(stats.chi2.sf(chi2, k - 1)),
        f=f,
        f_p=float(stats.f.sf(f, *df)) if math.isfinite(f) else 0.0,
        df=df,
    )


def nemenyi_difference(k: int, n: int, *, alpha: float = 0.05) -> float:
    """Return Nemenyi's critical difference of mean ranks for k algorithms on n data sets.

    Mean ranks that differ by more are significantly different at the family-wise level `alpha`. Raises
    ValueError with fewer than two algorithms or no data set.

    P. Nemenyi (1963); Demšar (2006), section 3.2.2: CD = q sqrt(k(k + 1)/(6n)), where q is the quantile of
    the studentized range for k groups and infinite degrees of freedom, divided by sqrt 2.
    """
    if k < 2 or n < 1:
        raise ValueError("the critical difference needs at least two algorithms and one data set")
    q = float(stats.studentized_range.ppf(1 - alpha, k, math.inf)) / math.sqrt(2)
    return q * math.sqrt(k * (k + 1) / (6 * n))
