"""Read results of finished runs, and refuse those that must not be merged or compared."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
from pydantic import BaseModel

from ..learners import registry
from ..pipeline.analysis.design import evaluation_rows
from ..pipeline.analysis.study_results import check_cells, check_study
from ..pipeline.errors import InputError
from ..pipeline.store.store import Store, existing
from ..pipeline.store.tables import as_planned
from ..pipeline.study.specs import AlgorithmSpec, DatasetSpec
from ..pipeline.study.study import TUNING_SEED, Study

# Receives lines for the user.
Note = Callable[[str], None]
# Keys of a study whose values may differ between results that are compared: names, what the report shows, and
# limits that change no result.
OWN_KEYS = (
    "name",
    "title",
    "description",
    "extends",
    "rankings",
    "rank_by",
    "curves",
    "solutions",
    "time_limit",
)
# Keys of a study with lists. `merge_results` unites the lists of all results. `compare_results` keeps only
# common entries, but all algorithms.
LIST_KEYS = ("datasets", "noise", "seeds", "algorithms")
# The columns whose values identify a cell in a report. Cells with equal values here may have different keys:
# of two versions of a learner, of different data, or of different winners of a grid.
WHAT = ["algorithm", "dataset", "noise", "repetition", "stage", "point"]


@dataclass(frozen=True)
class FinishedResults:
    """Results of one study, to be merged or compared with others."""

    store: Store
    study: dict[str, Any]
    # Contents of the store's plan.json, and the runs in its provenance.json.
    plan: dict[str, Any]
    runs: list[dict[str, Any]]

    @property
    def name(self) -> str:
        """Return the name of the results in texts: the last part of their folder or URL."""
        return self.store.url.rstrip("/").rpartition("/")[2]

    @property
    def sources(self) -> list[str]:
        """Return the URLs of all stores that have its cells; one without cells of its own is no base."""
        own = [self.store.url] if self.store.own_keys() or not self.store.bases else []
        return [*own, *(base.url for base in self.store.bases)]

    @property
    def fingerprints(self) -> dict[str, str]:
        """Return the fingerprint of each data set by label, of the last run that read it."""
        return {label: of for run in self.runs for label, of in run.get("fingerprints", {}).items()}

    def code_of(self, algorithm: Mapping[str, Any]) -> tuple[Any, ...]:
        """Return what identifies the code of an algorithm's planned cells: that of the last run that had it.

        Its first value, the digest of this package's code, is None if the provenance does not have it.
        """
        run, label = self.runs[-1] if self.runs else {}, algorithm["label"]
        # A plug-in cannot replace a built-in learner.
        built_in = registry.built_in(algorithm["name"])
        if not built_in:
            # The last run of merged results may be one without this algorithm.
            run = next((each for each in reversed(self.runs) if label in each.get("guests", {})), run)
        version = run.get("guests", {}).get(label)
        # Earlier results lack versions of plug-ins' learners.
        known = version or built_in
        plugins = {} if known else self.plan.get("plugins", {})
        return run.get("code"), version, tuple(sorted(plugins.values()))

    def cells(self) -> pd.DataFrame:
        """Return the planned cells that are there, with the labels of the plan."""
        plan = self.store.plan()
        cells = as_planned(self.store.cells(sorted({*plan["key"].to_pylist()})), plan)
        check_cells(self.store.url, cells)
        return cells


def _complete(document: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Add the default of each key that a document of an earlier version lacks."""
    absent = {
        name: field.get_default(call_default_factory=True)
        for name, field in model.model_fields.items()
        if name not in document and not field.is_required()
    }
    # Only noise is not JSON.
    return {**document, **json.loads(json.dumps(absent, default=lambda noise: noise.spec))}


def read_finished(url: str) -> FinishedResults:
    """Read results; raise InputError if there are none at the folder or URL, or if their study is missing."""
    store = existing(url)
    store.check_version()
    study = store.read_json("study.json")
    if not study:
        raise InputError(f"{url}: study.json is missing: run the study again to write it")
    check_study(url, study)
    study = _complete(study, Study)
    for key, model in (("datasets", DatasetSpec), ("algorithms", AlgorithmSpec)):
        study[key] = [_complete(entry, model) for entry in study.get(key, [])]
    store.use_bases()
    return FinishedResults(
        store, study, store.read_json("plan.json"), store.read_json("provenance.json").get("runs", [])
    )


def new_store(out: str) -> Store:
    """Make an empty store; raise InputError if there are results already."""
    store = Store(out)
    if store.exists():
        raise InputError(f"{out}: has results already: choose another --out")
    store.prepare()
    return store


def placeless(entry: Any, alone: Collection[str] = ()) -> Any:
    """Return an entry of a study's list without its paths, because machines have other home folders.

    It keeps which paths there are. Fingerprints tell whether the rows are the same. A data set loses its
    parameters of the algorithms `alone`.
    """
    if not isinstance(entry, dict):
        return entry
    parts = [placeless(part) for part in entry.get("compose") or []]
    there: dict[str, Any] = {key: bool(entry.get(key)) for key in ("path", "test")}
    if alone and "parameters" in entry:
        given = entry["parameters"].items()
        there["parameters"] = {key: of for key, of in given if key not in alone or not isinstance(of, dict)}
    return {**entry, **there, "compose": parts}


