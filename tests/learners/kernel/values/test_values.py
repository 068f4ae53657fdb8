"""Kernel values are right, and independent of the way they are computed."""

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics.pairwise import pairwise_kernels

from singlepass.learners import KernelPerceptron, as_rows
from singlepass.learners.kernel.support.support_set import SupportSet
from singlepass.learners.kernel.values import products
from singlepass.learners.kernel.values.functions import (
    KERNELS,
    apply_kernel,
    apply_to_row,
    function_in_loops,
    own_values,
)
from singlepass.learners.kernel.values.row_storage import SparseRows, aligned

from ...streams import as_csr

seeds = st.integers(0, 2**31 - 1)
both_precisions = pytest.mark.parametrize("dtype", [np.float32, np.float64])


def rows_of(seed, n, d, dtype, density=1.0):
    random = np.random.RandomState(seed)
    return (random.standard_normal((n, d)) * (random.uniform(size=(n, d)) < density)).astype(dtype)


def values(function, vectors, rows, sparse=False):
    """Return the kernel values of rows with support vectors, computed as in learners."""
    convert = as_csr if sparse else np.asarray
    support = SupportSet(function, vectors.shape[1], vectors.dtype, sparse)
    view = support.open_block(as_rows(convert(vectors)), len(vectors), 0)
    view.origin[: len(vectors)] = -1 - np.arange(len(vectors))
    support.commit(len(vectors))
    room = support.room(len(rows))
    support._fill(as_rows(convert(rows)), len(rows), room)
    return room.values[: len(rows), : len(vectors)]


@both_precisions
@pytest.mark.parametrize(
    "function",
    [("rbf", 0.3, 0.0, 1), ("poly", 0.5, 1.0, 3), ("poly", 2.0, -0.5, 1), ("linear", 1.0, 0.0, 1)],
)
def test_values_are_those_of_scikit_learn(dtype, function):
    Z, X = rows_of(0, 29, 21, dtype), rows_of(1, 17, 21, dtype)
    name, gamma, coef0, degree = function
    parameters = {"rbf": {"gamma": gamma}, "poly": {"gamma": gamma, "coef0": coef0, "degree": degree}}
    wide = X.astype(np.float64), Z.astype(np.float64)
    expected = pairwise_kernels(*wide, metric=name, **parameters.get(name, {}))
    tolerance = 1e-12 if dtype is np.float64 else 2e-5
    np.testing.assert_allclose(
        values(function, Z, X), expected, rtol=tolerance, atol=tolerance * np.abs(expected).max()
    )


# The kernels of two rows, as the docstring of `KernelClassifier` defines them.
FORMULAS = {
    "rbf": lambda x, z: np.exp(-0.3 * np.square(x - z).sum()),
    "poly": lambda x, z: (0.3 * (x @ z) + 0.5) ** 2,
    "linear": lambda x, z: x @ z,
}


@pytest.mark.parametrize("kernel", KERNELS)
def test_each_kernel_has_its_own_functions(kernel):
    assert kernel in FORMULAS, f"add the kernel {kernel!r} to FORMULAS, and to each function of functions.py"
    function, X = (kernel, 0.3, 0.5, 2), rows_of(8, 5, 7, np.float64)
    in_loops = function_in_loops(function, X.dtype)
    expected = np.array([[FORMULAS[kernel](x, z) for z in X] for x in X])
    products, norms, own = X @ X.T, np.square(X).sum(axis=1), np.empty(5)
    row = products[1].copy()
    numba.njit(lambda *given: apply_to_row(*given))(in_loops, row, norms[1], norms)
    own_values(in_loops, norms, own)
    apply_kernel(function, products, 5, 5, norms, norms)
    np.testing.assert_allclose(row, expected[1])
    np.testing.assert_allclose(own, np.diag(expected))
    np.testing.assert_allclose(products, expected)


@both_precisions
@given(seed=seeds, n=st.integers(1, 40), m=st.integers(1, 40), d=st.integers(1, 70))
def test_a_value_depends_on_its_two_rows_alone(dtype, seed, n, m, d):
    """It does not depend on the number of rows, their positions, or dense or CSR storage."""
    Z, X = rows_of(seed, n, d, dtype, 0.6), rows_of(seed + 1, m, d, dtype, 0.6)
    function = "linear", 1.0, 0.0, 1
    together = values(function, Z, X)
    assert (values(function, Z, X, sparse=True) == together).all()
    assert values(function, X, Z).T.tolist() == together.tolist()
    random = np.random.RandomState(seed)
    for _ in range(3):
        i, j = random.randint(m), random.randint(n)
        assert values(function, Z[j : j + 1], X[i : i + 1])[0, 0] == together[i, j]


@pytest.mark.slow
@both_precisions
@pytest.mark.parametrize("shape", [(1, 1), (2, 3), (4, 4), (3, 2)])
def test_the_tile_does_not_matter(dtype, shape, monkeypatch):
    A, B = rows_of(2, 12, 48, dtype), rows_of(3, 24, 48, dtype)
    expected, out = np.empty((12, 24), dtype), np.empty((12, 24), dtype)
    products.dense_products(A, 12, B, 24, expected, A[:0])
    monkeypatch.setattr(products, "TILE_ROWS", shape[0])
    monkeypatch.setattr(products, "TILE_COLUMNS", shape[1])
    numba.njit(products.dense_products.py_func)(A, 12, B, 24, out, A[:0])  # compiled again, for this shape
    assert out.tolist() == expected.tolist()


