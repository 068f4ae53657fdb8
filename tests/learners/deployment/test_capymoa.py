"""Learners as classifiers of CapyMOA. It needs Java; without CapyMOA nothing is tested here."""

import numpy as np
import pytest

from singlepass.learners import ALMA, AROW, OnlineGradientDescent, to_capymoa

from ..streams import noisy_classes, noisy_stream

pytest.importorskip("capymoa")
from capymoa.core import LabeledInstance
from capymoa.evaluation import prequential_evaluation
from capymoa.stream import NumpyStream, Schema


def _schema(d, labels):
    names = [*map(str, range(d)), "label"]
    return Schema.from_custom(features=names, target="label", categories={"label": labels})


@pytest.mark.parametrize("n_classes", [2, 3])
def test_its_evaluation_is_learn(n_classes):
    X, y = noisy_stream(0, 80, 4) if n_classes == 2 else noisy_classes(0, 80, 4, 3)
    stream = NumpyStream(X, y, target_type="categorical")
    made = to_capymoa(AROW(), stream.get_schema())
    accuracy = prequential_evaluation(stream, made).cumulative.accuracy()
    scores = AROW().learn(X, y)
    said = (scores > 0) if n_classes == 2 else scores.argmax(axis=1)
    assert round((1 - accuracy / 100) * len(y)) == np.count_nonzero(said != y)


def test_probabilities_are_those_of_log_odds():
    schema = _schema(1, ["no", "yes"])
    made = to_capymoa(OnlineGradientDescent(loss="logistic"), schema)
    one = LabeledInstance.from_array(schema, np.array([1.0]), 1)
    made.train(one)
    chance = 1 / (1 + np.exp(-made.learner_.coef_[0, 0]))
    assert made.predict_proba(one) == pytest.approx([1 - chance, chance])
    assert to_capymoa(AROW(), schema).predict_proba(one).tolist() == [1.0, 0.0]


def test_what_does_not_fit_is_one_line():
    with pytest.raises(ValueError, match="takes a learner of singlepass"):
        to_capymoa(object(), _schema(1, ["a", "b"]))
    with pytest.raises(ValueError, match="ALMA takes two classes, the schema has 3"):
        to_capymoa(ALMA(), _schema(1, ["a", "b", "c"]))
    with pytest.raises(ValueError, match=r"at least two classes, got a schema with 1$"):
        to_capymoa(AROW(), _schema(1, ["a"]))
    regression = NumpyStream(np.ones((2, 1)), np.array([0.5, 1.5]), target_type="numeric")
    with pytest.raises(ValueError, match=r"at least two classes, got a regression schema$"):
        to_capymoa(AROW(), regression.get_schema())
    with pytest.raises(ValueError, match=r"takes a stream's schema, stream.get_schema\(\), got None$"):
        to_capymoa(AROW(), None)
