"""Test reading results back, and the errors if something is missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.schema import PLAN, CellResult
from singlepass.pipeline.store.store import Store


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no results here"):
        read_results(str(tmp_path))
    store = Store(str(tmp_path))
    store.prepare()
    for name, content in (("study.json", {"name": "s"}), ("plan.json", {"planned": 7})):
        with pytest.raises(InputError, match=f"{name} is missing: run the study again"):
            read_results(str(tmp_path))
        store.write_json(name, content)
    store.write_plan([])
    results = read_results(str(tmp_path))
    assert (results.study, results.planned, results.provenance) == ({"name": "s"}, 7, {"runs": 1})
    assert (len(results.cells), results.tuning) == (0, [])
    store.write_json("provenance.json", {"runs": [{"command": "run a"}, {"command": None}]})
    assert read_results(str(tmp_path)).provenance == {
        "command": None,
        "runs": 2,
        "commands": ["run a", None],
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("study.json", {"name": 5}),
        ("study.json", {"name": "s", "noise": -1}),
        ("study.json", {"name": "s", "seeds": [[5]]}),
        ("study.json", {"name": "s", "curves": True}),
        ("study.json", {"name": "s", "fading": "0.5"}),
        ("study.json", {"name": "s", "datasets": ["digits"]}),
        ("study.json", {"name": "s", "algorithms": [{"name": "AROW"}]}),
        ("study.json", {"name": "s", "rankings": [{"title": "t", "algorithms": 5}]}),
        ("plan.json", {"planned": []}),
        ("plan.json", {"data": {}}),
        ("provenance.json", {"runs": [5]}),
        ("bases.json", {"bases": [{"url": "reference"}]}),
    ],
)
def test_a_document_of_other_types_is_named(tmp_path: Path, name: str, content: dict[str, Any]) -> None:
    store = Store(str(tmp_path))
    store.prepare()
    for document in ({"study.json": {"name": "s"}}, {"plan.json": {"planned": 1}}, {name: content}):
        store.write_json(*next(iter(document.items())))
    store.write_plan([])
    with pytest.raises(InputError, match=f"{name}: damaged"):
        read_results(str(tmp_path))


def test_a_study_of_another_version_is_read(tmp_path: Path) -> None:
    """It has unknown keys, an unknown protocol and a label that is refused now."""
    store = Store(str(tmp_path))
    store.prepare()
    study = {
        "name": "s",
        "later": 5,
        "protocol": "later",
        "datasets": [{"name": "digits", "label": "a\n", "task": "later"}],
    }
    store.write_json("study.json", study)
    store.write_json("plan.json", {"planned": 0})
    store.write_plan([])
    assert read_results(str(tmp_path)).study == study


ROW = {
    "key": "k",
    "parent": "d",
    "dataset": "d",
    "source": "d",
    "task": "binary",
    "algorithm": "A",
    "learner": "AROW",
    "params": '{"r": 1}',
    "grid": '{"r": [1]}',
    "noise": "0",
    "seed": 0,
    "stage": "tune",
    "protocol": "prequential",
    "status": "ok",
    "mistakes": 3,
    "n_examples": 9,
}


def results_of(folder: Path, *rows: dict[str, Any]) -> str:
    store = Store(str(folder))
    store.prepare()
    store.write_json("study.json", {"name": "s"})
    store.write_json("plan.json", {"planned": len(rows)})
    store.write([CellResult(row) for row in rows])
    planned = [{key: value for key, value in row.items() if key in PLAN.names} for row in rows]
    store.write_plan([pa.Table.from_pylist(planned, PLAN)])
    return str(folder)


@pytest.mark.parametrize(
    ("column", "text"),
    [
        ("noise", "<b>"),
        ("params", "null"),
        ("params", '{"r": ' + "[" * 9999),
        ("grid", "[1]"),
        ("algorithm", ""),
    ],
)
def test_a_cell_that_no_run_writes_is_named(tmp_path: Path, column: str, text: str) -> None:
    sound, wrong = (
        results_of(tmp_path / name, ROW | cell) for name, cell in (("a", {}), ("b", {column: text}))
    )
    assert len(read_results(sound).tuning) == 1
    with pytest.raises(InputError, match=f"b: cells table: {column} of a cell is"):
        read_results(wrong)


@pytest.mark.parametrize("cell", [{"params": '{"r": 2}'}, {"grid": '{"r": 1}'}, {"grid": None}])
def test_a_tuning_cell_that_is_no_point_of_its_grid_is_refused(
    tmp_path: Path, cell: dict[str, str | None]
) -> None:
    with pytest.raises(InputError, match="cells table: a tuning cell is not a point of its grid"):
        read_results(results_of(tmp_path, ROW | cell))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"noise": [0.0, 2]}, "noise: 2 is not a noise rate"),
        ({"noise": [{"model": "later"}]}, "noise: unknown model"),
        ({"rankings": [{"title": "t", "algorithms": [], "focus_noise": [True]}]}, "noise: True is not"),
        ({"seeds": []}, "seeds: the list is empty"),
    ],
)
def test_values_of_a_study_that_cannot_be_read_are_named(
    tmp_path: Path, wrong: dict[str, Any], reason: str
) -> None:
    url = results_of(tmp_path, ROW)
    Store(url).write_json("study.json", {"name": "s", **wrong})
    with pytest.raises(InputError, match=f"study.json: {reason}.*: damaged, .* another version"):
        read_results(url)


def test_two_results_of_one_cell_are_named(tmp_path: Path) -> None:
    cells = [ROW | {"stage": "run", "key": key, "seed": seed} for key, seed in (("a", 0), ("b", 1), ("c", 1))]
    assert len(read_results(results_of(tmp_path / "a", *cells[:2])).cells) == 2
    with pytest.raises(InputError, match=r"two cells are of A on d, noise 0, seed 1: run .* --base"):
        read_results(results_of(tmp_path / "b", *cells))
