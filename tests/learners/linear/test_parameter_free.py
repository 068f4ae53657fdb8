"""Coin betting and FreeGrad: against plain NumPy, and against their authors' theorems."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from singlepass.learners import COCOB, KT, COCOBBackprop, CoordinateKT, FreeGrad, VowpalWabbitCoin

from ..streams import as_csr, noisy_classes, noisy_stream

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**31 - 1)
both_forms = pytest.mark.parametrize("convert", [np.asarray, as_csr])


def slope(loss, m):
    return expit(-m) if loss == "logistic" else float(m < 1)


def gradient(loss, s, label):
    """Return the factors of x by class; several classes use softmax or the best wrong class."""
    if s.size == 1:
        y = 2 * label - 1
        return np.array([-y * slope(loss, y * s[0])])
    if loss == "logistic":
        p = np.exp(s - s.max())
        return p / p.sum() - (np.arange(s.size) == label)
    other = np.where(np.arange(s.size) == label, -np.inf, s).argmax()
    a = np.zeros(s.size)
    a[label], a[other] = -1, 1
    return a * slope(loss, s[label] - s[other])


def chunked(learner, X, labels):
    classes = range(labels.max() + 1)
    return np.concatenate(
        [learner.learn(X[:37], labels[:37], classes=classes), learner.learn(X[37:], labels[37:])]
    )


def streams():
    """Return streams of two and of many classes, with some rows of zeros and rows of growing length."""
    for X, labels in (noisy_stream(1, d=6, density=0.5), noisy_classes(2, d=6, density=0.5)):
        X = X * np.linspace(0.1, 3.0, len(X))[:, None]
        X[[0, 17]] = 0.0
        yield X, labels, 1 if labels.max() == 1 else 5


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@pytest.mark.parametrize("scale", ["running", "instance", "none"])
@both_forms
def test_kt_by_definition(loss, scale, convert):
    epsilon = 2.0
    for X, labels, K in streams():
        theta, won, longest, expected = np.zeros((K, 6)), 0.0, 0.0, []
        for t, (x, label) in enumerate(zip(X, labels, strict=True), start=1):
            longest = max(longest, np.linalg.norm(x))
            length = {"running": longest, "instance": np.linalg.norm(x), "none": 1.0}[scale]
            scaled = x / length if length else x
            w = (epsilon + won) / t * theta
            expected.append(w @ scaled)
            r = -np.outer(gradient(loss, expected[-1], label), scaled) / (1 if K == 1 else math.sqrt(2))
            won, theta = won + (r * w).sum(), theta + r
        model = KT(epsilon, scale, loss)
        scores = chunked(model, convert(X), labels)
        np.testing.assert_allclose(scores.reshape(len(X), K), expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(model.coef_, (epsilon + won) / (len(X) + 1) * theta, rtol=1e-9, atol=1e-11)


def ckt(state, g, w, j):
    won, theta, n = state.get(j, (0.0, 0.0, 1))
    won, theta, n = won - g * w, theta - g, n + 1
    state[j] = won, theta, n
    return (2.0 + won) * theta / n


def cocob(state, g, w, j):
    won, theta, total = state.get(j, (0.0, 0.0, 1.0))
    won, theta, total = won - g * w, theta - g, total + abs(g)
    state[j] = won, theta, total
    assert 1 + won > 0
    return (1 + won) * math.tanh(theta / (total + 1))


def backprop(state, g, w, j):
    largest, total, won, theta = state.get(j, (0.0, 0.0, 0.0, 0.0))
    largest, total = max(largest, abs(g)), total + abs(g)
    won, theta = max(won - g * w, 0.0), theta - g
    state[j] = largest, total, won, theta
    return (largest + won) * theta / (largest * max(total + largest, 3.0 * largest))


def freegrad(state, g, w, j):
    if j in state:
        first, h, G, V = state[j]
        clipped = min(max(g, -h), h)
        h = max(h, abs(g))
    else:
        first, h, G, V, clipped = abs(g), abs(g), 0.0, g * g, g
    G, V = G + clipped, V + clipped * clipped
    state[j] = first, h, G, V
    a = h * abs(G)
    value = -0.5 * G * first**2 * (2 * V + a) / (2 * (V + a) ** 2 * math.sqrt(V))
    return value * math.exp(G * G / (2 * V + 2 * a))


RULES = [
    (lambda loss: CoordinateKT(epsilon=2.0, loss=loss), ckt, True),
    (lambda loss: CoordinateKT(epsilon=2.0, loss=loss, scale="none"), ckt, False),
    (lambda loss: COCOB(loss=loss), cocob, True),
    (lambda loss: COCOBBackprop(alpha=3.0, loss=loss), backprop, False),
    (lambda loss: FreeGrad(epsilon=0.5, loss=loss), freegrad, False),
]


@pytest.mark.parametrize(
    ("made", "rule", "is_scaled"), RULES, ids=["ckt", "ckt-none", "cocob", "backprop", "freegrad"]
)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@both_forms
def test_a_bettor_for_each_feature_by_definition(made, rule, is_scaled, loss, convert):
    for X, labels, K in streams():
        if not is_scaled:
            X = X / np.abs(X).max()
        W, state, largest, expected = np.zeros((K, 6)), {}, np.zeros(6), []
        for x, label in zip(X, labels, strict=True):
            largest = np.maximum(largest, np.abs(x))
            scaled = x / np.where(largest > 0, largest, 1) if is_scaled else x
            expected.append(W @ scaled)
            g = np.outer(gradient(loss, expected[-1], label), scaled)
            for z, j in zip(*np.nonzero(g), strict=True):
                W[z, j] = rule(state, g[z, j], W[z, j], (z, j))
        model = made(loss)
        scores = chunked(model, convert(X), labels)
        np.testing.assert_allclose(scores.reshape(len(X), K), expected, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(model.coef_, W, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@both_forms
def test_the_coin_of_vowpal_wabbit_by_definition(loss, convert):
    alpha, beta = 4.0, 0.5
    X, labels, _ = next(streams())
    theta, G, B, D, M = np.zeros((5, 6))
    squares, expected = 1e-6, []

    def weights():
        reach = np.where(D * M > 0, D * M, 1.0)
        return np.where(D * M > 0, (alpha + B) * theta / (reach * (reach + G)), 0.0)

    for t, (x, y) in enumerate(zip(X, 2 * labels - 1, strict=True), start=1):
        M = np.maximum(M, np.abs(x))
        squares += ((x / np.where(M > 0, M, 1)) ** 2).sum()
        expected.append(weights() @ x / (squares / t))
        c = slope(loss, y * expected[-1])
        g = -y * c * x
        D = np.where((g != 0) & (c > D), max(c, beta), D)
        w = weights()
        theta, G, B = theta - g, G + np.abs(g), B - g * w
    model = VowpalWabbitCoin(alpha, beta, loss)
    np.testing.assert_allclose(chunked(model, convert(X), labels), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.coef_[0], weights() / (squares / len(X)), rtol=1e-9, atol=1e-11)


def regret_bound(lengths, rounds, epsilon):
    """Return the bound of Corollary 5 of Orabona & Pál (2016) for competitors of given lengths."""
    root = np.sqrt(rounds * np.log(1 + 24 * rounds**2 * lengths**2 / epsilon**2))
    return lengths * root + epsilon * (1 - 1 / (math.e * np.sqrt(math.pi * rounds)))


def worst_cases(n):
    """Return streams in the unit ball whose coins always show heads, alternate, or change halfway."""
    one = np.ones((n, 1))
    for labels in (np.ones(n, int), np.arange(n) % 2, (np.arange(n) < n // 2).astype(int)):
        yield one, labels
        yield np.hstack([one * 0.6, one * 0.8]), labels


def random_streams():
    for seed in range(6):
        X, labels = noisy_stream(seed, n=300, d=5, noise=(0.0, 0.2, 0.5)[seed % 3])
        yield (
            X / np.linalg.norm(X, axis=1)[:, None] * np.random.RandomState(seed).uniform(0, 1, (300, 1)),
            labels,
        )


LENGTHS = 10.0 ** np.linspace(-4, 4, 33)


def rewards(loss, scores, labels, X):
    """Return the rewards of the rows, and the bettor's total winnings."""
    y = 2 * labels - 1
    c = np.array([1.0 if loss == "unhinged" else slope(loss, m) for m in y * scores])
    # Sum in the bettor's order, because intermediate wealth may be 1e60.
    return (y * c)[:, None] * X, float(np.cumsum(y * c * scores)[-1])


