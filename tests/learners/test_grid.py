"""Points of a grid that are learnt in one reading equal the points learnt alone, to the last bit."""

import functools
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import ParameterGrid

from singlepass.learners import (
    AROW,
    CSOGD,
    NHERD,
    NORMA,
    ConfidenceWeighted,
    FollowTheLeader,
    KernelALMA,
    KernelMIRA,
    KernelPassiveAggressive,
    KernelPerceptron,
    MarginPerceptron,
    OfflineRampSVM,
    OnlineGradientDescent,
    PassiveAggressive,
    Perceptron,
    Projectron,
    ProjectronPlusPlus,
    QueryAll,
    RandomizedBudgetPerceptron,
    Resetting,
    SoftConfidenceWeighted,
    as_rows,
    learn_grid,
    learn_together,
    ordered_rows,
    reading_of,
)
from singlepass.learners.kernel.readings import KernelReading, can_share
from singlepass.learners.linear.readings import can_interleave

from .streams import noisy_classes, noisy_stream, state

POWERS = [1e-4, 1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0, 1e3]
# One point overflows: its scores become infinite or NaN.
WILD = [1e-150, 1e-3, 1.0, 1e150]
TOGETHER = [
    (PassiveAggressive(), {"C": POWERS}),
    (PassiveAggressive(variant="PA-II"), {"C": WILD}),
    (PassiveAggressive(variant="PA-I", class_weight={0: 2.0}), {"C": POWERS[:3]}),
    # To the rule, the variants are numbers.
    (PassiveAggressive(), {"variant": ["PA", "PA-I", "PA-II"], "C": [0.1, 1.0]}),
    (AROW(), {"r": [*POWERS, 0.5, 5.0]}),
    (AROW(loss="hinge", class_weight={0: 2.0, 1: 0.5}), {"r": WILD}),
    (ConfidenceWeighted(), {"eta": [0.51, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 0.999]}),
    (SoftConfidenceWeighted(), {"C": POWERS[:5], "eta": [0.6, 0.9]}),
    (NHERD(), {"C": POWERS}),
    (MarginPerceptron(), {"tau_plus": [0.0, 0.1, 1.0, 2.0], "eta": [0.5, 1.0]}),
    (CSOGD(), {"eta": POWERS}),
]
ONE_BY_ONE = [
    (AROW(covariance="full"), {"r": POWERS[:3]}),
    (AROW(projection="precision"), {"r": POWERS[:3]}),
    (AROW(), {"projection": ["covariance", "precision"], "r": [0.1, 1.0]}),
    (AROW(), {"covariance": ["diagonal", "full"], "r": [0.1, 1.0]}),
    (PassiveAggressive(), {"C": [0.1, 1.0]}),
    (PassiveAggressive(), {"class_weight": [None, {0: 2.0}, {1: 3.0}]}),
    (Perceptron(average=True), {"class_weight": [{0: 1.0}, {0: 2.0}, {0: 3.0}]}),
    (MarginPerceptron(), {"output": ["last", "longest", "voted"]}),
    (CSOGD(), {"rho": [1.0, 2.0, 4.0]}),
]
# Kernel learners that share kernel values, or the products from which they compute them.
SHARING = [
    (KernelPerceptron(gamma=0.1), {"margin": [0.0, 0.1, 0.5, 1.0]}),
    (Projectron(), {"gamma": [0.01, 0.1, 0.5, 3.0]}),
    (KernelPassiveAggressive(gamma=0.1), {"C": POWERS}),
    (KernelPassiveAggressive(kernel="poly"), {"degree": [1, 2, 3], "coef0": [0.0, 1.0]}),
    (KernelMIRA(), {"gamma": [0.1, 1.0], "beta": [0.1, 0.5]}),
    (ProjectronPlusPlus(gamma=0.1), {"eta": [0.0, 0.05, 0.3, 0.6, 0.9]}),
    (NORMA(gamma=0.1), {"eta0": [0.01, 0.5, 2.0], "decay": [False, True]}),
    (KernelALMA(), {"gamma": [0.01, 0.5], "alpha": [0.5, 0.9]}),
]


