"""Test hints with the nearest name."""

from __future__ import annotations

import pytest

from singlepass.pipeline.errors import InputError, did_you_mean


def test_the_nearest_name_is_named_and_all_names_are_listed() -> None:
    assert did_you_mean("AORW", ["AROW", "Perceptron"]) == "did you mean 'AROW'? (known: AROW, Perceptron)"
    assert did_you_mean("x", []) == "none are known"


@pytest.mark.parametrize("name", ["PA", "PA-I", "pa-ii"])
def test_an_abbreviation_of_the_papers_finds_the_name_with_these_capitals(name: str) -> None:
    assert did_you_mean(name, ["BPAS", "PassiveAggressive"]).startswith("did you mean 'PassiveAggressive'?")


def test_a_name_that_differs_in_case_is_no_abbreviation() -> None:
    assert did_you_mean("ID", ["Id", "Item Date"]).startswith("did you mean 'Id'?")


def test_a_name_of_something_else_is_suggested_if_it_is_more_alike() -> None:
    others = ["label", "max_tune", "target"]
    assert did_you_mean("lable", ["bias"], others) == "did you mean 'label'?"
    assert did_you_mean("max_lin", ["max_line"], others) == "did you mean 'max_line'? (known: max_line)"
    assert did_you_mean("tau", ["C"], ["tune"]) == "known: C"
    # It was given where only options are taken.
    assert did_you_mean("target", ["bias"], others) == "known: bias"


def test_messages_give_terminals_no_commands() -> None:
    text = "\x1b[31m \x9b \x7f \ud800 \ufffe"
    assert str(InputError(f"a\tß\u200d{text}")) == "a\tß\u200d" r"\x1b[31m \x9b \x7f \ud800 \ufffe"
