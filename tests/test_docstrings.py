"""Every example of every docstring runs, and every public name has a docstring."""

from __future__ import annotations

import doctest
import importlib
import inspect
import pkgutil
from types import ModuleType

import numpy as np
import pytest

import singlepass.learners
import singlepass.pipeline
import singlepass.workflows


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


# The examples of support vector machines compile for minutes.
@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.slow] if ".svm." in name else []) for name in MODULES],
)
def test_examples_run(name: str) -> None:
    module = imported(name)
    assert doctest.testmod(module, extraglobs={"np": np}).failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_public_names_are_documented(name: str) -> None:
    module = imported(name)
    assert module.__doc__, f"{name} has no docstring"
    for attribute, value in vars(module).items():
        if attribute.startswith("_") or getattr(value, "__module__", None) != name:
            continue
        if inspect.isclass(value) or inspect.isfunction(value):
            assert inspect.getdoc(value), f"{name}.{attribute} has no docstring"
