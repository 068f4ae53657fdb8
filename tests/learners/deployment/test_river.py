"""Learners as classifiers of River: its own checks, its evaluation, features and labels that come by name."""

import csv
import gc
import os
import pickle
import random
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from sklearn.base import clone

from singlepass.learners import (
    ALMA,
    AROW,
    FOGD,
    KT,
    NAROW,
    ConfidenceWeighted,
    FollowTheLeader,
    FTRLProximal,
    KernelPerceptron,
    MarginPerceptron,
    OnlineGradientDescent,
    OnlineModelSelection,
    PassiveAggressive,
    Perceptron,
    VowpalWabbitCoin,
    load,
    save,
    to_river,
)

from ..streams import is_representative
from .test_saving import every_learner

pytest.importorskip("river")
from river import checks, drift, evaluate, metrics, preprocessing
from river.datasets import Phishing


def _classifiers():
    """Return every learner for two classes and, if it takes them, for the seven of `ImageSegments`."""
    for learner in every_learner():
        many = learner.__sklearn_tags__().classifier_tags.multi_class
        for n_classes in (2, 7) if many else (2,):
            quick = is_representative(learner) and n_classes == 2
            marks = [] if quick and isinstance(learner, (AROW, FOGD)) else [pytest.mark.slow]
            yield pytest.param(learner, n_classes, id=f"{learner!r}-{n_classes}", marks=marks)


@pytest.mark.parametrize(("learner", "n_classes"), list(_classifiers()))
def test_checks_of_river(learner, n_classes):
    model = to_river(learner, n_classes)
    assert not model._unit_test_skips()
    # The check of memory collects garbage four times, which would search all compiled code each time.
    gc.freeze()
    checks.check_estimator(model)


def _phishing():
    rows = list(Phishing())
    names = sorted(rows[0][0])
    return names, np.array([[x[name] for name in names] for x, _ in rows], float), [y for _, y in rows], rows


# The other learners take long to compile.
QUICK = ("PassiveAggressive(C=0.5)", "KernelPerceptron(gamma=0.1)")

