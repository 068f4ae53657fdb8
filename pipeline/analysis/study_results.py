"""The results of a study as its report reads them: cells and curves of the plan, and how they were made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import InputError
from ..store.store import Store
from .tuning import tuned_grids

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class StudyResults:
    """What a store holds of its study's current plan.

    Attributes
    ----------
    cells, curves : DataFrame
        The tables of the store, without rows that an earlier form of the study left behind.
    meta : dict
        ``study`` (the validated study), ``provenance`` (of the latest run), ``tuning`` (one dict for each
        grid) and ``planned`` (number of cells of the plan).
    """

    cells: pd.DataFrame
    curves: pd.DataFrame
    meta: dict[str, Any]


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
    study = store.read_json("study.json")
    if not study:
        raise InputError(f"{url}: study.json is missing: run the study again to write it")
    runs = store.read_json("provenance.json").get("runs", [{}])
    planned = store.planned_keys()
    cells, curves = store.cells(), store.curves()
    cells = cells[cells["key"].isin(planned)].reset_index(drop=True)
    curves = curves[curves["key"].isin(planned)].reset_index(drop=True)
    meta = {
        "study": study,
        "provenance": {**runs[-1], "runs": len(runs)},
        "tuning": [tuned.as_dict() for tuned in tuned_grids(cells, study.get("winner", "best"))],
        "planned": store.read_json("plan.json")["planned"],
    }
    return StudyResults(cells, curves, meta)
