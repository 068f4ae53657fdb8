"""Compare all algorithms at one noise rate by ranks and significance tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import pandas as pd

from ..noise import Noise
from .averages import Averages
from .design import Design
from .friedman import Friedman, friedman, nemenyi_difference
from .metrics import Metric
from .pairwise import PairTest, cliques, smallest_p, wilcoxon_holm
from .ranks import DroppedBlock, block_ranks, mean_ranks

ALPHA = 0.05


@dataclass(frozen=True)
class Comparison:
    """The ranks of one metric at one noise rate; tests are computed on first use."""

    metric: Metric
    noise: Noise
    # Means over seeds, and their ranks, on complete data sets only: shape (N data sets, k).
    scores: pd.DataFrame
    ranks: pd.DataFrame
    # Mean rank of each algorithm, best first; empty if no data set is complete.
    mean_ranks: pd.Series[float]
    # Data sets left out, with the seeds that they lack.
    dropped: list[DroppedBlock]
    # Algorithms without any result in the whole study, which would leave no data set complete.
    left_out: list[str]
    # Algorithms restricted to some of the data sets, which are not ranked among the others.
    bound: list[str] = field(default_factory=list)
    # Number of different source data sets among those ranked: tasks made from one source are not independent.
    n_sources: int = 0

    @property
    def n(self) -> int:
        """Return the number of data sets ranked."""
        return len(self.scores)

    @property
    def k(self) -> int:
        """Return the number of algorithms ranked."""
        return self.scores.shape[1]

    @cached_property
    def friedman(self) -> Friedman | None:
        """Return the Friedman test, or None with fewer than two data sets or three algorithms."""
        return friedman(self.ranks) if self.n >= 2 and self.k >= 3 else None

    @cached_property
    def pairs(self) -> list[PairTest]:
        """Return the Wilcoxon–Holm tests of all pairs; empty with fewer than two data sets or algorithms."""
        if self.n < 2 or self.k < 2:
            return []
        return wilcoxon_holm(self.scores, [str(name) for name in self.scores], self.metric.direction)

    @cached_property
    def critical_difference(self) -> float | None:
        """Return Nemenyi's critical difference (level 0.05); None for under two data sets or algorithms."""
        return nemenyi_difference(self.k, self.n, alpha=ALPHA) if self.n >= 2 and self.k >= 2 else None

    @property
    def smallest_p(self) -> float:
        """Return the smallest Holm-adjusted p-value that N data sets allow."""
        return smallest_p(self.n, self.k) if self.n >= 1 else 1.0

    @property
    def too_few_sources(self) -> bool:
        """Return whether the tasks have too few source data sets for any pair to differ significantly."""
        return 0 < self.n_sources < self.n and smallest_p(self.n_sources, self.k) > ALPHA

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

    @property
    def cliques(self) -> list[tuple[str, ...]]:
        """Return the groups of neighbors in mean rank that do not differ significantly."""
        return cliques([str(name) for name in self.mean_ranks.index], self.different)


def compare(averages: Averages, metric: Metric, noise: Noise, design: Design) -> Comparison:
    """Rank all algorithms on the complete data sets of one noise rate and test the differences."""
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
        n_sources=len({sources[name] for name in complete.index}),
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
