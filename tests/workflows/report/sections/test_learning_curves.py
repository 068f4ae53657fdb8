"""Test which learning curves are drawn."""

from __future__ import annotations

from dataclasses import replace

import pytest

from singlepass.workflows.report.page.blocks import Heading, Panels, Text, walk
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.sections import curves

from ...synthetic_results import make_results


@pytest.mark.slow
def test_curves_are_limited_and_say_so() -> None:
    noise = tuple(i / 20 for i in range(8))
    results = make_results(algorithms=("A",), noise=noise, seeds=1, tuned=())
    found = curves.learning_curves(StudyView(results))
    assert found is not None
    blocks = list(walk(found.blocks))
    names = [block.text for block in blocks if isinstance(block, Heading)]
    assert names == ["digits[0-vs-rest]", "breast-cancer"]
    assert sum(len(block.pictures) for block in blocks if isinstance(block, Panels)) == 12
    [note] = [block.text for block in blocks if isinstance(block, Text)]
    assert "the first task of the first 2 base sets; 2 of 11 data sets in all" in note
    assert "Noise levels shown: 0%, 5%, 15%, 20%, 30%, 35%." in note


def test_no_curves_no_panels() -> None:
    results = make_results(datasets=("a",), algorithms=("A",), noise=(0.0,), seeds=1, tuned=())
    assert curves.learning_curves(StudyView(replace(results, curves=results.curves.iloc[:0]))) is None
