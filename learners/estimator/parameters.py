"""Checks of hyperparameters, with an error of one line: learner, parameter, value and valid values."""

import math
import numbers
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NoReturn

import numpy as np
from sklearn.base import BaseEstimator


def _refuse(learner: BaseEstimator, name: str, requirement: str) -> NoReturn:
    value = getattr(learner, name)
    raise ValueError(f"{type(learner).__name__}: {name} must be {requirement}, got {value!r}")


def _is_number(value: Any) -> bool:
    # Most values are floats; checking the abstract class takes longest.
    return type(value) is float or (isinstance(value, numbers.Real) and not isinstance(value, bool))


def _is_integer(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def _check(requirement: str, is_valid: Callable[[Any], bool]) -> Callable[[BaseEstimator, str], None]:
    """Return a check of a parameter, called with a learner and the parameter's name."""

    def check(learner: BaseEstimator, name: str) -> None:
        if not is_valid(getattr(learner, name)):
            _refuse(learner, name, requirement)

    check.__doc__ = f"Raise ValueError unless the parameter is {requirement}."
    return check


check_nonnegative = _check(
    "a finite number >= 0", lambda value: _is_number(value) and 0.0 <= value < math.inf
)
check_number = _check("a finite number", lambda value: _is_number(value) and math.isfinite(value))
check_share = _check("a number from 0 to 1", lambda value: _is_number(value) and 0.0 <= value <= 1.0)
check_bool = _check("True or False", lambda value: isinstance(value, (bool, np.bool_)))
check_count = _check("an integer >= 1", lambda value: _is_integer(value) and value >= 1)
check_several = _check("an integer >= 2", lambda value: _is_integer(value) and value >= 2)
check_size_or_none = _check(
    "an integer >= 0 or None", lambda value: value is None or (_is_integer(value) and value >= 0)
)
check_count_or_all = _check(
    "an integer >= 1 or 'all'",
    lambda value: (isinstance(value, str) and value == "all") or (_is_integer(value) and value >= 1),
)
# An integer that can seed NumPy's RandomState.
check_seed = _check("an integer from 0 to 2**32 - 1", lambda value: _is_integer(value) and 0 <= value < 2**32)


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


def check_between(
    learner: BaseEstimator, name: str, low: float, high: float, include_high: bool = False
) -> None:
    """Raise ValueError unless the parameter is a number between `low` (excluded) and `high`."""
    value = getattr(learner, name)
    if not (_is_number(value) and (low < value < high or (include_high and value == high))):
        excluded = f"{low} excluded" if include_high else "both excluded"
        _refuse(learner, name, f"a number between {low} and {high}, {excluded}")


def check_option(learner: BaseEstimator, name: str, options: Iterable[str]) -> None:
    """Raise ValueError unless the parameter is one of the strings `options`."""
    value = getattr(learner, name)
    if not (isinstance(value, str) and value in options):
        _refuse(learner, name, "one of " + ", ".join(map(repr, options)))


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