# Rules that depend on products with weights alone, on lengths, on means, on a full covariance, on kernels.
LIKE_LEARN = [
    AROW(),
    pytest.param(ALMA(), marks=pytest.mark.slow),
    pytest.param(Perceptron(average=True), marks=pytest.mark.slow),
    pytest.param(OnlineGradientDescent(loss="logistic", l2=0.01, average=True), marks=pytest.mark.slow),
    pytest.param(ConfidenceWeighted(covariance="full"), marks=pytest.mark.slow),
    pytest.param(NAROW(), marks=pytest.mark.slow),
    pytest.param(FTRLProximal(), marks=pytest.mark.slow),
    pytest.param(KernelPerceptron(), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("learner", LIKE_LEARN, ids=repr)
def test_progressive_validation_is_learn(learner):
    _, X, y, rows = _phishing()
    made = to_river(learner)
    accuracy = evaluate.progressive_val_score(rows, made, metrics.Accuracy())
    scores = clone(learner).learn(X, y)
    assert round((1 - accuracy.get()) * len(y)) == np.count_nonzero((scores > 0) != y)
    assert made.learner_.n_examples_ == len(y)


@pytest.mark.slow
@pytest.mark.parametrize("output", ["longest", "voted"])
def test_a_row_is_predicted_by_the_hypotheses_that_vote(output):
    _, X, y, rows = _phishing()
    made, learner = (
        to_river(MarginPerceptron(output=output)),
        MarginPerceptron(output=output).fit(X[:60], y[:60]),
    )
    for x, label in rows[:60]:
        made.learn_one(x, label)
    assert [made.predict_one(x) for x, _ in rows[:200]] == learner.predict(X[:200]).tolist()


def test_class_weights_of_a_grid_name_labels_that_have_not_occurred():
    grid = {"class_weight": [{0: 1.0, 1: 2.0}, {0: 1.0, 1: 5.0}]}
    made = to_river(FollowTheLeader(Perceptron(), grid))
    made.learn_one({"a": 1.0}, 0)
    assert made.labels_ == [0, 1]


@pytest.mark.slow
def test_progressive_validation_is_learn_on_elec2():
    path = Path(os.environ.get("SINGLEPASS_DATA", ".")) / "elec.csv"
    if not path.is_file():
        pytest.skip("elec.csv is not in the folder SINGLEPASS_DATA")
    with path.open() as file:
        read = [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]
    rows = [(x, x.pop("class") == 1.0) for x in read]
    names, y = sorted(rows[0][0]), np.array([label for _, label in rows])
    X = np.array([[x[name] for name in names] for x, _ in rows])
    for learner in (AROW(), OnlineGradientDescent(loss="logistic")):
        accuracy = evaluate.progressive_val_score(rows, to_river(learner), metrics.Accuracy())
        wrong = np.count_nonzero((learner.learn(X, y) > 0) != y)
        assert round((1 - accuracy.get()) * len(y)) == wrong


def _sparse_rows(n=150, seed=0):
    """Return rows of words that come and go, and a column for each word in the order of its first row."""
    draw = random.Random(seed)
    rows = []
    for i in range(n):
        words = draw.sample(range(5 + i // 4), 4)
        rows.append(
            ({f"w{word}": draw.choice([1, 2.5]) for word in words}, draw.random() < 0.5 or 0 in words)
        )
    columns = {}
    for x, _ in rows:
        for name in sorted(x):
            columns.setdefault(name, len(columns))
    X = np.zeros((n, len(columns)))
    for i, (x, _) in enumerate(rows):
        for name, value in x.items():
            X[i, columns[name]] = value
    return rows, X, np.array([y for _, y in rows]), list(columns)


# Random features of later names are drawn when they appear. A first γ is 1 over the number of features, and
# Oja's first directions depend on it, too.
GROWING = [
    pytest.param(each, id=repr(each), marks=[] if repr(each) in QUICK else [pytest.mark.slow])
    for each in [*every_learner(), AROW(covariance="full")]
    if not isinstance(each, (FOGD, OnlineModelSelection)) and getattr(each, "sketch", "fd") != "oja"
]


@pytest.mark.parametrize("learner", GROWING)
def test_features_come_as_they_come(learner):
    rows, X, y, names = _sparse_rows()
    made = to_river(learner)
    said = []
    for x, label in rows:
        said.append(made.predict_one(x))
        made.learn_one(x, label)
    scores = clone(learner).learn(X, y)
    assert said == (scores > 0).tolist()
    assert made.features_ == names


@pytest.mark.slow
def test_features_of_many_classes_come_as_they_come():
    rows, X, y, _ = _sparse_rows()
    labels = [("c" if label and i % 3 else "b" if label else "a") for i, label in enumerate(y)]
    for learner in (AROW(), AROW(covariance="full"), KernelPerceptron(gamma=0.1)):
        made, order = to_river(learner, 3), list(dict.fromkeys(labels))
        said = []
        for (x, _), label in zip(rows, labels, strict=True):
            said.append(made.predict_one(x))
            made.learn_one(x, label)
        scores = learner.learn(X, [order.index(label) for label in labels], classes=[0, 1, 2])
        known = np.maximum.accumulate([order.index(label) for label in labels])
        expected = [order[scores[i, : known[i - 1] + 1].argmax()] if i else None for i in range(len(labels))]
        assert said == expected


def test_random_features_of_later_names_are_drawn():
    rows, *_ = _sparse_rows(60)
    first, second = to_river(FOGD(D=20, random_state=1)), to_river(FOGD(D=20, random_state=1))
    for x, label in rows:
        first.learn_one(x, label)
        second.learn_one(x, label)
    frequencies = first.learner_.frequencies_
    np.testing.assert_array_equal(frequencies, second.learner_.frequencies_)
    assert len(np.unique(frequencies)) == frequencies.size


@pytest.mark.slow
def test_a_pipeline_with_scaler_and_drift_detector():
    model = drift.DriftRetrainingClassifier(
        preprocessing.StandardScaler() | to_river(OnlineGradientDescent(loss="logistic"))
    )
    accuracy = evaluate.progressive_val_score(Phishing().take(200), model, metrics.Accuracy())
    assert accuracy.get() > 0.75


def test_learning_many_rows_is_learning_each():
    _, _, y, rows = _phishing()
    one, many = to_river(AROW()), to_river(AROW())
    for x, label in rows[:200]:
        one.learn_one(x, label)
    frame = pd.DataFrame([x for x, _ in rows[:200]])
    many.learn_many(frame[:120], pd.Series(y[:120]))
    many.learn_one(*rows[120])
    many.learn_many(frame[121:], pd.Series(y[121:200]))
    np.testing.assert_array_equal(one.learner_.coef_, many.learner_.coef_)
    assert one.learner_.counters() == many.learner_.counters()


def test_probabilities_are_those_of_log_odds():
    model = to_river(OnlineGradientDescent(loss="logistic"))
    assert model.predict_proba_one({"a": 1.0}) == {False: 0.5, True: 0.5}
    model.learn_one({"a": 1.0}, True)
    chance = model.predict_proba_one({"a": 1.0})[True]
    assert chance == pytest.approx(1 / (1 + np.exp(-model.learner_.coef_[0, 0])))
    with pytest.raises(NotImplementedError, match=r"scores of this AROW are not log odds; use predict_one"):
        to_river(AROW()).predict_proba_one({"a": 1.0})


def test_labels_are_numbered_as_they_come():
    model = to_river(AROW())
    assert model.predict_one({"a": 1.0}) is False
    model.learn_one({"a": 1.0}, "spam")
    assert model.predict_one({"a": 1.0}) == "spam"
    model.learn_one({"b": 1.0}, "ham")
    assert model.labels_ == ["spam", "ham"]
    assert model.predict_one({"b": 1.0}) == "ham"
    with pytest.raises(ValueError, match="label 'eggs' is one too many: the labels so far are"):
        model.learn_one({"a": 1.0}, "eggs")
    weighted = to_river(AROW(class_weight={"spam": 2.0}))
    weighted.learn_one({"a": 1.0}, "ham")
    assert weighted.labels_ == ["spam", "ham"]


def test_an_untrained_copy_has_the_labels_with_weights():
    model = to_river(AROW(class_weight={"spam": 2.0}))
    copy = pickle.loads(pickle.dumps(model))
    for each in (model, copy):
        each.learn_one({"a": 1.0}, "ham")
    assert copy.learner_.coef_.tolist() == model.learner_.coef_.tolist()


@pytest.mark.parametrize("label", [None, float("nan")])
def test_a_missing_label_is_refused(label):
    model = to_river(AROW())
    with pytest.raises(ValueError, match=f"a label is missing \\({label}\\): leave out rows"):
        model.learn_one({"a": 1.0}, label)
    with pytest.raises(ValueError, match="a label is missing"):
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), pd.Series([1.0, label]))
    assert model.labels_ == model.features_ == []


def test_a_row_with_invalid_values_leaves_no_label_or_feature():
    model = to_river(AROW())
    for x in ({"a": float("nan")}, {"b": float("nan")}):
        with pytest.raises(ValueError, match="is nan: fill it in first"):
            model.learn_one(x, "w")
        assert "w" not in model.labels_
        model.learn_one({"a": 1.0}, "u")
    for values, labels in (([np.nan, 1.0], ["w", "w"]), ([1.0, 1.0], ["w", "x"])):
        with pytest.raises(ValueError, match=r"feature 'c' is NaN|label 'x' is one too many"):
            model.learn_many(pd.DataFrame({"c": values}), pd.Series(labels))
    assert (model.labels_, model.features_) == (["u"], ["a"])
    model.learn_one({"a": -1.0}, "v")
    assert model.predict_one({"a": -1.0}) == "v"


def test_an_empty_frame_changes_nothing():
    model = to_river(AROW())
    model.learn_many(pd.DataFrame(), pd.Series(dtype=object))
    assert model.predict_one({"a": 1.0}) == to_river(AROW()).predict_one({"a": 1.0})
    model.learn_many(pd.DataFrame({"a": [1.0, -1.0]}), pd.Series(["u", "v"]))
    assert model.predict_one({"a": -1.0}) == "v"


@pytest.mark.parametrize("n_labels", [1, 3])
def test_a_frame_needs_a_label_for_each_row(n_labels):
    model = to_river(AROW())
    with pytest.raises(ValueError, match=f"X has 2 rows, but y has {n_labels} labels: pass a label for each"):
        model.learn_many(pd.DataFrame({"a": [1.0, 2.0]}), pd.Series([True] * n_labels))
    assert model.labels_ == []


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (["1", "2"], "feature 'a' is "),
        (pd.Categorical([1, 2]), "feature 'a' is of dtype category: encode it first"),
        (pd.to_datetime(["2020-01-01", "2021-01-01"]), "feature 'a' is of dtype datetime64"),
        (np.array([1, "2"], object), "feature 'a' is '2', not a number"),
        (pd.Series([10**400, 1], dtype=object), "feature 'a' is too large for a float"),
        (pd.array([1, None], "Int64"), "feature 'a' is NaN or infinite"),
    ],
)
def test_a_column_that_is_not_numeric_is_named(column, words):
    model = to_river(AROW())
    model.learn_many(pd.DataFrame({"a": np.array([1, True], object)}), pd.Series([True, False]))
    for call in (lambda X: model.learn_many(X, pd.Series([True, False])), model.predict_many):
        with pytest.raises(ValueError, match=words):
            call(pd.DataFrame({"a": column}))


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(ValueError, match="two columns are named 'a': rename or drop one"):
        to_river(AROW()).learn_many(pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), pd.Series([True]))


