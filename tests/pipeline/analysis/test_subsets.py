"""Test parts of a study: groups of tasks by base set and kind, and comparisons within a part."""

from __future__ import annotations

import pandas as pd
import pytest

from singlepass.pipeline.analysis.averages import Averages
from singlepass.pipeline.analysis.comparison import compare
from singlepass.pipeline.analysis.design import Design, study_design
from singlepass.pipeline.analysis.metrics import METRICS
from singlepass.pipeline.analysis.subsets import TaskGroup, among, task_groups, tasks_of, within
from singlepass.pipeline.noise import CLEAN

TASKS = [
    ("usps[0-vs-1]", "usps", "usps", "pair:0,1"),
    ("usps[0-vs-2]", "usps", "usps", "pair:0,2"),
    ("usps[0-vs-rest]", "usps", "usps", "one-vs-rest:0"),
    ("usps[round]", "usps", "usps", "group:round"),
    ("usps", "usps", "usps", "multiclass"),
    ("breast-cancer", "breast-cancer", "breast-cancer", "binary"),
    ("spam[of 2020]", "/somewhere/spam.csv", "spam[of 2020]", "binary:yes"),
    ("mine[a-vs-rest]", "/somewhere/mine.csv", "mine", "one-vs-rest:a"),
    ("renamed[b-vs-rest]", "/somewhere/mine.csv", "renamed", "one-vs-rest:b"),
]


@pytest.fixture
def study() -> tuple[pd.DataFrame, Design]:
    rows = [
        {
            "dataset": dataset,
            "source": source,
            "parent": parent,
            "task": task,
            "algorithm": algorithm,
            "noise": "0",
            "seed": 0,
            "stage": "run",
            "status": "ok",
            "test_accuracy": 0.9 - 0.1 * place * (1 if i % 2 else -1),
        }
        for i, (dataset, source, parent, task) in enumerate(TASKS)
        for place, algorithm in enumerate("ABC")
    ]
    cells = pd.DataFrame(rows)
    return cells, study_design(cells, {})


def test_tasks_are_grouped_by_base_set_and_kind(study: tuple[pd.DataFrame, Design]) -> None:
    groups = {group.name: group for group in task_groups(*study)}
    assert set(groups) == {
        "usps pairs",
        "usps one-vs-rest",
        "usps round",
        "usps multiclass",
        "breast-cancer",
        # Brackets in a user's label are part of it.
        "spam[of 2020]",
        # Two labels of one file are grouped by the file.
        "mine.csv one-vs-rest",
    }
    assert groups["usps pairs"] == TaskGroup("usps pairs", ["usps[0-vs-1]", "usps[0-vs-2]"])
    assert sorted(name for group in groups.values() for name in group.datasets) == sorted(study[1].datasets)


def test_tasks_of_some_data_sets(study: tuple[pd.DataFrame, Design]) -> None:
    assert tasks_of(*study, ["mine", "spam[of 2020]"]) == ["mine[a-vs-rest]", "spam[of 2020]"]
    assert len(tasks_of(*study, ["usps"])) == 5
    # A file is selected by its name in the study, not by its path.
    assert tasks_of(*study, ["/somewhere/mine.csv"]) == []


def test_comparisons_within_a_part(study: tuple[pd.DataFrame, Design]) -> None:
    cells, design = study
    accuracy = METRICS["test_accuracy"]
    part = compare(
        Averages(cells), accuracy, CLEAN, within(design, ["usps[0-vs-1]", "usps[round]", "spam[of 2020]"])
    )
    # Tasks at even places rank C first, those at odd places A.
    assert part.n == 3
    assert part.mean_ranks.to_dict() == pytest.approx({"A": 7 / 3, "B": 2, "C": 5 / 3})
    some = compare(Averages(cells), accuracy, CLEAN, among(design, ["C", "A", "unknown"]))
    assert (some.n, some.k) == (9, 2)
    assert list(some.scores.columns) == ["C", "A"]
    assert some.mean_ranks.to_dict() == pytest.approx({"C": 13 / 9, "A": 14 / 9})


def test_tasks_of_one_set_that_have_one_kind_have_their_own_names() -> None:
    cells = pd.DataFrame(
        [
            {"dataset": f"reuters[{topic}]", "source": source, "parent": "reuters", "task": "binary"}
            | {"algorithm": "A", "noise": "0", "seed": 0, "stage": "run", "status": "ok"}
            for topic, source in (("wheat", "reuters:wheat"), ("corn", "reuters:corn"))
        ]
    )
    found = task_groups(cells, study_design(cells, {}))
    assert sorted(group.name for group in found) == ["reuters[corn]", "reuters[wheat]"]
