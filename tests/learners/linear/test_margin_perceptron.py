"""Perceptrons with margins: golden runs, the plain rules, and theoretical guarantees."""

import itertools
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.learners import MarginPerceptron, Perceptron
from singlepass.learners.linear import perceptron

from ..streams import (
    as_csr,
    golden_learner,
    golden_runs,
    golden_stream,
    margins_of,
    noisy_classes,
    noisy_stream,
    state,
)

pytestmark = pytest.mark.slow

RUNS = golden_runs("margins")
ONE_PASS = sorted(name for name in RUNS if not name.startswith(("mc_", "noise_")))
PASSES = sorted(name for name in RUNS if name.startswith("noise_"))
OUTPUTS = ["last", "average", "longest", "voted"]
both_forms = pytest.mark.parametrize("convert", [np.asarray, as_csr])
every_output = pytest.mark.parametrize("output", OUTPUTS)
seeds = st.integers(0, 2**31 - 1)


def close(values, expected):
    expected = np.array(expected)
    np.testing.assert_allclose(values, expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())


def learner_of(name):
    learner = golden_learner(name)
    ours = learner.get_params() | {"tau": learner.tau_plus}
    for parameter, value in RUNS[name]["hyperparameters"].items():
        assert ours[parameter] == value
    return learner


def test_all_runs_are_here():
    assert (len(ONE_PASS), len(PASSES), len(RUNS)) == (12, 3, 16)


@both_forms
@pytest.mark.parametrize("name", ONE_PASS)
def test_run(name, convert):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner, updated, scores = learner_of(name), [], []
    for t in range(len(y)):
        before = learner.n_updates_ if t else 0
        scores.append(learner.learn(convert(X[t : t + 1]), y[t : t + 1], classes=[-1, 1])[0])
        if learner.n_updates_ > before:
            updated.append(t)
    scores = np.array(scores)
    assert np.flatnonzero(y * scores <= 0).tolist() == run["mistake_indices_0based"]
    assert updated == run["update_indices_0based"]
    assert (learner.n_mistakes_, learner.n_updates_) == (run["mistakes_final"], run["n_updates_final"])
    close(scores[:50], run["online_score_first50"])
    close(scores[49::50], run["online_score_every_50_from_49"])
    close(learner.decision_function(convert(X[:20])), run["final_decision_first20"])
    if "weights" in run:
        close(learner.coef_[0], run["weights"])
    whole = learner_of(name)
    assert whole.learn(convert(X), y, classes=[-1, 1]).tolist() == scores.tolist()


