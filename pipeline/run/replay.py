"""Train the models of a finished study again, because its results contain counts but no models."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from ..errors import InputError
from ..noise import noise_of
from ..study.cell import Cell
from ..study.learner_factory import is_known
from ..study.plan import make_plan
from ..study.study import Study
from .task import TrainedCell, learn_cell

# Counts that must equal those of the first training; a difference shows that the model is another one.
_COUNTS = ("mistakes", "updates", "support_vectors")


def learn_again(study: Study, row: Mapping[str, Any]) -> TrainedCell:
    """Train the model of a row of the results again; raise InputError if its counts differ from the row."""
    cell = planned_cell(study, row)
    # Measure no test accuracy along the stream, which only takes time, and set no time limit, which could
    # stop the learner earlier than the first time.
    cell = Cell(replace(cell.spec, test_curve=False), replace(cell.execution, time_limit=None))
    trained = learn_cell(cell)
    for name in _COUNTS:
        then, now = row.get(name), trained.outcome.row.get(name)
        # Compare only counts that both have. A missing count is None or NaN in a table; NaN != NaN.
        if now is not None and then is not None and then == then and int(then) != now:
            raise InputError(
                f"algorithm {row['algorithm']!r}: training it again gives {name.replace('_', ' ')} {now:,}, "
                f"but the results have {int(then):,}: run the study again"
            )
    return trained


def planned_cell(study: Study, row: Mapping[str, Any]) -> Cell:
    """Return the cell that computed a row of the results; raise InputError if the study no longer has it."""
    entry = next((entry for entry in study.algorithms if entry.label == row["algorithm"]), None)
    if entry is None or not is_known(entry.name):
        raise InputError(f"learner {row['learner']!r} is unknown: your own learners need --plugin FILE")
    noise, params = noise_of(row["noise"]), json.loads(row["params"])
    # Merged results have a repetition of all seeds on the first seed, but another one may have computed it.
    seeds = [row["seed"]] if pd.isna(row.get("repetitions")) else study.seeds
    problem = InputError(
        f"data set {row['dataset']!r} or learner {row['learner']!r} has changed since the run"
    )
    for dataset in study.datasets:
        if dataset.label != row["parent"]:
            continue
        part = study.model_copy(
            update={
                "datasets": [dataset],
                # Keep the study's other algorithms, because the cell depends on them: for example, if any of
                # them has a grid, a part of the stream is reserved for tuning.
                "algorithms": [each for each in study.algorithms if is_known(each.name)],
                "noise": [noise],
                "seeds": seeds,
            }
        )
        try:
            # The folder at which the data set's relative path started in the last run.
            path = dataset.path
            base = None if path is None else Path(row["source"].removesuffix(str(Path(path))))
            plan = make_plan(part, base=base)
        except InputError as error:
            problem = error
            continue
        for seed in seeds:
            cell = plan.cell((row["dataset"], row["algorithm"], noise), "run", seed, params)
            if cell is not None and cell.key == row["key"]:
                return cell
    raise problem
