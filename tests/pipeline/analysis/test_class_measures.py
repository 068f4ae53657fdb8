"""Compare every metric of a random stream with scikit-learn or a plain loop, in cells and in curves."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn import metrics as oracle

from singlepass.learners import References
from singlepass.pipeline.analysis.class_measures import ClassCounts, kappa, mcc
from singlepass.pipeline.analysis.class_measures import beyond as relative
from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.run.recorder import Tallies
from singlepass.pipeline.scoring import SCORINGS
from singlepass.pipeline.store.schema import CELLS, CURVES
from singlepass.pipeline.study.specs import Course


def stream(seed: int, n: int, n_classes: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw scores with many ties, given and clean labels; in many streams classes are rare or missing."""
    rng = np.random.RandomState(seed)
    scores = rng.randint(-3, 4, n if n_classes == 2 else (n, n_classes)) / 2
    shares = rng.dirichlet(np.full(n_classes, 0.5))
    given_codes, clean = (rng.choice(n_classes, n, p=shares).astype(np.int32) for _ in range(2))
    return scores, given_codes, clean


STREAMS = st.builds(stream, st.integers(0, 100_000), st.integers(1, 50), st.sampled_from([2, 3, 5]))


def beyond(right: int, reference: int, n: int) -> float:
    return float("nan") if reference == n else (right / n - reference / n) / (1 - reference / n)


def plain(
    scores: np.ndarray, given_codes: np.ndarray, labels: np.ndarray, n_classes: int
) -> dict[str, float]:
    """Compute every measure of a stream for one kind of labels."""
    nan = float("nan")
    n, classes = len(labels), list(range(n_classes))
    predicted = scores.argmax(axis=1) if scores.ndim == 2 else (scores > 0).astype(int)
    either = sorted({*labels.tolist(), *predicted.tolist()})
    right = int((predicted == labels).sum())
    seen, last, majority, before = [0] * n_classes, 0, 0, 0
    for y, judged in zip(given_codes.tolist(), labels.tolist(), strict=True):
        majority += seen.index(max(seen)) == judged
        before += last == judged
        seen[y] += 1
        last = y
    if scores.ndim == 1:
        probabilities = 1 / (1 + np.exp(-scores))
        probabilities = np.column_stack([1 - probabilities, probabilities])
        margins = np.where(labels == 1, scores, -scores)
    else:
        probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        wrong = scores.copy()
        wrong[np.arange(n), labels] = -np.inf
        margins = scores[np.arange(n), labels] - wrong.max(axis=1)
    found = {
        "error": oracle.zero_one_loss(labels, predicted),
        "accuracy": oracle.accuracy_score(labels, predicted),
        "balanced_accuracy": oracle.balanced_accuracy_score(labels, predicted),
        "macro_f1": oracle.f1_score(labels, predicted, labels=either, average="macro", zero_division=0.0),
        "mcc": oracle.matthews_corrcoef(labels, predicted),
        "kappa": nan if len(either) == 1 else oracle.cohen_kappa_score(labels, predicted, labels=classes),
        "kappa_m": beyond(right, majority, n),
        "kappa_temporal": beyond(right, before, n),
        "hinge_loss": float(np.maximum(0, 1 - margins).mean()),
        "log_loss": oracle.log_loss(labels, probabilities, labels=classes),
        **dict.fromkeys(["precision", "recall", "f1", "g_mean", "auc", "average_precision"], nan),
    }
    if n_classes == 2:
        recalls = [oracle.recall_score(labels, predicted, pos_label=k, zero_division=0.0) for k in classes]
        # Measures of a class that does not occur are undefined, while scikit-learn returns 0.
        positive, both = labels.any(), len(set(labels.tolist())) == 2
        found |= {
            "precision": oracle.precision_score(labels, predicted, zero_division=0.0) if positive else nan,
            "recall": recalls[1] if positive else nan,
            "f1": oracle.f1_score(labels, predicted, zero_division=0.0) if positive else nan,
            "g_mean": float(np.sqrt(recalls[0] * recalls[1])) if both else nan,
            "auc": nan if len(set(labels.tolist())) < 2 else oracle.roc_auc_score(labels, scores),
            "average_precision": oracle.average_precision_score(labels, scores) if labels.any() else nan,
        }
    return found


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(STREAMS, st.data())
def test_every_metric_is_scikit_learns_at_the_end_and_at_every_point(made: Any, data: Any) -> None:
    scores, given_codes, clean = made
    n, n_classes = len(clean), 2 if scores.ndim == 1 else scores.shape[1]
    stops = np.unique([data.draw(st.integers(1, n)), n])
    references = References(given_codes, clean, n_classes)
    tallies = Tallies(given_codes, clean, n_classes, ["classes", "scores"], True, references)
    columns: dict[str, Any] = {}
    # The rows arrive in two pieces.
    cut = data.draw(st.integers(0, n))
    for start, stop in ((0, cut), (cut, n)):
        noted = stops[(stops > start) & (stops <= stop)] - start
        for name, values in tallies.add(scores[start:stop], noted).items():
            columns.setdefault(name, []).extend(values)
    curve = pd.DataFrame(columns | tallies.areas(stops)).reindex(columns=CURVES.names)
    cell = pd.DataFrame([tallies.totals()]).reindex(columns=CELLS.names)
    with warnings.catch_warnings():
        # scikit-learn warns if labels and predictions have one class only.
        warnings.simplefilter("ignore")
        for place, at in enumerate(stops):
            for side, labels in (("", clean), ("given_", given_codes)):
                expected = plain(scores[:at], given_codes[:at], labels[:at], n_classes)
                for measure, value in expected.items():
                    if measure != "average_precision":
                        found = METRICS[side + measure].of(curve).iloc[place]
                        assert found == pytest.approx(value, abs=1e-12, nan_ok=True), measure
        for side, labels in (("", clean), ("given_", given_codes)):
            for measure, value in plain(scores, given_codes, labels, n_classes).items():
                metric = METRICS[side + measure]
                assert metric.of(cell).iloc[0] == pytest.approx(value, abs=1e-12, nan_ok=True), measure
                if measure != "average_precision":
                    # The values must agree to the last bit.
                    ends = [metric.of(frame).to_numpy()[-1] for frame in (curve, cell)]
                    assert np.array_equal(ends[:1], ends[1:], equal_nan=True)
    # Regret is not a sum over rows; test_hindsight tests it.
    assert {*expected, "regret"} == {scoring.measure for scoring in SCORINGS.values()}


