"""Gradient descent with every loss and rate: against plain NumPy, finite differences and scikit-learn."""

import math

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import SGDClassifier

from singlepass.learners import OnlineGradientDescent, UnbiasedLoss, as_rows
from singlepass.learners.linear.parts.losses import (
    LOSSES,
    arc_tangent,
    exp_of_negative,
    hyperbolic_tangent,
    sigmoid,
    slope,
    weighted_slope,
)

from ..streams import as_csr, noisy_classes, noisy_stream

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**31 - 1)
every_loss = pytest.mark.parametrize("loss", LOSSES)
SETTINGS = [
    {},
    {"rate": "constant", "eta": 0.1},
    {"average": True},
    {"l2": 0.05, "eta": 0.5},
    {"rate": "constant", "eta": 0.3, "l2": 0.2, "average": True},
    {"rate": "adagrad", "eta": 0.2},
    {"rate": "adagrad", "eta": 0.2, "l2": 0.1, "delta": 0.0},
    {"rate": "adagrad", "eta": 0.2, "l2": 0.1, "average": True},
]
every_setting = pytest.mark.parametrize("settings", SETTINGS, ids=str)

# The value of each loss, from which its slope follows.
VALUES = {
    "hinge": lambda m: max(0.0, 1 - m),
    "squared_hinge": lambda m: max(0.0, 1 - m) ** 2,
    "modified_huber": lambda m: -4 * m if m < -1 else max(0.0, 1 - m) ** 2,
    "logistic": lambda m: math.log1p(math.exp(-m)),
    "sigmoid": lambda m: 1 / (1 + math.exp(m)),
    "ramp": lambda m: min(2.0, max(0.0, 1 - m)),
    "unhinged": lambda m: 1 - m,
    "savage": lambda m: 1 / (1 + math.exp(2 * m)) ** 2,
    "tangent": lambda m: (2 * math.atan(m) - 1) ** 2,
}


@numba.njit
def slopes(loss, margins):
    result = np.empty(len(margins))
    for i in range(len(margins)):
        result[i] = slope(loss, margins[i])
    return result


@numba.njit
def weighted(loss, m, factors):
    return weighted_slope(loss, m, factors)


@numba.njit
def special(x):
    result = np.empty((4, len(x)))
    for i in range(len(x)):
        result[0, i] = sigmoid(x[i])
        result[1, i] = hyperbolic_tangent(x[i])
        result[2, i] = arc_tangent(x[i])
        result[3, i] = exp_of_negative(-abs(x[i]))
    return result


def test_functions_of_one_number():
    random = np.random.RandomState(0)
    x = random.standard_normal(20_000) * 10.0 ** random.uniform(-8, 2.8, 20_000)
    values = special(x)
    with np.errstate(under="ignore"):
        expected = [1 / (1 + np.exp(-x.astype(np.longdouble))), np.tanh(x), np.arctan(x), np.exp(-np.abs(x))]
    # Digits are lost below the normal range.
    for value, exact in zip(values, expected, strict=True):
        np.testing.assert_allclose(value, exact.astype(float), rtol=1e-12, atol=1e-320)
    edges = special(np.array([0.0, np.inf, -np.inf, np.nan, -745.0]))
    assert edges[:, :3].tolist() == [
        [0.5, 1.0, 0.0],
        [0.0, 1.0, -1.0],
        [0.0, math.pi / 2, -math.pi / 2],
        [1.0, 0.0, 0.0],
    ]
    assert np.isnan(edges[:, 3]).all()
    assert edges[0, 4] > 0


