"""Checks of parameters, with an error of one line: learner, parameter, value and valid values.

A learner declares its parameters as fields of a dataclass whose types say what is valid: ``r: Scale = 1.0``,
``loss: Literal["hinge", "logistic"] = "hinge"``, ``budget: Count | None = None``. `check_fields` checks them.
"""

import functools
import inspect
import math
import numbers
from collections.abc import Callable, Mapping, Sequence
from types import UnionType
from typing import Annotated, Any, Literal, NoReturn, TypeAlias, Union, get_args, get_origin

import numpy as np
from sklearn.base import BaseEstimator


def _refuse(learner: BaseEstimator, name: str, requirement: str) -> NoReturn:
    kind: Any = type(learner)
    or_none = " or None" if any(each == name and optional for each, _, optional in _checks_of(kind)) else ""
    value = getattr(learner, name)
    raise ValueError(f"{kind.__name__}: {name} must be {requirement}{or_none}, got {value!r}")


def _is_number(value: Any) -> bool:
    # Most values are floats, so they are tested first: `isinstance` with an abstract class is slow.
    return type(value) is float or (isinstance(value, numbers.Real) and not isinstance(value, bool))


def _is_integer(value: Any) -> bool:
    return type(value) is int or (isinstance(value, (int, np.integer)) and not isinstance(value, bool))


# A check of one parameter: it is called with a learner and the parameter's name.
_Check: TypeAlias = Callable[[BaseEstimator, str], None]


def _check(requirement: str, is_valid: Callable[[Any], bool]) -> _Check:
    """Return a check that raises ValueError, with the `requirement`, unless `is_valid` accepts the value."""

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
check_size = _check("an integer >= 0", lambda value: _is_integer(value) and value >= 0)
check_count_or_all = _check(
    "an integer >= 1 or 'all'",
    lambda value: (isinstance(value, str) and value == "all") or (_is_integer(value) and value >= 1),
)
# An integer that can seed NumPy's RandomState.
check_seed = _check("an integer from 0 to 2**32 - 1", lambda value: _is_integer(value) and 0 <= value < 2**32)


def _as_float(value: Any) -> float:
    """Return a number as a float; a large integer is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf


def check_positive(learner: BaseEstimator, name: str, or_else: str = "") -> None:
    """Raise ValueError unless the parameter is a finite number > 0; `or_else` names other valid values."""
    value = getattr(learner, name)
    if not (_is_number(value) and 0.0 < value < math.inf):
        _refuse(learner, name, f"{or_else} or a finite number > 0" if or_else else "a finite number > 0")


def check_scale(learner: BaseEstimator, name: str) -> None:
    """Raise ValueError unless the parameter is a number from 1e-150 to 1e150.

    Squares, reciprocals and ratios of such numbers are in the range of float64. With other numbers, weights
    could become NaN.
    """
    check_positive(learner, name)
    if not 1e-150 <= _as_float(getattr(learner, name)) <= 1e150:
        _refuse(learner, name, "a number from 1e-150 to 1e150")


def between(low: float, high: float, include_high: bool = False) -> _Check:
    """Return a check that a parameter is above `low` and below `high`, or also `high` if `include_high`."""
    excluded = f"{low} excluded" if include_high else "both excluded"
    return _check(
        f"a number between {low} and {high}, {excluded}",
        lambda value: _is_number(value) and (low < value < high or (include_high and value == high)),
    )


def one_of(options: Sequence[Any]) -> _Check:
    """Return a check that a parameter is one of `options`."""
    requirement = "one of " + ", ".join(map(repr, options))

    def is_option(value: Any) -> bool:
        for each in options:
            # True is no 1, but an integer of NumPy may be.
            same_type = _is_integer(value) if _is_integer(each) else isinstance(value, type(each))
            if same_type and value == each:
                return True
        return False

    return _check(requirement, is_option)


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
        if not (_is_number(weight) and 1e-150 <= _as_float(weight) <= 1e150):
            raise ValueError(
                f"{type(learner).__name__}: {name} of {label!r} must be a number > 0, from 1e-150 to 1e150, "
                f"got {weight!r}"
            )


Positive = Annotated[float, check_positive]
NonNegative = Annotated[float, check_nonnegative]
Scale = Annotated[float, check_scale]
Share = Annotated[float, check_share]
Count = Annotated[int, check_count]
Several = Annotated[int, check_several]
Seed = Annotated[int, check_seed]
Size = Annotated[int, check_size]
CountOrAll = Annotated[int | str, check_count_or_all]
ClassWeight = Annotated[Mapping[Any, float] | None, check_weights]


def check_fields(learner: BaseEstimator) -> None:
    """Raise ValueError for the first parameter whose value is invalid according to its type annotation."""
    kind: Any = type(learner)
    for name, check, optional in _checks_of(kind):
        if not (optional and getattr(learner, name) is None):
            check(learner, name)


@functools.cache
def _checks_of(kind: Any) -> list[tuple[str, _Check, bool]]:
    """Return (name, check, whether None is valid) for each parameter of a learner class that has a check."""
    found = {}
    for base in reversed(kind.__mro__):
        try:
            annotations = inspect.get_annotations(base, eval_str=True)
        except NameError:  # another package may use names that only type checkers import
            continue
        for name, annotation in annotations.items():
            # If a subclass declares a parameter again with a plain type, the check of the base class stays.
            if check := _check_of(annotation):
                found[name] = name, *check
    return [found[name] for name in inspect.signature(kind).parameters if name in found]


def _check_of(annotation: Any) -> tuple[_Check, bool] | None:
    """Return the check that a type annotation stands for, and whether None is a valid value as well.

    The result is None if there is no check for the annotation.
    """
    if annotation is bool:
        return check_bool, False
    arguments = get_args(annotation)
    if get_origin(annotation) is Literal:
        return one_of(arguments), False
    if get_origin(annotation) in (Union, UnionType) and type(None) in arguments:
        check = _check_of(arguments[0])
        return None if check is None else (check[0], True)
    checks = [check for check in getattr(annotation, "__metadata__", ()) if callable(check)]
    return (checks[0], False) if checks else None
