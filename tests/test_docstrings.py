"""Every example of every docstring runs, and every public name has a docstring."""

from __future__ import annotations

import doctest
import importlib.util
import inspect
import pkgutil
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import singlepass.learners
import singlepass.pipeline
import singlepass.workflows
from singlepass.learners.table import TABLE

from .learners.streams import FEATURE_LEARNERS, KERNEL_LEARNERS, LEARNERS, is_fast


def modules(package: ModuleType) -> list[str]:
    found = pkgutil.walk_packages(package.__path__, prefix=f"{package.__name__}.")
    return [package.__name__, *(module.name for module in found)]


MODULES = [
    name
    for package in (singlepass.learners, singlepass.pipeline, singlepass.workflows)
    for name in modules(package)
]

# Modules that import an optional library.
NEEDS = {
    "singlepass.learners.deployment.capymoa_classifier": "capymoa",
    "singlepass.learners.deployment.river_classifier": "river",
}


def imported(name: str) -> ModuleType:
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    return importlib.import_module(name)


def has_examples(name: str) -> bool:
    spec = importlib.util.find_spec(name)
    return spec is not None and spec.origin is not None and ">>>" in Path(spec.origin).read_text()


FAST = {type(each).__name__ for each in LEARNERS + KERNEL_LEARNERS + FEATURE_LEARNERS if is_fast(each)}


def is_slow(name: str) -> bool:
    """Return whether a module's examples compile a learner that the fast tier leaves out."""
    compiled = [row for row in TABLE if row.kind not in ("baseline", "strategy")]
    learners = {row.name for row in compiled if name == f"singlepass.learners{row.module}"}
    return bool(learners) and not learners & FAST


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.slow] if is_slow(name) else [])
        for name in filter(has_examples, MODULES)
    ],
)
def test_examples_run(name: str) -> None:
    module = imported(name)
    tried = doctest.testmod(module, extraglobs={"np": np})
    assert (tried.failed, tried.attempted > 0) == (0, True)


def test_public_names_are_documented() -> None:
    undocumented = []
    for name in MODULES:
        if name in NEEDS and importlib.util.find_spec(NEEDS[name]) is None:
            continue
        module = importlib.import_module(name)
        public = {
            f"{name}.{attribute}": value
            for attribute, value in vars(module).items()
            if not attribute.startswith("_")
            and getattr(value, "__module__", None) == name
            and (inspect.isclass(value) or inspect.isfunction(value))
        }
        undocumented += [each for each, value in public.items() if not inspect.getdoc(value)]
        undocumented += [] if module.__doc__ else [name]
    assert undocumented == []
