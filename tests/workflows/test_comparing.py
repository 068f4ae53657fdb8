"""Test comparisons with a newcomer and of finished runs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.store import Store, exclusive
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.comparing import compare_results
from singlepass.workflows.finished_results import conflicting, identified
from singlepass.workflows.merging import merge_results
from singlepass.workflows.newcomers import newcomer, with_newcomers
from singlepass.workflows.running.run import run_study

from .conftest import Silent
from .finished_runs import (
    FINAL,
    GRID,
    PLUGIN,
    SMALL,
    STUDY,
    compared,
    read_cells,
    run,
    with_changed_cell,
    with_run,
)

Call = Callable[..., Any]


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
    assert notes == ["left out, because not all results have it: seeds 2"]
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
        "left out, because not all results have it: datasets gauss",
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
