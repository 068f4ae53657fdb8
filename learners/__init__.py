"""Single-pass (online) classifiers compiled with Numba, as scikit-learn estimators.

Importing the package costs nothing: Numba and scikit-learn are loaded with the first name taken from it.
"""

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .active import Greedy, QueryAll
    from .estimator.online_classifier import OnlineClassifier
    from .kernel.alma import KernelALMA
    from .kernel.budget_perceptron import RandomizedBudgetPerceptron, ShiftingPerceptron
    from .kernel.distill_cache import DistillCacheMIRA, DistillCachePerceptron
    from .kernel.forgetron import Forgetron
    from .kernel.kernel_classifier import KernelClassifier
    from .kernel.norma import NORMA
    from .kernel.passive_aggressive import KernelPassiveAggressive
    from .kernel.perceptron import KernelPerceptron
    from .kernel.projectron import Projectron, ProjectronPlusPlus
    from .kernel.second_order import KernelAROW, KernelSecondOrderPerceptron
    from .linear.adagrad_rda import AdaGradRDA
    from .linear.alma import ALMA
    from .linear.arow import AROW
    from .linear.confidence_weighted import ConfidenceWeighted
    from .linear.multiclass_classifier import MulticlassClassifier
    from .linear.narow import NAROW
    from .linear.nherd import NHERD
    from .linear.online_gradient_descent import OnlineGradientDescent
    from .linear.passive_aggressive import PassiveAggressive
    from .linear.perceptron import Perceptron
    from .linear.romma import ROMMA
    from .linear.second_order_perceptron import SecondOrderPerceptron
    from .linear.soft_confidence_weighted import SoftConfidenceWeighted
    from .numeric.rows import as_rows, row_range, take_rows
    from .registry import available, load_plugin
    from .svm.incremental_svm import IncrementalSVM
    from .svm.lasvm import LASVM
    from .svm.model_selection import OnlineModelSelection
    from .svm.offline_ramp_svm import OfflineRampSVM
    from .svm.ramp_svm import ActiveRampSVM, OnlineRampSVM
    from .svm.retrained_ramp_svm import RetrainedRampSVM

_MODULES = {
    "ALMA": ".linear.alma",
    "AROW": ".linear.arow",
    "ActiveRampSVM": ".svm.ramp_svm",
    "AdaGradRDA": ".linear.adagrad_rda",
    "ConfidenceWeighted": ".linear.confidence_weighted",
    "DistillCacheMIRA": ".kernel.distill_cache",
    "DistillCachePerceptron": ".kernel.distill_cache",
    "Forgetron": ".kernel.forgetron",
    "Greedy": ".active",
    "IncrementalSVM": ".svm.incremental_svm",
    "KernelALMA": ".kernel.alma",
    "KernelAROW": ".kernel.second_order",
    "KernelClassifier": ".kernel.kernel_classifier",
    "KernelPassiveAggressive": ".kernel.passive_aggressive",
    "KernelPerceptron": ".kernel.perceptron",
    "KernelSecondOrderPerceptron": ".kernel.second_order",
    "MulticlassClassifier": ".linear.multiclass_classifier",
    "LASVM": ".svm.lasvm",
    "NAROW": ".linear.narow",
    "NHERD": ".linear.nherd",
    "NORMA": ".kernel.norma",
    "OfflineRampSVM": ".svm.offline_ramp_svm",
    "OnlineClassifier": ".estimator.online_classifier",
    "OnlineGradientDescent": ".linear.online_gradient_descent",
    "OnlineModelSelection": ".svm.model_selection",
    "OnlineRampSVM": ".svm.ramp_svm",
    "PassiveAggressive": ".linear.passive_aggressive",
    "Perceptron": ".linear.perceptron",
    "Projectron": ".kernel.projectron",
    "ProjectronPlusPlus": ".kernel.projectron",
    "QueryAll": ".active",
    "ROMMA": ".linear.romma",
    "RandomizedBudgetPerceptron": ".kernel.budget_perceptron",
    "RetrainedRampSVM": ".svm.retrained_ramp_svm",
    "SecondOrderPerceptron": ".linear.second_order_perceptron",
    "ShiftingPerceptron": ".kernel.budget_perceptron",
    "SoftConfidenceWeighted": ".linear.soft_confidence_weighted",
    "as_rows": ".numeric.rows",
    "available": ".registry",
    "load_plugin": ".registry",
    "row_range": ".numeric.rows",
    "take_rows": ".numeric.rows",
}

__all__ = [
    "ALMA",
    "AROW",
    "LASVM",
    "NAROW",
    "NHERD",
    "NORMA",
    "ROMMA",
    "ActiveRampSVM",
    "AdaGradRDA",
    "ConfidenceWeighted",
    "DistillCacheMIRA",
    "DistillCachePerceptron",
    "Forgetron",
    "Greedy",
    "IncrementalSVM",
    "KernelALMA",
    "KernelAROW",
    "KernelClassifier",
    "KernelPassiveAggressive",
    "KernelPerceptron",
    "KernelSecondOrderPerceptron",
    "MulticlassClassifier",
    "OfflineRampSVM",
    "OnlineClassifier",
    "OnlineGradientDescent",
    "OnlineModelSelection",
    "OnlineRampSVM",
    "PassiveAggressive",
    "Perceptron",
    "Projectron",
    "ProjectronPlusPlus",
    "QueryAll",
    "RandomizedBudgetPerceptron",
    "RetrainedRampSVM",
    "SecondOrderPerceptron",
    "ShiftingPerceptron",
    "SoftConfidenceWeighted",
    "as_rows",
    "available",
    "load_plugin",
    "row_range",
    "take_rows",
]


def __getattr__(name: str) -> object:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULES[name], __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
