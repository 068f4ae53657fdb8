"""Test the list of benchmarks."""

from __future__ import annotations

from importlib import import_module

import pytest

from singlepass.workflows import bench


@pytest.mark.parametrize("name", bench.BENCHMARKS)
def test_the_functions_of_a_benchmark_exist(name: str) -> None:
    for table in bench.BENCHMARKS[name].tables:
        module, function = table.split(".")
        assert callable(getattr(import_module(f"{bench.__name__}.{module}"), function))
