"""Compute Wilcoxon's signed-rank test, exact even if differences tie or vanish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats

from .ranks import snap

# Up to this many data sets the null distribution of the rank sum is enumerated, ties included (SciPy uses the
# normal approximation for ties from 14 data sets on). Beyond it that approximation is right to three digits.
_EXACT_UP_TO = 100


@dataclass(frozen=True)
class SignedRank:
    """Hold the result of one two-sided Wilcoxon signed-rank test.

    Attributes
    ----------
    n : int
        Data sets that differ (zero differences left out).
    statistic : float
        Sum of the ranks of the positive differences.
    p : float
        Two-sided p-value; 1 if nothing differs.
    """

    n: int
    statistic: float
    p: float


def _exact_tails(ranks: NDArray[np.float64], statistic: float) -> tuple[float, float]:
    """Return P(sum <= statistic) and P(sum >= statistic) if every rank counts with probability one half.

    Averaged ranks are multiples of one half. Doubled they are integers, and the distribution of their sum is
    one convolution per rank.
    """
    doubled = np.rint(2 * ranks).astype(np.int64)
    chance = np.zeros(int(doubled.sum()) + 1)
    chance[0] = 1.0
    for step in doubled:
        shifted = np.zeros_like(chance)
        shifted[step:] = chance[: chance.size - step]
        chance = 0.5 * (chance + shifted)
    at = round(2 * statistic)
    return float(chance[: at + 1].sum()), float(chance[at:].sum())


def signed_rank(differences: ArrayLike) -> SignedRank:
    """Test paired differences by Wilcoxon's signed ranks, exactly for up to 100 data sets, ties included.

    `differences` has one value per data set.

    F. Wilcoxon (1945). Zero differences are ranked and then left out (J. W. Pratt, 1959): a tie shows that
    small differences are common, which dropping it beforehand would hide.

    Examples
    --------
    >>> signed_rank([0.1, 0.2, 0.3, 0.4, 0.5, 0.6])
    SignedRank(n=6, statistic=21.0, p=0.03125)
    """
    values = snap(np.asarray(differences, dtype=np.float64))
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
