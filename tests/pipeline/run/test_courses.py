"""Test streams in file order: what is learned when, what is counted, and windows of curves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

from singlepass.learners import (
    AROW,
    FollowTheLeader,
    KernelPerceptron,
    Passage,
    PassiveAggressive,
    Resetting,
)
from singlepass.pipeline import data
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.run import splits
from singlepass.pipeline.run.recorder import Recorder
from singlepass.pipeline.run.shared_inputs import inputs_of
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import Plan, make_plan
from singlepass.pipeline.study.specs import Course
from singlepass.pipeline.study.study import TUNING_SEED
from singlepass.pipeline.study.study_file import parse_study

N = 400


def written(folder: Path, n: int = N) -> tuple[dict[str, Any], np.ndarray, np.ndarray]:
    """Write a file of two classes that occur in runs, as in the electricity market; return X and labels."""
    rng = np.random.RandomState(5)
    y = np.cumsum(rng.random_sample(n) < 0.15) % 2
    X = rng.standard_normal((n, 3)) + 0.4 * y[:, np.newaxis]
    path = folder / "market.csv"
    lines = [
        ",".join([*(repr(float(x)) for x in row), "up" if label else "down"])
        for row, label in zip(X, y, strict=True)
    ]
    path.write_text("a,b,c,class\n" + "\n".join(lines) + "\n")
    return {"path": str(path), "target": "class"}, X, y.astype(np.int32)


def plan_of(dataset: dict[str, Any], *algorithms: dict[str, Any], **study: Any) -> Plan:
    table = {"name": "s", "order": "given", "datasets": [dataset], "algorithms": list(algorithms), **study}
    return make_plan(parse_study(table))


def cells_of(dataset: dict[str, Any], *algorithms: dict[str, Any], **study: Any) -> list[Cell]:
    return list(plan_of(dataset, *algorithms, **study).evaluation_cells({}))


def outcome(cell: Cell) -> Any:
    found = run_cell(cell)
    assert found.row["status"] == "ok", found.row["traceback"]
    return found


def test_an_order_in_blocks_has_no_chunks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, X, y = written(tmp_path)
    monkeypatch.setattr(splits, "_BLOCK", 16)
    monkeypatch.setattr(splits, "_WINDOW", 5)
    (cell,) = cells_of(dataset, {"name": "PassiveAggressive"}, order="blocks", seeds=1)
    order = inputs_of(cell.spec).train.rows
    expected = int(plain_loop(PassiveAggressive(), X[order], y[order]).sum())
    for chunk in (1 << 16, 7):
        monkeypatch.setattr(splits, "BLOCK_ROWS", chunk)
        found = outcome(cell).row
        assert (found["mistakes"], found["order"]) == (expected, "blocks")


def plain_loop(learner: Any, X: np.ndarray, y: np.ndarray, delay: int = 0) -> np.ndarray:
    """Return a mask of mistakes: predict a row, then learn the row whose label has arrived."""
    wrong = []
    for t in range(len(y)):
        score = learner.decision_function(X[t : t + 1])[0] if t > delay else 0.0
        wrong.append(not (score if y[t] else -score) > 0)
        if t >= delay:
            learner.partial_fit(X[t - delay : t - delay + 1], y[t - delay : t - delay + 1], classes=[0, 1])
    return np.array(wrong)


def test_the_file_by_hand(tmp_path: Path) -> None:
    dataset, X, y = written(tmp_path)
    [pa, majority, no_change] = cells_of(
        dataset, {"name": "PassiveAggressive", "variant": "PA-I"}, baselines=True
    )
    counts, last, wrong_majority, wrong_last = [0, 0], 0, 0, 0
    for label in y:
        wrong_majority += int(counts[1] > counts[0]) != label
        wrong_last += last != label
        counts[label] += 1
        last = label
    by_hand = plain_loop(PassiveAggressive(variant="PA-I"), X, y).sum()
    found = [outcome(cell).row for cell in (pa, majority, no_change)]
    assert [row["mistakes"] for row in found] == [by_hand, wrong_majority, wrong_last]
    assert [row["n_examples"] for row in found] == [N] * 3
    assert found[0]["order"] == "given"
    # The no-change classifier makes a mistake wherever the label changes.
    assert wrong_last == np.count_nonzero(np.diff(y)) + y[0]


def test_limits_and_splits_take_rows_as_they_come(tmp_path: Path) -> None:
    dataset, _, _ = written(tmp_path)
    algorithm = {"name": "Perceptron"}
    [cell] = cells_of(
        dataset, algorithm, max_examples=200, protocol="holdout", test_fraction=0.25, max_test=7
    )
    given = inputs_of(cell.spec)
    assert given.train.rows.tolist() == list(range(150))
    assert given.test is not None
    assert given.test.rows.tolist() == list(range(150, 157))
    [cell] = cells_of(dataset, algorithm, max_train=30)
    assert inputs_of(cell.spec).train.rows.tolist() == list(range(30))


def test_an_official_test_part_keeps_its_order() -> None:
    dataset = {"name": "gauss", "n_train": 50, "n_test": 40}
    cell = cells_of(dataset, {"name": "Perceptron"}, protocol="holdout", max_test=10)[0]
    given = inputs_of(cell.spec)
    assert given.train.rows.tolist() == list(range(50))
    assert given.test is not None
    assert given.test.rows.tolist() == list(range(10))


def test_seeds_that_move_nothing_are_one_repetition(tmp_path: Path) -> None:
    dataset, _, _ = written(tmp_path)
    plan = plan_of(dataset, {"name": "Perceptron"}, noise=[0.0, 0.1], seeds=3)
    cells = list(plan.evaluation_cells({}))
    assert [(cell.spec.noise.rate, cell.spec.seed) for cell in cells] == [
        (0.0, 0), (0.1, 0), (0.1, 1), (0.1, 2)
    ]  # fmt: skip
    assert len(cells) == plan.n_evaluation_cells
    assert [run_cell(cell).row["repetitions"] for cell in cells] == [1, None, None, None]
    # A study of one seed says so, too: its results may be merged with those of other seeds.
    [single] = cells_of(dataset, {"name": "Perceptron"}, seeds=1)
    assert single.execution.repetitions == 1
    drawn = cells_of({"name": "gauss", "n_train": 50}, {"name": "Perceptron"}, seeds=3)
    assert [cell.spec.seed for cell in drawn] == [0, 1, 2]
    shuffled = cells_of({**dataset, "order": "shuffled"}, {"name": "Perceptron"}, seeds=3)
    assert len(shuffled) == 3


def test_only_algorithms_on_a_data_set_can_make_its_repetitions_differ(tmp_path: Path) -> None:
    dataset, _, _ = written(tmp_path)
    datasets = [{**dataset, "label": name} for name in ("one", "two", "set")]
    datasets[2]["parameters"] = {"random_state": 3}
    sgd = {"name": "sklearn.linear_model:SGDClassifier", "datasets": ["two", "set"]}
    table = {"name": "s", "order": "given", "seeds": 3, "datasets": datasets}
    plan = make_plan(parse_study({**table, "algorithms": [{"name": "Perceptron"}, sgd]}))
    found = {task.label: plan.seeds_of(task, plan.study.noise[0]) for task in plan.tasks}
    assert found == {"one": [0], "two": [0, 1, 2], "set": [0]}
    repetitions = {
        (cell.spec.dataset.label, cell.execution.repetitions) for cell in plan.evaluation_cells({})
    }
    assert repetitions == {("one", 1), ("two", None), ("set", 1)}


def test_a_seed_that_another_algorithm_tuned_makes_no_repetitions(tmp_path: Path) -> None:
    dataset, _, _ = written(tmp_path)
    sgd = {"name": "sklearn.linear_model:SGDClassifier"}
    model = {**sgd, "label": "model", "random_state": [1, 2]}
    table = {"name": "s", "order": "given", "seeds": 3, "datasets": [dataset]}
    study = parse_study({**table, "algorithms": [model, {**sgd, "label": "other", "tuned_as": "model"}]})
    plan = make_plan(study)
    assert plan.seeds_of(plan.tasks[0], plan.study.noise[0]) == [0]


def test_without_these_keys_nothing_of_a_cell_is_new() -> None:
    [cell, *_] = cells_of({"name": "gauss"}, {"name": "Perceptron"}, order="shuffled")
    assert cell.spec.course.document == {}
    assert Course("given", 5, 100, 0.99, 0.1).document == {
        "order": "given", "delay": 5, "window": 100, "fading": 0.99, "tune_fraction": 0.1
    }  # fmt: skip


def test_grids_are_judged_on_what_nobody_is_counted_on(tmp_path: Path) -> None:
    dataset, X, y = written(tmp_path)
    plan = plan_of(dataset, {"name": "AROW", "r": [0.1, 1.0]}, {"name": "Perceptron"}, tune_fraction=0.2)
    judged = [outcome(cell) for cell in plan.tuning_cells()]
    for r, each in zip([0.1, 1.0], judged, strict=True):
        assert each.row["n_examples"] == 80
        assert each.row["mistakes"] == plain_loop(AROW(r=r), X[:80], y[:80]).sum()
        assert each.row["counted_from"] is None
    group = plan.tuning_groups().__next__().spec.group
    arow, perceptron = plan.evaluation_cells({(group, TUNING_SEED): {"r": 0.1}})
    found = outcome(arow)
    wrong = plain_loop(AROW(r=0.1), X, y)
    assert found.row["mistakes"] == wrong[80:].sum()
    assert (found.row["counted_from"], found.row["n_examples"]) == (80, N - 80)
    assert list(found.curve["t"])[-1] == N - 80
    assert list(found.curve["mistakes"]) == [wrong[80 : 80 + t].sum() for t in found.curve["t"]]
    first, whole = AROW(r=0.1), AROW(r=0.1)
    first.learn(X[:80], y[:80])
    whole.learn(X, y)
    updates = whole.n_updates_ - first.n_updates_
    assert found.row["updates"] == list(found.curve["updates"])[-1] == updates
    # The size of a model does not depend on when counting began.
    assert found.row["model_bytes"] == list(found.curve["model_bytes"])[-1] == whole.model_bytes_
    # An algorithm that is not tuned is counted on the same rows.
    assert outcome(perceptron).row["counted_from"] == 80


@pytest.mark.parametrize(
    ("study", "message"),
    [
        ({"protocol": "crossval"}, "crossval"),
        ({"max_tune": 5}, "max_tune"),
        ({"order": "shuffled", "tune_fraction": 0.2}, "tune_fraction"),
        ({"order": "sorted"}, "order"),
        ({"window": 0}, "window"),
        ({"fading": 1.0}, "fading"),
        ({"delay": -1}, "delay"),
        (
            {"label_due": "before"},
            "label_due needs a delay, because it says when late labels come: set delay",
        ),
        ({"label_due": "now", "delay": 1}, "label_due: 'now' should be 'after' or 'before'"),
    ],
)
def test_what_does_not_go_with_an_order_is_one_line(study: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message) as caught:
        plan_of({"name": "gauss"}, {"name": "Perceptron"}, **study)
    assert "\n" not in str(caught.value)


def test_a_data_set_that_limits_its_tuning_is_not_read_in_order() -> None:
    with pytest.raises(InputError, match="max_tune"):
        plan_of({"name": "gauss", "max_tune": 5}, {"name": "Perceptron"})


def test_noise_in_a_stretch_falls_where_the_order_has_it(tmp_path: Path) -> None:
    dataset, _, y = written(tmp_path)
    noise = {"model": "window", "rate": 0.4, "from": 0.5, "to": 0.75}
    [cell] = cells_of(dataset, {"name": "Perceptron"}, noise=[noise], seeds=1)
    given = inputs_of(cell.spec)
    changed = np.flatnonzero(given.noisy != y)
    assert len(changed) > 0
    assert N // 2 <= changed.min() <= changed.max() < 3 * N // 4


@pytest.mark.parametrize("delay", [1, 7, 150, N + 5])
@pytest.mark.parametrize("name", ["AROW", "KernelPerceptron"])
def test_labels_that_come_late_are_a_plain_loop(tmp_path: Path, name: str, delay: int) -> None:
    dataset, X, y = written(tmp_path)
    algorithm = {"name": name} | ({"gamma": 0.5} if name == "KernelPerceptron" else {})
    learner = AROW() if name == "AROW" else KernelPerceptron(gamma=0.5)
    [cell] = cells_of(dataset, algorithm, delay=delay)
    found = outcome(cell)
    wrong = plain_loop(learner, X, y, delay)
    assert found.row["mistakes"] == wrong.sum()
    assert list(found.curve["mistakes"]) == [wrong[:t].sum() for t in found.curve["t"]]
    learnt = max(0, N - delay)
    # The last labels arrive too late to be learned.
    assert found.row["updates"] == (learner.n_updates_ if learnt else 0)
    assert list(found.curve["updates"])[-1] == found.row["updates"]


def test_a_label_that_is_due_before_a_row_comes_after_the_one_before_it(tmp_path: Path) -> None:
    dataset, X, y = written(tmp_path)
    learner = {"name": "KernelPerceptron"}
    before, after, usual = (
        cells_of(dataset, learner, **keys)[0]
        for keys in ({"delay": 7, "label_due": "before"}, {"delay": 6}, {"delay": 1, "label_due": "before"})
    )
    assert before.key == after.key
    assert usual.key == cells_of(dataset, learner)[0].key
    # Learn label by label: labels of rows 0 … t - 7 are known when row t is predicted.
    kernel, wrong = KernelPerceptron(), 0
    for t in range(N):
        if t >= 7:
            kernel.partial_fit(X[t - 7 : t - 6], y[t - 7 : t - 6], classes=[0, 1])
        score = kernel.decision_function(X[t : t + 1])[0] if t >= 7 else 0.0
        wrong += not (1 if y[t] else -1) * score > 0
    assert run_cell(before).row["mistakes"] == wrong


@settings(deadline=None, max_examples=15)
@given(delay=st.integers(0, 40), n=st.integers(2, 60), many=st.booleans(), seed=st.integers(0, 99))
@pytest.mark.slow
def test_any_delay_is_a_plain_loop(delay: int, n: int, many: bool, seed: int) -> None:
    dataset = {"name": "waveform-generator" if many else "gauss", "n_train": n, "n_test": 0}
    cell = cells_of(dataset, {"name": "AROW"}, delay=delay, seeds=[seed])[0]
    stream = data.open_stream(cell.spec.dataset, root=0, seed=seed)
    learner, wrong = AROW(), 0
    learner.begin(np.arange(len(stream.classes)), stream.X.shape[1])
    for t in range(n):
        scores, label = learner.score_rows(stream.X[t : t + 1])[0], stream.y[t]
        others = np.delete(scores, label).max() if many else 0.0
        wrong += not (scores[label] if many else scores * (2 * label - 1)) > others
        if t >= delay:
            learner.learn_rows(stream.X[t - delay : t - delay + 1], stream.y[t - delay : t - delay + 1])
    assert outcome(cell).row["mistakes"] == wrong


def test_the_last_labels_are_learnt_before_the_test(tmp_path: Path) -> None:
    dataset, X, y = written(tmp_path)
    [cell] = cells_of(dataset, {"name": "AROW"}, delay=N, protocol="holdout", test_fraction=0.25)
    learner = AROW().partial_fit(X[:300], y[:300])
    assert outcome(cell).row["test_mistakes"] == (learner.predict(X[300:]) != y[300:]).sum()


@pytest.mark.parametrize(
    ("own", "made"),
    [
        ({"C": 0.1, "reset": "ddm"}, Resetting(PassiveAggressive(C=0.1))),
        ({"C": [0.01, 0.1], "tune": "leader"}, FollowTheLeader(PassiveAggressive(), {"C": [0.01, 0.1]})),
    ],
    ids=["reset", "leader"],
)
@pytest.mark.parametrize(("delay", "n"), [(150, 1000), (300, 600)])
def test_switches_are_counted_in_predicted_rows(
    own: dict[str, Any], made: Any, delay: int, n: int, tmp_path: Path
) -> None:
    path, rng = tmp_path / "flip.csv", np.random.RandomState(1)
    X = rng.standard_normal((n, 2)).round(3)
    # The classes change places after 400 rows.
    y = (X[:, 0] > 0) ^ (np.arange(n) >= 400)
    rows = np.column_stack([X, y])
    np.savetxt(path, rows, delimiter=",", fmt=["%.3f", "%.3f", "%d"], header="a,b,y", comments="")
    [cell] = cells_of({"path": str(path), "target": "y"}, {"name": "PassiveAggressive", **own}, delay=delay)
    # Labels of the last `delay` rows come when no row is predicted any more.
    made = clone(made).fit(X[: n - delay], y[: n - delay])
    assert outcome(cell).row["switches"] == [t + delay for t in made.switches()]
    assert (made.switches() == []) == (n == 600 and "reset" in own)
    if "reset" in own and n == 1000:
        assert made.switches()[0] > 400


@pytest.mark.parametrize(
    ("algorithm", "tracked"),
    [
        ({"name": "AROW", "reset": "ddm"}, True),
        ({"name": "AROW", "r": [0.1, 1.0], "tune": "leader"}, True),
        ({"name": "OnlineModelSelection"}, True),
        ({"name": "AROW", "r": [0.1, 1.0], "tune": "weights"}, False),
        ({"name": "AROW"}, False),
        # A learner from outside may have `switches_`.
        ({"name": "sklearn.linear_model:SGDClassifier"}, True),
    ],
)
def test_cells_with_late_switches_have_other_keys(algorithm: dict[str, Any], tracked: bool) -> None:
    late, usual = (cells_of({"name": "gauss"}, algorithm, delay=each)[0] for each in (5, 0))
    assert ("switches" in late.spec.document) == tracked
    assert "switches" not in usual.spec.document


@pytest.mark.parametrize("algorithm", [{"name": "AROW"}, {"name": "KernelPerceptron"}, {"name": "NoChange"}])
@pytest.mark.parametrize("n_from", [0, 80])
def test_curves_look_back(tmp_path: Path, algorithm: dict[str, Any], n_from: int) -> None:
    dataset, _, _ = written(tmp_path)
    # If another algorithm has a grid, counting begins later.
    others = [{"name": "Perceptron", "average": [True, False]}] if n_from else []
    study = {"window": 50, "fading": 0.9, "checkpoints": 16} | ({"tune_fraction": 0.2} if n_from else {})
    [cell] = cells_of(dataset, algorithm, *others, **study)
    found = outcome(cell)
    alone = outcome(cells_of(dataset, algorithm, checkpoints=N)[0])
    wrong = np.diff(np.concatenate([[0], list(alone.curve["mistakes"])]))[n_from:]
    s = n = 0.0
    fading = []
    for mistake in wrong:
        s, n = mistake + 0.9 * s, 1.0 + 0.9 * n
        fading.append(s / n)
    points = list(found.curve["t"])
    assert len(points) == 16
    assert points[-1] == N - n_from
    assert list(found.curve["mistakes"]) == [wrong[:t].sum() for t in points]
    assert list(found.curve["window_error"]) == [wrong[max(0, t - 50) : t].mean() for t in points]
    assert np.allclose(list(found.curve["fading_error"]), [fading[t - 1] for t in points], rtol=1e-12)
    assert found.row["mistakes"] == wrong.sum()


def test_a_stream_that_is_stopped_keeps_its_windows() -> None:
    codes = np.zeros(6, np.int32)
    recorder = Recorder(codes, codes, 2, Course(window=2, fading=0.5), 1)
    scores = np.array([-1.0, 1.0, -1.0, 1.0])
    stops = recorder.stops[recorder.stops <= 4]
    recorder.add(Passage(scores, [0.0] * len(stops), {}), stops, 0.0)
    recorder.end({}, 1.0)
    curve = recorder.curve()
    assert list(curve["t"])[-1] == 3
    assert list(curve["mistakes"])[-1] == 2 == recorder.counted({})["mistakes"]
    assert recorder.counted({})["n_examples"] == 3
