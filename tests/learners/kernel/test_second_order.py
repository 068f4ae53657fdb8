"""The second-order kernel learners: ridge regression in a feature space."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from singlepass.learners import AROW, KernelAROW, KernelSecondOrderPerceptron, SecondOrderPerceptron

from ..streams import factor_of, noisy_stream

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**31 - 1)


@given(seed=seeds)
def test_second_order_perceptron_with_the_linear_kernel(seed):
    """With the linear learner's s, its score is s (1 + xᵀA⁻¹x), because A contains the row."""
    X, y = noisy_stream(seed, n=100, d=5)
    kernel, linear = (
        KernelSecondOrderPerceptron(a=0.5, kernel="linear"),
        SecondOrderPerceptron(a=0.5, covariance="full"),
    )
    for t in range(len(y)):
        x, label = X[t : t + 1], y[t : t + 1]
        v = (x @ linear.sigma_ @ x.T).item() if t else 0.0
        score, expected = kernel.learn(x, label, classes=[0, 1])[0], linear.learn(x, label, classes=[0, 1])[0]
        assert score == pytest.approx((1 + v) * expected, rel=1e-8, abs=1e-10)
    assert kernel.n_mistakes_ == linear.n_mistakes_


@pytest.mark.parametrize("Learner", [KernelSecondOrderPerceptron, KernelAROW])
@given(seed=seeds)
def test_second_order_coefficients_are_ridge_regression(Learner, seed):
    X, y = noisy_stream(seed)
    model = Learner(0.7, gamma=0.2).fit(X, y)
    K = rbf_kernel(model.support_vectors_, gamma=0.2) + 0.7 * np.eye(model.n_support_)
    solution = np.linalg.solve(K, 2.0 * y[model.support_] - 1.0)
    np.testing.assert_allclose(model.dual_coef_[0], solution, rtol=1e-9, atol=1e-9)
    lower = factor_of(model)
    np.testing.assert_allclose(lower @ lower.T, K, atol=1e-12)


@pytest.mark.parametrize(
    ("kernel", "linear"),
    [
        (KernelAROW(kernel="linear"), AROW(covariance="full")),
        (KernelSecondOrderPerceptron(kernel="linear"), SecondOrderPerceptron(covariance="full")),
    ],
    ids=repr,
)
def test_second_order_learners_stand_rows_of_large_numbers(kernel, linear):
    """(K + I)⁻¹ has no accurate digits if K has rank 8 and values of 1e12; float32 also rounds K."""
    X, y = noisy_stream(26, n=400, d=8)
    mistakes = clone(linear).fit(X * 1e6, y).n_mistakes_
    assert clone(kernel).fit(X * 1e6, y).n_mistakes_ == pytest.approx(mistakes, rel=0.1)
    single = clone(kernel).fit((X * 1e6).astype(np.float32), y)
    assert np.isfinite(single.dual_coef_).all()
    assert single.n_mistakes_ < 1.3 * mistakes


@pytest.mark.parametrize("Learner", [KernelSecondOrderPerceptron, KernelAROW])
def test_a_ridge_below_rounding_leaves_the_model_finite(Learner):
    """The rows occur many times, with either label."""
    X, y = noisy_stream(27, n=40, d=3)[0][np.arange(400) % 40], np.arange(400) // 40 % 2
    for ridge in (1e-9, 1e-15, 1e-300):
        model = Learner(ridge, gamma=0.5).fit(X, y)
        assert np.isfinite(model.dual_coef_).all()
        assert np.abs(model.decision_function(X)).max() < 10.0
