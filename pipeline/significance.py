"""Tests for several classifiers on several data sets: Friedman, Wilcoxon–Holm, Nemenyi.

Every test takes one row per data set (scores already averaged over seeds): J. Demšar, "Statistical
Comparisons of Classifiers over Multiple Data Sets", JMLR 7 (2006). Wilcoxon–Holm is the main post-hoc test,
because Nemenyi's verdict on a pair depends on which other algorithms take part (A. Benavoli, G. Corani,
F. Mangili, "Should We Really Use Post-Hoc Tests Based on Mean-Ranks?", JMLR 17 (2016)).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from .ranks import Direction
from .signed_rank import signed_rank


@dataclass(frozen=True)
class Friedman:
    """Outcome of the Friedman test and of its Iman–Davenport refinement.

    Attributes
    ----------
    n, k : int
        Data sets and algorithms.
    chi2, chi2_p : float
        Friedman's statistic, corrected for ties unless asked otherwise, and its p-value (k - 1 degrees of
        freedom).
    f, f_p : float
        Iman and Davenport's F and its p-value; F is infinite when every data set ranks alike.
    df : tuple of int
        Degrees of freedom of F: (k - 1, (k - 1)(n - 1)).
    """

    n: int
    k: int
    chi2: float
    chi2_p: float
    f: float
    f_p: float
    df: tuple[int, int]

    @property
    def p(self) -> float:
        """The p-value that decides: F's, or chi-square's where F is infinite.

        When all data sets agree F's denominator vanishes and its p-value is 0 however few they are (two data
        sets agree on three algorithms by chance once in six times), so chi-square, the cautious one, decides.
        """
        return self.f_p if math.isfinite(self.f) else self.chi2_p


def friedman(ranks: ArrayLike, *, correct_ties: bool = True) -> Friedman:
    """Test whether the algorithms' ranks differ at all.

    Parameters
    ----------
    ranks : array_like of float, shape (n, k)
        Ranks within each data set, ties averaged; n >= 2, k >= 3.
    correct_ties : bool, default=True
        Divide by the share of rank variance that ties leave, as R and SciPy do. Without it the statistic is
        Demšar's formula, which ties make too small.

    Returns
    -------
    Friedman
        Both statistics with their p-values; when all algorithms tie everywhere, statistic 0 and p-value 1.

    Raises
    ------
    ValueError
        With fewer than two data sets or fewer than three algorithms.

    Notes
    -----
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
    # All data sets ranking alike leaves `room` at rounding error, not at exactly 0.
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


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values by Holm's step-down procedure, which bounds the chance of any false claim.

    Parameters
    ----------
    p_values : sequence of float
        The p-values of one family of tests.

    Returns
    -------
    list of float
        Adjusted p-values in the order given: significant at level a exactly if <= a.

    Notes
    -----
    S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (1979).

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        running = max(running, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, running)
    return adjusted


@dataclass(frozen=True)
class PairTest:
    """One pair of algorithms under Wilcoxon–Holm.

    Attributes
    ----------
    first, second : str
        The algorithms.
    wins, ties, losses : int
        Data sets on which `first` is better than, level with and worse than `second`.
    difference : float
        Mean over data sets of first minus second, in the metric's own unit and sign.
    statistic, p, p_holm : float
        Wilcoxon's rank sum in favour of `first`, its p-value, and that adjusted for all pairs.
    """

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    difference: float
    statistic: float
    p: float
    p_holm: float


