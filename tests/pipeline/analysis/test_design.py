"""Test the planned design of a study: the order of names, and how much of it is done."""

from __future__ import annotations

from singlepass.pipeline.analysis.design import (
    Coverage,
    natural_key,
    one_repetition,
    study_coverage,
    study_design,
)
from singlepass.pipeline.data import base_set
from singlepass.pipeline.data.composition import composed_name
from singlepass.pipeline.noise import CLEAN, Noise

from .cells import cell, frame


def test_layout_follows_the_study_and_sorts_naturally() -> None:
    cells = frame(
        cell("usps[10]", "A", 1),
        cell("usps[2]", "A", 0),
        cell("gauss", "C", 0, status="failed"),
        cell("gauss", "A", 0, stage="tune"),
    )
    study = {
        "datasets": [{"label": "usps"}, {"label": "gauss"}, {"label": "usps"}],
        "algorithms": [{"label": "B"}, {"label": "A"}],
        "noise": [0.3, 0.0],
        "seeds": [0, 1],
    }
    design = study_design(cells, study)
    assert design.datasets == ["usps[2]", "usps[10]", "gauss"]
    assert design.sources == ["usps", "usps", "gauss"]
    # B was planned and has not run; C ran before the study was changed.
    assert design.algorithms == ["B", "A", "C"]
    assert design.noise == [CLEAN, Noise(0.3)]
    assert design.seeds == [0, 1]


def test_a_repetition_of_every_seed_is_counted_once() -> None:
    cells = frame(
        cell("d", "A", 0, status="failed"),
        cell("d", "A", 2),
        cell("d", "B", 2),
        cell("d", "B", 9, stage="tune"),
    ).assign(repetitions=1)
    study = {"seeds": [0, 1, 2]}
    found = one_repetition(cells, study)
    assert found[["algorithm", "seed", "status"]].to_numpy().tolist() == [
        ["A", 0, "ok"],
        ["B", 0, "ok"],
        ["B", 9, "ok"],
    ]
    assert one_repetition(cells.assign(repetitions=None), study)["seed"].tolist() == [0, 2, 2, 9]


def test_coverage_counts_by_status() -> None:
    cells = frame(
        cell("d", "A", 0),
        cell("d", "A", 1, status="failed"),
        cell("d", "B", 0, status="stopped"),
        cell("d", "B", 7, stage="tune"),
        cell("d", "B", 7, stage="tune", status="failed"),
    )
    assert study_coverage(cells, planned=60) == Coverage(
        ok=1, failed=1, stopped=1, tuning=2, lost=1, planned=60, missing=55
    )
    # A study that was made shorter has more cells than it plans.
    assert study_coverage(cells, planned=4).missing == 0


def test_layout_follows_labels_of_the_study() -> None:
    cells = frame(
        cell("gauss", "A", 0), cell("late[2]", "A", 0), cell("zebra", "A", 0), cell("stray", "A", 0)
    )
    cells["source"] = ["/x/gauss.csv", "usps", "usps", "aaa"]
    cells["parent"] = ["gauss", "late", "zebra", "stray"]
    entries = [{"label": label} for label in ("zebra", "late", "gauss")]
    design = study_design(cells, {"datasets": entries, "algorithms": [{"label": "A"}]})
    assert design.datasets == ["zebra", "late[2]", "gauss", "stray"]


def test_parts_of_one_collection_are_one_base_set() -> None:
    """The topics of Reuters-21578 label the same documents."""
    sources = ["reuters21578/corn", "reuters21578/wheat", "enron-spam/enron1", "data/corn.csv", "usps"]
    cells = frame(*(cell(name, "A", 0) for name in sources))
    cells["source"] = sources
    design = study_design(cells, {})
    assert dict(zip(design.datasets, design.sources, strict=True)) == {
        "reuters21578/corn": "reuters21578",
        "reuters21578/wheat": "reuters21578",
        "enron-spam/enron1": "enron-spam",
        "data/corn.csv": "data/corn.csv",
        "usps": "usps",
    }


def test_compositions_of_the_same_files_are_one_base_set() -> None:
    """They have the same rows, wherever the change is; generators draw rows of their own."""
    a, b, sea = {"path": "/x/a.csv", "target": "y"}, {"path": "/x/b.csv", "target": "y"}, {"name": "sea"}
    sources = [
        composed_name(parts, [], width, "/")
        for parts, width in (((a, b), 0), ((b, a), 80), ((a, sea), 0), ((sea, sea), 0), ((sea, sea), 80))
    ]
    first, second, third, *drawn = map(base_set, sources)
    assert first == second == "/x/a.csv + /x/b.csv"
    assert third == "/x/a.csv"
    assert drawn == sources[3:]


def test_natural_key_takes_any_digits_apart() -> None:
    assert sorted(["b", "a10b2", "a2", "10", "9", ""], key=natural_key) == ["", "9", "10", "a2", "a10b2", "b"]
    assert sorted(["9" * 5000, "010", "9"], key=natural_key) == ["9", "010", "9" * 5000]
