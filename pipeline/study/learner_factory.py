"""Find the learners that a study names, describe them, make them, and explain missing ones."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ...learners import registry
from ...learners.guests.given import find_given, names_given
from ...learners.guests.kinds import takes_batches
from ...learners.guests.names import find_guest, names_guest
from ...learners.guests.returned import GuestError, first_line
from ...learners.guests.template import STATES, Template
from ..errors import InputError, did_you_mean
from .specs import KEYS, STRATEGIES, by_code
from .study import Study


@dataclass(frozen=True)
class ResolvedLearner:
    """Describe a learner named in a study, with what the plan must know about it.

    Attributes
    ----------
    factory : type, Template or None
        Its class, or the template of an object; None if it cannot be loaded.
    package : str
        For a class named as ``module:Class``: its package with the version; otherwise "".
    problem : str
        Why its cells cannot be computed; "" if they can.
    """

    name: str
    factory: type | Template | None
    package: str = ""
    problem: str = ""

    @cached_property
    def built_in(self) -> bool:
        """Return whether the learner is in this package's table, rather than in a plug-in or a library."""
        return not self.package and registry.is_built_in(self.factory)

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Return the names of the constructor's parameters; for a batch-predicting guest also ``batch``."""
        if self.built_in:
            return frozenset(self._constructed({}).get_params())
        more = {"batch"} if takes_batches(self.factory) else set()
        return self._own_parameters | more

    @cached_property
    def _own_parameters(self) -> frozenset[str]:
        if hasattr(self.factory, "get_params"):
            # A class whose constructor needs an argument cannot be asked for its parameters.
            with contextlib.suppress(TypeError, ValueError, GuestError):
                return frozenset(self._constructed({}).get_params())
        return frozenset(name for name, each in self._signature.items() if each.kind != each.VAR_KEYWORD)

    @cached_property
    def _signature(self) -> Mapping[str, inspect.Parameter]:
        return {} if self.factory is None else inspect.signature(self.factory).parameters

    @cached_property
    def float_parameters(self) -> frozenset[str]:
        """Return the parameters with a float default; empty for guests, for which 1 and 1.0 may differ."""
        defaults = self._signature.items() if self.built_in else ()
        return frozenset(name for name, each in defaults if isinstance(each.default, float))

    def takes(self, parameter: str) -> bool:
        """Return whether the learner has a parameter; True if that cannot be known."""
        open_ended = any(each.kind == each.VAR_KEYWORD for each in self._signature.values())
        return self.factory is None or open_ended or parameter in self.parameters

    def batch_size(self, params: Mapping[str, Any]) -> int:
        """Return how many rows the learner predicts before it learns them."""
        return int(params.get("batch", 1)) if self._batch_is_ours else 1

    @property
    def _batch_is_ours(self) -> bool:
        return not self.built_in and "batch" not in self._own_parameters

    def state_parameter(self, params: Mapping[str, Any]) -> str | None:
        """Return the name of the seed parameter, or None if there is none or the study sets it."""
        for name in () if self.built_in else STATES:
            declared = self._signature.get(name)
            if declared is not None and declared.default is None and name not in params:
                return name
        return None

    @property
    def by_partial_fit(self) -> bool:
        """Return whether the learner learns by ``partial_fit``."""
        learner = self.factory.thing if isinstance(self.factory, Template) else self.factory
        return hasattr(learner, "partial_fit")

    @property
    def version(self) -> int | str:
        """Return the version that enters the cell's key; for a plug-in it includes a hash of its content.

        Authors rarely raise a version while they write a learner. Without the hash, results of the old code
        would count as results of the new code.
        """
        if self.package or not isinstance(self.factory, type):
            return self.package
        declared: int = getattr(self.factory, "algorithm_version", 1)
        content = registry.content_of(self.factory)
        return declared if content is None else f"{declared}+{content[:16]}"

    @property
    def batch(self) -> bool:
        """Return whether it is fitted to the whole training part at once and makes no online predictions."""
        return self.built_in and registry.is_batch(self.factory)

    @property
    def linear(self) -> bool:
        """Return whether it is one of this package's linear learners, which have no support set."""
        return self.built_in and registry.is_linear(self.factory)

    def scores_linearly(self, params: Mapping[str, Any]) -> bool:
        """Return whether the learner, with these parameters, scores all rows by one weight vector."""
        return bool(self.make(params).scores_are_linear)

    def make(
        self,
        params: Mapping[str, Any],
        state: Callable[[], int] | None = None,
        classes: Sequence[str] | None = None,
    ) -> Any:
        """Return a new learner, inside its active strategy if `params` name one; see `make_learner`.

        `state` returns the seed of the strategy's draws, and of a guest's draws if `params` do not set it.
        `classes` are the class names in code order, by which class weights are translated. Raises GuestError
        if the learner cannot be loaded or its constructor fails.
        """
        if self.problem:
            raise GuestError(self.problem)
        own = by_code(params, classes)
        query = own.pop("query", None)
        asking = {key: own.pop(key) for key in KEYS if query is not None and key in own}
        if self._batch_is_ours:
            own.pop("batch", None)
        name = self.state_parameter(own)
        if name is not None and state is not None:
            own[name] = state()
        learner = self._constructed(own)
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
        """Raise TypeError or ValueError for parameters that the learner does not accept.

        If a guest's constructor raises another exception, nothing is raised here; its cells then fail.
        """
        if self.problem:
            return
        if self.package and "query" in params:
            raise ValueError("query is a strategy around learners of this package")
        if "query" in params and getattr(self.factory, "asks_for_labels", False):
            raise ValueError(f"{self.name} decides itself which labels to ask for: leave query out")
        batch = params.get("batch", 1) if self._batch_is_ours else 1
        if isinstance(batch, bool) or not isinstance(batch, int) or batch < 1:
            raise ValueError(f"batch must be a whole number of rows, 1 or more, got {batch!r}")
        try:
            made = self.make(params)
        except GuestError:
            return
        # A user's learner may declare no checks: its cells then report what is wrong.
        if hasattr(made, "check_parameters"):
            made.check_parameters()
        elif hasattr(made, "_parameter_constraints"):
            made._validate_params()

    def takes_many_classes(self, params: Mapping[str, Any]) -> bool:
        """Return whether the learner accepts more than two classes; True if it does not say."""
        if self.problem:
            return True
        try:
            made = self.make(params)
        except (TypeError, GuestError):  # needs arguments unknown here, or fails
            return True
        tags = getattr(made, "__sklearn_tags__", None)
        if tags is None:
            # River declares it this way.
            return bool(getattr(made, "_multiclass", True))
        told = tags().classifier_tags
        return told is None or bool(told.multi_class)


