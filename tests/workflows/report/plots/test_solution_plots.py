"""Test plots of solutions: points, support vectors, lines."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from singlepass.workflows.report.plots.solution_plots import Solution, solution_panel, solutions_sheet
from singlepass.workflows.report.plots.svg import inline, parse

from ..report_page import paths


def solution(scores: Any, n: int = 0, m: int = 0) -> Solution:
    """Return a solution on the unit square with n points and m support vectors."""
    x = np.linspace(0.0, 1.0, 101)
    across, up = np.meshgrid(x, x)
    draws = np.random.RandomState(0)
    points, support = draws.random_sample((n, 2)), draws.random_sample((m, 2))
    codes, own = (np.arange(k, dtype=np.int32) % 2 for k in (n, m))
    return Solution("A", points, codes, support, own, x, x, scores(across, up))


def panel(scores: Any, n: int = 0, m: int = 0) -> str:
    return solution_panel(solution(scores, n, m))


def numbers(path: str) -> list[float]:
    """Return the x coordinates of a path's corners."""
    return [float(value) for value in re.findall(r"[ML] (\S+)", path)]


def test_lines_are_where_the_scores_say() -> None:
    """Check the lines of f = 4x - 1: f = 0 at a quarter of the side, f = 1 at half, none at the edge."""
    svg = panel(lambda x, y: 4 * x - 1.0)
    [boundary] = paths(svg, "boundary")
    [margin] = paths(svg, "margin")
    frame = [
        x
        for path in parse(svg).iter("path")
        if "stroke-linecap: square" in path.get("style", "")
        for x in numbers(path.attrib["d"])
    ]
    left, right = min(frame), max(frame)
    for line, share in ((boundary, 0.25), (margin, 0.5)):
        [where] = set(numbers(line))
        assert where == pytest.approx(left + share * (right - left), abs=0.02)


def test_scores_without_a_boundary_have_none() -> None:
    for svg in (
        panel(lambda x, y: 0 * x),
        panel(lambda x, y: np.full_like(x, np.nan)),
        panel(lambda x, y: x + 2),
    ):
        assert paths(svg, "boundary") == paths(svg, "margin") == []


def test_every_point_and_support_vector_has_a_mark() -> None:
    svg = panel(lambda x, y: x - y, n=40, m=31)
    assert [d.count("h0") for d in paths(svg, "points")] == [20, 20]
    assert [d.count("a2.9") for d in paths(svg, "support-0")] == [16]
    assert [d.count("h5v5h-5z") for d in paths(svg, "support-1")] == [15]


def test_a_sheet_has_the_marks_of_its_panels_under_ids_of_their_own() -> None:
    both = [solution(lambda x, y: x - y, n=40, m=31), solution(lambda x, y: 2 * x - 0.5, n=10)]
    sheet = solutions_sheet(both, ["a", "b"])
    assert [d.count("h0") for d in paths(sheet, "points")] == [20, 20, 5, 5]
    assert len(paths(sheet, "support")) == 2
    assert len(paths(sheet, "boundary")) == 2
    ids = [element.attrib["id"] for element in parse(sheet).iter() if "id" in element.attrib]
    assert len(set(ids)) == len(ids)


def test_a_full_panel_is_small_and_the_same_every_time() -> None:
    def tiles(x: Any, y: Any) -> Any:
        return 1.5 * np.sin(13 * x) * np.sin(13 * y)

    svg = panel(tiles, n=600, m=600)
    assert len(inline(svg, "f1", "A", str)) < 60_000
    assert svg == panel(tiles, n=600, m=600)
