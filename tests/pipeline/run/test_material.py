"""Test shared inputs of cells: made once, within a memory limit, and equal to inputs made per cell."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from singlepass.pipeline.run import shared_inputs
from singlepass.pipeline.run.shared_inputs import compact_copy, held_bytes
from singlepass.pipeline.run.splits import Fold
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.store.schema import PROVENANCE
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study

ALGORITHMS = [
    {"name": "AROW"},
    {"name": "AROW", "label": "full", "covariance": "full"},
    {"name": "ROMMA"},
    {"name": "KernelPerceptron"},
]


def cells_of(
    dataset: dict[str, Any], algorithms: list[dict[str, Any]] | None = None, **study: Any
) -> list[Cell]:
    table = {"name": "s", "seeds": 2, "noise": [0.0, 0.2], "folds": 3, "datasets": [dataset], **study}
    plan = make_plan(parse_study({**table, "algorithms": algorithms or ALGORITHMS}))
    return list(plan.evaluation_cells({}))


def forget() -> None:
    shared_inputs._source.cache.clear()


def integers(cell: Cell) -> dict[str, Any]:
    outcome = run_cell(cell)
    assert outcome.row["status"] == "ok", outcome.row["error"]
    row = {name: value for name, value in outcome.row.items() if name not in PROVENANCE}
    return row | {f"curve {name}": list(v) for name, v in outcome.curve.items() if name != "fit_seconds"}


@pytest.fixture
def sparse_file(tmp_path: Any) -> dict[str, Any]:
    rng = np.random.RandomState(0)
    lines = []
    for i in range(300):
        columns = np.unique(rng.randint(1, 5000, 12))
        lines.append(f"{i % 2} " + " ".join(f"{j}:{rng.randint(1, 9) + i % 2}" for j in columns))
    path = tmp_path / "sparse.svm"
    path.write_text("\n".join(lines) + "\n")
    return {"path": str(path), "max_examples": 200}


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["crossval", "holdout", "prequential"])
def test_a_compact_copy_changes_no_integer(
    protocol: str, sparse_file: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for dataset in (sparse_file, {"name": "digits", "task": "pair:3,5", "max_examples": 150}):
        cells = cells_of(dataset, protocol=protocol, noise=0.2)
        forget()
        found = [integers(cell) for cell in cells]
        forget()
        with monkeypatch.context() as patched:
            # Nothing is small enough to be copied or renumbered.
            patched.setattr(shared_inputs, "_MOST_BYTES", 0)
            assert [integers(cell) for cell in cells] == found
        forget()


def test_learners_know_no_features_that_do_not_occur(sparse_file: dict[str, Any]) -> None:
    forget()
    cell = cells_of(sparse_file)[0]
    given = shared_inputs.inputs_of(cell.spec)
    assert given.train.n_features > 4000 > 2500 > given.train.n_occurring
    assert given.with_all_features().train.n_occurring is None
    # The bytes of a model are those of all features.
    assert run_cell(cell).row["model_bytes"] == 3 * 8 * given.train.n_features


def test_algorithms_share_what_does_not_depend_on_them() -> None:
    forget()
    cells = cells_of({"name": "digits", "task": "round"})
    made = {id(shared_inputs.inputs_of(cell.spec)) for cell in cells}
    assert len(made) == 2 * 2
    spec = cells[0].spec
    assert shared_inputs.inputs_of(replace(spec, algorithm="other", params=())) is shared_inputs.inputs_of(
        spec
    )
    for change in ({"max_train": 50}, {"max_test": 9}, {"folds": 5}, {"root_seed": 3}, {"stage": "tune"}):
        assert shared_inputs.inputs_of(replace(spec, **change)) is not shared_inputs.inputs_of(spec)  # type: ignore[arg-type]


def test_repetitions_look_a_stream_up_once(
    sparse_file: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    forget()
    looked_up = []
    open_stream = shared_inputs.data.open_stream

    def counted(*args: Any, **kwargs: Any) -> Any:
        looked_up.append(args)
        return open_stream(*args, **kwargs)

    monkeypatch.setattr(shared_inputs.data, "open_stream", counted)
    for dataset, times in ((sparse_file, 1), ({"name": "gauss", "n_train": 50}, 3)):
        looked_up.clear()
        for cell in cells_of(dataset, seeds=3):
            shared_inputs.inputs_of(cell.spec)
        assert len(looked_up) == times
    forget()


def test_inputs_of_cached_rows_need_no_file(tmp_path: Any) -> None:
    """The format of a folder's files is found by listing the folder, which may be gone while cells run."""
    forget()
    folder = tmp_path / "parts"
    folder.mkdir()
    for n, path in enumerate((folder / "a.csv", folder / "b.csv", tmp_path / "test.csv")):
        path.write_text("label,x\n" + "".join(f"{i % 2},{i + n}\n" for i in range(40)))
    dataset = {"path": str(folder), "test": str(tmp_path / "test.csv"), "label": "parts"}
    first, *others = cells_of(dataset, [{"name": "Perceptron"}], protocol="holdout")
    shared_inputs.inputs_of(first.spec)
    shutil.rmtree(folder)
    assert all(shared_inputs.inputs_of(cell.spec) is not None for cell in others)


