"""Restarts by drift detectors: against learners restarted by hand, and against River's detectors."""

import itertools

import numpy as np
import pytest
from sklearn.base import clone

from singlepass.learners import (
    AROW,
    BBQ,
    FOGD,
    LASVM,
    FollowTheLeader,
    KernelPerceptron,
    MarginPerceptron,
    OnlineModelSelection,
    Perceptron,
    Resetting,
)
from singlepass.learners.resetting import DDM

from .streams import as_csr, noisy_classes, noisy_stream


def changing(seed=1, n=600):
    """Return a stream whose labels are exchanged after half of the rows."""
    X, y = noisy_stream(seed, n=n, d=6, noise=0.05)
    return X, np.where(np.arange(n) < n // 2, y, 1 - y)


def test_ddm_is_river_s():
    drift = pytest.importorskip("river.drift")
    random = np.random.RandomState(2)
    mistakes = random.uniform(size=4000) < np.repeat([0.2, 0.4, 0.1, 0.3], 1000)
    ours, theirs, found = DDM(), drift.binary.DDM(), [[], []]
    for t, mistake in enumerate(mistakes.tolist()):
        if ours.has_risen(mistake):
            found[0].append(t)
            ours = DDM()
        theirs.update(mistake)
        if theirs.drift_detected:
            found[1].append(t)
    assert found[0] == found[1]
    assert found[0]


@pytest.mark.parametrize("detector", ["ddm", "adwin"])
def test_restarted_by_hand(detector):
    if detector == "adwin":
        pytest.importorskip("river.drift")
    X, y = changing()
    model = Resetting(AROW(r=0.5), detector)
    scores = model.learn(X, y, classes=[0, 1])
    edges = [0, *model.resets_, len(y)]
    assert any(300 < t < 400 for t in model.resets_)
    expected, updates = [], 0
    for start, stop in itertools.pairwise(edges):
        part = AROW(r=0.5)
        expected += part.learn(X[start:stop], y[start:stop], classes=[0, 1]).tolist()
        updates += part.n_updates_
    assert scores.tolist() == expected
    assert model.n_updates_ == model.counters()["updates"] == updates
    assert model.switches() == model.resets_
    assert model.coef_.tolist() == part.coef_.tolist()


def test_cutting_the_stream_changes_nothing():
    X, y = changing()
    whole, cut = Resetting(AROW(r=0.5)), Resetting(AROW(r=0.5))
    scores = whole.learn(as_csr(X), y, classes=[0, 1])
    parts = [cut.learn(as_csr(X[a : a + 77]), y[a : a + 77], classes=[0, 1]) for a in range(0, len(y), 77)]
    assert np.concatenate(parts).tolist() == scores.tolist()
    assert cut.resets_ == whole.resets_
    assert cut.predict(X).tolist() == whole.predict(X).tolist()


def test_a_margin_of_two_infinite_scores_is_a_mistake():
    X = 1e300 * np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 1.0]])
    model = Resetting(Perceptron())
    scores = model.learn(X, [0, 2, 1])
    assert scores[2].tolist() == [-np.inf, np.inf, np.inf]
    assert model.n_mistakes_ == 3


def test_a_learner_that_cannot_begin_again_stays_trained():
    X, y = noisy_stream(1, n=100, d=3, noise=0.0)
    model = Resetting(FOGD(eta=0.1)).fit(X, y).set_params(learner__D=10**9)
    with pytest.raises(ValueError, match="the limit is 4 GiB"):
        model.learn(X, 1 - y)
    assert model.resets_ == []
    assert model.predict(X).shape == (100,)


@pytest.mark.slow
def test_many_classes_and_kernels():
    X, y = noisy_classes(3, n=400, noise=0.0)
    model = Resetting(AROW(r=0.5)).fit(X, np.where(np.arange(400) < 200, y, (y + 1) % 5))
    assert model.resets_
    X, y = changing()
    kernel = Resetting(KernelPerceptron(gamma=0.1)).fit(X, y)
    assert kernel.counters()["support_vectors"] == kernel.learner_.n_support_
    assert kernel.counters()["kernel_evaluations"] > kernel.learner_.n_kernel_evaluations_


@pytest.mark.slow
def test_kernel_evaluations_of_all_points_before_restarts_count():
    X, y = changing()
    grid = FollowTheLeader(KernelPerceptron(), {"gamma": [0.1, 0.2]})
    model, expected = Resetting(grid).fit(X, y), 0
    assert model.resets_
    for start, stop in itertools.pairwise([0, *model.resets_, len(y)]):
        part = clone(grid).partial_fit(X[start:stop], y[start:stop], classes=[0, 1])
        expected += part.counters()["kernel_evaluations"]
    assert model.counters()["kernel_evaluations"] == expected


def test_later_passes_recognize_rows_after_a_restart():
    X, y = changing()
    model = Resetting(MarginPerceptron(tau_plus=0.0, tau_minus=0.0, alpha_bound=1), epochs=2).fit(X, y)
    w, caused, detector, resets, updates = np.zeros(6), set(), DDM(), [], 0
    for t in range(1200):
        margin = (2 * y[t % 600] - 1) * (w @ X[t % 600])
        if margin <= 0.0 and t % 600 not in caused:
            w, updates = w + (2 * y[t % 600] - 1) * X[t % 600], updates + 1
            caused.add(t % 600)
        if detector.has_risen(not margin > 0.0):
            resets.append(t + 1)
            w, caused, detector = np.zeros(6), set(), DDM()
    assert model.resets_ == resets
    assert resets[0] < 600
    assert model.n_updates_ == updates
    # The passes may be those of a learner around it.
    once = Resetting(clone(model.learner))
    assert FollowTheLeader(once, {"detector": ["ddm"]}, epochs=2).fit(X, y).n_updates_ == updates


@pytest.mark.slow
@pytest.mark.parametrize(
    "learner",
    [LASVM(gamma=0.1), FollowTheLeader(LASVM(), {"gamma": [0.1]}), OnlineModelSelection()],
    ids=repr,
)
def test_support_vectors_have_the_numbers_of_their_rows_in_the_pass(learner):
    X, y = changing()
    model = Resetting(learner, epochs=2).fit(X, y)
    assert any(0 < t < 600 for t in model.resets_)
    for each in getattr(model.learner_, "learners_", [model.learner_]):
        np.testing.assert_array_equal(each.support_vectors_, X[each.support_])


@pytest.mark.parametrize(
    "wrapped",
    [
        Resetting(Perceptron()),
        FollowTheLeader(Perceptron(), {"average": [False]}),
        Resetting(FollowTheLeader(Perceptron(), {"average": [False]})),
    ],
    ids=repr,
)
def test_features_that_never_occur_count_towards_the_size_of_the_model(wrapped):
    X, y = changing()
    wrapped.begin(np.arange(2), 1000, X.shape[1])
    wrapped.learn_rows(X, y)
    assert not hasattr(wrapped, "resets_") or wrapped.resets_
    assert wrapped.model_bytes_ == 8 * 1000


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Resetting(None), "learner must be an online learner of this package, got None"),
        (Resetting(BBQ()), "learner must not ask for labels itself"),
        (Resetting(AROW(r=-1.0)), "AROW: r must be"),
        (Resetting(AROW(), "eddm"), "detector must be one of 'ddm', 'adwin', got 'eddm'"),
    ],
)
def test_bad_parameters_are_one_line(model, message):
    with pytest.raises(ValueError, match=message):
        clone(model).fit([[1.0], [2.0]], [0, 1])
