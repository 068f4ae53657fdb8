"""Kernel learners of more than two classes."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from singlepass.learners import (
    DistillCacheMIRA,
    DistillCachePerceptron,
    KernelMIRA,
    KernelPassiveAggressive,
    KernelPerceptron,
    PassiveAggressive,
    Perceptron,
    Projectron,
)

from ..streams import as_csr, golden_runs, golden_stream, inverse_factor_of, margins_of, noisy_classes, state

seeds = st.integers(0, 2**31 - 1)
CLASSES = range(5)
RUNS = golden_runs("kernel")
LEARNERS = [
    KernelPerceptron(gamma=0.1),
    KernelPerceptron(margin=0.5, gamma=0.1),
    KernelPassiveAggressive(C=0.5, gamma=0.1),
    KernelMIRA(beta=0.3, gamma=0.1),
    Projectron(eta=0.5, gamma=0.1),
    DistillCachePerceptron(beta=0.3, gamma=0.1),
    DistillCachePerceptron(beta=0.3, budget=15, gamma=0.1),
    DistillCacheMIRA(beta=0.3, gamma=0.1),
    DistillCacheMIRA(beta=0.3, budget=15, gamma=0.1),
]
every_learner = pytest.mark.parametrize(
    "learner",
    [*LEARNERS[:1], *(pytest.param(each, marks=pytest.mark.slow) for each in LEARNERS[1:])],
    ids=repr,
)


@pytest.mark.parametrize("convert", [np.asarray, pytest.param(as_csr, marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    ("name", "learner"),
    [
        ("mc_kernel_perceptron_max_rbf.dogma__s4_digits10", KernelPerceptron()),
        ("mc_kernel_pa1_rbf.dogma__s4_digits10", KernelPassiveAggressive(C=1.0)),
    ],
)
def test_golden_run(name, learner, convert):
    run = RUNS[name]
    X, y = golden_stream(run["stream"])
    learner = clone(learner).set_params(gamma=run["kernel"]["gamma"])
    scores = learner.learn(convert(X), y)
    assert np.flatnonzero(margins_of(scores, y) <= 0).tolist() == run["mistake_indices_0based"]
    assert learner.n_mistakes_ == run["mistakes_final"]
    assert learner.support_.tolist() == run["sv_indices_0based"]
    assert learner.dual_coef_.shape == (10, run["n_sv_final"])
    frobenius = np.linalg.norm(learner.dual_coef_)
    assert frobenius == pytest.approx(run["sv_coefficients_frobenius"], rel=1e-9)
    np.testing.assert_allclose(scores[:20], run["online_scores_first20"], rtol=1e-9, atol=1e-9)
    final = learner.decision_function(convert(X[:20]))
    np.testing.assert_allclose(final, run["final_decision_first20"], rtol=1e-9, atol=1e-9)


@every_learner
@given(
    seed=seeds,
    rows=st.sampled_from([1, 7, 60]),
    cuts=st.lists(st.integers(1, 119), max_size=4),
    sparse=st.booleans(),
)
def test_blocks_chunks_and_storage_change_nothing(learner, seed, rows, cuts, sparse):
    X, y = noisy_classes(seed, density=0.7)
    usual, other = clone(learner), clone(learner)
    scores = usual.learn(X, y, classes=CLASSES)
    other._block_rows = rows
    edges = [0, *sorted(set(cuts)), len(y)]
    Z = as_csr(X) if sparse else X
    parts = [other.learn(Z[a:b], y[a:b], classes=CLASSES) for a, b in itertools.pairwise(edges)]
    assert np.concatenate(parts).tolist() == scores.tolist()
    assert state(other) == state(usual)
    assert other.decision_function(Z).tolist() == usual.decision_function(X).tolist()


@every_learner
def test_coefficients_sum_to_zero_and_say_which_class_a_row_is_of(learner):
    X, y = noisy_classes(1)
    model = clone(learner).fit(X, y)
    np.testing.assert_allclose(model.dual_coef_.sum(axis=0), 0.0, atol=1e-9)
    if not isinstance(learner, Projectron):
        assert model.dual_coef_.argmax(axis=0).tolist() == y[model.support_].tolist()
        assert ((model.dual_coef_ > 0).sum(axis=0) == 1).all()


@pytest.mark.parametrize(
    ("kernel", "linear"),
    [
        (KernelPerceptron(kernel="linear"), Perceptron()),
        (KernelPassiveAggressive(C=0.3, kernel="linear"), PassiveAggressive(C=0.3)),
        pytest.param(Projectron(eta=0.0, kernel="linear"), Perceptron(), marks=pytest.mark.slow),
    ],
    ids=repr,
)
@given(seed=seeds)
def test_with_the_linear_kernel_it_is_the_linear_learner(kernel, linear, seed):
    X, y = noisy_classes(seed)
    kernel, linear = clone(kernel), clone(linear)
    scores = linear.learn(X, y, classes=CLASSES)
    np.testing.assert_allclose(kernel.learn(X, y, classes=CLASSES), scores, rtol=1e-8, atol=1e-8)
    assert kernel.n_mistakes_ == linear.n_mistakes_


@pytest.mark.slow
@pytest.mark.parametrize("Learner", [DistillCachePerceptron, DistillCacheMIRA])
@given(seed=seeds, beta=st.sampled_from([0.01, 0.2, 1.0]))
def test_no_cached_row_is_redundant(Learner, seed, beta):
    X, y = noisy_classes(seed)
    model = Learner(beta=beta, gamma=0.1).fit(X, y)
    each, labels = np.arange(model.n_support_), y[model.support_]
    without = model.decision_function(model.support_vectors_) - model.dual_coef_.T
    right = without[each, labels]
    without[each, labels] = -np.inf
    assert (right - without.max(axis=1) < beta + 1e-12).all()
    assert 0 < model.n_support_ < model.n_updates_


@pytest.mark.slow
@given(seed=seeds)
def test_the_step_of_mira_is_the_smallest(seed):
    """It is feasible, and no feasible direction decreases ½ k ‖τ‖² + (s - beta e_y)·τ."""
    X, y = noisy_classes(seed, n=40)
    model, beta = DistillCacheMIRA(beta=0.3, budget=100, gamma=0.1), 0.3
    model.learn(X[:39], y[:39], classes=CLASSES)
    (s,), size = model.learn(X[39:], y[39:], classes=CLASSES).copy(), model.n_updates_
    if model.support_[-1] != 39:
        assert s[y[39]] - np.delete(s, y[39]).max() > beta
        return
    assert size == model.n_support_
    step = model.dual_coef_[:, -1]
    limit = np.arange(5) == y[39]
    assert (step <= limit + 1e-12).all()
    gradient = step + s - beta * limit
    # At the optimum the gradient is equal over free coordinates, and no larger over those at their limit.
    free = step < limit - 1e-12
    assert np.ptp(gradient[free]) < 1e-9
    assert (gradient[~free] <= gradient[free].max() + 1e-9).all()


@pytest.mark.slow
@pytest.mark.parametrize("Learner", [DistillCachePerceptron, DistillCacheMIRA])
def test_budgets_are_filled_and_never_exceeded(Learner):
    X, y = noisy_classes(2)
    model = Learner(beta=0.3, budget=17, gamma=0.1)
    for t in range(0, len(y), 10):
        model.learn(X[t : t + 10], y[t : t + 10], classes=CLASSES)
        assert model.n_support_ == min(17, model.n_updates_)


@pytest.mark.slow
def test_projections_share_one_factor():
    X, y = noisy_classes(3)
    model = Projectron(eta=0.4, gamma=0.1).fit(X, y)
    assert model.n_support_ < model.n_mistakes_
    slots = model._support.matrix(np.arange(model.n_support_))
    lower = np.linalg.inv(inverse_factor_of(model))
    np.testing.assert_allclose(lower @ lower.T, rbf_kernel(slots, gamma=0.1), atol=1e-12)


def test_a_norm_bound_is_for_two_classes():
    X, y = noisy_classes(4)
    with pytest.raises(ValueError, match="Only binary classification is supported"):
        Projectron(U=2.0).fit(X, y)
    with pytest.raises(ValueError, match="Projectron: U is for two classes, not 5; give eta instead"):
        Projectron(U=2.0).begin(np.arange(5), 3)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [None, 25])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_the_cache_is_that_of_the_plain_rule(budget, noise):
    """Follow Figures 1 and 2 of the paper literally, recomputing every score."""
    X, y = noisy_classes(5, noise=noise)
    model = DistillCacheMIRA(beta=0.3, budget=budget, gamma=0.1)
    K, cache, alpha = rbf_kernel(X, gamma=0.1), [], np.zeros((len(y), 5))
    for t in range(len(y)):
        model.learn(X[t : t + 1], y[t : t + 1], classes=CLASSES)
        scores = K[t] @ alpha
        if margins_of(scores[None], y[t : t + 1])[0] <= 0.3:
            alpha[t] = plain_step(scores, y[t], 0.3)
            cache.append(t)
        while cache:
            without = margins_of((K @ alpha - alpha)[cache], y[cache])
            if len(cache) <= budget if budget else without.max() < 0.3:
                break
            alpha[cache.pop(without.argmax())] = 0.0
        assert model.support_.tolist() == cache
    np.testing.assert_allclose(model.dual_coef_, alpha[cache].T, atol=1e-9)
    assert model.n_updates_ > len(cache)


def plain_step(scores, y, beta):
    """Return MIRA's step for k(x, x) = 1: e_y minus the projection of shifted scores onto the simplex."""
    target = scores + (1.0 - beta) * (np.arange(len(scores)) == y)
    low, high = target.min() - 1.0, target.max()
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if np.maximum(0.0, target - middle).sum() > 1.0 else (low, middle)
    return (np.arange(len(scores)) == y) - np.maximum(0.0, target - high)
