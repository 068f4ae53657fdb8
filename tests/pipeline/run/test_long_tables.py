"""Test that a table with more than 2^31 non-zeros is streamed like a short one."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from singlepass.pipeline.data import own_sources, sources
from singlepass.pipeline.data.resolve import shared_stream
from singlepass.pipeline.data.tables import stream as tables_stream
from singlepass.pipeline.data.tables.options import resolve_options
from singlepass.pipeline.data.tables.stream import SpillingMatrix, Table, csr_of, picked_rows, row_slice
from singlepass.pipeline.run import shared_inputs
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.study.cell import Cell
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study

# Non-zeros of a first row, which are holes of files: they take no disk space and are never read.
HOLES = 2**31 + 12_345


def cell_on(path: Path) -> Cell:
    table = {
        "name": "s",
        "noise": 0.2,
        "datasets": [{"path": str(path), "task": "pair:1,2"}],
        "algorithms": [{"name": "AROW"}],
    }
    return next(make_plan(parse_study(table)).evaluation_cells({}))


def with_holes(array: Any, path: Path) -> Any:
    """Return an array behind `HOLES` zeros in a sparse file."""
    with path.open("wb") as file:
        file.seek(HOLES * array.itemsize)
        file.write(array.tobytes())
    return np.asarray(np.memmap(path, array.dtype, mode="r"))


def longer(table: Table, folder: Path) -> Table:
    """Return a table with a first row of class 0 that has `HOLES` non-zeros."""
    X: Any = table.X
    assert X.indptr.dtype == np.int32
    data, indices = with_holes(X.data, folder / "data"), with_holes(X.indices, folder / "indices")
    indptr = np.concatenate([[0], X.indptr.astype(np.int64) + HOLES])
    y = np.concatenate([[0], table.y]).astype(np.int32)
    long = csr_of(data, indices, indptr, (len(y), X.shape[1]))
    assert long.indptr.dtype == np.int64
    assert long.indices.dtype == np.int32
    return replace(table, X=long, y=y)


@pytest.mark.slow
def test_a_cell_counts_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.RandomState(0)
    rows = [f"{i % 3} " + " ".join(f"{j}:{rng.rand():.3f}" for j in range(1, 9)) for i in range(300)]
    path = tmp_path / "f.svm"
    path.write_text("\n".join(rows))
    cell = cell_on(path)
    expected = run_cell(cell).row
    assert expected["status"] == "ok", expected["error"]
    table = sources.shared_table(own_sources.FileSource(str(path)), *_recipe(path))
    long = longer(table, tmp_path)
    monkeypatch.setattr(sources, "shared_table", lambda *_: long)
    # Nothing that the first cell opened is used again.
    shared_stream.cache_clear()
    shared_inputs._source.cache_clear()
    shared_inputs._last.reference = None
    found = run_cell(cell).row
    assert found["status"] == "ok", found["error"]
    for name in ("mistakes", "mistakes_clean", "updates", "noise_realised"):
        assert found[name] == expected[name]
    # Rows behind the holes are sliced and picked without reading these.
    np.testing.assert_array_equal(row_slice(long.X, 1, 5).toarray(), row_slice(table.X, 0, 4).toarray())
    picked = picked_rows(long.X, np.arange(5, 9))
    np.testing.assert_array_equal(picked.toarray(), row_slice(table.X, 4, 8).toarray())  # type: ignore[union-attr]


def _recipe(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    source = own_sources.FileSource(str(path))
    options = resolve_options("f", {}, source.options({}))
    return source.recipe(options), options


def test_the_type_of_row_pointers_follows_the_number_of_non_zeros(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def collected() -> Any:
        made = SpillingMatrix(tmp_path)
        for _ in range(3):
            made.append_csr(np.ones(4), np.array([0, 1, 0, 2], np.int32), np.array([2, 4]))
        return made.finish((6, 3))

    X = collected()
    assert X.indptr.dtype == np.int32
    monkeypatch.setattr(tables_stream, "row_pointer_type", lambda n: np.int64)
    long = collected()
    assert long.indptr.dtype == np.int64
    assert long.indices.dtype == np.int32
    np.testing.assert_array_equal(long.toarray(), X.toarray())
