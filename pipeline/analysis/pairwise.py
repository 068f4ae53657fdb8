"""Compare pairs of algorithms: signed-rank test, Holm's correction, effects, groups of equals.

A base set is the data set from which tasks are cut, such as one task per pair of its classes. Every test
takes one row per base set: scores averaged over seeds and over the tasks of the base set. This is the main
post-hoc test: its verdict on a pair does not depend on the other algorithms, unlike the verdict of tests on
mean ranks (A. Benavoli, G. Corani, F. Mangili, JMLR 17 (2016)).
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from ..scoring import Direction
from .ranks import score_levels, score_tolerances

# Up to this many base sets the null distribution of the rank sum is enumerated, ties included. Beyond it the
# normal approximation is used, which is far off for small p-values (at n = 151 it gives 2.3e-7 instead of
# 1.1e-7, and 9e-14 instead of 1.9e-15).
_EXACT_UP_TO = 1000
# Confidence level of the intervals of estimated differences.
LEVEL = 0.95


@dataclass(frozen=True)
class SignedRank:
    """The result of one two-sided Wilcoxon signed-rank test."""

    # Number of base sets with a difference other than 0.
    n: int
    # Sum of the ranks of the positive differences.
    statistic: float
    # Two-sided p-value; 1 if all differences are 0.
    p: float


@functools.lru_cache(maxsize=64)
def _null(steps: bytes) -> NDArray[np.float64]:
    """Return P(sum = 0), P(sum = 1), … for a sum that includes each of `steps` with probability 1/2.

    `steps` are whole numbers, as the bytes of an int64 array, because the results are cached by argument.
    """
    sizes = np.frombuffer(steps, np.int64)
    chance = np.zeros(int(sizes.sum()) + 1)
    chance[0], reached = 1.0, 0
    for size in sizes:
        reached += int(size)
        # Copy the probabilities to add, because the ranges that are read and written overlap.
        chance[size : reached + 1] += chance[: reached + 1 - size].copy()
        chance[: reached + 1] *= 0.5
    chance.flags.writeable = False
    return chance


def _exact_tails(ranks: NDArray[np.float64], statistic: float) -> tuple[float, float]:
    """Return P(sum <= statistic) and P(sum >= statistic) if each rank enters the sum with probability 1/2."""
    # Ties get averaged ranks, which are multiples of one half: double them to compute with integers.
    unit = 1 if (ranks % 1 == 0).all() else 2
    chance = _null(np.sort(np.rint(unit * ranks).astype(np.int64)).tobytes())
    at = round(unit * statistic)
    return float(chance[: at + 1].sum()), float(chance[at:].sum())


def signed_rank(differences: ArrayLike) -> SignedRank:
    """Test paired differences by Wilcoxon's signed ranks, exactly for up to 1,000 base sets, ties included.

    `differences` has one value per base set. Only values of exactly equal size tie.

    F. Wilcoxon (1945). Zero differences are ranked and then left out (J. W. Pratt, 1959): a tie shows that
    small differences are common, which dropping it beforehand would hide.
    """
    values = np.asarray(differences, dtype=np.float64)
    nonzero = values != 0
    count = int(nonzero.sum())
    if count == 0:
        return SignedRank(n=0, statistic=0.0, p=1.0)
    ranks = stats.rankdata(np.abs(values), method="average")
    statistic = float(ranks[values > 0].sum())
    if values.size <= _EXACT_UP_TO:
        p = min(1.0, 2 * min(_exact_tails(ranks[nonzero], statistic)))
    else:
        outcome = stats.wilcoxon(values, zero_method="pratt", correction=False)
        p = float(outcome.pvalue)
    return SignedRank(n=count, statistic=statistic, p=p)


def hodges_lehmann(differences: ArrayLike) -> tuple[float, float, float]:
    """Return the Hodges–Lehmann estimate of a shift, and its 95% confidence interval.

    The estimate is the median of the Walsh averages (d_i + d_j)/2, i <= j. The interval has the shifts that
    Wilcoxon's signed-rank test does not reject at 5%. With fewer than six differences it is infinite, because
    the test cannot reject.

    J. L. Hodges, E. L. Lehmann (1963); M. Hollander, D. A. Wolfe, E. Chicken, "Nonparametric Statistical
    Methods" (2014), sections 3.2 and 3.3.
    """
    values = np.asarray(differences, dtype=np.float64)
    rows, columns = np.triu_indices(values.size)
    first, second = values[rows], values[columns]
    with np.errstate(invalid="ignore"):
        # Opposite infinities average to 0, as other opposite numbers do.
        walsh = np.sort(np.where(first == -second, 0.0, (first + second) / 2))
    if values.size <= _EXACT_UP_TO:
        chance = _null(np.arange(1, values.size + 1).tobytes())
        # Number of Walsh averages that the interval leaves out at each end.
        outside = int(np.searchsorted(np.cumsum(chance), (1 - LEVEL) / 2, side="right"))
    else:
        n = values.size
        spread = math.sqrt(n * (n + 1) * (2 * n + 1) / 24)
        outside = math.floor(n * (n + 1) / 4 + stats.norm.ppf((1 - LEVEL) / 2) * spread)
    effect = float(np.median(walsh))
    if outside == 0:
        return effect, -math.inf, math.inf
    return effect, float(walsh[outside - 1]), float(walsh[-outside])


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values by Holm's step-down procedure, which bounds the chance of any false claim.

    `p_values` are one family of tests; the adjusted values keep their order. A test is significant at level a
    exactly if its adjusted value is at most a.

    S. Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (1979).
    """
    adjusted = [0.0] * len(p_values)
    running = 0.0
    for rank, index in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
        running = max(running, (len(p_values) - rank) * p_values[index])
        adjusted[index] = min(1.0, running)
    return adjusted


