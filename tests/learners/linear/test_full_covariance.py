"""A full Σ: a base matrix of which one half is read, and the latest updates, stored separately."""

import copy
import pickle

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone

from singlepass.learners import AROW, NAROW, ConfidenceWeighted, SecondOrderPerceptron
from singlepass.learners.linear.parts.covariance import is_usable
from singlepass.learners.linear.parts.full_covariance import (
    MOST_TERMS,
    full_matrix,
    new_full_covariance,
    subtract_outer,
    variance_of_difference,
    variance_of_row,
)
from singlepass.learners.numeric.rows import as_rows, n_rows, row

from ..streams import LEARNERS, OF_MANY_CLASSES, as_csr, noisy_classes, noisy_stream, state

pytestmark = pytest.mark.slow

FULL = [learner for learner in LEARNERS if getattr(learner, "covariance", "") == "full"]
FULL_OF_MANY_CLASSES = [
    learner for learner in OF_MANY_CLASSES if getattr(learner, "covariance", "") == "full"
]
seeds = st.integers(0, 2**31 - 1)


@numba.njit(error_model="numpy")
def shrink(X, sigma, buffer, r, variances):
    """Shrink Σ along every row as AROW does."""
    for t in range(n_rows(X)):
        v = variance_of_row(sigma, row(X, t), buffer)
        if is_usable(v):
            subtract_outer(sigma, buffer, 1.0 / (v + r))
        variances[t] = v


@numba.njit(error_model="numpy")
def shrink_along_differences(X, sigma, buffer, y, z, variances):
    for t in range(n_rows(X)):
        v = variance_of_difference(sigma, row(X, t), y[t], z[t], buffer)
        subtract_outer(sigma, buffer, 1.0 / (v + 1.0))
        variances[t] = v


def shrunk(X, r=1.0, scale=1.0):
    """Return the variance of each row before it is learnt, and the array of Σ."""
    rows, variances = as_rows(X), np.empty(X.shape[0])
    sigma, buffer = new_full_covariance(X.shape[1], scale)
    shrink(rows, sigma, np.full_like(buffer, np.nan), r, variances)
    return variances, sigma


def shrunk_by_numpy(X, r=1.0, scale=1.0):
    sigma, variances = scale * np.eye(X.shape[1]), []
    for x in X:
        s = sigma @ x
        variances.append(x @ s)
        sigma -= np.outer(s, s) / (x @ s + r)
    return np.array(variances), sigma


@given(
    seed=seeds,
    # Sizes near whole blocks, and near the number of updates that are subtracted together.
    d=st.one_of(st.integers(1, 40), st.sampled_from([63, 64, 65, 123, 130])),
    n=st.one_of(st.integers(0, 40), st.sampled_from([MOST_TERMS - 1, MOST_TERMS, 2 * MOST_TERMS + 1])),
    density=st.sampled_from([0.02, 0.2, 0.45, 0.55, 1.0]),
    scale=st.sampled_from([1.0, 0.01, 1e6]),
)
def test_it_equals_the_textbook_matrix(seed, d, n, density, scale):
    X, _ = noisy_stream(seed, n=n, d=d, density=density)
    variances, sigma = shrunk(X, 0.5, scale)
    expected, matrix = shrunk_by_numpy(X, 0.5, scale)
    np.testing.assert_allclose(variances, expected, rtol=1e-8, atol=1e-9 * scale)
    np.testing.assert_allclose(full_matrix(sigma), matrix, rtol=0, atol=1e-11 * scale)


@given(
    seed=seeds,
    d=st.integers(1, 70),
    n=st.integers(1, 3 * MOST_TERMS),
    density=st.sampled_from([0.05, 0.3, 0.5, 0.9]),
    single=st.booleans(),
)
def test_dense_and_sparse_agree_to_the_last_bit(seed, d, n, density, single):
    X, _ = noisy_stream(seed, n=n, d=d, density=density)
    X = X.astype(np.float32) if single else X
    # A CSR row may store a 0; a dense row may contain -0.
    stored = as_csr(X + (np.arange(X.size).reshape(X.shape) % 7 == 0))
    stored.data -= (np.flatnonzero(stored.toarray()) % 7 == 0).astype(X.dtype)
    dense = stored.toarray()
    variances, sigma = shrunk(np.where(dense == 0.0, -0.0, dense).astype(X.dtype))
    of_csr, sigma_of_csr = shrunk(stored)
    assert of_csr.tolist() == variances.tolist()
    assert sigma_of_csr.tolist() == sigma.tolist()


