"""Compare a new learner with those of a study, compare finished runs, and merge several machines' results."""

from __future__ import annotations

import itertools
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
from pydantic import BaseModel

from ..learners import registry
from ..pipeline import data
from ..pipeline.analysis.design import evaluation_rows, one_repetition, study_design
from ..pipeline.analysis.progress import not_run
from ..pipeline.errors import InputError, did_you_mean
from ..pipeline.noise import parse_noise
from ..pipeline.store.merging import merge_cells, merge_plans, refuse_other_counts
from ..pipeline.store.schema import PLAN
from ..pipeline.store.store import Store, exclusive
from ..pipeline.store.tables import as_planned
from ..pipeline.study.specs import AlgorithmSpec, DatasetSpec
from ..pipeline.study.study import TUNING_SEED, Study
from ..pipeline.study.study_file import parse_study
from .status import existing

Note = Callable[[str], None]


# -- a newcomer ------------------------------------------------------------------------------------


def newcomer(text: str) -> tuple[str, str]:
    """Parse ``FILE.py:NAME``, ``FILE.py`` or ``NAME``; return the plug-in file (or "") and learner's name.

    A file with one learner needs no name. Raises InputError if the file has no such learner.
    """
    path, found, name = text.partition(".py:") if ".py:" in text else (text, "", "")
    if not found and not text.endswith(".py"):
        return "", text
    path = str(Path(f"{path}.py" if found else path).resolve())
    try:
        learners = list(registry.load_plugin(path))
    except (OSError, ImportError, SyntaxError, ValueError) as error:
        raise InputError(str(error)) from None
    if not name and len(learners) > 1:
        raise InputError(
            f"{path} has {len(learners)} learners: name one of {', '.join(learners)} after a colon"
        )
    if name and name not in learners:
        raise InputError(f"{path} has no learner {name!r}: {did_you_mean(name, learners)}")
    return path, name or learners[0]


def with_newcomers(study: Study, names: Sequence[str], folder: Path, note: Note) -> Study:
    """Return a study extended by new learners, which run only on the data sets that are on this machine.

    For each new learner the study gets one more ranking, with this learner as its focus. `note` receives a
    line that names the data sets that are not on this machine. Relative paths of data start at `folder`.
    Raises InputError for a learner that is given twice, or has the label of an algorithm of the study.
    """
    labels = [each.label for each in study.algorithms]
    for name in names:
        if name in labels:
            raise InputError(
                f"--with: {study.name} has an algorithm {name!r} already: write a study that extends it, in "
                "which the learner has another label"
            )
        if names.count(name) > 1:
            raise InputError(f"--with: {name!r} is given twice: name it once")
    there = [
        each.label
        for each in study.datasets
        if all(data.is_here(task) for task in data.expand(**each.entry, base=folder))
    ]
    absent = [each.label for each in study.datasets if each.label not in there]
    if not there:
        raise InputError(
            f"no data set of {study.name} is on this machine: download one with `singlepass data fetch`"
        )
    if absent:
        note(f"data not here: {', '.join(names)} does not run on {', '.join(dict.fromkeys(absent))}")
    own = [{"name": name, **({"datasets": there} if absent else {})} for name in names]
    table = study.model_dump(mode="json", exclude_unset=True)
    focused = [
        {"title": f"{name} and the study's algorithms", "algorithms": [*labels, name], "focus": name}
        for name in names
    ]
    for ranking in focused if absent else ():
        ranking["datasets"] = there
    return parse_study(
        {
            **table,
            "name": f"{study.name}-with-{'-'.join(name.rpartition(':')[2] for name in names)}",
            "extends": study.name,
            "algorithms": [*table["algorithms"], *own],
            "rankings": [*focused, *table.get("rankings", [])],
            "curves": [*table["curves"], *names] if table.get("curves") else [],
        }
    )


# -- several results -------------------------------------------------------------------------------

# Keys of a study whose values may differ between results that are compared: names, what the report shows, and
# limits that change no result.
_OWN = ("name", "title", "description", "extends", "rankings", "curves", "solutions", "time_limit")
# Keys of a study with lists. `merge_results` unites the lists of all results. `compare_results` keeps only
# common entries, but all algorithms.
_LISTS = ("datasets", "noise", "seeds", "algorithms")


