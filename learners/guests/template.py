"""An object as a factory: every cell gets an untrained copy of it."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

# How constructors call what their draws begin with.
STATES = ("random_state", "seed")


class Template:
    """A learner of somebody else's that is copied, never trained itself.

    scikit-learn's and River's are cloned: what they have learnt is left out. Any other is copied as it is.

    Parameters
    ----------
    thing : object

    Examples
    --------
    >>> from sklearn.linear_model import SGDClassifier
    >>> Template(SGDClassifier(alpha=0.1))(random_state=3)
    SGDClassifier(alpha=0.1, random_state=3)
    """

    def __init__(self, thing: Any) -> None:
        self.thing = thing
        is_class = inspect.isclass(thing)
        self._of_river = not is_class and hasattr(thing, "_get_params") and hasattr(thing, "clone")
        self._cloned = not is_class and hasattr(thing, "get_params")
        parameters = thing.get_params() if self._cloned else {}
        # One seed is given to all steps of a pipeline that draw and have none.
        if self._seeded(0):
            parameters = {**parameters, "random_state": None}
        self.__signature__ = inspect.Signature(
            [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=value)
                for name, value in parameters.items()
                if name.isidentifier()
            ]
        )

    def __call__(self, random_state: int | None = None, **params: Any) -> Any:
        """Return a copy with other parameters, which draws from a state where its own are None."""
        if self._of_river:
            return self.thing.clone(self._seeded(random_state))
        if not self._cloned:
            return copy.deepcopy(self.thing)
        made, changed = clone(self.thing), {**self._seeded(random_state), **params}
        return made.set_params(**changed) if changed else made

    @property
    def content(self) -> Any:
        """What tells it from other objects: parameters, or all values of one that is copied as it is."""
        return [type(self.thing), self.thing._get_params()] if self._of_river else self()

    def _seeded(self, state: int | None) -> dict[str, Any]:
        """Return its parameters that are a seed and None, with a state in their place."""
        if self._of_river:
            return _nested_seeds(self.thing._get_params(), state)
        params = self.thing.get_params() if self._cloned else {}
        return {
            name: state
            for name, value in params.items()
            if value is None and name.rpartition("__")[2] in STATES
        }


def _nested_seeds(params: Mapping[str, Any], state: int | None) -> dict[str, Any]:
    """Return what River's `clone` is told so that all parts have a seed."""
    found: dict[str, Any] = {}
    for name, value in params.items():
        match value:
            case None if name in STATES:
                found[name] = state
            case (type() as cls, dict() as inner) if nested := _nested_seeds(inner, state):
                found[name] = cls, {**inner, **nested}
            case dict() if nested := _nested_seeds(value, state):
                found[name] = nested
    return found