@pytest.mark.parametrize("loss", ["hinge", "logistic", "unhinged"])
@pytest.mark.parametrize("epsilon", [0.01, 1.0, 30.0])
def test_regret_of_kt(loss, epsilon):
    """For every u, ``Σ r·u - Σ r·w <= ‖u‖ √(T log(1 + 24 T² ‖u‖²/ε²)) + ε (1 - 1/(e √(πT)))``.

    The worst u are along Σ r. The bettor's wealth stays above 0.
    """
    for X, labels in [*worst_cases(400), *random_streams()]:
        scores = KT(epsilon, "none", loss).learn(X, labels, classes=[0, 1])
        r, won = rewards(loss, scores, labels, X)
        assert epsilon + won > 0
        best = LENGTHS * np.linalg.norm(r.sum(axis=0))
        bound = regret_bound(LENGTHS, len(X), epsilon)
        assert (best - won <= bound * (1 + 1e-9) + 1e-9 * abs(won)).all()


@pytest.mark.parametrize("loss", ["hinge", "logistic", "unhinged"])
def test_regret_of_a_bettor_for_each_feature(loss):
    """The same bound holds for each feature, whose rounds are its nonzero rewards."""
    epsilon = 0.5
    for X, labels in [*worst_cases(400), *random_streams()]:
        model = CoordinateKT(epsilon, "none", loss)
        weights = []
        for t in range(len(X)):
            weights.append(model.coef_[0].copy() if t else np.zeros(X.shape[1]))
            model.learn(X[t : t + 1], labels[t : t + 1], classes=[0, 1])
        scores = (np.array(weights) * X).sum(axis=1)
        r, _ = rewards(loss, scores, labels, X)
        won = (r * weights).sum(axis=0)
        for j in range(X.shape[1]):
            rounds = np.count_nonzero(r[:, j])
            bound = regret_bound(LENGTHS, max(rounds, 1), epsilon)
            assert epsilon + won[j] > 0
            assert (LENGTHS * abs(r[:, j].sum()) - won[j] <= bound * (1 + 1e-9) + 1e-9 * abs(won[j])).all()


