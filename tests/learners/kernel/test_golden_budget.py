"""Kernel learners on a budget by gradient steps against independent implementations, mistake by mistake."""

import numpy as np
import pytest

from ..cases import CASES
from ..streams import Replayed, as_csr, golden_learner, golden_runs, golden_stream

pytestmark = pytest.mark.slow

RUNS = golden_runs("budget")

# Tolerances are relative to the largest value. A merger's h is accurate only to the square root of rounding,
# because its maximum is flat.
TOLERANCE = {"bsgd_merging_rbf.ref": 1e-4}
ROUNDING = 1e-9

# Our names of the runs' parameters.
NAMES = {"B": "budget"}


def begun(name, n_features):
    """Return our learner for a golden run, with the draws of that run."""
    learner, run = golden_learner(name), RUNS[name]
    learner.set_params(gamma=run["kernel"]["gamma"])
    given = run["hyperparameters"]
    if "D" in given:
        learner.set_params(D=given["D"])
    ours = learner.get_params()
    for parameter, value in given.items():
        assert ours[NAMES.get(parameter, parameter)] == value
    assert run["kernel"]["type"] == ours.get("kernel", "rbf")
    learner.begin(np.array([-1, 1]), n_features)
    if "uniforms" in run:
        learner._victims = Replayed(np.floor(np.array(run["uniforms"]) * given["B"]))
    if "frequencies" in run:
        learner._drawn_frequencies = lambda _: np.array(run["frequencies"])
    return learner


def assert_close(name, values, expected):
    tolerance = TOLERANCE.get(name.partition("__")[0], ROUNDING)
    expected = np.array(expected)
    np.testing.assert_allclose(values, expected, rtol=tolerance, atol=tolerance * np.abs(expected).max())


GRADIENT_LEARNERS = {"BOGD", "BPAS", "BSGD", "NOGD", "FOGD"}


def test_every_learner_has_its_runs():
    of_the_table = {name for learner in GRADIENT_LEARNERS for name in CASES[learner].golden}
    assert {name.partition("__")[0] for name in RUNS} == of_the_table
    assert {name.partition("__")[2] for name in RUNS} == {"s1_gauss2d", "s3_digits_binary"}
    assert len(RUNS) == 2 * len(of_the_table) == 12


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
@pytest.mark.parametrize("name", sorted(RUNS))
def test_run(name, convert):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner = begun(name, X.shape[1])
    scores = learner.learn(convert(X), y)

    assert np.flatnonzero(y * scores <= 0).tolist() == run["mistake_indices_0based"]
    assert (learner.n_mistakes_, learner.n_updates_) == (run["mistakes_final"], run["n_updates_final"])
    assert_close(name, scores[:50], run["online_score_first50"])
    assert_close(name, scores[49::50], run["online_score_every_50_from_49"])
    assert_close(name, learner.decision_function(convert(X[:20])), run["final_decision_first20"])
    if "weights" in run:
        assert_close(name, learner.coef_[0], run["weights"])
    if "sv_indices_0based" in run:
        order = np.argsort(run["sv_indices_0based"])
        assert learner.support_.tolist() == np.array(run["sv_indices_0based"])[order].tolist()
    if "sv_coefficients" in run:
        assert_close(name, learner.dual_coef_[0], np.array(run["sv_coefficients"])[order])
    if "weights_l2" in run and "sv_indices_0based" in run:
        # NOGD's w as a function: ‖w‖² = αᵀ K α.
        norm = learner.dual_coef_[0] @ learner.decision_function(X[learner.support_])
        assert_close(name, np.sqrt(norm), run["weights_l2"])


@pytest.mark.parametrize("name", [name for name in sorted(RUNS) if "n_sv_every_10" in RUNS[name]])
def test_support_set_along_the_stream(name):
    """Compare its size, and its removals: [t, p], or [t, p, n] for mergers."""
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner, sizes, gone = begun(name, X.shape[1]), [], []
    for t in range(len(y)):
        before = {*(learner.support_.tolist() if t else ()), t}
        updates = learner.n_updates_
        learner.learn(X[t : t + 1], y[t : t + 1])
        if learner.n_updates_ > updates:
            gone += [[t, p] for p in sorted(before - set(learner.support_.tolist()))]
        if t % 10 == 9:
            sizes.append(learner.n_support_)
    assert sizes == run["n_sv_every_10"][: len(sizes)]
    events = run.get("events_at_and_index_0based", run.get("evicted_at_and_index_0based"))
    assert gone == [event[:2] for event in events]
