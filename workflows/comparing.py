"""Compare finished runs of several studies in one report."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, TypeAlias

import pandas as pd
import pyarrow as pa

from ..pipeline.errors import InputError
from ..pipeline.noise import parse_noise
from ..pipeline.store.merging import refuse_other_counts
from ..pipeline.store.schema import PLAN
from ..pipeline.store.store import exclusive
from ..pipeline.study.study import TUNING_SEED
from .finished_results import (
    WHAT,
    FinishedResults,
    Note,
    conflicting,
    contains,
    identified,
    new_store,
    read_finished,
    refuse_incomparable,
    refuse_other_rows,
)

# The number of failed or stopped cells by algorithm, data set and noise level.
_Ended: TypeAlias = Mapping[tuple[str, str, str], int]


def compare_results(urls: Sequence[str], out: str, command: str | None, note: Note) -> None:
    """Write new results to `out` that refer to the comparable cells of several results, for one report.

    Cells are comparable if all results have their data set, noise level and seed; one that does not depend on
    the seed stands for all seeds. `note` receives a line about the data sets, noise levels and seeds that are
    left out, about each algorithm that runs on none of these data sets, and about each that is left out on a
    data set because cells failed or were stopped and no other results have them. If two results use one label
    for algorithms with different parameters, or perhaps different code, the second label is extended by the
    name of its results. Cells that results have planned and none has count as not yet run.

    Raises InputError if no algorithm is left, if two results have different counts of a compared cell, if
    studies differ in a key that is neither "baselines" nor in `LIST_KEYS` or `OWN_KEYS`, if results of online
    learners count other rows, or if, of several shared seeds, only some results depend on the seed.
    """
    found = [read_finished(url) for url in urls]
    first = found[0]
    shared = _shared_entries(found, note)
    comparable, ended = dict[str, pd.DataFrame](), dict[str, _Ended]()
    common = {entry["label"] for entry in shared["datasets"]}
    planned, done, later = set[str](), set[str](), 0
    for each in found:
        there, theirs = each.cells(), each.store.plan().to_pandas()
        done.update(there["key"])
        planned.update(theirs.loc[theirs["parent"].isin(common), "key"])
        # Final cells are planned once the grids are tuned, and those that a merge counted are not listed.
        later += max(0, each.plan.get("planned", 0) - len(theirs))
        comparable[each.store.url], ended[each.store.url] = _comparable(there, shared)
    refuse_other_counts((url for each in found for url in each.sources), comparable.values())
    refuse_other_rows(found, comparable, one_seed=len(shared["seeds"]) == 1)
    algorithms = _Algorithms(first.study)
    counts, renamed = Counter[str](), dict[str, dict[str, str]]()
    for each in found:
        before = algorithms.n_cells
        labels = algorithms.add(each, _on_shared_data(each, shared, note), comparable[each.store.url])
        counts[each.store.url] += algorithms.n_cells - before
        renamed[each.store.url] = labels
        given = {(of["label"], of["task"]): of["parameters"] for of in each.study["datasets"]}
        shared["datasets"] = [
            _with_parameters_of(dataset, given[dataset["label"], dataset["task"]], labels)
            for dataset in shared["datasets"]
        ]
    if not algorithms.entries:
        where = " and ".join(each.store.url for each in found)
        raise InputError(f"{where}: no algorithm runs on a data set in common: nothing to compare")
    for url, bad in ended.items():
        algorithms.note_gaps(url, bad, renamed[url], note)
    study = {**first.study, **shared, "rankings": [], "curves": [], "solutions": []}
    study["algorithms"] = [*algorithms.entries.values()]
    study["name"] = "-and-".join(dict.fromkeys(each.name for each in found))[:100]
    study["title"] = " and ".join(dict.fromkeys(each.study.get("title") or each.name for each in found))
    plan = pd.concat([*algorithms.cells.values()])[PLAN.names]
    missing = len(planned - done) + later
    store = new_store(out)
    with exclusive(store, note):
        store.use_bases([url for each in found for url in each.sources])
        store.write_json("study.json", study)
        store.write_json("plan.json", {"planned": len(plan) + missing, "data": first.plan.get("data", {})})
        store.write_plan([pa.Table.from_pandas(plan, PLAN, preserve_index=False)])
        origin = store.base_of(plan["key"].unique())
        # Like the plan, count a cell that has two labels twice.
        store.write_bases(Counter(origin[key].url for key in plan["key"] if key in origin))
        run: dict[str, Any] = {"command": command, "started": datetime.now(UTC).isoformat(timespec="seconds")}
        run["bases"] = {url: f"{n:,} cells" for url, n in counts.items()}
        run["fingerprints"] = {label: of for each in found for label, of in each.fingerprints.items()}
        # A later merge compares versions.
        run["guests"] = {label: version for label, (_, version, _) in algorithms.codes.items() if version}
        codes = {each.code_of(entry)[0] for each in found for entry in each.study["algorithms"]}
        if len(codes) == 1:
            run["code"] = codes.pop()
        store.write_json("provenance.json", {"runs": [run]})


def _shared_entries(found: Sequence[FinishedResults], note: Note) -> dict[str, list[Any]]:
    """Return the data sets, noise levels and seeds that all results have; note the others."""
    first = found[0]
    shared = {key: list(first.study[key]) for key in ("datasets", "noise", "seeds")}
    for other in found[1:]:
        refuse_incomparable(first, other)
        # Parameters of an algorithm that one study lacks do not make its data sets different.
        alone = {each["label"] for each in first.study["algorithms"]} ^ {
            each["label"] for each in other.study["algorithms"]
        }
        for key, entries in shared.items():
            common = [each for each in entries if contains(other.study[key], each, alone)]
            if not common:
                raise InputError(
                    f"{first.store.url} and {other.store.url}: no {key} in common: nothing to compare"
                )
            every = (*entries, *other.study[key])
            left = [_labelled(each) for each in every if not contains(common, each, alone)]
            if left:
                note(f"left out, because not all results have it: {key} {', '.join(dict.fromkeys(left))}")
            shared[key] = common
    return shared


@dataclass
class _Algorithms:
    """The algorithms of several results, with their cells and code, by the label in the new results."""

    #: The first study: algorithms that do not set `winner` or `tune` take its value.
    study: Mapping[str, Any]
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    cells: dict[str, pd.DataFrame] = field(default_factory=dict)
    codes: dict[str, tuple[Any, ...]] = field(default_factory=dict)

    @property
    def n_cells(self) -> int:
        return sum(map(len, self.cells.values()))

    def add(
        self, found: FinishedResults, entries: Sequence[dict[str, Any]], cells: pd.DataFrame
    ) -> dict[str, str]:
        """Add the algorithms `entries` of one of the results; return their new labels by the old ones."""
        labels, own = dict[str, str](), dict[str, dict[str, Any]]()
        given = {entry["label"] for entry in entries}
        for entry in sorted(entries, key=_depends):
            entry = _with_labels(entry, labels)
            rows, code = cells[cells["algorithm"] == entry["label"]], found.code_of(entry)
            label = next(
                label
                for label in _labels_for(entry["label"], found)
                # A new label must differ from all labels of the same results.
                if label not in given - {entry["label"]} and self._takes(label, entry, rows, code)
            )
            labels[entry["label"]] = label
            # The data sets on which one of them runs; an empty list means all.
            lists = self.entries.get(label, entry)["datasets"], entry["datasets"]
            united = list(dict.fromkeys([*lists[0], *lists[1]])) if all(lists) else []
            own[entry["label"]] = {**entry, "label": label, "datasets": united}
            both = pd.concat([self.cells.get(label, rows[:0]), rows.assign(algorithm=label)])
            self.cells[label] = both.drop_duplicates(WHAT)
            self.codes.setdefault(label, code)
        self.entries |= {labels[entry["label"]]: own[entry["label"]] for entry in entries}
        return labels

    def note_gaps(self, url: str, ended: _Ended, labels: Mapping[str, str], note: Note) -> None:
        """Note where an algorithm is left out because cells of the results at `url` have `ended` early.

        `labels` has its new label. Other results may have its cells there.
        """
        cells = pd.concat([*self.cells.values()])
        final = cells.loc[cells["stage"] == "run", ["algorithm", "dataset", "noise"]]
        there = {*final.itertuples(index=False, name=None)}
        for (algorithm, dataset, noise), n in sorted(ended.items()):
            if (labels.get(algorithm, algorithm), dataset, noise) not in there:
                note(
                    f"{url}: {algorithm} is left out on {dataset}, noise {noise}: "
                    f"{n:,} of its cells failed or were stopped"
                )

    def _takes(self, label: str, entry: Mapping[str, Any], rows: pd.DataFrame, code: tuple[Any, ...]) -> bool:
        """Return whether `label` is new, or that of the same algorithm: parameters, code and cells agree."""
        if label not in self.entries:
            return True
        before, rows = self.cells[label], rows.assign(algorithm=label)
        # Keys of cells depend on the version of the code, so a cell in common shows one version.
        common = before.empty or rows.empty or rows["key"].isin(before["key"]).any()
        return (
            _same_settings(self.entries[label], entry, self.study)
            and (common or (code[0] is not None and self.codes[label] == code))
            and not conflicting(before, rows, tune_each=self.study["tune_each"])
        )


def _labelled(entry: Any) -> Any:
    """Return what identifies an entry of a study's list: the label of a table, or another value as text."""
    return entry["label"] if isinstance(entry, dict) and "label" in entry else repr(entry)


