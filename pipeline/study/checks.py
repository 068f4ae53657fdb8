"""Check a study before its first cell runs; each error is one line that says what to change."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence

from .. import data
from ..errors import InputError, did_you_mean
from ..hindsight import EXTRA, has_solver
from ..noise import Noise
from ..scoring import BASELINES, SCORINGS, kept_for
from .learner_factory import ResolvedLearner, grid_points, with_dataset_parameters
from .specs import CLASS_WEIGHT, KEYS, STRATEGIES, AlgorithmSpec, DatasetSpec, weights_of
from .study import Study, misplaced

# Maximum number of class names in an error message, so that it stays one line.
_MOST_NAMED = 10
# A study's learners by the labels of its algorithms.
Learners = Mapping[str, ResolvedLearner]


def check_study(study: Study, learners: Learners) -> None:
    """Raise InputError for unknown parameters or values, and for algorithms that do not suit the protocol."""
    for algorithm in study.algorithms:
        _check_algorithm(algorithm, learners[algorithm.label])
    _check_dataset_parameters(study, learners)
    _check_shared_grids(study, learners)
    _check_batch(study, learners)
    _check_support_sizes(study, learners)
    _check_regret(study, learners)


# Beginning of the error message for an algorithm that has this key and makes several passes.
_ALONG = {"tune": "tune compares points", "query": "query asks for labels", "reset": "reset detects changes"}


def draws_randomly(study: Study, dataset: DatasetSpec, learners: Learners) -> bool:
    """Return whether any algorithm on a data set draws random numbers that differ between repetitions.

    Such draws are made by active-learning strategies, and by learners of other packages with a free seed.
    """
    models = {each.label: each for each in study.algorithms}
    for algorithm in _on(study, dataset.label):
        learner = learners[algorithm.label]
        own = with_dataset_parameters(algorithm, dataset, learner)
        if own.query is not None and STRATEGIES[own.query].draws:
            return True
        # Most learners take no seed; grids of data sets are looked up only for those that do.
        if not learner.seed_parameters({}):
            continue
        model = models[algorithm.tuned_as or algorithm.label]
        grid = with_dataset_parameters(model, dataset, learners[model.label]).lists
        if learner.seed_parameters({**own.fixed, **grid}):
            return True
    return False


def _check_algorithm(spec: AlgorithmSpec, learner: ResolvedLearner) -> None:
    """Raise InputError if an algorithm has an unknown parameter, or a value that its learner refuses."""
    for key in (*spec.fixed, *spec.lists, *spec.support_of):
        if not learner.takes(key):
            hint = misplaced(key) or did_you_mean(key, learner.parameters, AlgorithmSpec.model_fields)
            raise InputError(f"algorithm {spec.name!r} has no parameter {key!r}: {hint}")
    for point in grid_points(spec):
        if spec.strategy and point.get("epochs", 1) != 1:
            why = _ALONG[next(key for key in _ALONG if key in spec.strategy)]
            raise InputError(
                f"algorithm {spec.label!r}: {why} along one pass, so epochs must be 1, "
                f"got {point['epochs']!r}"
            )
        try:
            learner.check({**point, **spec.strategy})
        except (TypeError, ValueError) as error:
            # Remove the learner's class name, because the message below names the algorithm by its label.
            message = str(error).removeprefix(f"{getattr(learner.factory, '__name__', '')}: ")
            raise InputError(f"algorithm {spec.label!r}: {message}") from None


def _on(study: Study, dataset: str) -> list[AlgorithmSpec]:
    """Return the algorithms that run on a data set."""
    return [algorithm for algorithm in study.algorithms if algorithm.runs_on(dataset)]


def _datasets_of(study: Study, algorithm: AlgorithmSpec) -> list[DatasetSpec]:
    """Return the data sets on which an algorithm runs."""
    return [dataset for dataset in study.datasets if algorithm.runs_on(dataset.label)]


# Keys of ``[[algorithms]]`` that the table of a single algorithm in a data set's parameters may set.
_BY_DATASET = frozenset({"query", *KEYS, "tune", "reset"})


def _refuse_keys(
    dataset: DatasetSpec, given: Iterable[str], allowed: frozenset[str], place: str = ""
) -> None:
    """Raise InputError if a data set's parameters set keys of ``[[algorithms]]`` that are not allowed."""
    for key in given:
        if key in AlgorithmSpec.model_fields and key not in allowed:
            raise InputError(
                f"data set {dataset.label!r}: parameters{place} cannot set {key!r}, a key of [[algorithms]]: "
                "set it there, or rename the parameter of the class"
            )


