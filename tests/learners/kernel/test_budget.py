"""Budgets and DistillCache: which rows stay, which go first, and that budgets are never exceeded."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.learners import (
    BOGD,
    BPAS,
    BSGD,
    NOGD,
    DistillCacheMIRA,
    DistillCachePerceptron,
    Forgetron,
    KernelMIRA,
    KernelPerceptron,
    RandomizedBudgetPerceptron,
    RemoveOldestPerceptron,
)

from ..streams import as_csr, noisy_classes, noisy_stream, state

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**31 - 1)
WINDOWS = [RandomizedBudgetPerceptron, RemoveOldestPerceptron, Forgetron]
GRADIENT_LEARNERS = [BOGD, BPAS, BSGD, NOGD]


@pytest.mark.parametrize("Learner", [DistillCachePerceptron, DistillCacheMIRA])
@given(seed=seeds, beta=st.sampled_from([0.01, 0.2, 1.0]))
def test_no_cached_row_is_redundant(Learner, seed, beta):
    """After any chunk, y_i (f(x_i) - α_i k(x_i, x_i)) < beta."""
    X, y = noisy_stream(seed)
    model = Learner(beta=beta, gamma=0.1)
    for t in range(0, len(y), 30):
        model.learn(X[t : t + 30], y[t : t + 30], classes=[0, 1])
        alpha = model.dual_coef_[0]
        sign = 2 * y[model.support_] - 1
        assert (np.sign(alpha) == sign).all()
        without = sign * (model.decision_function(model.support_vectors_) - alpha)
        assert (without < beta + 1e-12).all()
    assert model.n_support_ < model.n_updates_


def test_the_cache_of_tolerance_zero_learns():
    X, y = noisy_stream(21, noise=0.0)
    model = DistillCachePerceptron(beta=0.0, gamma=0.1).fit(X, y)
    assert 0 < model.n_support_ < model.n_mistakes_ == model.n_updates_ < len(y) / 2


def test_the_oldest_of_equally_redundant_rows_is_removed():
    """Four rows far from one another are equally redundant."""
    X = np.array([[0.0], [100.0], [200.0], [300.0]])
    model = DistillCachePerceptron(budget=2).fit(X, [0, 1, 0, 1])
    assert model.support_.tolist() == [2, 3]


def test_of_two_rows_the_older_is_removed():
    """Two Perceptron rows are exactly equally redundant: y_i y_t k(x_i, x_t)."""
    X, y = noisy_stream(24)
    model = DistillCachePerceptron(beta=0.3, budget=1, gamma=0.1)
    margins = np.where(y == 1, 1.0, -1.0) * model.learn(X, y)
    assert model.support_.tolist() == np.flatnonzero(margins <= 0.3)[-1:].tolist()
    assert model.n_updates_ == (margins <= 0.3).sum() > model.n_mistakes_
    kept = [model.fit(X[:t], y[:t]).support_.item() for t in range(10, 60)]
    assert kept == [np.flatnonzero(margins[:t] <= 0.3)[-1] for t in range(10, 60)]


def test_mira_makes_the_margin_beta():
    X, y = noisy_stream(22, n=80)
    model = DistillCacheMIRA(beta=0.4, budget=200, gamma=0.1)
    for t in range(len(y)):
        x, sign = X[t : t + 1], 2 * y[t] - 1
        m = sign * model.learn(x, y[t : t + 1], classes=[0, 1])[0]
        after = sign * model.decision_function(x)[0]
        assert after == pytest.approx(m if m > 0.4 else min(0.4, m + 1.0))


@pytest.mark.parametrize("stream", [noisy_stream, noisy_classes])
@given(seed=seeds, beta=st.sampled_from([0.05, 0.4, 1.0]))
def test_without_deletion_a_cache_keeps_all(stream, seed, beta):
    X, y = stream(seed)
    for plain, cached in (
        (KernelMIRA(beta=beta), DistillCacheMIRA(beta=beta, budget=len(y))),
        (KernelPerceptron(margin=beta), DistillCachePerceptron(beta=beta, budget=len(y))),
    ):
        expected = cached.set_params(gamma=0.1).learn(X, y)
        assert plain.set_params(gamma=0.1).learn(X, y).tolist() == expected.tolist()
        assert plain.support_.tolist() == cached.support_.tolist()
        assert plain.dual_coef_.tolist() == cached.dual_coef_.tolist()
        assert plain.counters() | {"model_bytes": 0} == cached.counters() | {"model_bytes": 0}


@pytest.mark.parametrize("Learner", [*WINDOWS, DistillCachePerceptron, *GRADIENT_LEARNERS])
@given(seed=seeds, budget=st.integers(1, 40))
def test_budgets_are_filled_and_never_exceeded(Learner, seed, budget):
    X, y = noisy_stream(seed)
    budget = max(budget, 2) if Learner in GRADIENT_LEARNERS else budget
    model = Learner(budget=budget, gamma=0.1)
    for t in range(0, len(y), 10):
        model.learn(X[t : t + 10], y[t : t + 10], classes=[0, 1])
        assert model.n_support_ == min(budget, model.n_updates_)
        assert len(set(model.support_.tolist())) == model.n_support_ == model.support_vectors_.shape[0]


@pytest.mark.parametrize("Learner", [RemoveOldestPerceptron, Forgetron])
def test_the_window_holds_the_last_mistakes(Learner):
    X, y = noisy_stream(11, n=400)
    model = Learner(budget=25, gamma=0.1)
    scores = model.learn(X, y)
    mistakes = np.flatnonzero(np.where(y == 1, scores, -scores) <= 0)
    assert model.support_.tolist() == mistakes[-25:].tolist()


@pytest.mark.parametrize("Learner", [*WINDOWS, *GRADIENT_LEARNERS])
@pytest.mark.parametrize("budget", [8, 32])
def test_a_full_support_set_keeps_the_budget_that_learning_began_with(Learner, budget):
    X, y = noisy_stream(28, n=300)
    plain, changed = Learner(16, gamma=0.1), Learner(16, gamma=0.1)
    plain.learn(X, y)
    changed.learn(X[:100], y[:100])
    changed.set_params(budget=budget).learn(X[100:], y[100:])
    assert state(changed) == state(plain)
    assert changed.fit(X, y).n_support_ == budget


def test_forgetron_passes_over_steps_that_overflow():
    for seed in range(10):
        X, y = noisy_stream(seed, n=300)
        model = Forgetron(budget=3 + seed, kernel="linear").fit(X * 4e153, y)
        assert not np.isnan(model._damage)
        assert (np.abs(model.dual_coef_) > 0).all()


def test_a_budget_that_is_never_reached_changes_nothing():
    X, y = noisy_stream(12)
    expected = KernelPerceptron(gamma=0.1).learn(X, y).tolist()
    for model in (RandomizedBudgetPerceptron(500), RemoveOldestPerceptron(500), Forgetron(500)):
        assert model.set_params(gamma=0.1).learn(X, y).tolist() == expected


def test_random_removals_are_a_matter_of_the_seed():
    X, y = noisy_stream(13, n=400)
    runs = [RandomizedBudgetPerceptron(20, seed, gamma=0.1).fit(X, y) for seed in (3, 3, 4)]
    assert state(runs[0]) == state(runs[1])
    assert runs[0].support_.tolist() != runs[2].support_.tolist()
    # Each of the 20 slots must get its share of 20,000 uniform draws, within five standard deviations.
    slots = np.bincount(runs[0]._victims.next(20_000), minlength=20)
    assert np.abs(slots - 1000).max() < 5 * np.sqrt(1000)


def test_sparse_storage_of_removed_rows_is_used_again():
    X, y = noisy_stream(14, n=3000, density=0.5)
    model = RemoveOldestPerceptron(budget=10, gamma=0.1).fit(as_csr(X), y)
    assert model.n_updates_ > 1000
    assert len(model._support.rows._values) <= 1024
    assert (model.support_vectors_.toarray() == X[model.support_]).all()


def test_forgetron_keeps_its_damage_within_the_mistakes():
    X, y = noisy_stream(15, n=600)
    model = Forgetron(budget=10, gamma=0.02)
    for t in range(len(y)):
        model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        assert model._damage <= 15 / 32 * model.n_mistakes_ + 1e-9
    assert (np.abs(model.dual_coef_) <= 1).all()
    assert np.abs(model.dual_coef_).min() < 1
