"""Find the learners that a study names, construct them, and determine their parameters."""

from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ValidationError

from ... import learners
from ...learners import registry
from ...learners.guests.given import find_given, is_derived, names_given
from ...learners.guests.guest import signature_of
from ...learners.guests.kinds import as_guest, takes_batches
from ...learners.guests.names import find_guest, names_guest
from ...learners.guests.returned import GuestError, first_line
from ...learners.guests.template import STATES, Template
from ...learners.guests.versions import version_of
from ..errors import InputError, did_you_mean
from .specs import (
    CLASS_WEIGHT,
    KEYS,
    STRATEGIES,
    TUNERS,
    AlgorithmSpec,
    DatasetSpec,
    Scalar,
    by_code,
    weights_of,
)
from .study import Study


@dataclass(frozen=True)
class ResolvedLearner:
    """A learner that a study names: its class, and its properties that matter for planning cells."""

    name: str
    # The learner's class; or, for an object given in a notebook, a template that is copied for each cell.
    # None if it cannot be loaded.
    factory: type | Template | None
    # For a class of another package, named as ``module:Class`` or by an entry point: the package and its
    # version; otherwise "".
    package: str = ""
    # Why cells with this learner cannot be computed; "" if they can.
    problem: str = ""

    @cached_property
    def built_in(self) -> bool:
        """Return whether this package defines the learner, rather than a plug-in or a library."""
        return not self.package and registry.is_built_in(self.factory)

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Return the names of the learner's parameters.

        If it is called through an adapter that can give it several rows at once, ``batch`` is one of them.
        """
        if self.built_in:
            return frozenset(self._constructed({}).get_params())
        more = {"batch"} if takes_batches(self.factory) else set()
        return self._own_parameters | more

    @cached_property
    def _own_parameters(self) -> frozenset[str]:
        if hasattr(self.factory, "get_params"):
            # `get_params` needs an object. Making one fails if the constructor needs an argument: then use
            # its signature, below.
            with contextlib.suppress(TypeError, ValueError, GuestError):
                return frozenset(self._constructed({}).get_params())
        return frozenset(name for name, each in self._signature.items() if each.kind != each.VAR_KEYWORD)

    @cached_property
    def _signature(self) -> Mapping[str, inspect.Parameter]:
        return {} if self.factory is None else signature_of(self.factory).parameters

    @cached_property
    def float_parameters(self) -> frozenset[str]:
        """Return the names of parameters with a float default, in which 1 and 1.0 mean the same.

        There are none for learners of other packages, which may treat 1 and 1.0 differently.
        """
        defaults = self._signature.items() if self.built_in else ()
        return frozenset(name for name, each in defaults if isinstance(each.default, float))

    def takes(self, parameter: str) -> bool:
        """Return whether the learner has a parameter of this name; True if that cannot be known."""
        open_ended = any(each.kind == each.VAR_KEYWORD for each in self._signature.values())
        return self.factory is None or open_ended or parameter in self.parameters

    def batch_size(self, params: Mapping[str, Any]) -> int:
        """Return how many rows at a time the learner predicts and then learns."""
        return int(params.get("batch", 1)) if self._takes_our_batch else 1

    @property
    def _takes_our_batch(self) -> bool:
        """Return whether parameter ``batch`` is for the adapter around the learner, not for the learner."""
        return not self.built_in and "batch" not in self._own_parameters

    def seed_parameters(self, params: Mapping[str, Any]) -> list[str]:
        """Return the names of the learner's seed parameters that `params` do not set; none if built in."""
        found = {} if self.built_in else self._signature
        return [
            name for name in STATES if name in found and found[name].default is None and name not in params
        ]

    @property
    def by_partial_fit(self) -> bool:
        """Return whether the learner learns by ``partial_fit``."""
        learner = self.factory.thing if isinstance(self.factory, Template) else self.factory
        return hasattr(learner, "partial_fit")

    @property
    def version(self) -> int | str:
        """Return the learner's version, a new value of which makes its cells run again."""
        declared: int | str = getattr(self.factory, "algorithm_version", 1)
        given = names_given(self.name)
        if not given and isinstance(self.factory, type) and is_derived(self.factory):
            # Earlier cells may have run machine code from before an edit, so they must have other keys.
            declared = f"{declared}.1"
        if isinstance(self.factory, type) and len(self.seed_parameters({})) > 1:
            # Earlier versions set only the first seed parameter, so their cells must have other keys.
            declared, given = f"{declared}.2", False
        if self.package:
            # Version 1 is left out, so that earlier cells keep their keys. The name of a notebook's learner
            # has a digest, which includes its declared version.
            return self.package if given or declared == 1 else f"{declared}+{self.package}"
        if not isinstance(self.factory, type):
            return ""
        # A plug-in's version includes a hash of the file, because authors rarely raise the version while they
        # write a learner.
        content = registry.content_of(self.factory)
        return declared if content is None else f"{declared}+{content[:16]}"

    @property
    def batch(self) -> bool:
        """Return whether the learner is fitted to all rows at once and makes no online predictions."""
        return self.built_in and registry.is_batch(self.factory)

    @property
    def linear(self) -> bool:
        """Return whether the learner is a linear one of this package: it has weights and no support set."""
        return self.built_in and registry.is_linear(self.factory)

    def scores_linearly(self, params: Mapping[str, Any]) -> bool:
        """Return whether the learner, with these parameters, scores all rows by one weight vector."""
        return bool(self.make(params).scores_are_linear)

    def gives_scores(self, params: Mapping[str, Any], delayed: bool) -> bool:
        """Return whether the learner gives scores along a stream; True if only its cells will know."""
        if self.built_in or self.problem:
            return True
        try:
            return as_guest(self.make(params)).scores_along(delayed)
        except (TypeError, ValueError, GuestError):
            return True

    def make(
        self,
        params: Mapping[str, Any],
        state: Callable[[], int] | None = None,
        classes: Sequence[str] | None = None,
    ) -> Any:
        """Return a new learner, wrapped in a query strategy, tuner or change detector if `params` name one.

        `state` returns a seed. It is called for a strategy that draws random numbers, and for a learner of
        another package if `params` do not set all its seeds. `classes` are the class names in code
        order, for class weights. Raises GuestError if the learner cannot be loaded or its constructor fails.
        """
        if self.problem:
            raise GuestError(self.problem)
        own = by_code(params, classes)
        query, tune, reset = (own.pop(key, None) for key in ("query", "tune", "reset"))
        # Without `tune`, a parameter of this name is the learner's own.
        grid = own.pop("tune_grid") if tune is not None else ""
        asking = {key: own.pop(key) for key in KEYS if query is not None and key in own}
        if self._takes_our_batch:
            own.pop("batch", None)
        seeds = self.seed_parameters(own)
        if seeds and state is not None:
            own |= dict.fromkeys(seeds, state())
        learner = self._constructed(own)
        if tune is not None:
            learner = getattr(learners, TUNERS[tune])(learner, json.loads(grid))
        if reset is not None:
            learner = learners.Resetting(learner, reset)
        return learner if query is None else STRATEGIES[query].around(learner, asking, state)

    def _constructed(self, params: Mapping[str, Any]) -> Any:
        if self.factory is None:
            raise GuestError(self.problem)
        try:
            return self.factory(**params)
        except (TypeError, ValueError):
            raise
        except Exception as error:
            raise GuestError(f"its constructor raised {first_line(error)}") from error

    def check(self, params: Mapping[str, Any]) -> None:
        """Raise TypeError or ValueError for parameters that the learner does not accept."""
        if self.problem:
            return
        for key in ("query", "tune", "reset"):
            if self.package and names_guest(self.name) and key in params:
                raise ValueError(f"{key} works with learners of this package only: remove {key}")
        for key in ("query", "reset"):
            if key in params and getattr(self.factory, "asks_for_labels", False):
                raise ValueError(f"{self.name} decides itself which labels to ask for: remove {key}")
        batch = params.get("batch", 1) if self._takes_our_batch else 1
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
            raise ValueError(f"batch must be a whole number of rows, 1 or more, got {batch!r}")
        try:
            made = self.make(params)
        except GuestError:
            return
        # Check only learners that declare checks; others raise errors when their cells run.
        if hasattr(made, "check_parameters"):
            made.check_parameters()
        elif hasattr(made, "_parameter_constraints"):
            made._validate_params()

    def takes_many_classes(self, params: Mapping[str, Any]) -> bool:
        """Return whether the learner accepts more than two classes; True if it does not declare that."""
        if self.problem:
            return True
        try:
            made = self.make(params)
        except (TypeError, GuestError):  # the learner cannot be constructed with these parameters alone
            return True
        try:
            declared = made.__sklearn_tags__().classifier_tags
        except AttributeError:
            # River's classifiers declare this by `_multiclass`; its wrappers have tags that fail.
            return bool(getattr(made, "_multiclass", True))
        return declared is None or bool(declared.multi_class)


