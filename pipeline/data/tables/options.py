"""Declare the options that a data set takes in a study, and check them in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from ...errors import InputError, did_you_mean

Value: TypeAlias = str | int | float | bool | tuple[str, ...]
Options: TypeAlias = Mapping[str, Value]


@dataclass(frozen=True)
class Option:
    """Declare one option: its type, default and range."""

    #: true/false, an integer, a number, a string, or a list of strings (numbers name columns of files without
    #: a header).
    kind: Literal["flag", "count", "number", "text", "names"]
    #: Value if the option is not given; for some options ``""`` or 0 means "determine it from the data".
    default: Value
    #: Range of a "count" or "number"; a maximum of None allows any.
    minimum: int = 0
    maximum: int | None = None
    #: Accepted texts; empty accepts any. For a "flag": the values accepted besides true and false.
    choices: tuple[str, ...] = ()


ONLINE = "online"
STANDARDIZE = Option("flag", False, choices=(ONLINE,))

# docs/study.md and docs/own-data.md describe these and other options.
FEATURE_OPTIONS: dict[str, Option] = {
    "bias": Option("flag", False),
    "standardize": STANDARDIZE,
    "dtype": Option("text", "", choices=("float32", "float64")),
}


# Keys of a data set's table in a study that are not checked as options; a misspelled one comes here as an
# option.
TABLE_KEYS = (
    *("name", "path", "openml", "task", "positive", "label", "compose", "at", "width"),
    *("protocol", "order", "max_examples", "test_fraction", "max_tune", "parameters"),
)


def resolve_options(owner: str, given: Options, declared: Mapping[str, Option]) -> dict[str, Value]:
    """Fill in the defaults of options; raise InputError on an unknown option, or a wrong type or value."""
    for key in given:
        if key not in declared:
            hint = did_you_mean(key, declared, TABLE_KEYS)
            raise InputError(f"data set {owner!r} has no option {key!r}; {hint}")
    return {
        key: _checked(owner, key, given[key], option) if key in given else option.default
        for key, option in declared.items()
    }


def count_of(options: Options, key: str) -> int:
    """Return the value of an integer option."""
    value = options[key]
    assert isinstance(value, int)
    return value


def names_of(options: Options, key: str) -> tuple[str, ...]:
    """Return the value of an option that lists columns."""
    value = options[key]
    assert isinstance(value, tuple)
    return value


def _checked(owner: str, key: str, value: Value, option: Option) -> Value:
    if option.kind == "flag":
        if isinstance(value, bool) or value in option.choices:
            return value
        others = "".join(f' or "{choice}"' for choice in option.choices)
        raise InputError(f"data set {owner!r}: {key} must be true or false{others}, not {value!r}")
    if option.kind in ("count", "number"):
        whole = option.kind == "count"
        # bool is an int in Python, but n_train = true is a mistake and not 1.
        of_kind = isinstance(value, int if whole else int | float) and not isinstance(value, bool)
        infinite = float("inf")
        high = infinite if option.maximum is None else option.maximum
        if of_kind and option.minimum <= value <= high and value != infinite:  # type: ignore[operator]
            return value
        what = "whole number" if whole else "finite number"
        span = f">= {option.minimum}" if option.maximum is None else f"in {option.minimum} to {high}"
        raise InputError(f"data set {owner!r}: {key} must be a {what} {span}, not {value!r}")
    if option.kind == "names":
        return _names(owner, key, value)
    text = str(value) if isinstance(value, int) and not isinstance(value, bool) else value
    if not isinstance(text, str):
        raise InputError(f"data set {owner!r}: {key} must be a string, not {value!r}")
    if option.choices and text not in option.choices:
        raise InputError(f"data set {owner!r}: {key} = {text!r}; {did_you_mean(text, option.choices)}")
    return text


def _names(owner: str, key: str, value: Any) -> tuple[str, ...]:
    given = value if isinstance(value, list | tuple) else [value]
    names = [str(each) for each in given if type(each) in (str, int)]
    if len(names) < len(given):
        raise InputError(f"data set {owner!r}: {key} must be a list of columns, not {value!r}")
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise InputError(f"data set {owner!r}: {key} names {twice[0]!r} twice")
    return tuple(names)
