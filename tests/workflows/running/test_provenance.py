"""Test which versions a store records for its cells."""

from __future__ import annotations

import json
import shutil
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from singlepass.learners import registry
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.running.run import run_study


def test_guests_are_recorded_with_their_versions(tmp_path: Path, silent: Any) -> None:
    plugin = tmp_path / "mine.py"
    plugin.write_text("from singlepass.learners import CSOGD\nclass RecordedOwn(CSOGD): ...\n")
    table: dict[str, Any] = {
        "name": "guests",
        "seeds": 1,
        "datasets": [{"name": "gauss", "n_train": 50}],
        "algorithms": [
            {"name": "AROW"},
            {"name": "sklearn.linear_model:SGDClassifier", "label": "SGD"},
            {"name": "RecordedOwn", "label": "mine"},
        ],
    }
    run_study(parse_study(table), str(tmp_path / "out"), progress=silent, plugins=(str(plugin),))
    [made] = json.loads((tmp_path / "out" / "provenance.json").read_text())["runs"]
    content = registry.content_of(registry.available()["RecordedOwn"]) or ""
    assert made["guests"] == {
        "SGD": f"scikit-learn {metadata.version('scikit-learn')}",
        "mine": f"2.1+{content[:16]}",
    }


def test_a_run_that_finds_copied_cells_records_its_command(tmp_path: Path, silent: Any) -> None:
    """Where the cells were computed is not known, so the entry has no versions and no machine."""
    datasets = [{"name": "gauss", "n_train": 50}]
    table = {"name": "s", "seeds": 1, "datasets": datasets, "algorithms": [{"name": "AROW"}]}
    run_study(parse_study(table), str(tmp_path / "part"), progress=silent, command="part")
    for folder in ("cells", "curves"):
        shutil.copytree(tmp_path / "part" / folder, tmp_path / "whole" / folder)
    found = run_study(parse_study(table), str(tmp_path / "whole"), progress=silent, command="whole")
    assert (found.computed, found.reused) == (0, 1)
    [run] = json.loads((tmp_path / "whole" / "provenance.json").read_text())["runs"]
    assert (run["command"], [*run["fingerprints"]], "packages" in run) == ("whole", ["gauss"], False)


@pytest.mark.slow
def test_the_last_recorded_run_is_of_the_current_study(tmp_path: Path, silent: Any) -> None:
    out = tmp_path / "out"

    def runs_after(command: str, *names: str) -> list[dict[str, Any]]:
        datasets = [{"name": name, "n_train": 50} for name in names]
        table = {"name": "s", "seeds": 1, "datasets": datasets, "algorithms": [{"name": "AROW"}]}
        run_study(parse_study(table), str(out), progress=silent, command=command)
        runs: list[dict[str, Any]] = json.loads((out / "provenance.json").read_text())["runs"]
        return runs

    def told(runs: list[dict[str, Any]]) -> list[tuple[str, list[str]]]:
        return [(run["command"], [*run["fingerprints"]]) for run in runs]

    first = runs_after("A", "gauss")
    second = runs_after("B", "checkerboard")
    # Nothing is computed: the versions are those of the run that computed these data sets.
    third = runs_after("A again", "gauss")
    assert told(third) == [("A", ["gauss"]), ("B", ["checkerboard"]), ("A again", ["gauss"])]
    assert third[:2] == second
    assert third[2] == first[0] | {"command": "A again"}
    assert runs_after("A once more", "gauss") == third
    assert told(runs_after("both", "gauss", "checkerboard"))[3:] == [("both", ["gauss", "checkerboard"])]


def test_the_last_recorded_run_has_the_versions_of_the_plan(tmp_path: Path, silent: Any) -> None:
    plugin, found = tmp_path / "mine.py", list[str]()
    datasets = [{"name": "gauss", "n_train": 50}]
    table = {"name": "s", "seeds": 1, "datasets": datasets, "algorithms": [{"name": "EditedOwn"}]}
    # The third run finds the cells of the first.
    for text in ("1", "2", "1"):
        plugin.write_text(f"from singlepass.learners import AROW\nclass EditedOwn(AROW):\n    a = {text}\n")
        run_study(parse_study(table), str(tmp_path / "out"), progress=silent, plugins=(str(plugin),))
        runs = json.loads((tmp_path / "out" / "provenance.json").read_text())["runs"]
        found.append(runs[-1]["guests"]["EditedOwn"])
    assert found[0] == found[2] != found[1]