@dataclass(frozen=True)
class _Finished:
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
        """Return what identifies the code of an algorithm's planned cells: that of the last run.

        Its first value, the digest of this package's code, is None if the provenance does not have it.
        """
        run = self.runs[-1] if self.runs else {}
        version = run.get("guests", {}).get(algorithm["label"])
        # Earlier results lack versions of plug-ins' learners. A plug-in cannot replace a built-in learner.
        known = version or registry.built_in(algorithm["name"])
        plugins = {} if known else self.plan.get("plugins", {})
        return run.get("code"), version, sorted(plugins.values())

    def cells(self) -> pd.DataFrame:
        """Return the planned cells that are there, with the labels of the plan."""
        plan = self.store.plan()
        return as_planned(self.store.cells(sorted({*plan["key"].to_pylist()})), plan)


def _complete(document: Mapping[str, Any], model: type[BaseModel]) -> dict[str, Any]:
    """Add the default of each key that a document of an earlier version lacks."""
    absent = {
        name: field.get_default(call_default_factory=True)
        for name, field in model.model_fields.items()
        if name not in document and not field.is_required()
    }
    return {**document, **json.loads(json.dumps(absent))}


def _read(url: str) -> _Finished:
    store = existing(url)
    store.check_version()
    study = store.read_json("study.json")
    if not study:
        raise InputError(f"{url}: study.json is missing: run the study again to write it")
    study = _complete(study, Study)
    for key, model in (("datasets", DatasetSpec), ("algorithms", AlgorithmSpec)):
        study[key] = [_complete(entry, model) for entry in study[key]]
    store.use_bases()
    return _Finished(
        store, study, store.read_json("plan.json"), store.read_json("provenance.json").get("runs", [])
    )


def _new_store(out: str) -> Store:
    store = Store(out)
    if store.exists():
        raise InputError(f"{out}: has results already: choose another --out")
    store.prepare()
    return store


def _labelled(entry: Any) -> Any:
    """Return what identifies an entry of a study's list: the label of a table, or another value as text."""
    return entry["label"] if isinstance(entry, dict) and "label" in entry else repr(entry)


def _placeless(entry: Any, alone: Collection[str] = ()) -> Any:
    """Return an entry of a study's list without its paths, because machines have other home folders.

    It keeps which paths there are. Fingerprints tell whether the rows are the same. A data set loses its
    parameters of the algorithms `alone`.
    """
    if not isinstance(entry, dict):
        return entry
    parts = [_placeless(part) for part in entry.get("compose") or []]
    there: dict[str, Any] = {key: bool(entry.get(key)) for key in ("path", "test")}
    if alone and "parameters" in entry:
        given = entry["parameters"].items()
        there["parameters"] = {key: of for key, of in given if key not in alone or not isinstance(of, dict)}
    return {**entry, **there, "compose": parts}


def _contains(entries: Sequence[Any], entry: Any, alone: Collection[str] = ()) -> bool:
    """Return whether a study's list has an entry; a data set may be at another path."""
    return _placeless(entry, alone) in (_placeless(each, alone) for each in entries)


