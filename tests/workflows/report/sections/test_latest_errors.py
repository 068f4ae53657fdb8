"""Test reports on streams in a given order: their description, and the error of the latest examples."""

from __future__ import annotations

import json
from typing import Any

import pytest

from singlepass.pipeline.analysis.metrics import METRICS, has_windows
from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.pipeline.run.task import run_cell
from singlepass.pipeline.scoring import SCORINGS
from singlepass.pipeline.store.tables import part_of
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.report.page.blocks import Heading, Text, files
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.parts.embedded import numbers
from singlepass.workflows.report.parts.opening import notes, opening
from singlepass.workflows.report.sections import curves

DATASETS = [
    {
        "label": "drift",
        "compose": [{"name": "sea", "concept": 1}, {"name": "sea", "concept": 4}],
        "n_train": 200,
        "order": "given",
    },
    {"name": "breast-cancer", "order": "given", "max_examples": 100},
    {"name": "gauss", "n_train": 50},
]


def view_of(**study: Any) -> StudyView:
    table = {"name": "s", "seeds": 2, "datasets": DATASETS, "algorithms": [{"name": "Perceptron"}], **study}
    parsed = parse_study(table)
    outcomes = [run_cell(cell) for cell in make_plan(parsed).evaluation_cells({})]
    assert [outcome.row.get("error") for outcome in outcomes] == [None] * len(outcomes)
    tables = part_of([outcome.row for outcome in outcomes], [outcome.curve for outcome in outcomes])
    cells, curves = (table.to_pandas() for table in tables)
    return StudyView(StudyResults(cells, curves, json.loads(parsed.model_dump_json()), planned=len(outcomes)))


@pytest.fixture(scope="module")
def view() -> StudyView:
    return view_of(window=20, fading=0.9, delay=3, baselines=True)


def texts(blocks: Any) -> str:
    return " ".join(block.text for block in blocks if isinstance(block, Text))


def test_what_is_not_usual_is_said_first(view: StudyView) -> None:
    said = texts(opening(view))
    assert "Rows of drift, breast-cancer are read in the order of their source" in said
    assert "so one repetition runs there" in said
    assert "comes 3 examples later" in said
    assert "read in the order" not in texts(opening(view_of(datasets=DATASETS[2:])))


def test_later_passes_are_said() -> None:
    algorithms = [{"name": "Perceptron"}, {"name": "Perceptron", "label": "again", "epochs": 3}]
    said = texts(opening(view_of(datasets=DATASETS[2:], seeds=1, algorithms=algorithms)))
    assert "again learns the same examples again in later passes (epochs)" in said
    assert "seen once" not in said
    assert "later passes" not in texts(opening(view_of(datasets=DATASETS[2:], seeds=1)))


def test_one_repetition_is_complete_where_seeds_move_nothing(view: StudyView) -> None:
    scores = view.averages.scores(view.metric, view.design.noise[0], view.design)
    assert not scores.missing
    assert scores.count.loc["breast-cancer"].tolist() == [1, 1, 1]
    assert scores.count.loc["drift"].tolist() == [2, 2, 2]


def test_errors_of_the_latest_examples_are_drawn(view: StudyView) -> None:
    section = curves.latest_errors(view)
    assert section is not None
    said = texts(section.blocks)
    assert "among the latest 20 examples" in said
    assert "0.9 times" in said
    assert "the stream changes" in said
    learning = curves.learning_curves(view)
    assert learning is not None
    assert "the stream changes" in texts(learning.blocks)
    # Only the stream in the order of its source has changes.
    noise = view.design.noise[0]
    assert view.curves.changes("drift", noise, "Perceptron") == (100,)
    assert view.curves.changes("gauss", noise, "Perceptron") == ()


def test_curves_to_choose_from_have_different_names(view: StudyView) -> None:
    names = [each["label"] for each in numbers(view)["curves"]["quantities"]]
    of = {"window", "fading"}
    latest = [name for name in names if name.split()[0] in of]
    assert sorted(latest) == [
        f"{kind} error ({side} labels), %" for kind in sorted(of) for side in ("clean", "given")
    ]


def test_nobody_who_did_not_ask_gets_them() -> None:
    assert curves.latest_errors(view_of(datasets=DATASETS[2:])) is None


@pytest.mark.slow
def test_metrics_that_were_asked_for_are_drawn_both_ways() -> None:
    asked = ["error", "balanced_accuracy", "kappa_temporal", "auc"]
    study = {"datasets": DATASETS[:1], "window": 20, "fading": 0.9, "metrics": asked, "seeds": 1}
    section = curves.latest_errors(view_of(**study))
    assert section is not None
    headings = [block.text for block in section.blocks if isinstance(block, Heading)]
    drawn = ("error", "prediction error", "balanced accuracy", "κ-temporal", "AUC")
    assert headings == [f"{kind} {name}" for kind in ("Windowed", "Fading") for name in drawn]
    said = texts(section.blocks)
    assert "Balanced accuracy among the latest 20 examples" in said
    assert "κ-temporal, each example counting 0.9 times as much as the next" in said


@pytest.mark.slow
def test_files_of_all_metrics_have_different_names() -> None:
    asked = [name for name, metric in METRICS.items() if has_windows(metric) and name in SCORINGS]
    study = {"datasets": DATASETS[:1], "window": 20, "fading": 0.9, "metrics": asked, "seeds": 1}
    section = curves.latest_errors(view_of(**study))
    assert section is not None
    names = [name for name, _ in files(section.blocks)]
    assert len(names) == len(set(names)) > len(asked)


def test_baselines_are_not_blamed_for_what_they_are(view: StudyView) -> None:
    said = " ".join(notes(view))
    assert "majority class" not in said
    assert "no change" not in said
