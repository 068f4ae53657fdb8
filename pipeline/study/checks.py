"""What can be wrong with a study before its first cell: one line each, with what would be right."""

from __future__ import annotations

from ...learners import registry
from .. import data
from ..errors import InputError, did_you_mean
from .learner_factory import given_by, grid_points, make_learner
from .specs import AlgorithmSpec
from .study import Study


def check_study(study: Study) -> None:
    """Refuse unknown learners, parameters and values, and algorithms that do not suit the protocol.

    Parameters
    ----------
    study : Study

    Raises
    ------
    InputError
    """
    for algorithm in study.algorithms:
        _check_algorithm(algorithm)
    _check_dataset_parameters(study)
    _check_batch(study)
    _check_models(study)


def _check_algorithm(entry: AlgorithmSpec) -> None:
    """Refuse an unknown learner or parameter, or a value the learner does not take."""
    known = registry.available()
    if entry.name not in known:
        hint = did_you_mean(entry.name, known)
        raise InputError(f"algorithm {entry.name!r} is unknown: {hint}; your own ones need --plugin FILE")
    learner = known[entry.name]
    names = learner().get_params()
    for key in (*entry.fixed, *entry.grid, *entry.matched):
        if key not in names:
            raise InputError(f"algorithm {entry.name!r} has no parameter {key!r}: {did_you_mean(key, names)}")
    for point in grid_points(entry):
        if entry.strategy and point.get("epochs", 1) != 1:
            raise InputError(
                f"algorithm {entry.label!r}: query asks for labels along one pass, so epochs must be 1, "
                f"got {point['epochs']!r}"
            )
        try:
            made = make_learner(entry.name, {**point, **entry.strategy})
            # A learner of the user's own may have neither method: its cells then say what is wrong.
            check = getattr(made, "check_parameters", None) or getattr(made, "_validate_params", None)
            if check is not None:
                check()
        except (TypeError, ValueError) as error:
            # The label names the entry; the learner's own name before its words would say it twice.
            words = str(error).removeprefix(f"{learner.__name__}: ")
            raise InputError(f"algorithm {entry.label!r}: {words}") from None


def _check_dataset_parameters(study: Study) -> None:
    """Refuse a data set's parameter that no algorithm has, or a value that one does not take."""
    learners = {entry.name: registry.available()[entry.name]().get_params() for entry in study.algorithms}
    known = {name for names in learners.values() for name in names}
    for dataset in study.datasets:
        for key in dataset.parameters:
            if key not in known:
                raise InputError(
                    f"data set {dataset.called!r}: no algorithm of the study has a parameter {key!r}: "
                    f"{did_you_mean(key, known)}"
                )
        for algorithm in study.algorithms if dataset.parameters else ():
            _check_algorithm(given_by(dataset, algorithm))


def _check_batch(study: Study) -> None:
    """Refuse a batch baseline where there is no test part, or where online mistakes judge its grid."""
    for entry in study.algorithms:
        if not registry.is_batch(registry.available()[entry.name]):
            continue
        for dataset in study.datasets:
            what = f"algorithm {entry.label!r} is fitted in batch and predicts nothing along the stream"
            if study.protocol_of(dataset) == "prequential":
                raise InputError(
                    f"{what}: data set {dataset.called!r} needs protocol 'holdout' or 'crossval'"
                )
            if given_by(dataset, entry).grid and study.judge_of(dataset) == "online":
                raise InputError(f"{what}: its grid needs tune_by = 'validation'")


def _check_models(study: Study) -> None:
    """Refuse to take a parameter from the support size of an algorithm that has none."""
    learners = {entry.label: registry.available()[entry.name] for entry in study.algorithms}
    for entry in study.algorithms:
        for key, label in entry.matched.items():
            if registry.is_linear(learners[label]):
                raise InputError(
                    f"algorithm {entry.label!r}: '{key}' is the support size of {label!r}, a linear learner, "
                    "which has none: name a kernel learner"
                )


def check_class_counts(study: Study, tasks: list[data.TaskRef]) -> None:
    """Refuse a task of many classes for a learner of two."""
    many = next((task.label for task in tasks if task.task == "multiclass"), None)
    if many is None:
        return
    for entry in study.algorithms:
        tags = getattr(make_learner(entry.name, entry.strategy), "__sklearn_tags__", None)
        if tags is not None and not tags().classifier_tags.multi_class:
            raise InputError(
                f"data set {many!r} has more than two classes and algorithm {entry.label!r} takes two: "
                "give the data set task = 'one-vs-rest' or 'pairs'"
            )
