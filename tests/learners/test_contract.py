"""Guarantees on which the pipeline relies."""

import numpy as np
from sklearn.base import clone

from singlepass.learners import Perceptron, QueryAll
from singlepass.learners.contract import StreamLearner

from .streams import any_learner, noisy_stream


@any_learner
def test_every_learner_keeps_the_contract(learner):
    X, y = noisy_stream(2, n=40)
    model = clone(learner)
    assert isinstance(model, StreamLearner)
    model.check_parameters()
    model.begin(np.arange(2), X.shape[1])
    before = model.counters()
    assert before["updates"] == 0
    assert model.learn_rows(X, y).shape == model.score_rows(X).shape == (40,)
    model.end_of_pass(last=True)
    counters = model.counters()
    assert counters.keys() == before.keys()
    assert all(isinstance(value, int) for value in counters.values())
    assert counters["updates"] == model.n_updates_ > 0
    assert counters["model_bytes"] == model.model_bytes_ > 0
    assert set(model.predict(X)) <= {0, 1}
    assert model.switches() is None or all(isinstance(row, int) for row in model.switches())


def test_a_strategy_counts_what_its_learner_does_and_the_labels():
    X, y = noisy_stream(2, n=40)
    model = QueryAll(Perceptron()).fit(X, y)
    assert model.counters() == model.learner_.counters() | {"queried": 40}
    assert isinstance(model, StreamLearner)