@dataclass(frozen=True)
class PairTest:
    """The Wilcoxon–Holm test of one pair of algorithms."""

    first: str
    second: str
    # Numbers of base sets on which `first` is better than, equal to and worse than `second`.
    wins: int
    ties: int
    losses: int
    # Mean over base sets of first minus second, in the unit and sign of the metric.
    difference: float
    # Hodges–Lehmann estimate of first minus second, and its 95% interval, infinite with under six base sets.
    effect: float
    low: float
    high: float
    # Wilcoxon's rank sum in favor of `first`, its p-value, and the p-value adjusted for all pairs.
    statistic: float
    p: float
    p_holm: float


def wilcoxon_holm(scores: ArrayLike, names: Sequence[str], direction: Direction) -> list[PairTest]:
    """Compare every pair of algorithms by Wilcoxon's signed-rank test with Holm's correction.

    `scores` has one row per base set and one column per algorithm, without gaps. The k(k - 1)/2 tests come in
    the order (0, 1), (0, 2), …, (k - 2, k - 1).
    """
    table = np.asarray(scores, dtype=np.float64)
    sign = 1.0 if direction == "higher" else -1.0
    pairs = list(itertools.combinations(range(len(names)), 2))
    levels = np.array([score_levels(row) for row in table]).reshape(table.shape)
    tolerances = np.array([score_tolerances(row) for row in table]).reshape(table.shape)
    gains, tests, effects = [], [], []
    for i, j in pairs:
        gain, differ = np.zeros(len(table)), levels[:, i] != levels[:, j]
        gain[differ] = sign * (table[differ, i] - table[differ, j])
        gains.append(gain)
        tied = _tied(gain, tolerances[:, [i, j]].max(axis=1))
        tests.append(signed_rank(tied))
        effects.append(hodges_lehmann(sign * tied))
    adjusted = holm([test.p for test in tests])
    return [
        PairTest(
            first=names[i],
            second=names[j],
            wins=int((gain > 0).sum()),
            ties=int((gain == 0).sum()),
            losses=int((gain < 0).sum()),
            # Not the array's mean, which warns if infinities cancel.
            difference=sign * sum(gain.tolist()) / max(len(gain), 1),
            effect=effect,
            low=low,
            high=high,
            statistic=test.statistic,
            p=test.p,
            p_holm=p_holm,
        )
        for (i, j), gain, test, (effect, low, high), p_holm in zip(
            pairs, gains, tests, effects, adjusted, strict=True
        )
    ]


def _tied(differences: NDArray[np.float64], tolerances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Make differences equal in size that are equal except for rounding errors, for the ranks of a test.

    A difference joins a group if its size exceeds the smallest of the group by at most the larger of their
    two tolerances.
    """
    found = differences.copy()
    size, near = 0.0, 0.0
    for at in np.argsort(np.abs(differences), kind="stable"):
        if size and abs(differences[at]) <= size + max(near, tolerances[at]):
            found[at] = math.copysign(size, differences[at])
        else:
            size, near = abs(differences[at]), tolerances[at]
    return found


def smallest_p(n: int, k: int) -> float:
    """Return the smallest Holm-adjusted p-value that a pair of k algorithms can reach on n base sets.

    It is ``min(1, pairs / 2**(n - 1))``: the smallest p-value of an exact two-sided signed-rank test times
    the number of pairs.
    """
    return min(1.0, k * (k - 1) / 2 * math.ldexp(1.0, 1 - n))


def cliques(order: Sequence[str], different: Collection[frozenset[str]]) -> list[tuple[str, ...]]:
    """Return the longest runs of algorithms, in order of mean rank, within which no pair differs.

    `order` lists the algorithms, best mean rank first; `different` lists the pairs that differ significantly.
    Each run has at least two algorithms, and no run is inside another one. A bar drawn over a run never joins
    two algorithms that differ.
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
