"""One comparison of all algorithms at one noise rate: ranks, tests, and what may be said of them."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from ..noise import Noise
from .averages import scores
from .design import Design, evaluation_rows
from .friedman import Friedman, friedman, nemenyi_difference
from .metrics import Metric
from .pairwise import PairTest, cliques, smallest_p, wilcoxon_holm
from .ranks import DroppedBlock, block_ranks, mean_ranks

ALPHA = 0.05


@dataclass(frozen=True)
class Comparison:
    """Ranks and tests of one metric at one noise rate.

    Attributes
    ----------
    metric : Metric
        What was ranked.
    noise : Noise
        What was done to the labels.
    scores, ranks : DataFrame of float, shape (N, k)
        Means over seeds and ranks, on complete data sets only.
    mean_ranks : Series of float, length k
        Best first; empty when no data set is complete.
    dropped : list of DroppedBlock
        Data sets left out, with what they lack.
    left_out : list of str
        Algorithms without a single result in the whole study, which would empty every block.
    friedman : Friedman or None
        None with fewer than two data sets or three algorithms.
    pairs : list of PairTest
        Wilcoxon–Holm for every pair; empty with fewer than two data sets.
    critical_difference : float or None
        Nemenyi's, at level 0.05; None with fewer than two data sets or algorithms.
    smallest_p : float
        The least Holm-adjusted p-value that N data sets allow.
    """

    metric: Metric
    noise: Noise
    scores: pd.DataFrame
    ranks: pd.DataFrame
    mean_ranks: pd.Series[float]
    dropped: list[DroppedBlock]
    left_out: list[str]
    friedman: Friedman | None
    pairs: list[PairTest]
    critical_difference: float | None
    smallest_p: float

    @property
    def n(self) -> int:
        """Data sets ranked."""
        return len(self.scores)

    @property
    def k(self) -> int:
        """Algorithms ranked."""
        return self.scores.shape[1]

    @property
    def all_tied(self) -> bool:
        """Whether every algorithm scores the same on every data set."""
        return self.n > 0 and bool((self.ranks == (self.k + 1) / 2).all(axis=None))

    @property
    def overall(self) -> bool:
        """Whether pairs may be looked at: Friedman finds differences, or there is only one pair."""
        return self.friedman is None or self.friedman.p <= ALPHA

    @property
    def different(self) -> set[frozenset[str]]:
        """Pairs that differ significantly: Friedman first, then Wilcoxon–Holm, both at level 0.05."""
        if not self.overall:
            return set()
        return {frozenset({pair.first, pair.second}) for pair in self.pairs if pair.p_holm <= ALPHA}

    @property
    def cliques(self) -> list[tuple[str, ...]]:
        """Neighbours in mean rank that do not differ significantly."""
        return cliques([str(name) for name in self.mean_ranks.index], self.different)


def compare(cells: pd.DataFrame, metric: Metric, noise: Noise, design: Design) -> Comparison:
    """Rank all algorithms on the complete data sets of one noise rate and test the differences.

    Parameters
    ----------
    cells : DataFrame
        The store's cells table.
    metric : Metric
        What to compare by; its direction decides which end is better.
    noise : Noise
        One of ``design.noise``.
    design : Design
        Data sets, algorithms and seeds to expect.

    Returns
    -------
    Comparison
        Complete as far as the data go; tests that need more data sets or algorithms are None or empty.
    """
    done = evaluation_rows(cells, status="ok")
    measured = set(done.loc[metric.of(done).notna(), "algorithm"])
    names = [name for name in design.algorithms if name in measured]
    complete, dropped = scores(cells, metric, noise, design).complete_blocks(names)
    if not names:
        complete = complete.iloc[:0]
    ranks = block_ranks(complete, metric.direction)
    n, k = complete.shape
    return Comparison(
        metric=metric,
        noise=noise,
        scores=complete,
        ranks=ranks,
        mean_ranks=mean_ranks(ranks) if n else pd.Series(dtype="float64"),
        dropped=dropped,
        left_out=[name for name in design.algorithms if name not in measured],
        friedman=friedman(ranks) if n >= 2 and k >= 3 else None,
        pairs=wilcoxon_holm(complete, names, metric.direction) if n >= 2 and k >= 2 else [],
        critical_difference=nemenyi_difference(k, n, alpha=ALPHA) if n >= 2 and k >= 2 else None,
        smallest_p=smallest_p(n, k) if n >= 1 else 1.0,
    )


def overall_ranks(comparisons: list[Comparison]) -> pd.Series[float]:
    """Average ranks over noise rates within each data set, then over data sets.

    Descriptive only: the noise rates of one data set share its examples, so they are no further blocks and no
    test is made of them.

    Parameters
    ----------
    comparisons : list of Comparison
        One per noise rate, of one metric.

    Returns
    -------
    Series of float
        Mean rank per algorithm over data sets complete at every rate, best first; empty without any.
    """
    tables = [comparison.ranks for comparison in comparisons]
    if not tables:
        return pd.Series(dtype="float64")
    shared = [name for name in tables[0].index if all(name in table.index for table in tables)]
    if not shared:
        return pd.Series(dtype="float64")
    summed = sum((table.loc[shared] for table in tables[1:]), start=tables[0].loc[shared])
    return mean_ranks(summed / len(tables))
