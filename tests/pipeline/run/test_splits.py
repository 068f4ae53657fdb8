"""Test splits, orders and checkpoints: which rows a learner gets, and which never."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.pipeline import data
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.noise import Noise
from singlepass.pipeline.run import splits
from singlepass.pipeline.run.splits import Fold, check_splits, checkpoints, split
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study import TUNING_SEED
from singlepass.pipeline.study.study_file import parse_study


def cell_of(dataset: dict[str, Any], **study: Any) -> Cell:
    table = {"name": "s", "datasets": [dataset], "algorithms": [{"name": "Perceptron"}], **study}
    return next(make_plan(parse_study(table)).evaluation_cells({}))


def opened(cell: Cell) -> data.Stream:
    return data.open_stream(cell.spec.dataset, root=cell.spec.root_seed, seed=cell.spec.seed)


def test_checkpoints_by_hand() -> None:
    assert checkpoints(1000, 4).tolist() == [250, 500, 750, 1000]
    assert checkpoints(1000, (100, 400, 4000)).tolist() == [100, 400, 1000]


@given(n=st.integers(1, 5000), spec=st.one_of(st.just("log"), st.integers(1, 200)))
def test_checkpoints_rise_to_the_end(n: int, spec: str | int) -> None:
    found = checkpoints(n, spec)
    assert found[-1] == n
    assert found[0] >= 1
    assert (np.diff(found) > 0).all()
    assert len(found) <= (spec if isinstance(spec, int) else 12 * 4)


@pytest.mark.parametrize(
    ("n", "found"),
    [(60, [5, 40, 60]), (40, [5, 40]), (39, [5, 39]), (3, [3])],
)
def test_a_list_of_checkpoints_is_cut_at_the_end_of_the_stream(n: int, found: list[int]) -> None:
    assert checkpoints(n, (5, 40)).tolist() == found


def test_prequential_reads_every_row_once() -> None:
    cell = cell_of({"name": "breast-cancer"})
    part, test = split(cell.spec, opened(cell))
    assert test is None
    assert sorted(part.rows) == list(range(569))


def test_a_seeded_split_has_no_row_twice_and_is_the_same_at_every_noise_level() -> None:
    cell = cell_of({"name": "breast-cancer"}, protocol="holdout", test_fraction=0.25)
    stream = opened(cell)
    part, test = split(cell.spec, stream)
    assert test is not None
    assert len(test.rows) == round(569 * 0.25)
    assert sorted([*part.rows, *test.rows]) == list(range(569))
    noisy_part, noisy_test = split(replace(cell.spec, noise=Noise(0.3)), stream)
    assert noisy_test is not None
    assert np.array_equal(test.rows, noisy_test.rows)
    assert not np.array_equal(part.rows, noisy_part.rows)


def test_a_task_of_some_rows_is_split_within_them() -> None:
    cell = cell_of({"name": "digits", "task": "pair:3,8"}, protocol="holdout")
    stream = opened(cell)
    part, test = split(cell.spec, stream)
    assert test is not None
    assert stream.rows is not None
    assert sorted([*part.rows, *test.rows]) == sorted(stream.rows)
    codes = dict(zip(stream.rows.tolist(), stream.y.tolist(), strict=True))
    for half in (part, test):
        assert [codes[row] for row in half.rows.tolist()] == half.codes.tolist()


def test_blocks_come_in_random_order_and_are_shuffled_within_a_window(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(splits, "_BLOCK", 10)
    monkeypatch.setattr(splits, "_WINDOW", 4)
    for dataset, study, n in (
        ({"name": "breast-cancer"}, {}, 569),
        ({"name": "breast-cancer"}, {"protocol": "holdout", "test_fraction": 0.25}, 427),
        ({"name": "breast-cancer", "max_examples": 33}, {}, 33),
    ):
        cell = cell_of(dataset, order="blocks", **study)
        stream = opened(cell)
        part, test = split(cell.spec, stream)
        held_out = [] if test is None else test.rows.tolist()
        assert len(part.rows) == n
        assert len({*part.rows.tolist(), *held_out}) == n + len(held_out)
        assert np.array_equal(part.codes, stream.y[part.rows])
        again = split(replace(cell.spec, seed=1), stream)[0]
        assert np.array_equal(part.rows, split(cell.spec, stream)[0].rows)
        assert not np.array_equal(part.rows, again.rows)
    windows = splits.in_blocks(np.arange(10, 130), np.random.RandomState(0)).reshape(3, 40)
    for window in windows:
        blocks, sizes = np.unique(window // 10, return_counts=True)
        assert sizes.tolist() == [10] * 4
        assert (np.diff(blocks) > 1).any()
        assert (np.diff(window // 10) != 0).sum() > 10


def test_limits_take_rows_in_seeded_order() -> None:
    dataset = {"name": "gauss", "n_train": 100, "n_test": 80}
    whole, limited = (
        split(cell.spec, opened(cell))
        for cell in (
            cell_of(dataset, protocol="holdout"),
            cell_of(dataset, protocol="holdout", max_train=30, max_test=20),
        )
    )
    assert np.array_equal(limited[0].rows, whole[0].rows[:30])
    assert limited[1] is not None
    assert len(limited[1].rows) == 20
    assert not np.array_equal(limited[1].rows, np.arange(20))


@pytest.mark.parametrize("n", [1, 17, 5000])
def test_blocks_cover_a_part_in_order(n: int) -> None:
    X = np.arange(3.0 * n).reshape(n, 3)
    order = np.random.RandomState(0).permutation(n)
    part = Fold(X, order, np.zeros(n, dtype=np.int32))
    stops = []
    rows = []
    for start, stop, block in part.blocks():
        assert start == (stops[-1] if stops else 0)
        stops.append(stop)
        rows.append(block)
    assert stops[-1] == n
    assert np.array_equal(np.concatenate(rows), X[order])


@pytest.mark.parametrize("max_examples", [None, 203])
def test_folds_are_a_stratified_partition(max_examples: int | None) -> None:
    cell = cell_of({"name": "breast-cancer"}, protocol="crossval", folds=7, max_examples=max_examples)
    stream = opened(cell)
    folds = [split(replace(cell.spec, seed=fold), stream) for fold in range(7)]
    tested = np.concatenate([test.rows for _, test in folds if test is not None])
    size = 569 if max_examples is None else max_examples
    assert len(tested) == len(set(tested.tolist())) == size
    for part, test in folds:
        assert test is not None
        assert set(part.rows) | set(test.rows) == set(tested)
        assert not set(part.rows) & set(test.rows)
        assert test.codes.mean() == pytest.approx(stream.y[tested].mean(), abs=1 / len(test.rows))


def test_a_limited_test_part_of_a_fold_has_all_classes() -> None:
    cells = {
        limit: cell_of({"name": "digits"}, protocol="crossval", seeds=3, folds=3, max_test=limit)
        for limit in (None, 100)
    }
    (_, whole), (_, limited) = (split(cell.spec, opened(cell)) for cell in cells.values())
    assert whole is not None
    assert limited is not None
    assert len(limited.rows) == 100
    assert {*limited.rows.tolist()} <= {*whole.rows.tolist()}
    assert limited.class_counts.min() > 0
    # Only tested cells changed: tuning cells keep the key that they had before rows were shuffled.
    assert "test_rows" in cells[100].spec.document
    assert "test_rows" not in cells[None].spec.document
    assert "test_rows" not in replace(cells[100].spec, stage="tune").document


def test_crossval_tunes_on_a_partition_of_its_own() -> None:
    cell = cell_of({"name": "breast-cancer"}, protocol="crossval")
    stream = opened(cell)
    tuning = split(replace(cell.spec, stage="tune", seed=1_000_000), stream)[1]
    runs = [split(replace(cell.spec, seed=fold), stream)[1] for fold in range(10)]
    assert tuning is not None
    assert all(test is not None and set(test.rows) != set(tuning.rows) for test in runs)


def test_a_repetition_of_crossval_tunes_inside_its_own_training_part() -> None:
    cell = cell_of({"name": "breast-cancer"}, protocol="crossval", seeds=[3])
    stream = opened(cell)
    train, test = split(cell.spec, stream)
    tuned, _ = split(replace(cell.spec, stage="tune"), stream)
    assert test is not None
    assert set(tuned.rows) == set(train.rows)
    assert not set(tuned.rows) & set(test.rows)


def test_a_class_with_fewer_rows_than_folds_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rare.csv"
    path.write_text("x,label\n" + "".join(f"{i},common\n" for i in range(20)) + "98,rare\n99,rare\n")
    cell = cell_of({"path": str(path)}, protocol="crossval", folds=5)
    stream = opened(cell)
    for fold in range(5):
        with pytest.raises(InputError) as error:
            split(replace(cell.spec, seed=fold), stream)
        assert str(error.value) == (
            "data set 'rare': class 'rare' has 2 of 22 rows, too few for 5 folds, some of which would lack "
            "the class; set folds to 2 or fewer, or leave the class out"
        )
    two = cell_of({"path": str(path)}, protocol="crossval", folds=2)
    for fold in range(2):
        part, test = split(replace(two.spec, seed=fold), stream)
        assert test is not None
        assert np.bincount(part.codes).tolist() == np.bincount(test.codes).tolist() == [10, 1]


def test_folds_of_drawn_rows_are_checked_with_every_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = cell_of({"name": "agrawal", "concept": 10, "n_train": 2000}, protocol="crossval", folds=5)
    # The rarest class has 6, 6, 4, 7 and 7 rows.
    cells = [Cell(replace(drawn.spec, seed=seed)) for seed in range(5)]
    check_splits(cells[:2])
    for some in (cells, cells[::-1]):
        with pytest.raises(InputError) as error:
            check_splits(some)
        assert str(error.value) == (
            "data set 'agrawal': class 'B' has 4 of 2,000 rows of repetition 2, too few for 5 folds, some of "
            "which would lack the class; set folds to 4 or fewer, or raise n_train"
        )
    # The rows of other data sets are the same for all seeds: one check suffices.
    fixed = cell_of({"name": "breast-cancer"}, protocol="crossval", folds=5)
    spy = Mock(side_effect=split)
    monkeypatch.setattr(splits, "split", spy)
    check_splits([Cell(replace(fixed.spec, seed=seed)) for seed in range(5)])
    assert spy.call_count == 1


def test_a_class_that_only_the_test_part_has_is_named(tmp_path: Path) -> None:
    path = tmp_path / "rare.csv"
    path.write_text("x,label\n" + "".join(f"{i},common\n" for i in range(20)) + "99,rare\n")
    cell = cell_of({"path": str(path)}, protocol="holdout")
    stream = opened(cell)
    lines, fine = {}, []
    for seed in range(12):
        try:
            part, _ = split(replace(cell.spec, seed=seed), stream)
            assert 1 in part.codes
            fine.append(seed)
        except InputError as error:
            lines[seed] = str(error)
    assert lines
    assert fine
    for seed, line in lines.items():
        assert line.startswith(
            f"data set 'rare': class 'rare' has 1 of 21 rows, and the split of repetition {seed} puts all"
        )
    # An error in any repetition refuses the plan.
    check_splits([Cell(replace(cell.spec, seed=seed)) for seed in fine])
    with pytest.raises(InputError, match="'rare' has 1 of 21 rows"):
        check_splits([Cell(replace(cell.spec, seed=seed)) for seed in range(12)])
    check_splits([Cell(replace(cell.spec, seed=seed, protocol="prequential")) for seed in range(12)])
    path.write_text("x,label\n1,common\n99,rare\n")
    tuned = replace(cell_of({"path": str(path)}, protocol="holdout").spec, seed=TUNING_SEED)
    with pytest.raises(InputError, match="the split of the seed reserved for tuning puts all of them"):
        check_splits([Cell(tuned)])


@pytest.mark.parametrize("own_test", [False, True])
def test_a_class_that_a_limit_keeps_from_being_learned_is_named(tmp_path: Path, own_test: bool) -> None:
    path, test = tmp_path / "f.csv", tmp_path / "t.csv"
    rows = "".join(f"{i},{name}\n" for name in "abc" for i in range(20))
    path.write_text(f"x,label\n{rows}")
    test.write_text(f"x,label\n{rows}7,c\n")
    dataset = {"path": str(path)} | ({"test": str(test)} if own_test else {})
    limits = {"protocol": "holdout", "order": "given", "test_fraction": 0.1}
    cells = [cell_of(dataset, **limits, max_train=n) for n in (30, 50)]
    assert check_splits(cells[:1]) == {cells[0].spec.dataset.label: ("c", "max_train")}
    assert check_splits(cells[1:]) == {}


@pytest.mark.parametrize("limit", [{"max_tune": 1}, {"max_examples": 2}, {"validation_fraction": 0.999}])
def test_validation_must_leave_rows_to_learn(limit: dict[str, Any]) -> None:
    grid = {"name": "PassiveAggressive", "C": [0.1, 1.0]}
    table = {"name": "s", "datasets": [{"name": "breast-cancer"}], "algorithms": [grid]}
    study = parse_study({**table, "protocol": "holdout", "max_train": 50, **limit})
    with pytest.raises(InputError, match=r"rows for tuning \(\d+\), validation leaves none to learn; set a"):
        check_splits(make_plan(study).split_cells())
