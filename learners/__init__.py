"""Single-pass (online) classifiers compiled with Numba, as scikit-learn estimators.

Importing the package costs nothing: Numba and scikit-learn are loaded with the first name taken from it. The
learners are those of `table`; to a type checker, which does not read it, each is `Any`, the names imported
below are what they are.
"""

import importlib
from typing import TYPE_CHECKING, Any

from .table import TABLE

if TYPE_CHECKING:
    from .contract import StreamLearner as StreamLearner
    from .estimator.online_classifier import OnlineClassifier as OnlineClassifier
    from .kernel.kernel_classifier import KernelClassifier as KernelClassifier
    from .linear.multiclass_classifier import MulticlassClassifier as MulticlassClassifier
    from .numeric.rows import as_rows as as_rows
    from .numeric.rows import row_range as row_range
    from .numeric.rows import take_rows as take_rows
    from .registry import available as available
    from .registry import load_plugin as load_plugin

_MODULES = {row.name: row.module for row in TABLE if row.is_public} | {
    "KernelClassifier": ".kernel.kernel_classifier",
    "MulticlassClassifier": ".linear.multiclass_classifier",
    "OnlineClassifier": ".estimator.online_classifier",
    "StreamLearner": ".contract",
    "as_rows": ".numeric.rows",
    "available": ".registry",
    "load_plugin": ".registry",
    "row_range": ".numeric.rows",
    "take_rows": ".numeric.rows",
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
