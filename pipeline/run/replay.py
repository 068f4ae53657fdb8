"""Train the models of a finished study again: the results hold counts, not models."""

from __future__ import annotations

import itertools
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..noise import noise_of
from ..study.cell import Cell
from ..study.learner_factory import is_known
from ..study.plan import make_plan
from ..study.specs import DatasetSpec
from ..study.study import Study
from .task import TrainedCell, learn_cell

# Integer counts that must agree if the model is the same.
_COUNTS = ("mistakes", "updates", "support_vectors")


def learn_again(study: Study, row: Mapping[str, Any]) -> TrainedCell:
    """Train the model of a finished cell again; `row` is the cell's row of the cells table.

    Raises InputError if the data cannot be opened or have changed, the learner is missing or has another
    version, or the outcome differs from the row.
    """
    # Without a time limit, which could stop it earlier than the cell, and without the costly test curve.
    learnt = learn_cell(_unwatched(planned_cell(study, row)))
    for name in _COUNTS:
        then, now = row.get(name), learnt.outcome.row.get(name)
        # A missing count is None or NaN in a table; NaN differs from itself.
        if now is not None and then is not None and then == then and int(then) != now:
            raise InputError(
                f"{row['algorithm']!r} comes out with {name.replace('_', ' ')} {now:,}, not {int(then):,} "
                "as in the results: run the study anew"
            )
    return learnt


def _unwatched(cell: Cell) -> Cell:
    return Cell(replace(cell.spec, test_curve=False), replace(cell.execution, time_limit=None))


def planned_cell(study: Study, row: Mapping[str, Any]) -> Cell:
    """Return the cell whose outcome is a row of the cells table; both have the same key.

    Raises InputError if the study, its data and its learners no longer yield such a cell.
    """
    entry = next((entry for entry in study.algorithms if entry.label == row["algorithm"]), None)
    if entry is None or not is_known(entry.name):
        raise InputError(f"learner {row['learner']!r} is not there: your own ones need --plugin FILE")
    noise = noise_of(row["noise"])
    # The winning parameters of the grid are in the row, whichever algorithm was tuned.
    group = row["dataset"], entry.tuned_as or row["algorithm"], noise
    params = json.loads(row["params"])
    supports = {
        ((row["dataset"], label, noise), row["seed"]): params[key] for key, label in entry.support_of.items()
    }
    problem = InputError(
        f"data set {row['dataset']!r} or learner {row['learner']!r} has changed since the run"
    )
    for dataset in study.datasets:
        if dataset.label != row["parent"]:
            continue
        part = study.model_copy(
            update={
                "datasets": [dataset],
                # Other algorithms affect the parameters that the data set decides, so all stay.
                "algorithms": [each for each in study.algorithms if is_known(each.name)],
                "noise": [noise],
                "seeds": [row["seed"]],
            }
        )
        try:
            plan = make_plan(part, base=_base(dataset, row["source"]))
        except InputError as error:
            problem = error
            continue
        for cell in itertools.chain(plan.evaluation_cells({group: params}), plan.matched_cells(supports)):
            if cell.key == row["key"]:
                return cell
    raise problem


def _base(dataset: DatasetSpec, source: str) -> Path | None:
    """Return the folder to which a data set's path was relative: its full path was then `source`."""
    return None if dataset.path is None else Path(source.removesuffix(str(Path(dataset.path))))
