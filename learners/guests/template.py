"""Create learners from an object: each run of a study gets a copy of it."""

from __future__ import annotations

import contextlib
import copy
import inspect
import operator
import random
from collections.abc import Callable
from functools import cached_property
from typing import Any

from sklearn.base import clone

from .guest import signature_of

# Names of constructor parameters that are seeds.
STATES = ("random_state", "seed")


class Template:
    """A learner object from which copies are made; the object itself is never trained.

    Give an untrained object. Learners of scikit-learn and River are cloned, also those in lists, tuples and
    dicts of a River object, but training may have changed their parameters. Any other object is deep-copied
    with all that it has learned.

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
        if self.lacks_seed:
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
            draws = None if random_state is None else random.Random(int(random_state))
            made: dict[int, Any] = {}

            def model(each: Any) -> Any:
                # A model that is listed twice in one object is one model in the copy, too.
                if id(each) not in made:
                    made[id(each)] = Template(each)(None if draws is None else draws.getrandbits(31))
                return made[id(each)]

            return self.thing.clone(_replaced(self.thing._get_params(), model, random_state))
        seeds = {} if random_state is None else dict.fromkeys(self._seeds, random_state)
        if not self._cloned:
            copied = copy.deepcopy(self.thing)
            for name, state in seeds.items():
                setattr(copied, name, state)
            return copied
        cloned, changed = clone(self.thing), {**seeds, **params}
        return cloned.set_params(**changed) if changed else cloned

    @property
    def content(self) -> Any:
        """What the learner's digest covers: a River model's type and parameters, else a copy.

        Earlier versions seeded models in lists and other objects differently, or not at all, so a mark gives
        their cells another digest.
        """
        if self._of_river:
            places: dict[int, int] = {}

            def model(each: Any) -> Any:
                if id(each) in places:
                    return ["again", places[id(each)]]
                places[id(each)] = len(places)
                template = Template(each)
                return [template.content, "drawn"] if template.lacks_seed else template.content

            content = [type(self.thing), _replaced(self.thing._get_params(), model)]
            return [*content, steps] if (steps := _unnamed_steps(self.thing)) else content
        return self() if self._cloned or not self._seeds else [self(), "seeded"]

    @property
    def lacks_seed(self) -> bool:
        """Whether a seed parameter of the object, or of a model in it, is None."""
        return _lacks_seed(self.thing._get_params()) if self._of_river else bool(self._seeds)

    @cached_property
    def _seeds(self) -> list[str]:
        """The names of the seed parameters that are None of an object that is not River's."""
        if not self._cloned:
            return _settable_seeds(self.thing)
        params = self.thing.get_params()
        return [name for name in params if params[name] is None and name.rpartition("__")[2] in STATES]


def _unnamed_steps(thing: Any) -> list[Any]:
    """Return the steps of River's pipelines and unions that are not named after their class, with the class.

    Parameters have a step's name, which is usually its class's name.
    """
    found = []
    own = getattr(thing, "steps", getattr(thing, "transformers", None))
    steps = own if isinstance(own, dict) else {}
    for name in thing._get_params():
        each = steps.get(name, getattr(thing, name, None))
        if _is_of_river(each):
            cls = type(each)
            # River numbers the steps of one class.
            named = name.rstrip("0123456789") == cls.__name__ and cls.__module__.startswith("river.")
            if name in steps and not named:
                found.append([name, cls])
            found += _unnamed_steps(each)
    return found


def _is_of_river(thing: Any) -> bool:
    return not inspect.isclass(thing) and hasattr(thing, "_get_params") and hasattr(thing, "clone")


def _is_model(thing: Any) -> bool:
    """Return whether an object is a model of River or scikit-learn."""
    return _is_of_river(thing) or (hasattr(thing, "get_params") and not inspect.isclass(thing))


def _settable_seeds(thing: Any) -> list[str]:
    """Return the names of seed parameters that are None and that can be set after the constructor."""
    names, found = _parameter_names(type(thing)), []
    for name in STATES:
        # Properties without a setter and frozen objects raise various errors.
        with contextlib.suppress(Exception):
            if name in names and getattr(thing, name) is None:
                setattr(copy.deepcopy(thing), name, 0)
                found.append(name)
    return found


def _parameter_names(cls: type) -> set[str]:
    """Return the names of a constructor's parameters; none if it is compiled without them."""
    try:
        return set(signature_of(cls).parameters)
    except (TypeError, ValueError):
        return set()


def _replaced(value: Any, model: Callable[[Any], Any], state: int | None = None) -> Any:
    """Replace the models in a parameter, and seeds in it that are None; return the parameter itself if none.

    River's `clone` copies models in lists, and those of scikit-learn, with all that they have learned.
    """
    if _is_model(value):
        return model(value)
    if isinstance(value, dict):
        named = {
            name: state if each is None and name in STATES else _replaced(each, model, state)
            for name, each in value.items()
        }
        if not any(named[name] is not each for name, each in value.items()):
            return value
        # Copy the dictionary, so that a class such as `defaultdict` is kept.
        copied = copy.copy(value)
        copied.update(named)
        return copied
    if isinstance(value, list | tuple):
        listed = [_replaced(each, model, state) for each in value]
        # Named tuples take their values by `_make`.
        made = getattr(value, "_make", type(value))
        return made(listed) if any(map(operator.is_not, listed, value)) else value
    return value


def _lacks_seed(value: Any) -> bool:
    """Return whether a parameter of a River model contains a seed parameter that is None."""
    if _is_model(value):
        return Template(value).lacks_seed
    if isinstance(value, dict):
        return any((each is None and name in STATES) or _lacks_seed(each) for name, each in value.items())
    return isinstance(value, list | tuple) and any(map(_lacks_seed, value))
