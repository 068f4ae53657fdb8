"""Expand an algorithm of a study: its grid points, its parameters on a data set, and what its cells share."""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from ..errors import InputError
from .cell import Execution, Params
from .learner_factory import ResolvedLearner
from .specs import AlgorithmSpec, DatasetSpec, Scalar


def grid_points(spec: AlgorithmSpec) -> Iterator[dict[str, Scalar]]:
    """Yield the parameter settings of an algorithm: the product of its lists, the last one fastest.

    Examples
    --------
    >>> spec = AlgorithmSpec.model_validate({"name": "AROW", "loss": "hinge", "r": [0.1, 1.0]})
    >>> list(grid_points(spec))
    [{'loss': 'hinge', 'r': 0.1}, {'loss': 'hinge', 'r': 1.0}]
    """
    fixed, grid = spec.fixed, spec.grid
    for values in itertools.product(*grid.values()):
        yield {**fixed, **dict(zip(grid, values, strict=True))}


def with_dataset_parameters(
    algorithm: AlgorithmSpec, dataset: DatasetSpec, learner: ResolvedLearner
) -> AlgorithmSpec:
    """Return an algorithm with the data set's parameters that its learner has.

    Parameters under the algorithm's label override those for all algorithms. An algorithm with `tuned_as`
    ignores the data set's grids, because it takes the winner of the other algorithm.
    """
    given: dict[str, Scalar | list[Scalar]] = {}
    for key, value in dataset.parameters.items():
        if not isinstance(value, dict) and key in learner.parameters:
            given[key] = value
    named = dataset.parameters.get(algorithm.label)
    given |= named if isinstance(named, dict) else {}
    own = {key: value for key, value in given.items() if not (algorithm.tuned_as and isinstance(value, list))}
    if not own:
        return algorithm
    with _named(f"algorithm {algorithm.label!r} on data set {dataset.label!r}"):
        return algorithm.with_parameters({key: _canonical(value, key, learner) for key, value in own.items()})


def with_canonical_numbers(algorithm: AlgorithmSpec, learner: ResolvedLearner) -> AlgorithmSpec:
    """Return an algorithm whose whole numbers are floats wherever the learner's parameters are floats.

    This makes ``C = 1`` and ``C = 1.0`` the same cell, and a grid that names both is refused.

    Examples
    --------
    >>> from .learner_factory import resolve_learner
    >>> spec = AlgorithmSpec.model_validate({"name": "AROW", "r": [1, 2.5], "epochs": 2})
    >>> spec = with_canonical_numbers(spec, resolve_learner("AROW"))
    >>> spec.grid, spec.fixed
    ({'r': [1.0, 2.5]}, {'epochs': 2})
    """
    given = algorithm.grid | algorithm.fixed
    found = {key: _canonical(value, key, learner) for key, value in given.items()}
    # Compare by repr, because 1 == 1.0 in Python.
    if all(repr(found[key]) == repr(value) for key, value in given.items()):
        return algorithm
    with _named(f"algorithm {algorithm.label!r}"):
        return AlgorithmSpec.model_validate({**algorithm.model_dump(), **found})


def _canonical(value: Any, key: str, learner: ResolvedLearner) -> Any:
    if isinstance(value, list):
        return [_canonical(each, key, learner) for each in value]
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and key in learner.float_parameters else value


@contextlib.contextmanager
def _named(what: str) -> Iterator[None]:
    """Name the algorithm in errors about its parameters."""
    try:
        yield
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"{what}: {message}") from None


@dataclass(frozen=True)
class PlannedAlgorithm:
    """Hold what all cells of an algorithm share.

    Attributes
    ----------
    version : int or str
        The version of its learner.
    strategy : dict
        The active strategy around the learner, as parameters.
    """

    algorithm: AlgorithmSpec
    version: int | str
    strategy: dict[str, Scalar]
    execution: Execution

    @cached_property
    def points(self) -> list[Params]:
        """Return the points of the grid, each with the strategy's parameters."""
        return [self.with_strategy(point) for point in grid_points(self.algorithm)]

    def with_strategy(self, params: dict[str, Scalar]) -> Params:
        """Return the parameters of a cell: these and the strategy's, sorted by name."""
        return tuple(sorted({**params, **self.strategy}.items()))
