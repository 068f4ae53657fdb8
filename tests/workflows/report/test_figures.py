"""Test that an algorithm has one color and one mark in all figures of a report."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pandas as pd
import pytest

from singlepass.workflows.report.plots.curve_plots import error_by_size
from singlepass.workflows.report.plots.svg import PALETTE, Style, parse, styles_of, swatch

from ..synthetic_results import results_with_sizes
from .report_page import render, texts

ALGORITHMS = ("Projectron 0.1", "Projectron 0.5", "Forgetron", "AROW")
COLOURS = {colour for colour, _ in PALETTE}


def colour_of(element: ET.Element) -> str:
    """Return the series color of a mark or line, or ""."""
    found = re.findall(r"(?:fill|stroke): (#\w+)", element.get("style", ""))
    return next((colour for colour in found if colour in COLOURS), "")


def marks(svg: str) -> set[tuple[str, str]]:
    """Return color and shape, regardless of size, of all marks in a drawing."""
    root = parse(svg)
    shapes = {f"#{path.get('id')}": path.get("d", "") for path in root.iter("path")}
    found = set()
    for use in root.iter("use"):
        # Bands around curves are drawn like marks.
        if (colour := colour_of(use)) and "fill-opacity: 0.18" not in use.attrib["style"]:
            path = shapes[use.attrib["xlink:href"]]
            numbers = [float(number) for number in re.findall(r"-?[\d.]+", path)]
            widest = max(abs(number) for number in numbers)
            shape = re.findall(r"[A-Za-z]", path), [f"{number / widest:.1f}" for number in numbers]
            found.add((colour, str(shape).replace("-0.0", "0.0")))
    return found


def mark(style: Style) -> tuple[str, str]:
    [found] = marks(swatch(style))
    return found


def named(file: Path, svg: str) -> set[str]:
    """Return the algorithms that a figure shows, from its texts or its name."""
    if found := re.search(r"against-\d-(\w+?)(-0-\d)?-0(\.1)?\.svg", file.name):
        return {name for name in ALGORITHMS if re.sub(r"\W", "-", name) == found[1] + (found[2] or "")}
    if "error-reduction" in file.name:
        return {"AROW"}
    written = texts(svg)
    return {
        name for name in ALGORITHMS if any(text == name or text.startswith(f"{name}  ") for text in written)
    }


@pytest.fixture(scope="module")
def figures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[set[str], str]]:
    """Return the algorithms and the SVG of every figure in a report that has all kinds."""
    out = tmp_path_factory.mktemp("figures")
    results = results_with_sizes(
        datasets=("digits[0-vs-rest]", "digits[1-vs-rest]", "gauss"), noise=(0.0, 0.1), seeds=5
    )
    results.study["rankings"] = [{"title": "R", "algorithms": [*ALGORITHMS], "focus": "AROW"}]
    curves = results.curves
    curves["test_accuracy"] = 1 - 1 / (curves["t"] + 1)
    render(results, out)
    drawn = {file.name: (file, file.read_text(encoding="utf-8")) for file in out.glob("figures/*.svg")}
    return {name: (named(file, svg), svg) for name, (file, svg) in drawn.items()}


def test_every_kind_of_figure_is_there(figures: dict[str, tuple[set[str], str]]) -> None:
    kinds = (
        "critical-difference",
        "mean-rank-by-noise",
        "test-error-1-",
        "test-error-3-",
        "learning-curves",
        "test-error.svg",
        "kernel-evaluations",
        "support-vectors",
        "error-by-support",
        "against",
        "mean-by-noise",
        "increase-in-error",
        "error-reduction",
    )
    assert all(any(kind in name for name in figures) for kind in kinds)
    assert all(any(kind in name for kind in (*kinds, "test-error-2-")) for name in figures)


@pytest.mark.slow
def test_an_algorithm_looks_the_same_in_every_figure(figures: dict[str, tuple[set[str], str]]) -> None:
    styles = styles_of(ALGORITHMS)
    for file, (names, svg) in figures.items():
        assert names, file
        assert {colour_of(each) for each in parse(svg).iter()} - {""} == {
            styles[name].colour for name in names
        }, file
        expected = {mark(styles[name]) for name in names}
        # In a box plot only outliers are marks.
        assert marks(svg) <= expected if "test-error-" in file else marks(svg) == expected, file


def test_points_that_coincide_are_told_apart() -> None:
    points = pd.DataFrame({"size": [30.0] * 4, "error": [5.0] * 4}, index=[*ALGORITHMS])
    svg = error_by_size(points, styles_of(ALGORITHMS), ["A", "A", "B", "B"], "%")
    root = parse(svg)
    drawn = [use for use in root.iter("use") if colour_of(use)]
    assert len(drawn) == 4
    assert all(
        "fill: none" in use.get("style", "") or "fill-opacity: 0" in use.get("style", "") for use in drawn
    )
    shapes = {f"#{path.get('id')}": path.get("d", "") for path in root.iter("path")}
    widths = [
        max(abs(float(number)) for number in re.findall(r"-?[\d.]+", shapes[use.attrib["xlink:href"]]))
        for use in drawn
    ]
    assert widths == sorted(set(widths))
