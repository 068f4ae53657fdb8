"""What is noted of a stream: totals, and the curve that ends in them."""

from __future__ import annotations

import numpy as np
import pytest

from singlepass.pipeline.counts import COUNTS
from singlepass.pipeline.run import stopwatch
from singlepass.pipeline.run.recorder import MISTAKES, Recorder, declared, is_mistake
from singlepass.pipeline.run.stopwatch import Stopwatch

NAN = float("nan")


class Clock:
    """A clock that goes on when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(stopwatch, "time", made)
    return made


def codes(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int32)


def test_mistakes_of_two_classes() -> None:
    scores = np.array([1.0, -1.0, 1.0, -1.0, 0.0, 0.0, NAN])
    wrong = is_mistake(scores, codes(1, 1, 0, 0, 1, 0, 1))
    assert wrong.tolist() == [False, True, True, False, True, True, True]


def test_mistakes_of_many_classes() -> None:
    scores = np.array(
        [[0.0, 2.0, 1.0], [0.0, 2.0, 1.0], [1.0, 1.0, 0.0], [NAN, 2.0, 1.0], [-1.0, -2.0, -3.0]]
    )
    before = scores.copy()
    # A tie is a mistake, and so is a score that is no number.
    assert is_mistake(scores, codes(1, 2, 0, 1, 0)).tolist() == [False, True, True, True, False]
    np.testing.assert_array_equal(scores, before)


def test_what_a_learner_does_not_count_is_none() -> None:
    found = declared({"updates": 3, "something else": 4})
    assert set(found) == set(COUNTS) - set(MISTAKES)
    assert {name: value for name, value in found.items() if value is not None} == {"updates": 3}


@pytest.mark.parametrize("n_classes", [2, 3])
def test_the_last_point_of_the_curve_is_the_totals(clock: Clock, n_classes: int) -> None:
    rng = np.random.RandomState(n_classes)
    n, stops = 50, np.array([10, 30], dtype=np.int64)
    clean, noisy = (rng.randint(0, n_classes, n).astype(np.int32) for _ in range(2))
    scores = rng.standard_normal((n, n_classes) if n_classes > 2 else n)
    updates = {"updates": 0}
    watch = Stopwatch()
    recorder = Recorder(noisy, clean, stops, lambda: updates, watch)
    with watch:
        for start in range(0, n, 10):
            rows = slice(start, start + 10)
            # The rows of a step may come in pieces.
            recorder.note([scores[rows][:3], scores[rows][3:]])
            updates["updates"] += 4
            clock.now += 1
            recorder.at(recorder.seen, last=recorder.seen == n)
    assert recorder.seen == n
    curve, totals = recorder.curve(), recorder.totals()
    assert curve["t"] == [10, 30, 50]
    assert curve["fit_seconds"] == [1, 3, 5]
    assert curve["updates"] == [4, 12, 20]
    assert curve["support_vectors"] == [None] * 3
    assert "test_accuracy" not in curve
    for name, labels in zip(MISTAKES, (noisy, clean), strict=True):
        wrong = is_mistake(scores, labels)
        assert curve[name] == [int(wrong[:t].sum()) for t in (10, 30, 50)]
        assert totals[name] == curve[name][-1]


def test_totals_are_of_the_rows_so_far(clock: Clock) -> None:
    labels = codes(1, 1, 1, 1)
    recorder = Recorder(labels, codes(1, 0, 1, 0), np.array([4]), dict, Stopwatch())
    recorder.note([np.array([1.0, 1.0])])
    assert recorder.totals() == {"mistakes": 0, "mistakes_clean": 1}
    recorder.at(2)
    assert recorder.curve()["t"] == []
    recorder.at(2, last=True)
    assert recorder.curve()["t"] == [2]
    assert recorder.curve()["mistakes_clean"] == [1]


def test_measuring_accuracy_does_not_count_as_learning(clock: Clock) -> None:
    def accuracy() -> float:
        clock.now += 100
        return 0.75

    watch = Stopwatch()
    recorder = Recorder(codes(1, 1), codes(1, 1), np.array([1, 2]), dict, watch, accuracy)
    with watch:
        for t in (1, 2):
            recorder.note([np.array([1.0])])
            clock.now += 1
            recorder.at(t)
    assert recorder.curve()["test_accuracy"] == [0.75, 0.75]
    assert recorder.curve()["fit_seconds"] == [1, 2]
    assert watch.seconds == 2
