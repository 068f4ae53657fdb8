"""Test the box plot."""

from __future__ import annotations

from singlepass.workflows.report.plots.head_to_head_plots import box_plot
from singlepass.workflows.report.plots.svg import styles_of

from ..report_page import texts


def test_dollars_and_missing_glyphs_are_plain_text() -> None:
    svg = box_plot([("a$_2$b", [1.0, 2.0, 3.0]), ("学", [2.0])], styles_of(["a$_2$b", "学"]), "test error, %")
    assert {"a$_2$b", "学", "test error, %"} <= set(texts(svg))