def test_rows_of_other_numbers_of_classes_stand_in_one_table() -> None:
    rows = pd.DataFrame(
        {
            "predicted": [[1, 1], None, [2, 0, 2]],
            "right_clean": [[1, 1], None, [1, 0, 2]],
            "occurred_clean": [[1, 1], [4, 4], [2, 0, 2]],
        }
    )
    assert METRICS["accuracy"].of(rows).tolist()[::2] == [1.0, 0.75]
    assert METRICS["balanced_accuracy"].of(rows).tolist()[::2] == [1.0, 0.75]
    assert METRICS["recall"].of(rows).isna().tolist() == [False, True, True]


def test_scores_that_are_no_numbers_have_no_area() -> None:
    codes = np.array([0, 1], np.int32)
    tallies = Tallies(codes, codes, 2, ["scores"])
    tallies.add(np.array([np.nan, 1.0]), np.empty(0, np.int64))
    totals = tallies.totals()
    assert np.isnan(
        [totals["auc_clean"], totals["average_precision_clean"], totals["hinge_loss_clean"]]
    ).all()
    assert "log_loss_clean" not in totals
    assert "right_clean" not in totals


def test_a_window_may_be_longer_than_memory() -> None:
    codes = np.array([0, 1, 1], np.int32)
    tallies = Tallies(codes, codes, 2, ["scores"], course=Course(window=2**53))
    tallies.add(np.array([0.0, 1.0, -1.0]), np.empty(0, np.int64))
    assert tallies.latest_areas(np.array([2, 3]))["window_auc_clean"].tolist() == [1.0, 0.5]


def test_rounding_errors_of_fading_counts_are_no_agreement() -> None:
    labels = np.r_[np.tile([0, 1], 50), np.zeros(600, int)]

    def fading(values: np.ndarray) -> float:
        total = 0.0
        for value in values.tolist():
            total = value + 0.95 * total
        return total

    # All predictions are class 0; the examples of class 1 weigh less than rounding errors, or a hundredth.
    for start, chance in ((0, np.nan), (590, 0.0)):
        found = np.roll(labels, start)
        occurred = np.array([[fading(found == 0), fading(found == 1)]])
        counts = ClassCounts(
            np.array([[occurred[0, 0], 0.0]]), np.array([[fading(np.ones(700)), 0.0]]), occurred
        )
        assert mcc(counts) == 0.0
        np.testing.assert_array_equal(kappa(counts), [chance])
    right, total = np.array([19.0 + 1e-14, 20.0 - 1e-14]), np.array([20.0, 20.0])
    np.testing.assert_array_equal(relative(right, np.array([19.0, 20.0 - 2e-14]), total), [0.0, np.nan])
    # Counts of whole streams are exact: here the agreement is 2 of n² below chance.
    n = 10**5
    once = np.array([[n - 1.0, 1.0]])
    disjoint = ClassCounts(np.array([[n - 2.0, 0.0]]), once, once)
    assert kappa(disjoint) == mcc(disjoint) == -1 / (n - 1)
