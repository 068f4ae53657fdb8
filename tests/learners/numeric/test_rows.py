"""The row primitives, against NumPy and against their written-down order of summation."""

import numpy as np
import pytest
import scipy.sparse as sp

from singlepass.learners import as_rows, row_range, take_rows
from singlepass.learners.numeric.compiled import compiled
from singlepass.learners.numeric.rows import (
    add_scaled,
    dot,
    dot_and_weighted_squared_norm,
    linear_scores,
    n_rows,
    row,
    squared_norm,
    weighted_squared_norm,
)


@compiled
def all_sums(X, w, s, out):
    for i in range(n_rows(X)):
        x = row(X, i)
        out[i, 0] = dot(w, x)
        out[i, 1] = squared_norm(x)
        out[i, 2] = weighted_squared_norm(s, x)
        out[i, 3], out[i, 4] = dot_and_weighted_squared_norm(w, s, x)


@compiled
def accumulate(X, w):
    for i in range(n_rows(X)):
        add_scaled(w, 0.5, row(X, i))


def in_lanes(terms, lanes, accumulators):
    """Sum as the vector code does, one operation at a time."""
    step = lanes * accumulators
    whole = len(terms) // step * step
    whole_lanes = len(terms) // lanes * lanes
    totals = np.zeros((accumulators, lanes))
    for start in range(0, whole, step):
        totals += terms[start : start + step].reshape(accumulators, lanes)
    for start in range(whole, whole_lanes, lanes):
        totals[0] += terms[start : start + lanes]
    vector = totals[0] + totals[1]
    while len(vector) > 1:
        half = len(vector) // 2
        vector = vector[:half] + vector[half:]
    total = vector[0]
    for term in terms[whole_lanes:]:
        total += term
    return total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 784])
def test_sums_are_in_the_order_written_down(d, dtype):
    """To the last bit, whatever the vector width of this machine."""
    random = np.random.RandomState(d)
    X = random.standard_normal((3, d)).astype(dtype)
    w, s = random.standard_normal(d), random.uniform(size=d)
    wide = X.astype(np.float64)
    for rows, order in ((as_rows(X), (16, 2)), (as_rows(sp.csr_matrix(X)), (4, 2))):
        out = np.empty((3, 5))
        all_sums(rows, w, s, out)
        for i, x in enumerate(wide):
            terms = (w * x, x * x, s * x * x, w * x, s * x * x)
            assert out[i].tolist() == [in_lanes(term, *order) for term in terms]


def test_sparse_rows_touch_only_their_features():
    random = np.random.RandomState(0)
    X = sp.random(20, 1000, density=0.02, format="csr", random_state=random)
    w = random.standard_normal(1000)
    scores = np.empty(20)
    linear_scores(as_rows(X), w, scores)
    np.testing.assert_allclose(scores, X @ w, rtol=1e-12)
    total = np.zeros(1000)
    accumulate(as_rows(X), total)
    np.testing.assert_allclose(total, 0.5 * np.asarray(X.sum(axis=0))[0], rtol=1e-12)


def test_primitives_say_that_they_are_for_kernels():
    with pytest.raises(TypeError, match=r"row\(\) is compiled into kernels"):
        row(np.zeros((1, 1)), 0)


def test_as_rows_is_read_only_and_copies_nothing():
    X = np.zeros((3, 2))
    rows = as_rows(X)
    assert rows.base is X
    assert not rows.flags.writeable
    assert X.flags.writeable
    matrix = sp.csr_matrix(np.eye(3))
    data, indices, indptr = as_rows(matrix)
    assert np.shares_memory(data, matrix.data)
    assert not any(array.flags.writeable for array in (data, indices, indptr))
    assert as_rows((data, indices, indptr))[0] is data


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_take_rows(dtype):
    random = np.random.RandomState(1)
    X = (random.standard_normal((50, 9)) * (random.uniform(size=(50, 9)) < 0.3)).astype(dtype)
    order = random.randint(0, 50, 70)
    dense = take_rows(X, order)
    assert dense.dtype == dtype
    assert dense.flags.c_contiguous
    assert dense.tolist() == X[order].tolist()
    for kind in (sp.csr_matrix, sp.csr_array):
        taken = take_rows(kind(X), order)
        assert type(taken) is kind
        assert taken.dtype == dtype
        assert taken.toarray().tolist() == X[order].tolist()
    data, indices, indptr = take_rows(as_rows(sp.csr_matrix(X)), order)
    assert sp.csr_matrix((data, indices, indptr), shape=(70, 9)).toarray().tolist() == X[order].tolist()
    assert take_rows(X, []).shape == (0, 9)


@pytest.mark.parametrize("order", [[0, 3], [-1]])
def test_take_rows_checks_bounds(order):
    for X in (np.eye(3), sp.csr_matrix(np.eye(3))):
        with pytest.raises(IndexError, match="row numbers must be 0 to 2"):
            take_rows(X, order)


def test_row_range_of_part_of_a_matrix():
    X = sp.random(30, 8, density=0.3, format="csr", random_state=np.random.RandomState(2))
    part = row_range(row_range(as_rows(X), 5, 25), 3, 9)
    scores, w = np.empty(6), np.arange(8.0)
    linear_scores(part, w, scores)
    np.testing.assert_allclose(scores, X[8:14] @ w, rtol=1e-12)
    assert take_rows(part, [1])[0].tolist() == X[9].data.tolist()
