"""Test comparisons with a newcomer and of finished runs, and merging results of several machines."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.schema import PLAN, PROVENANCE
from singlepass.pipeline.store.store import Store, exclusive
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.comparing import compare_results
from singlepass.workflows.finished_results import WHAT, conflicting, identified, read_finished
from singlepass.workflows.merging import equal_labels, merge_results, under_equal_labels
from singlepass.workflows.newcomers import newcomer, with_newcomers
from singlepass.workflows.running.run import run_study

from .conftest import Silent

Call = Callable[..., Any]
STUDY: dict[str, Any] = {
    "name": "whole",
    "protocol": "holdout",
    "noise": [0.0, 0.2],
    "seeds": 3,
    "checkpoints": 3,
    "datasets": [
        {"name": "gauss", "n_train": 60, "n_test": 30},
        {"name": "breast-cancer", "max_examples": 80},
    ],
    "algorithms": [{"name": "Perceptron"}, {"name": "AROW", "r": [0.1, 1.0]}],
}
GRID, FINAL = 8, 24
SMALL: dict[str, Any] = {"noise": [0.0], "seeds": 1, "checkpoints": 2}
CELL = {"dataset": "d", "noise": "0", "stage": "run", "grid": None, "params": "{}", "mistakes": 5}
PLUGIN = """
class {name}:
    def partial_fit(self, X, y, classes=None):
        return self
    def predict(self, X):
        return [1] * len(X)
"""


def run(out: Path, **keys: Any) -> str:
    run_study(parse_study({**STUDY, **keys}), str(out), progress=Silent())
    return str(out)


def assert_same_cells(found: str, whole: str) -> None:
    tables = [read_results(url) for url in (found, whole)]
    cells = [each.cells.drop(columns=["base", *PROVENANCE], errors="ignore") for each in tables]
    pd.testing.assert_frame_equal(*cells)
    curves = [each.curves.drop(columns="fit_seconds") for each in tables]
    pd.testing.assert_frame_equal(*curves)
    assert tables[0].tuning == tables[1].tuning


def with_changed_cell(folder: str, column: str) -> str:
    """Raise a count of one final cell in a store, and return the cell's key."""
    store = Store(folder)
    with exclusive(store):
        store.compact(above=1)
    [part] = (Path(folder) / "cells").iterdir()
    cells, curves = store.own("cells").to_pylist(), store.own("curves")
    row = next(row for row in cells if row["stage"] == "run" and row["algorithm"] == "AROW")
    row[column] += 1
    for within in ("cells", "curves"):
        (Path(folder) / within / part.name).unlink()
    store.write_tables(
        store.own("cells").schema.empty_table().from_pylist(cells, store.own("cells").schema), curves
    )
    return str(row["key"])


def test_two_halves_are_the_whole(tmp_path: Path) -> None:
    halves = [run(tmp_path / "a", seeds=[0, 2]), run(tmp_path / "b", seeds=[1])]
    whole, merged, notes = run(tmp_path / "whole"), str(tmp_path / "merged"), list[str]()
    line = merge_results(halves, merged, notes.append)
    assert line == f"{merged}: {GRID + FINAL} cells of {halves[0]}, {halves[1]}"
    assert notes == []
    assert_same_cells(merged, whole)
    assert len(read_results(merged).cells) == read_results(merged).planned == GRID + FINAL
    # A run finds every cell, and nothing else to do.
    again = run_study(parse_study(STUDY), merged, progress=Silent())
    assert (again.computed, again.reused) == (0, GRID + FINAL)


@pytest.mark.slow
def test_a_half_of_the_algorithms_and_of_the_data_sets(tmp_path: Path) -> None:
    halves = [
        run(tmp_path / "a", algorithms=STUDY["algorithms"][:1]),
        run(tmp_path / "b", algorithms=STUDY["algorithms"][1:], datasets=STUDY["datasets"][:1]),
        run(tmp_path / "c", algorithms=STUDY["algorithms"][1:], datasets=STUDY["datasets"][1:]),
    ]
    merge_results(halves, str(tmp_path / "merged"), lambda line: None)
    assert_same_cells(str(tmp_path / "merged"), run(tmp_path / "whole"))


@pytest.mark.parametrize("column", ["mistakes", "test_mistakes"])
def test_a_changed_count_is_caught(tmp_path: Path, column: str) -> None:
    halves = [run(tmp_path / "a"), run(tmp_path / "b", seeds=2)]
    key = with_changed_cell(halves[1], column)
    cell = rf"^cell {key} \(AROW on .*, noise .*, seed \d\)"
    line = rf"{cell}: {column} is (\d+) in .*/a, (\d+) in .*/b: one of them"
    with pytest.raises(InputError, match=line):
        merge_results(halves, str(tmp_path / "merged"), lambda line: None)
    assert not read_cells(tmp_path / "merged")
    # The order of the results would decide which count a comparison shows.
    with pytest.raises(InputError, match=line):
        compare_results(halves, str(tmp_path / "both"), None, lambda line: None)
    assert not (tmp_path / "both").exists()


@pytest.mark.slow
def test_a_comparison_ignores_cells_that_it_leaves_out(tmp_path: Path) -> None:
    gauss, cancer = STUDY["datasets"]
    both = [run(tmp_path / name, **SMALL) for name in "ab"]
    key, cells = with_changed_cell(both[1], "mistakes"), Store(both[0]).cells()
    changed = cells.set_index("key").loc[key, "parent"]
    # Its cells of the other data set are no longer planned, but stay in the store.
    run(tmp_path / "a", **SMALL, datasets=[cancer if changed == gauss["name"] else gauss])
    assert key in read_cells(tmp_path / "a")
    compare_results(both, str(tmp_path / "both"), None, lambda line: None)
    assert changed not in set(read_results(str(tmp_path / "both")).cells["dataset"])


def read_cells(out: Path) -> dict[str, str]:
    return Store(str(out)).own_keys()


