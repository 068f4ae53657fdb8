"""Plots against the noise rate."""

from __future__ import annotations

import pandas as pd

from singlepass.pipeline.noise import Noise
from singlepass.workflows.report.plots.noise_plots import ranks_by_noise
from singlepass.workflows.report.plots.styles import styles_of

from ..report_page import texts

STYLES = styles_of(["A", "_B"])


def test_ranks_by_noise_with_a_level_that_could_not_be_ranked() -> None:
    noise = [Noise(0.0), Noise(0.1), Noise(0.2)]
    columns = [1.0, 2.0], [float("nan")] * 2, [2.0, 1.0]
    table = pd.DataFrame(dict(zip(noise, columns, strict=True)), index=["A", "_B"])
    alone = texts(ranks_by_noise(table, noise, STYLES))
    assert {"0%", "10%", "20%"} <= set(alone)
    assert "A" not in alone
    # Matplotlib hides labels that start with an underscore unless told otherwise.
    assert {"A", "\u200b_B"} <= set(texts(ranks_by_noise(table, noise, STYLES, legend=True)))