def resolve_learner(name: str, *, again: bool = False) -> ResolvedLearner:
    """Find a learner by its name, or by ``module:Class``; raise InputError if there is none.

    With `again`, files of a class outside this package are read again, in case they have changed.
    """
    if names_given(name):
        return _given_learner(name)
    built_in: Any = registry.built_in(name)
    if built_in is not None:
        return _resolved(name, built_in)
    known = registry.available()
    if name not in known and names_guest(name):
        try:
            return ResolvedLearner(name, *find_guest(name, again=again))
        except ValueError as error:
            raise InputError(f"algorithm {name!r}: {error}") from None
    if name not in known:
        hint = did_you_mean(name, known)
        query = next((each for each, made in STRATEGIES.items() if made.name == name), None)
        if query is not None:
            raise InputError(f"algorithm {name!r} is a strategy: name the learner, with query = {query!r}")
        tune = next((each for each, made in TUNERS.items() if made == name), None)
        if tune is not None:
            raise InputError(f"algorithm {name!r} tunes a grid: name the learner, with tune = {tune!r}")
        if name == "Resetting":
            raise InputError("algorithm 'Resetting' restarts a learner: name the learner, with reset = 'ddm'")
        module, dot, last = name.rpartition(".")
        if dot:
            hint = f"write a class of another package as 'module:Class', '{module}:{last}'"
        raise InputError(
            f"algorithm {name!r} is unknown: {hint}; your own learners need --plugin FILE "
            "(with compare: --with FILE.py:NAME)"
        )
    factory: Any = known[name]
    try:
        return _resolved(name, factory, _package_of(factory, again=again))
    except ValueError as error:
        raise InputError(f"algorithm {name!r}: {error}") from None


