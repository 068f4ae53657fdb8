"""Algorithms as a notebook gives them (names, tables, estimators) to the tables of a study."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from ...learners import QueryAll, registry
from ...pipeline.data import class_name
from ...pipeline.errors import InputError
from ...pipeline.study.class_weights import CLASS_WEIGHT
from ...pipeline.study.strategies import STRATEGIES
from .plain import plain


def algorithm_tables(given: Any) -> list[dict[str, Any]]:
    """Return the ``[[algorithms]]`` of a study.

    Parameters
    ----------
    given : str, mapping, estimator, class, or a list or mapping of such
        Of a mapping the keys are labels, unless it is a table itself: one with a ``name``.

    Raises
    ------
    InputError

    Examples
    --------
    >>> from singlepass.learners import AROW
    >>> algorithm_tables(["Perceptron", AROW(r=0.1), {"name": "AROW", "r": [1, 10], "label": "tuned"}])
    [{'name': 'Perceptron'}, {'name': 'AROW', 'r': 0.1}, {'name': 'AROW', 'r': [1, 10], 'label': 'tuned'}]
    >>> algorithm_tables({"a tenth": AROW(r=0.1)})
    [{'name': 'AROW', 'r': 0.1, 'label': 'a tenth'}]
    """
    if isinstance(given, Mapping) and "name" not in given:
        return [_table(each) | {"label": str(label)} for label, each in given.items()]
    return [_table(each) for each in (given if isinstance(given, list | tuple) else [given])]


def _table(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        return {"name": given}
    if isinstance(given, Mapping):
        table: dict[str, Any] = plain(given)
        return table
    return estimator_table(given)


def estimator_table(estimator: Any) -> dict[str, Any]:
    """Return what a study file would say of an estimator: its name and the parameters that it was given.

    Parameters
    ----------
    estimator : object or type
        With ``get_params``, as scikit-learn's have. A learner is called by its own name, any other class
        ``"module:Class"``, by the shortest module that has it. Parameters at their default are left out.

    Returns
    -------
    dict

    Raises
    ------
    InputError
        It is no estimator, others could not import its class, or a parameter is nothing that a study file
        can hold.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> estimator_table(SGDClassifier(learning_rate="pa1", alpha=0))
    {'name': 'sklearn.linear_model:SGDClassifier', 'alpha': 0, 'learning_rate': 'pa1'}
    """
    if isinstance(estimator, type):
        # Nothing of it was given.
        return {"name": _name(estimator)}
    if isinstance(estimator, QueryAll):
        return estimator_table(estimator.learner) | _strategy_keys(estimator)
    cls = type(estimator)
    name = _name(cls)
    given = estimator.get_params(deep=False)
    try:
        default = cls().get_params(deep=False)
    except TypeError:
        # What has no default has to be said.
        default = {}
    table: dict[str, Any] = {"name": name}
    for key, value in given.items():
        if key in default and _same(value, default[key]):
            continue
        made = plain(value)
        if key == CLASS_WEIGHT and isinstance(value, Mapping):
            # As the data name their classes: a label may be 1.0 or True.
            made = {class_name(label): plain(weight) for label, weight in value.items()}
        is_plain = isinstance(made, dict if key == CLASS_WEIGHT else str | bool | int | float)
        if not (is_plain or isinstance(made, str)):
            raise InputError(
                f"algorithms: {cls.__name__}({key}={value!r}): a study file holds numbers, texts and truth "
                "values: leave the parameter out, or put the estimator into a plug-in"
            )
        table[key] = made
    return table


def _strategy_keys(estimator: QueryAll) -> dict[str, Any]:
    # All others are derived from the first.
    query, strategy = next(
        each for each in reversed(STRATEGIES.items()) if isinstance(estimator, each[1].factory)
    )
    if strategy.draws and estimator.get_params(deep=False)["random_state"] != 0:
        raise InputError(
            f"algorithms: {estimator!r}: in a study the repetition says what its draws begin with: leave "
            "random_state out"
        )
    own = {strategy.key: plain(getattr(estimator, strategy.parameter))} if strategy.key else {}
    return {"query": query, **own}


def _same(value: Any, default: Any) -> bool:
    # Estimators and arrays have no plain equality; their words have.
    return value is default or repr(plain(value)) == repr(plain(default)) or _equal_numbers(value, default)


def _equal_numbers(value: Any, default: Any) -> bool:
    pair = plain(value), plain(default)
    return all(isinstance(each, int | float) for each in pair) and pair[0] == pair[1]


def _name(cls: type) -> str:
    """Return how a study names a class."""
    for name, learner in registry.available().items():
        if learner is cls:
            return name
    what = f"algorithms: {cls.__module__}.{cls.__qualname__}"
    if not callable(getattr(cls, "get_params", None)):
        raise InputError(f"{what} has no get_params: give a name, a table or an estimator")
    if cls.__module__ == "__main__" or "<locals>" in cls.__qualname__:
        raise InputError(
            f"{what}: a class that is defined in a notebook cannot be found by workers: put it into a file "
            "and name that in plugins = [...]"
        )
    modules = cls.__module__.split(".")
    for n in range(1, len(modules) + 1):
        module = ".".join(modules[:n])
        if getattr(sys.modules.get(module), cls.__qualname__, None) is cls:
            return f"{module}:{cls.__qualname__}"
    return f"{cls.__module__}:{cls.__qualname__}"
