"""Guarantees of all online support vector machines."""

import pytest
from sklearn.base import clone

from singlepass.learners import LASVM, ActiveRampSVM, IncrementalSVM, OnlineModelSelection, OnlineRampSVM

from ..streams import noisy_stream

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "learner",
    [
        LASVM(gamma=0.2),
        IncrementalSVM(gamma=0.2),
        OnlineRampSVM(gamma=0.2),
        ActiveRampSVM(gamma=0.2),
        OnlineModelSelection(gamma_init=0.2),
        OnlineModelSelection(kernel="poly", gamma=0.2),
    ],
    ids=lambda learner: type(learner).__name__,
)
def test_the_problem_is_that_which_learning_began_with(learner):
    """A change by `set_params` in the middle of a stream takes effect at the next fit."""
    X, y = noisy_stream(5)
    plain, changed = (clone(learner).partial_fit(X[:100], y[:100]) for _ in range(2))
    other = {
        "kernel": "poly" if learner.kernel == "rbf" else "rbf",
        "C": 7.0,
        "fit_intercept": False,
        "gamma": 3.0,
        "gamma_init": 3.0,
        "tau": 0.5,
        "tol": 0.5,
    }
    changed.set_params(**{name: value for name, value in other.items() if name in learner.get_params()})
    scores = [model.learn(X[100:], y[100:]).tolist() for model in (plain, changed)]
    assert scores[0] == scores[1]
    assert plain.dual_coef_.tolist() == changed.dual_coef_.tolist()
    assert getattr(plain, "objective_", 0.0) == getattr(changed, "objective_", 0.0)
    assert clone(changed).fit(X, y).dual_coef_.tolist() != clone(learner).fit(X, y).dual_coef_.tolist()