def _check_dataset_parameters(study: Study, learners: Learners) -> None:
    """Raise InputError if a data set sets parameters that no algorithm has, or values that one refuses."""
    known = {name for learner in learners.values() for name in learner.parameters}
    for dataset in study.datasets:
        labels = [algorithm.label for algorithm in _on(study, dataset.label)]
        for key, value in dataset.parameters.items():
            if isinstance(value, dict) and key not in labels:
                raise InputError(
                    f"data set {dataset.label!r}: parameters of {key!r}, but no algorithm with this label "
                    f"runs on it: {did_you_mean(key, labels)}"
                )
            if not isinstance(value, dict) and key not in known:
                raise InputError(
                    f"data set {dataset.label!r}: no algorithm of the study has a parameter {key!r}: "
                    f"{did_you_mean(key, known)}"
                )
        for_all = [key for key, value in dataset.parameters.items() if not isinstance(value, dict)]
        _refuse_keys(dataset, for_all, frozenset())
        for algorithm in _on(study, dataset.label) if dataset.parameters else ():
            learner = learners[algorithm.label]
            named = dataset.parameters.get(algorithm.label)
            if isinstance(named, dict):
                _refuse_keys(dataset, named, _BY_DATASET - learner.parameters, f" of {algorithm.label!r}")
            _check_algorithm(with_dataset_parameters(algorithm, dataset, learner), learner)


def _check_shared_grids(study: Study, learners: Learners) -> None:
    """Raise InputError if an algorithm's `tuned_as` names an algorithm without a grid, or with an unfit one.

    A grid is unfit if the learner of the first algorithm does not accept its parameters.
    """
    models = {each.label: each for each in study.algorithms}
    for algorithm in study.algorithms:
        for dataset in _datasets_of(study, algorithm) if algorithm.tuned_as is not None else ():
            model, learner = models[algorithm.tuned_as or ""], learners[algorithm.label]
            other = with_dataset_parameters(model, dataset, learners[model.label])
            if not other.grid:
                lack, remedy = "has no grid", "give one of its parameters as a list"
                if "tune" in other.strategy:
                    lack, remedy = f"has no winner with tune = {other.tune!r}", "give it tune = 'seed'"
                raise InputError(
                    f"algorithm {algorithm.label!r} is tuned as {model.label!r}, which {lack} on "
                    f"data set {dataset.label!r}: {remedy}"
                )
            own = algorithm.model_copy(update={"tuned_as": None}).with_parameters(other.grid)
            _check_algorithm(with_dataset_parameters(own, dataset, learner), learner)


def _check_batch(study: Study, learners: Learners) -> None:
    """Raise InputError for a batch learner without test rows, or with a grid compared by online mistakes.

    A batch learner makes no predictions along the stream.
    """
    for algorithm in study.algorithms:
        learner = learners[algorithm.label]
        for dataset in _datasets_of(study, algorithm) if learner.batch else ():
            reason = f"algorithm {algorithm.label!r} is fitted in batch and predicts nothing along the stream"
            if study.protocol_of(dataset) == "prequential":
                raise InputError(
                    f"{reason}: data set {dataset.label!r} needs protocol 'holdout' or 'crossval'"
                )
            grid = with_dataset_parameters(algorithm, dataset, learner).grid
            if grid and study.judge_of(dataset) == "online":
                raise InputError(f"{reason}: its grid needs tune_by = 'validation'")