@given(seed=seeds, power=st.integers(-300, 300))
def test_scaled_bettors_do_not_depend_on_the_unit_of_the_rows(seed, power):
    X, labels = noisy_stream(seed, n=60, d=4, density=0.7)
    for made in (KT, CoordinateKT, COCOB):
        plain, scaled = made(), made()
        expected = plain.learn(X, labels, classes=[0, 1])
        np.testing.assert_allclose(scaled.learn(X * 2.0**power, labels, classes=[0, 1]), expected, rtol=1e-9)
        assert scaled.n_mistakes_ == plain.n_mistakes_


def test_computing_a_score_stores_nothing():
    X, labels = noisy_stream(6)
    for made in (KT, CoordinateKT, COCOB, VowpalWabbitCoin):
        asked, plain = made(), made()
        for model in (asked, plain):
            model.partial_fit(X[:50], labels[:50])
        asked.decision_function(1e6 * X)
        assert asked.learn(X[50:], labels[50:]).tolist() == plain.learn(X[50:], labels[50:]).tolist()


@pytest.mark.parametrize("scale", ["instance", "none"])
def test_a_changed_scale_waits_for_the_next_fit(scale):
    X, labels = noisy_stream(6)
    changed, plain = KT().fit(X, labels), KT().fit(X, labels)
    changed.set_params(scale=scale)
    assert changed.scores_are_linear
    assert changed.decision_function(X).tolist() == plain.decision_function(X).tolist()
    assert changed.learn(X, labels).tolist() == plain.learn(X, labels).tolist()
    assert changed.fit(X, labels).coef_.tolist() == KT(scale=scale).fit(X, labels).coef_.tolist()


@pytest.mark.parametrize("made", [KT, CoordinateKT, COCOB])
def test_a_bettor_that_always_wins_stays_finite(made):
    """The slope of the unhinged loss never falls, so wealth doubles with each row."""
    model = made(loss="unhinged")
    scores = model.learn(np.ones((5000, 1)), np.ones(5000, int), classes=[0, 1])
    assert np.isfinite(scores).all()
    assert np.isfinite(model.coef_).all()
    assert scores[-1] > 1e100


@pytest.mark.parametrize("loss", ["squared_hinge", "modified_huber", "tangent"])
def test_bettors_refuse_losses_steeper_than_1(loss):
    for made in (KT, CoordinateKT, COCOB):
        with pytest.raises(ValueError, match=f"{made.__name__}: loss must be one of 'hinge', 'logistic'"):
            made(loss=loss).fit([[1.0], [2.0]], [0, 1])