def resolve_learner(name: str) -> ResolvedLearner:
    """Find a learner by its name in `singlepass.learners.available` or by its place, ``module:Class``.

    Raises InputError if no learner has this name.
    """
    if names_given(name):
        return _given_learner(name)
    known = registry.available()
    if name not in known and names_guest(name):
        try:
            return ResolvedLearner(name, *find_guest(name))
        except ValueError as error:
            raise InputError(f"algorithm {name!r}: {error}") from None
    if name not in known:
        hint = did_you_mean(name, known)
        query = next((each for each, made in STRATEGIES.items() if made.name == name), None)
        if query is not None:
            raise InputError(f"algorithm {name!r} is a strategy: name the learner, with query = {query!r}")
        module, dot, last = name.rpartition(".")
        if dot:
            hint = f"a class elsewhere is named by 'module:Class', '{module}:{last}'"
        raise InputError(f"algorithm {name!r} is unknown: {hint}; your own ones need --plugin FILE")
    factory: Any = known[name]
    return _resolved(name, factory)


# Every cell asks for its learner: the facts about a class are computed once.
@functools.lru_cache(maxsize=128)
def _resolved(name: str, factory: type | Template, package: str = "") -> ResolvedLearner:
    return ResolvedLearner(name, factory, package)


def _given_learner(name: str) -> ResolvedLearner:
    """Return the learner that was given to a study as a notebook object or class."""
    given = find_given(name)
    if given is None:
        raise InputError(
            f"algorithm {name!r} is an object or a class of a notebook, which this session does not have: "
            "run the cell that makes it, and the study with it"
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


def make_learner(name: str, params: Mapping[str, Any]) -> Any:
    """Return a new learner with these parameters.

    With ``query`` (a name of `STRATEGIES`) and its key among `params`, the learner is wrapped in the active
    strategy that asks for its labels.

    Examples
    --------
    >>> make_learner("AROW", {"r": 0.1})
    AROW(r=0.1)
    >>> make_learner("AROW", {"r": 0.1, "query": "greedy", "h": 3})
    Greedy(h=3, learner=AROW(r=0.1))
    """
    return resolve_learner(name).make(params)


def known_learners(study: Study) -> dict[str, ResolvedLearner]:
    """Return the learners of a study's algorithms by label, without the algorithms whose name is unknown."""
    found = {}
    for each in study.algorithms:
        with contextlib.suppress(InputError):
            found[each.label] = resolve_learner(each.name)
    return found


def missing_learners(learners: Mapping[str, ResolvedLearner]) -> list[str]:
    """Return one line for each algorithm whose learner cannot be loaded; the other algorithms still run."""
    return [
        f"algorithm {label!r}: {learner.problem}; its cells are marked failed"
        for label, learner in learners.items()
        if learner.problem
    ]


def left_out(plugins: Sequence[str]) -> list[str]:
    """Return a line for each class of the loaded plug-ins that predicts or learns but is not a learner."""
    return [
        f"plugin file {path}: left out: {reason}"
        for path in plugins
        for reason in registry.left_out(path).values()
    ]


def refuse_left_out(study: Study, plugins: Sequence[str]) -> None:
    """Raise InputError if an algorithm names a class of a loaded plug-in file that is not a learner."""
    for plugin in plugins:
        reasons = registry.left_out(plugin)
        for algorithm in study.algorithms:
            if algorithm.name in reasons:
                reason = reasons[algorithm.name]
                raise InputError(f"algorithm {algorithm.label!r}: plugin file {plugin}: {reason}")


def refuse_changed(study: Study) -> None:
    """Raise InputError if a notebook object or class has changed since the study was made."""
    for algorithm in study.algorithms:
        given = find_given(algorithm.name)
        if given is not None and given.changed:
            raise InputError(
                f"algorithm {algorithm.label!r}: code or values that it uses have changed since the study "
                "was made: make the Study again"
            )