def test_an_integer_too_large_for_a_float_is_named():
    model = to_river(AROW(), np.int64(3))
    for _ in range(2):
        with pytest.raises(ValueError, match="feature 'a' is too large for a float: scale it down first"):
            model.learn_one({"a": 10**400}, 1)
        model.learn_one({"a": 1}, 1)
    assert (model.n_classes, model.labels_) == (3, [1])


def test_unknown_features_of_predictions_are_not_kept_by_weights():
    model = to_river(AROW())
    model.learn_one({"a": 1.0}, True)
    assert model.predict_one({"a": 1.0, "b": 5.0}) is True
    assert model.features_ == ["a"]
    model.learn_one({"a": 1.0, "b": 5.0}, False)
    assert model.features_ == ["a", "b"]
    assert model.predict_one({"b": 5.0}) is False


@pytest.mark.parametrize(
    "learner",
    [
        OnlineGradientDescent(loss="logistic"),
        *[
            pytest.param(each, marks=pytest.mark.slow)
            for each in (
                KT(loss="logistic"),
                KT(loss="logistic", scale="instance"),
                KT(loss="logistic", scale="none"),
                VowpalWabbitCoin(),
            )
        ],
    ],
    ids=repr,
)
def test_unknown_features_count_in_probabilities(learner):
    model = to_river(learner)
    model.learn_one({"a": 1.0}, True)
    trained = clone(learner).partial_fit([[1.0, 0.0]], [1], classes=[0, 1])
    expected = expit(trained.decision_function([[0.5, 9.0]])[0])
    assert model.predict_proba_one({"a": 0.5, "b": 9.0})[True] == pytest.approx(expected)
    assert model.predict_proba_many(pd.DataFrame([[0.5, 9.0]], columns=["a", "c"]))[True][0] == expected