def test_cells_that_judge_a_grid_have_no_test_part() -> None:
    forget()
    spec = cells_of({"name": "digits", "task": "pair:3,5"}, protocol="holdout")[0].spec
    assert shared_inputs.inputs_of(spec).test is not None
    assert shared_inputs.inputs_of(replace(spec, stage="tune", judge="validation")).test is None
    forget()


def test_what_is_kept_has_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    forget()
    # A stream that is drawn for each repetition is cached, although few of its rows are read.
    gauss = {"name": "gauss", "n_train": 20_000, "max_examples": 50}
    cells = cells_of(gauss, seeds=12, algorithms=ALGORITHMS[:1])
    drawn = shared_inputs.inputs_of(cells[0].spec).stream.X.nbytes
    kept = shared_inputs._source.cache
    assert kept.maxsize == 2**28
    one = kept.currsize
    assert one > drawn
    monkeypatch.setattr(kept, "_Cache__maxsize", 3.5 * one)
    for cell in cells:
        shared_inputs.inputs_of(cell.spec)
    assert 1 <= len(kept) <= 3
    assert kept.currsize <= 3.5 * one
    for source in kept.values():
        assert source.inputs.currsize <= source.inputs.maxsize <= shared_inputs._ORDERS_BYTES
    forget()


@pytest.mark.parametrize("seeds", [2, 70])
def test_many_repetitions_share_too(seeds: int) -> None:
    forget()
    cells = cells_of({"name": "digits", "task": "round", "max_examples": 90}, seeds=seeds, noise=0.1)
    first = {
        cell.spec.seed: shared_inputs.inputs_of(cell.spec) for cell in cells if cell.spec.algorithm == "AROW"
    }
    shared = [shared_inputs.inputs_of(cell.spec) is first[cell.spec.seed] for cell in cells]
    assert all(shared[-2 * 60 :])
    assert len(shared_inputs._source.cache) == 1


def test_a_map_of_a_file_takes_next_to_nothing(tmp_path: Any) -> None:
    X = np.ones((1000, 50))
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    assert held_bytes(X) >= X.nbytes
    assert held_bytes(mapped) < 10_000
    assert held_bytes(mapped[10:].view()) < 10_000
    assert held_bytes(sp.csr_matrix(X)) >= 1000 * 50 * 12


def test_a_compact_copy_has_the_rows_of_its_matrices() -> None:
    rng = np.random.RandomState(0)
    X = sp.random(40, 300, 0.02, "csr", random_state=rng)
    X_test = sp.random(30, 300, 0.02, "csr", random_state=rng)
    rows = np.sort(rng.permutation(40)[:15])
    made = compact_copy([(X, rows), (X_test, None)])
    fold = Fold(X, rng.permutation(rows), np.zeros(15, np.int32))
    near = made.fold(fold, 0)
    np.testing.assert_array_equal(near.X[near.rows].toarray(), X[fold.rows].toarray())
    occurring = np.flatnonzero(X[rows].getnnz(axis=0) + X_test.getnnz(axis=0))
    assert near.n_occurring == len(occurring)
    np.testing.assert_array_equal(near.renumbered[near.rows].toarray(), X[fold.rows].toarray()[:, occurring])
    held_out = made.fold(Fold(X_test, np.arange(30), np.zeros(30, np.int32)), 1)
    assert held_out.X is X_test
    np.testing.assert_array_equal(held_out.renumbered.toarray(), X_test.toarray()[:, occurring])


@pytest.mark.slow
def test_a_run_in_pieces_gives_the_same_table(sparse_file: dict[str, Any]) -> None:
    """Each cell runs alone, as in a worker that has run no other."""
    cells = cells_of(sparse_file, algorithms=ALGORITHMS[:2])
    forget()
    together = pd.DataFrame([integers(cell) for cell in cells])
    alone = []
    for cell in reversed(cells):
        forget()
        alone.append(integers(cell))
    pd.testing.assert_frame_equal(together, pd.DataFrame(alone[::-1]))