def contains(entries: Sequence[Any], entry: Any, alone: Collection[str] = ()) -> bool:
    """Return whether a study's list has an entry; a data set may be at another path."""
    return placeless(entry, alone) in (placeless(each, alone) for each in entries)


def refuse_incomparable(first: FinishedResults, other: FinishedResults) -> None:
    """Raise InputError, which names the key or the data, if cells of two results cannot be compared."""
    where = f"{first.store.url} and {other.store.url}"
    for key in first.study:
        mine, theirs = first.study[key], other.study.get(key)
        if key == "metrics":
            # Their order only matters to the report.
            mine, theirs = sorted(mine), sorted(theirs or [])
        if key not in (*OWN_KEYS, *LIST_KEYS, "baselines") and mine != theirs:
            raise InputError(f"{where}: not comparable: {key} is {mine!r} in one and {theirs!r} in the other")
    for label in first.fingerprints.keys() & other.fingerprints.keys():
        if first.fingerprints[label] != other.fingerprints[label]:
            raise InputError(f"{where}: not comparable: data set {label!r} does not have the same rows")


def refuse_other_rows(
    found: Sequence[FinishedResults], planned: Mapping[str, pd.DataFrame], *, one_seed: bool
) -> None:
    """Raise InputError if results count other rows of a data set, or if only some of them depend on the seed.

    Both depend on all algorithms of a study. Batch learners are exempt from the first check: they count no
    rows of the stream. A comparison of `one_seed` is exempt from the second: each result is one repetition.
    `planned` has the cells of each of the results, by URL.
    """
    rows = pd.concat([evaluation_rows(cells).assign(url=url) for url, cells in planned.items()])
    rows["row"] = rows["counted_from"].fillna(0).astype(int) + 1
    rows["drawn"] = rows["repetitions"].isna()
    checks = [("row", group) for _, group in rows[rows["mistakes"].notna()].groupby("dataset")]
    if not one_seed:
        checks += [("drawn", group) for _, group in rows.groupby(["dataset", "noise"])]
    for column, group in checks:
        first, last = group.sort_values(column, kind="stable").iloc[[0, -1]].to_dict("records")
        if first[column] == last[column]:
            continue
        if column == "row":
            differ = (
                f"results on {first['dataset']} are counted from row {first['row']:,} in {first['url']} "
                f"and from row {last['row']:,} in {last['url']}, because a grid makes all results of a "
                "study count after the rows that tune it"
            )
        else:
            differ = (
                f"all seeds run on {first['dataset']} with noise {first['noise']} in {last['url']}, because "
                "an algorithm of its study draws random numbers there, or an earlier version ran it (then "
                f"run it again first), but one seed in {first['url']}"
            )
        bases = " ".join(dict.fromkeys(f"--base {url}" for each in found for url in each.sources))
        raise InputError(f"not comparable: {differ}: run one study with all algorithms, with {bases}")


def identified(cells: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return cells with the columns "point", the parameters of a grid's cell, and "repetition", the seed.

    Cells that do not depend on the seed are the repetition of `seed`, one seed of the merged or compared
    results: if these have no other, such cells are the same as those of studies that draw random numbers.
    """
    once = cells["repetitions"].notna() & (cells["seed"] != TUNING_SEED)
    point = cells["params"].where(cells["stage"] == "tune", "")
    return cells.assign(point=point, repetition=cells["seed"].mask(once, seed))


def conflicting(first: pd.DataFrame, second: pd.DataFrame, *, tune_each: bool) -> list[str]:
    """Return the algorithms of which two results have different cells where they should have the same.

    Unless each seed tunes grids itself (`tune_each`), the final cells of a grid must have one winner in both.
    """
    one, two = (cells[[*WHAT, "seed", "key", "params", "grid", "mistakes"]] for cells in (first, second))
    both = one.merge(two, on=WHAT, suffixes=("", " of second"))
    # Keys contain the seed, so only counts show whether cells of two seeds are the same repetition.
    uncounted = both["mistakes"].isna() | both["mistakes of second"].isna()
    other_count = ~uncounted & (both["mistakes"] != both["mistakes of second"])
    same_seed = both["seed"] == both["seed of second"]
    other = (both["key"] != both["key of second"]) & (same_seed | other_count)
    found = {*both.loc[other, "algorithm"]}
    final = [cells[(cells["stage"] == "run") & cells["grid"].notna()] for cells in (one, two)]
    groups = [cells.groupby(["algorithm", "dataset", "noise"])["params"].unique() for cells in final]
    for group in () if tune_each else groups[0].index.intersection(groups[1].index):
        winners = [params[group] for params in groups]
        if all(len(each) == 1 for each in winners) and winners[0][0] != winners[1][0]:
            found.add(group[0])
    return sorted(found)
