"""Test metrics of streams in given order: counted rows, delayed labels, windows, references."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics as oracle

from singlepass.learners import AROW, Passage, References
from singlepass.pipeline import data
from singlepass.pipeline.analysis.metrics import METRICS, faded, has_windows, windowed
from singlepass.pipeline.run.recorder import Recorder, Tallies, area_under_curve, average_precision
from singlepass.pipeline.run.shared_inputs import inputs_of
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.scoring import BY_CLASS, METRIC_NAMES, REFERENCES, SCORINGS
from singlepass.pipeline.store.schema import CELLS, CURVES
from singlepass.pipeline.store.tables import part_of
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.specs import Course
from singlepass.pipeline.study.study_file import parse_study

pytestmark = pytest.mark.slow

N = 400
# Because another algorithm has a grid, counting begins after a fifth of the stream.
TUNED = {"name": "Perceptron", "label": "tuned", "average": [True, False]}
FIRST = 80
# Regret needs two classes and has no curve; test_hindsight tests it.
ASKED = [
    name
    for name in METRIC_NAMES
    if name in SCORINGS and SCORINGS[name].side != "test" and SCORINGS[name].measure != "regret"
]


def cells_of(*algorithms: dict[str, Any], name: str = "gauss", first: int = 0, **study: Any) -> list[Cell]:
    table = {
        "name": "s",
        "order": "given",
        "seeds": 1,
        "datasets": [{"name": name, "n_train": N, "n_test": 0}],
        "algorithms": [*algorithms, *([TUNED] if first else [])],
        "metrics": ASKED,
        "rank_by": "error",
        **({"tune_fraction": first / N} if first else {}),
        **study,
    }
    return list(make_plan(parse_study(table)).evaluation_cells({}))


def frames(cell: Cell) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the cells and the curves table, as in the store."""
    outcome = run_cell(cell)
    assert outcome.row["status"] == "ok", outcome.row["traceback"]
    tables = part_of([outcome.row], [outcome.curve])
    assert [table.schema for table in tables] == [CELLS, CURVES]
    rows, curves = (table.to_pandas() for table in tables)
    return rows, curves


def scores_at_prediction(X: np.ndarray, codes: np.ndarray, delay: int) -> np.ndarray:
    """Return scores from a plain loop: predict a row, then learn the row whose label has arrived."""
    learner, scores = AROW(), []
    for t in range(len(codes)):
        scores.append(float(learner.decision_function(X[t : t + 1])[0]) if t > delay else 0.0)
        if t >= delay:
            late = slice(t - delay, t - delay + 1)
            learner.partial_fit(X[late], codes[late], classes=[0, 1])
    return np.array(scores)


