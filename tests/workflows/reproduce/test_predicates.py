"""Test the vocabulary of claims: predicates decide by case, questions give verdicts with figures."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from singlepass.workflows.reproduce.evidence import Evidence, NotThere
from singlepass.workflows.reproduce.predicates import (
    Predicate,
    Question,
    Rows,
    above,
    ahead_in,
    ahead_on,
    as_printed,
    at_most,
    below,
    changes_sign,
    jointly,
    leads_and_gains,
    level_within,
    measure,
    plain,
    rises_with,
    together,
)
from singlepass.workflows.reproduce.verdicts import Outcome, Verdict

NONE = Evidence({})


@measure
def errors(_: Evidence, second: float = 2.0) -> Rows:
    return {"usps": {"PA": 1.0, "CW": second}, "gauss": {"PA": 4.0, "CW": 3.0}}


@measure
def leads(_: Evidence) -> Rows:
    return {"text": {0.0: -1.0, 0.1: 0.5, 0.3: 0.25}, "digits": {0.0: 1.0, 0.1: 2.0, 0.3: 3.0}}


@pytest.mark.parametrize(
    ("predicate", "cases"),
    [
        (ahead_on("PA", "CW"), {"usps": False, "gauss": True}),
        (ahead_on("PA", lower=True), {"usps": True, "gauss": False}),
        (ahead_on("CW", "PA", at_least=1.0), {"usps": True, "gauss": False}),
        (ahead_on("CW", "PA", at_least=1.5), {"usps": False, "gauss": False}),
        (ahead_in([("PA", "CW")]), {"PA against CW, usps": False, "PA against CW, gauss": True}),
        (
            ahead_in([("CW", "PA")], at_least=1.5),
            {"CW against PA, usps": False, "CW against PA, gauss": False},
        ),
        (level_within(1.0, "PA", "CW"), {"usps": True, "gauss": True}),
        (level_within(0.9, "PA", "CW"), {"usps": False, "gauss": False}),
        (at_most(2.0, "CW"), {"usps": True, "gauss": False}),
        (at_most(3.0, ["PA", "CW"]), {"usps": True, "gauss": False}),
        (
            below(3.0),
            {"usps at PA": True, "usps at CW": True, "gauss at PA": False, "gauss at CW": False},
        ),
        (
            as_printed(1.5, 3.5),
            {"usps at PA": False, "usps at CW": True, "gauss at PA": False, "gauss at CW": True},
        ),
        (
            together(ahead_on("PA", "CW"), above(3.5, skip="CW")),
            {"usps": False, "gauss": True, "usps at PA": False, "gauss at PA": True},
        ),
    ],
)
def test_a_predicate_decides_by_row_or_entry(predicate: Predicate, cases: dict[str, bool]) -> None:
    assert predicate(errors()(NONE)) == cases


@pytest.mark.parametrize(
    ("predicate", "cases"),
    [
        (rises_with(), {"text": False, "digits": True}),
        (rises_with(slack=0.25), {"text": True, "digits": True}),
        (rises_with(falls=True), {"text": False, "digits": False}),
        (leads_and_gains, {"text": False, "digits": True}),
        (changes_sign, {"text": True, "digits": False}),
    ],
)
def test_a_predicate_follows_noise(predicate: Predicate, cases: dict[str, bool]) -> None:
    assert predicate(leads()(NONE)) == cases


def test_a_row_is_asked_only_for_what_it_has() -> None:
    frame = pd.DataFrame([{"CW": 3.0, "PA": 2.0}, {"CW": 3.0, "PA-I": 3.5}], ["PA", "PA-I"])
    assert ahead_on("CW", ["PA", "PA-I"])(frame) == {"PA": True, "PA-I": False}
    assert level_within(0.5, "CW", ["PA", "PA-I"])(frame) == {"PA": False, "PA-I": True}
    assert above(2.5)(frame) == {
        "PA at CW": True,
        "PA at PA": False,
        "PA-I at CW": True,
        "PA-I at PA-I": True,
    }


def test_floating_point_does_not_miss_a_limit() -> None:
    # 60 of 6,000 rows: one point, and 3e-14 more in floating point.
    frame = pd.DataFrame([{"PA": 90.91666666666664, "CW": 91.91666666666667}], ["amazon3"])
    apart = (frame["CW"] - frame["PA"]).to_frame("apart")
    assert apart.iloc[0, 0] > 1
    assert level_within(1.0, "PA", "CW")(frame) == {"amazon3": True}
    assert ahead_on("PA", "CW", at_least=-1.0)(frame) == {"amazon3": True}
    assert at_most(1.0, "apart")(apart) == {"amazon3": True}


def test_a_question_gives_a_verdict_with_its_figures() -> None:
    ahead = ahead_on("PA", "CW", lower=True)
    assert Question(errors(), ahead, "errors")(NONE) == Verdict(
        Outcome.MIXED, "errors: usps PA 1.0, CW 2.0; gauss PA 4.0, CW 3.0; not for gauss", 1, 2
    )
    assert Question(errors(second=0.5), ahead, "errors")(NONE).outcome is Outcome.DOES_NOT
    lead = Question(leads(), above(0), "lead", digits=2, also=leads())(NONE)
    assert lead.figures.startswith(
        "lead at 0%, 10%, 30%: text −1.00, 0.50, 0.25; digits 1.00, 2.00, 3.00; text"
    )
    assert lead.figures.endswith("not for text at 0%")


def test_a_conjunction_asks_every_question() -> None:
    held = Question(errors(), level_within(1.0, "PA", "CW"), "level")
    failed = Question(leads(), changes_sign, "sign")
    verdict = jointly(held, failed)(NONE)
    assert verdict.outcome.partly
    assert verdict.figures.startswith(
        "level: usps PA 1.0, CW 2.0; gauss PA 4.0, CW 3.0; sign at 0%, 10%, 30%: "
    )
    assert verdict.figures.endswith("; not for digits")


@pytest.mark.parametrize("value", [float("nan"), float("-inf")])
def test_a_value_that_is_not_finite_decides_nothing(value: float) -> None:
    with pytest.raises(NotThere, match=f"^cannot be computed: usps at CW is {value}$"):
        Question(errors(second=value), at_most(3.0, "CW"), "errors")(NONE)


def test_a_number_of_numpy_is_written_as_one_of_python() -> None:
    assert plain(np.float64(1.485), 2) == plain(1.485, 2) == "1.49"


def test_a_claim_without_cases_cannot_be_tested() -> None:
    with pytest.raises(NotThere, match="no case of the claim"):
        Question(leads(), above(0.0, skip=["0%", "10%", "30%"]), "lead")(NONE)
