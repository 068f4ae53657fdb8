"""Learners as a study names them: found, asked what they are, and made with their parameters."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from ...learners import Greedy, QueryAll, registry
from ..errors import InputError, did_you_mean
from .specs import AlgorithmSpec, DatasetSpec, Scalar


@dataclass(frozen=True)
class ResolvedLearner:
    """A learner that a study names, and what a plan must know of it.

    Attributes
    ----------
    name : str
    factory : type
        Its class.
    """

    name: str
    factory: type

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Names of the constructor's parameters."""
        return frozenset(self.factory().get_params())

    @property
    def version(self) -> int | str:
        """Raised by the learner whenever its outcomes change; of one in a plug-in file also what is in there.

        Nobody raises a version while writing a learner, and its old cells would be taken for its new ones.
        """
        declared: int = getattr(self.factory, "algorithm_version", 1)
        content = registry.content_of(self.factory)
        return declared if content is None else f"{declared}+{content[:16]}"

    @property
    def batch(self) -> bool:
        """Whether it is fitted to the whole training part and predicts nothing along the stream."""
        return registry.is_batch(self.factory)

    @property
    def linear(self) -> bool:
        """Whether it is one of this package's that have no support set."""
        return registry.is_linear(self.factory)

    def make(self, params: Mapping[str, Any]) -> Any:
        """Return a fresh learner; see `make_learner`."""
        own = dict(params)
        query, h = own.pop("query", None), own.pop("h", None)
        learner = self.factory(**own)
        if query is None:
            return learner
        return QueryAll(learner) if query == "all" else Greedy(learner, h=h)

    def check(self, params: Mapping[str, Any]) -> None:
        """Raise TypeError or ValueError for parameters that the learner does not take."""
        made = self.make(params)
        # A learner of the user's own may declare nothing to check: its cells then say what is wrong.
        if hasattr(made, "check_parameters"):
            made.check_parameters()
        elif hasattr(made, "_parameter_constraints"):
            made._validate_params()

    def takes_many_classes(self, params: Mapping[str, Any]) -> bool:
        """Tell whether it takes more than two classes; yes of one that does not say."""
        tags = getattr(self.make(params), "__sklearn_tags__", None)
        return tags is None or bool(tags().classifier_tags.multi_class)


def resolve_learner(name: str) -> ResolvedLearner:
    """Find a learner by its name.

    Parameters
    ----------
    name : str
        As `singlepass.learners.available` lists it.

    Returns
    -------
    ResolvedLearner

    Raises
    ------
    InputError
        There is none of this name.
    """
    known = registry.available()
    if name not in known:
        hint = did_you_mean(name, known)
        raise InputError(f"algorithm {name!r} is unknown: {hint}; your own ones need --plugin FILE")
    return ResolvedLearner(name, known[name])


def make_learner(name: str, params: Mapping[str, Any], own: Mapping[str, type] | None = None) -> Any:
    """Return a fresh learner.

    Parameters
    ----------
    name : str
        As `singlepass.learners.available` lists it.
    params : mapping
        Its parameters; with ``query`` ("all" or "greedy") and ``h`` the strategy that asks for its labels.
    own : mapping of str to type, default=None
        Learners of the user's own by name, which come before those that are registered.

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
    if own and name in own:
        return ResolvedLearner(name, own[name]).make(params)
    return resolve_learner(name).make(params)


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
    """Return an algorithm with the parameters that a data set gives to it: those that its learner has.

    Of a data set's grids one that is tuned as another has what wins there.
    """
    own = {
        key: value
        for key, value in dataset.parameters.items()
        if key in learner.parameters and not (algorithm.tuned_as and isinstance(value, list))
    }
    if not own:
        return algorithm
    try:
        return algorithm.with_parameters(own)
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"algorithm {algorithm.label!r} on data set {dataset.label!r}: {message}") from None
