"""Curves along the stream."""

from __future__ import annotations

import numpy as np
import pytest

from singlepass.pipeline.analysis.curves import Curve
from singlepass.workflows.report.plots.curve_plots import Axis, learning_curves
from singlepass.workflows.report.plots.styles import styles_of

STYLES = styles_of(["AROW"])


@pytest.mark.parametrize(
    ("t", "mean"),
    [([10.0], [0.2]), ([10.0, 20.0], [0.0, 0.0]), ([0.0], [5.0]), ([0.0, 9.0], [1.0, 0.0])],
)
def test_logarithmic_axes_of_few_and_zero_values(t: list[float], mean: list[float]) -> None:
    """A warning of Matplotlib's is an error here."""
    curve = Curve("AROW", np.array(t), np.array(mean), np.zeros(len(t)), 1)
    svg = learning_curves([curve], STYLES, Axis("examples seen", "test error, %", log=True))
    assert svg.count("<text") > 2


def test_unknown_values_are_not_drawn() -> None:
    t = np.array([10.0, 20.0, 30.0])
    curve = Curve("AROW", t, np.array([np.nan, 3.0, np.inf]), np.zeros(3), 1)
    assert "nan" not in learning_curves([curve], STYLES, Axis("t", "%", log=True)).lower()
