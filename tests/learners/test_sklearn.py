"""scikit-learn's own checks for every learner; none is expected to fail."""

import pickle

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from .streams import (
    FEATURE_LEARNERS,
    KERNEL_LEARNERS,
    LEARNERS,
    REPRESENTATIVES,
    SEVERAL_CONSTRAINTS,
    any_learner,
    noisy_stream,
    state,
)

EVERY_VARIANT = LEARNERS + SEVERAL_CONSTRAINTS + KERNEL_LEARNERS + FEATURE_LEARNERS
QUICK = [learner for learner in EVERY_VARIANT if repr(learner) in REPRESENTATIVES]
FURTHER = [learner for learner in EVERY_VARIANT if not any(learner is one for one in QUICK)]


@parametrize_with_checks(QUICK)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(FURTHER)
def test_every_variant(estimator, check):
    check(estimator)


@any_learner
def test_a_pickled_learner_goes_on_where_it_stopped(learner):
    X, y = noisy_stream(1)
    model = clone(learner).partial_fit(X[:80], y[:80], [0, 1])
    copy = pickle.loads(pickle.dumps(model))
    assert state(copy.partial_fit(X[80:], y[80:])) == state(model.partial_fit(X[80:], y[80:]))
