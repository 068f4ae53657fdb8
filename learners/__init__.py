"""Single-pass (online) classifiers compiled with Numba, as scikit-learn estimators.

Importing the package costs nothing: Numba and scikit-learn are loaded with the first name taken from it. The
names are those of `table`. Type checkers read ``__init__.pyi``, which is generated from the same table
(``python -m singlepass.learners``).
"""

import importlib
from typing import Any

from .table import MODULES

__all__ = sorted(MODULES)


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