def _check_support_sizes(study: Study, learners: Learners) -> None:
    """Raise InputError if `support_of` of a parameter names an algorithm with no or several support sizes."""
    models = {each.label: each for each in study.algorithms}
    for algorithm in study.algorithms:
        for key, label in algorithm.support_of.items():
            size = f"algorithm {algorithm.label!r}: '{key}' is the support size of {label!r}"
            if learners[label].linear:
                raise InputError(f"{size}, a linear learner, which has none: name a kernel learner")
            for dataset in _datasets_of(study, algorithm):
                other = with_dataset_parameters(models[label], dataset, learners[label])
                if "tune" in other.strategy:
                    raise InputError(
                        f"{size}, which has one for each point of its grid with tune = {other.tune!r} on "
                        f"data set {dataset.label!r}: give it tune = 'seed'"
                    )


def _check_regret(study: Study, learners: Learners) -> None:
    """Raise InputError if metric 'regret' is asked for, but an algorithm does not have one weight vector.

    Batch learners and the baselines that see only labels are exempt.
    """
    if "regret" not in kept_for(study.metrics):
        return
    if not has_solver():
        raise InputError(f"metrics: 'regret' needs the package clarabel: pip install 'singlepass[{EXTRA}]'")
    instead = "remove 'regret' from metrics, or the algorithm from the study"
    for algorithm in study.algorithms:
        learner = learners[algorithm.label]
        if not (learner.linear or learner.batch or algorithm.name in BASELINES):
            raise InputError(
                f"algorithm {algorithm.label!r}: 'regret' needs a linear learner of this package, which has "
                f"weights: {instead}"
            )
        one = f"algorithm {algorithm.label!r}: 'regret' compares with one vector of weights, but"
        for dataset in _datasets_of(study, algorithm):
            own = with_dataset_parameters(algorithm, dataset, learner)
            if key := next((key for key in ("tune", "reset") if key in own.strategy), None):
                raise InputError(
                    f"{one} {key} = {own.strategy[key]!r} changes the model along the stream: remove {key}, "
                    f"or {instead}"
                )
            if learner.linear and not all(map(learner.scores_linearly, grid_points(own))):
                raise InputError(f"{one} with these parameters the algorithm has no such vector: {instead}")


def check_tasks(study: Study, learners: Learners, tasks: Sequence[data.TaskRef]) -> None:
    """Raise InputError for the parts of a study that do not suit the classes or labels of its tasks."""
    _check_class_counts(study, learners, tasks)
    _check_class_weights(study, learners, tasks)
    _check_noise(study, tasks)
    _check_metrics(study, tasks)
    labels = [task.label for task in tasks]
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise InputError(f"datasets: two tasks are called {twice[0]!r}: give one data set a 'label'")


def _check_noise(study: Study, tasks: Sequence[data.TaskRef]) -> None:
    """Raise InputError if the study's noise does not suit the classes of a task."""
    for noise in study.noise:
        for task in tasks if noise.asks_classes else ():
            own, joined = data.task_classes(task)
            classes = own if noise.level == "task" else joined
            if classes is None:
                raise InputError(
                    f"data set {task.label!r}: level = 'class' is noise among all classes, but this task "
                    "leaves some out: set level = 'task', or task = 'one-vs-rest' or a grouping"
                )
            _check_classes(noise, task, classes)


def _check_classes(noise: Noise, task: data.TaskRef, classes: Sequence[str]) -> None:
    """Raise InputError if noise names an unknown class, or does not suit the number of classes.

    Its matrix may be of another size, or its rate too large for so few classes.
    """
    n_classes = len(classes)
    place = f"data set {task.label!r}: noise of model {noise.model!r}"
    for name in noise.named:
        if name not in classes:
            raise InputError(
                f"{place} names class {name!r}, which the data set does not have: "
                f"{did_you_mean(name, classes)}"
            )
        _refuse_twice(task, name, classes)
    if noise.n_classes not in (None, n_classes):
        raise InputError(
            f"{place} has a matrix of {noise.n_classes} rows, but there are {n_classes} classes: "
            f"{', '.join(classes[:_MOST_NAMED])}{', …' if n_classes > _MOST_NAMED else ''}"
        )
    if noise.rate > (largest := noise.largest_rate(n_classes)):
        # Rounded down, so that the rate in the message is valid.
        raise InputError(
            f"noise: at {noise.rate:g} the {n_classes} classes of data set {task.label!r} keep their label "
            f"less often than they get another one; give rates up to {math.floor(1e4 * largest) / 1e4:g}"
        )


