"""Merge results that several machines have computed for one study."""

from __future__ import annotations

import itertools
import json
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa

from ..pipeline.analysis.design import one_repetition, study_design
from ..pipeline.analysis.progress import not_run
from ..pipeline.errors import InputError
from ..pipeline.store.merging import merge_cells, merge_plans
from ..pipeline.store.schema import PLAN
from ..pipeline.store.store import Store, exclusive
from ..pipeline.store.tables import as_planned
from ..pipeline.study.study_file import parse_study
from .finished_results import (
    LIST_KEYS,
    OWN_KEYS,
    FinishedResults,
    Note,
    conflicting,
    contains,
    identified,
    new_store,
    placeless,
    read_finished,
    refuse_incomparable,
    refuse_other_rows,
)


def merge_results(urls: Sequence[str], out: str, note: Note) -> str:
    """Write the cells of several results of a study to a new folder or URL; return a line about them.

    The new study has the seeds, noise levels, data sets and algorithms of all results; `note` receives a line
    for each result whose study differs from the first one's in a key of `OWN_KEYS` or in the order of its
    metrics. Raises InputError if studies differ in any other key but "baselines", if two of them use one
    label for different data sets, algorithms, learners' code or cells, or if two results have different
    counts of a cell.
    """
    found = [read_finished(url) for url in urls]
    study = dict(found[0].study)
    for place, other in enumerate(found[1:], 1):
        for earlier in found[:place]:
            _refuse_other_entries(earlier, other)
            refuse_incomparable(earlier, other)
        for key in LIST_KEYS:
            new = [each for each in other.study[key] if not contains(study[key], each)]
            study[key] = study[key] + new
        differing = [
            key
            for key in (*OWN_KEYS, "metrics")
            if key in study and study[key] != other.study.get(key, study[key])
        ]
        if differing:
            note(
                f"{other.store.url}: its study differs in {', '.join(differing)}; "
                f"the values of {urls[0]} are kept"
            )
    study["seeds"] = sorted(study["seeds"])
    # The baselines are among the algorithms.
    study["baselines"] = any(each.study["baselines"] for each in found)
    parse_study(study, f"the study of {' and '.join(urls)}")
    stores = [each.store for each in found]
    try:
        plan = merge_plans(stores)
    except InputError as error:
        plan = None
        note(f"{out} has no report before its study has run there: {error}")
    else:
        cells = {each.store.url: identified(each.cells(), found[0].study["seeds"][0]) for each in found}
        _refuse_other_cells(found, cells)
        groups = equal_labels(found, [*cells.values()], study)
        _note_other_versions(found, cells, groups, note)
        plan = under_equal_labels(plan, groups)
    planned = found[0].plan.get("planned") if all(each.study == study for each in found) else None
    fingerprints: dict[str, str] = {}
    # The path of each plug-in, by file name and checksum: machines have one file at several paths.
    plugins: dict[tuple[str, str], str] = {}
    for each in found:
        fingerprints |= each.plan.get("data", {})
        for path, checksum in each.plan.get("plugins", {}).items():
            plugins.setdefault((Path(path).name, checksum), path)
    store = new_store(out)
    with exclusive(store, note):
        n_cells = merge_cells(stores, store)
        store.write_json("study.json", study)
        runs = [run for each in found for run in each.runs]
        store.write_json(
            "provenance.json", {"runs": [run for i, run in enumerate(runs) if run not in runs[:i]]}
        )
        if bases := [base.url for each in stores for base in each.bases]:
            store.use_bases(bases)
            keys = [] if plan is None else plan["key"].to_pylist()
            origin = store.base_of(keys)
            # Like the plan, count a cell that has two labels twice.
            store.write_bases(Counter(origin[key].url for key in keys if key in origin))
        if plan is not None:
            store.write_plan([plan])
            planned = planned or len(plan) + _unplanned(store, plan, study)
        known = {path: checksum for (_, checksum), path in plugins.items()}
        document = {"planned": planned or n_cells, "data": fingerprints, "plugins": known}
        store.write_json("plan.json", document)
    return f"{out}: {n_cells:,} cells of {', '.join(urls)}"


