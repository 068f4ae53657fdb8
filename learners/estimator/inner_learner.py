"""Check learners that grids, strategies and adapters use through `learn_rows`, and not through `learn`."""

from typing import Any

from .online_classifier import OnlineClassifier

#: Methods of scikit-learn's interface that strategies and adapters of a learner do not call.
PREDICTING = "partial_fit", "decision_function", "predict", "predict_proba"


def own_method(learner: Any, *names: str) -> str:
    """Return the first of some methods that a class outside this package overrides, or ""."""
    package = f"{__package__.rpartition('.')[0]}."
    for name in names:
        owner = next(each for each in type(learner).__mro__ if name in vars(each))
        if not f"{owner.__module__}.".startswith(package):
            return name
    return ""


def check_online_learner(learner: Any, name: str, *uncalled: str) -> None:
    """Raise ValueError, which begins with `name`, unless `name` can use a learner through `learn_rows`.

    It must be of this package, or of a class that derives from one of it and overrides neither `learn` nor
    the methods `uncalled`, which `name` does not call.
    """
    if not isinstance(learner, OnlineClassifier):
        raise ValueError(f"{name}: learner must be an online learner of this package, got {learner!r}")
    method = own_method(learner, "learn", *uncalled)
    if method:
        raise ValueError(
            f"{name}: {type(learner).__name__} overrides {method}, which {name} does not call: override "
            "_pass to learn, _score to predict (_pass_classes, _score_classes with more than two classes)"
        )


def check_inner_learner(strategy: Any) -> None:
    """Raise ValueError unless the learner of a strategy is of this package and asks for no labels itself."""
    name, learner = type(strategy).__name__, strategy.learner
    check_online_learner(learner, name, *PREDICTING)
    if learner.asks_for_labels:
        raise ValueError(f"{name}: learner must not ask for labels itself, got {learner!r}")