def tiered(cases, fast):
    """Mark all cases but the first ones as slow: each compiles further loops."""
    return [*cases[:fast], *(pytest.param(*case, marks=pytest.mark.slow) for case in cases[fast:])]


def alone(learner, grid):
    """Return a new learner for each point, in the order of the grid."""
    points = [dict(zip(grid, values, strict=True)) for values in _product(*grid.values())]
    return [clone(learner).set_params(**point) for point in points]


def _product(first, *others):
    return [(value, *rest) for value in first for rest in (_product(*others) if others else [()])]


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def bits(array):
    return np.ascontiguousarray(array).view(np.int64)


@pytest.mark.parametrize(("learner", "grid"), tiered(TOGETHER, fast=0), ids=repr)
@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 2**31 - 1),
    d=st.sampled_from([1, 5, 16, 33, 64]),
    sparse=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
    ordered=st.booleans(),
    scale=st.sampled_from([1.0, 1e-160, 1e160]),
)
def test_a_reading_equals_the_points_alone(learner, grid, seed, d, sparse, dtype, ordered, scale):
    X, y = noisy_stream(seed, n=70, d=d, density=0.6)
    with np.errstate(over="ignore"):
        X = (X * (scale if dtype == np.float64 else 1.0)).astype(dtype)
    X[::9] = 0.0
    codes, matrix = (y > 0).astype(np.int32), sp.csr_matrix(X) if sparse else X
    order = np.random.RandomState(seed).permutation(70)[:60]
    rows = ordered_rows(matrix, order) if ordered else as_rows(matrix)
    codes = np.ascontiguousarray(codes[order]) if ordered else codes
    learners, expected = alone(learner, grid), alone(learner, grid)
    for each in learners + expected:
        each.begin(np.arange(2), d)
    # A sparse stream with few entries is learnt point by point.
    assert can_interleave(learners[:8], rows) or sparse
    scores = learn_together(learners, rows, codes)
    for made, each, other in zip(scores, learners, expected, strict=True):
        assert np.array_equal(bits(made), bits(other.learn_rows(rows, codes)))
        for name in {"_weights", "_sigma"} & vars(other).keys():
            assert np.array_equal(bits(getattr(each, name)), bits(getattr(other, name)))
        assert each.counters() == other.counters()
        assert (each.n_examples_, each.n_mistakes_) == (other.n_examples_, other.n_mistakes_)


@pytest.mark.parametrize(
    ("learner", "grid"), tiered([TOGETHER[0], TOGETHER[4], *ONE_BY_ONE], fast=2), ids=repr
)
@pytest.mark.parametrize("sparse", [False, True])
def test_a_grid_is_a_loop_over_its_points(learner, grid, sparse):
    X, y = noisy_stream(5)
    y = (y > 0).astype(int)
    rows = sp.csr_matrix(X) if sparse else X
    found = learn_grid(learner, grid, rows, y)
    sort = lambda params: sorted(map(repr, params.items()))  # noqa: E731
    assert sorted(sort(point.params) for point in found) == sorted(map(sort, ParameterGrid(grid)))
    for point in found:
        other = clone(learner).set_params(**point.params)
        assert np.array_equal(point.scores, other.learn(rows, y))
        assert point.learner.n_mistakes_ == other.n_mistakes_
        assert np.array_equal(point.learner.decision_function(rows), other.decision_function(rows))


@pytest.mark.parametrize(("learner", "grid"), ONE_BY_ONE, ids=repr)
def test_points_that_run_different_code_are_learnt_alone(learner, grid):
    learners = alone(learner, grid)
    for each in learners:
        each.begin(np.arange(2), 3)
    assert not can_interleave(learners, np.zeros((40, 3)))