def _refuse_other_entries(first: FinishedResults, other: FinishedResults) -> None:
    """Raise InputError if one label names different data sets or different algorithms in two results."""
    for key, kind in (("datasets", "data set"), ("algorithms", "algorithm")):
        known = {(each["label"], each.get("task")): each for each in first.study[key]}
        for entry in other.study[key]:
            same = placeless(known.get((entry["label"], entry.get("task")), entry))
            mine = placeless(entry)
            if differing := [name for name in same | mine if same.get(name) != mine.get(name)]:
                raise InputError(
                    f"{first.store.url} and {other.store.url}: {kind} {entry['label']!r} differs in "
                    f"{', '.join(differing)}: only results of one study can be merged; give one of them "
                    f"another label{', or use `singlepass compare`' if kind == 'algorithm' else ''}"
                )


def _refuse_other_cells(found: Sequence[FinishedResults], planned: dict[str, pd.DataFrame]) -> None:
    """Raise InputError if cells of two results differ that should be equal, or are of different learners.

    `planned` has the `identified` cells of each of the results, by URL.
    """
    refuse_other_rows(found, planned, one_seed=False)
    for first, second in itertools.combinations(found, 2):
        cells = planned[first.store.url], planned[second.store.url]
        where = f"{first.store.url} and {second.store.url}"
        if other := conflicting(*cells, tune_each=found[0].study["tune_each"]):
            raise InputError(
                f"{where}: the cells of {', '.join(other)} differ in code, rows or winners of a grid: "
                "`singlepass compare` shows both"
            )
        _refuse_equal_tasks(where, (first.study["datasets"], second.study["datasets"]), cells)
        # Keys of cells depend on the version of the code, so a cell in common shows one version.
        common = cells[0].merge(cells[1], on=["key", "algorithm"])["algorithm"]
        apart = {*cells[0]["algorithm"]} & {*cells[1]["algorithm"]} - {*common}
        entries = [entry for entry in first.study["algorithms"] if entry["label"] in apart]
        if other := [
            each["label"] for each in entries if _other_version(first.code_of(each), second.code_of(each))
        ]:
            raise InputError(
                f"{where}: the learner's plug-in or library has another version in each, for "
                f"{', '.join(other)}: run one of the studies again with the version of the other"
            )


def _other_version(first: tuple[Any, ...], second: tuple[Any, ...]) -> bool:
    """Return whether two values of `code_of` show other plug-ins or libraries; unknown ones do not."""
    (_, mine, plugins), (_, theirs, others) = first, second
    if mine and theirs:
        return bool(mine != theirs)
    # Without a version there are the checksums of all plug-ins; merged results have those of several runs.
    return bool(plugins and others) and {*plugins}.isdisjoint(others)


def _note_other_versions(
    found: Sequence[FinishedResults],
    planned: dict[str, pd.DataFrame],
    groups: Sequence[Sequence[str]],
    note: Note,
) -> None:
    """Note algorithms that several or unknown versions of singlepass ran, not linked by common cells.

    `groups` has the `equal_labels`.
    """
    told = defaultdict[tuple[str, ...], list[str]](list)
    for labels in groups:
        codes = {
            each.store.url: each.code_of(own)[0]
            for each in found
            for own in each.study["algorithms"]
            if own["label"] in labels
        }
        urls = list[str]()
        # Results are linked if they have the same version or a cell in common. Each set has the versions and
        # the keys of the cells of results that are linked.
        parts = list[set[str]]()
        for url, code in codes.items():
            if keys := {*planned[url].loc[planned[url]["algorithm"].isin(labels), "key"]}:
                urls.append(url)
                # The URL stands for an unknown version, which may differ from any other.
                keys.add(code or url)
                linked = [part for part in parts if part & keys]
                parts = [part for part in parts if not part & keys] + [keys.union(*linked)]
        if len(parts) > 1:
            told[tuple(urls)] += labels
    for those, labels in told.items():
        note(
            f"{' and '.join(those)}: other or unknown versions of singlepass ran {', '.join(labels)}, and no "
            "common cells show that all these versions give the same results"
        )


