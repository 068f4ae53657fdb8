"""Compare all algorithms at one noise rate by ranks and significance tests.

Tasks cut from one base set share examples, or at least their origin, and are not independent. Mean ranks
weight all tasks equally, but every test and interval counts base sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import pandas as pd

from ..noise import Noise
from .averages import Averages
from .bayes import Belief, signed_rank_posterior
from .design import Design
from .friedman import Friedman, friedman, nemenyi_difference
from .intervals import level_with_best, mean_intervals
from .metrics import Metric
from .pairwise import PairTest, cliques, smallest_p, wilcoxon_holm
from .ranks import NOT_THERE, DroppedBlock, block_ranks, mean_ranks

ALPHA = 0.05
# Fewest base sets for Bayesian comparisons. With fewer, an exact two-sided signed-rank test of one pair
# cannot reach a p-value of 5% either.
_FEWEST_BELIEVED = 6


@dataclass(frozen=True)
class Comparison:
    """The ranks of one metric at one noise rate; tests are computed on first use."""

    metric: Metric
    noise: Noise
    # Means over seeds, and their ranks, on data sets that all algorithms finished: shape (N data sets, k).
    scores: pd.DataFrame
    ranks: pd.DataFrame
    # Mean rank of each algorithm, best first; empty if no data set is complete.
    mean_ranks: pd.Series[float]
    # Data sets that are not ranked because some algorithm lacks a complete result, with what is missing.
    dropped: list[DroppedBlock]
    # Algorithms that are not ranked because they have no value of the metric in the whole study: with them,
    # no data set would be complete.
    left_out: list[str]
    # Algorithms restricted to some of the data sets, which are not ranked among the others.
    bound: list[str] = field(default_factory=list)
    # For each ranked data set: the base set, from which it was made.
    sources: list[str] = field(default_factory=list)

    @property
    def n(self) -> int:
        """Return the number of data sets ranked."""
        return len(self.scores)

    @property
    def k(self) -> int:
        """Return the number of algorithms ranked."""
        return self.scores.shape[1]

    @property
    def incomplete(self) -> list[DroppedBlock]:
        """Return the data sets on which all algorithms run, but some has no complete value."""
        return [block for block in self.dropped if NOT_THERE not in block.missing.values()]

    @property
    def n_sources(self) -> int:
        """Return the number of base sets among the data sets ranked, the sample size of every test."""
        return len(set(self.sources))

    @cached_property
    def base_scores(self) -> pd.DataFrame:
        """Return each algorithm's mean score over the tasks cut from a base set, shape (base sets, k)."""
        return self.scores.groupby(self.sources, sort=False).mean()

    @cached_property
    def rank_intervals(self) -> pd.DataFrame | None:
        """Return 95% intervals of the mean ranks (columns low and high); see `mean_intervals`."""
        return mean_intervals(self.ranks, self.sources)

    @cached_property
    def friedman(self) -> Friedman | None:
        """Return the Friedman test, or None with fewer than two base sets or three algorithms."""
        if self.n_sources < 2 or self.k < 3:
            return None
        return friedman(block_ranks(self.base_scores, self.metric.direction))

    @cached_property
    def pairs(self) -> list[PairTest]:
        """Return the Wilcoxon–Holm tests of all pairs; empty with fewer than two base sets or algorithms."""
        if self.n_sources < 2 or self.k < 2:
            return []
        return wilcoxon_holm(self.base_scores, [str(name) for name in self.scores], self.metric.direction)

    @cached_property
    def beliefs(self) -> dict[tuple[str, str], Belief]:
        """Return Bayesian probabilities for every pair (first, second); first has the better mean rank.

        The result is empty with fewer than six base sets, on which no signed-rank test can be significant
        either. It is also empty unless the metric is a percentage, because the region of practical
        equivalence is one percentage point.
        """
        if self.n_sources < _FEWEST_BELIEVED or not self.metric.percent:
            return {}
        sign = 1.0 if self.metric.direction == "higher" else -1.0
        table = sign * self.base_scores
        names = [str(name) for name in self.mean_ranks.index]
        return signed_rank_posterior({(a, b): table[a] - table[b] for a, b in combinations(names, 2)})

    @cached_property
    def critical_difference(self) -> float | None:
        """Return Nemenyi's critical difference (level 0.05); None for under two base sets or algorithms."""
        if self.n_sources < 2 or self.k < 2:
            return None
        return nemenyi_difference(self.k, self.n_sources, alpha=ALPHA)

    @property
    def smallest_p(self) -> float:
        """Return the smallest Holm-adjusted p-value that is possible with this number of base sets."""
        return smallest_p(self.n_sources, self.k) if self.n_sources else 1.0

    @property
    def all_tied(self) -> bool:
        """Return whether every algorithm scores the same on every data set."""
        return self.n > 0 and bool((self.ranks == (self.k + 1) / 2).all(axis=None))

    @property
    def overall(self) -> bool:
        """Return whether pairs may be tested: the Friedman test finds differences or does not apply."""
        return self.friedman is None or self.friedman.p <= ALPHA

    @cached_property
    def different(self) -> set[frozenset[str]]:
        """Return the pairs that differ significantly (Friedman, then Wilcoxon–Holm, both at level 0.05)."""
        if not self.overall:
            return set()
        return {frozenset({pair.first, pair.second}) for pair in self.pairs if pair.p_holm <= ALPHA}

    @cached_property
    def beaten(self) -> list[str]:
        """Return the algorithms that the leader by mean rank is significantly better than, best first.

        Mean ranks weight tasks equally, tests weight base sets equally; they can contradict. Three things
        must agree: the pair differs significantly, its estimated difference favors the leader, and the 95%
        interval of the difference of the two mean ranks excludes 0 (with enough base sets for an interval).
        """
        best, *rest = (str(name) for name in self.mean_ranks.index)
        higher = self.metric.direction == "higher"
        favored = {
            frozenset({pair.first, pair.second}): pair.first if (pair.effect > 0) == higher else pair.second
            for pair in self.pairs
            # An estimate of 0 favors neither, and neither does one that is NaN.
            if pair.effect > 0 or pair.effect < 0
        }
        level = level_with_best(self.ranks, self.sources)
        pairs = {name: frozenset({best, name}) for name in rest}
        return [
            name
            for name, pair in pairs.items()
            if pair in self.different and favored.get(pair) == best and not level[name]
        ]

    @property
    def cliques(self) -> list[tuple[str, ...]]:
        """Return the groups of neighbors in mean rank that do not differ significantly."""
        return cliques([str(name) for name in self.mean_ranks.index], self.different)