def _on_shared_data(found: FinishedResults, shared: dict[str, list[Any]], note: Note) -> list[dict[str, Any]]:
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


def _labels_for(label: str, found: FinishedResults) -> Iterator[str]:
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


def _comparable(cells: pd.DataFrame, shared: dict[str, list[Any]]) -> tuple[pd.DataFrame, _Ended]:
    """Return the finished planned cells of the shared data sets, noise levels and seeds; count the others.

    A cell that does not depend on the seed is one of every seed. An algorithm with a failed or stopped cell
    on a data set at a noise level is left out there, because the mean of its other cells would cover fewer
    seeds.
    """
    slugs = {parse_noise(spec).slug for spec in shared["noise"]}
    labels = {entry["label"] for entry in shared["datasets"]}
    kept = cells["parent"].isin(labels) & cells["noise"].isin(slugs)
    once = cells["repetitions"].notna()
    cells = cells[kept & (once | cells["seed"].isin([*shared["seeds"], TUNING_SEED]))]
    where = ["algorithm", "dataset", "noise"]
    ended = cells[(cells["status"] != "ok") & (cells["stage"] == "run")]
    bad = Counter(ended[where].itertuples(index=False, name=None))
    left_out = pd.MultiIndex.from_frame(cells[where]).isin(list(bad))
    return identified(cells[~left_out & (cells["status"] == "ok")], shared["seeds"][0]), bad