def test_merging_needs_results_and_a_new_output(tmp_path: Path) -> None:
    half = run(tmp_path / "a", seeds=1)
    with pytest.raises(InputError, match=r"none: no results here"):
        merge_results([half, str(tmp_path / "none")], str(tmp_path / "out"), lambda line: None)
    with pytest.raises(InputError, match="has results already: choose another --out"):
        merge_results([half, half], half, lambda line: None)


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        (
            {"algorithms": [{"name": "Perceptron"}, {"name": "AROW", "r": 0.1}]},
            "algorithm 'AROW' differs in r: only .* another label, or use `singlepass compare`$",
        ),
        (
            {"datasets": [{"name": "gauss", "n_train": 40, "n_test": 30}]},
            "data set 'gauss' differs in n_train: only .* another label$",
        ),
        ({"test_fraction": 0.2}, "not comparable: test_fraction is 0.3 in one and 0.2 in the other"),
    ],
)
def test_results_of_different_studies_are_not_merged(tmp_path: Path, keys: dict[str, Any], line: str) -> None:
    halves = [run(tmp_path / "a", seeds=[0]), run(tmp_path / "b", seeds=[1], **keys)]
    with pytest.raises(InputError, match=line):
        merge_results(halves, str(tmp_path / "merged"), lambda line: None)
    assert not (tmp_path / "merged").exists()


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"datasets": ["digits"]}, "damaged"),
        ({"seeds": 3}, "damaged"),
        ({"noise": [2]}, "noise: 2 is not a noise rate"),
        ({"seeds": []}, "seeds: the list is empty"),
    ],
)
def test_a_damaged_study_is_named(tmp_path: Path, wrong: dict[str, Any], reason: str) -> None:
    store = Store(str(tmp_path / "a"))
    store.prepare()
    store.write_json("study.json", {**parse_study(STUDY).model_dump(mode="json"), **wrong})
    with pytest.raises(InputError, match=f"a/study.json: {reason}"):
        read_finished(store.url)


def test_a_wrong_text_in_the_cells_table_is_named(tmp_path: Path) -> None:
    one = run(tmp_path / "a", **SMALL, datasets=STUDY["datasets"][:1], algorithms=STUDY["algorithms"][:1])
    store = Store(str(shutil.copytree(one, tmp_path / "b")))
    cells, curves = store.own("cells"), store.own("curves")
    for within in ("cells", "curves"):
        for part in (tmp_path / "b" / within).iterdir():
            part.unlink()
    rows = [{**row, "params": "r = 1"} for row in cells.to_pylist()]
    store.write_tables(cells.schema.empty_table().from_pylist(rows, cells.schema), curves)
    out, line = str(tmp_path / "both"), f"^{store.url}: cells table: params of a cell is 'r = 1', which no"
    with pytest.raises(InputError, match=line):
        merge_results([one, store.url], out, lambda line: None)
    with pytest.raises(InputError, match=line):
        compare_results([one, store.url], out, None, lambda line: None)


def test_keys_that_a_study_lacks_have_their_defaults(tmp_path: Path) -> None:
    store = Store(str(tmp_path))
    store.prepare()
    store.write_json("study.json", {"name": "s"})
    study = read_finished(store.url).study
    assert (study["noise"], study["folds"], study["algorithms"]) == ([0.0], 10, [])


@pytest.mark.slow
def test_machines_may_have_a_file_at_other_paths(tmp_path: Path) -> None:
    results, noise = [], [0.0, {"model": "pair", "rate": 0.2}]
    for place in ("a", "b"):
        path, test = (tmp_path / place / name for name in ("x.csv", "test.csv"))
        path.parent.mkdir()
        path.write_text("u,v,label\n" + "".join(f"{i % 7},{i % 5},{'ab'[i % 3 > 0]}\n" for i in range(60)))
        test.write_text("u,v,label\n1,2,a\n3,4,b\n")
        files = [{"path": str(path), "test": str(test)}]
        results.append(run(tmp_path / f"of-{place}", seeds=[len(results)], datasets=files, noise=noise))
    # An earlier version did not write all keys.
    store = Store(results[1])
    study = store.read_json("study.json")
    del study["tune_each"], study["algorithms"][0]["reset"]
    store.write_json("study.json", study)
    merge_results(results, str(tmp_path / "merged"), lambda line: None)
    found = read_results(str(tmp_path / "merged"))
    assert len(found.study["datasets"]) == found.cells["source"].nunique() == 1
    untested = run(tmp_path / "untested", seeds=[2], datasets=[{"path": str(path)}], noise=noise)
    with pytest.raises(InputError, match="data set 'x' differs in test: only"):
        merge_results([results[0], untested], str(tmp_path / "refused"), lambda line: None)
    assert len(found.cells) == found.planned == (GRID + FINAL - 8) // 2
    results.append(run(tmp_path / "again", seeds=[0], datasets=files, noise=noise))
    compare_results([results[0], results[2]], str(tmp_path / "both"), None, lambda line: None)
    assert len(read_results(str(tmp_path / "both")).cells) == 8


@pytest.mark.slow
def test_seeds_that_only_some_algorithms_have_are_missing_after_a_merge(tmp_path: Path) -> None:
    halves = [
        run(tmp_path / "a", algorithms=STUDY["algorithms"][:1], seeds=[0, 1]),
        run(tmp_path / "b", algorithms=STUDY["algorithms"][1:], seeds=[1, 2]),
    ]
    merge_results(halves, str(tmp_path / "merged"), lambda line: None)
    found = read_results(str(tmp_path / "merged"))
    # Of two algorithms with three seeds, each lacks one, on two data sets with two levels of noise.
    assert found.planned == GRID + FINAL == len(found.cells) + 2 * 2 * 2


