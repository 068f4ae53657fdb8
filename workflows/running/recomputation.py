"""Compute cells of a submitted archive again, in a subprocess, to check them; see `workflows/submission.py`.

The subprocess is ``python -m singlepass.workflows.running.recomputation SECONDS MEMORY``. It limits its own
time and memory (in gigabytes) before it loads a plug-in. In its working folder, it reads the cells to compute
from the file `TASK`, and writes their results to the file `ANSWER`.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ...pipeline import data
from ...pipeline.errors import InputError
from ...pipeline.noise import noise_of
from ...pipeline.run.task import run_cell
from ...pipeline.store.merging import COUNTED, MEASURED
from ...pipeline.study.cell import Cell
from ...pipeline.study.plan import Plan, make_plan
from ...pipeline.study.study_file import parse_study

TASK, ANSWER = "task.json", "answer.json"
# The columns that identify a cell, so that it can be planned again.
IDENTIFIED_BY = ("key", "dataset", "algorithm", "noise", "stage", "seed", "params")
# The columns of results that are compared, and the type of their numbers.
COMPARED: dict[str, dict[str, type]] = {
    within: dict.fromkeys(COUNTED[within], int) | dict.fromkeys(MEASURED[within], float) for within in COUNTED
}
# Largest file in bytes that the subprocess may write; its largest files are parsed data.
_MOST_WRITTEN = 1 << 32


def plain(value: Any, kind: type = int) -> Any:
    """Convert a number, or a list of numbers, to a type of JSON; missing numbers (NaN, NA) become None."""
    if isinstance(value, np.ndarray | list | tuple):
        return [plain(each, kind) for each in value]
    return None if pd.isna(value) else kind(value)


def recompute(task: dict[str, Any], plugins: list[str]) -> dict[str, Any]:
    """Plan the study of a task document, and compute those of the document's cells that are drawn.

    The answer has the results of cell and curve, or the error, by key ("cells"), the places of cells that the
    study does not have ("unplanned"), the number of cells that it has ("planned"), and its `Plan.grids`.
    """
    study = parse_study(task["study"])
    # The archive's fingerprints spare parsing data sets of which no cell is drawn.
    plan = make_plan(study, base=Path(task["base"]), plugins=tuple(plugins), known=task["data"], parse=False)
    cells = [_planned(plan, row) for row in task["cells"]]
    drawn = {task["cells"][place]["key"]: cells[place] for place in task["drawn"]}
    here = {cell.spec.dataset.label: cell.spec.dataset for cell in drawn.values() if cell is not None}
    fingerprints = {label: data.fingerprint(dataset) for label, dataset in here.items()}
    return {
        "cells": {key: _recomputed(cell, key, fingerprints) for key, cell in drawn.items()},
        "unplanned": [place for place, cell in enumerate(cells) if cell is None],
        "planned": plan.n_tuning_cells + plan.n_evaluation_cells,
        "grids": list(plan.grids()),
    }


def _planned(plan: Plan, row: Mapping[str, Any]) -> Cell | None:
    group = row["dataset"], row["algorithm"], noise_of(row["noise"])
    return plan.cell(group, row["stage"], row["seed"], json.loads(row["params"]))


def _recomputed(cell: Cell | None, key: str, fingerprints: Mapping[str, str]) -> dict[str, Any]:
    """Return the results of a cell; `fingerprints` are those of the data here, by data set."""
    if cell is None:
        return {"error": "the study has no such cell"}
    if cell.key != key or cell.spec.fingerprint != fingerprints[cell.spec.dataset.label]:
        return {
            "error": "has another key here: the code, the data or the plug-in are not those of the archive"
        }
    found = run_cell(cell)
    if found.row["status"] != "ok":
        return {"error": f"{found.row['status']} here: {found.row.get('error')}"}
    return {"row": _compared(found.row, "cells"), "curve": _compared(found.curve, "curves")}


def _compared(found: Mapping[str, Any], within: str) -> dict[str, Any]:
    columns = COMPARED[within].items()
    return {name: plain(found[name], kind) for name, kind in columns if found.get(name) is not None}


def _limit(seconds: float, memory: float) -> None:
    """Limit processor time, memory and file size of this process and its children, if the system can."""
    try:
        import resource
    except ImportError:
        return
    limits = {
        resource.RLIMIT_CPU: int(seconds) * (os.cpu_count() or 1),
        resource.RLIMIT_FSIZE: _MOST_WRITTEN,
        resource.RLIMIT_CORE: 0,
    }
    # macOS reserves hundreds of gigabytes of addresses for any process, and refuses a limit below that.
    if sys.platform != "darwin":
        limits[resource.RLIMIT_AS] = int(memory * 1e9)
    for kind, most in limits.items():
        # A process cannot exceed the hard limits that it has, such as those of a login node.
        _, hard = resource.getrlimit(kind)
        lowest = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (lowest, lowest))


def main() -> None:
    """Recompute the cells listed in the file `TASK`, and write results or an error to the file `ANSWER`."""
    _limit(float(sys.argv[1]), float(sys.argv[2]))
    answer: dict[str, Any]
    try:
        plugins = sorted(str(path.resolve()) for path in Path("plugins").glob("*.py"))
        answer = recompute(json.loads(Path(TASK).read_text()), plugins)
    except InputError as error:
        answer = {"error": str(error)}
    except MemoryError:
        answer = {"error": "out of memory: see --memory"}
    # Plug-ins may raise anything, SystemExit too.
    except BaseException as error:
        answer = {"error": f"{type(error).__name__}: {error}"}
    # Write a file with another name and rename it, so that the file `ANSWER` is complete or does not exist.
    scratch = Path(f"{ANSWER}.tmp")
    scratch.write_text(json.dumps(answer))
    scratch.replace(ANSWER)


if __name__ == "__main__":
    main()
