"""scikit-learn's own checks, for every learner; none is expected to fail."""

import pickle

from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from .streams import KERNEL_LEARNERS, LEARNERS, SEVERAL_CONSTRAINTS, any_learner, noisy_stream, state


def of_each_kind(learners):
    """Return one learner of every class, variant and shape of covariance: what the checks look at is theirs.

    The others differ in the numbers of an update alone, which is what other tests are about.
    """
    parameters = ("covariance", "variant", "constraint")
    kinds = {}
    for learner in learners:
        kind = type(learner), *(getattr(learner, name, None) for name in parameters)
        kinds.setdefault(kind, learner)
    return list(kinds.values())


@parametrize_with_checks(
    of_each_kind(LEARNERS) + of_each_kind(SEVERAL_CONSTRAINTS) + of_each_kind(KERNEL_LEARNERS)
)
def test_estimator(estimator, check):
    check(estimator)


@any_learner
def test_a_pickled_learner_goes_on_where_it_stopped(learner):
    X, y = noisy_stream(1)
    model = clone(learner).partial_fit(X[:80], y[:80], [0, 1])
    copy = pickle.loads(pickle.dumps(model))
    assert state(copy.partial_fit(X[80:], y[80:])) == state(model.partial_fit(X[80:], y[80:]))
