"""Test reading results back, and the errors if something is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.errors import InputError
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
