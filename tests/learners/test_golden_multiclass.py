"""Every multi-class learner of the golden runs against independent implementations, mistake by mistake."""

import numpy as np
import pytest
from scipy.stats import norm

from singlepass.learners.linear.parts.losses import FORMS

from .streams import as_csr, golden_learner, golden_runs, golden_stream, margins_of, tiered_runs

RUNS = golden_runs("linear_multiclass", "gradient_multiclass", "second_order_multiclass")
REFERENCE = sorted(name for name in RUNS if ".ref__" in name)
# The runs themselves differ from the optimum and from symmetry by about 1e-13, with scores near 0.1.
TOLERANCE = {"rtol": 1e-9, "atol": 1e-12}
CLASSES = range(10)


def learner_of(name):
    """Return our learner for a golden run; its settings in the table are the run's hyperparameters."""
    learner = golden_learner(name)
    ours = learner.get_params()
    for parameter, value in RUNS[name]["hyperparameters"].items():
        if parameter == "phi":
            assert norm.ppf(ours["eta"]) == pytest.approx(value, rel=1e-7)  # printed with seven digits
        elif parameter == "k":
            assert ours["constraints"] == ("all" if value is None else value)
        elif parameter == "kind" and "scw" in name:
            assert ours["variant"] == {1: "SCW-I", 2: "SCW-II"}[value]
        elif parameter == "variant":
            assert ours["variant"] == {1: "PA-I", 2: "PA-II"}[value]
        elif value in FORMS:
            assert getattr(learner, "form", value) == value or ours["loss"] != "logistic"
        elif parameter == "form":
            shape = {"full": ("full",), "diag_inv": ("diagonal", "precision")}[value]
            assert (ours["covariance"], ours["projection"])[: len(shape)] == shape
        elif parameter == "kind":
            assert value in name
        elif parameter in ("a", "bias_eta"):  # SOL's initial Σ, and no intercept
            assert value == {"a": 1.0, "bias_eta": 0}[parameter]
        else:
            assert ours[parameter] == value
    return learner


def test_all_runs_are_covered():
    assert len(REFERENCE) == 20
    assert sorted({*RUNS} - {*REFERENCE}) == ["mc_cw_var_diag.sol__s4_digits10"]


@pytest.mark.parametrize("convert", [np.asarray, pytest.param(as_csr, marks=pytest.mark.slow)])
@pytest.mark.parametrize("name", tiered_runs(REFERENCE, CLASSES))
def test_reference(name, convert):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    X = convert(X)
    learner = learner_of(name)
    updated, scores = [], []
    for t in range(len(y)):
        before = getattr(learner, "n_updates_", 0)
        scores.append(learner.learn(X[t : t + 1], y[t : t + 1], classes=CLASSES)[0])
        if learner.n_updates_ > before:
            updated.append(t)
    mistakes = margins_of(np.array(scores), y) <= 0

    assert np.flatnonzero(mistakes).tolist() == run["mistake_indices_0based"]
    assert np.cumsum(mistakes)[9::10].tolist() == run["cumulative_mistakes_every_10"]
    assert learner.n_mistakes_ == run["mistakes_final"]
    assert updated == run["update_indices_0based"]
    assert learner.n_updates_ == run["n_updates_final"]
    np.testing.assert_allclose(scores[:20], run["online_scores_first20"], **TOLERANCE)
    np.testing.assert_allclose(learner.decision_function(X[:20]), run["final_scores_first20"], **TOLERANCE)
    np.testing.assert_allclose(learner.coef_[0, :10], run["weights_class0_first10"], **TOLERANCE)
    np.testing.assert_allclose(np.linalg.norm(learner.coef_, axis=1), run["weights_rows_l2"], rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(learner.coef_), run["weights_frobenius"], rtol=1e-9)


@pytest.mark.parametrize("convert", [np.asarray, pytest.param(as_csr, marks=pytest.mark.slow)])
def test_confidence_weighted_of_sol(convert):
    """SOL predicts the lowest class if all scores are equal; the first row has another class."""
    name = "mc_cw_var_diag.sol__s4_digits10"
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    assert y[0] != 0
    learner = learner_of(name)
    learner.learn(convert(X), y, classes=CLASSES)
    # Its float32 arithmetic may turn one row.
    assert abs(learner.n_mistakes_ - run["mistakes_final"]) <= 1
    assert abs(learner.n_updates_ - run["n_updates_final"]) <= 1
    # Printed with six digits, from float32.
    np.testing.assert_allclose(learner.coef_[0, :10], run["weights_first10_6digits"], rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(learner.coef_), run["weights_l2_6digits"], rtol=1e-5)
