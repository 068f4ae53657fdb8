"""Pairs of algorithms: Wilcoxon's signed-rank test, Holm's correction, runs without differences.

Every test takes one row per data set (scores already averaged over seeds). This is the main post-hoc test:
its verdict on a pair does not depend on which other algorithms are ranked, as that of tests on mean ranks
does (A. Benavoli, G. Corani, F. Mangili, JMLR 17 (2016)).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ..scoring import Direction
from .signed_rank import signed_rank


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
