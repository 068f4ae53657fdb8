"""Test plots against the noise rate."""

from __future__ import annotations

import json
import re

import pandas as pd
import pytest

from singlepass.pipeline.noise import MarginNoise, Noise, PairNoise
from singlepass.workflows.report.plots.curve_plots import ranks_by_noise, values_by_noise
from singlepass.workflows.report.plots.svg import parse, styles_of

from ..report_page import texts

STYLES = styles_of(["A", "_B"])


def test_ranks_by_noise_with_a_level_that_could_not_be_ranked() -> None:
    noise = [Noise(0.0), Noise(0.1), Noise(0.2)]
    columns = [1.0, 2.0], [float("nan")] * 2, [2.0, 1.0]
    table = pd.DataFrame(dict(zip(noise, columns, strict=True)), index=["A", "_B"])
    alone = texts(ranks_by_noise(table, noise, STYLES))
    assert {"0%", "10%", "20%"} <= set(alone)
    assert "A" not in alone
    # Matplotlib hides labels that start with an underscore, unless they are changed.
    assert {"A", "\u200b_B"} <= set(texts(ranks_by_noise(table, noise, STYLES, legend=True)))


@pytest.mark.parametrize("draw", [ranks_by_noise, lambda *given: values_by_noise(*given, "error, %")])
def test_lines_end_where_another_model_of_noise_begins(draw) -> None:
    rates = [Noise(), Noise(0.1), Noise(0.3)]
    several = [*rates, PairNoise(0.1), PairNoise(0.3), MarginNoise(0.3)]
    drawn = {}
    for noise in (rates, several):
        table = pd.DataFrame({each: [1.0 + i % 2, 2.0 - i % 2] for i, each in enumerate(noise)}, ["A", "_B"])
        svg = draw(table, noise, STYLES)
        assert {each.short for each in noise} <= set(texts(svg))
        # Only lines inside the axes: legend lines are not clipped.
        drawings = re.findall(r'<path d="([^"]*)" clip-path="[^"]*" style="[^"]*stroke-width: 1.6', svg)
        lines = [points.count("L") for points in drawings]
        drawn[len(noise)] = sorted(count for count in lines if count)
    # Per algorithm: three points for uniform noise, two for pairs, and a single point, without a line, for
    # one level.
    assert drawn[3] == [2, 2]
    assert drawn[6] == [1, 1, 2, 2]


def test_the_page_gets_the_names_of_noise_levels() -> None:
    noise = [Noise(0.0), Noise(0.1), PairNoise(0.3)]
    table = pd.DataFrame({each: [1.0, 2.0] for each in noise}, ["A", "_B"])
    x, y = json.loads(parse(ranks_by_noise(table, noise, STYLES)).attrib["data-axes"])
    assert [name for _, name in x[6]] == [each.short for each in noise]
    assert y[6] == []