def merge_results(urls: Sequence[str], out: str, note: Note) -> str:
    """Write the cells of several results of a study to a new folder or URL; return a line about them.

    The new study has the seeds, noise levels, data sets and algorithms of all results; `note` receives a line
    for each result whose study differs from the first one's in a key of `_OWN`. Raises InputError if studies
    differ in any other key but "baselines", if two of them use one label for different data sets, algorithms
    or cells, or if two results have different counts of a cell.
    """
    found = [_read(url) for url in urls]
    study = dict(found[0].study)
    for place, other in enumerate(found[1:], 1):
        for earlier in found[:place]:
            _refuse_other_entries(earlier, other)
            _refuse_incomparable(earlier, other)
        for key in _LISTS:
            new = [each for each in other.study[key] if not _contains(study[key], each)]
            study[key] = study[key] + new
        differing = [key for key in _OWN if key in study and study[key] != other.study.get(key, study[key])]
        if differing:
            note(
                f"{other.store.url}: its study differs in {', '.join(differing)}; "
                f"the values of {urls[0]} are kept"
            )
    study["seeds"] = sorted(study["seeds"])
    # The baselines are among the algorithms.
    study["baselines"] = any(each.study["baselines"] for each in found)
    stores = [each.store for each in found]
    try:
        plan = merge_plans(stores)
    except InputError as error:
        plan = None
        note(f"{out} has no report before its study has run there: {error}")
    else:
        _refuse_other_cells(found)
    planned = found[0].plan.get("planned") if all(each.study == study for each in found) else None
    fingerprints: dict[str, str] = {}
    # The path of each plug-in, by file name and checksum: machines have one file at several paths.
    plugins: dict[tuple[str, str], str] = {}
    for each in found:
        fingerprints |= each.plan.get("data", {})
        for path, checksum in each.plan.get("plugins", {}).items():
            plugins.setdefault((Path(path).name, checksum), path)
    store = _new_store(out)
    with exclusive(store, note):
        cells = merge_cells(stores, store)
        store.write_json("study.json", study)
        runs = [run for each in found for run in each.runs]
        store.write_json(
            "provenance.json", {"runs": [run for i, run in enumerate(runs) if run not in runs[:i]]}
        )
        if bases := [base.url for each in stores for base in each.bases]:
            store.use_bases(bases)
            keys = [] if plan is None else plan["key"].unique().to_pylist()
            store.write_bases(Counter(base.url for base in store.base_of(keys).values()))
        if plan is not None:
            store.write_plan([plan])
            planned = planned or len(plan) + _unplanned(store, plan, study)
        known = {path: checksum for (_, checksum), path in plugins.items()}
        document = {"planned": planned or cells, "data": fingerprints, "plugins": known}
        store.write_json("plan.json", document)
    return f"{out}: {cells:,} cells of {', '.join(urls)}"


def _refuse_other_entries(first: _Finished, other: _Finished) -> None:
    """Raise InputError if one label names different data sets or different algorithms in two results."""
    for key, kind in (("datasets", "data set"), ("algorithms", "algorithm")):
        known = {(each["label"], each.get("task")): each for each in first.study[key]}
        for entry in other.study[key]:
            same = _placeless(known.get((entry["label"], entry.get("task")), entry))
            mine = _placeless(entry)
            if differing := [name for name in same | mine if same.get(name) != mine.get(name)]:
                raise InputError(
                    f"{first.store.url} and {other.store.url}: {kind} {entry['label']!r} differs in "
                    f"{', '.join(differing)}: only results of one study can be merged; give one of them "
                    f"another label{', or use `singlepass compare`' if kind == 'algorithm' else ''}"
                )


def _refuse_other_cells(found: Sequence[_Finished]) -> None:
    """Raise InputError if two results have different cells of one algorithm, data set and repetition."""
    planned = {each.store.url: _identified(each.cells(), found[0].study["seeds"][0]) for each in found}
    _refuse_other_rows(found, planned, one_seed=False)
    for (first, one), (second, two) in itertools.combinations(planned.items(), 2):
        if other := _conflicting(one, two, tune_each=found[0].study["tune_each"]):
            raise InputError(
                f"{first} and {second}: the cells of {', '.join(other)} differ in code, rows or winners of a "
                "grid: `singlepass compare` shows both"
            )


