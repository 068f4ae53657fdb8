"""Test formulas: code generated from arithmetic gives what NumPy gives, in vectors and one by one."""

import math

import numpy as np
import pytest
from numba import njit
from numba.core.errors import TypingError

from singlepass.learners.numeric.formulas import exp_of_negative, soft_threshold, where
from singlepass.learners.numeric.vector import lane_update

NUMBERS = np.array([0.0, -0.0, 1.0, -1.5, 2.25, -3e-310, 1e308, -1e308, np.inf, -np.inf, np.nan, 0.3, -7.0])


def applied(formula, *state, scalars=()):
    """Return the arrays after an update by a formula, with a row of ones."""
    update = lane_update(formula)

    @njit(error_model="numpy")
    def run(arrays, x, scalars):
        update(arrays, x, scalars)

    arrays = tuple([np.array(each, np.float64) for each in state])
    run(arrays, np.ones(len(arrays[0])), scalars)
    return arrays


def pairs():
    return [each.ravel() for each in np.meshgrid(NUMBERS, NUMBERS)]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operators_are_those_of_numpy():
    a, b = pairs()
    for formula in (
        lambda a, b: a + b,
        lambda a, b: a - b,
        lambda a, b: a * b,
        lambda a, b: a / b,
        lambda a, b: -a * 0.5 - 2.0,
        lambda a, b: abs(a) + b / 3.0,
    ):
        (made, _) = applied(lambda a, b, x, formula=formula: [formula(a, b), None], a, b)
        np.testing.assert_array_equal(made, formula(a, b))


def test_conditions_choose_also_where_numbers_are_nan():
    a, b = pairs()
    for condition, expected in (
        (lambda a, b: a < b, a < b),
        (lambda a, b: a > b, a > b),
        (lambda a, b: a <= b, a <= b),
        (lambda a, b: a == b, a == b),
        (lambda a, b: a != b, a != b),
        (lambda a, b: (a > 0.0) & (a < np.inf), (a > 0.0) & (a < np.inf)),
    ):
        (made, _) = applied(
            lambda a, b, x, holds=condition: [where(holds(a, b), 1.0, a * 0.0 + x + x), b], a, b
        )
        assert ((made == 1.0) == expected).all()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions():
    a = np.concatenate([-np.geomspace(1e-300, 800.0, 101), [-0.0, -np.inf, np.nan, -699.9, -700.1, -745.0]])
    (made,) = applied(lambda a, x: [exp_of_negative(a)], a)
    np.testing.assert_allclose(made, np.exp(a), rtol=1e-15 * 4, atol=math.ulp(0.0))
    v = NUMBERS[np.isfinite(NUMBERS)]
    (made,) = applied(lambda v, x, a: [soft_threshold(v, a)], v, scalars=(0.5,))
    np.testing.assert_array_equal(made, np.sign(v) * np.maximum(np.abs(v) - 0.5, 0.0))
    (made,) = applied(lambda v, x: [(v * v).root()], np.arange(20.0))
    assert made.tolist() == np.arange(20.0).tolist()


@pytest.mark.parametrize(
    "branch", [lambda a: a if a > 0.0 else -a, lambda a: max(a, 0.0), lambda a: 0.0 < a < 1.0]
)
def test_a_formula_that_branches_is_refused(branch):
    with pytest.raises((TypeError, TypingError), match="cannot branch"):
        applied(lambda a, x: [branch(a)], NUMBERS)


def test_a_formula_that_leaves_a_number_out_is_refused():
    with pytest.raises((TypeError, TypingError), match="float"):
        applied(lambda a, x: [where(x != 0.0, None, a)], NUMBERS)