def _package_of(factory: type, *, again: bool) -> str:
    """Return the package, with its version, of a learner named by an entry point; "" for any other."""
    if registry.is_built_in(factory) or registry.content_of(factory) is not None:
        return ""
    return version_of({factory.__module__.partition(".")[0]}, again=again)


# Cached, because each of thousands of cells looks its learner up.
@functools.lru_cache(maxsize=128)
def _resolved(name: str, factory: type | Template, package: str = "") -> ResolvedLearner:
    return ResolvedLearner(name, factory, package)


def _given_learner(name: str) -> ResolvedLearner:
    """Return a learner that was given to a study in a notebook, as an object or a class."""
    given = find_given(name)
    if given is None:
        raise InputError(
            f"algorithm {name!r} is an object or a class of a notebook, which this session does not have: "
            "run the cell that makes it, then make the study again"
        )
    try:
        return _resolved(name, given.factory, given.package)
    except GuestError as error:
        return ResolvedLearner(name, None, problem=str(error))


def is_known(name: str) -> bool:
    """Return whether a learner of this name exists and can run."""
    try:
        return not resolve_learner(name).problem
    except InputError:
        return False


def known_learners(study: Study) -> dict[str, ResolvedLearner]:
    """Return the learners of a study's algorithms by label, except those with an unknown name."""
    found = {}
    for each in study.algorithms:
        with contextlib.suppress(InputError):
            found[each.label] = resolve_learner(each.name)
    return found


def missing_learners(learners: Mapping[str, ResolvedLearner]) -> list[str]:
    """Return a message for each algorithm whose learner cannot be loaded; other algorithms still run."""
    return [
        f"algorithm {label!r}: {learner.problem}; its cells are marked failed"
        for label, learner in learners.items()
        if learner.problem
    ]


