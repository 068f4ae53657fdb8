"""Provide the command line, its workflows (run a study, report, measure speed) and the notebook API.

A name of the notebook API is imported at its first use, so that the command line starts fast. Type checkers
read ``__init__.pyi`` instead.
"""

import importlib
from typing import Any

_MODULES = {
    "Results": ".notebook.results",
    "Study": ".notebook.study",
    "compare": ".notebook.running",
    "load": ".notebook.results",
    "run": ".notebook.running",
}

__all__ = sorted(_MODULES)


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
