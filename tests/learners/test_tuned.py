"""Grids tuned along the stream: the predictions are those of plain loops over points learnt alone."""

import pickle
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.utils.estimator_checks import parametrize_with_checks

from singlepass.learners import (
    AROW,
    ExponentialWeights,
    FollowTheLeader,
    KernelPerceptron,
    OnlineClassifier,
    OnlineGradientDescent,
    PassiveAggressive,
    Perceptron,
    QueryAll,
)
from singlepass.learners import tuned as tuned_module
from singlepass.learners.kernel.readings import KernelReading

from .streams import as_csr, noisy_classes, noisy_stream, state

seeds = st.integers(0, 2**31 - 1)
C = {"C": [0.001, 0.01, 0.1, 1.0]}
CASES = [
    (PassiveAggressive(), C),
    (AROW(), {"r": [10.0, 0.1], "loss": ["hinge", "squared_hinge"]}),
    (KernelPerceptron(), {"gamma": [0.01, 0.5, 0.1]}),
]
every_case = pytest.mark.parametrize(
    ("learner", "grid"),
    [CASES[0], *(pytest.param(*case, marks=pytest.mark.slow) for case in CASES[1:])],
    ids=repr,
)


@pytest.mark.slow
@parametrize_with_checks(
    [FollowTheLeader(PassiveAggressive(), C), ExponentialWeights(PassiveAggressive(), C)]
)
def test_estimator(estimator, check):
    check(estimator)


def alone(tuned, X, y, classes):
    """Return the scores of all points, learnt alone: shape (G, n, K), with both signs of a single score."""
    names, found = list(tuned.grid), []
    for values in (
        np.array(np.meshgrid(*tuned.grid.values(), indexing="ij"), object).reshape(len(names), -1).T
    ):
        scores = type(tuned.learner)(**dict(zip(names, values, strict=True))).learn(X, y, classes)
        found.append(np.stack([-scores, scores], axis=1) if scores.ndim == 1 else scores)
    return np.array(found)


def mistakes_of(scores, y):
    """Return whether each row's score of its class is not larger than all others."""
    own = scores[..., np.arange(len(y)), y]
    others = scores.copy()
    others[..., np.arange(len(y)), y] = -np.inf
    return ~(own > others.max(axis=-1))


def streams(seed, n_classes):
    if n_classes == 2:
        return noisy_stream(seed, n=120)
    return noisy_classes(seed, n_classes=n_classes)


@every_case
@pytest.mark.parametrize("n_classes", [2, pytest.param(4, marks=pytest.mark.slow)])
@settings(max_examples=15)
@given(seed=seeds, cut=st.integers(1, 119), sparse=st.booleans())
def test_the_leader_is_the_best_point_so_far(learner, grid, n_classes, seed, cut, sparse):
    X, y = streams(seed, n_classes)
    y = y.astype(int)
    tuned = FollowTheLeader(learner, grid)
    points = alone(tuned, X, y, np.arange(n_classes))
    wrong = mistakes_of(points, y)
    before = np.cumsum(wrong, axis=1) - wrong
    expected = np.array([points[before[:, t].argmin(), t] for t in range(len(y))])
    rows = as_csr(X) if sparse else X
    got = np.concatenate(
        [tuned.learn(rows[:cut], y[:cut], np.arange(n_classes)), tuned.learn(rows[cut:], y[cut:])]
    )
    if not sparse:
        assert np.array_equal(got, expected[:, 1] if n_classes == 2 else expected)
        assert tuned.n_mistakes_ == mistakes_of(expected, y).sum()
        assert tuned.point_mistakes_.tolist() == wrong.sum(axis=1).tolist()
        leaders = [before[:, t].argmin() for t in range(len(y))] + [wrong.sum(axis=1).argmin()]
        assert tuned.switches() == (1 + np.flatnonzero(np.diff(leaders))).tolist()
    assert tuned.leader_ == tuned.point_mistakes_.argmin()
    best = tuned.learners_[tuned.leader_]
    assert np.array_equal(tuned.decision_function(rows[:5]), best.decision_function(rows[:5]))