@pytest.mark.parametrize(("learner", "grid"), tiered(SHARING, fast=0), ids=repr)
def test_kernel_learners_that_share_values_equal_the_points_alone(learner, grid):
    for seed, (n_classes, sparse, dtype) in enumerate(
        [(2, False, np.float64), (2, True, np.float32), (3, False, np.float32)]
    ):
        if n_classes > 2 and isinstance(learner, ProjectronPlusPlus | NORMA | KernelALMA):
            continue
        rng = np.random.RandomState(seed)
        X = (rng.standard_normal((400, 7)) * (rng.random_sample((400, 7)) < 0.6)).astype(dtype)
        X[::50] = 0.0
        if dtype == np.float64:
            X[25] = 1e200  # its squared norm overflows, so it is not learnt
        codes = (X[:, :n_classes] + 0.5 * rng.standard_normal((400, n_classes))).argmax(1).astype(np.int32)
        order = rng.permutation(400)[:390]
        rows = ordered_rows(sp.csr_matrix(X) if sparse else X, order)
        codes, stops = np.ascontiguousarray(codes[order]), np.array([1, 200])
        learners, expected = alone(learner, grid), alone(learner, grid)
        for each in learners + expected:
            each.begin(np.arange(n_classes), 7)
        reading = reading_of(learners, rows)
        assert isinstance(reading, KernelReading)
        for _ in range(2):
            passages = reading.learn_along(rows, codes, stops)
            for each, other, passage in zip(learners, expected, passages, strict=True):
                found = other.learn_along(rows, codes, stops)
                assert np.array_equal(bits(passage.scores), bits(found.scores))
                assert passage.counts == found.counts
                assert each.counters() == other.counters()
                assert (each.n_examples_, each.n_mistakes_) == (other.n_examples_, other.n_mistakes_)
        scores = reading.score_rows(rows)
        reading.write_back()
        for each, other, made in zip(learners, expected, scores, strict=True):
            assert np.array_equal(bits(made), bits(other.score_rows(rows)))
            assert np.array_equal(bits(each.score_rows(rows)), bits(made))
            assert np.array_equal(each.support_, other.support_)
            assert np.array_equal(bits(each.dual_coef_), bits(other.dual_coef_))
            assert np.array_equal(dense(each.support_vectors_), dense(other.support_vectors_))


class Forgetful(KernelPerceptron):
    """A learner of a user."""


def test_a_kernel_learner_with_rows_that_it_has_learnt_is_learnt_alone():
    X, y = noisy_stream(5)
    for learners in (
        alone(KernelPerceptron(), {"gamma": [0.1, 1.0]}),
        alone(Projectron(), {"U": [1.0, 2.0]}),
        alone(RandomizedBudgetPerceptron(), {"budget": [5, 10]}),
        alone(Forgetful(), {"gamma": [0.1, 1.0]}),
    ):
        for each in learners:
            each.begin(np.arange(2), X.shape[1])
        assert can_share(learners) == (type(learners[0]) is KernelPerceptron)
    (first, second), codes = alone(KernelPerceptron(), {"gamma": [0.1, 1.0]}), (y > 0).astype(np.int32)
    for each in (first, second):
        each.begin(np.arange(2), X.shape[1])
    first.learn_rows(as_rows(X), codes)
    assert not can_share([first, second])


def test_many_classes():
    X, y = noisy_classes(2)
    for point in learn_grid(AROW(), {"r": [0.1, 1.0, 10.0]}, X, y):
        other = AROW(**point.params)
        assert np.array_equal(point.scores, other.learn(X, y))
        assert state(point.learner) == state(other)


def test_every_point_keeps_the_names_of_columns():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [0.0, 1.0]})
    for point in learn_grid(AROW(), {"r": [0.1, 1.0]}, frame, [0, 1]):
        assert point.learner.feature_names_in_.tolist() == ["a", "b"]
        with pytest.raises(ValueError, match="feature names should match"):
            point.learner.predict(frame[["b", "a"]])


