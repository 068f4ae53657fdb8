"""Test files that are read in blocks: every row once, in file order, for any block size."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, parquet

from singlepass.pipeline.data import expand, fingerprint, open_stream, sparse_tokens, svmlight_scan, watched
from singlepass.pipeline.data.formats import arrow_files, delimited, sparse_text
from singlepass.pipeline.data.formats.arrow_files import ArrowFile
from singlepass.pipeline.data.formats.columns import Asked
from singlepass.pipeline.data.formats.labelled_columns import read_columns
from singlepass.pipeline.data.io import spill
from singlepass.pipeline.errors import InputError

Write = Callable[[str, str | bytes], Path]
N = 50
A, B = np.arange(N) / 8.0, np.arange(N) % 7
LABELS = ["x" if i % 3 else "y" for i in range(N)]


def dense(X: Any) -> Any:
    return X if isinstance(X, np.ndarray) else X.toarray()


@pytest.fixture(params=["csv", "parquet", "feather", "svmlight"])
def path(request: pytest.FixtureRequest, tmp_path: Path, write: Write) -> Path:
    """Write the same rows in every format (in svmlight x is 1 and y is -1)."""
    found = tmp_path / f"f.{request.param}"
    table = pa.table({"a": A, "b": B.astype(float), "label": LABELS})
    if request.param == "csv":
        rows = "".join(f"{a},{b},{label}\n" for a, b, label in zip(A, B, LABELS, strict=True))
        write("f.csv", "a,b,label\n" + rows)
    elif request.param == "parquet":
        parquet.write_table(table, found, row_group_size=13)
    elif request.param == "feather":
        feather.write_feather(table, found, chunksize=13)
    else:
        signs = {"x": "1", "y": "-1"}
        rows = "".join(f"{signs[label]} 1:{a} 2:{b}\n" for a, b, label in zip(A, B, LABELS, strict=True))
        write("f.svmlight", rows)
    return found


@pytest.fixture
def tiny_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Split every file into many blocks, and write every array to disk."""
    # Long enough for the first line to fit into Arrow's first block.
    monkeypatch.setattr(delimited, "_BLOCK_BYTES", 64)
    monkeypatch.setattr(sparse_text, "_BLOCK_BYTES", 16)
    monkeypatch.setattr(arrow_files, "_BATCH_BYTES", 200)
    monkeypatch.setattr(spill, "_SPILL_BYTES", 32)


def test_conversion_does_not_depend_on_the_blocks(
    path: Path, request: pytest.FixtureRequest, new_process: Callable[[], None], cache: Path
) -> None:
    at_once = open_stream(expand(path=path)[0])
    content, codes = dense(at_once.X).tolist(), at_once.y.tolist()
    new_process()
    shutil.rmtree(cache)
    request.getfixturevalue("tiny_steps")
    piecewise = open_stream(expand(path=path)[0])
    assert piecewise.fingerprint == at_once.fingerprint
    assert dense(piecewise.X).tolist() == content
    assert piecewise.y.tolist() == codes
    assert not list((cache / "streams").glob(".unfinished-*"))


@pytest.mark.usefixtures("tiny_steps")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dtypes(path: Path, dtype: str) -> None:
    X = open_stream(expand(path=path, options={"dtype": dtype})[0]).X
    assert X.dtype == dtype
    np.testing.assert_array_equal(dense(X), np.column_stack([A, B]).astype(dtype))


def test_a_wrong_line_is_named_when_it_is_reached(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_text, "_BLOCK_BYTES", 8)
    path = write("f.svm", "1 1:1\n" * 20 + "-1 2:1 1:1\n" + "1 1:1\n")
    blocks = sparse_tokens(path, svmlight_scan())
    assert next(blocks).labels.tolist() == [1.0]
    with pytest.raises(InputError, match="line 21: index 1 follows 2; indices must rise along a line"):
        list(blocks)


def test_rows_of_later_batches_are_counted_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrow_files, "_BATCH_BYTES", 48)
    for column, fault in ((pa.array([1.0, 2.0, 3.0, 4.0, None]), "no value"), ([1.0] * 4 + [np.inf], "inf")):
        parquet.write_table(pa.table({"a": column, "label": list("xyxyx")}), tmp_path / "f.parquet")
        with pytest.raises(InputError, match=rf"row 5, column 'a': {fault}"):
            read_columns([ArrowFile(tmp_path / "f.parquet", "parquet")], Asked())
    parquet.write_table(
        pa.table({"a": [1.0] * 5, "label": ["x", "y", "x", "y", None]}), tmp_path / "f.parquet"
    )
    with pytest.raises(InputError, match="row 5: the label is missing"):
        read_columns([ArrowFile(tmp_path / "f.parquet", "parquet")], Asked())


@pytest.mark.usefixtures("tiny_steps")
def test_parsing_reports_progress(path: Path) -> None:
    seen: list[tuple[str, int, int]] = []
    with watched(lambda *report: seen.append(report)):
        refs = expand(path=path)
    assert {name for name, _, _ in seen} == {path.name}
    done = [count for _, count, _ in seen]
    assert done == sorted(done)
    assert len(seen) > 1
    if path.suffix in (".csv", ".svmlight"):
        assert seen[-1][1:] == (path.stat().st_size,) * 2
    # Nothing is left to parse, so no progress is reported.
    seen.clear()
    with watched(lambda *report: seen.append(report)):
        assert expand(path=path) == refs
    assert seen == []
    assert open_stream(refs[0]).fingerprint == fingerprint(refs[0])