@both_forms
@pytest.mark.parametrize("name", PASSES)
def test_passes_with_a_bound(name, convert):
    """Check for each row in which passes it causes updates."""
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    X = convert(X)
    learner, seen = learner_of(name), []
    assert learner.epochs == run["passes"]
    for p in range(run["passes"]):
        for t in range(len(y)):
            before = learner.n_updates_ if seen else 0
            learner.learn(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
            if learner.n_updates_ > before:
                seen.append([p, t])
        learner.end_of_pass(p + 1 == run["passes"])
    assert seen == run["updates_pass_and_row_0based"]
    whole = learner_of(name).fit(X, y)
    assert whole.n_updates_ == run["n_updates_final"] == len(seen)
    assert (y * whole.decision_function(X) <= 0).sum() == run["mistakes_final"]
    close(whole.coef_[0], run["weights"])
    close(whole.decision_function(X[:20]), run["final_decision_first20"])


@both_forms
def test_ten_classes(convert):
    name = "mc_margin_perceptron_tau1.ref__s4_digits10"
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner = learner_of(name)
    scores = learner.learn(convert(X), y, classes=range(10))
    assert np.flatnonzero(margins_of(scores, y) <= 0).tolist() == run["mistake_indices_0based"]
    assert (learner.n_mistakes_, learner.n_updates_) == (run["mistakes_final"], run["n_updates_final"])
    close(scores[:20], run["online_scores_first20"])
    close(learner.decision_function(convert(X[:20])), run["final_scores_first20"])
    close(np.linalg.norm(learner.coef_, axis=1), run["weights_rows_l2"])


def plain(X, y, learner, passes):
    """Run the plain rule, keeping every hypothesis and its number of rounds."""
    tau = {1: learner.tau_plus, -1: learner.tau_minus}
    hypotheses, rounds, means, scores = [np.zeros(X.shape[1])], [0], [], []
    caused = np.zeros(len(y), int)
    for _ in range(passes):
        for i, (x, sign) in enumerate(zip(X, y, strict=True)):
            w = hypotheses[-1]
            if learner.output == "last":
                s = w @ x
            elif learner.output == "average":
                s = np.mean(means, axis=0) @ x if means else 0.0
            elif learner.output == "longest":
                s = hypotheses[int(np.argmax(rounds))] @ x
            else:
                s = sum(c * np.sign(h @ x) for h, c in zip(hypotheses, rounds, strict=True))
            scores.append(s)
            m = sign * (w @ x) + (learner.lam if caused[i] else 0.0)
            free = learner.alpha_bound is None or caused[i] < learner.alpha_bound
            if free and x.any() and m <= tau[sign]:
                hypotheses.append(w + learner.eta * sign * x)
                rounds.append(0)
                caused[i] += 1
            rounds[-1] += 1
            means.append(hypotheses[-1])
    return np.array(scores), len(hypotheses) - 1


@every_output
@given(
    seed=seeds,
    sparse=st.booleans(),
    settings=st.fixed_dictionaries(
        {
            "tau_plus": st.sampled_from([0.0, 1.0, 3.0]),
            "tau_minus": st.sampled_from([0.0, 0.5]),
            "eta": st.sampled_from([0.3, 1.0]),
            "alpha_bound": st.sampled_from([None, 1, 2]),
            "lam": st.sampled_from([0.0, 2.0]),
        }
    ),
)
def test_it_is_the_rule(output, seed, sparse, settings):
    X, y = noisy_stream(seed, n=60, d=6, density=0.5)
    learner = MarginPerceptron(output=output, **settings)
    expected, updates = plain(X, 2 * y - 1, learner, 3)
    Z, scores = as_csr(X) if sparse else X, []
    for last in (False, False, True):
        scores.append(learner.learn(Z, y, classes=[0, 1]))
        learner.end_of_pass(last)
    np.testing.assert_allclose(np.concatenate(scores), expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    assert learner.n_updates_ == updates


@every_output
@given(seed=seeds, cuts=st.lists(st.integers(1, 599), max_size=5))
def test_chunks_and_storage_change_nothing(output, seed, cuts):
    X, y = noisy_stream(seed, n=600, d=8, density=0.5)
    learners = [MarginPerceptron(0.5, 0.2, output=output, alpha_bound=3) for _ in range(3)]
    scores = learners[0].learn(X, y, classes=[0, 1])
    edges = [0, *sorted(set(cuts)), len(y)]
    for learner, Z in zip(learners[1:], (X, as_csr(X)), strict=True):
        parts = [learner.learn(Z[a:b], y[a:b], classes=[0, 1]) for a, b in itertools.pairwise(edges)]
        close(np.concatenate(parts), scores)
        assert learner.n_updates_ == learners[0].n_updates_
    assert state(learners[1]) == state(learners[0])
    assert learners[1].decision_function(X).tolist() == learners[0].decision_function(X).tolist()


@every_output
def test_pickled_learners_continue_and_refused_chunks_change_nothing(output):
    X, y = noisy_stream(5)
    model = MarginPerceptron(output=output, lam=1.0).partial_fit(X[:80], y[:80], [0, 1])
    copy = pickle.loads(pickle.dumps(model))
    bad = X[80:].copy()
    bad[-1, 3] = np.nan
    with pytest.raises(ValueError, match="contains NaN"):
        copy.learn(bad, y[80:])
    assert copy.learn(X[80:], y[80:]).tolist() == model.learn(X[80:], y[80:]).tolist()
    assert copy.model_bytes_ == model.model_bytes_


@every_output
def test_counts_along_the_stream_are_those_of_pieces(output):
    X, y = noisy_stream(6, n=700)
    along, pieces = MarginPerceptron(output=output), MarginPerceptron(output=output)
    stops = np.array([100, 350, 700])
    for learner in (along, pieces):
        learner.begin(np.array([0, 1]), X.shape[1])
    passage = along.learn_along(X, y, stops)
    counted = []
    for start, stop in itertools.pairwise([0, *stops.tolist()]):
        pieces.learn_rows(X[start:stop], y[start:stop])
        counted.append(pieces.counters())
    assert list(passage.counts["updates"]) == [each["updates"] for each in counted]
    assert list(passage.counts["model_bytes"]) == [each["model_bytes"] for each in counted]


def test_votes_are_those_of_the_updates_when_scoring_began():
    """Another thread may learn, and enlarge the arrays, while rows are scored."""
    X, y = noisy_stream(7, n=600)
    model = MarginPerceptron(output="voted").fit(X[:100], y[:100])
    expected, votes = model.decision_function(X), model._output()
    updates, scores = votes.sizes[0], np.empty(len(X))
    model.partial_fit(X, y)
    assert votes.sizes[0] == updates < model.n_updates_
    perceptron._score(X, model._weights, votes, scores)
    assert scores.tolist() == expected.tolist()


def test_a_changed_output_waits_for_the_next_fit():
    X, y = noisy_stream(7, n=400)
    bad = X.copy()
    bad[7, 1] = np.nan
    for output, changed in (("voted", "last"), ("last", "voted")):
        model = MarginPerceptron(output=output).fit(X, y).set_params(output=changed)
        assert model.scores_are_linear == (output == "last")
        before = state(model)
        with pytest.raises(ValueError, match="Input X contains NaN in row 7"):
            model.partial_fit(bad, y)
        assert state(model) == before
        assert model.fit(X, y).scores_are_linear == (changed == "last")


@given(seed=seeds)
def test_without_a_margin_it_is_the_perceptron(seed):
    """The exception are rows of zeros, which the Perceptron counts as updates."""
    X, y = noisy_stream(seed)
    for output, average in (("last", False), ("average", True)):
        ours, theirs = MarginPerceptron(0.0, 0.0, output=output), Perceptron(average=average)
        assert ours.learn(X, y).tolist() == theirs.learn(X, y).tolist()
        assert state(ours)["_weights"] == state(theirs)["_weights"]


@given(seed=seeds, tau=st.floats(0.0, 5.0))
def test_updates_on_separable_rows_are_bounded(seed, tau):
    """k γ <= u·w and ‖w‖² <= k (R² + 2τ): at most (R² + 2τ)/γ² updates for a u of norm 1 with margin γ."""
    random = np.random.RandomState(seed)
    u = random.standard_normal(5)
    u /= np.linalg.norm(u)
    X = random.standard_normal((400, 5))
    X = X[np.abs(X @ u) > 0.2]
    y = (X @ u > 0).astype(int)
    model = MarginPerceptron(tau, tau, epochs=5)
    for _ in range(5):
        model.learn(X, y, classes=[0, 1])
    assert model.n_updates_ <= ((X**2).sum(axis=1).max() + 2 * tau) / np.abs(X @ u).min() ** 2


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tau_plus": -1.0}, "MarginPerceptron: tau_plus must be a finite number >= 0"),
        ({"output": "mean"}, "MarginPerceptron: output must be one of 'last', 'average', 'longest', 'voted'"),
        ({"alpha_bound": 0}, "MarginPerceptron: alpha_bound must be an integer >= 1 or None, got 0"),
        (
            {"output": "voted"},
            "MarginPerceptron: output must be 'last' or 'average' with 5 classes, got 'voted'",
        ),
        (
            {"tau_minus": 0.5},
            "MarginPerceptron: tau_minus must equal tau_plus with 5 classes, got 0.5 and 1.0",
        ),
    ],
)
def test_invalid_settings(settings, message):
    with pytest.raises(ValueError, match=message):
        MarginPerceptron(**settings).fit(*noisy_classes(1))