def wilcoxon_holm(scores: ArrayLike, names: Sequence[str], direction: Direction) -> list[PairTest]:
    """Compare every pair of algorithms by Wilcoxon's signed-rank test with Holm's correction.

    Parameters
    ----------
    scores : array_like of float, shape (n, k)
        One row per data set, one column per algorithm, without gaps.
    names : sequence of str, length k
        The algorithms.
    direction : {"lower", "higher"}
        Which scores are better.

    Returns
    -------
    list of PairTest, length k(k - 1)/2
        In the order (0, 1), (0, 2), …, (k - 2, k - 1).

    Examples
    --------
    >>> [pair] = wilcoxon_holm([[0.9, 0.8], [0.7, 0.6]], ["A", "B"], "higher")
    >>> pair.wins, pair.p_holm
    (2, 0.5)
    """
    table = np.asarray(scores, dtype=np.float64)
    sign = 1.0 if direction == "higher" else -1.0
    # Rounded by the size of the scores, not of the differences, which may be nothing but rounding error.
    scale = float(np.abs(table).max(initial=0.0)) or 1.0
    pairs = list(itertools.combinations(range(len(names)), 2))
    gains = [np.round(sign * (table[:, i] - table[:, j]) / scale, 12) for i, j in pairs]
    tests = [signed_rank(gain) for gain in gains]
    adjusted = holm([test.p for test in tests])
    return [
        PairTest(
            first=names[i],
            second=names[j],
            wins=int((gain > 0).sum()),
            ties=int((gain == 0).sum()),
            losses=int((gain < 0).sum()),
            difference=float(np.mean(table[:, i] - table[:, j])) if len(table) else 0.0,
            statistic=test.statistic,
            p=test.p,
            p_holm=p_holm,
        )
        for (i, j), gain, test, p_holm in zip(pairs, gains, tests, adjusted, strict=True)
    ]


def smallest_p(n: int, k: int) -> float:
    """The smallest Holm-adjusted p-value that any pair can reach, however large its differences.

    Parameters
    ----------
    n : int
        Data sets.
    k : int
        Algorithms.

    Returns
    -------
    float
        ``min(1, pairs / 2**(n - 1))``: an exact two-sided signed-rank test of n data sets ends there.

    Examples
    --------
    >>> smallest_p(5, 2), smallest_p(6, 2), smallest_p(9, 7) > 0.05, smallest_p(10, 7) < 0.05
    (0.0625, 0.03125, True, True)
    """
    return min(1.0, k * (k - 1) / 2 * math.ldexp(1.0, 1 - n))


def nemenyi_difference(k: int, n: int, *, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of mean ranks.

    Parameters
    ----------
    k : int
        Algorithms, >= 2.
    n : int
        Data sets, >= 1.
    alpha : float, default=0.05
        Family-wise level.

    Returns
    -------
    float
        Two mean ranks further apart than this differ significantly.

    Raises
    ------
    ValueError
        With fewer than two algorithms or no data set.

    Notes
    -----
    P. Nemenyi (1963); Demšar (2006), section 3.2.2: CD = q sqrt(k(k + 1)/(6n)), where q is the quantile of
    the studentised range for k groups and infinite degrees of freedom, divided by sqrt 2.

    Examples
    --------
    >>> round(nemenyi_difference(4, 14), 2)
    1.25
    """
    if k < 2 or n < 1:
        raise ValueError("the critical difference needs at least two algorithms and one data set")
    q = float(stats.studentized_range.ppf(1 - alpha, k, math.inf)) / math.sqrt(2)
    return q * math.sqrt(k * (k + 1) / (6 * n))


def cliques(order: Sequence[str], different: Collection[frozenset[str]]) -> list[tuple[str, ...]]:
    """Runs of algorithms, in order of mean rank, within which no pair differs.

    Parameters
    ----------
    order : sequence of str
        The algorithms, best mean rank first.
    different : collection of frozenset of two str
        The pairs that differ significantly.

    Returns
    -------
    list of tuple of str
        The longest such runs, two algorithms or more each, none inside another. A bar drawn over a run never
        joins two algorithms that differ.

    Examples
    --------
    >>> cliques(["A", "B", "C"], {frozenset({"A", "C"})})
    [('A', 'B'), ('B', 'C')]
    """
    runs: list[tuple[str, ...]] = []
    reached = 0
    for start in range(len(order)):
        stop = start + 1
        while stop < len(order) and all(
            frozenset({order[i], order[stop]}) not in different for i in range(start, stop)
        ):
            stop += 1
        if stop - start > 1 and stop > reached:
            runs.append(tuple(order[start:stop]))
            reached = stop
    return runs
