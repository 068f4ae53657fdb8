"""The results of a study as its report reads them: cells and curves of the plan, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..noise import noise_of
from ..store.store import Store
from ..store.tables import as_planned
from .tuning import Tuned, tuned_grids

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StudyResults:
    """What a store holds of its study's current plan.

    Attributes
    ----------
    cells, curves : DataFrame
        The tables of the store, without rows that an earlier form of the study left behind.
    study : dict
        The validated study as it was run; a later version need not accept it.
    planned : int
        Cells of the plan, tuning included.
    provenance : dict
        What the latest run was made with, and the number of runs.
    tuning : list of Tuned
        The outcome of every grid.
    """

    cells: pd.DataFrame
    curves: pd.DataFrame
    study: dict[str, Any]
    planned: int
    provenance: dict[str, Any] = field(default_factory=dict)
    tuning: list[Tuned] = field(default_factory=list)


def read_results(url: str) -> StudyResults:
    """Read the results in a folder or at an fsspec URL.

    Parameters
    ----------
    url : str
        What ``singlepass run`` wrote to.

    Returns
    -------
    StudyResults

    Raises
    ------
    InputError
        There are no results, or a part of them is damaged.
    """
    store = Store(url)
    if not store.exists():
        raise InputError(f"{url}: no results here: give a folder that `singlepass run` wrote")
    # Asked first: of results of another version this says what to do.
    store.check_version()
    study, plan = store.read_json("study.json"), store.read_json("plan.json")
    for name, content in (("study.json", study), ("plan.json", plan)):
        if not content:
            raise InputError(f"{url}: {name} is missing: run the study again to write it")
    runs = store.read_json("provenance.json").get("runs", [{}])
    planned = store.plan()
    keys = planned["key"].to_pylist()
    cells, curves = as_planned(store.cells(keys), planned), store.curves(keys)
    # Uniform noise is written as its rate. Rows of an earlier version have no column of it.
    rates = {noise: noise_of(noise).uniform_rate for noise in cells["noise"].unique()}
    cells["noise_rate"] = cells["noise"].map(rates).astype("float64")
    own_rules = {each["label"]: each["winner"] for each in study.get("algorithms", []) if each.get("winner")}
    return StudyResults(
        cells,
        curves,
        study,
        planned=plan["planned"],
        provenance={**runs[-1], "runs": len(runs)},
        tuning=tuned_grids(cells, study.get("winner", "best"), own_rules),
    )
