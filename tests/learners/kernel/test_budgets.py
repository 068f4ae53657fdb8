"""Gradient learners on a budget: memory, blocks and chunks of any size; bad parameters are refused."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from singlepass.learners import BOGD, BPAS, BSGD, FOGD, NOGD
from singlepass.learners.kernel.nogd import eigenpairs

from ..streams import as_csr, noisy_classes, noisy_stream, state

pytestmark = pytest.mark.slow

seeds = st.integers(0, 2**31 - 1)
ON_A_BUDGET = [BOGD, BPAS, BSGD, NOGD]


@pytest.mark.parametrize("Learner", ON_A_BUDGET)
def test_a_budget_that_is_never_filled_takes_no_memory(Learner):
    X, y = noisy_stream(3, n=60)
    model = Learner(10**6, gamma=0.1).fit(X, y)
    assert model.n_support_ == model.n_updates_
    assert sum(each.size for each in vars(model).values() if isinstance(each, np.ndarray)) < 10**7


def test_removals_are_a_matter_of_the_seed():
    X, y = noisy_stream(13, n=400)
    runs = [BOGD(20, random_state=seed, gamma=0.1).fit(X, y) for seed in (3, 3, 4)]
    assert state(runs[0]) == state(runs[1])
    assert runs[0].support_.tolist() != runs[2].support_.tolist()


def test_coefficients_are_clipped():
    X, y = noisy_stream(14, n=400)
    for projection in ("clip", "scale"):
        model = BOGD(10, eta=0.2, gamma_max=2.0, projection=projection, gamma=0.1).fit(X, y)
        assert np.abs(model.dual_coef_).max() <= 0.4 * (1 + 1e-12)


def test_of_rows_alike_the_oldest_is_removed():
    """With the rbf kernel all coefficients of BSGD are equal in size, so it removes the oldest row."""
    X, y = noisy_stream(15, n=300)
    model = BSGD(budget=15, maintenance="removal", gamma=0.1)
    margins = (2 * y - 1) * model.learn(X, y)
    assert model.support_.tolist() == np.flatnonzero(margins < 1)[-15:].tolist()


def test_a_small_new_row_is_not_kept():
    """If k(x, x) differs between rows, removing the new row may cost least."""
    X = np.array([[10.0], [10.0], [0.001]])
    model = BSGD(budget=2, lam=1.0, maintenance="removal", kernel="linear").fit(X, [1, 0, 0])
    assert (model.support_.tolist(), model.n_updates_) == ([0, 1], 3)


@pytest.mark.parametrize("convert", [np.asarray, as_csr])
def test_merged_vectors_are_kept_and_score(convert):
    X, y = noisy_stream(16, n=300, density=0.5)
    model = BSGD(budget=12, gamma=0.1).fit(convert(X), y)
    kept = model.support_vectors_
    assert isinstance(kept, np.ndarray)
    assert not (kept == X[model.support_]).all(axis=1).any()
    expected = rbf_kernel(X, kept, gamma=0.1) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(convert(X)), expected, atol=1e-9)
    # A merged vector lies between two rows, so within the range of all.
    assert (kept >= X.min(axis=0) - 1e-12).all()
    assert (kept <= X.max(axis=0) + 1e-12).all()


def test_rows_at_one_place_merge_without_a_loss():
    X = np.repeat([[0.0], [5.0]], 4, axis=0)[[0, 4, 1, 5, 2, 6, 3, 7]]
    y = np.arange(8) % 2
    merged, all_of_them = BSGD(budget=2, gamma=1.0), BSGD(budget=50, gamma=1.0)
    np.testing.assert_allclose(merged.learn(X, y), all_of_them.learn(X, y), rtol=1e-12)
    assert merged.support_vectors_.tolist() == [[0.0], [5.0]]


def test_a_row_without_a_partner_is_dropped():
    """Of two rows of one class and one of the other, the latter is the oldest and cannot be merged."""
    X = np.array([[0.0], [50.0], [100.0]])
    model = BSGD(budget=2, gamma=1.0).fit(X, [0, 1, 1])
    assert model.support_.tolist() == [1, 2]
    assert model.support_vectors_.tolist() == [[50.0], [100.0]]


def test_kernel_evaluations_of_mergers():
    """A merger evaluates row p with the others of its sign, except the new row."""
    X, y = np.arange(5.0).reshape(-1, 1) * 50, [1, 1, 1, 1, 0]
    predictions = 0 + 1 + 2 + 3 + 3
    for maintenance, taken in (("removal", 0), ("merging", 2 + 2)):
        model = BSGD(budget=3, gamma=1.0, maintenance=maintenance).fit(X, y)
        assert model.n_kernel_evaluations_ == predictions + taken


def test_nogd_of_full_rank_forgets_nothing_at_the_switch():
    """The features span the whole support set, so the function does not change."""
    X, y = noisy_stream(17, n=300)
    growing = NOGD(300, gamma=0.1)
    growing.learn(X, y)
    last = growing.support_[19] + 1
    full, larger = (NOGD(budget, 20, gamma=0.1).fit(X[:last], y[:last]) for budget in (20, 300))
    assert full.support_.tolist() == larger.support_.tolist()
    np.testing.assert_allclose(full.dual_coef_, larger.dual_coef_, rtol=0, atol=1e-9)
    full.learn(X[last:], y[last:])
    assert full.support_.tolist() == larger.support_.tolist()


@pytest.mark.parametrize("rank", [1, 4, 12])
def test_nogd_has_the_features_of_the_largest_eigenvalues(rank):
    X, y = noisy_stream(18, n=200)
    model = NOGD(12, rank, gamma=0.1).fit(X, y)
    K = rbf_kernel(model.support_vectors_, gamma=0.1)
    E = np.linalg.eigvalsh(K)[::-1][:rank]
    # Features of the support vectors: Z Zᵀ = V E Vᵀ, Zᵀ Z = E.
    Z = K @ model._F.T
    np.testing.assert_allclose(Z.T @ Z, np.diag(E), atol=1e-9)


@given(seed=seeds, n=st.integers(1, 40), rank=st.integers(0, 40))
def test_eigenpairs(seed, n, rank):
    """Test matrices of any rank, including 0, with large and small values."""
    random = np.random.RandomState(seed)
    A = random.standard_normal((n, rank)) * 10.0 ** random.randint(-100, 100)
    A = A @ A.T
    E, V = eigenpairs(A)
    largest = np.abs(A).max()
    np.testing.assert_allclose(V @ V.T, np.eye(n), atol=1e-12)
    np.testing.assert_allclose((V.T * E) @ V, A, rtol=0, atol=1e-12 * n * largest)
    assert (np.diff(E) <= 0).all()


@given(
    seed=seeds,
    rows=st.sampled_from([1, 5, 32, 200]),
    cuts=st.lists(st.integers(1, 149), max_size=4),
    sparse=st.booleans(),
    dtype=st.sampled_from([np.float32, np.float64]),
)
def test_blocks_chunks_and_storage_change_nothing_of_fogd(seed, rows, cuts, sparse, dtype):
    X, y = noisy_stream(seed, density=0.7)
    X = X.astype(dtype)
    usual, other = FOGD(D=70, gamma=0.1), FOGD(D=70, gamma=0.1)
    scores = usual.learn(X, y, classes=[0, 1])
    other._block_rows = rows
    edges = [0, *sorted(set(cuts)), len(y)]
    Z = as_csr(X) if sparse else X
    parts = [other.learn(Z[a:b], y[a:b], classes=[0, 1]) for a, b in itertools.pairwise(edges)]
    assert np.concatenate(parts).tolist() == scores.tolist()
    assert state(other) == state(usual)
    assert other.decision_function(Z).tolist() == usual.decision_function(X).tolist()


def test_rows_of_another_kind_are_converted_by_fogd():
    X, y = noisy_stream(1, density=0.5)
    X = X.astype(np.float32)
    kinds = [as_csr(X), X, as_csr(X).astype(np.float64), X.astype(np.float64)]
    for first in kinds:
        mixed, plain = FOGD(D=20), FOGD(D=20)
        plain.learn(first, y)
        for k, (a, b) in enumerate([(0, 40), (40, 80), (80, 120), (120, 150)]):
            mixed.learn((kinds[k] if k else first)[a:b], y[a:b], classes=[0, 1])
        assert state(mixed) == state(plain)


def test_inner_products_of_features_are_the_kernel():
    X, _ = noisy_stream(19, n=20, d=5)
    model = FOGD(D=20_000, gamma=0.1)
    model.begin(np.array([0, 1]), 5)
    U = model.frequencies_
    Z = np.hstack([np.cos(X @ U.T), np.sin(X @ U.T)]) / np.sqrt(len(U))
    # The tolerance is five standard deviations of a mean of D cosines.
    np.testing.assert_allclose(Z @ Z.T, rbf_kernel(X, gamma=0.1), atol=5 * np.sqrt(0.5 / 20_000))


def test_before_and_after_the_first_row_of_fogd():
    model = FOGD(D=7)
    model.begin(np.array([0, 1]), 3)
    assert model.score_rows(np.ones((2, 3))).tolist() == [0.0, 0.0]
    assert (model.coef_.tolist(), model.model_bytes_) == ([[0.0] * 14], 0)
    model.learn_rows(np.ones((1, 3), np.float32), np.array([1]))
    assert model.score_rows(np.ones((1, 3), np.float32)) == pytest.approx(1.0, rel=1e-6)
    assert (model.frequencies_.shape, model.model_bytes_) == ((7, 3), 7 * 3 * 4 + 14 * 8)


@pytest.mark.parametrize("Learner", [*ON_A_BUDGET, FOGD])
def test_more_than_two_classes_are_refused_in_one_line(Learner):
    X, y = noisy_classes(1)
    with pytest.raises(ValueError, match=rf"Only binary .* {Learner.__name__} was given 5 classes\.$"):
        Learner().fit(X, y)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (BOGD(1), "BOGD: budget must be an integer >= 2, got 1"),
        (BPAS(1.5), "BPAS: budget must be an integer >= 2, got 1.5"),
        (BOGD(eta=10.0, lam=0.1), r"BOGD: eta \* lam must be < 1, got 10.0 \* 0.1 = 1$"),
        (BOGD(projection="none"), "BOGD: projection must be one of 'clip', 'scale', got 'none'"),
        (
            BSGD(kernel="poly"),
            "BSGD: maintenance='merging' takes kernel='rbf', got 'poly'; 'removal' takes any",
        ),
        (BSGD(maintenance="projection"), "BSGD: maintenance must be one of 'merging', 'removal', got"),
        (NOGD(10, 11), "NOGD: rank must be <= budget, got 11 > 10"),
        (NOGD(rank=0), "NOGD: rank must be an integer >= 1 or None, got 0"),
        (FOGD(D=0), "FOGD: D must be an integer >= 1, got 0"),
        (FOGD(D=10**9), r"FOGD: 1000000000 frequencies of 12 features are 89.4 GiB, the limit is 4 GiB"),
    ],
    ids=str,
)
def test_parameters_that_make_no_sense(learner, message):
    X, y = noisy_stream(1)
    with pytest.raises(ValueError, match=message):
        learner.fit(X, y)


def test_a_budget_that_is_never_reached_changes_nothing():
    X, y = noisy_stream(12)
    for model in (BOGD(500, projection="clip"), BPAS(500), BSGD(500), NOGD(500)):
        larger = clone(model).set_params(budget=600, gamma=0.1)
        expected = larger.learn(X, y).tolist()
        assert model.set_params(gamma=0.1).learn(X, y).tolist() == expected
