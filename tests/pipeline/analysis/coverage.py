"""Measure how often intervals cover, and how often headlines claim a false lead.

Each simulated study has tasks cut from a few base sets, as many from some as from others by chance. The score
of an algorithm on a task is its true level, plus a part that tasks of one base set share, plus noise:

    python tests/pipeline/analysis/coverage.py --studies 1000
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy import stats

from singlepass.pipeline.analysis.comparison import Comparison
from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.analysis.ranks import block_ranks, mean_ranks
from singlepass.pipeline.noise import CLEAN
from singlepass.workflows.report.words.wording import verdict

NAMES = list("ABCDE")
# True levels in units of the noise, if algorithms differ.
LEVELS = np.array([0.0, 0.2, 0.4, 0.8, 1.5])


@dataclass(frozen=True)
class Kind:
    """A kind of study: base sets, most tasks of one base set, and the share of variance that these share."""

    base_sets: int
    tasks: int
    shared: float


# Those of arow-binary (9 base sets, up to 45 tasks each) are among them.
KINDS = [Kind(g, tasks, shared) for g in (8, 9, 12, 30) for tasks in (1, 10, 45) for shared in (0.3, 0.8)]


def draw(kind: Kind, levels: np.ndarray, rng: np.random.RandomState) -> tuple[np.ndarray, np.ndarray]:
    """Return scores, shape (tasks, algorithms), and the number of each task's base set."""
    sources = np.repeat(np.arange(kind.base_sets), rng.randint(1, kind.tasks + 1, kind.base_sets))
    own = rng.standard_normal((kind.base_sets, len(levels)))[sources]
    noise = rng.standard_normal((len(sources), len(levels)))
    return levels + np.sqrt(kind.shared) * own + np.sqrt(1 - kind.shared) * noise, sources


def compared(kind: Kind, levels: np.ndarray, rng: np.random.RandomState) -> Comparison:
    """Return the comparison that a report would make of a simulated study."""
    scores, sources = draw(kind, levels, rng)
    # Shares of correct predictions, about a point per unit.
    table = pd.DataFrame(0.7 + 0.01 * scores, columns=NAMES)
    metric = METRICS["test_accuracy"]
    ranks = block_ranks(table, metric.direction)
    names = [str(source) for source in sources]
    return Comparison(metric, CLEAN, table, ranks, mean_ranks(ranks), [], [], [], names)


def true_ranks(kind: Kind) -> np.ndarray:
    """Return the expected mean rank of each algorithm, from 40,000 base sets."""
    many = Kind(40_000, min(kind.tasks, 3), kind.shared)
    scores, _ = draw(many, LEVELS, np.random.RandomState(0))
    return stats.rankdata(-scores, axis=1).mean(axis=0)


def claims_a_lead(comparison: Comparison) -> bool:
    """Return whether the headline calls the first algorithm better than any other."""
    text = verdict(comparison)
    return "by tests and ranks alike better than" in text


def measure(studies: int, kinds: list[Kind], seed: int = 0) -> pd.DataFrame:
    """Return by kind the share of intervals that cover, and of headlines that claim a lead under the null."""
    rows = []
    for kind in kinds:
        rng, truth = np.random.RandomState(seed), true_ranks(kind)
        covered, claimed = [], []
        for _ in range(studies):
            found = compared(kind, LEVELS, rng).rank_intervals
            assert found is not None
            found = found.loc[NAMES]
            covered.append(((found["low"] <= truth) & (truth <= found["high"])).mean())
            claimed.append(claims_a_lead(compared(kind, np.zeros(len(NAMES)), rng)))
        rows.append((kind.base_sets, kind.tasks, kind.shared, np.mean(covered), np.mean(claimed)))
    return pd.DataFrame(rows, columns=["base sets", "most tasks", "shared", "covered", "false leads"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--studies", type=int, default=1000)
    wanted = parser.parse_args().studies
    table = measure(-(-wanted // len(KINDS)), KINDS)
    print(table.round(3).to_string(index=False))
    print(table[["covered", "false leads"]].mean().round(4).to_string())
