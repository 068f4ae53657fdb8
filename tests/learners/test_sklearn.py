"""scikit-learn's own checks, for every learner in every variant; none is expected to fail."""

import pickle

from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from .streams import KERNEL_LEARNERS, LEARNERS, SEVERAL_CONSTRAINTS, any_learner, noisy_stream, state


@parametrize_with_checks(LEARNERS + SEVERAL_CONSTRAINTS + KERNEL_LEARNERS)
def test_estimator(estimator, check):
    check(estimator)


@any_learner
def test_a_pickled_learner_goes_on_where_it_stopped(learner):
    X, y = noisy_stream(1)
    model = clone(learner).partial_fit(X[:80], y[:80], [0, 1])
    copy = pickle.loads(pickle.dumps(model))
    assert state(copy.partial_fit(X[80:], y[80:])) == state(model.partial_fit(X[80:], y[80:]))