def compare(averages: Averages, metric: Metric, noise: Noise, design: Design) -> Comparison:
    """Rank algorithms at one noise rate on the data sets that all finished; tests run when first used."""
    measured = averages.measured(metric)
    names = [name for name in design.everywhere if name in measured]
    complete, dropped = averages.scores(metric, noise, design).complete_blocks(names)
    if not names:
        complete = complete.iloc[:0]
    ranks = block_ranks(complete, metric.direction)
    sources = dict(zip(design.datasets, design.sources, strict=True))
    return Comparison(
        metric=metric,
        noise=noise,
        scores=complete,
        ranks=ranks,
        mean_ranks=mean_ranks(ranks) if len(ranks) else pd.Series(dtype="float64"),
        dropped=dropped,
        left_out=[name for name in design.algorithms if name not in measured],
        bound=[name for name in design.algorithms if name not in design.everywhere and name in measured],
        sources=[sources[name] for name in complete.index],
    )


def overall_ranks(comparisons: list[Comparison]) -> pd.Series[float]:
    """Average ranks over noise rates within each data set, then over data sets; best first.

    `comparisons` has one entry per noise rate, all of one metric. Data sets that are incomplete at any
    rate are left out; the result is empty if none remains. No significance test uses these ranks, because the
    noise rates of one data set share its examples and are not independent.
    """
    tables = [comparison.ranks for comparison in comparisons]
    if not tables:
        return pd.Series(dtype="float64")
    shared = [name for name in tables[0].index if all(name in table.index for table in tables)]
    if not shared:
        return pd.Series(dtype="float64")
    summed = sum((table.loc[shared] for table in tables[1:]), start=tables[0].loc[shared])
    return mean_ranks(summed / len(tables))
