"""Test merging results of several machines."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pyarrow as pa
import pytest

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.schema import PLAN
from singlepass.pipeline.store.store import Store
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.comparing import compare_results
from singlepass.workflows.finished_results import WHAT, identified, read_finished
from singlepass.workflows.merging import equal_labels, merge_results, under_equal_labels
from singlepass.workflows.running.run import run_study

from .conftest import Silent
from .finished_runs import (
    FINAL,
    GRID,
    PLUGIN,
    SMALL,
    STUDY,
    assert_same_cells,
    read_cells,
    run,
    with_changed_cell,
    with_run,
)

CELL = {"dataset": "d", "noise": "0", "stage": "run", "grid": None, "params": "{}", "mistakes": 5}


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


def test_studies_that_rank_by_other_metrics_are_merged(tmp_path: Path) -> None:
    metrics = ["error", "accuracy"]
    halves = [
        run(tmp_path / "a", seeds=1, metrics=metrics),
        run(tmp_path / "b", seeds=[1], metrics=metrics[::-1], rank_by="accuracy"),
    ]
    notes: list[str] = []
    merge_results(halves, str(tmp_path / "merged"), notes.append)
    assert notes == [
        f"{halves[1]}: its study differs in rank_by, metrics; the values of {halves[0]} are kept"
    ]


def test_a_merge_does_not_need_its_parts_later(tmp_path: Path) -> None:
    mine = run(tmp_path / "mine", seeds=1)
    theirs = str(tmp_path / "theirs")
    run_study(parse_study({**STUDY, "seeds": 2}), theirs, progress=Silent(), bases=[mine])
    merge_results([mine, theirs], str(tmp_path / "merged"), lambda line: None)
    shutil.rmtree(mine)
    shutil.rmtree(theirs)
    merged = read_results(str(tmp_path / "merged"))
    assert len(merged.cells) == merged.planned
