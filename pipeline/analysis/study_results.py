"""Read the results of a study for its report: cells and curves of the plan, and their provenance."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..noise import noise_of, parse_noise
from ..store.store import Store, existing
from ..store.tables import as_planned
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
    store = existing(url)
    # Check the version first, because its error says what to do about results of another version.
    store.check_version()
    store.use_bases()
    study, plan = store.read_json("study.json"), store.read_json("plan.json")
    for name, content in (("study.json", study), ("plan.json", plan)):
        if not content:
            raise InputError(f"{url}: {name} is missing: run the study again to write it")
    check_study(url, study)
    runs = store.read_json("provenance.json").get("runs") or [{}]
    planned = store.plan()
    keys = planned["key"].to_pylist()
    stored = as_planned(store.cells(keys), planned)
    check_cells(url, stored)
    cells = one_repetition(stored, study)
    _refuse_repeated(url, cells)
    curves = store.curves(cells["key"].unique().tolist())
    # Derive the noise rates here, because results of earlier versions lack this column.
    rates = {noise: noise_of(noise).uniform_rate for noise in cells["noise"].unique()}
    cells["noise_rate"] = cells["noise"].map(rates).astype("float64")
    if store.bases:
        origin = store.base_of(keys)
        cells["base"] = [origin[key].name if key in origin else None for key in cells["key"]]
    return StudyResults(
        cells,
        curves,
        study,
        planned=plan["planned"] - (len(stored) - len(cells)),
        provenance={**runs[-1], "runs": len(runs)}
        | ({"commands": [run.get("command") for run in runs]} if len(runs) > 1 else {}),
        tuning=_tuned(url, cells, study),
    )


def check_study(where: str, study: Mapping[str, Any]) -> None:
    """Raise InputError, which begins with `where`, if a study's noise cannot be read, or it has no seed."""
    own = [noise for each in study.get("rankings", []) for noise in each.get("focus_noise", [])]
    reason = "seeds: the list is empty" if study.get("seeds") == [] else ""
    try:
        for noise in [*study.get("noise", []), *own]:
            parse_noise(noise)
    except ValueError as error:
        reason = f"noise: {error}"
    if reason:
        raise InputError(
            f"{where}/study.json: {reason}: damaged, changed by hand, or of another version of singlepass: "
            "run the study again to write it"
        )


def check_cells(where: str, cells: pd.DataFrame) -> None:
    """Raise InputError, which begins with `where`, if a text in a cells table is not what a run writes."""
    for column in ("dataset", "algorithm"):
        if (cells[column] == "").any():
            raise _wrong_cell(where, column, "")
    readers: dict[str, Callable[[str], Any]] = {"noise": noise_of, "params": _items, "grid": _items}
    for column, read in readers.items():
        for text in cells[column].dropna().unique():
            try:
                read(text)
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError):
                raise _wrong_cell(where, column, text) from None


def _items(text: str) -> Any:
    return json.loads(text).items()


def _tuned(where: str, cells: pd.DataFrame, study: Mapping[str, Any]) -> list[Tuned]:
    """Return the outcome of tuning; raise InputError if a tuning cell is not what a run writes."""
    own_rules = {each["label"]: each["winner"] for each in study.get("algorithms", []) if each.get("winner")}
    try:
        return tuned_grids(cells, study.get("winner", "best"), own_rules)
    except (ValueError, LookupError, TypeError, AttributeError):
        raise InputError(
            f"{where}: cells table: a tuning cell is not a point of its grid or has no counts, or study.json "
            "has an unknown 'winner': run the study again into another folder"
        ) from None


def _refuse_repeated(where: str, cells: pd.DataFrame) -> None:
    """Raise InputError if two finished cells have the same algorithm, data set, noise and seed."""
    finished = evaluation_rows(cells, status="ok")[["algorithm", "dataset", "noise", "seed"]]
    for algorithm, dataset, noise, seed in finished[finished.duplicated()].itertuples(index=False):
        raise InputError(
            f"{where}: cells table: two cells are of {algorithm} on {dataset}, noise {noise}, seed {seed}: "
            f"run the study again into another folder, with --base {where}, which reuses cells"
        )


def _wrong_cell(where: str, column: str, text: str) -> InputError:
    return InputError(
        f"{where}: cells table: {column} of a cell is {text[:_SHOWN]!r}, which no study has: "
        "run the study again into another folder"
    )