def _refuse_other_rows(
    found: Sequence[_Finished], planned: Mapping[str, pd.DataFrame], *, one_seed: bool
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
            # Earlier versions did not record of one seed whether results depend on it.
            single = group.loc[group["url"] == last["url"], "seed"].nunique() == 1
            earlier = ", or an earlier version ran it (then run it again first)" if single else ""
            differ = (
                f"all seeds run on {first['dataset']} with noise {first['noise']} in {last['url']}, because "
                f"an algorithm of its study draws random numbers{earlier}, but one seed in {first['url']}"
            )
        bases = " ".join(dict.fromkeys(f"--base {url}" for each in found for url in each.sources))
        raise InputError(f"not comparable: {differ}: run one study with all algorithms, with {bases}")


def _unplanned(store: Store, plan: pa.Table, study: dict[str, Any]) -> int:
    """Return about how many final cells of a merged study none of its results planned.

    They are missing if results differ in two of these: algorithms, data sets, noise levels and seeds. The
    number is exact if all planned cells have run.
    """
    cells = as_planned(store.cells(plan["key"].to_pylist()), plan)
    once = one_repetition(cells, study)
    absent = sum(lack.cells for lack in not_run(once, study_design(once, study)))
    # Some may be planned but not have run. `not_run` ignores data sets without any cell.
    planned = plan.to_pandas()
    waiting = ~planned["key"].isin(cells["key"]) & planned["parent"].isin(cells["parent"])
    return max(0, absent - int(waiting.sum()))


def compare_results(urls: Sequence[str], out: str, command: str | None, note: Note) -> None:
    """Write new results to `out` that refer to the comparable cells of several results, for one report.

    Cells are comparable if all results have their data set, noise level and seed; one that does not depend on
    the seed stands for all seeds. `note` receives a line about the data sets, noise levels and seeds that are
    left out, about each algorithm that runs on none of these data sets, and about each that is left out on a
    data set because cells failed or were stopped. If two results use one label for algorithms with different
    parameters, or perhaps different code, the second label is extended by the name of its results. Raises
    InputError if no algorithm is left, if two results have different counts of a compared cell, if studies
    differ in a key that is neither "baselines" nor in `_LISTS` or `_OWN`, if results of online learners count
    other rows, or if, of several shared seeds, only some results depend on the seed.
    """
    found = [_read(url) for url in urls]
    first = found[0]
    shared = {key: list(first.study[key]) for key in _LISTS}
    for other in found[1:]:
        _refuse_incomparable(first, other)
        # Parameters of an algorithm that one study lacks do not make its data sets different.
        alone = {each["label"] for each in first.study["algorithms"]} ^ {
            each["label"] for each in other.study["algorithms"]
        }
        for key in ("datasets", "noise", "seeds"):
            common = [each for each in shared[key] if _contains(other.study[key], each, alone)]
            if not common:
                raise InputError(
                    f"{first.store.url} and {other.store.url}: no {key} in common: nothing to compare"
                )
            every = (*shared[key], *other.study[key])
            left = [_labelled(each) for each in every if not _contains(common, each, alone)]
            if left:
                note(f"{key} that not all results have are left out: {', '.join(dict.fromkeys(left))}")
            shared[key] = common
    # The algorithms and their cells, by the label in the new results.
    algorithms: dict[str, dict[str, Any]] = {}
    planned: dict[str, pd.DataFrame] = {}
    codes: dict[str, tuple[Any, ...]] = {}
    counts = Counter[str]()
    comparable = {each.store.url: _comparable(each, shared, note) for each in found}
    refuse_other_counts((url for each in found for url in each.sources), comparable.values())
    _refuse_other_rows(found, comparable, one_seed=len(shared["seeds"]) == 1)
    for each in found:
        cells, labels = comparable[each.store.url], dict[str, str]()
        entries, own = _on_shared_data(each, shared, note), dict[str, dict[str, Any]]()
        given = {entry["label"] for entry in entries}
        for entry in sorted(entries, key=_depends):
            entry = _with_labels(entry, labels)
            rows, code = cells[cells["algorithm"] == entry["label"]], each.code_of(entry)
            for label in _labels_for(entry["label"], each):
                # A new label must differ from all labels of the same results.
                if label in given - {entry["label"]}:
                    continue
                rows = rows.assign(algorithm=label)
                known, before = algorithms.get(label), planned.get(label, rows[:0])
                # Keys of cells depend on the version of the code, so a cell in common shows one version.
                common = before.empty or rows.empty or rows["key"].isin(before["key"]).any()
                if known is None or (
                    _same_settings(known, entry, first.study)
                    and (common or (code[0] is not None and codes[label] == code))
                    and not _conflicting(before, rows, tune_each=first.study["tune_each"])
                ):
                    break
            labels[entry["label"]] = label
            own[label] = {**entry, "label": label, "datasets": _united(known or entry, entry)}
            planned[label] = pd.concat([before, rows]).drop_duplicates(_WHAT)
            codes.setdefault(label, code)
            counts[each.store.url] += len(planned[label]) - len(before)
        for label in (labels[entry["label"]] for entry in entries):
            algorithms[label] = own[label]
        theirs = {(of["label"], of["task"]): of["parameters"] for of in each.study["datasets"]}
        shared["datasets"] = [
            _with_parameters_of(dataset, theirs[dataset["label"], dataset["task"]], labels)
            for dataset in shared["datasets"]
        ]
    if not algorithms:
        where = " and ".join(each.store.url for each in found)
        raise InputError(f"{where}: no algorithm runs on a data set in common: nothing to compare")
    study = {**first.study, **shared, "rankings": [], "curves": [], "solutions": []}
    study["algorithms"] = [*algorithms.values()]
    study["name"] = "-and-".join(dict.fromkeys(each.name for each in found))[:100]
    study["title"] = " and ".join(dict.fromkeys(each.study.get("title") or each.name for each in found))
    plan = pd.concat([*planned.values()])[PLAN.names]
    store = _new_store(out)
    with exclusive(store, note):
        store.use_bases([url for each in found for url in each.sources])
        store.write_json("study.json", study)
        store.write_json("plan.json", {"planned": len(plan), "data": first.plan.get("data", {})})
        store.write_plan([pa.Table.from_pandas(plan, PLAN, preserve_index=False)])
        store.write_bases(Counter(base.url for base in store.base_of(plan["key"].unique()).values()))
        run: dict[str, Any] = {"command": command, "started": datetime.now(UTC).isoformat(timespec="seconds")}
        run["bases"] = {url: f"{n:,} cells" for url, n in counts.items()}
        run["fingerprints"] = {label: of for each in found for label, of in each.fingerprints.items()}
        store.write_json("provenance.json", {"runs": [run]})


def _on_shared_data(found: _Finished, shared: dict[str, list[Any]], note: Note) -> list[dict[str, Any]]:
    """Return the algorithms that run on a shared data set; their lists of data sets name no others."""
    labels = {entry["label"] for entry in shared["datasets"]}
    kept = []
    for entry in found.study["algorithms"]:
        bound = [label for label in entry["datasets"] if label in labels]
        if entry["datasets"] and not bound:
            note(
                f"{found.store.url}: {entry['label']} is left out: it runs on none of the data sets that all "
                "results have"
            )
        else:
            kept.append({**entry, "datasets": bound})
    return kept


def _labels_for(label: str, found: _Finished) -> Iterator[str]:
    """Yield an algorithm's label, then new ones: two results may have equal names, but have other URLs."""
    yield label
    yield f"{label} ({found.name})"
    yield f"{label} ({found.store.url})"
    yield from (f"{label} ({found.store.url}, {n})" for n in itertools.count(2))


def _depends(entry: Mapping[str, Any]) -> tuple[bool, bool]:
    """Return a sort key that puts an algorithm after those that it names in `support_of` and `tuned_as`."""
    return any(isinstance(value, dict) for value in entry.values()), entry["tuned_as"] is not None


def _with_labels(entry: Mapping[str, Any], labels: Mapping[str, str]) -> dict[str, Any]:
    """Return an algorithm in which `support_of` and `tuned_as` have the new labels of other algorithms."""
    new = {
        key: {of: labels.get(label, label) for of, label in value.items()}
        for key, value in entry.items()
        if isinstance(value, dict)
    }
    return {**entry, **new, "tuned_as": labels.get(entry["tuned_as"], entry["tuned_as"])}


def _with_parameters_of(
    dataset: Mapping[str, Any], given: Mapping[str, Any], labels: Mapping[str, str]
) -> dict[str, Any]:
    """Return a data set that has the parameters `given` for single algorithms under their new labels."""
    own = {label: given[old] for old, label in labels.items() if isinstance(given.get(old), dict)}
    return {**dataset, "parameters": {**dataset["parameters"], **own}}


def _same_settings(first: Mapping[str, Any], second: Mapping[str, Any], study: Mapping[str, Any]) -> bool:
    """Return whether two algorithms have equal keys, except their labels and data sets.

    `winner` and `tune` have the value of the study if they are not set.
    """
    one, two = (
        {
            **entry,
            **{key: entry[key] or study[key] for key in ("winner", "tune")},
            "label": "",
            "datasets": [],
        }
        for entry in (first, second)
    )
    return one == two


def _united(first: Mapping[str, Any], second: Mapping[str, Any]) -> list[str]:
    """Return the data sets on which one of two algorithms runs; an empty list means all."""
    lists = first["datasets"], second["datasets"]
    return list(dict.fromkeys([*lists[0], *lists[1]])) if all(lists) else []


def _refuse_incomparable(first: _Finished, other: _Finished) -> None:
    """Raise InputError, which names the key or the data, if cells of two results cannot be compared."""
    where = f"{first.store.url} and {other.store.url}"
    for key in first.study:
        mine, theirs = first.study[key], other.study.get(key)
        if key not in (*_OWN, *_LISTS, "baselines") and mine != theirs:
            raise InputError(f"{where}: not comparable: {key} is {mine!r} in one and {theirs!r} in the other")
    for label in first.fingerprints.keys() & other.fingerprints.keys():
        if first.fingerprints[label] != other.fingerprints[label]:
            raise InputError(f"{where}: not comparable: data set {label!r} does not have the same rows")


def _comparable(found: _Finished, shared: dict[str, list[Any]], note: Note) -> pd.DataFrame:
    """Return the finished planned cells of the shared data sets, noise levels and seeds.

    A cell that does not depend on the seed is one of every seed. An algorithm with a failed or stopped cell
    on a data set at a noise level is left out there, because the mean of its other cells would cover fewer
    seeds.
    """
    cells = found.cells()
    slugs = {parse_noise(spec).slug for spec in shared["noise"]}
    labels = {entry["label"] for entry in shared["datasets"]}
    kept = cells["parent"].isin(labels) & cells["noise"].isin(slugs)
    once = cells["repetitions"].notna()
    cells = cells[kept & (once | cells["seed"].isin([*shared["seeds"], TUNING_SEED]))]
    where = ["algorithm", "dataset", "noise"]
    ended = cells[(cells["status"] != "ok") & (cells["stage"] == "run")]
    bad = Counter(ended[where].itertuples(index=False, name=None))
    for (algorithm, dataset, noise), n in sorted(bad.items()):
        note(
            f"{found.store.url}: {algorithm} is left out on {dataset}, noise {noise}: "
            f"{n:,} of its cells failed or were stopped"
        )
    left_out = pd.MultiIndex.from_frame(cells[where]).isin(list(bad))
    return _identified(cells[~left_out & (cells["status"] == "ok")], shared["seeds"][0])


# The columns whose values identify a cell in a report. Cells with equal values here may have different keys:
# of two versions of a learner, of different data, or of different winners of a grid.
_WHAT = ["algorithm", "dataset", "noise", "repetition", "stage", "point"]


def _identified(cells: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Return cells with the columns "point", the parameters of a grid's cell, and "repetition", the seed.

    Cells that do not depend on the seed are the repetition of `seed`, one seed of the merged or compared
    results: if these have no other, such cells are the same as those of studies that draw random numbers.
    """
    once = cells["repetitions"].notna() & (cells["seed"] != TUNING_SEED)
    point = cells["params"].where(cells["stage"] == "tune", "")
    return cells.assign(point=point, repetition=cells["seed"].mask(once, seed))


def _conflicting(first: pd.DataFrame, second: pd.DataFrame, *, tune_each: bool) -> list[str]:
    """Return the algorithms of which two results have different cells where they should have the same.

    Unless each seed tunes grids itself (`tune_each`), the final cells of a grid must have one winner in both.
    """
    one, two = (cells[[*_WHAT, "seed", "key", "params", "grid", "mistakes"]] for cells in (first, second))
    both = one.merge(two, on=_WHAT, suffixes=("", " of second"))
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
