"""Single-pass (online) classifiers compiled with Numba, as scikit-learn estimators.

Importing the package is quick: Numba and scikit-learn are imported when a public name is first used. These
names are listed in `public.MODULES`; ``python -m singlepass.learners`` writes them to ``__init__.pyi``, which
type checkers read.
"""

import importlib
from typing import Any

from .public import MODULES

__all__ = sorted(MODULES)


def __getattr__(name: str) -> Any:
    if name not in MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
