"""A study's algorithm: its parameter settings, and a learner by name with an active strategy if asked for."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from ...learners import Greedy, QueryAll, registry
from ..errors import InputError
from .specs import AlgorithmSpec, DatasetSpec, Scalar


def make_learner(name: str, params: Mapping[str, Any]) -> Any:
    """Return a fresh learner.

    Parameters
    ----------
    name : str
        As `singlepass.learners.available` lists it.
    params : mapping
        Its parameters; with ``query`` ("all" or "greedy") and ``h`` the strategy that asks for its labels.

    Returns
    -------
    estimator

    Examples
    --------
    >>> make_learner("AROW", {"r": 0.1})
    AROW(r=0.1)
    >>> make_learner("AROW", {"r": 0.1, "query": "greedy", "h": 3})
    Greedy(h=3, learner=AROW(r=0.1))
    """
    own = dict(params)
    query = own.pop("query", None)
    if query is None:
        return registry.available()[name](**own)
    h = own.pop("h", None)
    learner = registry.available()[name](**own)
    return QueryAll(learner) if query == "all" else Greedy(learner, h=h)


def grid_points(entry: AlgorithmSpec) -> Iterator[dict[str, Scalar]]:
    """Yield the parameter settings of an algorithm: the product of its lists, the last one fastest.

    Examples
    --------
    >>> entry = AlgorithmSpec.model_validate({"name": "AROW", "loss": "hinge", "r": [0.1, 1.0]})
    >>> list(grid_points(entry))
    [{'loss': 'hinge', 'r': 0.1}, {'loss': 'hinge', 'r': 1.0}]
    """
    for values in itertools.product(*entry.grid.values()):
        yield {**entry.fixed, **dict(zip(entry.grid, values, strict=True))}


def given_by(dataset: DatasetSpec, algorithm: AlgorithmSpec) -> AlgorithmSpec:
    """Return an algorithm with the parameters that a data set gives to it: those that it has."""
    if not dataset.parameters:
        return algorithm
    names = registry.available()[algorithm.name]().get_params()
    own = {key: value for key, value in dataset.parameters.items() if key in names}
    try:
        return algorithm.with_parameters(own)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"algorithm {algorithm.label!r} on data set {dataset.called!r}: {message}") from None