@every_case
@pytest.mark.parametrize("n_classes", [2, 4])
@pytest.mark.parametrize("eta", [None, 0.3])
@settings(max_examples=10)
@given(seed=seeds, cut=st.integers(1, 119))
def test_points_vote_by_their_weights(learner, grid, n_classes, eta, seed, cut):
    X, y = streams(seed, n_classes)
    y = y.astype(int)
    tuned = ExponentialWeights(learner, grid, eta=eta)
    points = alone(tuned, X, y, np.arange(n_classes))
    n_points, wrong = len(points), mistakes_of(points, y)
    mistakes, expected, votes = np.zeros(n_points), 0.0, []
    for t in range(len(y)):
        rate = np.sqrt(8 * np.log(n_points) / (t + 1)) if eta is None else eta
        weights = np.exp(-rate * mistakes)
        weights /= weights.sum()
        best = points[:, t].max(axis=1, keepdims=True) == points[:, t]
        sums = weights @ (best & (best.sum(axis=1, keepdims=True) == 1))
        votes.append(sums[1] - sums[0] if n_classes == 2 else sums)
        expected += weights @ wrong[:, t]
        mistakes += wrong[:, t]
    got = np.concatenate([tuned.learn(X[:cut], y[:cut], np.arange(n_classes)), tuned.learn(X[cut:], y[cut:])])
    assert got == pytest.approx(np.array(votes), rel=1e-9, abs=1e-12)
    assert tuned.expected_mistakes_ == pytest.approx(expected)
    assert tuned.point_mistakes_.tolist() == mistakes.tolist()


@settings(max_examples=25)
@given(seed=seeds, n=st.integers(1, 400), noise=st.sampled_from([0.0, 0.2, 0.5]))
def test_the_regret_of_a_random_point_has_its_bound(seed, n, noise):
    X, y = noisy_stream(seed, n=n, noise=noise)
    grid = {"C": [1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 100.0]}
    tuned = ExponentialWeights(PassiveAggressive(), grid)
    tuned.learn(X, y, [-1, 1] if (y < 0).any() else [0, 1])
    regret = tuned.expected_mistakes_ - tuned.point_mistakes_.min()
    assert regret <= 2 * np.sqrt(n * np.log(7) / 2) + np.sqrt(np.log(7) / 8)


@pytest.mark.parametrize(
    ("learner", "grid", "said"),
    [
        (PassiveAggressive(), {}, "grid must be a dict of parameters with lists of values, got {}"),
        (PassiveAggressive(), {"C": np.array(1.0)}, "grid must be a dict of parameters with lists of values"),
        (PassiveAggressive(), {"C": 1.0}, "grid must be a dict of parameters with lists of values"),
        (
            PassiveAggressive(),
            {"C": [1.0, -1.0]},
            "PassiveAggressive: C must be a finite number > 0, got -1.0",
        ),
        (PassiveAggressive(), {"epochs": [1, 2]}, "grid must not contain epochs"),
        (PassiveAggressive(), {"D": [1]}, "Invalid parameter 'D'"),
        (QueryAll(Perceptron()), {"epochs": [1]}, "learner must not ask for labels itself"),
        ("AROW", {"r": [1.0]}, "learner must be an online learner of this package, got 'AROW'"),
    ],
)
@pytest.mark.parametrize("kind", [FollowTheLeader, ExponentialWeights])
def test_invalid_grids_are_refused(kind, learner, grid, said):
    with pytest.raises(ValueError, match="^[^\n]*" + said.replace("{}", r"\{\}")):
        kind(learner, grid).fit([[1.0], [2.0]], [0, 1])


