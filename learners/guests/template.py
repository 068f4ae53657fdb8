"""Create learners from an object: each run of a study gets an untrained copy of it."""

from __future__ import annotations

import copy
import inspect
import itertools
import operator
from collections.abc import Callable
from typing import Any

from sklearn.base import clone

# Names of constructor parameters that are seeds.
STATES = ("random_state", "seed")


class Template:
    """A learner object from which untrained copies are made; the object itself is never trained.

    Learners of scikit-learn and River are cloned, which leaves out what they have learned. Any other object
    is deep-copied with all that it has learned, so it must be given untrained.

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> Template(SGDClassifier(alpha=0.1))(random_state=3)
    SGDClassifier(alpha=0.1, random_state=3)
    """

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        is_class = inspect.isclass(thing)
        self._of_river = _is_of_river(thing)
        self._cloned = not is_class and hasattr(thing, "get_params")
        parameters = thing.get_params() if self._cloned else {}
        # If the object, or a model in it, has seed parameters that are None, copies take one parameter
        # `random_state`, which sets all of them.
        if _lacks_seed(self.content) if self._of_river else self._seeded(0):
            parameters = {**parameters, "random_state": None}
        self.__signature__ = inspect.Signature(
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
                for name, value in parameters.items()
                if name.isidentifier()
            ]
        )

    def __call__(self, random_state: int | None = None, **params: Any) -> Any:
        """Return a copy with the given parameters; `random_state` replaces seed parameters that are None."""
        if self._of_river:
            # Models of a list differ in their seeds, since members of an ensemble with equal draws are equal.
            states = itertools.repeat(None) if random_state is None else itertools.count(random_state)
            parameters = _replaced(
                self.thing._get_params(), lambda each: Template(each)(next(states)), random_state
            )
            return self.thing.clone(parameters)
        if not self._cloned:
            made = copy.deepcopy(self.thing)
            for name, state in self._seeded(random_state).items():
                setattr(made, name, state)
            return made
        made, changed = clone(self.thing), {**self._seeded(random_state), **params}
        return made.set_params(**changed) if changed else made

    @property
    def content(self) -> Any:
        """What the learner's digest covers: a River model's type and parameters, else an untrained copy."""
        if self._of_river:
            parameters = _replaced(self.thing._get_params(), lambda each: Template(each).content)
            return [type(self.thing), parameters]
        # Earlier versions did not set the seeds of such objects; their cells have another digest.
        return self() if self._cloned or not self._seeded(0) else [self(), "seeded"]

    def _seeded(self, state: int | None) -> dict[str, Any]:
        """Return ``{name: state}`` for the seed parameters that are None of an object that is not River's."""
        if self._cloned:
            params = self.thing.get_params()
        else:
            names = _parameter_names(type(self.thing))
            params = {name: getattr(self.thing, name, "") for name in STATES if name in names}
        return {
            name: state
            for name, value in params.items()
            if value is None and name.rpartition("__")[2] in STATES
        }


def _is_of_river(thing: Any) -> bool:
    return not inspect.isclass(thing) and hasattr(thing, "_get_params") and hasattr(thing, "clone")


def _parameter_names(cls: type) -> set[str]:
    """Return the names of a constructor's parameters; none if it is compiled without them."""
    try:
        return set(inspect.signature(cls).parameters)
    except (TypeError, ValueError):
        return set()


def _replaced(value: Any, model: Callable[[Any], Any], state: int | None = None) -> Any:
    """Replace the models in a parameter, and seeds in it that are None; return the parameter itself if none.

    River's `clone` copies models in lists, and those of scikit-learn, with all that they have learned.
    """
    if isinstance(value, dict):
        named = {
            name: state if each is None and name in STATES else _replaced(each, model, state)
            for name, each in value.items()
        }
        return named if any(named[name] is not each for name, each in value.items()) else value
    if isinstance(value, list | tuple):
        listed = [_replaced(each, model, state) for each in value]
        return type(value)(listed) if any(map(operator.is_not, listed, value)) else value
    if _is_of_river(value):
        return model(value)
    return clone(value) if hasattr(value, "get_params") and not inspect.isclass(value) else value


def _lacks_seed(content: Any) -> bool:
    """Return whether the content of a River model has a seed parameter that is None."""
    if isinstance(content, dict):
        return any((each is None and name in STATES) or _lacks_seed(each) for name, each in content.items())
    return isinstance(content, list | tuple) and any(map(_lacks_seed, content))
