"""Test comparing and merging results in their given order, where seeds may make no difference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store.schema import PLAN
from singlepass.pipeline.store.store import Store, exclusive
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.comparing import compare_results
from singlepass.workflows.merging import merge_results
from singlepass.workflows.running.run import run_study

from .conftest import Silent
from .finished_runs import STUDY, assert_same_cells, compared, run

# Rows in their given order: without noise, all seeds give one result, unless a learner draws.
IN_ORDER: dict[str, Any] = {
    "protocol": "prequential",
    "order": "given",
    "seeds": 2,
    "datasets": [{"name": "breast-cancer", "max_examples": 80}],
}


@pytest.mark.parametrize(
    ("other", "line"),
    [
        (
            {"name": "AROW", "r": [0.1, 1.0]},
            r"not comparable: results on breast-cancer are counted from row 1 in \S*one "
            r"and from row 9 in \S*two, because a grid",
        ),
        pytest.param(
            {"name": "PassiveAggressive", "query": "random"},
            r"not comparable: all seeds run on breast-cancer with noise 0 in \S*two, because an algorithm of "
            r"its study draws random numbers there, .*, but one seed in \S*one: run one study",
            marks=pytest.mark.slow,
        ),
    ],
)
def test_results_that_depend_on_the_algorithms_of_a_study(
    tmp_path: Path, other: dict[str, Any], line: str
) -> None:
    entries = [{"name": "Perceptron"}, other]
    halves = [
        run(tmp_path / name, **IN_ORDER, algorithms=[entry])
        for name, entry in zip(("one", "two"), entries, strict=True)
    ]
    for urls in (halves, halves[::-1]):
        with pytest.raises(InputError, match=line):
            compare_results(urls, str(tmp_path / "both"), None, lambda line: None)
        with pytest.raises(InputError, match=line):
            merge_results(urls, str(tmp_path / "merged"), lambda line: None)
    # The remedy takes all results of the algorithm because of which all are counted so, or repeated.
    whole = parse_study({**STUDY, **IN_ORDER, "algorithms": entries})
    run_study(whole, str(tmp_path / "whole"), bases=tuple(halves), progress=Silent())
    cells = read_results(str(tmp_path / "whole")).cells
    assert cells.loc[cells["algorithm"] == other["name"], "base"].eq(halves[1]).all()


@pytest.mark.slow
def test_learners_fitted_in_batch_count_no_rows_of_the_stream(tmp_path: Path) -> None:
    """They have no row from which results are counted, unlike the grid of the same study."""
    entries = [{"name": "AROW", "r": [0.1, 1.0]}, {"name": "SVC"}]
    keys = {**IN_ORDER, "protocol": "holdout", "noise": [0.2], "algorithms": entries}
    halves = [run(tmp_path / str(seed), **{**keys, "seeds": [seed]}) for seed in (0, 1)]
    merge_results(halves, str(tmp_path / "merged"), lambda line: None)
    cells = read_results(str(tmp_path / "merged")).cells
    assert (cells["stage"] == "run").sum() == 4


DRAWING: dict[str, Any] = {"name": "PassiveAggressive", "query": "random"}


@pytest.mark.slow
def test_in_a_comparison_of_one_seed_each_result_is_one_repetition(tmp_path: Path) -> None:
    keys = {**IN_ORDER, "noise": [0.0]}
    once = run(tmp_path / "once", **keys, algorithms=[{"name": "Perceptron"}])
    both = run(tmp_path / "both", **{**keys, "seeds": [1]}, algorithms=[{"name": "Perceptron"}, DRAWING])
    for place, urls in enumerate(([once, both], [both, once])):
        _, _, cells = compared(*urls, out=tmp_path / str(place))
        found = cells[["algorithm", "seed"]].sort_values("algorithm")
        assert found.to_numpy().tolist() == [["PassiveAggressive", 1], ["Perceptron", 1]]


def as_earlier(url: str) -> str:
    """Let the plan say as little of repetitions as earlier versions did in studies of one seed."""
    store = Store(url)
    plan = store.plan().to_pandas().assign(repetitions=None)
    with exclusive(store):
        store.write_plan([pa.Table.from_pandas(plan, PLAN, preserve_index=False)])
    return url


@pytest.mark.slow
def test_pieces_are_merged_only_if_all_or_none_depend_on_the_seed(tmp_path: Path) -> None:
    """Also those of one seed, and those of which a part has not run."""
    keys = {**IN_ORDER, "noise": [0.0]}
    one = {"name": "Perceptron"}
    once = run(tmp_path / "once", **keys, algorithms=[one])
    drawn = [run(tmp_path / f"d{seed}", **{**keys, "seeds": [seed]}, algorithms=[DRAWING]) for seed in (0, 1)]
    both = run(tmp_path / "both", **{**keys, "seeds": [0]}, algorithms=[one, DRAWING])
    earlier = as_earlier(run(tmp_path / "earlier", **{**keys, "seeds": [1]}, algorithms=[one]))
    line = r"all seeds run on breast-cancer .*, or an earlier version ran it \(then run it again first\), but"
    for urls in ([once, *drawn], [once, drawn[1]], [both, once], [once, earlier]):
        with pytest.raises(InputError, match=line):
            merge_results(urls, str(tmp_path / "merged"), lambda line: None)
    # A run of the same study there records the repetitions again.
    again = run_study(
        parse_study({**STUDY, **keys, "seeds": [1], "algorithms": [one]}), earlier, progress=Silent()
    )
    assert again.computed == 0
    for name, urls in (("drawn", drawn), ("again", [once, earlier])):
        merge_results(urls, str(tmp_path / name), lambda line: None)
    assert len(read_results(str(tmp_path / "drawn")).cells) == 2
    assert len(read_results(str(tmp_path / "again")).cells) == 1


def test_the_remedy_names_the_stores_that_have_the_cells(tmp_path: Path) -> None:
    """Results of a comparison have none, so they cannot be a base."""
    keys = {**IN_ORDER, "noise": [0.0]}
    urls = [run(tmp_path / name, **keys, algorithms=[{"name": name}]) for name in ("Perceptron", "AROW")]
    compare_results(urls, str(tmp_path / "both"), None, lambda line: None)
    drawn = run(tmp_path / "drawn", **keys, algorithms=[DRAWING])
    with pytest.raises(InputError) as error:
        compare_results([str(tmp_path / "both"), drawn], str(tmp_path / "all"), None, lambda line: None)
    assert str(error.value).endswith(f", with --base {urls[0]} --base {urls[1]} --base {drawn}")


def test_an_algorithm_that_draws_joins_a_study_of_one_repetition(tmp_path: Path) -> None:
    """Then results depend on the seed, also those of stored cells, each of which was the only repetition."""
    keys, grid = {**IN_ORDER, "noise": [0.0]}, {"name": "AROW", "r": [0.1, 1.0]}
    url = run(tmp_path / "one", **keys, algorithms=[grid])
    both = parse_study({**STUDY, **keys, "algorithms": [grid, DRAWING]})
    run_study(both, url, progress=Silent())
    cells = read_results(url).cells
    assert cells["repetitions"].isna().all()
    assert (cells["stage"] == "run").sum() == 4


@pytest.mark.slow
@pytest.mark.parametrize("seeds", [([0, 1], [2, 3]), ([0], [1])])
def test_a_repetition_of_every_seed_is_merged_once(tmp_path: Path, seeds: tuple[list[int], ...]) -> None:
    keys = {**IN_ORDER, "noise": [0.0], "algorithms": [{"name": "Perceptron"}, {"name": "AROW"}]}
    halves = [run(tmp_path / str(of[0]), **{**keys, "seeds": of}) for of in seeds]
    merged = str(tmp_path / "merged")
    merge_results(halves, merged, lambda line: None)
    together = {**keys, "seeds": [*seeds[0], *seeds[1]]}
    assert_same_cells(merged, run(tmp_path / "whole", **together))
    assert read_results(merged).planned == 2
    again = run_study(parse_study({**STUDY, **together}), merged, progress=Silent())
    assert (again.computed, again.reused) == (0, 2)


@pytest.mark.slow
def test_a_repetition_of_every_seed_is_one_of_the_common_seeds(tmp_path: Path) -> None:
    one, two = (
        run(tmp_path / name, **{**IN_ORDER, "seeds": seeds}, algorithms=[{"name": name}])
        for name, seeds in (("Perceptron", [0, 1]), ("AROW", [1, 2]))
    )
    _, _, cells = compared(one, two, out=tmp_path / "both")
    found = cells.sort_values(["algorithm", "noise"])[["algorithm", "noise", "seed"]]
    assert found.to_numpy().tolist() == [
        [name, noise, 1] for name in ("AROW", "Perceptron") for noise in ("0", "0.2")
    ]
    merge_results([one, two], str(tmp_path / "merged"), lambda line: None)
    found = read_results(str(tmp_path / "merged"))
    assert set(found.cells.loc[found.cells["noise"] == "0", "seed"]) == {0}
    # Of each algorithm, one of three seeds with noise is missing.
    assert found.planned == len(found.cells) + 2
