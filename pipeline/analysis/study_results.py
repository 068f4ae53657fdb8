"""Read the results of a study for its report: cells and curves of the plan, and their provenance."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..noise import noise_of
from ..store.store import Store
from ..store.tables import as_planned
from .design import one_repetition
from .tuning import Tuned, tuned_grids

if TYPE_CHECKING:
    import pandas as pd


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
    runs = store.read_json("provenance.json").get("runs", [{}])
    planned = store.plan()
    keys = planned["key"].to_pylist()
    stored = as_planned(store.cells(keys), planned)
    cells = one_repetition(stored, study)
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
