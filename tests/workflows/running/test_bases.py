"""Test runs that take cells from bases: finished results elsewhere, which are read and never copied."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.bases import BASES
from singlepass.pipeline.store.schema import PROVENANCE
from singlepass.pipeline.store.store import Store, exclusive
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.comparing import compare_results
from singlepass.workflows.merging import merge_results
from singlepass.workflows.planning import outline
from singlepass.workflows.report import render_report
from singlepass.workflows.report.page.table import TableBlock
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections import cost
from singlepass.workflows.running.run import Summary, run_study
from singlepass.workflows.running.workers import WorkerOptions
from singlepass.workflows.status import run_status

from ..conftest import Silent

Table = dict[str, Any]
# A data set that `present` reads from SINGLEPASS_DATA, and one that is generated.
STUDY: Table = {
    "name": "finished",
    "protocol": "holdout",
    "noise": [0.0, 0.2],
    "seeds": 2,
    "checkpoints": 3,
    "datasets": [
        {"name": "gauss", "n_train": 60, "n_test": 30},
        {"name": "breast-cancer", "max_examples": 80},
    ],
    "algorithms": [{"name": "Perceptron"}, {"name": "AROW", "r": [0.1, 1.0]}],
}
PLUGIN = """
class Newcomer:
    def __init__(self, positive=1):
        self.positive = positive
    def partial_fit(self, X, y, classes=None):
        self.classes_ = getattr(self, "classes_", classes)
        return self
    def predict(self, X):
        return [getattr(self, "classes_", (0, 1))[self.positive]] * len(X)
