"""What holds for kernel learners: exactness, budgets, counters, and the theorems of their papers."""

import itertools

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from singlepass.learners import (
    ALMA,
    AROW,
    LASVM,
    NORMA,
    DistillCacheMIRA,
    DistillCachePerceptron,
    Forgetron,
    IncrementalSVM,
    KernelALMA,
    KernelAROW,
    KernelPassiveAggressive,
    KernelPerceptron,
    KernelSecondOrderPerceptron,
    OnlineGradientDescent,
    OnlineModelSelection,
    PassiveAggressive,
    Perceptron,
    Projectron,
    ProjectronPlusPlus,
    RandomizedBudgetPerceptron,
    SecondOrderPerceptron,
    ShiftingPerceptron,
    as_rows,
)
from singlepass.learners.kernel._factor import projection, squared_projection

from .streams import as_csr, every_kernel_learner, every_kernel_learner_but_ramp_svms, noisy_stream, state

seeds = st.integers(0, 2**31 - 1)


@every_kernel_learner
@given(
    seed=seeds,
    rows=st.sampled_from([1, 2, 5, 13, 60, 200]),
    cuts=st.lists(st.integers(1, 149), max_size=4),
    sparse=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_blocks_chunks_and_storage_change_nothing(learner, seed, rows, cuts, sparse, dtype):
    """Not a bit of the scores, coefficients and counters."""
    X, y = noisy_stream(seed, density=0.7)
    X = X.astype(dtype)
    usual, other = clone(learner), clone(learner)
    scores = usual.learn(X, y, classes=[0, 1])
    other._block_rows = rows
    edges = [0, *sorted(set(cuts)), len(y)]
    Z = as_csr(X) if sparse else X
    parts = [other.learn(Z[a:b], y[a:b], classes=[0, 1]) for a, b in itertools.pairwise(edges)]
    assert np.concatenate(parts).tolist() == scores.tolist()
    assert state(other) == state(usual)
    assert other.decision_function(Z).tolist() == usual.decision_function(X).tolist()


@every_kernel_learner
def test_rows_of_another_kind_are_converted(learner):
    """A float64 or dense chunk after float32 CSR ones, and the other way round."""
    X, y = noisy_stream(1, density=0.5)
    X = X.astype(np.float32)
    kinds = [as_csr(X), X, as_csr(X).astype(np.float64), X.astype(np.float64)]
    for first in kinds:
        mixed, plain = clone(learner), clone(learner)
        plain.learn(first, y)
        for k, (a, b) in enumerate([(0, 40), (40, 80), (80, 120), (120, 150)]):
            mixed.learn((kinds[k] if k else first)[a:b], y[a:b], classes=[0, 1])
        assert state(mixed) == state(plain)


@every_kernel_learner
def test_a_model_that_has_learnt_nothing_scores_zero(learner):
    model = clone(learner)
    model.begin(np.array([0, 1]), 3)
    assert model.score_rows(np.ones((2, 3))).tolist() == [0.0, 0.0]
    assert (model.support_.shape, model.dual_coef_.shape) == ((0,), (1, 0))
    assert model.support_vectors_.shape == (0, 3)
    assert model.model_bytes_ == 0


@every_kernel_learner
@pytest.mark.parametrize("scale", [1e-160, 1e-30, 1e30, 1e60, 1e160])
def test_extreme_scales_stay_finite(learner, scale):
    X, y = noisy_stream(9)
    model = clone(learner).set_params(gamma=1.0)
    if getattr(learner, "U", None) is None:
        model.fit(X * scale, y)
        assert np.isfinite(model.dual_coef_).all()


def test_a_row_whose_norm_overflows_is_not_learnt():
    X, y = noisy_stream(10, n=40)
    X[7] = 1e200
    model = KernelPerceptron().fit(X, y)
    assert 7 not in model.support_
    assert model.n_mistakes_ == model.n_support_ + 1


@pytest.mark.parametrize(
    ("kernel", "linear"),
    [
        (KernelPerceptron(kernel="linear"), Perceptron()),
        (KernelPassiveAggressive(C=0.3, kernel="linear"), PassiveAggressive(C=0.3)),
        (KernelAROW(r=0.3, kernel="linear"), AROW(r=0.3, covariance="full")),
        (NORMA(eta0=0.3, lam=0.0, decay=True, kernel="linear"), OnlineGradientDescent(eta=0.3)),
        (KernelALMA(alpha=0.8, kernel="linear"), ALMA(alpha=0.8)),
    ],
    ids=repr,
)
@given(seed=seeds)
def test_with_the_linear_kernel_it_is_the_linear_learner(kernel, linear, seed):
    X, y = noisy_stream(seed)
    kernel, linear = clone(kernel), clone(linear)
    expected = linear.learn(X, y)
    if isinstance(linear, ALMA):  # it scores rows of norm 1
        expected *= np.linalg.norm(X, axis=1)
    np.testing.assert_allclose(kernel.learn(X, y), expected, rtol=1e-9, atol=1e-10)
    assert kernel.n_mistakes_ == linear.n_mistakes_
    assert kernel.n_updates_ == linear.n_updates_ == kernel.n_support_


@given(seed=seeds)
def test_second_order_perceptron_with_the_linear_kernel(seed):
    """Its score is s (1 + xᵀA⁻¹x) of the linear learner's s, which has the row in the matrix."""
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


def factor_of(model):
    """Return the Cholesky factor that a learner keeps beside its transpose, the diagonal as reciprocals."""
    factor = np.array(model._support.square)
    assert (factor == factor.T).all()
    return np.tril(factor, -1) + np.diag(1.0 / np.diag(factor))


@pytest.mark.parametrize(
    ("kernel", "linear"),
    [
        (KernelAROW(kernel="linear"), AROW(covariance="full")),
        (KernelSecondOrderPerceptron(kernel="linear"), SecondOrderPerceptron(covariance="full")),
    ],
    ids=repr,
)
def test_second_order_learners_stand_rows_of_large_numbers(kernel, linear):
    """(K + I)⁻¹ has no digits left where K is of rank 8 and its values are 1e12; float32 rounds K."""
    X, y = noisy_stream(26, n=400, d=8)
    mistakes = clone(linear).fit(X * 1e6, y).n_mistakes_
    assert clone(kernel).fit(X * 1e6, y).n_mistakes_ == pytest.approx(mistakes, rel=0.1)
    single = clone(kernel).fit((X * 1e6).astype(np.float32), y)
    assert np.isfinite(single.dual_coef_).all()
    assert single.n_mistakes_ < 1.3 * mistakes


@pytest.mark.parametrize("Learner", [KernelSecondOrderPerceptron, KernelAROW])
def test_a_ridge_below_rounding_leaves_the_model_finite(Learner):
    """Rows that occur many times, with either label."""
    X, y = noisy_stream(27, n=40, d=3)[0][np.arange(400) % 40], np.arange(400) // 40 % 2
    for ridge in (1e-9, 1e-15, 1e-300):
        model = Learner(ridge, gamma=0.5).fit(X, y)
        assert np.isfinite(model.dual_coef_).all()
        assert np.abs(model.decision_function(X)).max() < 10.0


@pytest.mark.parametrize("Learner", [DistillCachePerceptron, DistillCacheMIRA])
@given(seed=seeds, beta=st.sampled_from([0.01, 0.2, 1.0]))
def test_no_cached_row_is_redundant(Learner, seed, beta):
    """After any chunk: y_i (f(x_i) - α_i k(x_i, x_i)) < beta."""
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
    """Four rows far from one another and alike: none says anything of the others."""
    X = np.array([[0.0], [100.0], [200.0], [300.0]])
    model = DistillCachePerceptron(budget=2).fit(X, [0, 1, 0, 1])
    assert model.support_.tolist() == [2, 3]


def test_of_two_rows_the_older_is_removed():
    """Two Perceptron rows are exactly as redundant as each other: y_i y_t k(x_i, x_t)."""
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


def test_alma_stays_in_the_unit_ball():
    X, y = noisy_stream(23, n=300)
    model = KernelALMA(gamma=0.1)
    for t in range(0, 300, 20):
        model.learn(X[t : t + 20], y[t : t + 20], classes=[0, 1])
        alpha = model.dual_coef_[0]
        squared = alpha @ rbf_kernel(model.support_vectors_, gamma=0.1) @ alpha
        assert squared == pytest.approx(model._squared_norm)
        assert squared <= 1.0 + 1e-9


@pytest.mark.parametrize(
    "Learner",
    [RandomizedBudgetPerceptron, ShiftingPerceptron, Forgetron, DistillCachePerceptron],
)
@given(seed=seeds, budget=st.integers(1, 40))
def test_budgets_are_filled_and_never_exceeded(Learner, seed, budget):
    X, y = noisy_stream(seed)
    model = Learner(budget=budget, gamma=0.1)
    for t in range(0, len(y), 10):
        model.learn(X[t : t + 10], y[t : t + 10], classes=[0, 1])
        assert model.n_support_ == min(budget, model.n_updates_)
        assert len(set(model.support_.tolist())) == model.n_support_


@pytest.mark.parametrize("Learner", [ShiftingPerceptron, Forgetron])
def test_the_window_holds_the_last_mistakes(Learner):
    X, y = noisy_stream(11, n=400)
    model = Learner(budget=25, gamma=0.1)
    scores = model.learn(X, y)
    mistakes = np.flatnonzero(np.where(y == 1, scores, -scores) <= 0)
    assert model.support_.tolist() == mistakes[-25:].tolist()


@pytest.mark.parametrize("Learner", [RandomizedBudgetPerceptron, ShiftingPerceptron, Forgetron])
@pytest.mark.parametrize("budget", [8, 32])
def test_a_window_keeps_the_budget_that_learning_began_with(Learner, budget):
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
    for model in (RandomizedBudgetPerceptron(500), ShiftingPerceptron(500), Forgetron(500)):
        assert model.set_params(gamma=0.1).learn(X, y).tolist() == expected


def test_random_removals_are_a_matter_of_the_seed():
    X, y = noisy_stream(13, n=400)
    runs = [RandomizedBudgetPerceptron(20, seed, gamma=0.1).fit(X, y) for seed in (3, 3, 4)]
    assert state(runs[0]) == state(runs[1])
    assert runs[0].support_.tolist() != runs[2].support_.tolist()
    # Uniform: each of 20 slots is a fair share of 20,000 draws, to five standard deviations.
    slots = np.bincount(runs[0]._victims.next(20_000), minlength=20)
    assert np.abs(slots - 1000).max() < 5 * np.sqrt(1000)


def test_sparse_storage_of_removed_rows_is_used_again():
    X, y = noisy_stream(14, n=3000, density=0.5)
    model = ShiftingPerceptron(budget=10, gamma=0.1).fit(as_csr(X), y)
    assert model.n_updates_ > 1000
    assert len(model._support._rows._values) <= 1024
    assert (model.support_vectors_.toarray() == X[model.support_]).all()


def test_forgetron_keeps_its_damage_within_the_mistakes():
    X, y = noisy_stream(15, n=600)
    model = Forgetron(budget=10, gamma=0.02)
    for t in range(len(y)):
        model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        assert model._damage <= 15 / 32 * model.n_mistakes_ + 1e-9
    assert (np.abs(model.dual_coef_) <= 1).all()
    assert np.abs(model.dual_coef_).min() < 1


@given(seed=seeds, gamma=st.floats(0.3, 3.0))
def test_projectron_without_tolerance_predicts_as_the_perceptron(seed, gamma):
    X, y = noisy_stream(seed, d=4)
    plain, projecting = KernelPerceptron(gamma=gamma), Projectron(eta=0.0, gamma=gamma)
    expected = plain.learn(X, y)
    np.testing.assert_allclose(projecting.learn(X, y), expected, rtol=1e-6, atol=1e-6)
    assert projecting.n_mistakes_ == plain.n_mistakes_
    assert projecting.n_support_ <= plain.n_support_


@pytest.mark.parametrize(
    ("parameters", "rank"), [({"kernel": "linear"}, 5), ({"kernel": "poly", "degree": 2}, 21)]
)
def test_projectron_needs_no_more_rows_than_the_kernel_has_dimensions(parameters, rank):
    X, y = noisy_stream(16, n=500, d=5)
    plain, projecting = KernelPerceptron(**parameters), Projectron(eta=0.0, **parameters)
    expected = plain.learn(X, y)
    np.testing.assert_allclose(projecting.learn(X, y), expected, rtol=1e-6, atol=1e-6)
    assert projecting.n_support_ == rank < plain.n_support_
    single = Projectron(eta=0.0, **parameters).fit(X.astype(np.float32), y)
    assert single.n_support_ <= rank + 3  # the rounding of float32 may look like a dimension


@given(seed=seeds, eta=st.sampled_from([0.05, 0.2, 0.5]), plus=st.booleans())
def test_projections_equal_a_least_squares_solve(seed, eta, plus):
    X, y = noisy_stream(seed, n=100, d=4)
    model = (ProjectronPlusPlus if plus else Projectron)(eta=eta, gamma=0.2).fit(X, y)
    lower = factor_of(model)
    slots = model._support.matrix(np.arange(model.n_support_))
    K, k = rbf_kernel(slots, gamma=0.2), rbf_kernel(slots, X[:20], gamma=0.2)
    least = np.linalg.lstsq(K, k, rcond=None)[0]
    residual = 1 - (np.linalg.solve(lower, k) ** 2).sum(axis=0)
    np.testing.assert_allclose(residual, 1 - np.einsum("ij,ij->j", k, least), atol=1e-8)
    np.testing.assert_allclose(lower @ lower.T, K, atol=1e-12)


@given(seed=seeds, n=st.integers(1, 40))
def test_both_solves_of_a_projection(seed, n):
    """‖z‖² and K⁻¹k, with whole panels and without; d and δ² of a row that is in the set are e_i and 0."""
    X, y = noisy_stream(seed, n=40, d=4)
    model = Projectron(eta=0.0, gamma=1.0)
    model.learn(X[:n], y[:n], classes=[0, 1])
    inside = model._support.matrix(np.arange(model.n_support_))
    _, walk = model._support.meet(as_rows(inside), len(inside), 0)
    K = rbf_kernel(inside, gamma=1.0)
    for t in range(len(inside)):
        norm, d = solve_both(walk, len(inside), t)
        assert norm == pytest.approx(1.0, abs=1e-9)
        np.testing.assert_allclose(K @ d, K[t], atol=1e-9)
        np.testing.assert_allclose(d, np.eye(len(inside))[t], atol=1e-6)


@numba.njit
def solve_both(walk, n, t):
    z = np.empty((1, walk.alpha.shape[0]))
    return squared_projection(walk, n, t, z), projection(walk, n, z)


@given(seed=seeds, share=st.floats(0.1, 0.9))
def test_mistake_bound_of_theorem_2(seed, share):
    """For any competitor g and eta < (2 - R²)/(2‖g‖), here with R = 1."""
    X, y = noisy_stream(seed, n=120, d=3)
    sign = 2 * y - 1
    random = np.random.RandomState(seed)
    K = rbf_kernel(X, gamma=0.3)
    for scale in (0.1, 1.0):
        weights = scale * sign * random.uniform(size=len(y)) / 5
        norm = np.sqrt(weights @ K @ weights)
        loss = np.maximum(0.0, 1.0 - sign * (K @ weights)).sum()
        eta = share / (2.0 * norm)
        model = Projectron(eta=eta, gamma=0.3).fit(X, y)
        assert model.n_mistakes_ <= (norm**2 + 2 * loss) / (1.0 - 2.0 * eta * norm) + 1e-9


@given(seed=seeds, U=st.floats(0.5, 20.0))
def test_mistake_bound_of_corollary_1(seed, U):
    X, y = noisy_stream(seed, n=120, d=3)
    sign = 2 * y - 1
    K = rbf_kernel(X, gamma=0.3)
    weights = sign * 0.2
    norm = np.sqrt(weights @ K @ weights)
    weights, norm = weights * min(1.0, U / norm), min(norm, U)
    loss = np.maximum(0.0, 1.0 - sign * (K @ weights)).sum()
    model = Projectron(U=U, gamma=0.3).fit(X, y)
    assert model.n_mistakes_ <= 2 * norm**2 + 4 * loss + 1e-9


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_a_norm_bound_needs_kernel_values_within_one(convert):
    X, y = noisy_stream(17, n=20, d=3)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = Projectron(U=3.0, kernel="linear").fit(convert(X), y)
    before = state(model)
    X[11] *= 3
    message = r"U needs k\(x, x\) <= 1, but row 11 \(counted from 0\) has 9; scale the rows, or give eta"
    with pytest.raises(ValueError, match=message):
        model.learn(convert(X), y)
    assert state(model) == before
    with pytest.raises(ValueError, match=r"U needs k\(x, x\) <= 1, but row 11"):
        Projectron(U=3.0, kernel="poly").fit(convert(X), y)
    fresh = Projectron(U=3.0, kernel="linear")
    with pytest.raises(ValueError, match=message):
        fresh.learn(convert(X), y)
    # A stream whose first rows are refused has not begun.
    assert vars(fresh) == vars(Projectron(U=3.0, kernel="linear"))


def test_projectron_plus_plus_grows_on_mistakes_only():
    X, y = noisy_stream(18, n=300, d=3)
    model = ProjectronPlusPlus(eta=0.5, gamma=0.1)
    for t in range(len(y)):
        mistakes, size = (model.n_mistakes_, model.n_support_) if t else (0, 0)
        model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])
        assert model.n_support_ == size or model.n_mistakes_ == mistakes + 1
    assert model.n_updates_ > model.n_mistakes_


