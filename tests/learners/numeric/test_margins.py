"""The label as a sign, the best wrong class, and probabilities."""

import numpy as np
import pytest

from singlepass.learners.numeric.compiled import compiled
from singlepass.learners.numeric.margins import best_wrong, probabilities, signed


@compiled
def _signed(codes, signs):
    for t in range(codes.shape[0]):
        signs[t] = signed(codes[t])


@compiled
def _best_wrong(scores, y):
    return best_wrong(scores, y)


def test_signed():
    signs = np.empty(3)
    _signed(np.array([0, 1, 0], np.int32), signs)
    assert signs.tolist() == [-1.0, 1.0, -1.0]


@pytest.mark.parametrize(
    ("scores", "y", "expected"),
    [
        ([3.0, 1.0, 2.0], 0, 2),
        ([3.0, 1.0, 2.0], 1, 0),
        ([1.0, 1.0, 1.0], 0, 1),  # the lowest of equal ones
        ([1.0, 1.0, 1.0], 2, 0),
        ([5.0, np.nan, 9.0, np.nan], 2, 1),  # a NaN is largest, the first of several
        ([np.nan, 1.0, 2.0], 0, 2),  # the right class does not count
        ([-np.inf, -np.inf], 1, 0),
    ],
)
def test_best_wrong(scores, y, expected):
    assert _best_wrong(np.array(scores), y) == expected


def test_probabilities_of_log_odds():
    scores = np.array([0.0, np.log(3.0), -800.0, np.inf, -np.inf, np.nan])
    expected = [[0.5, 0.5], [0.25, 0.75], [1.0, 0.0], [0.0, 1.0], [1.0, 0.0], [np.nan, np.nan]]
    np.testing.assert_allclose(probabilities(scores), expected)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.0, np.log(2.0), 0.0], [0.25, 0.5, 0.25]),
        ([900.0, 0.0, -900.0], [1.0, 0.0, 0.0]),
        ([1e308, 0.0, -1e308], [1.0, 0.0, 0.0]),
        ([np.inf, 0.0, np.inf], [0.5, 0.0, 0.5]),
        ([-np.inf, 0.0, 0.0], [0.0, 0.5, 0.5]),
        ([-np.inf] * 4, [0.25] * 4),
        ([np.nan, 0.0, np.inf], [np.nan] * 3),
    ],
)
def test_probabilities_of_log_probabilities(scores, expected):
    np.testing.assert_allclose(probabilities(np.array([scores]))[0], expected)
