"""Convert algorithms given in a notebook (names, tables, estimators) to ``[[algorithms]]`` tables."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Mapping
from typing import Any

from ...learners import ExponentialWeights, FollowTheLeader, QueryAll, Resetting, registry
from ...learners.guests.given import give, importable
from ...pipeline.data import class_name
from ...pipeline.errors import InputError
from ...pipeline.study.specs import CLASS_WEIGHT, STRATEGIES, TUNERS, AlgorithmSpec
from .results import plain


def algorithm_tables(given: Any) -> list[dict[str, Any]]:
    """Return a study's ``[[algorithms]]`` tables for one or several names, tables, estimators or classes.

    The keys of a mapping are labels of algorithms; but a mapping with the key ``name`` is one table.

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
    name = given["name"] if isinstance(given, Mapping) else given
    own = {"name": name} if isinstance(name, str) else estimator_table(name)
    return {**own, **plain(given), "name": own["name"]} if isinstance(given, Mapping) else own


def estimator_table(estimator: Any) -> dict[str, Any]:
    """Return the table of an estimator or class: its name, and the parameters that differ from the defaults.

    The name of a class of another library is ``"module:Class"``, with the shortest module that contains it.
    An estimator that a study file cannot express (a pipeline, a class defined in the notebook, a parameter
    that is an object or is named like a key of the table) is pickled, and named by its class and a digest.
    Raises InputError if it cannot learn along a stream or be copied.
    """
    if isinstance(estimator, type):
        return _class_table(estimator)
    wraps = isinstance(estimator, QueryAll | FollowTheLeader | ExponentialWeights | Resetting)
    if wraps and estimator.epochs != 1:
        name = type(estimator).__name__
        raise InputError(f"algorithms: {name}: leave epochs out: it makes one pass in a study")
    if isinstance(estimator, QueryAll):
        return _around(estimator, _strategy_keys(estimator))
    if isinstance(estimator, FollowTheLeader | ExponentialWeights):
        return _around(estimator, _tuning_keys(estimator))
    if isinstance(estimator, Resetting):
        return _around(estimator, {"reset": estimator.detector})
    parameters = _parameters(estimator)
    return _given_table(estimator) if parameters is None else _class_table(type(estimator)) | parameters


def _around(estimator: Any, own: dict[str, Any]) -> dict[str, Any]:
    """Return the table of the learner inside an estimator, with the estimator's own keys."""
    inner = estimator_table(estimator.learner)
    if twice := inner.keys() & own.keys() & {"query", "reset", "tune"}:
        name, key = type(estimator).__name__, min(twice)
        raise InputError(
            f"algorithms: {name}: its learner has {key!r} already: an algorithm has one {key!r} at most"
        )
    return inner | own


def _class_table(cls: type[Any]) -> dict[str, Any]:
    name = _importable_name(cls)
    return _given_table(cls) if name is None else {"name": name}


def _given_table(estimator: Any) -> dict[str, Any]:
    """Pickle an estimator or class, and return its ``[[algorithms]]`` table, with a digest in its name."""
    try:
        given = give(estimator)
    except ValueError as error:
        raise InputError(f"algorithms: {error}") from None
    return {"name": given.name, "label": given.label}


def _parameters(estimator: Any) -> dict[str, Any] | None:
    """Return the parameters of an estimator that are not defaults, or None if a study cannot express them."""
    cls, found = type(estimator), {}
    ask = next((name for name in ("get_params", "_get_params") if hasattr(cls, name)), None)
    if ask is None:
        return None
    # River's `_get_params` takes no argument.
    deep = {"deep": False} if ask == "get_params" else {}
    default = {}
    # The constructor fails if it has required arguments. Then defaults are unknown, and all parameters are
    # written.
    with contextlib.suppress(Exception):
        default = getattr(cls(), ask)(**deep)
    try:
        given = getattr(estimator, ask)(**deep)
    except Exception:
        return None
    for key, value in given.items():
        if key in default and _same(value, default[key]):
            continue
        # A table would take such a parameter for its own key.
        if key in AlgorithmSpec.model_fields:
            return None
        made = plain(value)
        if key == CLASS_WEIGHT and isinstance(value, Mapping):
            # A class label may be 1.0 or True here: write it as the data set names the class.
            made = {class_name(label): plain(weight) for label, weight in value.items()}
        elif not isinstance(made, str | bool | int | float):
            return None
        found[key] = made
    return found


def _strategy_keys(estimator: QueryAll) -> dict[str, Any]:
    # Search backwards, because the first strategy is QueryAll, the base class of all others: it matches each.
    query, strategy = next(
        each for each in reversed(STRATEGIES.items()) if isinstance(estimator, each[1].factory)
    )
    if strategy.draws and estimator.get_params(deep=False)["random_state"] != 0:
        raise InputError(
            f"algorithms: {estimator!r}: leave random_state out: the study sets it for each repetition"
        )
    own = {strategy.key: plain(getattr(estimator, strategy.parameter))} if strategy.key else {}
    return {"query": query, **own}


def _tuning_keys(estimator: FollowTheLeader | ExponentialWeights) -> dict[str, Any]:
    name = type(estimator).__name__
    if isinstance(estimator.learner, Resetting):
        raise InputError(
            f"algorithms: {name}(Resetting(...)): a study restarts all points of a grid together: write "
            f"Resetting({name}(...))"
        )
    if getattr(estimator, "eta", None) is not None:
        raise InputError(f"algorithms: {estimator!r}: leave eta out: a study always uses its default")
    tune = next(key for key, each in TUNERS.items() if each == name)
    return {"tune": tune, **{key: plain(list(values)) for key, values in estimator.grid.items()}}


def _same(value: Any, default: Any) -> bool:
    pair = plain(value), plain(default)
    if all(isinstance(each, int | float) for each in pair):
        return bool(pair[0] == pair[1]) or repr(pair[0]) == repr(pair[1])
    # Estimators and arrays have no simple equality, so their representations are compared.
    return value is default or repr(pair[0]) == repr(pair[1])


def _importable_name(cls: type) -> str | None:
    """Return the name by which a study refers to a class, or None if other processes cannot import it."""
    for name, learner in registry.available().items():
        if learner is cls:
            return name
    if not importable(cls):
        return None
    modules = cls.__module__.split(".")
    for n in range(1, len(modules) + 1):
        module = ".".join(modules[:n])
        if getattr(sys.modules.get(module), cls.__qualname__, None) is cls:
            return f"{module}:{cls.__qualname__}"
    return f"{cls.__module__}:{cls.__qualname__}"