def left_out(plugins: Sequence[str]) -> list[str]:
    """Return a message for each class in the plug-in files that looks like a learner but cannot be used."""
    return [
        f"plugin file {path}: left out: {reason}"
        for path in plugins
        for reason in registry.left_out(path).values()
    ]


def refuse_left_out(study: Study, plugins: Sequence[str]) -> None:
    """Raise InputError if an algorithm names a class of a plug-in file that cannot be used as a learner."""
    for plugin in plugins:
        reasons = registry.left_out(plugin)
        for algorithm in study.algorithms:
            if algorithm.name in reasons:
                reason = reasons[algorithm.name]
                raise InputError(f"algorithm {algorithm.label!r}: plugin file {plugin}: {reason}")


def refuse_changed(study: Study) -> None:
    """Raise InputError if a learner given in a notebook has changed since the study was made."""
    for algorithm in study.algorithms:
        given = find_given(algorithm.name)
        try:
            changed = given is not None and given.changed
        except ValueError as error:
            raise InputError(f"algorithm {algorithm.label!r}: {error}") from None
        if changed:
            raise InputError(
                f"algorithm {algorithm.label!r}: code or values that it uses have changed since the study "
                "was made: make the Study again"
            )


def grid_points(spec: AlgorithmSpec) -> Iterator[dict[str, Scalar]]:
    """Yield all parameter settings of an algorithm's grid: each combination of values of its lists.

    The last parameter varies fastest. An algorithm without lists has one setting.
    """
    fixed, grid = spec.fixed, spec.grid
    for values in itertools.product(*grid.values()):
        yield {**fixed, **dict(zip(grid, values, strict=True))}


def with_dataset_parameters(
    algorithm: AlgorithmSpec, dataset: DatasetSpec, learner: ResolvedLearner
) -> AlgorithmSpec:
    """Return an algorithm with the parameters that a data set sets for it, where it does not set them itself.

    Parameters for all algorithms are ignored if its learner lacks them; those under the algorithm's label
    override them. An algorithm with `tuned_as` ignores grids, because it uses another algorithm's winner.
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
        made = algorithm.with_parameters({key: _canonical(value, key, learner) for key, value in own.items()})
    _refuse_equal_weights(made)
    return made


def with_canonical_numbers(algorithm: AlgorithmSpec, learner: ResolvedLearner) -> AlgorithmSpec:
    """Return an algorithm in which whole numbers are floats where the learner's parameters are floats.

    ``C = 1`` and ``C = 1.0`` then have the same results, and a grid that contains both is refused.
    """
    _refuse_equal_weights(algorithm)
    given = algorithm.lists | algorithm.fixed
    found = {key: _canonical(value, key, learner) for key, value in given.items()}
    # Compare by repr whether a value changed, because 1 == 1.0 in Python.
    if all(repr(found[key]) == repr(value) for key, value in given.items()):
        return algorithm
    with _named(f"algorithm {algorithm.label!r}"):
        return AlgorithmSpec.model_validate({**algorithm.model_dump(), **found})


def _refuse_equal_weights(algorithm: AlgorithmSpec) -> None:
    """Raise InputError if a grid contains equal class weights, whose texts may differ."""
    weights = [weights_of(each) for each in algorithm.lists.get(CLASS_WEIGHT, [])]
    if any(each in weights[:place] for place, each in enumerate(weights)):
        raise InputError(
            f"algorithm {algorithm.label!r}: the grid of '{CLASS_WEIGHT}' contains a value twice: {weights}"
        )


def _canonical(value: Any, key: str, learner: ResolvedLearner) -> Any:
    if isinstance(value, list):
        return [_canonical(each, key, learner) for each in value]
    whole = isinstance(value, int) and not isinstance(value, bool)
    return float(value) if whole and key in learner.float_parameters else value


@contextlib.contextmanager
def _named(place: str) -> Iterator[None]:
    """Turn a ValidationError in the ``with`` block into an InputError that starts with `place`."""
    try:
        yield
    except ValidationError as error:
        message = error.errors()[0]["msg"].removeprefix("Value error, ")
        raise InputError(f"{place}: {message}") from None
