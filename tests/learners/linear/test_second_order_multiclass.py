"""Multi-class SCW, NHERD and ROMMA against the plain binary rules on the flattened Δf."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from singlepass.learners import NHERD, ROMMA, SoftConfidenceWeighted

from ..streams import as_csr, noisy_classes

pytestmark = pytest.mark.slow

K = 4
SHAPES = [("full", "covariance"), ("diagonal", "covariance"), ("diagonal", "precision")]
shapes = pytest.mark.parametrize(("covariance", "projection"), SHAPES)
streams = given(
    seed=st.integers(0, 2**31 - 1), cuts=st.lists(st.integers(1, 79), max_size=4), sparse=st.booleans()
)


def plain_run(X, y, update):
    """Return scores, weights and number of updates; `update(w, Δf, m)` returns None for no update."""
    w, scores, updates = np.zeros(K * X.shape[1]), [], 0
    for x, label in zip(X, y, strict=True):
        scores.append(w.reshape(K, -1) @ x)
        others = np.where(np.arange(K) == label, -np.inf, scores[-1])
        wrong = int(others.argmax())
        block = np.zeros((K, len(x)))
        block[label], block[wrong] = x, -x
        new = update(w, block.ravel(), scores[-1][label] - others[wrong]) if x.any() else None
        if new is not None:
            w, updates = new, updates + 1
    return np.array(scores), w.reshape(K, -1), updates


class PlainGaussian:
    """A mean and Σ whose steps are `rule(m, v)`: α, β and γ, or None for no step."""

    def __init__(self, n, covariance, projection, rule):
        self.sigma, self.rule = np.eye(n), rule
        self.full, self.precision = covariance == "full", projection == "precision"

    def __call__(self, w, delta, m):
        v = delta @ self.sigma @ delta
        step = self.rule(m, v)
        if step is None:
            return None
        alpha, beta, gamma = step
        moved = self.sigma @ delta
        if self.precision:
            self.sigma = np.diag(1 / (1 / np.diag(self.sigma) + gamma * delta**2))
        else:
            shrunk = self.sigma - beta * np.outer(moved, moved)
            self.sigma = shrunk if self.full else np.diag(np.diag(shrunk))
        return w + alpha * moved


def soft_rule(variant, eta, C):
    phi = ndtri(eta)

    def rule(m, v):
        if m >= phi * np.sqrt(v):
            return None
        if variant == "SCW-I":
            psi, zeta = 1 + phi**2 / 2, 1 + phi**2
            alpha = min(C, (-m * psi + np.sqrt(m**2 * phi**4 / 4 + v * phi**2 * zeta)) / (v * zeta))
        else:
            n = v + 1 / (2 * C)
            root = phi * np.sqrt(phi**2 * m**2 * v**2 + 4 * n * v * (n + v * phi**2))
            alpha = (-(2 * m * n + phi**2 * m * v) + root) / (2 * (n**2 + n * v * phi**2))
        sqrt_u = (-alpha * v * phi + np.sqrt(alpha**2 * v**2 * phi**2 + 4 * v)) / 2
        return alpha, alpha * phi / (sqrt_u + v * alpha * phi), alpha * phi / sqrt_u

    return rule


def herd_rule(C):
    def rule(m, v):
        if m >= 1:
            return None
        gamma = 2 * C + C**2 * v
        return (1 - m) / (v + 1 / C), gamma / (1 + C * v) ** 2, gamma

    return rule


def relaxed_update(aggressive):
    def update(w, delta, m):
        if not (m <= 0 or (aggressive and m < 1)):
            return None
        both = (delta @ delta) * (w @ w)
        if m >= both:
            return delta / (delta @ delta)
        return ((both - m) * w + (w @ w) * (1 - m) * delta) / (both - m * m)

    return update


def check(learner, update, X, y, cuts, sparse):
    """Compare a learner, given the stream in pieces, with its plain version."""
    scores, weights, updates = plain_run(X, y, update)
    rows, edges = as_csr(X) if sparse else X, [0, *sorted(set(cuts)), len(y)]
    parts = [learner.learn(rows[a:b], y[a:b], classes=range(K)) for a, b in itertools.pairwise(edges)]
    np.testing.assert_allclose(np.concatenate(parts), scores, rtol=0, atol=1e-8 * np.abs(scores).max())
    np.testing.assert_allclose(learner.coef_, weights, rtol=0, atol=1e-8 * np.abs(weights).max())
    assert learner.n_updates_ == updates
    np.testing.assert_array_equal(learner.decision_function(rows), learner.decision_function(X))


def shown(sigma, covariance):
    """Return a plain Σ in the form that learners show."""
    return sigma if covariance == "full" else np.diag(sigma).reshape(K, -1)


@shapes
@pytest.mark.parametrize("variant", ["SCW-I", "SCW-II"])
@streams
def test_soft_confidence_weighted(variant, covariance, projection, seed, cuts, sparse):
    X, y = noisy_classes(seed, n=80, d=6, n_classes=K, density=0.7)
    plain = PlainGaussian(K * 6, covariance, projection, soft_rule(variant, 0.8, 0.5))
    learner = SoftConfidenceWeighted(variant, 0.8, 0.5, covariance, projection)
    check(learner, plain, X, y, cuts, sparse)
    np.testing.assert_allclose(learner.sigma_, shown(plain.sigma, covariance), rtol=0, atol=1e-9)


@shapes
@streams
def test_normal_herd(covariance, projection, seed, cuts, sparse):
    X, y = noisy_classes(seed, n=80, d=6, n_classes=K, density=0.7)
    plain = PlainGaussian(K * 6, covariance, projection, herd_rule(0.5))
    learner = NHERD(0.5, covariance, projection)
    check(learner, plain, X, y, cuts, sparse)
    np.testing.assert_allclose(learner.sigma_, shown(plain.sigma, covariance), rtol=0, atol=1e-9)


@pytest.mark.parametrize("aggressive", [False, True])
@streams
def test_relaxed_maximum_margin(aggressive, seed, cuts, sparse):
    # Noise would make w grow, and with it the rounding differences.
    X, y = noisy_classes(seed, n=80, d=6, n_classes=K, density=0.7, noise=0.0)
    check(ROMMA(aggressive=aggressive), relaxed_update(aggressive), X, y, cuts, sparse)


def test_a_relaxed_update_scales_every_class():
    """LIBOL scales only the two classes of Δf, so its w is not the shortest one."""
    model = ROMMA().partial_fit([[1.0, 0.0], [0.0, 1.0]], [0, 1], classes=range(3))
    assert model.coef_.tolist() == [[0.5, -0.5], [-0.5, 0.5], [0.0, 0.0]]
    before = model.coef_.copy()
    model.partial_fit([[1.0, 1.0]], [2])
    delta = np.array([-1.0, -1.0, 0.0, 0.0, 1.0, 1.0])
    w = model.coef_.ravel()
    assert w @ delta == pytest.approx(1.0)
    assert w @ before.ravel() == pytest.approx(before.ravel() @ before.ravel())
    np.testing.assert_allclose(model.coef_[1], before[1])


def test_the_aggressive_variant_may_restart():
    """The last row is shorter than all before it, with 2‖x‖²‖W‖² <= m < 1."""
    model = ROMMA(aggressive=True).partial_fit([[4.0, 0.0], [1.0, 0.0]], [1, 1], classes=range(3))
    assert model.coef_.tolist() == [[0.0, 0.0], [0.5, 0.0], [-0.5, 0.0]]
