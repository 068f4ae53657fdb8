"""Test common mistakes in a study: each gives one line that says what is right."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from singlepass.pipeline.data.tables.options import TABLE_KEYS
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.specs import DatasetSpec
from singlepass.pipeline.study.study_file import parse_study, read_study

STUDY: dict[str, Any] = {"name": "s", "datasets": [{"name": "digits"}], "algorithms": [{"name": "AROW"}]}


def said(**keys: Any) -> str:
    with pytest.raises(InputError) as error:
        make_plan(parse_study({**STUDY, **keys}, "s.toml"))
    assert "\n" not in str(error.value)
    return str(error.value)


def test_one_bracket_and_one_letter(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    for text, line in (
        (
            '[datasets]\nname = "digits"\n[[algorithms]]\nname = "AROW"\n',
            "[datasets] is one table of a list: write [[datasets]], in double brackets",
        ),
        (
            '[[datasets]]\nname = "digits"\n[[algorithm]]\nname = "AROW"\n',
            "unknown key 'algorithm': did you mean [[algorithms]]?",
        ),
        (
            '[dataset]\nname = "digits"\n[[algorithms]]\nname = "AROW"\n',
            "unknown key 'dataset': did you mean [[datasets]]?",
        ),
    ):
        path.write_text(f'name = "s"\n{text}')
        with pytest.raises(InputError) as error:
            read_study(path)
        assert str(error.value) == f"{path}: {line}"
    assert said(nosie=0.1).startswith("s.toml: unknown key 'nosie': did you mean 'noise'?")


@pytest.mark.parametrize(
    ("key", "near"),
    [
        ("taks", "task"),
        ("lable", "label"),
        ("labels", "label"),
        ("max_example", "max_examples"),
        ("paramters", "parameters"),
        ("positve", "positive"),
        ("standardise", "standardize"),
    ],
)
def test_a_misspelled_key_of_a_data_set(key: str, near: str) -> None:
    line = f"data set 'digits' has no option {key!r}; did you mean {near!r}?"
    assert said(datasets=[{"name": "digits", key: "auto"}]).startswith(line)


def test_every_key_of_a_data_set_is_suggested() -> None:
    # `target` is an option of files, and `positive` is taken out before options are checked.
    assert {*TABLE_KEYS} == {*DatasetSpec.model_fields} - {"target"} | {"positive"}


@pytest.mark.parametrize(
    ("key", "near"),
    [("lable", "label"), ("dataset", "datasets"), ("tuned", "tune"), ("class_weights", "class_weight")],
)
def test_a_misspelled_key_of_an_algorithm(key: str, near: str) -> None:
    line = f"algorithm 'AROW' has no parameter {key!r}: did you mean {near!r}?"
    assert said(algorithms=[{"name": "AROW", key: "x"}]).startswith(line)


def test_misspelled_class_weights_and_keys_of_rankings() -> None:
    for given in ({"3": 2.0}, [{"3": 2.0}]):
        line = said(algorithms=[{"name": "AROW", "class_weights": given}])
        assert line.endswith("; class weights need the key 'class_weight'")
    assert said(rankings=[{"titel": "t", "title": "t", "algorithms": ["AROW", "B"]}]).startswith(
        "s.toml: unknown key 'rankings[1].titel': did you mean 'title'?"
    )


def test_where_rows_come_from_is_said_once() -> None:
    both = "has both 'name' and 'path': give one of them; 'label' sets the name in tables"
    assert said(datasets=[{"name": "digits", "path": "f.csv"}]) == f"s.toml: datasets[1]: {both}"
    assert "has both 'path' and 'openml'" in said(datasets=[{"path": "f.csv", "openml": 3}])
    assert "needs a 'name' from `singlepass list datasets`, the 'path' of a file" in said(datasets=[{}])


@pytest.mark.parametrize("protocol", ["prequential", "crossval"])
def test_a_test_part_that_is_never_read(protocol: str) -> None:
    entry = {"path": "f.csv", "test": "t.csv"}
    line = f"s.toml: datasets[1].test: protocol '{protocol}' never reads a test part: set"
    assert said(datasets=[{**entry, "protocol": protocol}], protocol="holdout").startswith(line)
    assert said(datasets=[entry], protocol=protocol).startswith(line)


def test_noise_at_which_labels_mislead() -> None:
    two = [{"name": "digits", "task": "pair:3,5"}]
    assert said(datasets=two, noise=[0.1, 0.6]) == (
        "noise: at 0.6 the 2 classes of data set 'digits[3-vs-5]' keep their label less often "
        "than they get another one; give rates up to 0.5"
    )
    assert "at 0.95 the 10 classes of data set 'digits' keep" in said(noise=0.95)
    # The limit in the message is itself accepted: 2/3 is rounded down.
    three = [{"name": "waveform-generator"}]
    assert said(datasets=three, noise=0.7).endswith("give rates up to 0.6666")
    make_plan(parse_study({**STUDY, "datasets": three, "noise": 0.6666}))
    # If all labels are equally likely, nothing can be learned: a control.
    make_plan(parse_study({**STUDY, "datasets": two, "noise": 0.5}))
    make_plan(parse_study({**STUDY, "noise": 0.6}))


def test_noise_at_which_labels_mislead_among_the_classes_that_are_drawn_from() -> None:
    one = [{"name": "digits", "task": "one-vs-rest:3"}]
    assert "at 0.6 the 2 classes" in said(datasets=one, noise=0.6)
    # The noise draws from ten digits, before they are joined into two classes.
    joined = {"model": "uniform", "rate": 0.6, "level": "class"}
    make_plan(parse_study({**STUDY, "datasets": one, "noise": joined}))
    assert "at 0.95 the 10 classes" in said(datasets=one, noise={**joined, "rate": 0.95})
    # Other noise models define themselves which labels they replace.
    for table in (
        {"model": "pair", "rate": 0.7},
        {"model": "class", "rates": {"3": 0.9}},
        {"model": "window", "rate": 1.0, "from": 0.5, "to": 0.6},
        {"model": "margin", "rate": 0.6},
        {"model": "features", "rate": 1.0},
    ):
        make_plan(parse_study({**STUDY, "datasets": one, "noise": table}))


def test_labels_of_places() -> None:
    for entry, label in (
        ({"path": "data/mine.csv.gz"}, "mine"),
        ({"path": "data/days/"}, "days"),
        ({"path": "data/days/*.parquet"}, "days"),
        ({"path": "s3://bucket/days.parquet"}, "days"),
        ({"openml": 151}, "openml-151"),
        ({"name": "openml:151"}, "openml-151"),
    ):
        assert parse_study({**STUDY, "datasets": [entry]}).datasets[0].label == label


@pytest.mark.parametrize("key", ["datasets", "algorithms"])
def test_a_name_where_a_table_belongs(key: str) -> None:
    table = {"name": "s", "datasets": [{"name": "digits"}], "algorithms": [{"name": "AROW"}], key: ["digits"]}
    with pytest.raises(
        InputError, match=rf"{key}\[1\]: 'digits' is not a table: write \[\[{key}\]\] and name = 'digits'"
    ):
        parse_study(table, "s.toml")
