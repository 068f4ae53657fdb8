"""Test ``standardize = "online"``: rows are scaled by those so far, the test part by all of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.run.shared_inputs import inputs_of
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study

N = 60


def numbers() -> NDArray[np.float64]:
    X = np.random.RandomState(0).normal(3.0, 5.0, (N, 3))
    X[:, 2] *= 1000
    X[::4, 1] = np.nan
    return X


def write(path: Path, X: NDArray[np.float64]) -> str:
    lines = [",".join("" if np.isnan(value) else repr(float(value)) for value in row) for row in X]
    path.write_text("\n".join(["a,b,c,label", *(f"{line},{'xy'[i % 2]}" for i, line in enumerate(lines))]))
    return str(path)


def cells_of(path: str, protocol: str, **keys: Any) -> list[Cell]:
    dataset = {"path": path, "standardize": "online", "missing": "mean"} | keys.pop("dataset", {})
    study = {
        "name": "s",
        "seeds": 2,
        "folds": 3,
        "protocol": protocol,
        "datasets": [dataset],
        "algorithms": [{"name": "AROW"}],
    }
    return list(make_plan(parse_study(study | keys)).evaluation_cells({}))


def scaled(X: NDArray[np.float64], rows: NDArray[np.int64], t: int, row: NDArray[np.float64]) -> Any:
    """Return a row scaled by the first t rows of an order, with missing values as 0."""
    so_far = X[rows[:t]]
    known = np.maximum((~np.isnan(so_far)).sum(axis=0), 1)
    mean = np.nansum(so_far, axis=0) / known
    spread = np.sqrt(np.nansum((so_far - mean) ** 2, axis=0) / known)
    return np.nan_to_num((row - mean) / np.where(spread == 0, 1.0, spread))


def order_of(path: str, protocol: str, cell: Cell) -> Any:
    """Return the file's row numbers in a cell's order, taken from the same cell without scaling."""
    plain = cells_of(path, protocol, dataset={"standardize": False})
    same = next(each for each in plain if each.spec.seed == cell.spec.seed)
    found = inputs_of(same.spec)
    return found.train.rows, None if found.test is None else found.test.rows


@pytest.mark.parametrize("protocol", ["prequential", "holdout", "crossval"])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_each_row_by_itself_and_those_before_it(tmp_path: Path, protocol: str, dtype: str) -> None:
    X = numbers()
    path = write(tmp_path / "f.csv", X)
    for cell in cells_of(path, protocol, dataset={"bias": True, "dtype": dtype}):
        given = inputs_of(cell.spec)
        rows, tests = order_of(path, protocol, cell)
        assert given.train.X.dtype == dtype
        expected = [scaled(X, rows, t + 1, X[row]) for t, row in enumerate(rows)]
        found = given.train.X[given.train.rows]
        np.testing.assert_allclose(found, np.c_[expected, np.ones(len(rows))], atol=1e-5)
        if tests is not None:
            assert given.test is not None
            expected = [scaled(X, rows, len(rows), X[row]) for row in tests]
            found = given.test.X[given.test.rows]
            np.testing.assert_allclose(found, np.c_[expected, np.ones(len(tests))], atol=1e-5)


def test_later_rows_change_nothing(tmp_path: Path) -> None:
    X = numbers()
    first = cells_of(write(tmp_path / "f.csv", X), "prequential", order="given")[0]
    before = inputs_of(first.spec).train.X.copy()
    X[40:] *= 7.0
    second = cells_of(write(tmp_path / "f.csv", X), "prequential", order="given")[0]
    after = inputs_of(second.spec).train.X
    assert before[:40].tolist() == after[:40].tolist()
    assert before[40:].tolist() != after[40:].tolist()


def test_an_official_test_part_is_scaled_by_the_training_part(tmp_path: Path) -> None:
    X = numbers()
    test = write(tmp_path / "t.csv", X[:9])
    cell = cells_of(write(tmp_path / "f.csv", X), "holdout", dataset={"test": test})[0]
    given = inputs_of(cell.spec)
    assert given.test is not None
    expected = [scaled(X, np.arange(N), N, row) for row in X[:9]]
    np.testing.assert_allclose(given.test.X[given.test.rows], expected, atol=1e-12)


def test_keys_and_what_a_cell_says(tmp_path: Path) -> None:
    path = write(tmp_path / "f.csv", numbers())
    said = {}
    for standardize in (False, True, "online"):
        cell = cells_of(path, "prequential", dataset={"standardize": standardize, "missing": "mean"})[0]
        said[cell.key] = run_cell(cell).row["scaling"]
        assert ("features" in cell.spec.document) is (standardize == "online")
    assert list(said.values()) == ["gaps by all", "all", "so far"]


def test_the_same_in_blocks_of_any_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = cells_of(
        write(tmp_path / "f.csv", numbers()), "holdout", noise=[{"model": "margin", "rate": 0.2}]
    )[0]
    whole = inputs_of(cell.spec)
    monkeypatch.setattr("singlepass.pipeline.run.splits.BLOCK_ROWS", 7)
    from singlepass.pipeline.run import shared_inputs as module

    module._source.cache.clear()
    monkeypatch.setattr(module._last, "reference", None)
    pieces = inputs_of(cell.spec)
    assert pieces is not whole
    assert pieces.train.X.tolist() == whole.train.X.tolist()
    assert pieces.noisy.tolist() == whole.noisy.tolist()


def test_what_cannot_be_scaled_is_refused(tmp_path: Path) -> None:
    X = numbers()
    X[5, 2] = 1e300
    cell = cells_of(write(tmp_path / "f.csv", X), "prequential")[0]
    with np.errstate(over="ignore"), pytest.raises(InputError, match="feature 3 has values too large"):
        inputs_of(cell.spec)
    with pytest.raises(InputError, match="standardize must be true or false or \"online\", not 'onlin'"):
        cells_of(str(tmp_path / "f.csv"), "prequential", dataset={"standardize": "onlin"})
