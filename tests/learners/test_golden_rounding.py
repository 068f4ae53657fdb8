"""The one golden run that is chaotic: by a plain loop with either rounding, the reference's and ours.

Its steps are so long that each amplifies what rounding differs by; 1e-16 in a score is another mistake some
300 rows later. So the run is a matter of the order of sums and products too, and of the last bit of one arc
tangent. The loop below leaves these open: with those of the reference it makes the golden run, score by
score, and with ours what our learner makes, bit by bit.
"""

import math
from fractions import Fraction

import numba
import numpy as np

from singlepass.learners import OnlineGradientDescent
from singlepass.learners.linear.parts.special import arc_tangent as our_arc_tangent

from .streams import golden_runs, golden_stream

RUN = golden_runs("gradient")["ogd_tangent_eta0.1.ref__s2_synth20"]
ETA = RUN["hyperparameters"]["eta"]
# The row whose arc tangent the reference's C library rounded down where up is nearer.
ROUNDED_DOWN = 630


def plain_run(X, y, dot, arc_tangent, step):
    """Return the scores of gradient descent on (2 atan m - 1)² with steps η/√t."""
    w, scores = np.zeros(X.shape[1]), np.empty(len(y))
    for t in range(len(y)):
        scores[t] = dot(w, X[t])
        m = y[t] * scores[t]
        c = 4.0 * (1.0 - 2.0 * arc_tangent(m, t)) / (1.0 + m * m)
        w += step(ETA / math.sqrt(t + 1), c, y[t], X[t])
    return scores


def dot_by(*bits):
    """Return a dot product that adds pairs of 16 products, whose numbers differ in a bit, then the rest."""

    def dot(w, x):
        products = w * x
        # An axis for each bit of the number, the highest first.
        folded, left = products[:16].reshape(2, 2, 2, 2), [3, 2, 1, 0]
        for bit in bits:
            axis = left.index(bit)
            folded = folded.take(0, axis) + folded.take(1, axis)
            left.remove(bit)
        total = float(folded)
        for product in products[16:]:
            total += product
        return total

    return dot


def atan_of_rational(x):
    """Return atan of a Fraction between 0 and 1 in units of 2^-200."""
    # Less than 1/8 is left of x by atan x = atan u + atan((x - u)/(1 + xu)), where the series is short.
    steps, total = 8, 0
    k = int(steps * x)
    parts = [Fraction(steps, steps * steps + j * (j - 1)) for j in range(1, k + 1)]
    u = Fraction(k, steps)
    for part in [*parts, (x - u) / (1 + x * u)]:
        power, odd = 2**200 * part.numerator // part.denominator, 1
        while power:
            total += power // odd if odd % 4 == 1 else -(power // odd)
            power = power * part.numerator**2 // part.denominator**2
            odd += 2
    return total


def reference_arc_tangent(m, t):
    """Return the float64 next to atan m, or where the reference's library has another, that one."""
    x = abs(Fraction(m))
    value = atan_of_rational(x) if x <= 1 else 2 * atan_of_rational(Fraction(1)) - atan_of_rational(1 / x)
    nearest = math.copysign(value / 2**200, m)
    return math.nextafter(nearest, -math.inf) if t == ROUNDED_DOWN else nearest


def test_the_reference_rounding_makes_the_golden_run():
    X, y = golden_stream(RUN["stream"])
    scores = plain_run(
        X, y, dot_by(1, 2, 3, 0), reference_arc_tangent, lambda eta, c, y, x: -(eta * (-y * c * x))
    )
    assert np.flatnonzero(y * scores <= 0).tolist() == RUN["mistake_indices_0based"]
    assert scores[:50].tolist() == RUN["online_score_first50"]
    assert scores[49::50].tolist() == RUN["online_score_every_50_from_49"]


def test_our_rounding_makes_our_run():
    X, y = golden_stream(RUN["stream"])
    compiled = numba.njit(lambda m: our_arc_tangent(m))
    scores = plain_run(
        X, y, dot_by(3, 2, 1, 0), lambda m, t: compiled(m), lambda eta, c, y, x: (y * eta * c) * x
    )
    learner = OnlineGradientDescent(eta=ETA, loss="tangent")
    assert learner.learn(X, y, classes=[-1, 1]).tolist() == scores.tolist()
    assert learner.n_mistakes_ != RUN["mistakes_final"]
