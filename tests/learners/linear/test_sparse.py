"""Learners of sparse weights against plain NumPy, which changes every weight at every row."""

import numpy as np
import pytest

from singlepass.learners import FOBOS, OFS, RDA, SOFS, AdaGradFOBOS, AdaGradRDA, TruncatedGradient

from ..streams import as_csr, noisy_classes, noisy_stream
from .test_parameter_free import chunked, gradient, streams

both_forms = pytest.mark.parametrize("convert", [np.asarray, as_csr])


def soft(v, a):
    return np.sign(v) * np.maximum(np.abs(v) - a, 0)


def truncated(w, g, t, _, K=3, l1=0.02, theta=np.inf, falls=True):
    eta = 0.5 / np.sqrt(t) if falls else 0.5
    w = w - eta * g
    return np.where(np.abs(w) <= theta, soft(w, K * eta * l1), w) if t % K == 0 else w


def averaged(w, g, t, kept, l1=0.02, gamma=2.0, rho=0.1, sigma=0.3):
    u = kept["u"] = kept.get("u", 0) + g
    return -soft(u, l1 * t + gamma * rho * np.sqrt(t)) / (sigma * t + gamma * np.sqrt(t))


def adaptive(w, g, t, kept, eta=0.3, l1=0.02, delta=1e-8):
    G = kept["G"] = kept.get("G", 0) + g**2
    H = delta + np.sqrt(G)
    return np.where(G > 0, soft(w - eta * g / H, eta * l1 / H), 0)


RULES = {
    "truncated": (TruncatedGradient(0.5, 0.02, 3), truncated),
    "theta": (
        TruncatedGradient(0.5, 0.02, 3, 0.3, "constant"),
        lambda *args: truncated(*args, theta=0.3, falls=False),
    ),
    "fobos": (FOBOS(0.5, 0.02), lambda *args: truncated(*args, K=1)),
    "rda": (RDA(0.02, 2.0, 0.1, 0.3), averaged),
    "adagrad": (AdaGradFOBOS(0.3, 0.02), adaptive),
}


@pytest.mark.parametrize(
    ("name", "loss"),
    [
        pytest.param(name, loss, marks=[] if (name, loss) == ("fobos", "hinge") else pytest.mark.slow)
        for name in RULES
        for loss in ("hinge", "logistic")
    ],
)
@pytest.mark.parametrize("convert", [as_csr, pytest.param(np.asarray, marks=pytest.mark.slow)])
def test_late_shrinkage_is_shrinkage_at_every_row(name, loss, convert):
    learner, step = RULES[name]
    for X, labels, K in streams():
        # A feature that does not come back is shrunk to the end.
        X[len(X) // 2 :, 0] = 0.0
        W, kept, expected = np.zeros((K, 6)), {}, []
        for t, (x, label) in enumerate(zip(X, labels, strict=True), start=1):
            expected.append(W @ x)
            W = step(W, np.outer(gradient(loss, expected[-1], label), x), t, kept)
        model = type(learner)(**learner.get_params() | {"loss": loss})
        scores = chunked(model, convert(X), labels)
        np.testing.assert_allclose(scores.reshape(len(X), K), expected, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(model.coef_, W, rtol=1e-9, atol=1e-11)
        assert model.n_nonzero_ == np.count_nonzero(W)
        assert model.counters()["nonzeros"] == model.n_nonzero_


def largest(strength, B):
    """Return which of the numbers are the B largest, the first ones at ties."""
    return np.isin(np.arange(len(strength)), np.argsort(-np.abs(strength), kind="stable")[:B])


@pytest.mark.slow
@both_forms
@pytest.mark.parametrize("B", [1, 4, 50])
def test_feature_selection_by_definition(B, convert):
    X, labels = noisy_stream(3, d=12, density=0.4)
    # Rows of a few equal values make ties.
    X[:40] = np.round(X[:40])
    X[[0, 50]] = 0.0
    w, u, q = np.zeros(12), np.zeros(12), np.zeros(12)
    expected = []
    for x, y in zip(X, 2 * labels - 1, strict=True):
        expected.append((w @ x, u @ x))
        if y * (w @ x) < 1 and x.any():
            w = (1 - 0.3 * 0.5) * w + 0.5 * y * x
            w = w / max(1, np.sqrt(0.3) * np.linalg.norm(w))
            w = np.where(largest(w, B), w, 0)
        if y * (u @ x) < 1 and x.any():
            sigma = 1 / (1 + q / 2.0)
            u = u + (1 - y * (u @ x)) / (sigma @ x**2 + 2.0) * y * sigma * x
            q = q + x**2
            u = np.where(largest(q, B), u, 0)
    for which, (model, weights) in enumerate([(OFS(B, 0.5, 0.3), w), (SOFS(B, 2.0), u)]):
        scores = chunked(model, convert(X), labels)
        np.testing.assert_allclose(scores, np.array(expected)[:, which], rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(model.coef_[0], weights, rtol=1e-9, atol=1e-12)
        assert model.n_nonzero_ <= B


def test_dual_averaging_needs_a_limit():
    for gamma in (0.0, 1e-310):
        with pytest.raises(ValueError, match=r"RDA: gamma \+ sigma must be at least 1e-150"):
            RDA(gamma=gamma).fit([[1.0], [2.0]], [0, 1])


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_dual_averaging_with_rates_counts_its_weights(n_classes):
    X, labels = noisy_stream(0) if n_classes == 2 else noisy_classes(0, n_classes=n_classes)
    for l1 in (0.0, 0.1):
        model = AdaGradRDA(l1=l1).fit(X, labels)
        assert model.n_nonzero_ == np.count_nonzero(model.coef_)
        assert (model.n_nonzero_ == model.coef_.size) == (l1 == 0.0)
