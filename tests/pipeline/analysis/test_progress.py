"""Test which part of an unfinished study can be compared, and how far the rest is."""

from __future__ import annotations

from dataclasses import replace

from singlepass.pipeline.analysis.averages import Averages
from singlepass.pipeline.analysis.design import study_design
from singlepass.pipeline.analysis.progress import (
    NotRun,
    Shortfall,
    comparable_rows,
    finished_rows,
    not_run,
)
from singlepass.pipeline.noise import CLEAN

from .cells import cell, frame

STUDY = {"algorithms": [{"label": name} for name in "ABC"], "noise": [0.0], "seeds": [0, 1, 2, 3]}
CELLS = frame(
    *(cell("d", name, seed) for name in "AB" for seed in range(3)),
    cell("d", "A", 3),
    cell("d", "C", 0),
    cell("d", "C", 1, status="stopped", n_examples=10),
    cell("d", "C", 2, status="crashed"),
    *(cell("e", name, 0, n_examples=250) for name in "ABC"),
    cell("e", "A", 1, stage="tune"),
)


def test_means_are_made_of_finished_cells_on_shared_seeds() -> None:
    rows = finished_rows(CELLS)
    found = {(row.dataset, row.algorithm, row.seed) for row in rows.itertuples()}
    assert found == {("d", name, seed) for name in "AB" for seed in range(3)} | {("e", n, 0) for n in "ABC"}


def test_means_over_data_sets_leave_out_those_that_an_algorithm_lacks() -> None:
    design = study_design(CELLS, STUDY)
    assert set(comparable_rows(finished_rows(CELLS), design)["dataset"]) == {"e"}
    # An algorithm that finished on no data set is not waited for.
    without = CELLS[(CELLS["algorithm"] != "C") | (CELLS["dataset"] == "d")]
    assert set(comparable_rows(finished_rows(without), design)["dataset"]) == {"d", "e"}


def test_how_far_each_came() -> None:
    found = Averages(CELLS).shortfalls(CLEAN, study_design(CELLS, STUDY))
    assert found == {
        ("d", "B"): Shortfall(4, waiting=1, examples=100),
        ("d", "C"): Shortfall(4, stopped=1, failed=1, waiting=1, reached=(10, 10), examples=100),
        **{("e", name): Shortfall(4, waiting=3, examples=250) for name in "ABC"},
    }


def test_cells_that_have_not_run_are_grouped_by_successive_seeds() -> None:
    assert not_run(CELLS, study_design(CELLS, STUDY)) == [
        NotRun([1, 2], ["e"], ["A", "B", "C"], 6),
        NotRun([3], ["d", "e"], ["A", "B", "C"], 5),
    ]
    holes = CELLS[~CELLS["seed"].isin([0, 2])]
    lacking = not_run(holes, study_design(holes, STUDY | {"seeds": [0, 1, 2]}))
    assert [(each.seeds, each.cells) for each in lacking] == [([0], 3), ([2], 3), ([3], 2)]


class Unsearched(list[int]):
    """A list without a search, which takes time quadratic in the seeds if each of them is searched for."""

    index = None  # type: ignore[assignment]


def test_seeds_are_not_searched_for_in_a_list() -> None:
    design = replace(study_design(CELLS, STUDY), seeds=Unsearched(range(10)))
    assert [each.seeds for each in not_run(CELLS, design)] == [[1, 2], [*range(3, 10)]]
