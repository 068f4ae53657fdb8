"""The kernel learners against independent implementations, mistake by mistake."""

import numpy as np
import pytest

from singlepass.learners.table import TABLE

from .cases import CASES
from .streams import Replayed, as_csr, golden_learner, golden_runs, golden_stream, tiered_runs

RUNS = golden_runs("kernel")

# Tolerance relative to the largest value; differences are rounding errors.
TOLERANCE = 1e-9

ALGORITHMS = [
    "budget_perceptron_b0.1_rbf.ref",
    "forgetron_rbf.ref",
    "kernel_alma2_rbf.dogma",
    "kernel_pa1_rbf.dogma",
    "kernel_perceptron_rbf.dogma",
    "kernel_sop_rbf.dogma",
    "norma_rbf.ref",
    "projectron_norm_rbf.ref",
    "projectron_rbf.dogma",
    "projectronpp_norm_rbf.ref",
    "rbp_rbf.dogma",
]
NAMES = sorted(name for name in RUNS if name.partition("__")[0] in ALGORITHMS)


def learner_of(name):
    """Return our learner for a golden run; its settings in the table are the run's hyperparameters."""
    learner, kernel = golden_learner(name), RUNS[name]["kernel"]
    ours = learner.get_params()
    for parameter, value in RUNS[name]["hyperparameters"].items():
        if parameter == "eta" and name.startswith("projectron_rbf.dogma"):
            assert ours["eta"] ** 2 == pytest.approx(value, rel=1e-15)
        elif parameter not in ("update", "plus"):  # those name the algorithm
            budget = parameter == "maxSV" or name.startswith("forgetron")
            assert ours["budget" if budget else parameter] == value
    return learner.set_params(kernel=kernel["type"], gamma=kernel["gamma"])


def begin(learner, run, n_features):
    learner.begin(np.array([-1, 1]), n_features)
    if "evicted_slot_1based" in run:
        learner._victims = Replayed(np.array(run["evicted_slot_1based"]) - 1)


def assert_close(values, expected):
    expected = np.array(expected)
    np.testing.assert_allclose(values, expected, rtol=TOLERANCE, atol=TOLERANCE * np.abs(expected).max())


# Their runs are in kernel/test_golden_budget.py.
GRADIENT_LEARNERS = {"BOGD", "BPAS", "BSGD", "NOGD", "FOGD"}


def test_every_learner_has_its_runs():
    of_the_table = [
        name
        for row in TABLE
        if row.module.startswith(".kernel.") and row.name not in GRADIENT_LEARNERS
        for name in CASES[row.name].golden
    ]
    assert sorted(of_the_table) == ALGORITHMS == sorted({name.split("__")[0] for name in NAMES})
    assert {name.split("__")[1] for name in NAMES} == {"s1_gauss2d", "s2_synth20", "s3_digits_binary"}
    assert len(NAMES) == 28


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
@pytest.mark.parametrize("name", tiered_runs(NAMES))
def test_run(name, convert):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner = learner_of(name)
    begin(learner, run, X.shape[1])
    scores = learner.learn(convert(X), y)

    mistakes = y * scores <= 0
    assert np.flatnonzero(mistakes).tolist() == run["mistake_indices_0based"]
    assert learner.n_mistakes_ == run["mistakes_final"]
    assert learner.n_support_ == run["n_sv_final"]
    if "n_updates_final" in run:
        assert learner.n_updates_ == run["n_updates_final"]
    order = np.argsort(run["sv_indices_0based"])
    assert learner.support_.tolist() == np.array(run["sv_indices_0based"])[order].tolist()
    assert_close(learner.dual_coef_[0], np.array(run["sv_coefficients"])[order])
    assert_close(scores[:50], run["online_score_first50"])
    assert_close(scores[49::50], run["online_score_every_50_from_49"])
    assert_close(learner.decision_function(convert(X[:20])), run["final_decision_first20"])


@pytest.mark.parametrize("name", tiered_runs(NAMES))
def test_size_of_the_support_set_along_the_stream(name):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner, sizes = learner_of(name), []
    begin(learner, run, X.shape[1])
    for stop in range(10, len(y) + 1, 10):
        learner.learn(X[stop - 10 : stop], y[stop - 10 : stop])
        sizes.append(learner.n_support_)
    assert sizes == run["n_sv_every_10"][: len(sizes)]
