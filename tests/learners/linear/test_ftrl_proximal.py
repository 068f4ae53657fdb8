"""FTRL-Proximal and the online Newton step: against their definitions, and against equivalent learners."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit

from singlepass.learners import AdaGradRDA, FTRLProximal, OnlineGradientDescent, OnlineNewtonStep

from ..streams import as_csr, noisy_classes, noisy_stream

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**31 - 1)


def leader(gradients, centres, strengths, held, l1):
    """Return argmin over w of ``Σ g·w + Σ σ/2 (w - w_s)² + held/2 w² + l1 |w|``, feature by feature."""
    pull = sum(gradients) - sum(s * w for s, w in zip(strengths, centres, strict=True))
    weight = sum(strengths) + held
    return -np.sign(pull) * np.maximum(np.abs(pull) - l1, 0.0) / weight


@given(
    seed=seeds,
    l1=st.sampled_from([0.0, 0.3]),
    l2=st.sampled_from([0.0, 0.5]),
    loss=st.sampled_from(["logistic", "hinge"]),
    sparse=st.booleans(),
)
def test_it_follows_the_leader(seed, l1, l2, loss, sparse):
    """McMahan et al. (2013), eq. 1: keep all gradients, and minimize the sum of all terms at every row."""
    alpha, beta, d = 0.7, 0.5, 5
    X, labels = noisy_stream(seed, n=60, d=d, density=0.6)
    gradients, centres, strengths, n = [np.zeros(d)], [np.zeros(d)], [np.zeros(d)], np.zeros(d)
    expected = []
    for x, y in zip(X, 2 * labels - 1, strict=True):
        w = leader(gradients, centres, strengths, beta / alpha + l2, l1)
        expected.append(w @ x)
        m = y * expected[-1]
        g = -y * x * (expit(-m) if loss == "logistic" else float(m < 1))
        gradients.append(g)
        centres.append(w)
        strengths.append((np.sqrt(n + g * g) - np.sqrt(n)) / alpha)
        n = n + g * g
    model = FTRLProximal(alpha, beta, l1, l2, loss)
    rows = as_csr(X) if sparse else X
    scores = np.concatenate([
        model.learn(rows[:25], labels[:25], classes=[0, 1]), model.learn(rows[25:], labels[25:])
    ])  # fmt: skip
    np.testing.assert_allclose(scores, expected, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("loss", ["logistic", "hinge"])
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_without_norms_it_is_adagrad_descent(loss, convert):
    """McMahan (2011): the rates are equal with η = α and δ = β, for two classes and for many."""
    for X, labels in (noisy_stream(1, density=0.5), noisy_classes(2, density=0.5)):
        ftrl = FTRLProximal(alpha=0.3, beta=0.2, loss=loss)
        descent = OnlineGradientDescent(0.3, loss, rate="adagrad", delta=0.2)
        np.testing.assert_allclose(
            ftrl.learn(convert(X), labels), descent.learn(convert(X), labels), rtol=1e-9, atol=1e-11
        )
        np.testing.assert_allclose(ftrl.coef_, descent.coef_, rtol=1e-9, atol=1e-12)
        assert ftrl.n_updates_ == descent.n_updates_


def test_on_features_that_occur_once_it_is_dual_averaging():
    """All centers are then 0, so the centering of the terms makes no difference."""
    X = np.diag(np.random.RandomState(3).uniform(-2, 2, 30))
    labels = np.arange(30) % 2
    ftrl = FTRLProximal(alpha=0.4, beta=0.3, loss="hinge").fit(X, labels)
    averaging = AdaGradRDA(eta=0.4, delta=0.3).fit(X, labels)
    np.testing.assert_allclose(ftrl.coef_, averaging.coef_, rtol=1e-12)


def test_weights_are_exactly_zero():
    X, labels = noisy_stream(4, n=300)
    few, all_ = FTRLProximal(l1=3.0).fit(X, labels), FTRLProximal().fit(X, labels)
    assert 0 < np.count_nonzero(few.coef_) < np.count_nonzero(all_.coef_) == X.shape[1]


def test_a_weight_whose_squares_underflow_is_zero():
    model = FTRLProximal(beta=0.0).partial_fit([[1e-170, 0.0], [1.0, 0.0]], [1, 0], [0, 1])
    assert np.isfinite(model.coef_).all()


@pytest.mark.parametrize("covariance", ["full", "diagonal"])
@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_newton_steps_solve_with_the_matrix(covariance, loss, convert):
    gamma, epsilon, d = 0.5, 2.0, 5
    X, labels = noisy_stream(5, n=100, d=d, density=0.6)
    A, w, expected = epsilon * np.eye(d), np.zeros(d), []
    for x, y in zip(X, 2 * labels - 1, strict=True):
        expected.append(w @ x)
        m = y * expected[-1]
        g = -y * x * (expit(-m) if loss == "logistic" else 2 * max(0.0, 1 - m))
        A = A + (np.outer(g, g) if covariance == "full" else np.diag(g * g))
        w = w - np.linalg.solve(A, g) / gamma
    model = OnlineNewtonStep(gamma, epsilon, loss, covariance)
    np.testing.assert_allclose(model.learn(convert(X), labels), expected, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(model.coef_[0], w, rtol=1e-9, atol=1e-11)
    inverse = np.linalg.inv(A)
    np.testing.assert_allclose(
        model.sigma_, inverse if covariance == "full" else np.diag(inverse), rtol=1e-9, atol=1e-13
    )


def test_losses_that_are_not_exp_concave_are_refused():
    with pytest.raises(ValueError, match="OnlineNewtonStep: loss must be one of 'logistic', 'squared_hinge'"):
        OnlineNewtonStep(loss="hinge").fit([[1.0], [2.0]], [0, 1])