@pytest.mark.slow
def test_equal_algorithms_share_their_cells_after_a_merge(tmp_path: Path) -> None:
    grid, other = STUDY["algorithms"][1], STUDY["algorithms"][0]
    halves = [
        run(tmp_path / "a", algorithms=[{**grid, "label": "A"}, other], seeds=[0, 1]),
        run(tmp_path / "b", algorithms=[{**grid, "label": "B"}, other], seeds=[1, 2]),
    ]
    whole, merged = tmp_path / "whole", str(tmp_path / "merged")
    run(whole, algorithms=[{**grid, "label": "A"}, other, {**grid, "label": "B"}])
    merge_results(halves, merged, lambda line: None)
    found = read_results(merged)
    assert found.planned == len(found.cells) == len(read_results(str(whole)).cells) == 2 * GRID + 12 * 3


@pytest.mark.parametrize(
    ("seed", "parameters", "n"), [(1, {}, 4), (0, {}, 2), (1, {"A": {"r": 1.0}, "B": {"r": 2.0}}, 2)]
)
def test_other_cells_of_one_repetition_are_not_shared(seed: int, parameters: Any, n: int) -> None:
    """They are those of other code; parameters of a data set for one label also make other cells."""
    cells = [
        pd.DataFrame([{**CELL, "algorithm": label, "seed": its, "key": label, "repetitions": None}])
        for label, its in (("A", 0), ("B", seed))
    ]
    study = {"algorithms": [{"label": "A"}, {"label": "B"}], "datasets": [{"parameters": parameters}]}
    plan = pa.table({"key": ["A", "B"], "algorithm": ["A", "B"], **dict.fromkeys(PLAN.names[2:], [None] * 2)})
    groups = equal_labels((), [identified(each, 0) for each in cells], {**study, "tune_each": False})
    assert len(under_equal_labels(plan, groups)) == n


@pytest.mark.parametrize(("version", "plugins", "n"), [("1", (), 1), (None, ("0",), 1), ("2", (), 2)])
def test_an_unknown_version_does_not_keep_labels_apart(version: str | None, plugins: Any, n: int) -> None:
    algorithms, codes = [{"label": "A"}, {"label": "B"}], [(None, "1", ()), (None, version, plugins)]
    found: list[Any] = [
        SimpleNamespace(study={"algorithms": [own]}, code_of=lambda entry, code=code: code)
        for own, code in zip(algorithms, codes, strict=True)
    ]
    cells = pd.DataFrame(columns=[*WHAT, "seed", "key", "params", "grid", "mistakes"])
    study = {"algorithms": algorithms, "datasets": [], "tune_each": False}
    assert len(equal_labels(found, [cells, cells], study)) == n


@pytest.mark.slow
def test_levels_and_seeds_that_a_data_set_lacks_are_missing_after_a_merge(tmp_path: Path) -> None:
    first, second = STUDY["datasets"]
    parts = [
        run(tmp_path / "a", datasets=[first], noise=[0.0], seeds=[0]),
        run(tmp_path / "b", datasets=[second], noise=[0.2], seeds=[1]),
    ]
    merge_results(parts, str(tmp_path / "merged"), lambda line: None)
    found = read_results(str(tmp_path / "merged"))
    final = len(found.cells[found.cells["stage"] == "run"])
    assert final == 2 * 2
    # Of each algorithm: two data sets with two levels of noise and two seeds.
    assert found.planned == len(found.cells) - final + 2 * 2 * 2 * 2


def test_a_part_that_has_not_run_is_planned_after_a_merge(tmp_path: Path) -> None:
    first, second = STUDY["datasets"]
    keys = {**SMALL, "algorithms": STUDY["algorithms"][:1]}
    parts = [
        run(tmp_path / "a", **{**keys, "datasets": [first], "seeds": [0]}),
        run(tmp_path / "b", **{**keys, "datasets": [second], "seeds": [1]}),
    ]
    for within in ("cells", "curves"):
        for part in (tmp_path / "b" / within).iterdir():
            part.unlink()
    merge_results(parts, str(tmp_path / "merged"), lambda line: None)
    found = read_results(str(tmp_path / "merged"))
    # The planned cells of both parts, and seed 1 of the data set that has a cell.
    assert (len(found.cells), found.planned) == (1, 3)


