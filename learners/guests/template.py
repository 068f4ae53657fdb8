"""Create learners from an object: each run of a study gets an untrained copy of it."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Mapping
from typing import Any

from sklearn.base import clone

# Names of constructor parameters that are seeds.
STATES = ("random_state", "seed")


class Template:
    """A learner object from which untrained copies are made; the object itself is never trained.

    Learners of scikit-learn and River are cloned, which leaves out what they have learned. Any other object
    is deep-copied.

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
        # If the object, or a step of a pipeline, has seed parameters that are None, copies take one parameter
        # `random_state`, which sets all of them.
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
        """Return a copy with the given parameters; `random_state` replaces seed parameters that are None."""
        if self._of_river:
            return self.thing.clone(self._seeded(random_state))
        if not self._cloned:
            return copy.deepcopy(self.thing)
        made, changed = clone(self.thing), {**self._seeded(random_state), **params}
        return made.set_params(**changed) if changed else made

    @property
    def content(self) -> Any:
        """What the learner's digest covers: a River model's type and parameters, else an untrained copy."""
        return [type(self.thing), self.thing._get_params()] if self._of_river else self()

    def _seeded(self, state: int | None) -> dict[str, Any]:
        """Return ``{name: state}`` for those seed parameters of the object whose value is None."""
        if self._of_river:
            return _nested_seeds(self.thing._get_params(), state)
        params = self.thing.get_params() if self._cloned else {}
        return {
            name: state
            for name, value in params.items()
            if value is None and name.rpartition("__")[2] in STATES
        }


def _nested_seeds(params: Mapping[str, Any], state: int | None) -> dict[str, Any]:
    """Return arguments of River's `clone` that set all seed parameters that are None, also nested ones."""
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
