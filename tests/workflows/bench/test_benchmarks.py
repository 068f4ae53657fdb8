"""Test the list of benchmarks."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

import pytest

from singlepass.pipeline.errors import InputError
from singlepass.workflows import bench


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
