"""Test a study's TOML: defaults, shorthand, and one clear line for every error."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from singlepass.pipeline.errors import InputError
from singlepass.pipeline.noise import Noise
from singlepass.pipeline.study.learner_factory import grid_points, resolve_learner, with_canonical_numbers
from singlepass.pipeline.study.specs import AlgorithmSpec, Course, DatasetSpec
from singlepass.pipeline.study.study import TUNING_SEED, Study
from singlepass.pipeline.study.study_file import parse_study, read_study

MINIMAL = {"name": "mine", "datasets": [{"name": "digits"}], "algorithms": [{"name": "AROW"}]}
TWO = {"algorithms": [{"name": "AROW"}, {"name": "PA"}]}


def test_defaults_and_shorthand() -> None:
    study = parse_study({**MINIMAL, "seeds": 3, "noise": 0.1})
    assert study.seeds == [0, 1, 2]
    assert study.noise == [Noise(0.1)]
    assert study.protocol == "prequential"
    assert study.algorithms[0].label == "AROW"


def test_the_seeds_of_crossval_are_its_folds() -> None:
    assert parse_study({**MINIMAL, "protocol": "crossval", "folds": 4}).seeds == [0, 1, 2, 3]
    assert parse_study({**MINIMAL, "protocol": "crossval", "seeds": [2, 5]}).seeds == [2, 5]


@pytest.mark.parametrize(
    ("protocol", "judge"), [("prequential", "online"), ("holdout", "validation"), ("crossval", "validation")]
)
def test_grids_are_judged_as_the_protocol_allows(protocol: str, judge: str) -> None:
    by_default = parse_study({**MINIMAL, "protocol": protocol})
    assert by_default.judge_of(by_default.datasets[0]) == judge
    told = parse_study({**MINIMAL, "protocol": protocol, "tune_by": "online"})
    assert told.judge_of(told.datasets[0]) == "online"


def test_rankings_name_data_sets_as_tables_do() -> None:
    entries = [{"path": "data/mine.csv.gz"}, {"name": "digits", "label": "numbers"}, {"name": "usps"}]
    ranking = {"title": "t", "algorithms": ["AROW", "PA"], "datasets": ["mine", "numbers", "usps"]}
    study = parse_study({**MINIMAL, **TWO, "datasets": entries, "rankings": [ranking]})
    assert study.rankings[0].datasets == [entry.label for entry in study.datasets]


def test_an_algorithm_may_say_which_point_wins() -> None:
    table = {**MINIMAL, "winner": "sparsest", "algorithms": [{"name": "A"}, {"name": "B", "winner": "best"}]}
    assert parse_study(table).own_winners == {"B": "best"}


@pytest.mark.parametrize("key", ["title", "description"])
def test_a_text_may_have_several_lines(key: str) -> None:
    assert getattr(parse_study({**MINIMAL, key: "a\tb\r\nc\n"}), key) == "a\tb\r\nc\n"


def test_a_list_is_a_grid_and_a_value_is_not() -> None:
    entry = parse_study({**MINIMAL, "algorithms": [{"name": "AROW", "r": [0.1, 1.0], "loss": "hinge"}]})
    assert entry.algorithms[0].grid == {"r": [0.1, 1.0]}
    assert entry.algorithms[0].fixed == {"loss": "hinge"}


def test_the_points_of_a_grid_have_the_values_that_are_not_in_it() -> None:
    spec = AlgorithmSpec.model_validate({"name": "AROW", "loss": "hinge", "r": [0.1, 1.0]})
    assert list(grid_points(spec)) == [{"loss": "hinge", "r": 0.1}, {"loss": "hinge", "r": 1.0}]


def test_whole_numbers_become_floats_where_the_parameter_is_one() -> None:
    given = AlgorithmSpec.model_validate({"name": "AROW", "r": [1, 2.5], "epochs": 2})
    spec = with_canonical_numbers(given, resolve_learner("AROW"))
    assert repr((spec.grid, spec.fixed)) == "({'r': [1.0, 2.5]}, {'epochs': 2})"


def test_the_prefix_that_judges_grids_is_a_share_of_the_stream() -> None:
    assert Course("given", tune_fraction=0.1).prefix(45) == 4
    assert Course().prefix(45) == 0


def test_checkpoints_may_be_a_list_and_are_written_back_as_one() -> None:
    study = parse_study({**MINIMAL, "checkpoints": [10, 500]})
    assert study.checkpoints == (10, 500)
    written = study.model_dump(mode="json")
    assert written["checkpoints"] == [10, 500]
    assert parse_study(written) == study


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"noise": [0.0, 1.0]}, "noise: 1.0 is not a noise rate: give numbers in [0, 1)"),
        ({"noise": -0.1}, "noise: -0.1 is not a noise rate"),
        ({"noise": "much"}, "noise: 'much' is not a noise rate"),
        ({"noise": [0.1, 0.1]}, "noise: a rate is given twice"),
        ({"seeds": 0}, "seeds: 0 repetitions are too few"),
        ({"seeds": [1, 1]}, "seeds: a seed is given twice"),
        ({"seeds": [TUNING_SEED]}, "is not a seed: give whole numbers in [0, 1,000,000)"),
        ({"seeds": "many"}, "seeds: 'many' is neither a number of repetitions nor a list of seeds"),
        ({"protocol": "crossvall"}, "protocol: 'crossvall' should be 'prequential', 'holdout' or 'crossval'"),
        (
            {"protocol": "crossval", "seeds": 11},
            "seeds: with protocol 'crossval', seeds are fold numbers 0 to 9; got 10",
        ),
        ({"checkpoints": "linear"}, "checkpoints: 'linear' is not a number of checkpoints"),
        ({"checkpoints": True}, "checkpoints: True is not a number of checkpoints"),
        ({"checkpoints": []}, "checkpoints: a list has 1 to 10000 numbers of examples, this one has 0"),
        ({"checkpoints": [0, 10]}, "checkpoints: 0 is not a number of examples: give whole numbers from 1"),
        ({"checkpoints": [10, 20.0]}, "checkpoints: 20.0 is not a number of examples"),
        ({"checkpoints": [10, "log"]}, "checkpoints: 'log' is not a number of examples"),
        ({"checkpoints": [4000, 1000]}, "checkpoints: the list must rise, but 1,000 follows 4,000"),
        ({"checkpoints": [10, 10]}, "checkpoints: the list must rise, but 10 follows 10"),
        ({"sede": 3}, "unknown key 'sede': did you mean 'seeds'?"),
        ({"name": "../up"}, "name: '../up' is not a usable name"),
        ({"datasets": []}, "datasets: give at least 1 entry, not 0"),
        ({"noise": []}, "noise: give at least 1 entry, not 0"),
        ({"seeds": []}, "seeds: give at least 1 entry, not 0"),
        ({"window": 10**23}, "window: 100000000000000000000000 should be less than or equal to"),
        ({"datasets": [{"name": "a", "label": 0}]}, "datasets[1].label: 0 should be a valid string"),
        ({"algorithms": [{"name": "A", "label": []}]}, "algorithms[1].label: [] should be a valid string"),
        (
            {"datasets": [{"name": "a", "label": "a\0"}]},
            "datasets[1].label: 'a\\x00' has a control or invalid character: give one without",
        ),
        (
            {"rankings": [{"title": "a\x07", "algorithms": ["A", "B"]}]},
            "rankings[1].title: 'a\\x07' has a control or invalid character",
        ),
        ({"algorithms": [{"name": "A", "label": "\uffff"}]}, "'\\uffff' has a control or invalid character"),
        ({"datasets": [{"name": "a", "label": "\ud800"}]}, "'\\ud800' has a control or invalid character"),
        ({"title": "a\x07b"}, "title: 'a\\x07b' has a control or invalid character: give one without"),
        (
            {"description": "a\x07b"},
            "description: 'a\\x07b' has a control or invalid character: give one without",
        ),
        (
            {"algorithms": [{"name": "\x1b[31m"}]},
            "algorithms[1].name: '\\x1b[31m' has a control",
        ),
        (
            {"baselines": True, "algorithms": [{"name": [1]}]},
            "algorithms[1].name: [1] should be a valid string",
        ),
        ({"datasets": [{"task": "pairs"}]}, "datasets[1]: needs a 'name'"),
        ({"algorithms": [{"label": "x"}]}, "algorithms[1].name: this key is required"),
        ({"algorithms": [{"name": "AROW"}, {"name": "AROW"}]}, "two entries are called 'AROW'"),
        ({"algorithms": [{"name": "AROW", "r": []}]}, "the grid of 'r' is empty"),
        ({"algorithms": [{"name": "AROW", "r": [1.0, 1.0]}]}, "the grid of 'r' contains a value twice"),
        (
            {"algorithms": [{"name": "Forgetron", "budget": {"size": "A"}}]},
            "algorithms[1]: 'budget' must be a value, a list of values or { support_of = \"LABEL\" }",
        ),
        (
            {"algorithms": [{"name": "Forgetron", "budget": {"support_of": "A"}, "gamma": [1.0, 2.0]}]},
            "algorithms[1]: 'budget' is the support size of another algorithm, so 'gamma' cannot be a list",
        ),
        (
            {"algorithms": [{"name": "A"}, {"name": "Forgetron", "budget": {"support_of": "Forgetron"}}]},
            "algorithms: 'budget' of 'Forgetron' is the support size of 'Forgetron', "
            "but support_of must name an algorithm without support_of: ",
        ),
        (
            {"algorithms": [{"name": "Forgetron", "budget": [{"support_of": "A"}, 10]}]},
            "algorithms[1]: the grid of 'budget' contains a table: write support_of alone",
        ),
        (
            {
                "algorithms": [
                    {"name": "A", "C": [1.0, 2.0]},
                    {"name": "Forgetron", "budget": {"support_of": "A"}, "tuned_as": "A"},
                ]
            },
            "algorithms[2]: 'budget' is the support size of another algorithm, so tuned_as, which takes the "
            "winner of a grid, cannot be given: give the parameters' values",
        ),
        (
            {"algorithms": [{"name": "AROW"}, {"name": "PA", "C": [1.0, 2.0], "tuned_as": "AROW"}]},
            "algorithms[2]: 'C' is a grid, but tuned_as takes the winner of the grid of 'AROW': "
            "give one of the two",
        ),
        (
            {"algorithms": [{"name": "AROW", "r": [1.0, 2.0]}, {"name": "PA", "tuned_as": "AORW"}]},
            "algorithms: 'PA' is tuned as 'AORW', but tuned_as must name an algorithm without "
            "tuned_as: did you mean 'AROW'?",
        ),
        (
            {"datasets": [{"name": "a", "test_fraction": 0.1}]},
            "datasets[1]: test_fraction needs a seeded split, but protocol 'prequential' makes none",
        ),
        (
            {"datasets": [{"name": "a", "test_fraction": 1.0}], "protocol": "holdout"},
            "datasets[1].test_fraction: 1.0 should be less than 1",
        ),
        ({"datasets": [{"name": "a", "max_tune": 0}]}, "datasets[1].max_tune: 0 should be greater than or"),
        ({"test_curve": True}, "test_curve needs a test part"),
        ({"curves": ["AORW"], "algorithms": [{"name": "AROW"}]}, "curves: no algorithm is called 'AORW'"),
        (
            {"algorithms": [{"name": "A", "query": "most"}]},
            "algorithms[1].query: 'most' should be 'all', 'greedy', 'selective', 'selective-adaptive' or "
            "'random'",
        ),
        (
            {"algorithms": [{"name": "A", "h": 3}]},
            "algorithms[1]: h belongs to query = 'greedy', but this algorithm has no query",
        ),
        (
            {"algorithms": [{"name": "A", "query": "random", "query_b": 3}]},
            "algorithms[1]: query_b belongs to query = 'selective', but this algorithm has query = 'random'",
        ),
        (
            {"algorithms": [{"name": "A", "query": "random", "query_q": 1.5}]},
            "algorithms[1].query_q: 1.5 should be less than or equal to 1",
        ),
        (
            {"solutions": ["arow "], "algorithms": [{"name": "AROW"}]},
            "solutions: no algorithm is called 'arow ': did you mean 'AROW'?",
        ),
        ({"time_limit": 0}, "time_limit: 0 should be greater than 0"),
        ({"baselines": "true"}, "baselines: 'true' should be a valid boolean, without quotes"),
        ({"test_curve": 1}, "test_curve: 1 should be a valid boolean"),
        ({"delay": "5"}, "delay: '5' should be a valid integer, without quotes"),
        ({"delay": "soon"}, "delay: 'soon' should be a valid integer"),
        ({"max_train": 1e4}, "max_train: 10000.0 should be a valid integer"),
        ({"fading": "0.9"}, "fading: '0.9' should be a valid number, without quotes"),
        (
            {"datasets": [{"name": "a", "max_examples": "50"}]},
            "datasets[1].max_examples: '50' should be a valid integer, without quotes",
        ),
        ({"datasets": [{"name": "a", "parameters": {"gamma": {}}}]}, "datasets[1].parameters.gamma"),
        ({"rankings": [{"title": "t", "algorithms": ["AROW", "AORW"]}]}, "did you mean 'AROW'?"),
        (
            {"rankings": [{"title": "t", "algorithms": ["AROW", "AROW"]}]},
            "rankings[1]: algorithms: 'AROW' is given twice",
        ),
        (
            {**TWO, "rankings": [{"title": "t", "algorithms": ["AROW", "PA"], "datasets": ["digit"]}]},
            "no data set is called 'digit': did you mean 'digits'?",
        ),
        (
            {"rankings": [{"title": "t", "algorithms": ["AROW", "PA"], "focus": "AORW"}]},
            "focus 'AORW' is not one of the ranking's algorithms: did you mean 'AROW'?",
        ),
        (
            {
                **TWO,
                "rankings": [
                    {"title": "t", "algorithms": ["AROW", "PA"], "focus": "AROW", "focus_noise": 0.7}
                ],
            },
            "focus_noise 0.7 is not one of the study's noise rates",
        ),
        (
            {"rankings": [{"title": "t", "algorithms": ["AROW", "PA"], "focus_noise": [0.0]}]},
            "rankings[1]: focus_noise needs a 'focus', the algorithm to plot at these noise rates",
        ),
    ],
)
def test_a_bad_study_is_one_line_that_names_the_key(change: dict[str, object], line: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_study({**MINIMAL, **change}, "mine.toml")
    assert line in str(caught.value)
    assert str(caught.value).startswith("mine.toml: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "line"),
    [(None, "no such study file"), (b"name = ", "not TOML"), (b"name = '\xff'", "byte 8 is not UTF-8 text")],
)
def test_a_bad_file_is_named(tmp_path, content: bytes | None, line: str) -> None:
    path = tmp_path / "s.toml"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=line) as caught:
        read_study(path)
    assert str(path) in str(caught.value)


def test_a_folder_is_no_study(tmp_path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        read_study(tmp_path)


def test_every_key_is_documented() -> None:
    text = (Path(__file__).parents[3] / "docs" / "study.md").read_text(encoding="utf-8")
    keys = [key for model in (Study, DatasetSpec, AlgorithmSpec) for key in model.model_fields]
    assert "time_limit" in keys
    assert [key for key in keys if f"`{key}`" not in text and f"`[[{key}]]`" not in text] == []


@pytest.mark.parametrize(
    ("keys", "line"),
    [
        ({"metrics": ["balanced_acuracy"]}, "metrics: unknown metric 'balanced_acuracy': did you mean"),
        ({"metrics": ["f1", "regret"], "rank_by": "regret"}, "rank_by: 'regret' cannot rank"),
        ({"metrics": ["given_regret", "f1"]}, "rank_by: 'given_regret' cannot rank"),
        ({"metrics": ["f1", "f1"]}, "metrics: 'f1' is given twice"),
        ({"metrics": ["test_f1"]}, "metrics: 'test_f1' needs a test part"),
        ({"metrics": ["f1"], "rank_by": "kappa"}, "rank_by: 'kappa' is not one of the study's metrics"),
        ({"rank_by": "kappa"}, "rank_by: 'kappa' is not one of the study's metrics: add it to metrics"),
    ],
)
def test_a_metric_that_cannot_be_is_one_line(keys: dict[str, Any], line: str) -> None:
    table = {"name": "s", "datasets": [{"name": "digits"}], "algorithms": [{"name": "AROW"}], **keys}
    with pytest.raises(InputError) as caught:
        parse_study(table)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_first_metric_ranks_unless_another_is_named() -> None:
    table = {"name": "s", "datasets": [{"name": "digits"}], "algorithms": [{"name": "AROW"}]}
    assert parse_study(table).ranked_by is None
    assert parse_study({**table, "metrics": ["kappa", "error"]}).ranked_by == "kappa"
    assert parse_study({**table, "metrics": "kappa"}).metrics == ["kappa"]
    assert parse_study({**table, "metrics": ["regret", "error"], "rank_by": "error"}).ranked_by == "error"
    assert parse_study({**table, "metrics": ["kappa", "error"], "rank_by": "error"}).ranked_by == "error"
