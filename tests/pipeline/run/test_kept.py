"""Test what cells record for metrics: the same in curves and at the end, however the stream is split."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.metrics import balanced_accuracy_score, f1_score, log_loss, roc_auc_score

from singlepass.learners import AROW, BaselineCounts, References, available
from singlepass.pipeline import data
from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.run import splits
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.scoring import METRIC_NAMES, SCORINGS
from singlepass.pipeline.store.schema import CELLS, CURVES
from singlepass.pipeline.store.tables import part_of
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study

GAUSS = {"name": "gauss", "n_train": 400, "n_test": 200}
DIGITS = {"name": "digits"}
# Not all learners have log loss and regret.
EVERYTHING = [name for name in METRIC_NAMES if not name.endswith(("log_loss", "regret"))]


def cell_of(algorithm: dict[str, Any], dataset: dict[str, Any] = GAUSS, **study: Any) -> Cell:
    table = {"name": "s", "datasets": [dataset], "algorithms": [algorithm], "protocol": "holdout"}
    given = {"rank_by": "balanced_accuracy", "metrics": EVERYTHING, "noise": 0.2, **study}
    if not given["metrics"]:
        del given["rank_by"]
    return next(make_plan(parse_study(table | given)).evaluation_cells({}))


def frames(*cells: Cell) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the cells and the curves table, as in the store."""
    outcomes = [run_cell(cell) for cell in cells]
    assert [outcome.row.get("error") for outcome in outcomes] == [None] * len(cells)
    tables = part_of([outcome.row for outcome in outcomes], [outcome.curve for outcome in outcomes])
    assert [table.schema for table in tables] == [CELLS, CURVES]
    rows, curves = (table.to_pandas() for table in tables)
    return rows, curves


@pytest.mark.parametrize("algorithm", [{"name": "AROW"}, {"name": "KernelPerceptron", "gamma": 0.5}])
@pytest.mark.parametrize("dataset", [GAUSS, pytest.param(DIGITS, marks=pytest.mark.slow)])
def test_a_curve_ends_in_its_cells_figures(algorithm: dict[str, Any], dataset: dict[str, Any]) -> None:
    rows, curves = frames(cell_of(algorithm, dataset))
    last = curves.iloc[[-1]]
    assert last["t"].item() == rows["n_examples"].item()
    for name, scoring in SCORINGS.items():
        if scoring.side != "test" and scoring.measure not in ("average_precision", "regret"):
            figures = METRICS[name].of(rows).to_numpy(), METRICS[name].of(last).to_numpy()
            np.testing.assert_array_equal(*figures)
            undefined = scoring.measure == "log_loss" or (scoring.two_classes and dataset is DIGITS)
            assert np.isnan(figures[0]).all() == undefined, name
    # Mistakes are wrong predictions, plus right predictions on a tie.
    wrong = round(METRICS["error"].of(rows).item() * rows["n_examples"].item())
    assert 0 <= rows["mistakes_clean"].item() - wrong <= rows["ties"].item()


def test_what_is_kept_does_not_depend_on_where_the_stream_is_cut() -> None:
    cell = cell_of({"name": "AROW"}, checkpoints=7)
    rows, curves = frames(cell)
    # With a time limit, even one that is not reached, the learner is checked every few rows.
    limited = cell_of({"name": "AROW"}, checkpoints=7, time_limit=1e6)
    assert limited.key == cell.key
    pieces, pieces_curves = frames(limited)
    timed = ["fit_seconds", "total_seconds", "started"]
    pd.testing.assert_frame_equal(rows.drop(columns=timed), pieces.drop(columns=timed))
    pd.testing.assert_frame_equal(curves.drop(columns=timed[:1]), pieces_curves.drop(columns=timed[:1]))


