"""Compare ranks and tests with other packages.

baycomp comes with the extra `test`; autorank and scikit-posthocs are the dependency group `oracles`, and
their tests are skipped without it.
"""

from __future__ import annotations

import baycomp
import numpy as np
import pandas as pd
import pytest

from singlepass.pipeline.analysis.bayes import signed_rank_posterior
from singlepass.pipeline.analysis.friedman import friedman, nemenyi_difference
from singlepass.pipeline.analysis.pairwise import wilcoxon_holm
from singlepass.pipeline.analysis.ranks import block_ranks


def tables() -> list[pd.DataFrame]:
    """Return tables of scores of different sizes, without ties; later algorithms are better."""
    found = []
    for seed, (n, k) in enumerate([(8, 3), (14, 5), (20, 6), (30, 10)]):
        rng = np.random.default_rng(seed)
        scores = rng.normal(size=(n, k)) + 0.4 * np.arange(k)
        found.append(pd.DataFrame(scores, columns=[f"algorithm {i}" for i in range(k)]))
    return found


def test_scikit_posthocs_finds_the_same_pairs() -> None:
    posthocs = pytest.importorskip("scikit_posthocs", reason="scikit-posthocs is not installed")
    for table in tables():
        names = list(table)
        ranks = block_ranks(table, "higher").mean()
        apart = nemenyi_difference(len(names), len(table))
        nemenyi = posthocs.posthoc_nemenyi_friedman(table)
        long = table.melt(var_name="group", value_name="score")
        wilcoxon = posthocs.posthoc_wilcoxon(
            long, val_col="score", group_col="group", method="exact", p_adjust="holm"
        )
        for pair in wilcoxon_holm(table, names, "higher"):
            assert wilcoxon.loc[pair.first, pair.second] == pytest.approx(pair.p_holm, rel=1e-9)
            p = nemenyi.loc[pair.first, pair.second]
            assert (p < 0.05) == (abs(ranks[pair.first] - ranks[pair.second]) > apart)


def test_autorank_has_the_same_ranks_difference_and_p() -> None:
    autorank = pytest.importorskip("autorank", reason="autorank is not installed")
    for table in tables():
        found = autorank.autorank(table, alpha=0.05, force_mode="nonparametric", approach="frequentist")
        ranks = block_ranks(table, "higher")
        assert found.rankdf["meanrank"].to_dict() == pytest.approx(ranks.mean().to_dict())
        assert found.cd == pytest.approx(nemenyi_difference(table.shape[1], len(table)), abs=1e-3)
        assert found.pvalue == pytest.approx(friedman(ranks).chi2_p, rel=1e-9)


def test_baycomp_has_the_same_posterior_of_signed_ranks() -> None:
    # (shift, scale, base sets, region of equivalence); the last has ties, and differences of exactly 0.
    cases = [(0.0, 0.004, 15, 0.01), (0.01, 0.02, 15, 0.01), (-0.02, 0.02, 6, 0.01), (0.03, 0.01, 30, 0.02)]
    rng = np.random.RandomState(1)
    samples = [(shift + scale * rng.standard_normal(n), rope) for shift, scale, n, rope in cases]
    samples.append((np.array([0.0, 0.0, 0.02, 0.02, -0.02, 0.04, 0.01, 0.03]), 0.01))
    for gains, rope in samples:
        # In baycomp's left region the first argument is larger.
        left, equal, right = baycomp.SignedRankTest(
            gains, np.zeros(len(gains)), rope=rope, nsamples=5000, random_state=0
        ).probs()
        ours = signed_rank_posterior({("A", "B"): gains}, rope)["A", "B"]
        assert (ours.better, ours.equal, ours.worse) == pytest.approx((left, equal, right), abs=0.03)