@pytest.mark.slow
def test_other_code_without_a_common_cell_is_not_merged(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"

    def ran(name: str, seed: int, source: str, label: str = "Merged") -> str:
        plugin.write_text(source)
        entry = {"name": "Merged", "label": label}
        study = parse_study({**STUDY, **SMALL, "seeds": [seed], "algorithms": [entry]})
        run_study(study, str(tmp_path / name), progress=Silent(), plugins=(str(plugin),))
        return str(tmp_path / name)

    source = PLUGIN.format(name="Merged")
    one, two = ran("one", 0, source), ran("two", 1, source)
    other = ran("other", 2, source.replace("[1]", "[0]"))
    merge_results([one, two], str(tmp_path / "merged"), lambda line: None)
    with pytest.raises(InputError, match="another version in each, for Merged: run one of the studies again"):
        merge_results([one, other], str(tmp_path / "refused"), lambda line: None)
    assert not (tmp_path / "refused").exists()
    # Under another label it is another algorithm, so each lacks the seed of the other.
    apart = ran("apart", 2, source.replace("[1]", "[0]"), "Other")
    merge_results([one, apart], str(tmp_path / "labels"), lambda line: None)
    assert len(read_results(str(tmp_path / "labels")).cells) == 2 * len(STUDY["datasets"])
    # The last run of merged results does not have the plug-in's learner.
    last = run(tmp_path / "last", **SMALL, algorithms=[{"name": "Perceptron"}])
    merge_results([one, last], str(tmp_path / "both"), lambda line: None)
    merge_results([str(tmp_path / "both"), two], str(tmp_path / "all"), lambda line: None)


def with_run(url: str, **keys: Any) -> str:
    """Change keys of the only run in the provenance of results; None removes a key."""
    store = Store(url)
    [ran] = store.read_json("provenance.json")["runs"]
    run = {key: value for key, value in {**ran, **keys}.items() if value is not None}
    store.write_json("provenance.json", {"runs": [run]})
    return url


@pytest.mark.slow
def test_another_version_without_a_common_cell_is_told(tmp_path: Path) -> None:
    keys = {**SMALL, "algorithms": STUDY["algorithms"][:1]}
    one, both, two = (
        run(tmp_path / name, **{**keys, "seeds": seeds})
        for name, seeds in zip("acb", ([0], [0, 1], [1]), strict=True)
    )
    line = (
        f"{one} and {two}: other or unknown versions of singlepass ran Perceptron, and no common cells show "
        "that all these versions give the same results"
    )
    for place, code in enumerate(("0", None)):
        with_run(two, code=code)
        notes: list[str] = []
        merge_results([one, two], str(tmp_path / f"merged-{place}"), notes.append)
        assert notes == [line]
    # A third result that has cells of both links them.
    merge_results([one, two, both], str(tmp_path / "linked"), notes.append)
    assert notes == [line]
    # Results that did not run the algorithm are not named.
    last = run(tmp_path / "d", **{**keys, "algorithms": [{"name": "AROW", "r": 1.0}]})
    merge_results([one, two, last], str(tmp_path / "without"), notes.append)
    assert notes == [line] * 2
    # Two unknown versions may differ.
    merge_results([with_run(one, code=None), two], str(tmp_path / "unknown"), notes.append)
    assert notes == [line] * 3
    # Labels are no part of keys, so equal algorithms are one here, too.
    entry = {"name": "Perceptron", "label": "Other"}
    other = with_run(run(tmp_path / "other", **{**keys, "seeds": [2], "algorithms": [entry]}), code="0")
    merge_results([one, other], str(tmp_path / "labels"), notes.append)
    assert "ran Perceptron, Other, and" in notes[-1]


@pytest.mark.slow
def test_a_line_on_other_versions_names_the_results_that_ran_the_algorithm(tmp_path: Path) -> None:
    both = [{"name": "Perceptron"}, {"name": "AROW", "r": 1.0}]
    one, two, three = (
        with_run(run(tmp_path / str(seed), **SMALL | {"seeds": [seed], "algorithms": ran}), code=str(seed))
        for seed, ran in enumerate((both, both, both[1:]))
    )
    notes: list[str] = []
    merge_results([one, two, three], str(tmp_path / "merged"), notes.append)
    assert [note.partition(", and")[0] for note in notes] == [
        f"{one} and {two}: other or unknown versions of singlepass ran Perceptron",
        f"{one} and {two} and {three}: other or unknown versions of singlepass ran AROW",
    ]


@pytest.mark.slow
def test_an_unknown_version_of_a_plugin_is_not_another_one(tmp_path: Path) -> None:
    def ran(name: str, seed: int, learner: str) -> str:
        plugin = tmp_path / f"{learner}.py"
        plugin.write_text(PLUGIN.format(name=learner))
        study = parse_study({**STUDY, **SMALL, "seeds": [seed], "algorithms": [{"name": learner}]})
        run_study(study, str(tmp_path / name), progress=Silent(), plugins=(str(plugin),))
        return str(tmp_path / name)

    one, two, other = ran("one", 0, "Old"), ran("two", 1, "Old"), ran("other", 0, "Else")
    merge_results([with_run(one, guests=None), two], str(tmp_path / "half"), lambda line: None)
    # Merged results name all plug-ins.
    both = str(tmp_path / "both")
    merge_results([one, with_run(other, guests=None)], both, lambda line: None)
    merge_results([both, with_run(two, guests=None)], str(tmp_path / "all"), lambda line: None)
    plan = Store(two).read_json("plan.json")
    Store(two).write_json("plan.json", {**plan, "plugins": {"Old.py": "0"}})
    with pytest.raises(InputError, match="another version in each, for Old: "):
        merge_results([both, two], str(tmp_path / "refused"), lambda line: None)


@pytest.mark.slow
def test_tasks_of_one_name_are_merged_only_if_the_studies_ask_for_one(tmp_path: Path) -> None:
    keys = {**SMALL, "algorithms": STUDY["algorithms"][:1]}

    def ran(folder: str, seed: int, **dataset: Any) -> str:
        datasets = [{"max_examples": 80, **dataset}]
        return run(tmp_path / folder, **{**keys, "seeds": [seed], "datasets": datasets})

    one = ran("one", 0, name="breast-cancer")
    two = ran("two", 1, name="breast-cancer", task="binary", test_fraction=0.5)
    line = (
        f"^{one} and {two}: data set 'breast-cancer' has task = 'auto' in one and 'binary' in the other, and "
        "both call it 'breast-cancer': give both one task"
    )
    with pytest.raises(InputError, match=line):
        merge_results([one, two], str(tmp_path / "refused"), lambda line: None)
    assert not (tmp_path / "refused").exists()
    pairs = [ran(f"pair-{place}", 0, name="digits", task=f"pair:{place},9") for place in range(2)]
    merge_results(pairs, str(tmp_path / "merged"), lambda line: None)
    assert len(read_results(str(tmp_path / "merged")).study["datasets"]) == 2


def test_a_merged_study_is_valid(tmp_path: Path) -> None:
    keys = {**SMALL, "algorithms": STUDY["algorithms"][:1]}
    gauss, cancer = STUDY["datasets"]
    one = run(tmp_path / "one", **{**keys, "datasets": [{**cancer, "protocol": "crossval"}]})
    two = run(tmp_path / "two", **{**keys, "datasets": [gauss], "seeds": [12]})
    with pytest.raises(InputError, match=f"^the study of {one} and {two}: seeds: with protocol 'crossval'"):
        merge_results([one, two], str(tmp_path / "merged"), lambda line: None)
    assert not (tmp_path / "merged").exists()


@pytest.mark.slow
def test_other_differences_of_studies_are_told(tmp_path: Path) -> None:
    halves = [run(tmp_path / "a", seeds=1), run(tmp_path / "b", seeds=[1], title="Other")]
    notes: list[str] = []
    merge_results(halves, str(tmp_path / "merged"), notes.append)
    assert notes == [f"{halves[1]}: its study differs in title; the values of {halves[0]} are kept"]


def test_finished_runs_in_one_report(tmp_path: Path) -> None:
    one = run(tmp_path / "one", name="one", algorithms=STUDY["algorithms"])
    two = run(
        tmp_path / "two",
        name="two",
        seeds=2,
        algorithms=[{"name": "Perceptron"}, {"name": "AROW", "r": 1.0}, {"name": "NHERD"}],
    )
    notes: list[str] = []
    compare_results([one, two], str(tmp_path / "both"), "singlepass compare", notes.append)
    assert notes == ["seeds that not all results have are left out: 2"]
    found = read_results(str(tmp_path / "both"))
    final = found.cells[found.cells["stage"] == "run"]
    assert final["algorithm"].value_counts().to_dict() == dict.fromkeys(
        ("Perceptron", "AROW", "AROW (two)", "NHERD"), 8
    )
    assert set(final.loc[final["algorithm"] == "NHERD", "base"]) == {two}
    # Nothing is copied.
    assert not read_cells(tmp_path / "both")
    assert len(found.cells) == found.planned


def unfinished(out: Path, **keys: Any) -> str:
    """Run a study, and remove the cells of its second seed."""
    url = run(out, **keys)
    for path in (out / "cells").glob("*.parquet"):
        part = pq.read_table(path)
        pq.write_table(part.filter(pc.field("seed") != 1), path)
    return url


def test_a_comparison_of_unfinished_results_is_not_finished(tmp_path: Path) -> None:
    keys = {
        **SMALL,
        "seeds": [0, 1],
        "datasets": STUDY["datasets"][:1],
        "algorithms": [{"name": "Perceptron"}],
    }
    other = {**keys, "algorithms": [{"name": "NHERD"}]}
    part = unfinished(tmp_path / "part", **keys)
    whole, against = run(tmp_path / "whole", **keys), run(tmp_path / "against", **other)
    for place, (urls, n_cells, planned) in enumerate(
        (
            ((part, against), 3, 4),
            # Other results have the missing cell.
            ((part, whole, against), 4, 4),
        )
    ):
        compare_results(urls, str(tmp_path / str(place)), None, lambda line: None)
        found = read_results(str(tmp_path / str(place)))
        assert (len(found.cells), found.planned) == (n_cells, planned)


@pytest.mark.slow
def test_results_that_took_their_cells_from_bases(tmp_path: Path) -> None:
    study = {**SMALL, "algorithms": STUDY["algorithms"][:1]}
    one, two = run(tmp_path / "one", **study), str(tmp_path / "two")
    taken = run_study(parse_study({**STUDY, **study}), two, bases=(one,), progress=Silent())
    assert taken.computed == 0
    other = run(tmp_path / "other", **{**SMALL, "algorithms": [{"name": "NHERD"}]})
    compared(two, other, out=tmp_path / "both")
    # Results of a comparison have no cells of their own either.
    third = run(tmp_path / "third", **{**SMALL, "algorithms": [{"name": "ROMMA"}]})
    out = tmp_path / "three"
    _, algorithms, cells = compared(str(tmp_path / "both"), third, out=out)
    assert list(algorithms) == ["Perceptron", "NHERD", "ROMMA"]
    listed = {each["url"]: each["cells"] for each in Store(str(out)).read_json("bases.json")["bases"]}
    assert listed == {one: 2, other: 2, third: 2}
    assert cells["base"].value_counts().to_dict() == listed


FAILING = """
class Failing:
    def partial_fit(self, X, y, classes=None):
        if X.shape[1] > 2:
            raise RuntimeError("more than the two features of gauss")
        return self
    def predict(self, X):
        return [1] * len(X)
"""


def test_an_algorithm_whose_cells_failed_is_left_out(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(FAILING)
    study = parse_study({**STUDY, "algorithms": [{"name": "Perceptron"}, {"name": "Failing"}]})
    one = str(tmp_path / "one")
    run_study(study, one, progress=Silent(), plugins=(str(plugin),))
    two = run(tmp_path / "two", algorithms=[{"name": "Perceptron"}])
    notes: list[str] = []
    compare_results([one, two], str(tmp_path / "both"), None, notes.append)
    found = read_results(str(tmp_path / "both"))
    assert set(found.cells.loc[found.cells["algorithm"] == "Failing", "dataset"]) == {"gauss"}
    assert notes == [
        f"{one}: Failing is left out on breast-cancer, noise {noise}: 3 of its cells failed or were stopped"
        for noise in ("0", "0.2")
    ]
    assert len(found.cells) == found.planned


def compared(*urls: str, out: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]], pd.DataFrame]:
    """Compare results; return the new study, its algorithms by label, and the cells."""
    compare_results(urls, str(out), None, lambda line: None)
    found = read_results(str(out))
    parse_study(found.study)
    return found.study, {each["label"]: each for each in found.study["algorithms"]}, found.cells


