"""Counting mistakes gives the same result for few rows and for many, with or without releasing the GIL."""

import numpy as np
import pytest

from singlepass.learners import count_wrong, mistakes_of_both, tied_predictions, wrong_predictions

from ..streams import margins_of


@pytest.mark.parametrize("n_classes", [2, 5])
@pytest.mark.parametrize("n", [40, 20_000])
def test_mistakes_by_both_kinds_of_labels(n, n_classes):
    rng = np.random.RandomState(n)
    # Round, so that there are ties.
    scores = rng.standard_normal(n if n_classes == 2 else (n, n_classes)).round(1)
    noisy, clean = (rng.randint(0, n_classes, n).astype(np.int32) for _ in range(2))
    stops, counts = np.array([n // 3, n // 2, n]), np.empty((3, 3), np.int64)
    totals = mistakes_of_both(scores, noisy, clean, stops, counts)
    assert totals[2] == tied_predictions(scores, clean) > 0
    for place, labels in enumerate((noisy, clean)):
        margins = margins_of(scores, labels if n_classes > 2 else 2 * labels - 1)
        assert counts[place].tolist() == np.cumsum(margins <= 0)[stops - 1].tolist()
        assert totals[place] == counts[place, -1]
    assert counts[2].tolist() == np.cumsum(margins == 0)[stops - 1].tolist()
    assert wrong_predictions(scores, noisy) == count_wrong(scores.reshape(n, -1), noisy)


def test_a_score_that_is_no_number_is_a_mistake_and_no_tie():
    scores, codes = np.array([np.nan, np.nan, 0.0, np.inf, -np.inf]), np.array([0, 1, 1, 1, 0], np.int32)
    counts = np.empty((3, 1), np.int64)
    assert mistakes_of_both(scores, codes, codes, np.array([5]), counts) == (3, 3, 1)
    assert counts[:, 0].tolist() == [3, 3, 1]
