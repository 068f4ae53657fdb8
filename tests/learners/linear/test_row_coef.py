"""`row_coef_`, the weights with which a linear learner scores rows as given."""

import numpy as np
import pytest

from singlepass.learners.table import TABLE

from ..cases import CASES

pytestmark = pytest.mark.slow

LINEAR = [(row, settings) for row in TABLE if row.kind == "linear" for settings in CASES[row.name].variants]
OTHERS = {"ALMA", "NAROW", "SecondOrderPerceptron"}


@pytest.mark.parametrize(("row", "settings"), LINEAR, ids=[f"{row.name}-{own}" for row, own in LINEAR])
def test_row_coef_scores_rows_of_linear_learners(row, settings):
    learner = row.load()(**settings)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4)) * [0.1, 1.0, 3.0, 0.0]
    learner.fit(X, X @ [1.0, 1.0, -1.0, 0.0] + rng.normal(size=60) > 0)
    # New rows are not longer than earlier ones, so that no scale changes.
    new = X * rng.uniform(0.1, 1.0, size=(60, 1))
    expected = new @ learner.row_coef_[0]
    votes_or_lengths = settings.get("output") == "voted" or settings.get("scale") == "instance"
    assert learner.scores_are_linear == (row.name not in OTHERS and not votes_or_lengths)
    # The scale of Vowpal Wabbit is a mean over the rows so far, including the scored one.
    close = 0.1 if row.name == "VowpalWabbitCoin" else 1e-10
    found = learner.decision_function(new)
    assert np.allclose(found, expected, rtol=close, atol=0.1 * close) == learner.scores_are_linear