def test_learners_whose_scores_need_whole_rows():
    assert [KT(scale=each).scores_need_whole_rows for each in ("running", "instance", "none")] == [
        True,
        True,
        False,
    ]
    assert VowpalWabbitCoin().scores_need_whole_rows
    assert ALMA().scores_need_whole_rows
    assert not AROW().scores_need_whole_rows


@pytest.mark.parametrize("value", [float("nan"), float("inf"), None, "red"])
def test_a_value_that_is_no_number_is_named(value):
    model = to_river(AROW())
    model.learn_one({"a": 1.0, "color": 1}, True)
    before = model.learner_.coef_.copy()
    for call in (lambda x: model.learn_one(x, True), model.predict_one):
        with pytest.raises(ValueError, match=f"feature 'color' is {value!r}"):
            call({"a": 1.0, "color": value})
    np.testing.assert_array_equal(model.learner_.coef_, before)
    assert model.predict_one({"a": 1e308, "color": 1e308}) is True


def test_a_trained_learner_goes_on():
    names, X, y, rows = _phishing()
    trained = AROW().fit(pd.DataFrame(X[:600], columns=names), y[:600])
    model = to_river(trained)
    whole = AROW()
    whole.learn(X[:600], y[:600])
    scores = whole.learn(X[600:], y[600:])
    said = []
    for x, label in rows[600:]:
        said.append(model.predict_one(x))
        model.learn_one(x, label)
    assert said == (scores > 0).tolist()
    assert trained.n_examples_ == 600
    assert model.clone().predict_one(rows[0][0]) is False


def test_a_saved_classifier_goes_on(tmp_path):
    _, _, _, rows = _phishing()
    model = to_river(AROW(r=0.5))
    for x, label in rows[:100]:
        model.learn_one(x, label)
    save(model, tmp_path / "model.npz")
    loaded, copy = load(tmp_path / "model.npz"), pickle.loads(pickle.dumps(model))
    for x, label in rows[100:200]:
        assert loaded.predict_one(x) is copy.predict_one(x) is model.predict_one(x)
        for each in (loaded, copy, model):
            each.learn_one(x, label)


def test_what_is_no_learner_or_takes_no_more_classes_is_one_line():
    with pytest.raises(ValueError, match="takes a learner of singlepass"):
        to_river(object())
    with pytest.raises(ValueError, match="ALMA takes two classes, got n_classes=3"):
        to_river(ALMA(), 3)
    with pytest.raises(ValueError, match="AROW: r must be"):
        to_river(AROW(r=-1.0))


class Normed(PassiveAggressive):
    """A learner of a user that changes rows in a method that `learn_one` does not reach."""

    def learn_rows(self, X, codes):
        return super().learn_rows(X / 2.0, codes)


def test_a_class_whose_method_would_not_be_called_is_refused():
    with pytest.raises(
        ValueError, match=r"^to_river: Normed overrides learn_rows, which to_river does not call"
    ):
        to_river(Normed())


class Shrinking(PassiveAggressive):
    """A learner of a user whose weights shrink after each row."""

    def _pass(self, X, codes, scores):
        made = super()._pass(X, codes, scores)
        self._weights *= 0.9
        return made


def test_an_overridden_pass_is_called():
    _, X, y, rows = _phishing()
    made, other = to_river(Shrinking()), Shrinking()
    for t in range(50):
        made.learn_one(*rows[t])
        other.learn(X[t : t + 1], [y[t]], classes=[False, True])
    assert made.learner_.coef_[0, : X.shape[1]] == pytest.approx(other.coef_[0], rel=1e-12)
