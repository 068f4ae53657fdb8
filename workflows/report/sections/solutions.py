"""Draw the final models of algorithms on data with two features: boundaries and support vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....pipeline.analysis.design import evaluation_rows
from ....pipeline.errors import InputError
from ..page.blocks import Block, Heading, Legend, Panels, Picture, Section, Text
from ..page.view import StudyView
from ..plots.solution_plots import Solution, legend_mark, legend_names, solution_panel, solutions_sheet
from ..plots.svg import shorten
from ..words.markup import slug
from ..words.wording import count, enumerate_names

if TYPE_CHECKING:
    from ....pipeline.run.task import TrainedCell
    from ....pipeline.study.study import Study

    # A trained cell, and its learner's support vectors if it has any.
    _Model = tuple[TrainedCell, NDArray[np.float64] | None]

# Maximum numbers of data sets, and of points in a panel, to draw: each panel adds 15 to 50 kB to the page.
_MOST_DATASETS = 4
_MOST_POINTS = 600
# Number of grid lines per direction on which scores are computed.
_GRID = 120


def section(view: StudyView) -> Section | None:
    """Draw the models that the study's key `solutions` asks for; return None if it asks for none.

    They are trained again, on the first noise level and seed, which takes as long as it took in the study.
    """
    if not view.results.study.get("solutions"):
        return None
    # Imports are local here and below: importing learners takes as long as drawing a small study's figures.
    from ....pipeline.study.study_file import parse_study

    try:
        study = parse_study(view.results.study)
    except InputError as error:
        # This version may refuse a study that an earlier version ran; the other sections are still valid.
        return _nothing(str(error))
    noise, seed = study.noise[0], study.seeds[0]
    rows = evaluation_rows(view.cells)
    flat = set(rows.loc[rows["n_features"] == 2, "dataset"])
    datasets = [name for name in view.design.datasets if name in flat]
    if not datasets:
        return _nothing("no data set of the study has two features")
    rows = rows[(rows["noise"] == noise.slug) & (rows["seed"] == seed)]
    blocks: list[Block] = []
    problems: list[str] = []
    learnt_from = 0
    for place, dataset in enumerate(datasets[:_MOST_DATASETS], 1):
        models = {}
        for name in dict.fromkeys(study.solutions):
            found = rows[(rows["dataset"] == dataset) & (rows["algorithm"] == name)].to_dict("records")
            model = _model(study, dict(found[0]) if found else {})
            if isinstance(model, str):
                problems.append(f"{name} on {dataset} ({model})")
            else:
                models[name] = model
        drawn, failed = _solutions(models)
        problems += [f"{name} on {dataset} ({problem})" for name, problem in failed]
        if drawn:
            some, _ = models[drawn[0].name]
            at = f"{noise.label}, seed {seed}"
            blocks += _group(place, dataset, drawn, models, some.inputs.stream.classes, at)
            learnt_from = max(learnt_from, len(some.inputs.train.rows))
    if blocks:
        blocks.insert(0, Text(_note(f"{noise.label} with seed {seed}", learnt_from, len(datasets)), "soft"))
    if problems:
        blocks.append(Text(f"Left out: {enumerate_names(problems)}.", "note"))
    return Section("solutions", "Solutions", blocks)


def _nothing(reason: str) -> Section:
    return Section("solutions", "Solutions", [Text(f"Nothing is drawn: {reason}.", "note")])


def _note(at: str, learnt_from: int, datasets: int) -> str:
    note = (
        f"Models learned at {at}: training points by the label that the learner was given, support vectors "
        "as open marks, the boundary f = 0 as a line, f = ±1 (margins of a support vector machine) dashed. "
        "Support vectors that are not training points, as merged ones are, have no label and are not drawn."
    )
    if learnt_from > _MOST_POINTS:
        note += (
            f" At most {_MOST_POINTS} points are drawn, the first of the stream, and as many support vectors."
        )
    if datasets > _MOST_DATASETS:
        note += f" Shown: the first {_MOST_DATASETS} of {count(datasets, 'data set')} with two features."
    return note


def _model(study: Study, row: dict[Any, Any]) -> _Model | str:
    """Return a cell's trained model with its support vectors, or the reason why it cannot be drawn."""
    from ....pipeline.run.replay import learn_again

    if row.get("status") != "ok":
        return {"failed": "its cell failed", "stopped": "it was stopped at its time limit"}.get(
            str(row.get("status")), "its cell has not run yet"
        )
    try:
        learnt = learn_again(study, row)
        if len(learnt.inputs.stream.classes) != 2:
            return "it has more than two classes"
        if not hasattr(learnt.learner, "decision_function"):
            return "its learner has no decision_function"
        return learnt, _support(learnt)
    except Exception as error:  # an error in the user's data or learner must not prevent the report
        return _reason(error)


