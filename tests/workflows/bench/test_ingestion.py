"""Test what the ingestion benchmark measures, on a file of a few rows."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

from singlepass.pipeline.data.resolve import shared_stream
from singlepass.pipeline.data.sources import shared_table
from singlepass.workflows.bench import ingestion


@pytest.fixture(autouse=True)
def few_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(ingestion, "PIECE_ROWS", 40)


@pytest.mark.parametrize("number", ingestion.FORMATS.values())
def test_the_generated_file(tmp_path: Path, number: str) -> None:
    path = tmp_path / "f.svmlight"
    ingestion.write_svmlight(path, 100_000, number)
    X, y = load_svmlight_file(str(path), zero_based=False)
    assert path.stat().st_size >= 100_000
    assert len(y) % 40 == 0
    assert np.diff(X.indptr).tolist() == [ingestion.NON_ZEROS] * len(y)
    assert X.shape[1] <= ingestion.FEATURES
    digits = {len(field.partition(b":")[2]) for field in path.read_bytes().split() if b":" in field}
    assert max(digits) == {"{:.4f}": 6}.get(number, 20)


@pytest.mark.parametrize(
    ("chooses_cores", "lines"), [pytest.param(True, 6, marks=pytest.mark.slow), (False, 2)]
)
def test_every_work_of_the_table(chooses_cores: bool, lines: int, monkeypatch: pytest.MonkeyPatch) -> None:
    if chooses_cores:
        monkeypatch.setattr(os, "sched_setaffinity", None, raising=False)
    else:  # as on macOS
        monkeypatch.delattr(os, "sched_setaffinity", raising=False)

    def in_this_process(work: str, path: Path, cores: int = 0) -> dict[str, Any]:
        monkeypatch.setenv("SINGLEPASS_CACHE", str(path.parent / "cache"))
        if work == "convert":
            shutil.rmtree(path.parent / "cache", ignore_errors=True)
        shared_stream.cache_clear()
        shared_table.cache_clear()
        return {
            "seconds": 1.0,
            "imports_mb": 50.0,
            "peak_mb": 100.0,
            **(ingestion.WORKS | ingestion.OTHERS)[work](path),
        }

    monkeypatch.setattr(ingestion, "ROWS", 50)
    monkeypatch.setattr(ingestion, "_in_process", in_this_process)
    table = ingestion.ingestion(0.0)
    assert len(table) == lines * len(ingestion.FORMATS) + 2
    assert [line.peer for line in table[-2:]] == ["pyarrow and one write 1.00 s"] * 2
    equal = [line for line in table if "equal" in line.work]
    # Row pointers (with the leading 0), indices, values, labels.
    assert [line.ours for line in equal] == [f"{41 + 2 * 4000 + 40:,}"] * 2
    assert [line.ratio for line in equal] == [1.0, 1.0]
    assert [line.ratio for line in table if ": convert (1.0 s), peak" in line.work] == [5.0, 5.0]


def test_a_difference_is_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "f.svmlight"
    ingestion.write_svmlight(path, 0, "{:.4f}")
    whole = ingestion._load_and_compare(path)
    real = ingestion.open_stream

    def wrong(ref: Any) -> Any:
        stream = real(ref)
        X: Any = stream.X.copy()
        X.data[7] += 1e-16 + X.data[7] * 1e-15
        object.__setattr__(stream, "X", X)
        return stream

    monkeypatch.setattr(ingestion, "open_stream", wrong)
    assert ingestion._load_and_compare(path)["equal"] == whole["entries"] - 1


@pytest.mark.slow
def test_a_process_of_its_own_reports_its_memory(tmp_path: Path) -> None:
    path = tmp_path / "f.svmlight"
    ingestion.write_svmlight(path, 0, "{:.4f}")
    found = ingestion._in_process("read", path)
    assert found["rows"] == 40
    assert 5 < found["imports_mb"] < found["peak_mb"] < ingestion.CONVERT_MB
    assert found["seconds"] > 0
