"""Compare the best weights in hindsight (for regret) with other solvers, and test regret in a study."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import NonlinearConstraint, linprog, minimize

from singlepass.learners import AROW
from singlepass.pipeline import hindsight
from singlepass.pipeline.analysis.metrics import METRICS, has_windows
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.hindsight import TOLERANCE, HindsightError, best_in_hindsight
from singlepass.pipeline.run import task
from singlepass.pipeline.run.task import RegretWarning, learn_cell, run_cell
from singlepass.pipeline.study import checks
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study

GAUSS = {"name": "gauss", "n_train": 300, "n_test": 100}


def cells(*algorithms: dict[str, Any], dataset: dict[str, Any] = GAUSS, **study: Any) -> list[Cell]:
    table = {"name": "s", "seeds": 1, "datasets": [dataset], "algorithms": list(algorithms)}
    plan = make_plan(parse_study(table | {"metrics": ["clean_error", "regret", "given_regret"]} | study))
    return list(plan.evaluation_cells({}))


def hinges(X: Any, signs: Any, w: Any) -> float:
    return float(np.maximum(0, 1 - signs * (X @ w)).sum())


def drawn(seed: int, n: int, d: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows with features of different scales, some constant or repeated, and signs."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * 10.0 ** rng.integers(-1, 2, size=d)
    X[:, 0] = 1.0 if seed % 3 == 0 else X[:, 0]
    X[n // 2 :] = X[: n - n // 2] if seed % 5 == 0 else X[n // 2 :]
    noise = rng.choice([0.0, 1.0, 10.0])
    return X, np.where(X @ rng.normal(size=d) + noise * rng.normal(size=n) > 0, 1.0, -1.0)


@given(st.integers(0, 10_000), st.integers(1, 40), st.integers(1, 60), st.floats(-3, 3))
@settings(max_examples=60, deadline=None)
def test_no_weights_of_the_norm_lose_less(seed: int, n: int, d: int, exponent: float) -> None:
    X, signs = drawn(seed, n, d)
    radius = 10.0**exponent
    found = best_in_hindsight(X, signs, radius)
    assert found.gap <= TOLERANCE, found
    assert best_in_hindsight(sp.csr_array(X), signs, radius).loss == pytest.approx(
        found.loss, abs=2 * TOLERANCE * max(1.0, found.loss)
    )
    rng = np.random.default_rng(seed)
    for w in rng.normal(size=(20, d)):
        w *= radius / np.linalg.norm(w)
        # The tolerance fits sums of some tens of hinges.
        assert hinges(X, signs, w) >= found.bound - 1e-9


@given(st.integers(0, 10_000), st.integers(1, 30), st.integers(1, 6))
@settings(max_examples=40, deadline=None)
def test_without_a_bound_it_is_the_linear_programme(seed: int, n: int, d: int) -> None:
    X, signs = drawn(seed, n, d)
    rows = np.hstack([-signs[:, np.newaxis] * X, -np.eye(n)])
    costs = np.r_[np.zeros(d), np.ones(n)]
    bounds = [(None, None)] * d + [(0, None)] * n
    solved = linprog(costs, A_ub=rows, b_ub=-np.ones(n), bounds=bounds)
    radius = 2 * float(np.linalg.norm(solved.x[:d])) + 1
    found = best_in_hindsight(X, signs, radius)
    assert found.loss == pytest.approx(solved.fun, rel=2 * TOLERANCE, abs=2 * TOLERANCE)


@pytest.mark.parametrize("seed", range(6))
def test_with_a_bound_it_is_what_a_general_solver_finds(seed: int) -> None:
    n, d, radius = 12, 3, 0.3
    X, signs = drawn(seed, n, d)

    # Slack variables make the problem smooth.
    def lacking(z: np.ndarray) -> np.ndarray:
        return np.r_[signs * (X @ z[:d]) + z[d:] - 1, radius**2 - z[:d] @ z[:d]]

    start = np.r_[np.zeros(d), np.full(n, 2.0)]
    solved = minimize(
        lambda z: z[d:].sum(),
        start,
        jac=lambda z: np.r_[np.zeros(d), np.ones(n)],
        bounds=[(None, None)] * d + [(0, None)] * n,
        constraints=NonlinearConstraint(lacking, 0, np.inf),
        method="SLSQP",
        options={"ftol": 1e-9, "maxiter": 1000},
    )
    assert solved.success
    assert best_in_hindsight(X, signs, radius).loss == pytest.approx(solved.fun, rel=1e-5)


def test_no_weights_are_allowed_but_none() -> None:
    X, signs = drawn(1, 10, 3)
    assert best_in_hindsight(X, signs, 0.0).loss == 10
    assert best_in_hindsight(0 * X, signs, 5.0).loss == 10


@pytest.mark.parametrize("scale", [5e-300, 1e-6, 1e6, 1e200])
def test_the_unit_of_rows_is_no_matter(scale: float) -> None:
    X, signs = drawn(7, 80, 5)
    for radius in (0.01, 1.0, 1e4):
        expected = best_in_hindsight(X, signs, radius).loss
        assert best_in_hindsight(X * scale, signs, radius / scale).loss == pytest.approx(
            expected, rel=2 * TOLERANCE, abs=2 * TOLERANCE
        )


@pytest.mark.parametrize("radius", [1e20, 1e150, 1e308])
def test_norms_that_no_number_can_hold_are_a_line(radius: float) -> None:
    X, signs = drawn(7, 80, 5)
    with pytest.raises(HindsightError, match="weights of the learner's norm, scores are up to"):
        best_in_hindsight(X, signs, radius)


def test_too_many_rows_and_features_are_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    X, signs = drawn(1, 10, 5)
    # Enough memory for about ten rows of four numbers.
    monkeypatch.setattr(hindsight, "MOST_BYTES", 17_000)
    with pytest.raises(
        HindsightError, match=r"the solver needs about .* GB for these rows and features, more than the limit"
    ):
        best_in_hindsight(X, signs, 5.0)
    # Features that never occur are not counted.
    best_in_hindsight(np.c_[X[:, :4], np.zeros((10, 5))], signs, 5.0)


def test_it_is_the_same_again_to_the_last_bit() -> None:
    X, signs = drawn(8, 200, 20)
    assert best_in_hindsight(X, signs, 3.0) == best_in_hindsight(X, signs, 3.0)


@pytest.mark.parametrize("noise", [0.0, 0.2])
def test_it_is_the_loss_along_the_stream_less_the_least(noise: float) -> None:
    [cell] = cells({"name": "AROW"}, noise=noise)
    row = run_cell(cell).row
    assert row["status"] == "ok", row["error"]
    learnt = learn_cell(cell)
    given = learnt.inputs
    X = given.stream.X[given.train.rows]
    learner = AROW()
    scores = learner.learn(X, given.noisy, classes=[0, 1])
    w = learner.coef_[0]
    for name, codes in (("clean", given.train.codes), ("given", given.noisy)):
        signs = 2.0 * codes - 1
        best = best_in_hindsight(X, signs, float(np.linalg.norm(w))).loss
        total = np.maximum(0, 1 - signs * scores).sum()
        assert row[f"regret_{name}"] == pytest.approx(total - best, abs=1e-6 * total)
        # The final weights are among the candidates for the best ones.
        assert hinges(X, signs, w) >= best * (1 - TOLERANCE)
    assert (row["regret_clean"] == row["regret_given"]) == (noise == 0)


def test_with_one_norm_for_all_a_learner_that_learns_nothing_is_last() -> None:
    """Check what docs/metrics.md says: own norms favor learning nothing, one norm ranks by the hinge loss."""
    steps = [{"name": "OnlineGradientDescent", "label": str(eta), "eta": eta} for eta in (1e-6, 0.3)]
    found = cells(*steps, dataset=GAUSS | {"bias": True})
    idle, busy = (run_cell(cell).row for cell in found)
    learnt = [learn_cell(cell) for cell in found]
    given = learnt[0].inputs
    X, signs = given.stream.X[given.train.rows], 2.0 * given.train.codes - 1
    largest = max(float(np.linalg.norm(each.learner.coef_)) for each in learnt)
    best = best_in_hindsight(X, signs, largest).loss
    assert idle["regret_clean"] < busy["regret_clean"]
    totals = [len(signs) * row["hinge_loss_clean"] for row in (idle, busy)]
    assert totals[0] - best > totals[1] - best > 0


def test_rows_before_counting_begins_are_left_out() -> None:
    [cell] = cells({"name": "PassiveAggressive"}, {"name": "AROW", "r": [0.1, 1.0]}, order="given")[:1]
    outcome = run_cell(cell)
    assert outcome.row["counted_from"] == 30
    given = learn_cell(cell).inputs
    part = given.train.part(30)
    assert len(part.rows) == outcome.row["n_examples"]
    assert outcome.row["regret_clean"] < outcome.row["hinge_loss_clean"] * 270


def test_only_who_asks_for_it_has_it() -> None:
    [asked] = cells({"name": "AROW"})
    [other] = cells({"name": "AROW"}, metrics=["hinge_loss"])
    assert asked.spec.kept == ("regret", "scores")
    assert other.spec.kept == ("scores",)
    one, two = run_cell(asked), run_cell(other)
    assert "regret_clean" not in two.row
    assert "regret_clean" not in one.curve
    assert one.row["mistakes"] == two.row["mistakes"]
    assert one.row["hinge_loss_clean"] == two.row["hinge_loss_clean"]
    assert not has_windows(METRICS["regret"])


def test_strategies_have_that_of_the_learner_within_and_references_none() -> None:
    queried, _, reference = cells({"name": "AROW", "query": "all"}, {"name": "Perceptron"}, baselines=True)[
        :3
    ]
    row = run_cell(queried).row
    assert row["status"] == "ok", row["error"]
    assert np.isfinite(row["regret_clean"])
    assert run_cell(reference).row.get("regret_clean") is None


@pytest.mark.parametrize(
    ("algorithm", "dataset", "words"),
    [
        (
            {"name": "KernelPerceptron"},
            GAUSS,
            "algorithm 'KernelPerceptron': 'regret' needs a linear learner of this",
        ),
        ({"name": "sklearn.naive_bayes:GaussianNB", "label": "NB"}, GAUSS, "algorithm 'NB': 'regret' needs"),
        ({"name": "ALMA"}, GAUSS, "algorithm 'ALMA': 'regret' compares with one vector of weights"),
        ({"name": "NAROW"}, GAUSS, "algorithm 'NAROW': 'regret' compares with one"),
        ({"name": "SecondOrderPerceptron", "query": "all"}, GAUSS, "'regret' compares with one"),
        ({"name": "KT", "scale": ["running", "instance"]}, GAUSS, "'KT': 'regret' compares with one"),
        ({"name": "MarginPerceptron", "output": "voted"}, GAUSS, "'regret' compares with one"),
        ({"name": "KT"}, GAUSS | {"parameters": {"scale": "instance"}}, "'KT': 'regret' compares with one"),
        ({"name": "AROW", "reset": "ddm"}, GAUSS, "but reset = 'ddm' changes the model .*: remove reset, or"),
        ({"name": "AROW", "r": [1, 2], "tune": "leader"}, GAUSS, "but tune = 'leader' changes the model"),
        (
            {"name": "AROW", "tune": "leader"},
            GAUSS | {"parameters": {"r": [1, 2]}},
            "but tune = 'leader' changes the model",
        ),
        ({"name": "AROW"}, {"name": "digits"}, "'digits' has more than two classes, but 'regret' needs two"),
    ],
)
def test_what_has_no_regret_is_refused_in_a_line(
    algorithm: dict[str, Any], dataset: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        cells(algorithm, dataset=dataset)


def test_without_the_solver_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "clarabel", None)
    monkeypatch.setattr(checks, "has_solver", lambda: False)
    with pytest.raises(InputError, match=r"'regret' needs the package clarabel: .*singlepass\[regret\]"):
        cells({"name": "AROW"})
    cells({"name": "AROW"}, metrics=["hinge_loss"])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (HindsightError("too far"), "too far"),
        (OverflowError("a"), "OverflowError: a"),
        (MemoryError(), "Mem"),
    ],
)
def test_what_is_not_solved_is_left_out_and_said(
    monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    def fail(*_: Any) -> None:
        raise error

    [cell] = cells({"name": "AROW"})
    monkeypatch.setattr(task, "best_in_hindsight", fail)
    with pytest.warns(RegretWarning, match=f"'AROW' on data set 'gauss': its regret is left out: {words}"):
        row = run_cell(cell).row
    assert row["status"] == "ok"
    assert row["regret_clean"] is None
    assert row["regret_given"] is None


def of_file(path: Path, *algorithms: dict[str, Any], scale: float) -> list[dict[str, Any]]:
    """Return the rows of cells on a stream in a given unit."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(200, 4))
    y = X @ [1.0, -1.0, 0.5, 0.0] + rng.normal(size=200) > 0
    pd.DataFrame(scale * X, columns=list("abcd")).assign(y=y.astype(int)).to_csv(path, index=False)
    dataset = {"path": str(path), "label": "f", "dtype": "float64"}
    rows = [run_cell(cell).row for cell in cells(*algorithms, dataset=dataset, protocol="prequential")]
    assert {row["status"] for row in rows} == {"ok"}, rows[0]["error"]
    return rows


@pytest.mark.slow
def test_learners_that_scale_have_one_regret_in_all_units(tmp_path: Path) -> None:
    bettors = [{"name": "KT"}, {"name": "CoordinateKT"}, {"name": "COCOB"}]
    one, small, large = (of_file(tmp_path / "f.csv", *bettors, scale=scale) for scale in (1.0, 1e-6, 1e6))
    for mine, *others in zip(one, small, large, strict=True):
        for other in others:
            assert other["regret_clean"] == pytest.approx(mine["regret_clean"], rel=1e-4)


def test_weights_of_any_size_fail_no_cell(tmp_path: Path) -> None:
    diverging = {"name": "OnlineGradientDescent", "loss": "squared_hinge", "rate": "constant"}
    # Weights grow until their scores overflow, or nearly so.
    for scale in (10.0, 1e3, 1e6):
        with pytest.warns(RegretWarning, match="its regret is left out: "):
            [row] = of_file(tmp_path / "f.csv", diverging, scale=scale)
        assert row["regret_clean"] is None