def _reason(error: Exception) -> str:
    text = " ".join(str(error).split())
    return text if isinstance(error, InputError) else f"{type(error).__name__}: {text}"


def _dense(X: Any) -> NDArray[np.float64]:
    return np.asarray(X if isinstance(X, np.ndarray) else X.toarray(), np.float64)


def _some(values: NDArray[Any]) -> NDArray[Any]:
    """Return at most `_MOST_POINTS` rows, spaced evenly because support vectors may be sorted by class."""
    if len(values) <= _MOST_POINTS:
        return values
    some: NDArray[Any] = values[np.linspace(0, len(values) - 1, _MOST_POINTS).round().astype(int)]
    return some


def _support(learnt: TrainedCell) -> NDArray[np.float64] | None:
    # An active-learning strategy wraps the learner that has the support vectors.
    learner = getattr(learnt.learner, "learner_", learnt.learner)
    vectors = getattr(learner, "support_vectors_", None)
    return None if vectors is None else _dense(vectors).reshape(-1, 2)


def _codes_of(support: NDArray[np.float64], learnt: TrainedCell) -> NDArray[np.int32]:
    """Return the label that the learner got for each support vector; -1 for one not in the training rows."""
    given: dict[tuple[float, ...], int] = {}
    for start, stop, X in learnt.inputs.train.blocks():
        rows, codes = map(tuple, _dense(X).tolist()), learnt.inputs.noisy[start:stop].tolist()
        given.update(zip(rows, codes, strict=True))
    return np.array([given.get(tuple(row), -1) for row in support.tolist()], np.int32)


def _solutions(models: dict[str, _Model]) -> tuple[list[Solution], list[tuple[str, str]]]:
    """Return what to draw of each model of one data set, on the same axes, and why others cannot be drawn."""
    from ....learners import take_rows

    parts = {}
    drawn: list[Solution] = []
    failed: list[tuple[str, str]] = []
    for name, (learnt, vectors) in models.items():
        train = learnt.inputs.train
        points = _dense(take_rows(train.X, train.rows[:_MOST_POINTS]))
        parts[name] = points, _some(np.zeros((0, 2)) if vectors is None else vectors)
    every = np.vstack([each for part in parts.values() for each in part]) if parts else np.zeros((0, 2))
    for name, (points, support) in parts.items():
        low, high = every.min(axis=0), every.max(axis=0)
        margin = 0.04 * np.where(high > low, high - low, 1.0)
        x, y = np.linspace(low - margin, high + margin, _GRID).T
        learnt, _ = models[name]
        try:
            scores = _scores(learnt, x, y)
        except Exception as error:  # an error in a user's learner must not prevent the report
            failed.append((name, _reason(error)))
            continue
        codes = learnt.inputs.noisy[: len(points)]
        # Leave support vectors out of the training points, because they are drawn with another mark.
        others = ~np.isin(points[:, 0] + 1j * points[:, 1], support[:, 0] + 1j * support[:, 1])
        support_codes = _codes_of(support, learnt)
        drawn.append(Solution(name, points[others], codes[others], support, support_codes, x, y, scores))
    return drawn, failed


def _scores(learnt: TrainedCell, x: NDArray[np.float64], y: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return a model's scores at the points of a grid with coordinates `x` and `y`.

    The points get the type of the training rows, so that learners need not be compiled for another type.
    """
    across, up = np.meshgrid(x, y)
    X: Any = learnt.inputs.train.X
    grid: Any = np.column_stack([across.ravel(), up.ravel()]).astype(X.dtype)
    if not isinstance(X, np.ndarray):
        grid = type(X)(grid)
    scores = np.asarray(learnt.learner.decision_function(grid), np.float64)
    if scores.shape != (across.size,):
        raise InputError("the learner's decision_function does not return one score per row")
    return scores.reshape(across.shape)


def _group(
    place: int,
    dataset: str,
    drawn: list[Solution],
    models: dict[str, _Model],
    classes: tuple[str, ...],
    at: str,
) -> list[Block]:
    """Draw the solutions of one data set, one panel per algorithm."""
    panels = []
    for solution in drawn:
        _, vectors = models[solution.name]
        size = "" if vectors is None else f": {count(len(vectors), 'support vector')}"
        title = f"Solution of {solution.name} on {dataset}, {at}"
        heading = f"{shorten(solution.name, 40)}{size}"
        panels.append(Picture(title, heading, solution_panel(solution)))
    title = f"Solutions on {dataset}, {at}"
    file = f"figures/solutions-{place}-{slug(dataset)}.svg"
    marks = [(name, legend_mark(kind)) for kind, name in enumerate(legend_names(classes))]
    sheet = Picture(title, title, solutions_sheet(drawn, classes), file)
    return [Heading(dataset), Legend(marks), Panels(panels, sheet)]