def test_the_test_part_is_measured_as_scikit_learn_does() -> None:
    cell = cell_of({"name": "AROW"}, noise=0.0)
    rows, _ = frames(cell)
    stream = data.open_stream(cell.spec.dataset, root=0, seed=0)
    part, test = splits.split(cell.spec, stream)
    assert test is not None
    learner = AROW()
    scores = learner.learn(part.X[part.rows], part.codes, classes=[0, 1])
    X = stream.X_test[test.rows]
    predicted = learner.predict(X)
    expected = {
        "test_balanced_accuracy": balanced_accuracy_score(test.codes, predicted),
        "test_f1": f1_score(test.codes, predicted),
        "test_auc": roc_auc_score(test.codes, learner.decision_function(X)),
        "auc": roc_auc_score(part.codes, scores),
        "f1": f1_score(part.codes, scores > 0),
    }
    for name, value in expected.items():
        assert METRICS[name].of(rows).item() == pytest.approx(value)
    assert rows["occurred_clean"].item().tolist() == np.bincount(part.codes).tolist()


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("OnlineGradientDescent", {"loss": "logistic", "eta": 0.1}),
        pytest.param("FTRLProximal", {}, marks=pytest.mark.slow),
        pytest.param("KT", {"loss": "logistic"}, marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("dataset", [GAUSS, pytest.param(DIGITS, marks=pytest.mark.slow)])
def test_learners_with_the_logistic_loss_have_a_log_loss(
    name: str, settings: dict[str, Any], dataset: dict[str, Any]
) -> None:
    cell = cell_of(
        {"name": name} | settings,
        dataset,
        metrics=["log_loss", "test_log_loss"],
        rank_by="log_loss",
        noise=0.0,
    )
    rows, _ = frames(cell)
    stream = data.open_stream(cell.spec.dataset, root=0, seed=0)
    part, test = splits.split(cell.spec, stream)
    assert test is not None
    learner = available()[name](**settings)
    classes = np.unique(part.codes)
    scores = learner.learn(part.X[part.rows], part.codes, classes=classes)
    rest = stream.X_test if stream.X_test is not None else stream.X
    on_test = learner.decision_function(rest[test.rows])
    for metric, found, codes in (("log_loss", scores, part.codes), ("test_log_loss", on_test, test.codes)):
        chances = softmax(found, axis=1) if found.ndim == 2 else expit(found)
        expected = log_loss(codes, chances, labels=classes)
        assert METRICS[metric].of(rows).item() == pytest.approx(expected)


def test_a_batch_baseline_has_the_metrics_of_the_test_part() -> None:
    rows, curves = frames(cell_of({"name": "SVC", "gamma": 0.5}))
    assert not len(curves)
    assert METRICS["test_error"].of(rows).item() == pytest.approx(1 - rows["test_accuracy"].item())
    assert 0.5 < METRICS["test_auc"].of(rows).item() < 1
    assert np.isnan(METRICS["auc"].of(rows).item())


def test_a_batch_baseline_without_a_score_for_each_class_has_no_scores(tmp_path: Path) -> None:
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("x,y\n" + "0,a\n1,b\n" * 20 + "2,c\n")
    test.write_text("x,y\n0,a\n1,b\n2,c\n")
    dataset = {"path": str(train), "test": str(test), "target": "y"}
    pairs = {"decision_function_shape": "ovo"}
    for limit, params, lacks in ((40, {}, True), (41, {}, False), (41, pairs, True)):
        limits = {"order": "given", "max_train": limit, "metrics": ["test_hinge_loss", "test_kappa"]}
        svc = {"name": "SVC", **params}
        rows, _ = frames(cell_of(svc, dataset, rank_by="test_kappa", noise=0.0, **limits))
        assert rows["test_hinge_loss"].isna().item() == lacks
        assert rows["test_predicted"].item().sum() == 3


def test_without_metrics_a_cell_is_as_before_and_only_with_them_another() -> None:
    plain, keeping = cell_of({"name": "AROW"}, metrics=[]), cell_of({"name": "AROW"})
    assert "kept" not in plain.spec.document
    assert plain.key != keeping.key
    # Another metric of the same kind needs no further records.
    assert cell_of({"name": "AROW"}, metrics=["balanced_accuracy", "f1", "auc"]).key == keeping.key
    rows, curves = frames(plain, keeping)
    for name in ("mistakes", "mistakes_clean", "ties", "updates", "test_mistakes", "test_ties"):
        assert rows[name].nunique() == 1
    assert rows["predicted"].isna().tolist() == [True, False]
    assert [each.tolist() for each in rows["occurred_clean"]] == [rows["occurred_clean"][0].tolist()] * 2
    assert curves.groupby("key")["right_clean"].count().sort_values().tolist()[0] == 0


def test_cells_of_other_numbers_of_classes_stand_in_one_table() -> None:
    cells = [cell_of({"name": "AROW"}), cell_of({"name": "AROW"}, DIGITS)]
    apart = [frames(cell)[1] for cell in cells]
    _, together = frames(*cells)
    wanted = pd.concat(apart, ignore_index=True)
    for name in ("t", "predicted", "right_given", "majority_clean", "auc_clean"):
        found = [np.asarray(value).tolist() for value in together[name]]
        np.testing.assert_equal(found, [np.asarray(value).tolist() for value in wanted[name]])
    # A cell without records may be between them.
    _, mixed = frames(cells[0], cell_of({"name": "AROW"}, metrics=[]), cells[1])
    assert mixed["predicted"].dropna().map(len).tolist() == together["predicted"].map(len).tolist()


def test_what_references_get_right_is_found_once_for_cells_that_share_their_labels() -> None:
    rng = np.random.RandomState(3)
    given_codes, clean = (rng.randint(0, 3, 200).astype(np.int32) for _ in range(2))
    stops, others = np.array([10, 77, 200]), np.array([5, 200])
    for delay in (0, 7):
        shared: dict[tuple[int, bytes], BaselineCounts] = {}
        for points in (stops, others, stops):
            alone = References(given_codes, clean, 3, delay)
            pieces = np.vstack(
                [alone.add(60, points[points <= 60]), alone.add(140, points[points > 60] - 60)]
            )
            found = References(given_codes, clean, 3, delay, shared)
            assert found.add(200, points).tolist() == pieces.tolist()
            assert found.right.tolist() == alone.right.tolist() == pieces[-1, :4].tolist()
            # Changing the returned arrays must not affect the shared ones.
            found.right[:] = -1
        assert len(shared) == 2
