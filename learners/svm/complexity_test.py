"""Whether the more complex of two models is better: a two-sample t-test of their mean 0/1 losses."""

import math
from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from scipy.special import ndtri, stdtr


class ComplexityTest(NamedTuple):
    """The losses of the simpler and the more complex model since the last switch, as a loop takes them."""

    #: (1,): how many.
    n: np.ndarray
    #: (2,): their means and variances.
    means: np.ndarray
    variances: np.ndarray
    #: There is no test before this many losses.
    least: float
    #: Level of the two-sided test, and its quantile of the normal distribution.
    p_value: float
    critical: float
    #: Whether the variances are squared, as Levi and Ullman print it.
    squared: bool


def new_test(p_value, least, squared):
    """Return a test of no losses yet."""
    numbers = np.zeros(1), np.zeros(2), np.zeros(2)
    critical = float(-ndtri(p_value / 2.0))
    return ComplexityTest(*numbers, float(least), float(p_value), critical, bool(squared))


def begin_anew(test):
    """Forget the losses."""
    for numbers in (test.n, test.means, test.variances):
        numbers[:] = 0.0


@register_jitable
def note_losses(test, simple, complex_):
    """Take down the losses of both models, 0.0 or 1.0."""
    test.n[0] += 1.0
    N = test.n[0]
    for k, loss in enumerate((simple, complex_)):
        test.means[k] = (test.means[k] * (N - 1.0) + loss) / N
        deviation = (loss - test.means[k]) ** 2
        test.variances[k] = (test.variances[k] * (N - 1.0) + deviation) / N


@register_jitable
def _spreads(test):
    """Return what the test takes for the variances of the two losses."""
    first, second = test.variances[0], test.variances[1]
    if test.squared:
        return first * first, second * second
    return first, second


@register_jitable
def may_be_significant(test):
    """Return whether `is_significant` can be true, judged by the normal distribution.

    Student's t has heavier tails: what is not significant here is not there.
    """
    N = test.n[0]
    gain = test.means[0] - test.means[1]
    first, second = _spreads(test)
    spread = (first + second) / N
    return test.least <= N and spread > 0.0 and gain >= 0.0 and gain > test.critical * math.sqrt(spread)


def is_significant(test):
    """Return whether Welch's two-sided t-test finds the mean losses different."""
    N, (first, second), (a, b) = test.n[0], test.means, _spreads(test)
    freedom = (N - 1.0) * (a + b) ** 2 / (a**2 + b**2)
    if not freedom > 0.0:
        return False
    return bool(2.0 * stdtr(freedom, -(first - second) / math.sqrt((a + b) / N)) < test.p_value)
