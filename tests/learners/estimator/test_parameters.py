"""Test that the types of a learner's fields check its parameters."""

from dataclasses import dataclass, is_dataclass
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np
import pytest

from singlepass.learners import (
    SOFS,
    ConfidenceWeighted,
    Perceptron,
    SoftConfidenceWeighted,
    UnbiasedLoss,
)
from singlepass.learners.estimator.online_classifier import OnlineClassifier
from singlepass.learners.estimator.parameters import (
    ClassWeight,
    Count,
    Positive,
    Scale,
    between,
    check_fields,
)
from singlepass.learners.svm.model_selection import new_test
from singlepass.learners.table import TABLE

DATACLASSES = {row.load() for row in TABLE if is_dataclass(row.load())}


@pytest.mark.parametrize("kind", sorted(DATACLASSES, key=lambda kind: kind.__name__))
def test_every_field_is_checked(kind):
    for name in kind._get_param_names():
        given = {"learner": Perceptron(), "grid": {"average": [False, True]}}
        needed = {key: value for key, value in given.items() if key in kind._get_param_names()}
        learner = kind(**needed | {name: object()})
        with pytest.raises(ValueError, match=f"^{kind.__name__}: {name} must be "):
            learner.check_parameters()


@dataclass(eq=False, repr=False)
class Made(OnlineClassifier):
    r: Scale = 1.0
    loss: Literal["hinge", "logistic"] = "hinge"
    mode: Literal[1, 2, None] = 1
    share: Annotated[float, between(0.5, 1.0, include_high=True)] = 1.0
    budget: Count | None = None
    average: bool = False
    class_weight: ClassWeight = None
    eta: "Positive" = 1.0
    free: object = None
    epochs: int = 1


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"r": 0.0}, "r must be a finite number > 0, got 0.0"),
        ({"r": 1e200}, "r must be a number from 1e-150 to 1e150, got 1e\\+200"),
        ({"loss": "ramp"}, "loss must be one of 'hinge', 'logistic', got 'ramp'"),
        ({"mode": 3}, "mode must be one of 1, 2, None, got 3"),
        ({"mode": True}, "mode must be one of 1, 2, None, got True"),
        ({"mode": "1"}, "mode must be one of 1, 2, None, got '1'"),
        ({"share": 0.5}, "share must be a number between 0.5 and 1.0, 0.5 excluded, got 0.5"),
        ({"budget": 0}, "budget must be an integer >= 1 or None, got 0"),
        ({"average": 1}, "average must be True or False, got 1"),
        ({"class_weight": {"a": -1.0}}, "class_weight of 'a' must be a number > 0"),
        ({"class_weight": {"a": 10**400}}, "class_weight of 'a' must be a number > 0"),
        ({"r": 10**400}, "r must be a number from 1e-150 to 1e150"),
        ({"class_weight": {"a": np.float32(0.0)}}, "class_weight of 'a' must be a number > 0"),
        ({"class_weight": {"a": np.float16("inf")}}, "class_weight of 'a' must be a number > 0"),
        ({"eta": None}, "eta must be a finite number > 0, got None"),
        ({"epochs": 0}, "epochs must be an integer >= 1, got 0"),
        ({"loss": "ramp", "r": None}, "r must be a finite number > 0, got None"),
    ],
)
def test_types_of_fields(settings, message):
    check_fields(Made(mode=np.int64(2)))
    check_fields(Made(mode=None, class_weight={"a": np.float32(0.5)}))
    with pytest.raises(ValueError, match=f"^Made: {message}"):
        check_fields(Made(**settings))


@pytest.mark.parametrize("number", [np.float16, np.float32, np.longdouble, Fraction])
def test_numbers_of_other_types_are_used_as_floats(number):
    """0.75 and 0.25 are exact in each type, but results that are computed from them are not."""
    for kind in (ConfidenceWeighted, SoftConfidenceWeighted):
        assert kind(eta=number(0.75))._rule() == kind(eta=0.75)._rule()
    assert new_test(number(0.25), 10, False).critical == new_test(0.25, 10, False).critical

    factors = UnbiasedLoss(rho_plus=number(0.25), rho_minus=number(0.125))._factors()
    assert factors.dtype == np.float64
    assert (factors == UnbiasedLoss(rho_plus=0.25, rho_minus=0.125)._factors()).all()

    selector = SOFS(r=number(0.75))
    selector.begin(np.array([0, 1]), 2)
    assert selector.sigma_.dtype == np.float64