@given(seed=seeds, d=st.integers(1, 20), K=st.integers(2, 6), density=st.sampled_from([0.1, 0.5, 1.0]))
def test_dense_and_sparse_agree_along_differences_of_blocks(seed, d, K, density):
    X, _ = noisy_stream(seed, n=40, d=d, density=density)
    random = np.random.RandomState(seed)
    y = random.randint(0, K, len(X))
    z = (y + random.randint(1, K, len(X))) % K
    outcomes = []
    for rows in (as_rows(X), as_rows(as_csr(X))):
        variances = np.empty(len(X))
        sigma, buffer = new_full_covariance(d, 1.0, K)
        shrink_along_differences(rows, sigma, buffer, y, z, variances)
        outcomes.append((variances.tolist(), sigma.tolist()))
    assert outcomes[0] == outcomes[1]
    differences = np.zeros((len(X), K, d))
    differences[np.arange(len(X)), y] = X
    differences[np.arange(len(X)), z] = -X
    expected, matrix = shrunk_by_numpy(differences.reshape(len(X), -1))
    np.testing.assert_allclose(outcomes[0][0], expected, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(full_matrix(sigma), matrix, rtol=0, atol=1e-11)


@pytest.mark.parametrize("learner", FULL, ids=repr)
@pytest.mark.parametrize("convert", [np.asarray, as_csr])
@given(seed=seeds, size=st.integers(1, 50))
def test_a_model_continues_in_the_middle_of_stored_updates(learner, convert, seed, size):
    """Chunks of any size, with reads, pickles and copies between them, give the same result."""
    X, y = noisy_stream(seed, n=120, d=11, density=0.7)
    X = convert(X)
    whole, cut = clone(learner), clone(learner)
    scores = whole.learn(X, y, classes=[0, 1])
    for n, start in enumerate(range(0, len(y), size)):
        part = slice(start, start + size)
        assert cut.learn(X[part], y[part], classes=[0, 1]).tolist() == scores[part].tolist()
        before = state(cut)
        sigma = cut.sigma_
        sigma[:] = np.nan  # a copy
        assert state(cut) == before
        cut = (copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model)))[n % 2](cut)
    assert state(cut) == state(whole)
    assert cut.sigma_.tolist() == whole.sigma_.tolist()


@pytest.mark.parametrize("learner", FULL_OF_MANY_CLASSES, ids=repr)
@given(seed=seeds, size=st.integers(1, 50))
def test_a_model_of_many_classes_continues_too(learner, seed, size):
    X, y = noisy_classes(seed, n=100)
    whole, cut = clone(learner), clone(learner)
    scores = whole.learn(X, y, classes=range(5))
    for start in range(0, len(y), size):
        part = slice(start, start + size)
        assert cut.learn(X[part], y[part], classes=range(5)).tolist() == scores[part].tolist()
        cut = pickle.loads(pickle.dumps(cut))
        assert (cut.sigma_ == cut.sigma_.T).all()
    assert state(cut) == state(whole)


@pytest.mark.parametrize("learner", FULL, ids=repr)
@pytest.mark.parametrize("n", [5, 16, 40, 300])
def test_it_stays_symmetric_and_positive(learner, n):
    X, y = noisy_stream(4, n=n, d=37, density=0.5)
    sigma = clone(learner).partial_fit(X, y, [0, 1]).sigma_
    assert (sigma == sigma.T).all()
    assert np.linalg.eigvalsh(sigma).min() > 0.0


@pytest.mark.parametrize("r", [1e-14, 1e-6, 1.0, 1e15])
@pytest.mark.parametrize("d", [3, 20])
def test_the_same_row_again_and_again(r, d):
    """v falls as 1/t; below the rounding error of ``‖x‖²`` it may have any value of that size and sign."""
    x = np.random.RandomState(d).standard_normal(d)
    variances, sigma = shrunk(np.tile(x, (200, 1)), r)
    v = x @ x
    np.testing.assert_allclose(variances, v / (1 + v * np.arange(200) / r), rtol=1e-6, atol=1e-14 * v)
    matrix = full_matrix(sigma)
    assert (matrix == matrix.T).all()
    assert np.linalg.eigvalsh(matrix).min() > -1e-13
    # If Σ has collapsed, nothing is learnt from the row.
    model = AROW(r=r, covariance="full")
    model.learn(np.tile(x, (200, 1)), np.arange(200) % 2)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(model.sigma_).all()


@pytest.mark.parametrize("length", [1e-150, 1e-20, 1e20, 1e150])
def test_lengths_whose_squares_are_near_the_limits(length):
    """Long rows make Σ collapse: the remaining variance is the rounding error of ``‖x‖²``."""
    X, _ = noisy_stream(12, n=50, d=9)
    variances, sigma = shrunk(length * X)
    matrix = full_matrix(sigma)
    assert (np.isfinite(variances) & (variances > -1e-10 * length**2)).all()
    assert (matrix == matrix.T).all()
    assert np.linalg.eigvalsh(matrix).min() > -1e-10


@pytest.mark.parametrize("Learner", [NAROW, SecondOrderPerceptron])
def test_predicting_keeps_stored_updates(Learner):
    X, y = noisy_stream(3, n=90, d=30)
    model = Learner(covariance="full").fit(X[:41], y[:41])
    before, beforehand = state(model), model.decision_function(X[41:42])
    assert state(model) == before
    assert model.learn(X[41:42], y[41:42]).tolist() == beforehand.tolist()
    # Scores by the public weights have the sign of the scores.
    rows = X[42:]
    assert (np.sign(model.decision_function(rows)) == np.sign(rows @ model.coef_[0])).all()


def test_features_that_never_occur_keep_their_variances():
    X, y = noisy_stream(6, n=100, d=60, density=0.5)
    X[:, 20:45] = 0.0
    sigma = ConfidenceWeighted(covariance="full").fit(X, y).sigma_
    assert (sigma[20:45] == np.eye(60)[20:45]).all()
    assert (np.diag(sigma)[:20] < 1.0).all()