@pytest.mark.skipif(
    np.finfo(np.longdouble).nmant <= np.finfo(float).nmant, reason="longdouble has no further digits here"
)
def test_the_arc_tangent_is_nearly_rounded():
    random = np.random.RandomState(1)
    # Everywhere; where the result's last digit is finer than the argument's; near the ends of intervals.
    x = np.concatenate(
        [
            random.standard_normal(20_000) * 10.0 ** random.uniform(-8, 17, 20_000),
            random.uniform(0.06, 0.08, 20_000),
            random.uniform(0.0, 1.1, 20_000),
            1 / random.uniform(0.05, 1.0, 20_000),
            np.repeat(np.arange(1, 129) / 128, 9) * (1 + np.tile(np.arange(-4, 5), 128) * 2.0**-52),
        ]
    )
    value = special(x)[2]
    error = (value.astype(np.longdouble) - np.arctan(x.astype(np.longdouble))).astype(float)
    assert np.abs(error / np.spacing(value)).max() <= 0.58


@every_loss
def test_slopes_are_the_derivatives(loss):
    margins = np.linspace(-5, 5, 401) + 1e-3
    step = 1e-6
    value = VALUES[loss]
    expected = [-(value(m + step) - value(m - step)) / (2 * step) for m in margins]
    np.testing.assert_allclose(slopes(LOSSES.index(loss), margins), expected, rtol=1e-7, atol=1e-8)


def test_slopes_at_their_kinks_and_at_the_ends():
    def at(loss, *margins):
        return slopes(LOSSES.index(loss), np.array(margins)).tolist()

    assert at("hinge", 1.0, np.nextafter(1.0, 0.0), np.nan) == [0.0, 1.0, 0.0]
    assert at("ramp", -1.0, np.nextafter(-1.0, -2.0), 1.0) == [1.0, 0.0, 0.0]
    assert at("modified_huber", -1.0, -1.5, 1.0) == [4.0, 4.0, 0.0]
    assert at("logistic", -np.inf, np.inf, 800.0, -800.0) == [1.0, 0.0, 0.0, 1.0]
    assert at("logistic", 744.0)[0] > 0
    for loss in ("sigmoid", "savage", "tangent"):
        assert at(loss, -np.inf, np.inf) == [0.0, 0.0]


def plain_slope(loss, m):
    """Return c(m), the negative slope of a loss at margin m."""

    def s(a):
        return 1 / (1 + math.exp(-a)) if a >= 0 else math.exp(a) / (1 + math.exp(a))

    return {
        "hinge": lambda: float(m < 1),
        "squared_hinge": lambda: 2 * max(0.0, 1 - m),
        "modified_huber": lambda: 4.0 if m < -1 else 2 * max(0.0, 1 - m),
        "logistic": lambda: s(-m),
        "sigmoid": lambda: s(m) * s(-m),
        "ramp": lambda: float(-1 <= m < 1),
        "unhinged": lambda: 1.0,
        "savage": lambda: 4 * s(2 * m) * s(-2 * m) ** 2,
        "tangent": lambda: 4 * (1 - 2 * math.atan(m)) / (1 + m * m),
    }[loss]()  # fmt: skip


def plain(X, labels, gradient, shape, rate="sqrt", eta=1.0, l2=0.0, delta=1e-8, average=False):
    """Return scores before updates and the predicting weights; ``gradient(W, x, label)`` is the loss's."""
    W, G, total = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    scores = []
    for t, (x, label) in enumerate(zip(X, labels, strict=True)):
        scores.append((total / max(t, 1) if average else W) @ x)
        g = gradient(W, x, label) + l2 * W
        if rate == "adagrad":
            G = G + g * g
            W = W - eta * np.divide(g, delta + np.sqrt(G), out=np.zeros(shape), where=G > 0)
        else:
            W = W - (eta / math.sqrt(t + 1) if rate == "sqrt" else eta) * g
        total = total + W
    return np.array(scores), total / len(X) if average else W


def of_two(loss, slope_of=None):
    """Return the gradient of a loss for labels 0 and 1."""

    def gradient(w, x, label):
        y = 2 * label - 1
        m = y * (w @ x)
        return -y * (plain_slope(loss, m) if slope_of is None else slope_of(m, y)) * x

    return gradient


