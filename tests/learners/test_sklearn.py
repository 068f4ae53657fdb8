"""scikit-learn's own checks for every learner; none is expected to fail."""

import pickle
from unittest import SkipTest

import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator, parametrize_with_checks

from singlepass.learners import PassiveAggressive

from .streams import (
    FEATURE_LEARNERS,
    KERNEL_LEARNERS,
    LEARNERS,
    SEVERAL_CONSTRAINTS,
    any_learner,
    is_fast,
    noisy_stream,
    state,
)

EVERY_VARIANT = LEARNERS + SEVERAL_CONSTRAINTS + KERNEL_LEARNERS + FEATURE_LEARNERS


def is_left_out(learner, check):
    """Return whether a check of scikit-learn that fits float32 rows is for the representatives only.

    Float32 rows compile each loop again. `test_orders` compares each loop on float32 and float64 rows to
    the last bit, so for the other linear learners the checks with float64 rows are enough. The other kernel
    learners are checked with float32 rows of two classes.
    """
    if check.func.__name__ == "check_estimators_dtypes":
        return learner._reads_orders
    return "X_dtype" in check.keywords


QUICK = [learner for learner in EVERY_VARIANT if is_fast(learner)]
# Each of the others compiles for seconds.
QUICKEST = [learner for learner in QUICK if isinstance(learner, PassiveAggressive)]
FURTHER = [learner for learner in EVERY_VARIANT if not is_fast(learner)]


@parametrize_with_checks(QUICKEST)
def test_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks([learner for learner in QUICK if learner not in QUICKEST])
def test_further_estimator(estimator, check):
    check(estimator)


@pytest.mark.slow
@pytest.mark.parametrize("learner", FURTHER, ids=repr)
def test_every_variant(learner):
    """Run all checks in one test, so that one process compiles the learner and few tests are collected."""
    for estimator, check in estimator_checks_generator(learner):
        if not is_left_out(learner, check):
            try:
                check(estimator)
            except SkipTest:
                continue
            except Exception as error:
                error.add_note(f"in {check.func.__name__} {check.keywords}")
                raise


@any_learner
def test_a_pickled_learner_goes_on_where_it_stopped(learner):
    X, y = noisy_stream(1)
    model = clone(learner).partial_fit(X[:80], y[:80], [0, 1])
    copy = pickle.loads(pickle.dumps(model))
    assert state(copy.partial_fit(X[80:], y[80:])) == state(model.partial_fit(X[80:], y[80:]))