@pytest.mark.slow
def test_an_algorithm_may_run_on_other_data_sets(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole", **SMALL, algorithms=[{"name": "Perceptron"}, {"name": "AROW"}])
    for place, (perceptron, arow) in enumerate(
        (
            # All data sets, by name, and settings that the study has, too.
            ({"datasets": ["gauss", "breast-cancer"], "winner": "best"}, {"tune": "seed"}),
            ({"datasets": ["gauss"]}, {"datasets": ["breast-cancer"]}),
        )
    ):
        entries = [{"name": "Perceptron", **perceptron}, {"name": "AROW", **arow}]
        part = run(tmp_path / f"part-{place}", **SMALL, algorithms=entries)
        for i, urls in enumerate(([whole, part], [part, whole])):
            _, algorithms, cells = compared(*urls, out=tmp_path / f"{place}-{i}")
            assert {label: each["datasets"] for label, each in algorithms.items()} == {
                "Perceptron": [],
                "AROW": [],
            }
            assert cells["algorithm"].value_counts().to_dict() == {"Perceptron": 2, "AROW": 2}


@pytest.mark.slow
def test_without_a_common_cell_the_code_must_be_the_same(tmp_path: Path) -> None:
    one, two = (
        run(tmp_path / name, **SMALL, algorithms=[{"name": "Perceptron", "datasets": [dataset]}])
        for name, dataset in (("one", "gauss"), ("two", "breast-cancer"))
    )
    _, algorithms, _ = compared(one, two, out=tmp_path / "same")
    assert [each["datasets"] for each in algorithms.values()] == [["gauss", "breast-cancer"]]
    store = Store(two)
    [ran] = store.read_json("provenance.json")["runs"]
    for place, known in enumerate(({"code": None}, {"code": "0"}, {"guests": {"Perceptron": "other"}})):
        store.write_json("provenance.json", {"runs": [{**ran, **known}]})
        _, algorithms, _ = compared(one, two, out=tmp_path / str(place))
        assert {label: each["datasets"] for label, each in algorithms.items()} == {
            "Perceptron": ["gauss"],
            "Perceptron (two)": ["breast-cancer"],
        }


@pytest.mark.slow
def test_a_plugin_of_one_result_does_not_split_a_built_in_learner(tmp_path: Path) -> None:
    plugin, results = tmp_path / "mine.py", list[str]()
    for name, dataset in (("one", "gauss"), ("two", "breast-cancer")):
        plugin.write_text(PLUGIN.format(name="Split").replace("[1]", f"[{len(results)}]"))
        entries = [{"name": learner, "datasets": [dataset]} for learner in ("Perceptron", "Split")]
        study = parse_study({**STUDY, **SMALL, "algorithms": entries})
        results.append(str(tmp_path / name))
        run_study(study, results[-1], progress=Silent(), plugins=(str(plugin),))
    _, algorithms, _ = compared(*results, out=tmp_path / "both")
    assert {label: each["datasets"] for label, each in algorithms.items()} == {
        "Perceptron": ["gauss", "breast-cancer"],
        "Split": ["gauss"],
        "Split (two)": ["breast-cancer"],
    }


@pytest.mark.slow
def test_learners_of_plugins_and_packages_are_one_if_their_versions_are(tmp_path: Path) -> None:
    shared, results = tmp_path / "shared.py", list[str]()
    shared.write_text(PLUGIN.format(name="Shared"))
    for name, dataset in (("one", "gauss"), ("two", "breast-cancer")):
        other = tmp_path / f"{name}.py"
        other.write_text(PLUGIN.format(name=name.title()))
        learners = ("Shared", "sklearn.linear_model:Perceptron")
        entries = [{"name": learner, "datasets": [dataset]} for learner in learners]
        study = parse_study({**STUDY, **SMALL, "algorithms": entries})
        results.append(str(tmp_path / name))
        run_study(study, results[-1], progress=Silent(), plugins=(str(shared), str(other)))
    _, algorithms, _ = compared(*results, out=tmp_path / "both")
    assert list(algorithms) == list(learners)
    # A module that the plug-in imports has changed.
    store = Store(results[1])
    [ran] = store.read_json("provenance.json")["runs"]
    ran["guests"]["Shared"] += "1"
    store.write_json("provenance.json", {"runs": [ran]})
    _, algorithms, _ = compared(*results, out=tmp_path / "other")
    assert sorted(algorithms) == sorted([*learners, "Shared (two)"])
    # Results of a comparison have the versions, by the new labels.
    entry = {"name": "Shared", "datasets": ["gauss", "breast-cancer"]}
    study = parse_study({**STUDY, **SMALL, "seeds": [1], "algorithms": [entry]})
    run_study(study, str(tmp_path / "more"), progress=Silent(), plugins=(str(shared),))
    notes: list[str] = []
    merge_results([str(tmp_path / "both"), str(tmp_path / "more")], str(tmp_path / "merged"), notes.append)
    assert not [line for line in notes if "version" in line]
    with_run(str(tmp_path / "more"), guests={"Shared": "0"})
    with pytest.raises(InputError, match="another version in each, for Shared: "):
        merge_results([str(tmp_path / "both"), str(tmp_path / "more")], str(tmp_path / "out"), notes.append)


@pytest.mark.slow
def test_an_algorithm_without_a_common_data_set_is_left_out(tmp_path: Path) -> None:
    bound = {"name": "AROW", "datasets": ["gauss"]}
    entries = [bound, {"name": "Perceptron", "datasets": ["gauss", "breast-cancer"]}]
    one = run(tmp_path / "one", **SMALL, algorithms=entries)
    two = run(tmp_path / "two", **SMALL, algorithms=[{"name": "NHERD"}], datasets=STUDY["datasets"][1:])
    notes: list[str] = []
    compare_results([one, two], str(tmp_path / "both"), None, notes.append)
    assert notes == [
        "datasets that not all results have are left out: gauss",
        f"{one}: AROW is left out: it runs on none of the data sets that all results have",
    ]
    study = read_results(str(tmp_path / "both")).study
    assert [(each["label"], each["datasets"]) for each in study["algorithms"]] == [
        ("Perceptron", ["breast-cancer"]),
        ("NHERD", []),
    ]
    only = run(tmp_path / "only", **SMALL, algorithms=[bound])
    other = run(tmp_path / "other", **SMALL, algorithms=[{"name": "NHERD", "datasets": ["gauss"]}])
    line = f"^{only} and {other}: no algorithm runs on a data set in common: nothing to compare"
    for folder in (only, other):
        store = Store(folder)
        known = store.read_json("study.json")
        store.write_json("study.json", {**known, "datasets": known["datasets"][1:]})
    with pytest.raises(InputError, match=line):
        compare_results([only, other], str(tmp_path / "none"), None, lambda line: None)


@pytest.mark.slow
def test_a_renamed_algorithm_is_renamed_where_others_name_it(tmp_path: Path) -> None:
    """The grid of AROW differs, and gamma, so that all but the Perceptron are two algorithms each."""
    own = {"AROW": {"loss": "hinge"}}
    results = []
    for name, r, gamma in (("one", [0.1, 1.0], 0.1), ("two", [10.0, 100.0], 0.5)):
        entries = [
            {"name": "AROW", "label": "Tuned", "tuned_as": "AROW"},
            {"name": "Forgetron", "gamma": gamma, "budget": {"support_of": "KernelPerceptron"}},
            {"name": "AROW", "r": r},
            {"name": "KernelPerceptron", "gamma": gamma},
            {"name": "Perceptron"},
        ]
        datasets = [{**STUDY["datasets"][0], "parameters": own}]
        results.append(run(tmp_path / name, **SMALL, algorithms=entries, datasets=datasets))
    study, algorithms, _ = compared(*results, out=tmp_path / "both")
    first = ["Tuned", "Forgetron", "AROW", "KernelPerceptron", "Perceptron"]
    assert list(algorithms) == [*first, *(f"{label} (two)" for label in first[:-1])]
    for of in ("", " (two)"):
        assert algorithms[f"Tuned{of}"]["tuned_as"] == f"AROW{of}"
        assert algorithms[f"Forgetron{of}"]["budget"] == {"support_of": f"KernelPerceptron{of}"}
    assert study["datasets"][0]["parameters"] == {**own, "AROW (two)": own["AROW"]}
    # The results of the second study, again in another folder, are those that have the new labels.
    again = run(tmp_path / "again" / "two", **{**SMALL, "algorithms": entries, "datasets": datasets})
    assert list(compared(*results, again, out=tmp_path / "three")[1]) == list(algorithms)


@pytest.mark.slow
def test_parameters_of_an_algorithm_that_one_study_lacks(tmp_path: Path) -> None:
    results = []
    for name, label, r in (("one", "AROW", 1.0), ("two", "AROW", 2.0), ("three", "Third", 3.0)):
        entries = [{"name": "AROW", "label": label, "r": r}, {"name": "Perceptron"}]
        datasets = [{**STUDY["datasets"][0], "parameters": {label: {"loss": "hinge"}}}]
        results.append(run(tmp_path / name, **SMALL, algorithms=entries, datasets=datasets))
    one, two, three = results
    both = str(tmp_path / "both")
    compared(one, two, out=Path(both))
    for place, urls in enumerate(((both, three), (three, both))):
        study, algorithms, cells = compared(*urls, out=tmp_path / str(place))
        assert set(algorithms) == {"AROW", "AROW (two)", "Third", "Perceptron"}
        labels = ("AROW", "AROW (two)", "Third")
        assert study["datasets"][0]["parameters"] == {label: {"loss": "hinge"} for label in labels}
        assert len(cells) == 4
    # Other parameters of an algorithm that both studies have make another data set.
    other = run(
        tmp_path / "other",
        **SMALL,
        algorithms=entries,
        datasets=[{**STUDY["datasets"][0], "parameters": {"Third": {"loss": "squared_hinge"}}}],
    )
    with pytest.raises(InputError, match="no datasets in common"):
        compare_results([three, other], str(tmp_path / "none"), None, lambda line: None)


@pytest.mark.slow
def test_two_versions_of_a_learner_are_two_algorithms(tmp_path: Path) -> None:
    """They have one label and one entry in the study, and their results are in folders of one name."""
    plugin, results = tmp_path / "mine.py", []
    for n in range(3):
        plugin.write_text(PLUGIN.format(name="Versioned").replace("[1]", f"[1 - 0 * {n}]"))
        study = parse_study({**STUDY, "seeds": 1, "algorithms": [{"name": "Versioned"}]})
        results.append(str(tmp_path / str(n) / "res"))
        run_study(study, results[-1], progress=Silent(), plugins=(str(plugin),))
    compare_results(results, str(tmp_path / "both"), None, lambda line: None)
    counts = read_results(str(tmp_path / "both")).cells["algorithm"].value_counts()
    assert counts.to_dict() == dict.fromkeys(("Versioned", "Versioned (res)", f"Versioned ({results[2]})"), 4)
    with pytest.raises(InputError, match="the cells of Versioned differ in code, rows or winners"):
        merge_results(results[:2], str(tmp_path / "merged"), lambda line: None)


def test_a_new_label_differs_from_the_other_labels_of_the_results(tmp_path: Path) -> None:
    one = run(tmp_path / "x" / "s", **{**SMALL, "algorithms": [{"name": "AROW", "r": 1.0}]})
    entries = [
        {"name": "AROW", "label": label, "r": r}
        for label, r in (("AROW", 2.0), ("AROW (s)", 3.0), (f"AROW ({tmp_path / 'y' / 's'})", 4.0))
    ]
    two = run(tmp_path / "y" / "s", **{**SMALL, "algorithms": entries})
    _, algorithms, cells = compared(one, two, out=tmp_path / "both")
    assert [algorithms[label]["r"] for label in ("AROW", f"AROW ({two}, 2)", "AROW (s)")] == [1.0, 2.0, 3.0]
    assert cells["algorithm"].value_counts().to_dict() == dict.fromkeys(algorithms, 2)


def test_a_repetition_of_every_seed_must_have_one_count() -> None:
    what = {"algorithm": "A", "dataset": "d", "noise": "0", "stage": "run", "grid": None, "params": "{}"}
    first, second, other = (
        pd.DataFrame([{**what, "repetitions": 1, "seed": seed, "key": str(seed), "mistakes": mistakes}])
        for seed, mistakes in ((0, 5), (2, 5), (2, 6))
    )
    drawn = other.assign(repetitions=None)
    assert differing(first, second) == []
    assert differing(first, other) == ["A"]
    # In a comparison of one seed, results of a study that draws random numbers are the same repetition.
    assert differing(second, drawn.assign(key="other version")) == ["A"]
    assert differing(first, drawn) == ["A"]


def differing(first: pd.DataFrame, second: pd.DataFrame, *, tune_each: bool = False) -> list[str]:
    return conflicting(identified(first, 2), identified(second, 2), tune_each=tune_each)


def test_winners_of_one_grid_must_agree() -> None:
    """They may differ if the cells of the other's winner were stopped while one of the results was tuned."""
    what = {"algorithm": "AROW", "dataset": "d", "noise": "0", "stage": "run", "grid": "g"}
    what |= {"repetitions": None, "mistakes": 0}
    first, second = (
        pd.DataFrame([{**what, "seed": seed, "key": str(r), "params": f'{{"r": {r}}}'}])
        for seed, r in ((0, 0.1), (1, 1.0))
    )
    assert differing(first, second) == ["AROW"]
    assert differing(first, second, tune_each=True) == []
    assert differing(first, second.assign(seed=0), tune_each=True) == ["AROW"]
    assert differing(first, first.assign(seed=1)) == []


@pytest.mark.slow
def test_finished_cells_of_a_later_result_count(tmp_path: Path) -> None:
    whole = run(tmp_path / "whole")
    stopped = run(tmp_path / "stopped")
    store = Store(stopped)
    with exclusive(store):
        store.compact(above=1)
    [part] = (tmp_path / "stopped" / "cells").iterdir()
    cells, curves = store.own("cells"), store.own("curves")
    rows = [row | ({"status": "stopped"} if row["algorithm"] == "AROW" else {}) for row in cells.to_pylist()]
    for within in ("cells", "curves"):
        (tmp_path / "stopped" / within / part.name).unlink()
    store.write_tables(cells.schema.empty_table().from_pylist(rows, cells.schema), curves)
    for place, urls in enumerate(([stopped, whole], [whole, stopped])):
        notes: list[str] = []
        compare_results(urls, str(tmp_path / str(place)), None, notes.append)
        assert len(read_results(str(tmp_path / str(place))).cells) == GRID + FINAL
        # Nothing is left out.
        assert notes == []


@pytest.mark.slow
def test_runs_that_cannot_be_compared(tmp_path: Path) -> None:
    one = run(tmp_path / "one", seeds=1)
    other = run(tmp_path / "other", seeds=1, test_fraction=0.2)
    with pytest.raises(
        InputError, match=r"not comparable: test_fraction is 0\.3 in one and 0\.2 in the other"
    ):
        compare_results([one, other], str(tmp_path / "both"), None, lambda line: None)
    other = run(tmp_path / "seeds", seeds=[1])
    with pytest.raises(InputError, match="no seeds in common: nothing to compare"):
        compare_results([one, other], str(tmp_path / "both"), None, lambda line: None)


def test_a_newcomer_is_the_focus_of_the_report(tmp_path: Path) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text(PLUGIN.format(name="FocusedOne"))
    path, name = newcomer(str(plugin))
    assert (path, name) == newcomer(f"{plugin}:FocusedOne") == (str(plugin), "FocusedOne")
    assert newcomer("NHERD") == ("", "NHERD")
    study = with_newcomers(parse_study(STUDY), [name], tmp_path, lambda line: None)
    assert study.name == "whole-with-FocusedOne"
    assert [each.label for each in study.algorithms] == ["Perceptron", "AROW", "FocusedOne"]
    assert study.rankings[0].focus == "FocusedOne"
    with pytest.raises(InputError, match="has no learner 'Others': "):
        newcomer(f"{plugin}:Others")
    plugin.write_text(PLUGIN.format(name="FocusedOne") + PLUGIN.format(name="FocusedTwo"))
    with pytest.raises(InputError, match="has 2 learners: name one of FocusedOne, FocusedTwo after a colon"):
        newcomer(str(plugin))


def test_a_newcomer_has_a_name_of_its_own(tmp_path: Path) -> None:
    for names, line in (
        (["AROW"], "whole has an algorithm 'AROW' already: write a study that extends it"),
        (["NHERD", "NHERD"], "'NHERD' is given twice: name it once"),
    ):
        with pytest.raises(InputError, match=f"^--with: {line}"):
            with_newcomers(parse_study(STUDY), names, tmp_path, lambda line: None)


def test_a_newcomer_runs_where_data_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path / "empty"))
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "cache"))
    datasets = [*STUDY["datasets"], {"name": "usps", "task": "pairs"}]
    notes: list[str] = []
    study = with_newcomers(parse_study({**STUDY, "datasets": datasets}), ["NHERD"], tmp_path, notes.append)
    assert notes == ["data not here: NHERD does not run on usps"]
    assert study.algorithms[-1].datasets == ["gauss", "breast-cancer"]


def test_the_command_line(singlepass: Call, study_file: Path, tmp_path: Path) -> None:
    assert singlepass("run", "small.toml", "--out", "a").returncode == 0
    done = singlepass("compare", "small.toml", "--with", "NHERD", "--base", "a", "--out", "b")
    assert done.returncode == 0, done.stderr
    assert "8 cells computed, 28 reused" in done.stdout
    assert (tmp_path / "b/report.html").exists()
    merged = singlepass("merge", "a", "b", "--out", "c")
    assert merged.stdout == "c: 36 cells of a, b\n"
    for wrong in (
        ["compare", "a"],
        ["compare", "a", "b", "--base", "c"],
        ["compare", "a", "b", "--with", "NHERD"],
    ):
        assert singlepass(*wrong).returncode == 2
