"""The sketched online Newton step against plain NumPy, which keeps A⁻¹ as a matrix."""

import math

import numpy as np
import pytest

from singlepass.learners import OnlineNewtonStep, SketchedOnlineNewton

from ..streams import as_csr, noisy_stream
from .test_parameter_free import chunked, slope

pytestmark = pytest.mark.slow


def orthonormal(V):
    rows = []
    for v in V:
        for _ in range(2):
            v = v - sum((r @ v) * r for r in rows)
        rows.append(v / np.linalg.norm(v))
    return np.array(rows)


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
@pytest.mark.parametrize("m", [1, 4, 9])
@pytest.mark.parametrize("sketch", ["fd", "oja"])
def test_by_definition(sketch, m, convert):
    X, labels = noisy_stream(6, d=6, density=0.6)
    X[[0, 20]] = 0.0
    # Long rows, so that scores are clipped.
    X[60:] *= 6.0
    alpha, eta, C, kappa = 5.0, 0.5, 2.0, 1.5
    B, u, k, totals, expected = np.zeros((m, 6)), np.zeros(6), 0, np.zeros(min(m, 6)), []
    j = np.arange(6)
    V = np.array([math.sqrt(2 / 6) * np.cos(math.pi * (2 * j + 1) * i / 12) for i in range(min(m, 6))])
    V[0] = math.sqrt(1 / 6)
    inverse = np.eye(6) / alpha
    for x, y in zip(X, 2 * labels - 1, strict=True):
        f = u @ x
        s = np.clip(f, -C, C)
        expected.append(s)
        if not x.any():
            continue
        if f != s:
            z = inverse @ x
            u = u - (f - s) / (x @ z) * z
        g = -y * slope("logistic", y * s) * x
        if sketch == "fd":
            B[-1] = math.sqrt(eta) * g
            _, e, rows = np.linalg.svd(B, full_matrices=False)
            squares = e**2 - (0.0 if m > 6 else e[-1] ** 2)
            B[:] = 0.0
            B[: len(e)] = np.sqrt(squares)[:, None] * rows
            A = alpha * np.eye(6) + B.T @ B
        else:
            k += 1
            share, p = min(1, kappa / k), V @ (math.sqrt(eta) * g)
            totals = (1 - share) * totals + share * p**2
            V = orthonormal(V + share * np.outer(p, math.sqrt(eta) * g))
            A = alpha * np.eye(6) + V.T @ np.diag(k * totals) @ V
        inverse = np.linalg.inv(A)
        u = u - inverse @ g
    model = SketchedOnlineNewton(m, alpha, eta, C, sketch, kappa)
    np.testing.assert_allclose(chunked(model, convert(X), labels), expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(model.coef_[0], u, rtol=1e-8, atol=1e-9)
    assert np.abs(expected).max() == C


def test_more_directions_than_features_are_the_full_matrix():
    X, labels = noisy_stream(7, d=5)
    full = OnlineNewtonStep(gamma=0.2, epsilon=3.0 / 0.2)
    scores = SketchedOnlineNewton(6, alpha=3.0, eta=0.2, C=None).learn(X, labels)
    np.testing.assert_allclose(scores, full.learn(X, labels), rtol=1e-9, atol=1e-11)


def test_a_changed_sketch_waits_for_the_next_fit():
    X, labels = noisy_stream(6)
    changed, plain = SketchedOnlineNewton(m=3).fit(X, labels), SketchedOnlineNewton(m=3).fit(X, labels)
    changed.set_params(sketch="oja")
    assert changed.learn(X, labels).tolist() == plain.learn(X, labels).tolist()
    fresh = SketchedOnlineNewton(m=3, sketch="oja").fit(X, labels)
    assert changed.fit(X, labels).coef_.tolist() == fresh.coef_.tolist()


@pytest.mark.parametrize("m", [np.int8(4), np.uint8(4), np.int16(4)])
def test_m_may_be_a_small_integer_of_numpy(m):
    model, same = SketchedOnlineNewton(m=m, sketch="oja"), SketchedOnlineNewton(m=4, sketch="oja")
    for each in (model, same):
        each.begin(np.array([0, 1]), 20_000)
    assert (model._sketch == same._sketch).all()
