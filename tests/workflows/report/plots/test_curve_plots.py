"""Test curves along the stream."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from singlepass.pipeline.analysis.curves import Curve
from singlepass.pipeline.noise import Noise
from singlepass.workflows.report.plots.curve_plots import (
    Axis,
    Estimate,
    draw_curves,
    estimate_panels,
    learning_curves,
    values_by_noise,
)
from singlepass.workflows.report.plots.svg import styles_of

STYLES = styles_of(["AROW"])


@pytest.mark.parametrize(
    ("t", "mean"),
    [([10.0], [0.2]), ([10.0, 20.0], [0.0, 0.0]), ([0.0], [5.0]), ([0.0, 9.0], [1.0, 0.0])],
)
def test_logarithmic_axes_of_few_and_zero_values(t: list[float], mean: list[float]) -> None:
    """Check that Matplotlib does not warn: a warning is an error here."""
    curve = Curve("AROW", np.array(t), np.array(mean), np.zeros(len(t)), 1)
    [svg], _ = learning_curves([("", [curve])], STYLES, Axis("examples seen", "test error, %", log=True))
    assert svg.count("<text") > 2


def test_unknown_values_are_not_drawn() -> None:
    t = np.array([10.0, 20.0, 30.0])
    curve = Curve("AROW", t, np.array([np.nan, 3.0, np.inf]), np.zeros(3), 1)
    [svg], sheet = learning_curves([("", [curve])], STYLES, Axis("t", "%", log=True))
    assert "nan" not in f"{svg} {sheet}".lower()


def test_a_curve_without_finite_values_has_no_marks() -> None:
    curve = Curve("AROW", np.array([10.0, 20.0]), np.full(2, np.inf), np.zeros(2), 1)
    [svg], _ = learning_curves([("", [curve])], STYLES, Axis("t", "loss"))
    assert "inf" not in svg


def test_undefined_values_break_the_line() -> None:
    figure, axes = pyplot.subplots()
    t, mean = np.arange(1.0, 9.0), np.array([0.1, 0.2, np.nan, 0.9, np.nan, 0.4, 0.5, 0.6])
    draw_curves(axes, [Curve("AROW", t, mean, np.where(np.isnan(mean), np.nan, 0.1), 2)], STYLES, Axis())
    [line] = axes.lines
    assert np.isnan(line.get_ydata()).tolist() == np.isnan(mean).tolist()
    # The point between two gaps has a mark; no mark is in a gap.
    assert line.get_markevery() == [1, 3, 5, 7]
    [band] = axes.collections
    assert len(band.get_paths()) == 3
    pyplot.close(figure)


def test_a_panel_is_the_same_whatever_stands_beside_it() -> None:
    t = np.array([10.0, 20.0, 30.0])
    panels = [
        (name, [Curve("AROW", t, scale * t, 0.1 * t, 2)]) for name, scale in (("one", 0.3), ("two", 40.0))
    ]
    axis = Axis(y="mistakes")
    drawings, sheet = learning_curves(panels, STYLES, axis)
    assert drawings == [learning_curves([panel], STYLES, axis)[0][0] for panel in panels]
    assert all(f">{name}</text>" in sheet for name, _ in panels)
    assert not any(f">{name}</text>" in "".join(drawings) for name, _ in panels)


def test_long_tick_labels_leave_room_for_the_label_of_y() -> None:
    t = np.array([10.0, 20.0])
    curve, estimate = Curve("AROW", t, 1e5 * t, 0 * t, 1), Estimate(1.0, 2e5, 1e5, 3e5)
    curves = learning_curves([("", [curve])] * 2, STYLES, Axis(y="evaluations"))
    # Two estimates, because matplotlib 3.10.0 reads a single one in a way that NumPy warns of.
    two = [("", {"AROW": [estimate, estimate]})] * 2
    estimates = estimate_panels(two, STYLES, Axis(y="evaluations", log=True))
    # Places of the label's baseline; its letters reach 10 px to the left.
    places = re.compile(r'x="([-\d.]+)"[^>]*>evaluations')
    table = pd.DataFrame({Noise(): [1e5], Noise(0.1): [3e5]}, ["AROW"])
    [x] = places.findall(values_by_noise(table, list(table), STYLES, "evaluations"))
    assert float(x) >= 10
    for drawings, sheet in (curves, estimates):
        found = [places.findall(each) for each in (*drawings, sheet)]
        assert [len(each) for each in found] == [1, 1, 2]
        assert min(float(x) - 330 * i for several in found for i, x in enumerate(several)) >= 10


def test_x_alone_may_be_logarithmic() -> None:
    curve = Curve("AROW", np.array([10.0, 100.0, 1000.0]), np.array([70.0, 80.0, 81.0]), np.zeros(3), 1)
    pictures = {
        axis: learning_curves([("", [curve])], STYLES, axis)[0][0]
        for axis in (Axis(y="%", zero=False, log_x=True), Axis(y="%", zero=False))
    }
    for axis, svg in pictures.items():
        # A logarithmic axis has a tick at 10; a linear one begins at 0.
        assert (">10</text>" in svg, ">0</text>" in svg) == (axis.log_x, not axis.log_x)