def _refuse_equal_tasks(
    where: str, entries: Sequence[Sequence[dict[str, Any]]], cells: Sequence[pd.DataFrame]
) -> None:
    """Raise InputError if one label has different tasks in two results, but these tasks have one name.

    `entries` has the data sets of each result, `cells` its cells. Tasks of one label may have different
    names, such as two pairs of classes.
    """
    for label in dict.fromkeys(entry["label"] for entry in entries[0]):
        asked = [[each["task"] for each in own if each["label"] == label] for own in entries]
        names = [{*own.loc[own["parent"] == label, "dataset"]} for own in cells]
        # If both results have a task, its name is in both sets.
        if set(asked[0]).isdisjoint(asked[1]) and (both := sorted(names[0] & names[1])):
            raise InputError(
                f"{where}: data set {label!r} has task = {asked[0][0]!r} in one and {asked[1][0]!r} in the "
                f"other, and both call it {both[0]!r}: give both one task, or one of them another label, and "
                "run that study again"
            )


def equal_labels(
    found: Sequence[FinishedResults], cells: Sequence[pd.DataFrame], study: Mapping[str, Any]
) -> list[list[str]]:
    """Return the labels of a merged study, those together whose algorithms differ in label only.

    `cells` has the `identified` cells of each of the results.
    """
    equal: dict[str, list[str]] = defaultdict(list)
    for entry in study["algorithms"]:
        given = [each["parameters"].get(entry["label"]) for each in study["datasets"]]
        equal[json.dumps([given, {**entry, "label": ""}], sort_keys=True)].append(entry["label"])
    groups = list[list[str]]()
    for labels in equal.values():
        if len(labels) < 2:
            groups.append(labels)
            continue
        entries = [
            (each, own) for each in found for own in each.study["algorithms"] if own["label"] in labels
        ]
        own = [each[each["algorithm"].isin(labels)].assign(algorithm="") for each in cells]
        pairs = itertools.combinations([each.drop_duplicates("key") for each in own], 2)
        # They are not equal if, for example, one of the results comes from an earlier version of a learner.
        codes = itertools.combinations([each.code_of(entry) for each, entry in entries], 2)
        same = not any(_other_version(*pair) for pair in codes) and not any(
            conflicting(*pair, tune_each=study["tune_each"]) for pair in pairs
        )
        groups += [labels] if same else [[label] for label in labels]
    return groups


def under_equal_labels(plan: pa.Table, groups: Sequence[Sequence[str]]) -> pa.Table:
    """Plan the cells of each algorithm also for those that differ in label only: labels are no part of keys.

    `groups` has the `equal_labels`.
    """
    if not (several := [labels for labels in groups if len(labels) > 1]):
        return plan
    rows = plan.to_pandas()
    parts = [rows]
    for labels in several:
        parts += [rows[rows["algorithm"].isin(labels)].assign(algorithm=label) for label in labels]
    united = pd.concat(parts).drop_duplicates(["key", "algorithm", "grid", "repetitions"])
    return pa.Table.from_pandas(united, PLAN, preserve_index=False)


def _unplanned(store: Store, plan: pa.Table, study: dict[str, Any]) -> int:
    """Return a lower bound on the number of cells of a merged study that none of its results planned.

    There are such cells if results differ in two of these: algorithms, data sets, noise levels and seeds. The
    tuning cells among them are not counted: `singlepass plan` counts them, but needs the data.
    """
    cells = as_planned(store.cells(plan["key"].to_pylist()), plan)
    once = one_repetition(cells, study)
    absent = sum(lack.cells for lack in not_run(once, study_design(once, study)))
    # Some may be planned but not have run. `not_run` ignores data sets without any cell.
    planned = plan.to_pandas()
    waiting = ~planned["key"].isin(cells["key"]) & planned["parent"].isin(cells["parent"])
    return max(0, absent - int(waiting.sum()))
