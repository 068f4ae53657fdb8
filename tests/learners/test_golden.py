"""Every linear binary learner against independent implementations, mistake by mistake."""

import numpy as np
import pytest
from scipy.stats import norm

from .streams import as_csr, golden_learner, golden_runs, golden_stream, tiered_runs

RUNS = golden_runs("linear_binary", "adagrad_rda", "gradient", "costs")
REFERENCE = sorted(name for name in RUNS if ".ref__" in name)
# Steps of the tangent loss are so long there that each amplifies rounding differences. Dense rows are summed
# as in the reference. CSR rows are summed in another order, which changes the score at row 200 by 1e-10, and
# the mistakes from row 300 on.
CHAOTIC = "ogd_tangent_eta0.1.ref__s2_synth20"

# Relative tolerance; differences are rounding errors (at most 1e-12 when this was written).
TOLERANCE = 1e-9


def learner_of(name):
    """Return our learner for a golden run; its settings in the table are the run's hyperparameters."""
    learner = golden_learner(name)
    ours = learner.get_params()
    for parameter, value in RUNS[name]["hyperparameters"].items():
        if parameter == "phi":
            assert norm.ppf(ours["eta"]) == pytest.approx(value, rel=1e-15)
        elif parameter in ("weight_plus", "weight_minus"):
            assert ours["class_weight"][1 if parameter == "weight_plus" else -1] == value
        elif parameter == "kind" and "csogd" in name:
            assert ours["variant"] == f"CSOGD-{value}"
        elif parameter not in ("form", "variant", "bias_eta"):
            assert ours[{"lam": "l1"}.get(parameter, parameter)] == value
    return learner


def updated_rows(learner, X, y):
    """Learn row by row and return the numbers of the rows that caused updates."""
    rows, before = [], 0
    for t in range(len(y)):
        learner.learn(X[t : t + 1], y[t : t + 1], classes=[-1, 1])
        if learner.n_updates_ > before:
            rows.append(t)
        before = learner.n_updates_
    return rows


def test_all_algorithms_and_streams_are_covered():
    algorithms = {name.split("__")[0] for name in RUNS}
    assert len(algorithms) == 61
    assert {name.split("__")[1] for name in RUNS} == {"s1_gauss2d", "s2_synth20", "s3_digits_binary"}
    assert len(RUNS) == 3 * len(algorithms)


@pytest.mark.parametrize("name", tiered_runs(REFERENCE))
def test_reference(name):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner = learner_of(name)
    scores = learner.learn(X, y, classes=[-1, 1])

    mistakes = y * scores <= 0
    assert np.flatnonzero(mistakes).tolist() == run["mistake_indices_0based"]
    assert np.cumsum(mistakes)[9::10].tolist() == run["cumulative_mistakes_every_10"]
    assert learner.n_mistakes_ == run["mistakes_final"]
    assert learner.n_updates_ == run["n_updates_final"]
    np.testing.assert_allclose(learner.coef_[0], run["weights"], rtol=TOLERANCE)
    np.testing.assert_allclose(scores[:50], run["online_score_first50"], rtol=TOLERANCE)
    np.testing.assert_allclose(scores[49::50], run["online_score_every_50_from_49"], rtol=TOLERANCE)
    np.testing.assert_allclose(
        learner.decision_function(X[:20]), run["final_decision_first20"], rtol=TOLERANCE
    )
    if "sigma_diag" in run:
        sigma = learner.sigma_ if learner.sigma_.ndim == 1 else np.diag(learner.sigma_)
        np.testing.assert_allclose(sigma, run["sigma_diag"], rtol=TOLERANCE)

    again = learner_of(name)
    assert updated_rows(again, X, y) == run["update_indices_0based"]


@pytest.mark.parametrize("name", tiered_runs(REFERENCE))
def test_reference_sparse(name):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner = learner_of(name)
    if name == CHAOTIC:
        scores = learner.learn(as_csr(X[:200]), y[:200], classes=[-1, 1])
        wrong = [t for t in run["mistake_indices_0based"] if t < 200]
        assert np.flatnonzero(y[:200] * scores <= 0).tolist() == wrong
        return
    scores = learner.learn(as_csr(X), y, classes=[-1, 1])
    assert np.flatnonzero(y * scores <= 0).tolist() == run["mistake_indices_0based"]
    assert learner.n_updates_ == run["n_updates_final"]
    np.testing.assert_allclose(learner.coef_[0], run["weights"], rtol=TOLERANCE)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(name for name in RUNS if ".vw__" in name))
def test_vowpal_wabbit(name):
    """Its arithmetic is float32."""
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    scores = learner_of(name).learn(X, y, classes=[-1, 1])
    assert np.flatnonzero(y * scores <= 0).tolist() == run["mistake_indices_0based"]
    np.testing.assert_allclose(scores[:50], run["online_score_first50"], rtol=1e-3, atol=1e-5)
    np.testing.assert_allclose(scores[49::50], run["online_score_every_50_from_49"], rtol=1e-3, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("stream", ["s1_gauss2d", "s2_synth20", "s3_digits_binary"])
def test_diagonal_second_order_perceptron_of_sol(stream):
    """SOL predicts +1 for a score of 0, so it learns nothing from the rows before the first negative one.

    Given the stream from that row on, our learner makes the same mistakes.
    """
    name = f"sop_diag.sol__{stream}"
    run = RUNS[name]
    X, y = golden_stream(stream)
    first = int(np.argmax(y == -1))
    learner = learner_of(name)
    learner.learn(X[first:], y[first:], classes=[-1, 1])
    # Its float32 arithmetic may turn one row's sign.
    assert abs(learner.n_mistakes_ - run["mistakes_final"]) <= 1
    # Printed with six digits, from float32.
    printed = run["weights_first10_6digits"]
    np.testing.assert_allclose(learner.coef_[0][:10], printed, rtol=1e-4, atol=1e-6)