def of_many(loss, softmax):
    def gradient(W, x, label):
        s = W @ x
        if softmax:
            p = np.exp(s - s.max())
            a = p / p.sum() - (np.arange(len(s)) == label)
        else:
            other = np.where(np.arange(len(s)) == label, -np.inf, s).argmax()
            a = np.zeros(len(s))
            a[label], a[other] = -1, 1
            a *= plain_slope(loss, s[label] - s[other])
        return np.outer(a, x)

    return gradient


def in_chunks(learner, X, labels, cut, classes):
    return np.concatenate([
        learner.learn(X[a:b], labels[a:b], classes=classes) for a, b in ((0, cut), (cut, len(labels)))
    ])  # fmt: skip


def settings_for(loss, settings):
    """Return settings that do not amplify rounding errors: steps that do not overshoot."""
    steep = loss in ("squared_hinge", "modified_huber", "tangent") and settings.get("rate") != "adagrad"
    return settings | {"eta": 0.02} if steep else settings


@every_loss
@every_setting
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_two_classes_by_definition(loss, settings, convert):
    settings = settings_for(loss, settings)
    X, labels = noisy_stream(1, n=120, d=6, density=0.6)
    expected, weights = plain(X, labels, of_two(loss), 6, **settings)
    model = OnlineGradientDescent(loss=loss, **settings)
    scores = in_chunks(model, convert(X), labels, 50, [0, 1])
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.coef_[0], weights, rtol=1e-9, atol=1e-10)
    assert model.n_mistakes_ == ((2 * labels - 1) * scores <= 0).sum()


@every_loss
@every_setting
@pytest.mark.parametrize("form", ["softmax", "best_wrong"])
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_many_classes_by_definition(loss, settings, form, convert):
    settings = settings_for(loss, settings)
    X, labels = noisy_classes(2, n=100, d=6, density=0.6)
    gradient = of_many(loss, loss == "logistic" and form == "softmax")
    expected, weights = plain(X, labels, gradient, (5, 6), **settings)
    model = OnlineGradientDescent(loss=loss, form=form, **settings)
    scores = in_chunks(model, convert(X), labels, 33, range(5))
    np.testing.assert_allclose(scores, expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.coef_, weights, rtol=1e-9, atol=1e-10)