@pytest.mark.parametrize(
    ("grid", "said"),
    [
        ({}, "grid must be a dict"),
        ({"r": [1.0, -1.0]}, "r must be"),
        ({"q": [1]}, "Invalid parameter 'q'"),
        ({"epochs": [1, 2]}, "learn_grid: grid must not contain epochs"),
    ],
)
def test_an_invalid_grid_is_refused(grid, said):
    with pytest.raises(ValueError, match=said):
        learn_grid(AROW(), grid, [[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("learner", [OfflineRampSVM(), SGDClassifier(), AROW])
def test_a_learner_that_is_not_online_is_refused(learner):
    with pytest.raises(ValueError, match=r"^learn_grid: learner must be an online learner of this package"):
        learn_grid(learner, {"C": [1.0]}, [[1.0], [2.0]], [0, 1])


class Warm(PassiveAggressive):
    """A learner of a user whose weights do not begin at 0."""

    def _begin_with(self, zeros):
        super()._begin_with(zeros)
        zeros += 0.5


class Forgetting(PassiveAggressive):
    """A learner of a user whose weights shrink."""

    def learn_rows(self, X, codes):
        scores = super().learn_rows(X, codes)
        self._weights *= 0.9
        return scores


class Started(PassiveAggressive):
    """A learner of a user that sets its first weights in `begin`."""

    def begin(self, classes, n_features, n_occurring=None):
        super().begin(classes, n_features, n_occurring)
        self._weights += 0.5


class Wrapped(PassiveAggressive):
    """A learner of a user whose method looks like that of its base."""

    @functools.wraps(PassiveAggressive._pass)
    def _pass(self, X, codes, scores):
        made = super()._pass(X, codes, scores)
        self._weights *= 0.9
        return made


@pytest.mark.parametrize("learner", [Warm(), Started(), Forgetting(), Wrapped()])
def test_what_a_class_of_a_user_overrides_counts(learner):
    X, y = noisy_stream(5)
    for point in learn_grid(learner, {"C": [0.01, 0.1, 1.0]}, X, y):
        other = clone(learner).set_params(**point.params)
        assert np.array_equal(bits(point.scores), bits(other.learn(X, y)))
        assert np.array_equal(bits(point.learner.coef_), bits(other.coef_))


class Normed(PassiveAggressive):
    """A learner of a user that changes rows in a method that only callers of `learn` reach."""

    def learn(self, X, y, classes=None):
        return super().learn(np.asarray(X) / 2.0, y, classes)


@pytest.mark.parametrize(
    "use",
    [
        lambda: learn_grid(Normed(), {"C": [1.0]}, [[1.0], [2.0]], [0, 1]),
        lambda: FollowTheLeader(Normed(), {"C": [1.0]}).fit([[1.0], [2.0]], [0, 1]),
        lambda: QueryAll(Normed()).fit([[1.0], [2.0]], [0, 1]),
        lambda: Resetting(Normed(), "ddm").fit([[1.0], [2.0]], [0, 1]),
    ],
)
def test_a_class_whose_method_would_not_be_called_is_refused(use):
    with pytest.raises(ValueError, match=r"Normed overrides learn, which \w+ does not call: override _pass"):
        use()


class Calibrated(OnlineGradientDescent):
    """A learner of a user with other probabilities."""

    def predict_proba(self, X):
        return super().predict_proba(X) ** 2


def test_a_class_with_other_probabilities_is_refused():
    with pytest.raises(ValueError, match="Calibrated overrides predict_proba, which Resetting does not call"):
        Resetting(Calibrated(loss="logistic"), "ddm").fit([[1.0], [2.0]], [0, 1])


class Threshold(PassiveAggressive):
    """A learner of a user that predicts in another way than it learns."""

    def predict(self, X):
        return (self.decision_function(X) > 0.1).astype(int)


def test_a_class_with_predictions_of_its_own_may_learn_a_grid():
    [point] = learn_grid(Threshold(), {"C": [1.0]}, [[1.0], [2.0]], [0, 1])
    assert point.learner.predict([[0.0]]).tolist() == [0]
    with pytest.raises(ValueError, match=r"^QueryAll: Threshold overrides predict, which"):
        QueryAll(Threshold()).fit([[1.0], [2.0]], [0, 1])


class Branching(NamedTuple):
    """A rule that branches on the margin."""

    C: float
    margin_limit: float = 1.0

    def step(self, y, m, squares, weight):
        if m < 0.5:
            return True, self.C
        return False, 0.0


class Branch(PassiveAggressive):
    """A learner of a user with such a rule."""

    def _rule(self):
        return Branching(float(self.C))


@pytest.mark.slow
def test_a_rule_that_branches_is_refused_for_several_points():
    X, y = noisy_stream(5)
    with pytest.raises(TypeError, match=r"^Branching\.step does not compile for several models"):
        learn_grid(Branch(), {"C": [0.01, 0.1, 1.0]}, X, y)
