"""Sparse, step-size-free, sketched and tracking learners against an independent implementation."""

import numpy as np
import pytest

from .streams import as_csr, golden_learner, golden_runs, golden_stream, margins_of

RUNS = golden_runs("sparse_and_tracking")
# One of each family, whose loops the others share.
FAST = {"fobos.ref__s2_synth20", "dog.ref__s2_synth20", "shifting_perceptron_lam1.ref__s2_synth20"}
# Weights that should cancel to 0 may keep a rounding error.
TOLERANCE = {"rtol": 1e-9, "atol": 1e-12}
# Our names of parameters that have other names in the runs; none if they say what the run's name says.
OURS = {"lam": ("l1", "l2"), "reset": ("forget",), "rate": ("kappa",), "loss": (), "form": (), "kind": ()}


def learner_of(name):
    """Return our learner for a run; Ader has the rows of the stream as its horizon."""
    learner = golden_learner(name)
    horizon = RUNS[name]["hyperparameters"].get("T")
    return learner if horizon is None else learner.set_params(T=horizon)


def stream_of(run):
    """Return the run's rows and labels; with "flip900" the labels of rows 900.. are negated."""
    name, flips = run["stream"].replace("s3_flip900", "s3_digits_binary"), run["stream"] == "s3_flip900"
    X, y = golden_stream(name)
    return X, np.where(flips & (np.arange(len(y)) >= 900), -y, y)


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_the_table_has_the_run_s_parameters(name):
    ours = learner_of(name).get_params()
    for parameter, value in RUNS[name]["hyperparameters"].items():
        names = (parameter,) if parameter in ours else OURS[parameter]
        found = [ours[each] for each in names if each in ours]
        assert found == [None if value == "inf" else value] * bool(names)


@pytest.mark.parametrize("convert", [np.asarray, pytest.param(as_csr, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "name", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in RUNS]
)
def test_reference(name, convert):
    run = RUNS[name]
    X, y = stream_of(run)
    X, classes = convert(X), [-1, 1] if y.min() < 0 else range(10)
    learner = learner_of(name)
    updated, scores, nonzeros = [], [], []
    for t in range(len(y)):
        before = getattr(learner, "n_updates_", 0)
        scores.append(learner.learn(X[t : t + 1], y[t : t + 1], classes=classes)[0])
        if learner.n_updates_ > before:
            updated.append(t)
        if t % 50 == 49:
            nonzeros.append(int((np.abs(learner.coef_) > 1e-12).sum()))
    scores = np.array(scores)

    mistakes = ~(margins_of(scores, y) > 0)
    assert np.flatnonzero(mistakes).tolist() == run["mistake_indices_0based"]
    assert learner.n_mistakes_ == run["mistakes_final"]
    assert updated == run["update_indices_0based"]
    if "n_nonzero_weights_every_50_from_49" in run:
        assert nonzeros == run["n_nonzero_weights_every_50_from_49"]
    final = learner.decision_function(X[:20])
    if "weights" in run:
        np.testing.assert_allclose(learner.coef_[0], run["weights"], **TOLERANCE)
        np.testing.assert_allclose(scores[:50], run["online_score_first50"], **TOLERANCE)
        np.testing.assert_allclose(scores[49::50], run["online_score_every_50_from_49"], **TOLERANCE)
        np.testing.assert_allclose(final, run["final_decision_first20"], **TOLERANCE)
    else:
        np.testing.assert_allclose(learner.coef_[0, :10], run["weights_class0_first10"], **TOLERANCE)
        np.testing.assert_allclose(np.linalg.norm(learner.coef_, axis=1), run["weights_rows_l2"], rtol=1e-9)
        np.testing.assert_allclose(scores[:20], run["online_scores_first20"], **TOLERANCE)
        np.testing.assert_allclose(final, run["final_scores_first20"], **TOLERANCE)
