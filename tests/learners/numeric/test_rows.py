"""The row primitives, against NumPy and against their documented order of summation."""

import numpy as np
import pytest
import scipy.sparse as sp
from threadpoolctl import threadpool_info

from singlepass.learners import as_rows, ordered_rows, row_range, take_rows
from singlepass.learners.numeric.compiled import compiled
from singlepass.learners.numeric.rows import (
    add_scaled,
    count_rows,
    dot,
    dot_and_weighted_squared_norm,
    in_any_order,
    linear_scores,
    n_rows,
    row,
    rows_to_check,
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


def in_lanes(terms, lanes, accumulators, bits):
    """Sum as the vector code does, one operation at a time."""
    step = lanes * accumulators
    whole = len(terms) // step * step
    whole_lanes = len(terms) // lanes * lanes
    totals = np.zeros((accumulators, lanes))
    for start in range(0, whole, step):
        totals += terms[start : start + step].reshape(accumulators, lanes)
    for start in range(whole, whole_lanes, lanes):
        totals[0] += terms[start : start + lanes]
    vector = dict(enumerate(totals[0] + totals[1]))
    for bit in bits:
        vector = {lane: vector[lane] + vector[lane | 1 << bit] for lane in vector if not lane >> bit & 1}
    total = vector[0]
    for term in terms[whole_lanes:]:
        total += term
    return total


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("d", [1, 2, 4, 7, 8, 9, 15, 16, 17, 31, 32, 33, 64, 100, 784])
def test_sums_are_in_the_order_written_down(d, dtype):
    """Sums agree to the last bit, for any vector width of the machine."""
    random = np.random.RandomState(d)
    X = random.standard_normal((3, d)).astype(dtype)
    w, s = random.standard_normal(d), random.uniform(size=d)
    wide = X.astype(np.float64)
    for rows, order in ((as_rows(X), (16, 2, (1, 2, 3, 0))), (as_rows(sp.csr_matrix(X)), (4, 2, (1, 0)))):
        out = np.empty((3, 5))
        all_sums(rows, w, s, out)
        for i, x in enumerate(wide):
            terms = (w * x, x * x, s * x * x, w * x, s * x * x)
            assert out[i].tolist() == [in_lanes(term, *order) for term in terms]


def test_short_dense_products_are_those_of_numpy():
    """Products agree to the last bit if NumPy's library adds as it does on AVX2, otherwise to rounding."""
    random = np.random.RandomState(0)
    libraries = [library.get("architecture") for library in threadpool_info()]
    for d in range(1, 32):
        X, w = random.standard_normal((50, d)), random.standard_normal(d)
        scores = np.empty(50)
        linear_scores(as_rows(X), w, scores)
        expected = [float(np.dot(w, x)) for x in X]
        if "Haswell" in libraries:
            assert scores.tolist() == expected
        np.testing.assert_allclose(scores, expected, rtol=1e-12, atol=1e-14)


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


def test_functions_for_compiled_code_refuse_calls_from_python():
    with pytest.raises(TypeError, match=r"row\(\) can only be called from compiled code"):
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


@pytest.mark.parametrize(
    ("order", "said"),
    [
        ([0.5], "must be integers, got float64"),
        (np.array([True, False, True]), r"got bool: pass np\.flatnonzero\(mask\)"),
        (np.array([True, False, True], object), r"got bool: pass np\.flatnonzero\(mask\)"),
        (np.array([0, 1.7], object), "must be integers, got float64"),
    ],
)
def test_row_numbers_are_integers(order, said):
    for take in (take_rows, ordered_rows):
        with pytest.raises(IndexError, match=said):
            take(np.eye(3), order)


def test_row_range_of_part_of_a_matrix():
    X = sp.random(30, 8, density=0.3, format="csr", random_state=np.random.RandomState(2))
    part = row_range(row_range(as_rows(X), 5, 25), 3, 9)
    scores, w = np.empty(6), np.arange(8.0)
    linear_scores(part, w, scores)
    np.testing.assert_allclose(scores, X[8:14] @ w, rtol=1e-12)
    assert take_rows(part, [1])[0].tolist() == X[9].data.tolist()


@pytest.mark.parametrize("convert", [np.asarray, sp.csr_matrix])
def test_no_order_and_an_empty_order(convert):
    X, w = np.arange(1.0, 13.0).reshape(6, 2), np.ones(2)
    rows = as_rows(convert(X))
    for given, expected in (
        (in_any_order(rows), X),
        (in_any_order(ordered_rows(rows, [4, 1])), X[[4, 1]]),
        (ordered_rows(rows, []), X[:0]),
        (in_any_order(row_range(ordered_rows(rows, [4, 1]), 1, 1)), X[:0]),
        (in_any_order(row_range(rows, 2, 2)), X[:0]),
    ):
        scores = np.full(6, np.nan)
        linear_scores(given, w, scores)
        assert scores.tolist()[: len(expected)] == (expected @ w).tolist()
        assert np.isnan(scores[len(expected) :]).all()


# Indices of a row with ten features, and whether they are canonical.
ROWS = [
    ([], True),
    ([0], True),
    ([9], True),
    ([10], False),
    ([-1], False),
    ([-1, 3], False),
    ([0, 9], True),
    ([3, 3], False),
    ([4, 2], False),
    ([0, 2**31 - 1, 5], False),
]


@pytest.mark.parametrize(("indices", "good"), ROWS)
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_a_row_that_is_not_canonical_is_refused_and_empty(indices, good, index):
    n = len(indices)
    # Put the row between two good ones.
    columns = np.array([1, 5, *indices, 0, 9], index)
    matrix = sp.csr_matrix(np.zeros((3, 10)))
    matrix.data, matrix.indices = np.ones(n + 4), columns
    matrix.indptr = np.array([0, 2, n + 2, n + 4], index)
    rows, w, scores = rows_to_check(matrix), 2.0 ** np.arange(10), np.empty(3)
    linear_scores(rows, w, scores)
    assert bool(rows[4][0]) is not good
    assert scores.tolist() == [34.0, sum(2.0**j for j in indices) if good else 0.0, 513.0]
    # Rows cut from these report to the same array.
    part = row_range(rows_to_check(matrix), 1, 3)
    assert count_rows(part) == 2
    linear_scores(part, w, scores[:2])
    assert bool(part[4][0]) is not good


@pytest.mark.parametrize("indptr", [[0, 5, 4], [0, -1, 4], [-1, 4, 4], [0, 4, 5], [0, 4, 2**31 - 1]])
def test_rows_outside_the_indices_are_refused(indptr):
    matrix = sp.csr_matrix(np.ones((2, 2)))
    matrix.indptr = np.array(indptr, np.int32)
    rows, scores = rows_to_check(matrix), np.empty(2)
    linear_scores(rows, np.ones(2), scores)
    assert rows[4][0]


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 18, 31, 32, 33, 48, 49, 50, 100])
def test_a_fall_is_seen_wherever_it_is(n):
    scores = np.empty(1)
    columns = 2 * np.arange(n, dtype=np.int32)
    rows = rows_to_check(sp.csr_matrix((np.ones(n), columns, [0, n]), (1, 200)))
    linear_scores(rows, np.ones(200), scores)
    assert not rows[4][0]
    for k in range(1, n):
        for index in (columns[k - 1], columns[k - 1] - 1):
            bad = columns.copy()
            bad[k] = index
            rows = rows_to_check(sp.csr_matrix((np.ones(n), bad, [0, n]), (1, 200)))
            linear_scores(rows, np.ones(200), scores)
            assert rows[4][0], k
            assert scores[0] == 0.0


@pytest.mark.parametrize("n", [1, 3, 4, 6, 15, 16, 17, 40])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_features_that_are_not_there_are_seen_in_rows_of_any_length(n, index):
    for first, n_features, good in ((0, n, True), (0, n - 1, False), (-1, n, False), (1, n, False)):
        matrix = sp.csr_matrix((1, n_features))
        matrix.data, matrix.indices = np.ones(n), np.arange(first, first + n, dtype=index)
        matrix.indptr = np.array([0, n], index)
        rows, scores = rows_to_check(matrix), np.empty(1)
        linear_scores(rows, np.ones(n_features), scores)
        assert bool(rows[4][0]) is not good
        assert scores[0] == (n if good else 0.0)


@pytest.mark.parametrize(
    ("given", "name"),
    [(sp.csc_matrix(np.eye(2)), "a sparse matrix of format 'csc'"), ([[1.0]], "list"), (None, "NoneType")],
)
def test_what_is_no_matrix_is_refused_in_one_line(given, name):
    message = f"^rows must be a NumPy array or a CSR matrix, got {name}$"
    for call in (as_rows, lambda X: ordered_rows(X, [0]), lambda X: take_rows(X, [0])):
        with pytest.raises(TypeError, match=message):
            call(given)