@given(
    seed=seeds, l2=st.floats(0.0, 3.0), eta=st.floats(0.01, 2.0), average=st.booleans(), sparse=st.booleans()
)
def test_shrinkage_of_any_strength(seed, l2, eta, average, sparse):
    """Include steps so long for their l2 that w changes its sign, and many rows after the scale was lost."""
    X, labels = noisy_stream(seed, n=200, d=4, density=0.5)
    settings = {"rate": "constant", "eta": eta, "l2": min(l2, 1.9 / eta), "average": average}
    expected, weights = plain(X, labels, of_two("logistic"), 4, **settings)
    model = OnlineGradientDescent(loss="logistic", **settings)
    scores = model.learn(as_csr(X) if sparse else X, labels, classes=[0, 1])
    np.testing.assert_allclose(scores, expected, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(model.coef_[0], weights, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize(
    ("loss", "theirs"),
    [
        ("hinge", "hinge"),
        ("logistic", "log_loss"),
        ("squared_hinge", "squared_hinge"),
        ("modified_huber", "modified_huber"),
    ],
)
@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("average", [False, True])
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_gradient_descent_equals_scikit_learn(loss, theirs, l2, average, convert):
    X, y = noisy_stream(21, n=400, density=0.5)
    peer = SGDClassifier(
        loss=theirs,
        penalty="l2" if l2 else None,
        alpha=l2 or 1e-4,
        learning_rate="constant",
        eta0=0.02,
        average=average,
        shuffle=False,
        fit_intercept=False,
        max_iter=1,
        tol=None,
    ).fit(convert(X), y)
    ours = OnlineGradientDescent(eta=0.02, loss=loss, rate="constant", l2=l2, average=average).fit(
        convert(X), y
    )
    np.testing.assert_allclose(ours.coef_, peer.coef_, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "sigmoid"])
@pytest.mark.parametrize(("rho_plus", "rho_minus"), [(0.0, 0.0), (0.3, 0.1), (0.0, 0.45)])
def test_the_mean_over_the_flips_is_the_clean_slope(loss, rho_plus, rho_minus):
    """Natarajan et al. (2013), Lemma 1; the gradient of a flipped label has the opposite sign."""
    factors = UnbiasedLoss(rho_plus, rho_minus)._factors()
    code = LOSSES.index(loss)
    for m in (-2.5, -0.3, 0.0, 0.9, 1.7):
        for true, flips in ((0, rho_minus), (1, rho_plus)):
            kept = weighted(code, m, factors[true])
            turned = -weighted(code, -m, factors[1 - true])
            mean = (1 - flips) * kept + flips * turned
            assert mean == pytest.approx(plain_slope(loss, m), rel=1e-12, abs=1e-12)


@every_setting
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_unbiased_loss_by_definition(loss, settings):
    X, labels = noisy_stream(3, n=120, d=6, density=0.6)
    rho = {1: 0.3, -1: 0.1}

    def slope_of(m, y):
        return ((1 - rho[-y]) * plain_slope(loss, m) + rho[y] * plain_slope(loss, -m)) / (
            1 - sum(rho.values())
        )

    expected, weights = plain(X, labels, of_two(loss, slope_of), 6, **settings)
    model = UnbiasedLoss(0.3, 0.1, loss=loss, **settings)
    np.testing.assert_allclose(in_chunks(model, X, labels, 50, [0, 1]), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.coef_[0], weights, rtol=1e-9, atol=1e-10)


def test_without_flips_the_unbiased_loss_is_the_loss():
    X, labels = noisy_stream(4)
    plainly = OnlineGradientDescent(loss="logistic").learn(X, labels)
    assert UnbiasedLoss().learn(X, labels).tolist() == plainly.tolist()
    with pytest.raises(ValueError, match=r"rho_plus \+ rho_minus must be below 1, got 0.6 \+ 0.5"):
        UnbiasedLoss(0.6, 0.5).fit(X, labels)


def test_which_scores_are_log_odds():
    assert OnlineGradientDescent(loss="logistic").scores_are_log_odds
    assert not OnlineGradientDescent(loss="logistic", form="best_wrong").scores_are_log_odds
    assert not OnlineGradientDescent().scores_are_log_odds
    assert UnbiasedLoss().scores_are_log_odds


def test_a_mean_cannot_begin_in_the_middle_of_a_stream():
    X, labels = noisy_stream(5)
    plainly, changed = (OnlineGradientDescent().partial_fit(X[:50], labels[:50]) for _ in range(2))
    changed.set_params(average=True, rate="adagrad")
    assert changed.partial_fit(X[50:], labels[50:]).coef_.tolist() == (
        plainly.partial_fit(X[50:], labels[50:]).coef_.tolist()
    )


@pytest.mark.parametrize("learner", [OnlineGradientDescent, UnbiasedLoss])
def test_single_rows_are_scored_after_a_change_of_l2(learner):
    X, labels = noisy_stream(5)
    model = learner(l2=0.1).fit(X, labels).set_params(l2=0.0)
    scores = np.empty(1)
    model.steps(np.zeros(1, np.int32), scores)[1](as_rows(as_csr(X[:1])))
    assert scores.tolist() == model.decision_function(as_csr(X[:1])).tolist()


@pytest.mark.parametrize("learner", [OnlineGradientDescent, UnbiasedLoss])
def test_a_rate_lasts_until_the_next_fit(learner):
    X, labels = noisy_stream(5)
    plainly, changed = (learner(rate="constant").partial_fit(X[:50], labels[:50]) for _ in range(2))
    changed.set_params(rate="sqrt")
    assert changed.partial_fit(X[50:], labels[50:]).coef_.tolist() == (
        plainly.partial_fit(X[50:], labels[50:]).coef_.tolist()
    )
    assert changed.fit(X, labels).coef_.tolist() == learner().fit(X, labels).coef_.tolist()
