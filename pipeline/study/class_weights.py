"""Weights of classes: a table in a study, a text in the parameters of a cell, a dictionary for a learner."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

# The learners' parameter.
CLASS_WEIGHT = "class_weight"


def with_weights_as_text(parameters: Any) -> Any:
    """Return parameters with tables of weights, and those in a list, as text.

    A text is hashed, stored and drawn as any other value is; one order of the labels makes equal weights one.

    Parameters
    ----------
    parameters : object
        Of an algorithm or a data set; what is no dictionary is returned as it is.

    Returns
    -------
    object

    Examples
    --------
    >>> with_weights_as_text({"r": 1.0, "class_weight": {"yes": 5, "no": 1}})
    {'r': 1.0, 'class_weight': '{"no": 1, "yes": 5}'}
    """
    if not (isinstance(parameters, dict) and CLASS_WEIGHT in parameters):
        return parameters
    given = parameters[CLASS_WEIGHT]
    made = [_as_text(each) for each in given] if isinstance(given, list) else _as_text(given)
    return {**parameters, CLASS_WEIGHT: made}


def _as_text(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def weights_of(value: Any) -> Any:
    """Return the weights by class that a text stands for, and any other value as it is."""
    if not (isinstance(value, str) and value.startswith("{")):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def by_code(parameters: Mapping[str, Any], classes: Sequence[str] | None) -> dict[str, Any]:
    """Return parameters with weights by the codes of classes, which cells know them by.

    Parameters
    ----------
    parameters : mapping
        Of a cell.
    classes : sequence of str or None
        Their names in the order of the codes; None: the weights stay by name.

    Returns
    -------
    dict

    Raises
    ------
    ValueError
        For a name that no class has.

    Examples
    --------
    >>> by_code({"r": 1.0, "class_weight": '{"yes": 5}'}, ["no", "yes"])
    {'r': 1.0, 'class_weight': {1: 5}}
    """
    found = dict(parameters)
    if CLASS_WEIGHT not in found:
        return found
    weights = weights_of(found[CLASS_WEIGHT])
    if classes is not None and isinstance(weights, dict):
        for name in weights:
            if name not in classes:
                raise ValueError(f"class_weight names class {name!r}, which is none of {', '.join(classes)}")
        weights = {classes.index(name): weight for name, weight in weights.items()}
    return {**found, CLASS_WEIGHT: weights}