def test_counts_are_sums_over_the_points():
    X, y = noisy_stream(3)
    tuned = FollowTheLeader(KernelPerceptron(), {"gamma": [0.01, 0.1]}).fit(X, y)
    assert isinstance(tuned, OnlineClassifier)
    each = [model.counters() for model in tuned.learners_]
    assert tuned.counters() == {name: sum(counts[name] for counts in each) for name in each[0]}
    assert tuned.n_updates_ == tuned.counters()["updates"]
    assert tuned.model_bytes_ == sum(model.model_bytes_ for model in tuned.learners_)


def test_the_room_of_all_points_is_known_beforehand():
    tuned = FollowTheLeader(AROW(), {"r": [0.1, 1.0, 10.0]})
    assert tuned.state_bytes(2, 1000) == 3 * AROW().state_bytes(2, 1000) > 0
    assert FollowTheLeader(KernelPerceptron(), {"gamma": [0.1, 1.0]}).state_bytes(2, 1000) == 0


def test_row_by_row_is_block_by_block():
    X, y = noisy_stream(7, n=100)
    for kind in (FollowTheLeader, ExponentialWeights):
        tuned, other = kind(PassiveAggressive(), C), kind(PassiveAggressive(), C)
        scores = [tuned.learn(X[t : t + 1], y[t : t + 1], np.unique(y)).item() for t in range(len(y))]
        assert scores == other.learn(X, y).tolist()
        assert state(tuned.learners_[0]) == state(other.learners_[0])
    assert tuned.expected_mistakes_ == other.expected_mistakes_


def test_scores_are_log_odds_if_those_of_every_point_are():
    descent = OnlineGradientDescent(loss="logistic")
    assert FollowTheLeader(descent, {"eta": [0.1, 1.0]}).scores_are_log_odds
    assert not FollowTheLeader(descent, {"loss": ["logistic", "hinge"]}).scores_are_log_odds
    assert not FollowTheLeader(KernelPerceptron(), {"gamma": [0.1, 1.0]}).scores_are_log_odds
    assert not getattr(ExponentialWeights(descent, {"eta": [0.1, 1.0]}), "scores_are_log_odds", False)


def test_points_of_a_kernel_share_values_in_all_pieces_and_calls(monkeypatch):
    X, y = noisy_stream(5, n=120, d=3)
    monkeypatch.setattr(tuned_module, "_PIECE", 30)
    tuned = FollowTheLeader(KernelPerceptron(), {"gamma": [0.01, 0.5, 0.1]})
    scores = [tuned.learn(X[:50], y[:50])]
    (reading,) = tuned._readings
    scores.append(tuned.learn(X[50:90], y[50:90]))
    assert tuned._readings == [reading]
    assert isinstance(reading, KernelReading)
    copy = pickle.loads(pickle.dumps(tuned))
    assert copy._readings == []
    expected = FollowTheLeader(tuned.learner, tuned.grid)
    assert np.concatenate(scores).tolist() == expected.learn(X, y)[:90].tolist()
    # A reading whose learners have learnt something else is dropped.
    other = deepcopy(tuned)
    for each in (tuned, other):
        each.learners_[1].learn(X[:20], 1 - y[:20])
    for each in (tuned, other, copy):
        each.learn(X[90:], y[90:])
    assert tuned._readings != [reading]
    for one, two, three, whole in zip(
        tuned.learners_, other.learners_, copy.learners_, expected.learners_, strict=True
    ):
        assert state(one) == state(two)
        assert state(three) == state(whole)


def test_weights_of_a_grid_are_written_after_each_call():
    X, y = noisy_stream(6, n=120, d=3)
    tuned = ExponentialWeights(PassiveAggressive(), C)
    for start, stop in ((0, 40), (40, 41), (41, 120)):
        tuned.learn(X[start:stop], y[start:stop], classes=[0, 1])
        for point, each in zip(tuned.points_, tuned.learners_, strict=True):
            alone = PassiveAggressive(**point)
            alone.learn(X[:stop], y[:stop], classes=[0, 1])
            assert state(each) == state(alone)
    assert tuned._readings == []