@both_precisions
def test_the_order_of_the_sum_is_the_documented_one(dtype):
    """Lane l takes features l, l + L, …; lanes are folded upper half onto lower half."""
    lanes = products.LANES[np.dtype(dtype).itemsize]
    a, b = rows_of(4, 1, 3 * lanes, dtype)[0], rows_of(5, 1, 3 * lanes, dtype)[0]
    # Products and sums of integers are exact, so only the order of additions to a huge lane matters.
    a, b = np.round(a * 8), np.round(b * 8)
    a[0], b[0] = 2.0**30, 2.0**30 if dtype is np.float64 else 2.0**10
    total = np.zeros(lanes, dtype)
    for k in range(0, len(a), lanes):
        total += a[k : k + lanes] * b[k : k + lanes]
    while len(total) > 1:
        total = total[: len(total) // 2] + total[len(total) // 2 :]
    assert values(("linear", 1.0, 0.0, 1), b.reshape(1, -1), a.reshape(1, -1))[0, 0] == total[0]


@both_precisions
@pytest.mark.parametrize("make", [np.empty, np.zeros])
def test_rows_start_at_cache_lines(dtype, make):
    for n in (1, 12, 5000):
        rows = aligned((n, 48), dtype, make)
        assert rows.ctypes.data % 64 == 0
        assert (rows.shape, rows.dtype, rows.flags.c_contiguous) == ((n, 48), dtype, True)
        assert make is np.empty or not rows.any()


@both_precisions
def test_exponential(dtype):
    """It is accurate to a unit in the last place, exactly 1 at 0, and exactly 0 below the normal range."""
    lowest = -86.0 if dtype is np.float32 else -707.0
    random = np.random.RandomState(0)
    x = np.concatenate([lowest * random.uniform(size=4000), -(10.0 ** random.uniform(-30, 1, 4000))])
    # With norms of 0 and gamma 1 the exponent is twice the product.
    products = (x.astype(dtype) / 2).reshape(1, -1)
    zeros = np.zeros(len(x), dtype)
    result = products.copy()
    apply_kernel(("rbf", 1.0, 0.0, 1), result, 1, len(x), zeros[:1], zeros)
    exact = np.exp(2 * products.astype(np.longdouble))
    assert np.abs((result - exact) / exact).max() < np.finfo(dtype).eps
    edges = np.array([[0.0, -0.0, lowest * 0.51, -np.inf, np.nan]], dtype)
    apply_kernel(("rbf", 1.0, 0.0, 1), edges, 1, 5, zeros[:1], zeros[:5])
    assert edges[0, :4].tolist() == [1.0, 1.0, 0.0, 0.0]
    assert np.isnan(edges[0, 4])


@both_precisions
@pytest.mark.parametrize("width", [1, 7, 8, 15, 16, 17, 40])
def test_a_kernel_value_does_not_depend_on_its_place_in_a_vector(dtype, width):
    random = np.random.RandomState(width)
    products = random.standard_normal((1, width)).astype(dtype)
    norms = (2 + random.uniform(size=width)).astype(dtype)
    function = "rbf", 0.7, 0.0, 1
    expected = products.copy()
    for j in range(width):
        one = products[:, j : j + 1].copy()
        apply_kernel(function, one, 1, 1, norms[:1], norms[j : j + 1])
        expected[0, j] = one[0, 0]
    apply_kernel(function, products, 1, width, norms[:1], norms)
    assert products.tolist() == expected.tolist()


@both_precisions
@pytest.mark.parametrize("sparse", [False, True])
def test_a_row_is_at_distance_zero_of_itself(dtype, sparse):
    X = rows_of(6, 30, 50, dtype) * 100
    assert np.diag(values(("rbf", 5.0, 0.0, 1), X, X, sparse)).tolist() == [1.0] * 30


@pytest.mark.parametrize("sparse", [False, True])
def test_support_vectors_are_copies_in_the_precision_of_the_rows(sparse):
    X = rows_of(7, 200, 9, np.float32, 0.5)
    y = np.arange(200) % 2
    model = KernelPerceptron(gamma=0.1).fit(as_csr(X) if sparse else X, y)
    assert model.n_support_ > 60
    kept = model.support_vectors_
    assert kept.dtype == np.float32
    assert ((kept.toarray() if sparse else kept) == X[model.support_]).all()
    expected = pairwise_kernels(X, X[model.support_], metric="rbf", gamma=0.1) @ model.dual_coef_[0]
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-4)


class MovedWhenRead(SparseRows):
    """CSR rows that are moved to other places when `_values` is read, as if another thread learned."""

    _moves = False

    @property
    def _values(self):
        values = vars(self)["_values"]
        if self._moves:
            self._moves = False
            self.make_room(1024)
        return values

    @_values.setter
    def _values(self, values):
        vars(self)["_values"] = values


def test_products_read_values_and_places_of_one_time():
    X = rows_of(8, 60, 9, np.float64, 0.5)
    rows, packed = MovedWhenRead(9, X.dtype), as_rows(as_csr(X))
    rows.reserve(60)
    packed = rows.pack(packed)
    for slots in (np.arange(30, 60), np.arange(30)):
        rows.keep(slots, packed, slots)
    rows._moves = True
    products = np.empty((60, 60))
    rows.products(packed, 60, 60, products)
    np.testing.assert_allclose(products, X @ X.T, atol=1e-12)
