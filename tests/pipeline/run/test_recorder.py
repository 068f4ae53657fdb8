"""Test what the recorder notes of a stream: totals, and the curve that ends in them."""

from __future__ import annotations

import numpy as np
import pytest

from singlepass.learners import Passage, References, count_wrong, mistakes_of_both
from singlepass.pipeline.counts import COUNTS
from singlepass.pipeline.run.recorder import MISTAKES, Recorder, Tallies, declared
from singlepass.pipeline.study.specs import Course

NAN = float("nan")
NOWHERE = np.empty(0, np.int64)


def codes(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def is_mistake(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return a mask of mistakes, in NumPy: signed margin <= 0 or NaN."""
    if scores.ndim == 1:
        margin = np.where(labels == 1, scores, -scores)
    else:
        each = np.arange(len(labels))
        others = scores.copy()
        others[each, labels] = -np.inf
        margin = scores[each, labels] - others.max(axis=1)
    return ~(margin > 0)


def passage(scores: np.ndarray, seconds: list[float], **counts: list[int]) -> Passage:
    return Passage(scores, seconds, {name: list(values) for name, values in counts.items()})


def test_mistakes_of_two_classes() -> None:
    scores = np.array([1.0, -1.0, 1.0, -1.0, 0.0, 0.0, NAN])
    labels = codes(1, 1, 0, 0, 1, 0, 1)
    assert is_mistake(scores, labels).tolist() == [False, True, True, False, True, True, True]
    counts = np.zeros((3, 3), np.int64)
    assert mistakes_of_both(scores, labels, labels, np.array([1, 3, 7]), counts) == (5, 5, 2)
    assert counts.tolist() == [[0, 2, 5], [0, 2, 5], [0, 0, 2]]


def test_mistakes_of_many_classes() -> None:
    scores = np.array(
        [[0.0, 2.0, 1.0], [0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [NAN, 2.0, 1.0], [-1.0, -2.0, -3.0]]
    )
    before = scores.copy()
    labels = codes(1, 2, 0, 1, 0)
    # A tie is a mistake, and so is a NaN score.
    assert is_mistake(scores, labels).tolist() == [False, True, True, True, False]
    counts = np.zeros((3, 5), np.int64)
    assert mistakes_of_both(scores, labels, labels, np.arange(1, 6), counts)[0] == 3
    assert counts[0].tolist() == counts[1].tolist() == [0, 1, 2, 3, 3]
    np.testing.assert_array_equal(scores, before)


@pytest.mark.parametrize("n_classes", [1, 3, 7])
def test_wrong_predictions_are_those_of_argmax(n_classes: int) -> None:
    rng = np.random.RandomState(n_classes)
    scores = rng.choice([-np.inf, -1.0, 0.0, 1.0, np.inf, NAN], (400, n_classes))
    labels = rng.randint(0, max(2, n_classes), 400).astype(np.int32)
    predicted = scores.argmax(axis=1) if n_classes > 1 else scores[:, 0] > 0.0
    assert count_wrong(scores, labels) == np.count_nonzero(predicted != labels)


def test_what_a_learner_does_not_count_is_none() -> None:
    found = declared({"updates": 3, "something else": 4})
    assert set(found) == set(COUNTS) - set(MISTAKES)
    assert {name: value for name, value in found.items() if value is not None} == {"updates": 3}


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("cuts", [[50], [30, 50], [5, 10, 12, 30, 44, 50]])
def test_the_last_point_of_the_curve_is_the_totals(n_classes: int, cuts: list[int]) -> None:
    rng = np.random.RandomState(n_classes)
    n, stops = 50, np.array([10, 30, 50])
    clean, noisy = (rng.randint(0, n_classes, n).astype(np.int32) for _ in range(2))
    scores = rng.standard_normal((n, n_classes) if n_classes > 2 else n).round(1)
    recorder = Recorder(noisy, clean)
    # The rows may arrive in pieces; each piece records the stops inside it.
    for start, stop in zip([0, *cuts], cuts, strict=False):
        noted = stops[(stops > start) & (stops <= stop)]
        seconds = [(t - start) / 10 for t in noted.tolist()]
        piece = passage(scores[start:stop], seconds, updates=(noted * 2).tolist())
        recorder.add(piece, noted - start, start / 10)
    assert recorder.seen == n
    curve, totals = recorder.curve(), recorder.counted({})
    assert list(curve["t"]) == [10, 30, 50]
    np.testing.assert_allclose(curve["fit_seconds"], [1, 3, 5])
    assert list(curve["updates"]) == [20, 60, 100]
    assert not {"support_vectors", "test_accuracy"} & curve.keys()
    assert MISTAKES == ("mistakes", "mistakes_clean", "ties")
    assert list(curve["ties"]) == [int((scores[:t] == 0).sum()) for t in (10, 30, 50)] or n_classes > 2
    for name, labels in zip(MISTAKES, (noisy, clean), strict=False):
        wrong = is_mistake(scores, labels)
        assert list(curve[name]) == [int(wrong[:t].sum()) for t in (10, 30, 50)]
        assert totals[name] == curve[name][-1]


def test_a_curve_can_end_between_two_checkpoints() -> None:
    recorder = Recorder(codes(1, 1, 1, 1), codes(1, 0, 1, 0))
    recorder.add(passage(np.array([1.0, 1.0]), []), NOWHERE, 0.0)
    counted = recorder.counted({})
    assert {name: counted[name] for name in MISTAKES} == {"mistakes": 0, "mistakes_clean": 1, "ties": 0}
    assert list(recorder.curve()["t"]) == []
    recorder.end({"updates": 1}, 2.5)
    curve = recorder.curve()
    found = {name: list(curve[name]) for name in ("t", "mistakes_clean", "updates", "fit_seconds")}
    assert found == {"t": [2], "mistakes_clean": [1], "updates": [1], "fit_seconds": [2.5]}


def test_accuracy_is_noted_point_by_point() -> None:
    recorder = Recorder(codes(1, 1), codes(1, 1))
    for accuracy in (0.75, 1.0):
        recorder.add(passage(np.array([1.0]), [0.1]), np.array([1]), 0.0)
        recorder.note_accuracy(accuracy)
    assert list(recorder.curve()["test_accuracy"]) == [0.75, 1.0]


@pytest.mark.parametrize("course", [Course(window=2), Course(fading=0.9), Course(window=2, fading=0.9)])
def test_a_stream_that_is_stopped_before_anything_counts_has_an_empty_curve(course: Course) -> None:
    labels = codes(0, 1, 1, 0, 1, 0)
    references = References(labels, labels, 2)
    tallies = Tallies(labels, labels, 2, ["classes", "scores"], references=references, first=4, course=course)
    recorder = Recorder(labels, labels, 2, course, 4, tallies)
    recorder.add(passage(np.array([-1.0, 1.0]), []), NOWHERE, 0.0)
    recorder.end({"updates": 1}, 1.0)
    assert not any(map(len, recorder.curve().values()))
    row = recorder.counted({"updates": 1})
    assert (row["n_examples"], row["mistakes"]) == (0, 0)
    assert "hinge_loss_clean" not in row


@pytest.mark.parametrize("huge", [1e20, np.inf, np.nan])
def test_windows_forget_a_huge_loss(huge: float) -> None:
    labels, course = np.zeros(40, np.int32), Course(window=10, fading=0.001)
    # The hinge loss is the score + 1.
    scores = np.arange(40) / 8
    scores[3] = huge
    tallies = Tallies(labels, labels, 2, ["scores"], first=2, course=course)
    recorder = Recorder(labels, labels, (5, 20, 38), course, 2, tallies)
    # A window begins and ends within pieces, and between them.
    for start in range(0, 40, 8):
        stops = recorder.stops[(recorder.stops > start) & (recorder.stops <= start + 8)] - start
        recorder.add(passage(scores[start : start + 8], [0.0] * len(stops)), stops, 0.0)
    curve = recorder.curve()
    expected = [scores[2:7].mean() + 1, scores[12:22].mean() + 1, scores[30:].mean() + 1]
    assert list(curve["window_hinge_loss_clean"]) == pytest.approx(expected, nan_ok=True)
    if huge == 1e20:
        weights = 0.001 ** np.arange(37, -1, -1.0)
        faded_loss = np.average(scores[2:] + 1, weights=weights)
        assert curve["fading_hinge_loss_clean"][-1] == pytest.approx(faded_loss)