"""
# Planned cells: a grid of two points on two data sets and two noise levels, and two seeds of two algorithms.
GRID, FINAL, NEW = 8, 16, 16


def run(table: Table, out: Path, *bases: object, **options: Any) -> Summary:
    return run_study(
        parse_study(table),
        str(out),
        progress=Silent(),
        options=WorkerOptions(threads=2),
        bases=[*map(str, bases)],
        **options,
    )


def with_newcomer(table: Table = STUDY, **keys: Any) -> Table:
    newcomer = {"name": "Newcomer", "positive": [0, 1], **keys}
    return {**table, "name": "extended", "algorithms": [*table["algorithms"], newcomer]}


def assert_same_results(out: Path, other: Path) -> None:
    """Check that everything that reports are made of is equal, except times."""
    found, whole = read_results(str(out)), read_results(str(other))
    cells = found.cells.drop(columns=["base", *PROVENANCE], errors="ignore")
    pd.testing.assert_frame_equal(cells, whole.cells.drop(columns=[*PROVENANCE]))
    curves = found.curves.drop(columns="fit_seconds")
    pd.testing.assert_frame_equal(curves, whole.curves.drop(columns="fit_seconds"))
    assert (found.tuning, found.study, found.planned) == (whole.tuning, whole.study, whole.planned)
    assert len(found.cells) == whole.planned


def tables(out: Path, to: Path) -> dict[str, bytes]:
    """Return the tables of a report, without the times of cells."""
    found = read_results(str(out))
    timeless = found.cells.assign(fit_seconds=1.0).drop(columns="base", errors="ignore")
    written = render_report(replace(found, cells=timeless), to)
    return {path.name: path.read_bytes() for path in written if path.parent.name == "tables"}


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# A process registers the name of a plug-in's learner once.
@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    path = tmp_path_factory.mktemp("plugin") / "newcomer.py"
    path.write_text(PLUGIN)
    return (str(path),)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    run(STUDY, tmp_path / "base")
    with exclusive(store := Store(str(tmp_path / "base"))):
        store.compact(above=1)
    return tmp_path / "base"


def test_a_newcomer_costs_its_own_cells_only(tmp_path: Path, base: Path, plugin: tuple[str, ...]) -> None:
    before = files(base)
    table, out = with_newcomer(), tmp_path / "out"
    planned = outline(parse_study(table), str(out), plugins=plugin, bases=[str(base)])
    assert planned.finished.from_bases == {str(base): GRID + FINAL}
    assert planned.left().total() == NEW
    summary = run(table, out, base, plugins=plugin)
    assert (summary.computed, summary.reused) == (NEW, GRID + FINAL)
    assert summary.from_bases == {str(base): GRID + FINAL}
    # Nothing is copied from the base, and nothing is written to it.
    assert set(Store(str(out)).own("cells")["algorithm"].to_pylist()) == {"Newcomer"}
    assert files(base) == before
    run(table, tmp_path / "whole", plugins=plugin)
    assert_same_results(out, tmp_path / "whole")
    cells = read_results(str(out)).cells
    assert set(cells.loc[cells["base"].isna(), "algorithm"]) == {"Newcomer"}


def test_status_and_provenance_name_the_base(tmp_path: Path, base: Path, plugin: tuple[str, ...]) -> None:
    out = tmp_path / "out"
    run(with_newcomer(), out, base, plugins=plugin)
    found = run_status(str(out))
    assert found.planned == found.cells["ok"] == GRID + FINAL + NEW
    assert found.from_bases == {str(base): GRID + FINAL}
    assert f"{GRID + FINAL} from {base}" in next(line for line in found.lines() if line.startswith("cells"))
    assert read_results(str(out)).provenance["bases"] == {str(base): f"{GRID + FINAL} cells"}


@pytest.mark.slow
def test_an_output_remembers_its_bases(tmp_path: Path, base: Path, plugin: tuple[str, ...]) -> None:
    out = tmp_path / "out"
    run(with_newcomer(), out, base, plugins=plugin)
    again = run(with_newcomer(), out, plugins=plugin)
    assert (again.computed, again.from_bases) == (0, {str(base): GRID + FINAL})
    assert read_results(str(out)).provenance["runs"] == 1


@pytest.mark.slow
def test_a_finished_study_needs_no_cell(tmp_path: Path, base: Path) -> None:
    summary = run({**STUDY, "name": "same"}, tmp_path / "out", base)
    assert (summary.computed, summary.reused) == (0, GRID + FINAL)
    run({**STUDY, "name": "same"}, tmp_path / "whole")
    assert_same_results(tmp_path / "out", tmp_path / "whole")
    assert read_results(str(tmp_path / "out")).provenance["bases"]


@pytest.mark.slow
def test_the_first_base_that_has_a_cell_counts(tmp_path: Path, base: Path) -> None:
    run({**STUDY, "name": "part", "seeds": 1}, tmp_path / "part")
    summary = run(STUDY, tmp_path / "out", tmp_path / "part", base)
    part = GRID + FINAL // 2
    assert summary.from_bases == {str(tmp_path / "part"): part, str(base): GRID + FINAL - part}


@pytest.mark.slow
def test_cells_of_equal_algorithms_are_counted_once(tmp_path: Path) -> None:
    failing = tmp_path / "equal.py"
    failing.write_text(
        PLUGIN.replace("return [", "raise ValueError('no'); return [").replace("Newc", "Equalc")
    )
    names = ("AROW", "AROW", "Equalcomer", "Equalcomer")
    algorithms = [{"name": name, "label": label} for name, label in zip(names, "ABCD", strict=True)]
    table = {**STUDY, "algorithms": algorithms, "noise": [0.0], "seeds": 1}
    for name, bases, counts in (("one", (), (4, 0, 2)), ("one", (), (0, 4, 2)), ("two", ("one",), (2, 2, 2))):
        urls = [tmp_path / base for base in bases]
        summary = run(table, tmp_path / name, *urls, plugins=(str(failing),))
        assert (summary.computed, summary.reused, summary.failed) == counts
        assert summary.from_bases == {str(url): 2 for url in urls}
    # The progress of a study counts the cells of every label.
    assert run_status(str(tmp_path / "two")).cells == {"ok": 4, "stopped": 0, "failed": 4, "crashed": 0}
    urls, outs = [str(tmp_path / name) for name in ("two", "one")], [str(tmp_path / name) for name in "cm"]
    compare_results(urls, outs[0], None, lambda line: None)
    merge_results(urls, outs[1], lambda line: None)
    for found in map(run_status, outs):
        assert sum(found.cells.values()) == found.planned


def test_a_failed_cell_of_a_base_is_computed_here(tmp_path: Path) -> None:
    failing = tmp_path / "failing.py"
    failing.write_text(
        PLUGIN.replace("return [", "raise ValueError('no'); return [").replace("Newc", "Failingc")
    )
    plugins = (str(failing),)
    table = with_newcomer(name="Failingcomer", positive=1)
    run(table, tmp_path / "base", plugins=plugins)
    summary = run(table, tmp_path / "out", tmp_path / "base", plugins=plugins)
    assert (summary.computed, summary.failed, summary.reused) == (8, 8, GRID + FINAL)


@pytest.mark.slow
def test_times_of_a_base_are_grey_until_they_are_measured_here(
    tmp_path: Path, base: Path, plugin: tuple[str, ...]
) -> None:
    out = tmp_path / "out"
    run(with_newcomer(), out, base, plugins=plugin)

    def grey() -> list[str]:
        [block] = cost.section(StudyView(read_results(str(out)))).blocks
        assert isinstance(block, TableBlock)
        for written in (block.to_latex(), block.to_markdown()):
            assert ("textit" in written or "*" in written) == any(row[-1].grey for row in block.rows)
        assert (str(base) in block.note) == any(row[-1].grey for row in block.rows)
        return [row[0].text for row in block.rows if row[-1].grey]

    assert grey() == ["Perceptron", "AROW"]
    summary = run(with_newcomer(), out, base, plugins=plugin, rerun_times=True)
    # The first of two repetitions.
    assert (summary.computed, summary.from_bases) == (FINAL // 2, {str(base): GRID + FINAL // 2})
    assert grey() == []
    assert run(with_newcomer(), out, base, plugins=plugin, rerun_times=True).computed == 0


def changed(folder: Path, column: str, change: Callable[[Any], Any], algorithm: str = "AROW") -> str:
    """Change a value of a final cell in a store, and return the cell's key."""
    store, [path] = Store(str(folder)), list((folder / "cells").iterdir())
    frame = pq.ParquetFile(path).read().to_pandas()
    place = frame.index[(frame["algorithm"] == algorithm) & (frame["stage"] == "run") & (frame["seed"] == 0)][
        0
    ]
    frame.at[place, column] = change(frame.at[place, column])
    curves = store.own("curves")
    name = path.name
    for within in ("cells", "curves"):
        (folder / within / name).unlink()
    store.write_tables(pa.Table.from_pandas(frame, preserve_index=False), curves)
    return str(frame.at[place, "key"])


