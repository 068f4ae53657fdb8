"""Kernel learners on a budget against plain NumPy versions of their rules."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import rbf_kernel

from singlepass.learners import BOGD, BPAS, BSGD, FOGD, NOGD

from ..streams import as_csr, noisy_stream

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**31 - 1)
GAMMA = 0.1


def kernel(a, b):
    return math.exp(-GAMMA * ((a - b) ** 2).sum())


def kernels(rows, x):
    return np.array([kernel(row, x) for row in rows])


def plain_bogd(X, y, budget, eta, lam, gamma_max, projection, uniforms):
    """Run BOGD plainly; its support set is in the order of insertion."""
    support, alpha, scores, uniforms = [], np.zeros(0), [], iter(uniforms)
    for t, x in enumerate(X):
        scores.append(alpha @ kernels(X[support], x))
        alpha = alpha * (1 - eta * lam)
        if y[t] * scores[t] > 1:
            continue
        full = len(support) == budget
        if full:
            gone = math.floor(next(uniforms) * budget)
            support.pop(gone)
            alpha = np.delete(alpha, gone) * budget / (budget - 1)
            if projection == "clip":
                alpha = np.clip(alpha, -eta * gamma_max, eta * gamma_max)
        support.append(t)
        alpha = np.append(alpha, eta * y[t])
        if full and projection == "scale":
            alpha = alpha * min(1, eta * gamma_max / np.abs(alpha).max())
    return scores, support, alpha


def plain_bpas(X, y, budget, C):
    support, alpha, scores = [], np.zeros(0), []
    for t, x in enumerate(X):
        k = kernels(X[support], x)
        scores.append(alpha @ k)
        l = 1 - y[t] * scores[t]
        if l <= 0:
            continue
        step = y[t] * min(C, l)
        if len(support) == budget:
            # The paper's search: the r for which f' is nearest to f plus the step.
            r = min(range(budget), key=lambda i: alpha[i] ** 2 * (1 - k[i] ** 2))
            step += alpha[r] * k[r]
            support.pop(r)
            alpha = np.delete(alpha, r)
        support.append(t)
        alpha = np.append(alpha, step)
    return scores, support, alpha


def golden_section(f, low, high):
    """Return the maximum of f for arrays of bounds; in the first step, the upper of two equal values wins."""
    share, tolerance = (math.sqrt(5) - 1) / 2, 1 + 1e-12
    while (high - low).max() >= 1e-10:
        c, d = high - share * (high - low), low + share * (high - low)
        upper = f(c) <= tolerance * f(d)
        low, high, tolerance = np.where(upper, c, low), np.where(upper, high, d), 1
    return (low + high) / 2


def plain_bsgd(X, y, budget, lam, merging):
    numbers, rows, alpha, scores = [], [], np.zeros(0), []
    for t, x in enumerate(X):
        scores.append(alpha @ kernels(rows, x))
        alpha = alpha * (1 - 1 / (t + 1))
        if y[t] * scores[t] >= 1:
            continue
        numbers, rows, alpha = [*numbers, t], [*rows, x], np.append(alpha, y[t] / (lam * (t + 1)))
        if len(rows) <= budget:
            continue
        sizes = alpha**2
        p = min(np.flatnonzero(sizes <= (1 + 1e-9) * sizes.min()), key=lambda i: numbers[i])
        others = [i for i in range(len(rows)) if i != p and alpha[i] * alpha[p] > 0]
        if merging and others:
            a, b, k = alpha[p], alpha[others], kernels([rows[i] for i in others], rows[p])

            def merged(h, a=a, b=b, k=k):
                return a * k ** ((1 - h) ** 2) + b * k ** (h**2)

            zeros = np.zeros(len(others))
            h = golden_section(lambda h: np.abs(merged(h)), zeros, zeros + 1)
            losses = a**2 + b**2 + 2 * a * b * k - merged(h) ** 2
            as_good = np.flatnonzero(losses <= losses.min() + 1e-9 * a**2)
            best = min(as_good, key=lambda i: numbers[others[i]])
            n = others[best]
            rows[n] = h[best] * rows[p] + (1 - h[best]) * rows[n]
            alpha[n] = merged(h)[best]
        numbers.pop(p)
        rows.pop(p)
        alpha = np.delete(alpha, p)
    order = np.argsort(numbers)
    return scores, np.array(numbers)[order], alpha[order], np.array(rows)[order]


def plain_nogd(X, y, budget, rank, eta):
    support, alpha, scores = [], np.zeros(0), []
    features = w = None
    for t, x in enumerate(X):
        k = kernels(X[support], x)
        z = k if features is None else features @ k
        scores.append((alpha if features is None else w) @ z)
        if y[t] * scores[t] >= 1:
            continue
        if features is not None:
            w = w + eta * y[t] * z
            continue
        support.append(t)
        alpha = np.append(alpha, eta * y[t])
        if len(support) == budget:
            E, V = np.linalg.eigh(rbf_kernel(X[support], gamma=GAMMA))
            E, V = E[::-1][:rank], V[:, ::-1][:, :rank]
            E, V = E[E[0] * 1e-12 < E], V[:, E[0] * 1e-12 < E]
            features, w = (V / np.sqrt(E)).T, np.sqrt(E) * (V.T @ alpha)
    return scores, support


def plain_fogd(X, y, U, eta):
    w, scores = np.zeros(2 * len(U)), []
    for x, sign in zip(X, y, strict=True):
        z = np.concatenate([np.cos(U @ x), np.sin(U @ x)]) / math.sqrt(len(U))
        scores.append(w @ z)
        if sign * scores[-1] < 1:
            w = w + eta * sign * z
    return scores, w


def close(values, expected, tolerance=1e-9):
    expected = np.asarray(expected)
    np.testing.assert_allclose(values, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


@pytest.mark.parametrize("projection", ["clip", "scale"])
@given(
    seed=seeds, budget=st.integers(2, 20), gamma_max=st.sampled_from([0.3, 2.0, 5.0]), sparse=st.booleans()
)
def test_bogd(projection, seed, budget, gamma_max, sparse):
    X, y = noisy_stream(seed, n=100, density=0.6)
    model = BOGD(budget, 0.3, 0.05, gamma_max, projection, random_state=seed % 7, gamma=GAMMA)
    scores = model.learn(as_csr(X) if sparse else X, y, classes=[0, 1])
    uniforms = np.random.RandomState(seed % 7).random_sample(100)
    expected, support, alpha = plain_bogd(X, 2 * y - 1, budget, 0.3, 0.05, gamma_max, projection, uniforms)
    close(scores, expected)
    assert model.support_.tolist() == support
    close(model.dual_coef_[0], alpha)


@given(seed=seeds, budget=st.integers(2, 20), C=st.sampled_from([0.1, 1.0]), sparse=st.booleans())
def test_bpas(seed, budget, C, sparse):
    X, y = noisy_stream(seed, n=100, density=0.6)
    model = BPAS(budget, C, gamma=GAMMA)
    scores = model.learn(as_csr(X) if sparse else X, y, classes=[0, 1])
    expected, support, alpha = plain_bpas(X, 2 * y - 1, budget, C)
    close(scores, expected)
    assert model.support_.tolist() == support
    close(model.dual_coef_[0], alpha)


@pytest.mark.parametrize("maintenance", ["merging", "removal"])
@given(seed=seeds, budget=st.integers(2, 20), lam=st.sampled_from([0.01, 0.2]), sparse=st.booleans())
def test_bsgd(maintenance, seed, budget, lam, sparse):
    X, y = noisy_stream(seed, n=80, density=0.6)
    model = BSGD(budget, lam, maintenance, gamma=GAMMA)
    scores = model.learn(as_csr(X) if sparse else X, y, classes=[0, 1])
    expected, numbers, alpha, rows = plain_bsgd(X, 2 * y - 1, budget, lam, maintenance == "merging")
    tolerance = 1e-5 if maintenance == "merging" else 1e-9
    close(scores, expected, tolerance)
    assert model.support_.tolist() == numbers.tolist()
    close(model.dual_coef_[0], alpha, tolerance)
    kept = model.support_vectors_
    close(kept.toarray() if sparse and maintenance == "removal" else kept, rows, tolerance)


@given(seed=seeds, budget=st.integers(2, 20), share=st.sampled_from([0.3, 1.0]), sparse=st.booleans())
def test_nogd(seed, budget, share, sparse):
    X, y = noisy_stream(seed, n=100, density=0.6)
    rank = max(1, int(share * budget))
    model = NOGD(budget, rank, 0.3, gamma=GAMMA)
    scores = model.learn(as_csr(X) if sparse else X, y, classes=[0, 1])
    expected, support = plain_nogd(X, 2 * y - 1, budget, rank, 0.3)
    close(scores, expected)
    assert model.support_.tolist() == support


@given(seed=seeds, D=st.integers(1, 90), eta=st.sampled_from([0.2, 1.0]), sparse=st.booleans())
def test_fogd(seed, D, eta, sparse):
    X, y = noisy_stream(seed, n=100, density=0.6)
    model = FOGD(D, eta, GAMMA, random_state=seed % 7)
    scores = model.learn(as_csr(X) if sparse else X, y, classes=[0, 1])
    U = math.sqrt(2 * GAMMA) * np.random.RandomState(seed % 7).standard_normal((D, X.shape[1]))
    expected, w = plain_fogd(X, 2 * y - 1, U, eta)
    close(scores, expected)
    close(model.coef_[0], w)
    assert model.frequencies_.tolist() == U.tolist()