def _refuse_twice(task: data.TaskRef, name: str, classes: Sequence[str]) -> None:
    """Raise InputError if a name means both classes of a task, as for a class "rest" against the rest."""
    if list(classes).count(name) > 1:
        raise InputError(
            f"data set {task.label!r}: {name!r} names both classes of this task; rename the class in the data"
        )


def _check_class_counts(study: Study, learners: Learners, tasks: Sequence[data.TaskRef]) -> None:
    """Raise InputError if a learner for two classes runs on a task with more classes."""
    datasets = {dataset.label: dataset for dataset in study.datasets}
    for task in tasks:
        for model in _on(study, task.parent) if task.task == "multiclass" else ():
            learner = learners[model.label]
            algorithm = with_dataset_parameters(model, datasets[task.parent], learner)
            points = list(grid_points(algorithm))
            if not all(learner.takes_many_classes({**point, **algorithm.strategy}) for point in points):
                # Every query strategy takes two classes, also around a learner of many.
                by_query = algorithm.query is not None and all(map(learner.takes_many_classes, points))
                why = f" with query = {algorithm.query!r}: remove query, " if by_query else ": "
                raise InputError(
                    f"data set {task.label!r} has more than two classes, but algorithm {algorithm.label!r} "
                    f"takes two{why}give the data set task = 'one-vs-rest' or 'pairs', or restrict the "
                    "algorithm with datasets"
                )


def _check_class_weights(study: Study, learners: Learners, tasks: Sequence[data.TaskRef]) -> None:
    """Raise InputError if an algorithm has a class weight for a class that a task does not have."""
    datasets = {dataset.label: dataset for dataset in study.datasets}
    for task in tasks:
        for algorithm in _on(study, task.parent):
            own = with_dataset_parameters(algorithm, datasets[task.parent], learners[algorithm.label])
            given = own.grid.get(CLASS_WEIGHT, [own.fixed.get(CLASS_WEIGHT)])
            named = [name for each in map(weights_of, given) if isinstance(each, dict) for name in each]
            classes = data.task_classes(task)[0] if named else ()
            for name in named:
                if name not in classes:
                    # With several data sets, the message also shows how to set class weights for one of them.
                    table = f"parameters = {{ {json.dumps(algorithm.label)} = {{ class_weight = … }} }}"
                    elsewhere = f"; for one data set: {table} in its table" if len(datasets) > 1 else ""
                    raise InputError(
                        f"algorithm {algorithm.label!r}: class_weight names class {name!r}, which data set "
                        f"{task.label!r} does not have: {did_you_mean(name, classes)}{elsewhere}"
                    )
                _refuse_twice(task, name, classes)


def _check_metrics(study: Study, tasks: Sequence[data.TaskRef]) -> None:
    """Raise InputError if a metric needs two classes and a task has more.

    This concerns regret, and the metric by which algorithms are ranked.
    """
    many = next((task.label for task in tasks if task.task == "multiclass"), None)
    if many is None:
        return
    if "regret" in kept_for(study.metrics):
        raise InputError(
            f"data set {many!r} has more than two classes, but 'regret' needs two: remove it from metrics, "
            "or give the data set task = 'one-vs-rest'"
        )
    name = study.ranked_by or ""
    if name in SCORINGS and SCORINGS[name].two_classes:
        raise InputError(
            f"data set {many!r} has more than two classes, but {name!r}, which ranks, needs two: set rank_by "
            "to another metric, such as 'balanced_accuracy', or give the data set task = 'one-vs-rest'"
        )
