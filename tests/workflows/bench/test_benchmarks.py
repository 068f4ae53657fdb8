"""Test the list of benchmarks."""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from pathlib import Path

import pytest

from singlepass.pipeline.data import describe
from singlepass.pipeline.errors import InputError
from singlepass.workflows import bench
from singlepass.workflows.bench import cells, kernel, libraries, streams


@pytest.mark.parametrize("name", bench.BENCHMARKS)
def test_the_functions_of_a_benchmark_exist(name: str) -> None:
    for table in bench.BENCHMARKS[name].tables:
        module, function = table.split(".")
        assert callable(getattr(import_module(f"{bench.__name__}.{module}"), function))


@pytest.mark.parametrize(
    ("out", "problem"),
    [
        ("none/tables.md", "--out none/tables.md: cannot be written (No such file or directory)"),
        (".", "--out .: cannot be written (Is a directory)"),
        ("s3://bucket/tables.md", "s3://bucket/tables.md: is a URL"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused_before_measuring(
    out: str, problem: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(bench.BENCHMARKS, "linear", bench.Benchmark("", ("runner.none_to_measure",)))
    with pytest.raises(InputError) as refused:
        bench.run_bench("linear", out, gigabytes=None, cells=None)
    assert str(refused.value).startswith(problem)


def test_cells_download_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    def opened(*_: object, **__: object) -> None:
        raise AssertionError("a study of an absent data set was made")

    monkeypatch.setattr(streams, "describe", list)
    monkeypatch.setattr(cells, "make_study", opened)
    for lines in (cells.cell(), cells.metrics()):
        assert lines
        assert all(line.peer.startswith("not on this machine: singlepass data fetch ") for line in lines)


def test_damaged_data_are_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    def damaged(*_: object, **__: object) -> None:
        raise InputError("a9a: damaged")

    entries = [replace(entry, state="present") for entry in describe()]
    monkeypatch.setattr(streams, "describe", lambda: entries)
    monkeypatch.setattr(streams, "expand", damaged)
    monkeypatch.setattr(cells, "make_study", damaged)
    skipped = [*streams.real_streams(libraries.REAL), *cells.cell(), *cells.metrics()]
    assert [(line.ours, line.peer) for line in skipped] == [("skipped", "a9a: damaged")] * 8
    assert [line.name for line in kernel.streams() if isinstance(line, streams.NamedStream)] == ["generated"]
