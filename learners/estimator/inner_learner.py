"""Check learners that grids, strategies and adapters use through `learn_rows`, and not through `learn`."""

from typing import Any

from .online_classifier import OnlineClassifier


def own_method(learner: Any, *names: str) -> str:
    """Return the first of some methods that a class outside this package overrides, or ""."""
    package = f"{__package__.rpartition('.')[0]}."
    for name in names:
        if not getattr(type(learner), name).__module__.startswith(package):
            return name
    return ""


def check_online_learner(learner: Any, name: str, *uncalled: str) -> None:
    """Raise ValueError, which begins with `name`, unless `name` can use a learner through `learn_rows`.

    It must derive from a learner of this package, without overriding `learn` and other methods that are not
    called then; `uncalled` names further ones.
    """
    if not isinstance(learner, OnlineClassifier):
        raise ValueError(f"{name}: learner must be an online learner of this package, got {learner!r}")
    method = own_method(learner, "learn", "partial_fit", "decision_function", "predict", *uncalled)
    if method:
        raise ValueError(
            f"{name}: {type(learner).__name__} overrides {method}, which {name} does not call: override "
            "_pass to learn, _score to predict"
        )


def check_inner_learner(strategy: Any) -> None:
    """Raise ValueError unless the learner of a strategy is of this package and asks for no labels itself."""
    name, learner = type(strategy).__name__, strategy.learner
    check_online_learner(learner, name)
    if learner.asks_for_labels:
        raise ValueError(f"{name}: learner must not ask for labels itself, got {learner!r}")
