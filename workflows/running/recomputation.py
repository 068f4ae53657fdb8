"""Compute cells of a submitted archive again, in a subprocess, to check them; see `workflows/submission.py`.

The subprocess is ``python -m singlepass.workflows.running.recomputation SECONDS MEMORY``. It limits its own
time and memory (in gigabytes) before it loads a plug-in. In its working folder, it reads the cells to compute
from the file `TASK`, and writes their results to the file `ANSWER`.
"""

from __future__ import annotations

import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...pipeline.errors import InputError
from ...pipeline.noise import noise_of
from ...pipeline.run.task import run_cell
from ...pipeline.store.merging import COUNTED, MEASURED
from ...pipeline.study.plan import Plan, make_plan
from ...pipeline.study.study_file import parse_study

TASK, ANSWER = "task.json", "answer.json"
# The columns that identify a cell, so that it can be planned again.
IDENTIFIED_BY = ("key", "dataset", "parent", "algorithm", "noise", "stage", "seed", "params")
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
    if value is None or value is np.ma.masked or (isinstance(value, float) and math.isnan(value)):
        return None
    return None if str(value) == "<NA>" else kind(value)


def recompute(task: dict[str, Any], plugins: list[str]) -> dict[str, Any]:
    """Compute the cells of a task document; return the results of cell and curve, or the error, by key."""
    study = parse_study(task["study"])
    needed = {cell["parent"] for cell in task["cells"]}
    datasets = [each for each in study.datasets if each.label in needed]
    study = study.model_copy(update={"datasets": datasets})
    plan = make_plan(study, base=Path(task["base"]), plugins=tuple(plugins))
    return {cell["key"]: _recomputed(plan, cell) for cell in task["cells"]}


def _recomputed(plan: Plan, wanted: dict[str, Any]) -> dict[str, Any]:
    group = wanted["dataset"], wanted["algorithm"], noise_of(wanted["noise"])
    cell = plan.cell(group, wanted["stage"], wanted["seed"], json.loads(wanted["params"]))
    if cell is None or cell.key != wanted["key"]:
        return {
            "error": "has another key here or is not planned: the code, the data or the plug-in are not "
            "those of the archive"
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
        resource.RLIMIT_AS: int(memory * 1e9),
        resource.RLIMIT_FSIZE: _MOST_WRITTEN,
        resource.RLIMIT_CORE: 0,
    }
    for kind, most in limits.items():
        resource.setrlimit(kind, (most, most))


def main() -> None:
    """Recompute the cells listed in the file `TASK`, and write results or an error to the file `ANSWER`."""
    _limit(float(sys.argv[1]), float(sys.argv[2]))
    answer: dict[str, Any]
    try:
        plugins = sorted(str(path.resolve()) for path in Path("plugins").glob("*.py"))
        answer = {"cells": recompute(json.loads(Path(TASK).read_text()), plugins)}
    except (InputError, MemoryError) as error:
        answer = {"error": str(error) or "out of memory"}
    # Write a file with another name and rename it, so that the file `ANSWER` is complete or does not exist.
    scratch = Path(f"{ANSWER}.tmp")
    scratch.write_text(json.dumps(answer))
    scratch.replace(ANSWER)


if __name__ == "__main__":
    main()
