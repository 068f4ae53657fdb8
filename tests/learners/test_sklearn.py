"""scikit-learn's own checks for every learner; none is expected to fail."""

import pickle
from unittest import SkipTest

import numpy as np
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.ensemble import VotingClassifier
from sklearn.metrics import get_scorer
from sklearn.utils.estimator_checks import (
    check_classifiers_train,
    check_decision_proba_consistency,
    estimator_checks_generator,
    parametrize_with_checks,
)

from singlepass.learners import (
    AROW,
    ExponentialWeights,
    FollowTheLeader,
    OnlineGradientDescent,
    PassiveAggressive,
    Resetting,
)

from .streams import (
    FEATURE_LEARNERS,
    KERNEL_LEARNERS,
    LEARNERS,
    SEVERAL_CONSTRAINTS,
    any_learner,
    is_fast,
    noisy_classes,
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


LOGISTIC = OnlineGradientDescent(loss="logistic")


def test_log_odds_give_probabilities():
    X, y = noisy_stream(0)
    model = clone(LOGISTIC).fit(X, y)
    scores, chances = model.decision_function(X), model.predict_proba(X)
    np.testing.assert_allclose(chances, np.column_stack([expit(-scores), expit(scores)]))
    for check in (check_classifiers_train, check_decision_proba_consistency):
        check("OnlineGradientDescent", clone(LOGISTIC))


def test_log_probabilities_of_many_classes_give_probabilities():
    X, y = noisy_classes(0)
    model = clone(LOGISTIC).fit(X, y)
    chances = model.predict_proba(X)
    np.testing.assert_allclose(chances, softmax(model.decision_function(X), axis=1))
    vote = VotingClassifier([("one", clone(LOGISTIC)), ("two", clone(LOGISTIC))], voting="soft").fit(X, y)
    np.testing.assert_allclose(vote.predict_proba(X), chances)
    expected = np.mean(np.log(chances[np.arange(len(y)), y]))
    assert get_scorer("neg_log_loss")(model, X, y) == pytest.approx(expected)


def test_only_log_odds_give_probabilities():
    grid = {"eta": [0.1, 1.0]}
    for learner in (LOGISTIC, Resetting(LOGISTIC), FollowTheLeader(LOGISTIC, grid)):
        assert hasattr(learner, "predict_proba")
    hinge = OnlineGradientDescent()
    for learner in (hinge, AROW(), Resetting(hinge), ExponentialWeights(LOGISTIC, grid)):
        assert not hasattr(learner, "predict_proba")
    assert hasattr(hinge.set_params(loss="logistic"), "predict_proba")


@any_learner
def test_a_pickled_learner_goes_on_where_it_stopped(learner):
    X, y = noisy_stream(1)
    model = clone(learner).partial_fit(X[:80], y[:80], [0, 1])
    copy = pickle.loads(pickle.dumps(model))
    assert state(copy.partial_fit(X[80:], y[80:])) == state(model.partial_fit(X[80:], y[80:]))