def sizes_along(model, X, y):
    """Return the size of the support set before each row, and the signed margins."""
    sizes, margins = [], []
    for t in range(len(y)):
        sizes.append(model.n_support_ if t else 0)
        margins.append((2 * y[t] - 1) * model.learn(X[t : t + 1], y[t : t + 1], classes=[0, 1])[0])
    return np.array(sizes), np.array(margins)


def evaluations_of_removals(model, X, y):
    """Return how many kernel values DistillCache takes that the prediction of the same row did not."""
    K = rbf_kernel(X, gamma=model.gamma) if model.kernel == "rbf" else X @ X.T
    cache, evaluations = {}, 0
    for t, sign in enumerate(2 * y - 1):
        m = sign * sum(a * K[i, t] for i, a in cache.items())
        τ = min(1.0, (model.beta - m) / K[t, t]) if isinstance(model, DistillCacheMIRA) else 1.0
        if m > model.beta or τ <= 0.0:
            continue
        cache[t] = τ * sign
        while cache:
            margins = {
                i: np.sign(a) * sum(cache[j] * K[i, j] for j in cache if j != i) for i, a in cache.items()
            }
            r = max(margins, key=margins.get)
            if len(cache) <= model.budget if model.budget else margins[r] < model.beta:
                break
            del cache[r]
            evaluations += sum(i != t for i in cache) if r != t else 0
    assert list(cache) == model.support_.tolist()
    return evaluations


