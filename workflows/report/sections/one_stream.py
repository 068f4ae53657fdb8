"""Report tests on single streams, by blocks of rows, if data sets are too few for tests over data sets."""

from __future__ import annotations

import math

import pandas as pd

from ....pipeline.analysis.blocks import FEWEST_BLOCKS, LEAST_ROWS, BlockTest, block_errors, leader_tests
from ....pipeline.analysis.comparison import ALPHA
from ..page.blocks import Section, Text
from ..page.table import tabulate
from ..page.view import StudyView, judges_given_labels
from ..parts.rank_tables import pair_numbers
from ..words.wording import p_value, percent

_METHOD = (
    "Here the rows of each stream are cut into equal blocks, and Wilcoxon's signed-rank test compares the "
    "errors of the leader with those of each other algorithm, block by block. Rows after the last whole "
    "block are left out. The test answers whether the leader errs less on this stream, not whether it would "
    "on others. Neighboring blocks should not resemble each other: where the last column is well above 0, "
    "p-values are too small."
)
_NEEDED = (
    "Tests on single streams need learning curves with equal steps, at least "
    f"{FEWEST_BLOCKS} blocks of {LEAST_ROWS} rows: "
)


def section(view: StudyView) -> Section | None:
    """Test the best algorithm on each prequential stream against the other algorithms.

    Returns None for a study without prequential streams, with one algorithm, or with enough data sets for
    tests over data sets.
    """
    cells = view.finished
    streams = set(cells.loc[cells["protocol"] == "prequential", "dataset"])
    if not streams or len(view.design.algorithms) < 2:
        return None
    if any(c.pairs and c.smallest_p <= ALPHA for c in view.comparisons):
        return None
    given = judges_given_labels(view.metric)
    column = "mistakes" if given else "mistakes_clean"
    found = [
        (dataset, noise, test)
        for dataset in view.design.datasets
        if dataset in streams
        for noise in view.design.noise
        for test in leader_tests(block_errors(view.curves, dataset, noise, view.design.algorithms, column))
    ]
    if not found:
        longest = int(cells.loc[cells["dataset"].isin(streams), "n_examples"].max())
        lacks = "set checkpoints = 30 in the study, for example."
        if longest < FEWEST_BLOCKS * LEAST_ROWS:
            lacks = f"the longest stream has {longest} rows."
        return Section("one-stream", "Tests on single streams", [Text(_NEEDED + lacks, "soft")])
    header = ["data set", "noise", "leader", "algorithm", "difference", "p (Holm)", "blocks", "correlation"]
    texts = [
        (dataset, noise.short, test.leader, test.algorithm, *_texts(test)) for dataset, noise, test in found
    ]
    table = tabulate(
        pd.DataFrame(texts, columns=header),
        "blocks",
        "The leader of each stream against the others, by blocks of rows",
        bold=[[False] * 5 + [test.test.p_holm <= ALPHA] + [False] * 2 for *_, test in found],
        labels=4,
        note="Difference: Hodges–Lehmann estimate of the leader's error minus the other's, points, with the "
        "uncorrected 95% interval of Wilcoxon's signed-rank test; p is corrected for all pairs of algorithms "
        "on the stream. "
        f"Blocks: how many the leader wins, ties, loses. Bold: significant at {percent(ALPHA)}. Correlation: "
        f"of the difference in one block with that in the next. Mistakes count against the "
        f"{'given' if given else 'clean'} labels; means over seeds.",
        data=pd.DataFrame([_numbers(dataset, noise.slug, test) for dataset, noise, test in found]),
        show="long",
    )
    return Section("one-stream", "Tests on single streams", [Text(_METHOD, "soft"), table])


def _texts(found: BlockTest) -> list[str]:
    test = found.test
    effect = f"{100 * test.effect:+.2f}"
    if math.isfinite(test.low):
        effect += f" ({100 * test.low:+.2f} to {100 * test.high:+.2f})"
    share = f"{found.correlation:+.2f}" if math.isfinite(found.correlation) else "–"
    texts = effect, p_value(test.p_holm), f"{test.wins}–{test.ties}–{test.losses}", share
    return [text.replace("-", "−") for text in texts]


def _numbers(dataset: str, noise: str, found: BlockTest) -> dict[str, object]:
    return {
        "dataset": dataset,
        "noise": noise,
        "leader": found.leader,
        "algorithm": found.algorithm,
        "blocks": found.blocks,
        "rows": found.rows,
        **pair_numbers(found.test),
        "correlation": found.correlation,
    }
