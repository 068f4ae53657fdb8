"""Test that the published grids are those of the shipped studies, and wide enough."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from singlepass.workflows.shipped import find_study

PUBLISHED = Path(__file__).parents[2] / "results" / "reference"
STUDIES = sorted(path.parts[-3] for path in PUBLISHED.glob("*/tables/grids.csv"))


def tables(study: str) -> pd.DataFrame:
    return pd.read_csv(PUBLISHED / study / "tables" / "grids.csv")


@pytest.mark.parametrize("study", STUDIES)
def test_published_grids_are_those_of_the_study(study: str) -> None:
    declared = {
        (algorithm.label, name): ", ".join(f"{value:g}" for value in values)
        for algorithm in find_study(study)[0].algorithms
        for name, values in algorithm.grid.items()
    }
    found = {(row.algorithm, row.parameter): row.grid for row in tables(study).itertuples()}
    assert found == declared, f"{study}: run it again and publish its report"


@pytest.mark.parametrize("study", STUDIES)
def test_at_most_a_tenth_of_the_winners_lie_at_an_edge(study: str) -> None:
    found = tables(study)
    # The papers take ten passes at most.
    steps = found[found["parameter"] != "epochs"]
    counts = steps["winners at the edge"].str.extract(r"(\d+) of (\d+)").astype(int)
    assert counts[0].sum() <= 0.1 * counts[1].sum()
