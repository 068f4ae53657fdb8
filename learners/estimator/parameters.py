"""Checks of hyperparameters: one line that names the learner, the parameter, its value and the valid
values."""

import math
import numbers
from collections.abc import Iterable, Mapping
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator


def _refuse(learner: BaseEstimator, name: str, requirement: str) -> NoReturn:
    value = getattr(learner, name)
    raise ValueError(f"{type(learner).__name__}: {name} must be {requirement}, got {value!r}")


def _is_number(value: Any) -> bool:
    # Most values are floats; checking the abstract class takes longest.
    return type(value) is float or (isinstance(value, numbers.Real) and not isinstance(value, bool))


def check_positive(learner: BaseEstimator, name: str, or_else: str = "") -> None:
    """Raise ValueError unless the parameter is a finite number > 0; `or_else` adds what else is allowed."""
    value = getattr(learner, name)
    if not (_is_number(value) and 0.0 < value < math.inf):
        _refuse(learner, name, f"{or_else} or a finite number > 0" if or_else else "a finite number > 0")


def check_scale(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is a number from 1e-150 to 1e150.

    Squares, reciprocals and ratios of such numbers are in the range of float64; otherwise weights become
    NaN.
    """
    check_positive(learner, name)
    if not 1e-150 <= float(getattr(learner, name)) <= 1e150:
        _refuse(learner, name, "a number from 1e-150 to 1e150")


def check_nonnegative(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is a finite number >= 0."""
    value = getattr(learner, name)
    if not (_is_number(value) and 0.0 <= value < math.inf):
        _refuse(learner, name, "a finite number >= 0")


def check_number(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is a finite number."""
    value = getattr(learner, name)
    if not (_is_number(value) and math.isfinite(value)):
        _refuse(learner, name, "a finite number")


def check_between(
    learner: BaseEstimator, name: str, low: float, high: float, include_high: bool = False
) -> None:
    """Raise ValueError unless the parameter is a number between `low` (excluded) and `high`."""
    value = getattr(learner, name)
    if not (_is_number(value) and (low < value < high or (include_high and value == high))):
        excluded = f"{low} excluded" if include_high else "both excluded"
        _refuse(learner, name, f"a number between {low} and {high}, {excluded}")


def check_share(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is a number from 0 to 1."""
    value = getattr(learner, name)
    if not (_is_number(value) and 0.0 <= value <= 1.0):
        _refuse(learner, name, "a number from 0 to 1")


def check_option(learner: BaseEstimator, name: str, options: Iterable[str]) -> None:
    """Raise ValueError unless the parameter is one of the strings `options`."""
    value = getattr(learner, name)
    if not (isinstance(value, str) and value in options):
        _refuse(learner, name, "one of " + ", ".join(map(repr, options)))


def check_bool(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is True or False."""
    if not isinstance(getattr(learner, name), (bool, np.bool_)):
        _refuse(learner, name, "True or False")


def _is_count(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool) and bool(value >= 1)


def check_count(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is an integer >= 1."""
    if not _is_count(getattr(learner, name)):
        _refuse(learner, name, "an integer >= 1")


def check_several(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is an integer >= 2."""
    value = getattr(learner, name)
    if not (_is_count(value) and value >= 2):
        _refuse(learner, name, "an integer >= 2")


def check_size_or_none(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is an integer >= 0 or None."""
    value = getattr(learner, name)
    if not (value is None or value == 0 or _is_count(value)) or isinstance(value, (bool, float)):
        _refuse(learner, name, "an integer >= 0 or None")


def check_count_or_all(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is an integer >= 1 or "all"."""
    value = getattr(learner, name)
    if not (_is_count(value) or (isinstance(value, str) and value == "all")):
        _refuse(learner, name, "an integer >= 1 or 'all'")


def check_weights(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is None or maps labels to numbers from 1e-150 to 1e150."""
    value = getattr(learner, name)
    if value is None:
        return
    if isinstance(value, str) and value == "balanced":
        _refuse(
            learner,
            name,
            "None or a dict {label: weight > 0} ('balanced' needs all labels before the first row)",
        )
    if not isinstance(value, Mapping):
        _refuse(learner, name, "None or a dict {label: weight > 0}")
    for label, weight in value.items():
        if not (_is_number(weight) and 1e-150 <= weight <= 1e150):
            raise ValueError(
                f"{type(learner).__name__}: {name} of {label!r} must be a number > 0, from 1e-150 to 1e150, "
                f"got {weight!r}"
            )


def check_seed(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is an integer that can seed NumPy's RandomState."""
    value = getattr(learner, name)
    if not (isinstance(value, int | np.integer) and not isinstance(value, bool) and 0 <= value < 2**32):
        _refuse(learner, name, "an integer from 0 to 2**32 - 1")