@every_kernel_learner_but_ramp_svms
def test_kernel_evaluations_are_those_of_an_implementation_on_demand(learner):
    X, y = noisy_stream(19, n=120)
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    model = clone(learner)
    if isinstance(learner, OnlineModelSelection):  # of two models: see test_model_selection
        return
    sizes, margins = sizes_along(model, X, y)
    expected = sizes.sum()
    if isinstance(learner, (KernelPassiveAggressive, ProjectronPlusPlus, KernelAROW)):
        expected += (margins < 1).sum()
    elif isinstance(learner, (Projectron, KernelSecondOrderPerceptron)):
        expected += (margins <= 0).sum()
    elif isinstance(learner, KernelALMA):
        expected += len(y)
    elif isinstance(learner, LASVM):
        expected += model.n_updates_
    elif isinstance(learner, (DistillCachePerceptron, DistillCacheMIRA)):
        if isinstance(learner, DistillCacheMIRA):
            expected += (margins <= learner.beta).sum()
        expected += evaluations_of_removals(model, X, y)
    elif isinstance(learner, IncrementalSVM):
        # Rows that join the margin set take more; how many it is that do, only the loop itself knows.
        expected += (np.arange(1, len(y) + 1) - sizes)[margins < 1].sum()
        assert model.n_kernel_evaluations_ > expected
        return
    elif isinstance(learner, Forgetron):
        expected += sizes[(margins <= 0) & (sizes == learner.budget)].sum()
    assert model.n_kernel_evaluations_ == expected


@pytest.mark.parametrize("sparse", [False, True])
def test_model_bytes(sparse):
    X, y = noisy_stream(20, n=100, d=6)
    model = Forgetron(budget=10, gamma=0.1).fit(as_csr(X.astype(np.float32)) if sparse else X, y)
    rows = 10 * 6 * (4 + 4) + 10 * 8 if sparse else 10 * 6 * 8
    assert model.model_bytes_ == rows + 10 * 8 + 10 * 10 * 8