def test_times_are_not_taken_if_the_counts_differ(tmp_path: Path, base: Path) -> None:
    key = changed(base, "mistakes", lambda n: n + 1)
    with pytest.raises(
        InputError, match=rf"^cell {key} \(AROW on .*\): mistakes is \d+ in .*, \d+ in .*base: "
    ):
        run(STUDY, tmp_path / "out", base, rerun_times=True)


@pytest.mark.slow
def test_absent_data_are_those_of_the_base(
    tmp_path: Path, real_data: Path, plugin: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    table = {**STUDY, "datasets": [STUDY["datasets"][0], {"name": "vehicle", "task": "pairs"}]}
    table = {**table, "max_examples": 60, "algorithms": [{"name": "Perceptron"}]}
    run(table, tmp_path / "base")
    restricted = with_newcomer(table, datasets=["gauss"])
    run(restricted, tmp_path / "whole", plugins=plugin)
    (tmp_path / "empty").mkdir()
    monkeypatch.setenv("SINGLEPASS_DATA", str(tmp_path / "empty"))
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "cache"))
    # No server answers here.
    monkeypatch.setenv("SINGLEPASS_MIRROR", "http://127.0.0.1:9")
    out, bases = tmp_path / "out", [str(tmp_path / "base")]
    planned = outline(parse_study(restricted), str(out), plugins=plugin, bases=bases)
    assert [each.state for each in planned.outlooks][1] == "not here, its results come from --base"
    assert (planned.left().total(), planned.refusal) == (NEW // 2, "")
    summary = run(restricted, out, *bases, plugins=plugin)
    assert (summary.computed, summary.failed) == (NEW // 2, 0)
    assert_same_results(out, tmp_path / "whole")
    # The newcomer needs the data of its own cells.
    line = r"no base has all cells of algorithm 'Newcomer' on data set 'vehicle\[.*whose data are not here: "
    with pytest.raises(InputError, match=line):
        run(with_newcomer(table), tmp_path / "other", *bases, plugins=plugin)


def test_data_of_another_content_than_the_base_are_named(tmp_path: Path) -> None:
    rows, progress = tmp_path / "rows.csv", Silent()
    rows.write_text("label,x\n" + "a,0.1\nb,0.2\n" * 20)
    study = parse_study({**STUDY, "datasets": [STUDY["datasets"][0], {"path": str(rows)}]})
    run_study(study, str(tmp_path / "base"), progress=progress, options=WorkerOptions(threads=2))
    rows.write_text("label,x\n" + "a,0.1\nb,0.3\n" * 20)
    bases, options = [str(tmp_path / "base")], WorkerOptions(threads=2)
    summary = run_study(study, str(tmp_path / "out"), progress=progress, options=options, bases=bases)
    assert (summary.computed, summary.from_bases[bases[0]]) == ((GRID + FINAL) // 2, (GRID + FINAL) // 2)
    (said,) = progress.notes
    assert said.startswith(f"base {bases[0]}: its data of 'rows' have another content than those here")


@pytest.mark.slow
def test_a_base_may_have_some_points_of_a_grid(tmp_path: Path, base: Path) -> None:
    # The missing points are learned in one reading of the rows.
    grid = {"name": "AROW", "r": [0.01, 0.1, 1.0, 10.0]}
    table = {**STUDY, "algorithms": [STUDY["algorithms"][0], grid]}
    summary = run(table, tmp_path / "out", base)
    run(table, tmp_path / "whole")
    assert_same_results(tmp_path / "out", tmp_path / "whole")
    cells = read_results(str(tmp_path / "out")).cells
    tuning = cells[(cells["stage"] == "tune")]
    assert tuning.groupby(tuning["base"].notna()).size().to_dict() == {False: GRID, True: GRID}
    assert summary.computed == cells["base"].isna().sum()


@pytest.mark.slow
def test_guests_are_found_in_a_base(tmp_path: Path) -> None:
    guest = {"name": "sklearn.linear_model:SGDClassifier", "label": "SGD", "alpha": [0.01, 0.1]}
    table = {**STUDY, "seeds": 1, "algorithms": [{"name": "NoChange"}, guest]}
    run({**table, "algorithms": [guest]}, tmp_path / "base")
    summary = run(table, tmp_path / "out", tmp_path / "base")
    assert (summary.computed, summary.from_bases) == (4, {str(tmp_path / "base"): 12})


def test_a_base_at_a_url(tmp_path: Path) -> None:
    # A file system in this process stands for an object store.
    url = f"memory://{tmp_path.name}"
    run_study(parse_study(STUDY), url, progress=Silent())
    assert run(STUDY, tmp_path / "out", url).from_bases == {url: GRID + FINAL}


def test_a_base_that_cannot_be_used_is_one_line(tmp_path: Path, base: Path) -> None:
    out = tmp_path / "out"

    def refused(line: str, url: object = base) -> None:
        with pytest.raises(InputError, match=line) as raised:
            run(STUDY, out, url)
        assert "\n" not in str(raised.value)
        assert not out.exists()

    refused("^base .*none: no results here: give a folder or URL", tmp_path / "none")
    with exclusive(Store(str(base))):
        refused(rf"^base {base}: process \d+ on .* is writing to it: use it when that run has ended")
    [part] = (base / "cells").iterdir()
    content = part.read_bytes()
    table = pq.ParquetFile(part).read()
    pq.write_table(table.replace_schema_metadata({"singlepass_schema": "2"}), part)
    refused("^base .*: contains results of schema version 2, this .*: leave it out, or run its study again")
    part.write_bytes(content[:200] + bytes([content[200] ^ 1]) + content[201:])
    refused("^base .*cells/part-.*: damaged Parquet part .*: run the study again to set it aside")
    part.write_bytes(content)
    document = json.loads((base / "plan.json").read_text())
    (base / "plan.json").write_text(json.dumps({**document, "planned": 7}))
    refused("^base .*: plan.json is damaged: run its study again to write it")


def test_a_damaged_list_of_bases_is_one_line(tmp_path: Path, base: Path) -> None:
    out = tmp_path / "out"
    run(STUDY, out, base)
    (out / BASES).write_text("{")
    for use in (lambda: run(STUDY, out), lambda: read_results(str(out))):
        with pytest.raises(InputError, match=r"bases\.json: damaged: name the bases again with --base"):
            use()
    assert run(STUDY, out, base).computed == 0
    assert len(read_results(str(out)).cells) == GRID + FINAL


def test_a_base_that_has_moved_is_named_with_the_list_of_bases(tmp_path: Path, base: Path) -> None:
    out, first, moved = tmp_path / "out", tmp_path / "first", tmp_path / "moved"
    shutil.copytree(base, first)
    run(STUDY, out, first)
    first.rename(moved)
    with pytest.raises(
        InputError, match=r"first: no results here.*out/bases\.json names it: .* --base NEW replaces it"
    ):
        read_results(str(out))
    assert f"{GRID + FINAL} from {first} (not there now)" in "\n".join(run_status(str(out)).lines())
    run(STUDY, out, moved)
    assert "not there" not in "\n".join(run_status(str(out)).lines())
    assert len(read_results(str(out)).cells) == GRID + FINAL


def test_a_base_that_gave_no_cell_may_be_gone(tmp_path: Path, base: Path) -> None:
    first, out = tmp_path / "first", tmp_path / "out"
    shutil.copytree(base, first)
    run(STUDY, out)
    run(STUDY, out, first)
    shutil.rmtree(first)
    assert len(read_results(str(out)).cells) == GRID + FINAL
    assert run(STUDY, out).computed == 0


@pytest.mark.slow
def test_a_cluster_computes_what_the_base_lacks(tmp_path: Path, base: Path, plugin: tuple[str, ...]) -> None:
    out = tmp_path / "out"
    summary = run_study(
        parse_study(with_newcomer()),
        str(out),
        progress=Silent(),
        plugins=plugin,
        bases=[str(base)],
        options=WorkerOptions(cluster="local:1"),
    )
    assert (summary.computed, summary.from_bases) == (NEW, {str(base): GRID + FINAL})
    run(with_newcomer(), tmp_path / "whole", plugins=plugin)
    assert_same_results(out, tmp_path / "whole")
    whole = tables(tmp_path / "whole", tmp_path / "a")
    assert tables(out, tmp_path / "b") == whole
    assert len(whole) > 10