def references(codes: np.ndarray, labels: np.ndarray, delay: int) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows the most frequent class so far gets right, and the latest known label."""
    seen, last, most, before = [0, 0], 0, [], []
    for t in range(len(codes)):
        most.append(seen.index(max(seen)) == labels[t])
        before.append(last == labels[t])
        if t >= delay:
            last = codes[t - delay]
            seen[last] += 1
    return np.array(most), np.array(before)


def beyond(right: np.ndarray, reference: np.ndarray) -> float:
    return (right.mean() - reference.mean()) / (1 - reference.mean())


def of_predictions(
    scores: np.ndarray, labels: np.ndarray, most: np.ndarray, before: np.ndarray, part: slice
) -> dict[str, float]:
    y, predicted = labels[part], (scores > 0)[part]
    return {
        "error": oracle.zero_one_loss(y, predicted),
        "balanced_accuracy": oracle.balanced_accuracy_score(y, predicted),
        "f1": oracle.f1_score(y, predicted),
        "kappa": oracle.cohen_kappa_score(y, predicted),
        "kappa_m": beyond(predicted == y, most[part]),
        "kappa_temporal": beyond(predicted == y, before[part]),
    }


def of_scores(scores: np.ndarray, labels: np.ndarray, part: slice) -> dict[str, float]:
    y, s = labels[part], scores[part]
    return {
        "auc": oracle.roc_auc_score(y, s),
        "hinge_loss": float(np.maximum(0, 1 - np.where(y == 1, s, -s)).mean()),
    }


@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize("first", [0, FIRST])
def test_what_counts_is_measured_by_the_scores_at_prediction(first: int, delay: int) -> None:
    cell = cells_of({"name": "AROW"}, first=first, delay=delay, noise=0.2, window=90, checkpoints=8)[0]
    rows, curves = frames(cell)
    made = inputs_of(cell.spec)
    X = data.open_stream(cell.spec.dataset, root=0, seed=0).X
    scores = scores_at_prediction(X, made.noisy, delay)
    assert (rows["n_examples"].item(), curves["t"].iloc[-1]) == (N - first, N - first)
    for side, labels in (("", made.train.codes), ("given_", made.noisy)):
        most, before = references(made.noisy, labels, delay)
        counted = slice(first, None)
        ends = of_predictions(scores, labels, most, before, counted) | of_scores(scores, labels, counted)
        ends["average_precision"] = oracle.average_precision_score(labels[counted], scores[counted])
        for name, value in ends.items():
            assert METRICS[side + name].of(rows).item() == pytest.approx(value, abs=1e-12), name
        for place, t in enumerate(curves["t"]):
            so_far, latest = slice(first, first + t), slice(first + max(0, t - 90), first + t)
            points = of_predictions(scores, labels, most, before, so_far) | of_scores(scores, labels, so_far)
            for name, value in points.items():
                assert METRICS[side + name].of(curves)[place] == pytest.approx(value, abs=1e-12), name
            points = of_predictions(scores, labels, most, before, latest) | of_scores(scores, labels, latest)
            points["average_precision"] = oracle.average_precision_score(labels[latest], scores[latest])
            for name, value in points.items():
                assert windowed(METRICS[side + name], curves)[place] == pytest.approx(value, abs=1e-12), name
    assert rows["occurred_clean"].item().tolist() == np.bincount(made.train.codes[first:]).tolist()


@pytest.mark.parametrize("noise", [0.0, 0.2])
@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize("first", [0, FIRST])
@pytest.mark.parametrize("name", ["gauss", "waveform-generator"])
def test_the_baselines_are_the_references(name: str, first: int, delay: int, noise: float) -> None:
    study = {"first": first, "delay": delay, "noise": noise, "window": 50, "checkpoints": 8}
    majority, no_change = cells_of({"name": "MajorityClass"}, {"name": "NoChange"}, name=name, **study)[:2]
    for cell, measure in ((majority, "kappa_m"), (no_change, "kappa_temporal")):
        rows, curves = frames(cell)
        for side in ("", "given_"):
            metric = METRICS[side + measure]
            assert metric.of(rows).item() == 0.0
            assert (metric.of(curves) == 0.0).all()
            assert (windowed(metric, curves) == 0.0).all()
        # Scores never tie, so wrong predictions and mistakes are the same.
        assert METRICS["error"].of(rows).item() == rows["mistakes_clean"].item() / rows["n_examples"].item()


@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize("first", [0, FIRST])
def test_every_metric_fades_as_scikit_learn_weighs(first: int, delay: int) -> None:
    alpha = 0.97
    cell = cells_of({"name": "AROW"}, first=first, delay=delay, noise=0.2, fading=alpha, checkpoints=8)[0]
    curves = frames(cell)[1]
    made = inputs_of(cell.spec)
    X = data.open_stream(cell.spec.dataset, root=0, seed=0).X
    scores = scores_at_prediction(X, made.noisy, delay)
    for side, labels in (("", made.train.codes), ("given_", made.noisy)):
        most, before = references(made.noisy, labels, delay)
        for place, t in enumerate(curves["t"]):
            part = slice(first, first + t)
            weights = alpha ** np.arange(t - 1, -1, -1.0)
            y, s, predicted = labels[part], scores[part], (scores > 0)[part]
            right, dear = np.average(predicted == y, weights=weights), {"sample_weight": weights}
            hinge = np.maximum(0, 1 - np.where(y == 1, s, -s))
            expected = {
                "error": oracle.zero_one_loss(y, predicted, **dear),
                "balanced_accuracy": oracle.balanced_accuracy_score(y, predicted, **dear),
                "macro_f1": oracle.f1_score(y, predicted, average="macro", **dear),
                "f1": oracle.f1_score(y, predicted, **dear),
                "mcc": oracle.matthews_corrcoef(y, predicted, **dear),
                "kappa": oracle.cohen_kappa_score(y, predicted, **dear),
                "auc": oracle.roc_auc_score(y, s, **dear),
                "average_precision": oracle.average_precision_score(y, s, **dear),
                "hinge_loss": np.average(hinge, weights=weights),
            }
            for name, reference in (("kappa_m", most), ("kappa_temporal", before)):
                there = np.average(reference[part], weights=weights)
                expected[name] = (right - there) / (1 - there)
            for name, value in expected.items():
                assert faded(METRICS[side + name], curves)[place] == pytest.approx(value, abs=1e-9), name


@pytest.mark.parametrize("name", ["gauss", "waveform-generator"])
def test_what_fades_is_a_plain_sum(name: str) -> None:
    alpha = 0.9
    cell = cells_of({"name": "AROW"}, name=name, fading=alpha, noise=0.1, checkpoints=5)[0]
    curves = frames(cell)[1]
    made, n_classes = inputs_of(cell.spec), 2 if name == "gauss" else 3
    for place, t in enumerate(curves["t"]):
        sums = np.zeros(n_classes)
        for code in made.noisy[:t]:
            sums = alpha * sums + (np.arange(n_classes) == code)
        assert curves["fading_occurred_given"][place] == pytest.approx(sums, rel=1e-12)


def test_a_window_needs_what_was_kept_and_no_other_metric_has_one() -> None:
    plain, curves = (frames(cells_of({"name": "AROW"}, **study)[0])[1] for study in (
        {"metrics": ["auc"], "rank_by": "auc", "window": 50}, {}
    ))  # fmt: skip
    for frame in (plain, curves):
        assert windowed(METRICS["f1"], frame).isna().all()
    found = {name for name, metric in METRICS.items() if has_windows(metric)}
    assert {"error", "given_kappa_temporal", "f1"} <= found
    assert not found & {"test_auc", "test_f1", "mistakes", "ram_hours"}


@pytest.mark.parametrize("first", [0, FIRST])
def test_it_does_not_matter_where_the_stream_is_cut(first: int) -> None:
    study = {"first": first, "window": 50, "fading": 0.99, "checkpoints": 7, "noise": 0.2}
    whole, pieces = (frames(cells_of({"name": "AROW"}, **study, **limit)[0]) for limit in (
        {}, {"time_limit": 1e6}
    ))  # fmt: skip
    for one, other in zip(whole, pieces, strict=True):
        timed = [name for name in ("fit_seconds", "total_seconds", "started") if name in one]
        pd.testing.assert_frame_equal(one.drop(columns=timed), other.drop(columns=timed))


def test_a_stream_that_ends_before_anything_counts_has_no_figures() -> None:
    codes = np.array([0, 1, 1, 0], np.int32)
    references = References(codes, codes, 2)
    tallies = Tallies(codes, codes, 2, ["classes", "scores"], references=references, first=3)
    tallies.add(np.array([1.0, 1.0]), np.empty(0, np.int64))
    totals = tallies.totals()
    assert all(np.sum(totals[name]) == 0 for name in (*BY_CLASS, *REFERENCES))
    assert not {"auc_clean", "hinge_loss_clean", "average_precision_clean"} & totals.keys()
    tallies.add(np.array([1.0, -1.0]), np.array([1, 2]))
    assert tallies.totals()["right_clean"] == [1, 0]
    assert tallies.totals()["before_clean"] == 0


def test_a_stream_that_is_stopped_keeps_its_windows() -> None:
    codes = np.array([0, 1, 1, 0, 1, 0], np.int32)
    references = References(codes, codes, 2)
    tallies = Tallies(codes, codes, 2, ["classes", "scores"], references=references, first=1)
    recorder = Recorder(codes, codes, 2, Course(window=2), 1, tallies)
    # Points after 3 and 6 rows; the cell is stopped after 5.
    stops = recorder.stops[recorder.stops <= 5]
    recorder.add(Passage(np.array([-1.0, 1.0, -1.0, 1.0, 1.0]), [0.0] * len(stops), {}), stops, 0.0)
    recorder.end({}, 1.0)
    columns = {name: list(values) for name, values in recorder.curve().items()}
    curve = pd.DataFrame(columns).reindex(columns=CURVES.names)
    row = recorder.counted({})
    assert list(curve["t"])[-1] == row["n_examples"] == 4
    assert np.asarray(curve["right_clean"].iloc[-1]).tolist() == row["right_clean"] == [0, 2]
    # A windowed value exists exactly where the counts one window earlier were recorded.
    noted = set(recorder.stops.tolist())
    for t, latest in zip(curve["t"] + 1, windowed(METRICS["error"], curve), strict=True):
        assert np.isnan(latest) == (max(1, t - 2) not in noted)


def test_areas_by_hand() -> None:
    scores, codes = np.array([0.9, 0.5, 0.5]), np.array([1, 1, 0], np.int32)
    assert area_under_curve(scores, codes, np.ones(3)) == 0.75
    assert average_precision(scores, codes, np.ones(3)) == pytest.approx(5 / 6)
