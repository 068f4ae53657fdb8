"""A score of exactly 0 is a mistake in learning, and predicts the first class."""

import numpy as np
from sklearn.linear_model import SGDClassifier

from singlepass.learners import AROW


def test_a_score_of_zero_is_a_mistake_and_predicted_as_the_first_class():
    X, y = np.array([[1.0], [-1.0]]), np.array(["no", "yes"])
    learner = AROW().fit(X, y)
    nothing = np.zeros((1, 1))
    assert learner.decision_function(nothing).tolist() == [0.0]
    other = SGDClassifier(fit_intercept=False).fit(X, y)
    assert learner.predict(nothing).tolist() == other.predict(nothing).tolist() == ["no"]
    before = learner.n_mistakes_
    for label in ("no", "yes"):
        learner.learn(nothing, [label])
    assert learner.n_mistakes_ == before + 2
