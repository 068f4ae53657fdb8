"""Class weights and CSOGD: against the plain rules, and against learners without weights."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.utils.estimator_checks import check_classifiers_train

from singlepass.learners import (
    AROW,
    CSOGD,
    MarginPerceptron,
    OnlineGradientDescent,
    PassiveAggressive,
    Perceptron,
    QueryAll,
)
from singlepass.learners.linear.parts.classes import weights_by_code

from ..streams import (
    LEARNERS,
    SEVERAL_CONSTRAINTS,
    as_csr,
    is_representative,
    noisy_classes,
    noisy_stream,
    state,
    tiered,
)

WEIGHTED = [each for each in LEARNERS + SEVERAL_CONSTRAINTS if hasattr(each, "class_weight")]
WEIGHTS = {0: 0.3, 1: 2.0, 3: 5.0}
every_weighted_learner = pytest.mark.parametrize("learner", tiered(WEIGHTED))
n_classes = pytest.mark.parametrize("n_classes", [2, pytest.param(4, marks=pytest.mark.slow)])
streams = given(
    seed=st.integers(0, 2**31 - 1), cuts=st.lists(st.integers(1, 79), max_size=4), sparse=st.booleans()
)


def test_which_learners_take_class_weights():
    takers = {AROW, MarginPerceptron, OnlineGradientDescent, PassiveAggressive, Perceptron}
    assert {type(learner) for learner in WEIGHTED} == takers


@every_weighted_learner
@n_classes
def test_weights_of_one_change_nothing(learner, n_classes):
    X, y = noisy_classes(1, n_classes=n_classes, density=0.6)
    # The tests below learn CSR rows of weighted classes.
    for convert in (np.asarray, as_csr) if is_representative(learner) else (np.asarray,):
        plain = clone(learner).partial_fit(convert(X), y, range(n_classes))
        for weights in ({}, {1: 1}, dict.fromkeys(range(n_classes), 1.0)):
            weighted = clone(learner).set_params(class_weight=weights)
            assert state(weighted.partial_fit(convert(X), y, range(n_classes))) == state(plain)


class Plain:
    """A plain learner: one row of weights for two classes, otherwise one per class.

    `rule(self, s, delta, m, weight, label)` moves w along delta, which is y x or Δf.
    """

    def __init__(self, learner, rule, n_classes, d):
        vars(self).update(learner.get_params())
        self.rule, self.n_classes, self.t = rule, n_classes, 0
        self.w = np.zeros((1 if n_classes == 2 else n_classes, d))
        self.sigma = np.eye(self.w.size)

    def learn(self, X, y, weights):
        scores = []
        for x, label in zip(X, y, strict=True):
            self.t += 1
            s = self.w @ x
            scores.append(s)
            if self.n_classes == 2:
                sign = 1.0 if label == 1 else -1.0
                delta, m = sign * x[None], sign * s[0]
            else:
                others = np.where(np.arange(self.n_classes) == label, -np.inf, s)
                delta, m = np.zeros_like(self.w), s[label] - others.max()
                delta[label], delta[others.argmax()] = x, -x
            if x.any():
                self.rule(self, s, delta, m, weights.get(label, 1.0), label)
        return np.squeeze(np.array(scores))


def perceptron(self, s, delta, m, weight, label):
    if m <= 0:
        self.w += weight * delta


def margin_perceptron(self, s, delta, m, weight, label):
    if m <= self.tau_plus:
        self.w += weight * self.eta * delta


def passive_aggressive(self, s, delta, m, weight, label):
    if m < 1:
        C, squares = weight * self.C, (delta**2).sum()
        tau = min(C, (1 - m) / squares) if self.variant == "PA-I" else (1 - m) / (squares + 1 / (2 * C))
        self.w += tau * delta


def arow(self, s, delta, m, weight, label):
    if m < 1:
        r, f = self.r / weight, delta.ravel()
        moved = self.sigma @ f
        v = f @ moved
        alpha = min(1 / (2 * r), (1 - m) / v) if self.loss == "hinge" else (1 - m) / (v + r)
        self.w += (alpha * moved).reshape(self.w.shape)
        if self.projection == "precision":
            self.sigma = np.diag(1 / (1 / np.diag(self.sigma) + f * f / r))
        else:
            shrunk = self.sigma - np.outer(moved, moved) / (v + r)
            self.sigma = shrunk if self.covariance == "full" else np.diag(np.diag(shrunk))


def gradient_descent(self, s, delta, m, weight, label):
    self.w *= 1 - self.eta / np.sqrt(self.t) * self.l2
    step = weight * self.eta / np.sqrt(self.t)
    if self.loss == "hinge":
        self.w += step * (m < 1) * delta
    elif len(s) == 1:
        self.w += step / (1 + np.exp(m)) * delta
    else:
        p = np.exp(s - s.max())
        gradient = p / p.sum() - (np.arange(len(s)) == label)
        self.w -= step * np.outer(gradient, delta[label])


RULES = [
    (Perceptron(), perceptron),
    (MarginPerceptron(0.5, 0.5, 0.7), margin_perceptron),
    *((PassiveAggressive(variant, 0.2), passive_aggressive) for variant in ("PA-I", "PA-II")),
    *((AROW(0.5, loss, "full"), arow) for loss in ("squared_hinge", "hinge")),
    *((AROW(0.5, projection=projection), arow) for projection in ("covariance", "precision")),
    *(
        (OnlineGradientDescent(0.5, loss, l2=l2), gradient_descent)
        for loss, l2 in (("hinge", 0.01), ("logistic", 0.0))
    ),
]


@pytest.mark.parametrize(
    ("learner", "rule"),
    [pytest.param(*each, marks=[] if is_representative(each[0]) else [pytest.mark.slow]) for each in RULES],
    ids=lambda each: repr(each) if not callable(each) else "",
)
@n_classes
@streams
def test_the_rules_written_out(learner, rule, n_classes, seed, cuts, sparse):
    X, y = noisy_classes(seed, n=80, d=6, n_classes=n_classes, density=0.7)
    weights = {label: weight for label, weight in WEIGHTS.items() if label < n_classes}
    plain = Plain(learner, rule, n_classes, 6)
    expected = plain.learn(X, y, weights)
    model = clone(learner).set_params(class_weight=weights)
    rows, edges = as_csr(X) if sparse else X, [0, *sorted(set(cuts)), len(y)]
    parts = [model.learn(rows[a:b], y[a:b], range(n_classes)) for a, b in itertools.pairwise(edges)]
    np.testing.assert_allclose(np.concatenate(parts), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(model.coef_, plain.w, rtol=0, atol=1e-9 * np.abs(plain.w).max())


@pytest.mark.slow
@n_classes
@pytest.mark.parametrize(
    "settings", [{"average": True}, {"rate": "adagrad"}, {"rate": "adagrad", "l2": 0.01}], ids=repr
)
def test_an_equal_weight_lengthens_the_steps(n_classes, settings):
    """Test the mean of gradient descent, and AdaGrad, whose steps an equal weight does not change."""
    X, y = noisy_classes(3, n_classes=n_classes)
    of_all = dict.fromkeys(range(n_classes), 4.0)
    l2 = settings.get("l2", 0.0)
    weighted = OnlineGradientDescent(
        0.5, "hinge", delta=0.0, class_weight=of_all, **settings | {"l2": 4.0 * l2}
    )
    eta = 0.5 if "rate" in settings else 2.0
    plain = OnlineGradientDescent(eta, "hinge", delta=0.0, **settings)
    np.testing.assert_allclose(weighted.fit(X, y).coef_, plain.fit(X, y).coef_, rtol=1e-9)


@pytest.mark.slow
@n_classes
@pytest.mark.parametrize("output", ["last", "average", "longest", "voted"])
def test_an_equal_weight_scales_a_perceptron(n_classes, output):
    if n_classes > 2 and output in ("longest", "voted"):
        return
    X, y = noisy_classes(3, n_classes=n_classes)
    for plain in (MarginPerceptron(0.0, 0.0, output=output), Perceptron(output == "average")):
        weighted = clone(plain).set_params(class_weight=dict.fromkeys(range(n_classes), 4.0)).fit(X, y)
        assert weighted.n_mistakes_ == plain.fit(X, y).n_mistakes_
        assert weighted.coef_.tolist() == (4.0 * plain.coef_).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("constraints", [2, "all"])
def test_several_constraints_with_an_equal_weight_have_another_r(constraints):
    X, y = noisy_classes(4, n_classes=4)
    weighted = AROW(2.0, constraints=constraints, class_weight=dict.fromkeys(range(4), 4.0)).fit(X, y)
    assert state(weighted) == state(AROW(0.5, constraints=constraints).fit(X, y))


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared_hinge"])
@pytest.mark.parametrize("rate", ["constant", "sqrt"])
def test_weighted_gradient_descent_equals_scikit_learn(loss, rate):
    X, y = noisy_stream(5, n=300, d=10)
    weights = {0: 0.4, 1: 3.0}
    theirs = SGDClassifier(
        loss="log_loss" if loss == "logistic" else loss,
        learning_rate="invscaling" if rate == "sqrt" else rate,
        eta0=0.05,
        power_t=0.5,
        alpha=0.0,
        class_weight=weights,
        fit_intercept=False,
        shuffle=False,
    )
    theirs.partial_fit(X, y, classes=[0, 1])
    ours = OnlineGradientDescent(0.05, loss, rate, class_weight=weights).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-12, atol=1e-14)


@pytest.mark.slow
@pytest.mark.parametrize("variant", ["CSOGD-I", "CSOGD-II"])
@streams
def test_cost_sensitive_gradient_descent(variant, seed, cuts, sparse):
    X, y = noisy_stream(seed, n=80, d=6, density=0.7)
    w, scores, updates = np.zeros(6), [], 0
    for x, label in zip(X, y, strict=True):
        sign, rho = (1.0, 3.0) if label == 1 else (-1.0, 1.0)
        scores.append(w @ x)
        if x.any() and sign * scores[-1] < (rho if variant == "CSOGD-I" else 1.0):
            w += 0.2 * (1.0 if variant == "CSOGD-I" else rho) * sign * x
            updates += 1
    model = CSOGD(variant, rho=3.0, eta=0.2)
    rows, edges = as_csr(X) if sparse else X, [0, *sorted(set(cuts)), len(y)]
    parts = [model.learn(rows[a:b], y[a:b], [0, 1]) for a, b in itertools.pairwise(edges)]
    np.testing.assert_allclose(np.concatenate(parts), scores, rtol=0, atol=1e-9)
    assert model.n_updates_ == updates


def test_csogd_ii_is_gradient_descent_with_weights():
    X, y = noisy_stream(6)
    descent = OnlineGradientDescent(0.25, rate="constant", class_weight={1: 4.0}).fit(X, y)
    assert CSOGD("CSOGD-II", rho=4.0, eta=0.25).fit(X, y).coef_.tolist() == descent.coef_.tolist()


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        (
            "balanced",
            "class_weight must be None or a dict .*'balanced' needs all labels before the first row.*",
        ),
        ([1.0, 2.0], r"class_weight must be None or a dict \{label: weight > 0\}, got \[1.0, 2.0\]"),
        ({1: 0.0}, "class_weight of 1 must be a number > 0, from 1e-150 to 1e150, got 0.0"),
        ({"a": -1}, "class_weight of 'a' must be a number > 0, from 1e-150 to 1e150, got -1"),
        ({1: "2"}, "class_weight of 1 must be a number > 0, from 1e-150 to 1e150, got '2'"),
        ({1: float("nan")}, "class_weight of 1 must be a number > 0"),
        ({7: 2.0}, "class_weight names 7, but the classes are 0, 1"),
        ({"1": 2.0}, "class_weight names '1', but the classes are 0, 1"),
    ],
)
def test_invalid_weights(weights, said):
    X, y = noisy_stream(7)
    model = AROW(class_weight=weights)
    with pytest.raises(ValueError, match=f"^AROW: {said}"):
        model.fit(X, y)
    assert not hasattr(model, "classes_")


def test_weights_must_name_labels():
    X, y = noisy_stream(8)
    names = np.array(["ham", "spam"])[y]
    weighted = AROW(class_weight={"spam": 3.0}).fit(X, names)
    assert state(weighted)["_weights"] == state(AROW(class_weight={1: 3.0}).fit(X, y))["_weights"]
    asked = QueryAll(AROW(class_weight={"spam": 3.0})).fit(X, names)
    assert asked.learner_.coef_.tolist() == weighted.coef_.tolist()
    assert weighted.state_bytes(2, 10) == AROW().state_bytes(2, 10)


def test_labels_that_have_not_occurred_have_weight_one():
    learner = Perceptron(class_weight={"a": 5.0})
    learner.begin(np.array(["a", None, None, None]), 2)  # as `RiverClassifier` begins
    assert weights_by_code(learner).tolist() == [5.0, 1.0, 1.0, 1.0]
    learner.set_params(class_weight={"b": 5.0})
    with pytest.raises(ValueError, match=r"class_weight names 'b', but the classes are 'a'$"):
        weights_by_code(learner)


@pytest.mark.parametrize(
    "learner",
    [
        pytest.param(each, id=repr(each), marks=[] if isinstance(each, Perceptron) else pytest.mark.slow)
        for each in WEIGHTED
    ],
)
def test_without_weights_accuracy_satisfies_scikit_learn(learner):
    """The tag that scikit-learn's check of weights needs exempts learners from no other check."""
    if isinstance(learner, PassiveAggressive) and learner.variant == "PA":
        # Without slack the last mistake decides: 79% accuracy on these data, whose classes overlap.
        return

    class Strict(type(learner)):
        def __sklearn_tags__(self):
            tags = super().__sklearn_tags__()
            tags.classifier_tags.poor_score = False
            return tags

    check_classifiers_train("Strict", Strict(**learner.get_params()))
