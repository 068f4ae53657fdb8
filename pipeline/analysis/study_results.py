"""Read the results of a study for its report: cells and curves of the plan, and their provenance."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from ..errors import InputError
from ..noise import noise_of
from ..store.store import Store
from ..store.tables import as_planned
from ..study.study import Study
from .design import evaluation_rows, one_repetition
from .tuning import Tuned, tuned_grids

if TYPE_CHECKING:
    import pandas as pd

# Largest number of characters that are shown of a wrong text.
_SHOWN = 200


@dataclass(frozen=True)
class StudyResults:
    """The stored results of the cells that are in a study's current plan."""

    # The two tables of the store, without rows of earlier versions of the study. If the study takes cells
    # from other results (bases), column "base" of `cells` names the base; it is None if the store itself has
    # the cell.
    cells: pd.DataFrame
    curves: pd.DataFrame
    # The validated study as it was run; later versions of the package may not accept it.
    study: dict[str, Any]
    # Number of cells of the plan, tuning included.
    planned: int
    # Environment of the latest run, the number of runs and, of several runs, the command of each.
    provenance: dict[str, Any] = field(default_factory=dict)
    # For every parameter grid: the scores of its points and the winner.
    tuning: list[Tuned] = field(default_factory=list)


def has_results(url: str) -> bool:
    """Return whether a folder or URL contains results."""
    return Store(url).exists()


def read_results(url: str) -> StudyResults:
    """Read the results in a folder or at a URL; raise InputError if there are none or they are damaged."""
    store = Store(url)
    if not store.exists():
        raise InputError(f"{url}: no results here: give a folder that `singlepass run` wrote")
    # Check the version first, because its error says what to do about results of another version.
    store.check_version()
    store.use_bases()
    study, plan = store.read_json("study.json"), store.read_json("plan.json")
    for name, content in (("study.json", study), ("plan.json", plan)):
        if not content:
            raise InputError(f"{url}: {name} is missing: run the study again to write it")
    if not _has_right_types(study):
        raise InputError(f"{url}/study.json: damaged, or changed by hand: run the study again to write it")
    runs = store.read_json("provenance.json").get("runs") or [{}]
    planned = store.plan()
    keys = planned["key"].to_pylist()
    stored = as_planned(store.cells(keys), planned)
    check_cells(url, stored)
    _check_points(url, stored)
    cells = one_repetition(stored, study)
    _refuse_repeated(url, cells)
    curves = store.curves(cells["key"].unique().tolist())
    # Derive the noise rates here, because results of earlier versions lack this column.
    rates = {noise: noise_of(noise).uniform_rate for noise in cells["noise"].unique()}
    cells["noise_rate"] = cells["noise"].map(rates).astype("float64")
    if store.bases:
        origin = store.base_of(keys)
        cells["base"] = [origin[key].name if key in origin else None for key in cells["key"]]
    own_rules = {each["label"]: each["winner"] for each in study.get("algorithms", []) if each.get("winner")}
    return StudyResults(
        cells,
        curves,
        study,
        planned=plan["planned"] - (len(stored) - len(cells)),
        provenance={**runs[-1], "runs": len(runs)}
        | ({"commands": [run.get("command") for run in runs]} if len(runs) > 1 else {}),
        tuning=tuned_grids(cells, study.get("winner", "best"), own_rules),
    )


def _has_right_types(study: Mapping[str, Any]) -> bool:
    """Return whether the values of a study have types that this version reads.

    Other values that the parser refuses are accepted, because a study of an earlier version may have them.
    """
    try:
        Study.model_validate(study)
    except ValidationError as error:
        for each in error.errors():
            place, kind = each["loc"], each["type"]
            choice = kind == "literal_error" and ("winner" in place or not isinstance(each["input"], str))
            if kind.endswith("_type") or choice or {"noise", "seeds", "focus_noise"}.intersection(place):
                return False
    entries = [entry for key in ("datasets", "algorithms") for entry in study.get(key, [])]
    return all(isinstance(entry.get("label"), str) for entry in entries)


def check_cells(where: str, cells: pd.DataFrame) -> None:
    """Raise InputError, which begins with `where`, if a text in a cells table is not what a run writes."""
    readers = {"dataset": _name, "algorithm": _name, "noise": noise_of, "params": _table, "grid": _grid}
    for column, read in readers.items():
        for text in cells[column].dropna().unique():
            try:
                read(text)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                raise _wrong_cell(where, column, text) from None


def _check_points(where: str, cells: pd.DataFrame) -> None:
    """Raise InputError if the parameters of a tuning cell are not a point of its grid."""
    tuning = cells.loc[(cells["stage"] == "tune") & (cells["status"] == "ok"), ["grid", "params"]]
    for grid, params in tuning.drop_duplicates().itertuples(index=False):
        point = _table(params)
        if not isinstance(grid, str) or any(point.get(name) not in of for name, of in _grid(grid).items()):
            raise _wrong_cell(where, "params", params)


def _refuse_repeated(where: str, cells: pd.DataFrame) -> None:
    """Raise InputError if two finished cells have the same algorithm, data set, noise and seed."""
    finished = evaluation_rows(cells, status="ok")[["algorithm", "dataset", "noise", "seed"]]
    for algorithm, dataset, noise, seed in finished[finished.duplicated()].itertuples(index=False):
        raise InputError(
            f"{where}: cells table: two cells are of {algorithm} on {dataset}, noise {noise}, seed {seed}: "
            "run the study again into another folder"
        )


def _wrong_cell(where: str, column: str, text: str) -> InputError:
    return InputError(
        f"{where}: cells table: {column} of a cell is {text[:_SHOWN]!r}, which no study has: "
        "run the study again into another folder"
    )


def _name(text: str) -> str:
    if not text:
        raise ValueError("empty")
    return text


def _table(text: str) -> dict[str, Any]:
    found = json.loads(text)
    if not isinstance(found, dict):
        raise TypeError("not a table")
    return found


def _grid(text: str) -> dict[str, list[Any]]:
    found = _table(text)
    if not all(isinstance(values, list) for values in found.values()):
        raise TypeError("not lists of values")
    return found
