"""Test that editing a study and running it again in one folder gives the results of a fresh folder."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from singlepass.pipeline.analysis.study_results import StudyResults, read_results
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.schema import PROVENANCE
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.notebook.results import load
from singlepass.workflows.report import render_report, write_report
from singlepass.workflows.report.export import export
from singlepass.workflows.running.run import Summary, run_study
from singlepass.workflows.running.workers import WorkerOptions
from singlepass.workflows.status import run_status

from ..conftest import Silent

Table = dict[str, Any]
GAUSS = {"name": "gauss", "n_train": 60, "n_test": 30}
CANCER = {"name": "breast-cancer", "max_examples": 80}
STUDY: Table = {
    "name": "edited",
    "protocol": "holdout",
    "noise": [0.0, 0.2],
    "seeds": 2,
    "checkpoints": 3,
    "datasets": [GAUSS, CANCER],
    "algorithms": [
        {"name": "Perceptron"},
        {"name": "AROW", "r": [0.1, 1.0]},
        {"name": "PassiveAggressive", "label": "PA-I", "C": [0.01, 0.1, 1.0]},
    ],
}


def run(table: Table, out: Path) -> Summary:
    return run_study(parse_study(table), str(out), progress=Silent(), options=WorkerOptions(threads=2))


def report(results: StudyResults, out: Path) -> dict[str, bytes]:
    """Return all files of a report on results without times and places."""
    cells = results.cells.assign(fit_seconds=1.0, total_seconds=1.0, worker="w", attempts=1)
    cells["started"] = pd.Timestamp("2026-01-01", tz="UTC")
    curves = results.curves.assign(fit_seconds=1.0)
    timeless = replace(results, cells=cells, curves=curves, provenance={})
    return {str(path.relative_to(out)): path.read_bytes() for path in render_report(timeless, out)}


def assert_as_fresh(table: Table, edited: Path, folder: Path, *, reports: bool = True) -> None:
    """Check that a folder has the same contents as a fresh one and, with `reports`, the same report."""
    run(table, folder / "fresh")
    found, fresh = read_results(str(edited)), read_results(str(folder / "fresh"))
    pd.testing.assert_frame_equal(
        found.cells.drop(columns=[*PROVENANCE]), fresh.cells.drop(columns=[*PROVENANCE])
    )
    pd.testing.assert_frame_equal(
        found.curves.drop(columns="fit_seconds"), fresh.curves.drop(columns="fit_seconds")
    )
    assert found.tuning == fresh.tuning
    assert found.study == fresh.study
    assert found.planned == fresh.planned
    if reports:
        assert report(found, folder / "report-edited") == report(fresh, folder / "report-fresh")


def changed(change: Callable[[Table], object], table: Table = STUDY) -> Table:
    table = copy.deepcopy(table)
    change(table)
    return table


def tuned(table: Table) -> Table:
    """Return the entry of Passive-Aggressive, at any position."""
    found: Table = next(each for each in table["algorithms"] if each["name"] == "PassiveAggressive")
    return found


def grid(values: list[float]) -> Callable[[Table], object]:
    return lambda table: table["algorithms"][1].update(r=values)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("protocol", "values"),
    [
        ("holdout", [0.1, 1.0, 10.0]),
        ("holdout", [0.01, 0.1, 1.0]),
        ("holdout", [1.0]),
        ("holdout", [1.0, 0.1]),
        ("prequential", [0.1, 1.0, 10.0]),
        ("prequential", [1.0, 0.1]),
    ],
)
def test_a_changed_grid(tmp_path: Path, protocol: str, values: list[float]) -> None:
    before = {**STUDY, "protocol": protocol}
    run(before, tmp_path / "out")
    after = changed(grid(values), before)
    run(after, tmp_path / "out")
    # Run once more, with nothing to compute.
    assert run(after, tmp_path / "out").computed == 0
    assert_as_fresh(after, tmp_path / "out", tmp_path, reports=False)


class Interrupted(Silent):
    """Interrupt a run after its first cells, in the first stage."""

    def expect(self, seconds: float | None) -> None:
        raise KeyboardInterrupt


@pytest.mark.slow
def test_a_changed_study_that_was_interrupted_while_tuning(tmp_path: Path) -> None:
    """No cell of the study before counts as one of the changed study."""
    out = str(tmp_path / "out")
    run(STUDY, tmp_path / "out")
    after = changed(lambda table: table.update(name="other", noise=[0.3]))
    with pytest.raises(KeyboardInterrupt):
        run_study(parse_study(after), out, progress=Interrupted(), options=WorkerOptions(threads=1))
    status = run_status(out)
    assert (status.study, status.planned) == ("other", 22)
    assert 0 < sum(status.cells.values()) <= 10
    cells = read_results(out).cells
    assert {*cells["stage"]} == {"tune"}
    assert {*cells["noise"]} == {"0.3"}
    with pytest.raises(InputError, match="no cell of the study has run yet"):
        write_report(out)
    with pytest.raises(InputError, match="no cell of the study has run yet"):
        export(out, ("ranks",), ())
    with pytest.raises(InputError, match="no cell of the study has run yet"):
        load(out)


@pytest.mark.slow
def test_finished_cells_of_a_study_that_tunes_again_still_count(tmp_path: Path) -> None:
    run(STUDY, tmp_path / "out")
    for part in (tmp_path / "out" / "cells").iterdir():
        table = pq.read_table(part)
        pq.write_table(table.filter(pc.not_equal(table["params"], '{"r": 0.1}')), part)
    assert {*read_results(str(tmp_path / "out")).cells["algorithm"]} == {"Perceptron", "AROW", "PA-I"}
    lacking = run_status(str(tmp_path / "out"))
    with pytest.raises(KeyboardInterrupt):
        run_study(parse_study(STUDY), str(tmp_path / "out"), progress=Interrupted())
    assert run_status(str(tmp_path / "out")).cells["ok"] >= lacking.cells["ok"] > 20
    assert write_report(tmp_path / "out")


@pytest.mark.slow
def test_a_renamed_algorithm_computes_nothing(tmp_path: Path) -> None:
    run(STUDY, tmp_path / "out")
    after = changed(lambda table: [each.update(label=f"my {each['name']}") for each in table["algorithms"]])
    assert run(after, tmp_path / "out").computed == 0
    assert_as_fresh(after, tmp_path / "out", tmp_path)


@pytest.mark.slow
def test_algorithms_with_equal_parameters_share_their_cells(tmp_path: Path) -> None:
    twice = changed(lambda table: table["algorithms"].append({"name": "Perceptron", "label": "again"}))
    summary = run(twice, tmp_path / "out")
    # Two data sets, two noise rates, two seeds.
    assert len(summary.results.cells) - summary.computed == 8
    cells = summary.results.cells
    one, other = (
        cells[cells["algorithm"] == name].drop(columns="algorithm").reset_index(drop=True)
        for name in ("Perceptron", "again")
    )
    pd.testing.assert_frame_equal(one, other)
    assert_as_fresh(twice, tmp_path / "out", tmp_path)


@pytest.mark.slow
def test_whole_numbers_are_floats_where_the_parameter_is_one(tmp_path: Path) -> None:
    run(STUDY, tmp_path / "out")
    after = changed(grid([0.1, 1]))
    assert run(after, tmp_path / "out").computed == 0
    assert_as_fresh(STUDY, tmp_path / "out", tmp_path, reports=False)
    with pytest.raises(InputError, match="algorithm 'AROW': the grid of 'r' contains a value twice"):
        run(changed(grid([1, 1.0])), tmp_path / "out")


@pytest.mark.slow
def test_a_moved_data_file_stays_one_data_set(tmp_path: Path) -> None:
    rows = "".join(f"{i % 7},{i % 3},{'ab'[i % 2]}\n" for i in range(40))
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "x.csv").write_text(f"p,q,class\n{rows}")
    before = {
        **STUDY,
        "datasets": [{"label": "x", "path": str(tmp_path / "old/x.csv"), "target": "class"}],
        "algorithms": [{"name": "Perceptron"}],
    }
    run(before, tmp_path / "out")

    def moved(table: Table) -> None:
        table["datasets"][0]["path"] = str(tmp_path / "new/x.csv")
        table["algorithms"].append({"name": "AROW"})

    after = changed(moved, before)
    assert len(run(after, tmp_path / "out").results.cells) == 8
    assert_as_fresh(after, tmp_path / "out", tmp_path)
    # Results with a base have the study's paths, too.
    run_study(
        parse_study(after),
        str(tmp_path / "based"),
        progress=Silent(),
        options=WorkerOptions(threads=2),
        bases=[str(tmp_path / "out")],
    )
    assert read_results(str(tmp_path / "based")).cells["source"].unique().tolist() == [
        str(tmp_path / "new/x.csv")
    ]


# The edits that the property test draws from: each changes a table in place or leaves it unchanged.
EDITS: dict[str, Callable[[Table], object]] = {
    "grow": lambda table: tuned(table).update(C=[0.01, 0.1, 1.0, 10.0]),
    "shrink": lambda table: tuned(table).update(C=[0.1]),
    "reorder": lambda table: tuned(table).update(C=[1.0, 0.01, 0.1]),
    "no grid": lambda table: tuned(table).update(C=1.0),
    "rename": lambda table: table["algorithms"][0].update(label=f"x{table['algorithms'][0]['name']}"),
    "swap": lambda table: table["algorithms"].reverse(),
    "drop algorithms": lambda table: table.update(algorithms=[tuned(table), {"name": "Perceptron"}]),
    "add algorithm": lambda table: table["algorithms"].insert(
        0, {"name": "Perceptron", "average": True, "label": f"averaged {len(table['algorithms'])}"}
    ),
    "more seeds": lambda table: table.update(seeds=3),
    "one seed": lambda table: table.update(seeds=1),
    "noise": lambda table: table.update(noise=[0.2, 0.3]),
    "clean": lambda table: table.update(noise=0.0),
    "one data set": lambda table: table.update(datasets=[GAUSS]),
    "both data sets": lambda table: table.update(datasets=[CANCER, GAUSS]),
    "sparsest": lambda table: table.update(winner="sparsest"),
}


def check_edits(folder: Path, names: list[str], *, reports: bool) -> None:
    table = copy.deepcopy(STUDY)
    out = folder / "out"
    run(table, out)
    for name in names:
        EDITS[name](table)
        run(table, out)
    assert_as_fresh(table, out, folder, reports=reports)


@pytest.mark.parametrize(
    "names",
    [
        pytest.param(["grow", "rename", "swap", "shrink", "more seeds"], marks=pytest.mark.slow),
        pytest.param(
            ["reorder", "one data set", "noise", "add algorithm", "both data sets", "grow"],
            marks=pytest.mark.slow,
        ),
        ["drop algorithms", "one seed", "no grid", "clean", "sparsest"],
    ],
    ids=" ".join,
)
def test_a_sequence_of_edits(tmp_path: Path, names: list[str]) -> None:
    check_edits(tmp_path, names, reports=True)


@pytest.mark.slow
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(names=st.lists(st.sampled_from(sorted(EDITS)), min_size=4, max_size=8))
def test_any_sequence_of_edits(tmp_path_factory: pytest.TempPathFactory, names: list[str]) -> None:
    # Few and long sequences: the first run and the fresh one, which are compared, cost as much as two edits.
    # A report shows nothing but the results, which are compared; the sequences above compare reports, too.
    check_edits(tmp_path_factory.mktemp("edits"), names, reports=False)
