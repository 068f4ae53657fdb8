"""Compare algorithms on one stream, by their errors in consecutive blocks of its rows.

Tests over data sets say nothing about a single stream. Here its blocks take the place of data sets: they are
paired, since all algorithms predict the same rows. A test of single rows (McNemar's) would take each row for
an independent trial; it rejects too often on streams (A. Bifet, G. De Francisci Morales, J. Read, G. Holmes,
B. Pfahringer, KDD 2015).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..noise import Noise
from .curves import CellCurves
from .pairwise import PairTest, wilcoxon_holm

# With fewer blocks hardly any difference can be significant: with 10 blocks and five algorithms the smallest
# possible p-value is 0.02 after Holm's correction.
FEWEST_BLOCKS = 10
# Consecutive steps of a curve are joined into blocks: at most this many, each of at least this many rows. The
# errors in a long block depend less on those in the block before, and algorithms tie less often.
_MOST_BLOCKS, LEAST_ROWS = 50, 30


@dataclass(frozen=True)
class BlockTest:
    """The test of one algorithm against the leader of a stream, the one with the fewest errors."""

    leader: str
    algorithm: str
    # Number of blocks, and of rows in each.
    blocks: int
    rows: int
    # The signed-rank test of the differences in error rate (leader minus algorithm) between blocks, and their
    # estimated size. Holm's correction is for all pairs of algorithms.
    test: PairTest
    # Correlation of the difference in error rate in one block with that in the next; NaN if the difference is
    # constant. If it is well above 0, blocks are not independent and p-values are too small.
    correlation: float


def block_errors(
    curves: CellCurves, dataset: str, noise: Noise, algorithms: Sequence[str], column: str = "mistakes_clean"
) -> pd.DataFrame:
    """Return the error rate in each block of a stream: a row per block, a column per algorithm.

    A block is one step of the learning curves, from checkpoint to checkpoint, or several. Rates are means
    over seeds. `column` of the curves counts the mistakes so far. The index has the number of examples at the
    end of each block. The table is empty unless all curves have the same steps, of equal length, and these
    make at least `FEWEST_BLOCKS` blocks.
    """
    found: dict[str, NDArray[np.float64]] = {}
    ends: NDArray[np.float64] | None = None
    for algorithm in algorithms:
        series = curves.series(dataset, noise, algorithm, column, "t")
        for t, mistakes in series:
            ends = t if ends is None else ends
            if not np.array_equal(t, ends):
                return pd.DataFrame()
            found[algorithm] = found.get(algorithm, np.zeros(len(t))) + mistakes / len(series)
    if ends is None or np.ptp(np.diff(ends, prepend=0.0)) > 1.0:
        return pd.DataFrame()
    for steps in range(-(-len(ends) // _MOST_BLOCKS), len(ends) // FEWEST_BLOCKS + 1):
        picked = slice(steps - 1, None, steps)
        rows = np.diff(ends[picked], prepend=0.0)
        if rows.min() >= LEAST_ROWS:
            rates = {name: np.diff(sums[picked], prepend=0.0) / rows for name, sums in found.items()}
            return pd.DataFrame(rates, index=ends[picked])
    return pd.DataFrame()


def leader_tests(errors: pd.DataFrame) -> list[BlockTest]:
    """Test the algorithm with the fewest errors against every other one; `errors` is from `block_errors`.

    Tests are sorted by the errors of the other algorithm. The list is empty for fewer than two algorithms.
    """
    order = list(errors.mean().sort_values(kind="stable").index)
    tests = {(each.first, each.second): each for each in wilcoxon_holm(errors[order], order, "lower")}
    gaps = {name: errors[order[0]] - errors[name] for name in order[1:]}
    return [
        BlockTest(
            leader=order[0],
            algorithm=name,
            blocks=len(errors),
            rows=round(float(errors.index[0])),
            test=tests[order[0], name],
            # A constant difference becomes 0 throughout, also one that differs by rounding errors.
            correlation=(gap - gap.iloc[0]).round(12).autocorr(),
        )
        for name, gap in gaps.items()
    ]
