"""Learners for changing targets against plain NumPy."""

import math

import numpy as np
import pytest

from singlepass.learners import Ader, Perceptron, RestartedGradientDescent, RMSProp, ShiftingPerceptron

from ..streams import as_csr, noisy_stream
from .test_parameter_free import chunked, gradient, slope, streams

pytestmark = pytest.mark.slow

both_forms = pytest.mark.parametrize("convert", [np.asarray, as_csr])


def restarted(w, g, t, _, period=7):
    return w - 0.5 / np.sqrt(1 + (t - 1) % period) * g


def rmsprop(w, g, t, kept, beta=0.9):
    if not g.any():
        return w
    G = kept["G"] = beta * kept.get("G", 0) + (1 - beta) * g**2
    return np.where(G > 0, w - 0.1 * g / (1e-8 + np.sqrt(G)), w)


RULES = {
    "restarted": (RestartedGradientDescent(0.5, 7), restarted),
    "reset": (RestartedGradientDescent(0.5, 7, True), restarted),
    "rmsprop": (RMSProp(0.1, 0.9), rmsprop),
}


@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
@both_forms
def test_by_definition(name, loss, convert):
    learner, step = RULES[name]
    for X, labels, K in streams():
        w, kept, expected = np.zeros((K, 6)), {}, []
        for t, (x, label) in enumerate(zip(X, labels, strict=True), start=1):
            if name == "reset" and t % 7 == 1:
                w = np.zeros_like(w)
            expected.append(w @ x)
            w = step(w, np.outer(gradient(loss, expected[-1], label), x), t, kept)
        model = type(learner)(**learner.get_params() | {"loss": loss})
        scores = chunked(model, convert(X), labels)
        np.testing.assert_allclose(scores.reshape(len(X), K), expected, rtol=1e-9, atol=1e-11)
        # The weights are those of the next row.
        final = np.zeros_like(w) if name == "reset" and len(X) % 7 == 0 else w
        np.testing.assert_allclose(model.coef_, final, rtol=1e-9, atol=1e-11)


@both_forms
@pytest.mark.parametrize("lam", [0.0, 1.0, 500.0])
def test_shifting_perceptron_by_definition(lam, convert):
    """With λ = 500, the scale falls below the smallest one within the stream."""
    X, labels = noisy_stream(4, n=600, d=6, density=0.5)
    X[0] = 0.0
    w, k, expected = np.zeros(6), 0, []
    for x, y in zip(X, 2 * labels - 1, strict=True):
        expected.append(w @ x)
        if y * expected[-1] <= 0 and x.any():
            w = (1 - lam / (lam + k)) * w + y * x if k else y * x
            k += 1
    model = ShiftingPerceptron(lam)
    np.testing.assert_allclose(chunked(model, convert(X), labels), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9, atol=1e-11)
    # The row of zeros is a mistake, but k counts updates.
    assert model.n_updates_ == k < model.n_mistakes_
    if lam == 0.0:
        assert model.n_mistakes_ == Perceptron().fit(X, labels).n_mistakes_


@both_forms
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_ader_by_definition(loss, convert):
    X, labels = noisy_stream(5, d=6, density=0.5)
    X[[0, 20]] = 0.0
    T, D, G = 50, 3.0, 2.0
    N = math.ceil(0.5 * math.log2(1 + 4 * T / 7)) + 1
    i = np.arange(1, N + 1)
    eta, p = 2.0 ** (i - 1) * D / G * math.sqrt(7 / (2 * T)), (1 + 1 / N) / (i * (i + 1))
    W, expected = np.zeros((N, 6)), []
    for x, y in zip(X, 2 * labels - 1, strict=True):
        w = p @ W
        expected.append(w @ x)
        g = -y * slope(loss, y * (w @ x)) * x
        if g.any():
            p = p * np.exp(-math.sqrt(2 / T) / (G * D) * ((W - w) @ g))
            p /= p.sum()
            W = W - np.outer(eta, g)
            W /= np.maximum(1, np.linalg.norm(W, axis=1) / (D / 2))[:, None]
    model = Ader(T, D, G, loss)
    np.testing.assert_allclose(chunked(model, convert(X), labels), expected, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.coef_[0], p @ W, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(model.probabilities_, p, rtol=1e-9)
