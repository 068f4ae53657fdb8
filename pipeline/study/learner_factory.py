"""Learners as a study names them: found, asked what they are, and made with their parameters."""

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
from .class_weights import by_code
from .strategies import KEYS, STRATEGIES


@dataclass(frozen=True)
class ResolvedLearner:
    """A learner that a study names, and what a plan must know of it.

    Attributes
    ----------
    name : str
    factory : type, Template or None
        Its class, or the template of an object; None where that cannot be had.
    package : str
        Of a class named by its place: what it comes from, with the version.
    problem : str
        Why its cells cannot be computed, "" where they can.
    """

    name: str
    factory: type | Template | None
    package: str = ""
    problem: str = ""

    @cached_property
    def built_in(self) -> bool:
        """Whether it is one of the table's, not somebody else's."""
        return not self.package and registry.is_built_in(self.factory)

    @cached_property
    def parameters(self) -> frozenset[str]:
        """Names of the constructor's parameters; of a guest also ``batch``."""
        if self.built_in:
            return frozenset(self._constructed({}).get_params())
        more = {"batch"} if takes_batches(self.factory) else set()
        return self._own_parameters | more

    @cached_property
    def _own_parameters(self) -> frozenset[str]:
        if hasattr(self.factory, "get_params"):
            # What needs an argument cannot be asked.
            with contextlib.suppress(TypeError, ValueError, GuestError):
                return frozenset(self._constructed({}).get_params())
        return frozenset(name for name, each in self._signature.items() if each.kind != each.VAR_KEYWORD)

    @cached_property
    def _signature(self) -> Mapping[str, inspect.Parameter]:
        return {} if self.factory is None else inspect.signature(self.factory).parameters

    @cached_property
    def float_parameters(self) -> frozenset[str]:
        """Parameters with a float as default; empty for other libraries, where 1 and 1.0 may differ."""
        defaults = self._signature.items() if self.built_in else ()
        return frozenset(name for name, each in defaults if isinstance(each.default, float))

    def takes(self, parameter: str) -> bool:
        """Tell whether it has a parameter; yes where nobody knows."""
        open_ended = any(each.kind == each.VAR_KEYWORD for each in self._signature.values())
        return self.factory is None or open_ended or parameter in self.parameters

    def batch_size(self, params: Mapping[str, Any]) -> int:
        """Return how many rows it predicts before it learns them."""
        return int(params.get("batch", 1)) if self._batch_is_ours else 1

    @property
    def _batch_is_ours(self) -> bool:
        return not self.built_in and "batch" not in self._own_parameters

    def state_parameter(self, params: Mapping[str, Any]) -> str | None:
        """Return the parameter that its own draws begin with, None where there is none that nobody sets."""
        for name in () if self.built_in else STATES:
            declared = self._signature.get(name)
            if declared is not None and declared.default is None and name not in params:
                return name
        return None

    @property
    def by_partial_fit(self) -> bool:
        """Whether it learns by ``partial_fit``."""
        learner = self.factory.thing if isinstance(self.factory, Template) else self.factory
        return hasattr(learner, "partial_fit")

    @property
    def version(self) -> int | str:
        """Raised by the learner whenever its outcomes change; of one in a plug-in file also what is in there.

        Nobody raises a version while writing a learner, and its old cells would be taken for its new ones.
        """
        if self.package or not isinstance(self.factory, type):
            return self.package
        declared: int = getattr(self.factory, "algorithm_version", 1)
        content = registry.content_of(self.factory)
        return declared if content is None else f"{declared}+{content[:16]}"

    @property
    def batch(self) -> bool:
        """Whether it is fitted to the whole training part and predicts nothing along the stream."""
        return self.built_in and registry.is_batch(self.factory)

    @property
    def linear(self) -> bool:
        """Whether it is one of this package's that have no support set."""
        return self.built_in and registry.is_linear(self.factory)

    def scores_linearly(self, params: Mapping[str, Any]) -> bool:
        """Whether a linear learner with such parameters scores all rows by one vector of weights."""
        return bool(self.make(params).scores_are_linear)

    def make(
        self,
        params: Mapping[str, Any],
        state: Callable[[], int] | None = None,
        classes: Sequence[str] | None = None,
    ) -> Any:
        """Return a fresh learner; see `make_learner`.

        Parameters
        ----------
        params : mapping
        state : callable, default=None
            Returns what a strategy's draws begin with, and a guest's own where its parameters do not say.
        classes : sequence of str, default=None
            The names of the classes by their codes, which weights of them are then given by.

        Returns
        -------
        object

        Raises
        ------
        GuestError
            It cannot be had.
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
        """Raise TypeError or ValueError for parameters that the learner does not take.

        A constructor of somebody else's that raises something else is left to its cells, which then fail.
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
        # A learner of the user's own may declare nothing to check: its cells then say what is wrong.
        if hasattr(made, "check_parameters"):
            made.check_parameters()
        elif hasattr(made, "_parameter_constraints"):
            made._validate_params()

    def takes_many_classes(self, params: Mapping[str, Any]) -> bool:
        """Tell whether it takes more than two classes; yes of one that does not say."""
        if self.problem:
            return True
        try:
            made = self.make(params)
        except (TypeError, GuestError):  # it needs arguments, which are not asked for here, or it fails
            return True
        tags = getattr(made, "__sklearn_tags__", None)
        if tags is None:
            # River's way to say so.
            return bool(getattr(made, "_multiclass", True))
        told = tags().classifier_tags
        return told is None or bool(told.multi_class)


def resolve_learner(name: str) -> ResolvedLearner:
    """Find a learner by its name.

    Parameters
    ----------
    name : str
        As `singlepass.learners.available` lists it, or the place of a class: ``module:Class``.

    Returns
    -------
    ResolvedLearner

    Raises
    ------
    InputError
        There is none of this name.
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


# Asked for by every cell: what is found out of a class is found out once.
@functools.lru_cache(maxsize=128)
def _resolved(name: str, factory: type | Template, package: str = "") -> ResolvedLearner:
    return ResolvedLearner(name, factory, package)


def _given_learner(name: str) -> ResolvedLearner:
    """Return the learner that was given to a study as an object or as a class of a notebook."""
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
    """Tell whether there is a learner of a name."""
    try:
        return not resolve_learner(name).problem
    except InputError:
        return False


def make_learner(name: str, params: Mapping[str, Any]) -> Any:
    """Return a fresh learner.

    Parameters
    ----------
    name : str
        As `singlepass.learners.available` lists it.
    params : mapping
        Its parameters; with ``query`` (a name of `STRATEGIES`) and its key the strategy that asks for its
        labels.

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
    return resolve_learner(name).make(params)
