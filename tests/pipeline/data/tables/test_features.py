"""Test standardisation, the constant feature and the dtype."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array

from singlepass.pipeline.data.tables.features import apply_feature_options
from singlepass.pipeline.data.tables.stream import Table
from singlepass.pipeline.errors import InputError

PLAIN = {"bias": False, "standardize": False, "dtype": ""}
Y = np.array([0, 1, 1], dtype=np.int32)
DENSE = np.array([[1.0, 5.0], [2.0, 5.0], [6.0, 5.0]])


def dense_table() -> Table:
    return Table(DENSE.copy(), Y, ("n", "p"), np.array([[3.0, 7.0]]), Y[:1])


def sparse_table() -> Table:
    X = csr_array(DENSE * [[1.0, 0.0]])
    return Table(X, Y, ("n", "p"), X[:1], Y[:1])


def test_nothing_asked_for_changes_nothing() -> None:
    table = dense_table()
    assert apply_feature_options("d", table, PLAIN).X is table.X


def test_standardised_on_the_training_part() -> None:
    table = apply_feature_options("d", dense_table(), {**PLAIN, "standardize": True})
    assert isinstance(table.X, np.ndarray)
    assert table.X_test is not None
    np.testing.assert_allclose(table.X[:, 0].mean(), 0.0, atol=1e-15)
    np.testing.assert_allclose(table.X[:, 0].std(), 1.0)
    # A constant feature is 0 in training; the test row is shifted and scaled like training rows.
    assert table.X[:, 1].tolist() == [0.0, 0.0, 0.0]
    np.testing.assert_allclose(np.asarray(table.X_test), [[0.0, 2.0]], atol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_constant_feature_becomes_0_although_its_mean_is_rounded(dtype: str) -> None:
    X = np.tile(np.array([0.1, 25.4, 0.1, np.nan], dtype), (1000, 1))
    X[::3, 2] = np.nan
    y = np.zeros(len(X), dtype=np.int32)
    test = X[:1] + np.array([0.1, 0.0, 0.0, 0.0], dtype)
    options = {**PLAIN, "missing": "mean", "standardize": True}
    table = apply_feature_options("d", Table(X, y, ("n", "p"), test, y[:1]), options)
    assert not np.asarray(table.X).any()
    np.testing.assert_allclose(np.asarray(table.X_test), [[0.1, 0.0, 0.0, 0.0]], rtol=1e-6)


@pytest.mark.parametrize("make", [dense_table, sparse_table])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bias_and_dtype(make: object, dtype: str) -> None:
    table = apply_feature_options("d", make(), {**PLAIN, "bias": True, "dtype": dtype})  # type: ignore[operator]
    for X, rows in ((table.X, 3), (table.X_test, 1)):
        wide = X if isinstance(X, np.ndarray) else X.toarray()
        assert wide.dtype == dtype
        assert wide.shape == (rows, 3)
        assert (wide[:, 2] == 1.0).all()
    if not isinstance(table.X, np.ndarray):
        assert table.X.indices.dtype == table.X.indptr.dtype == np.int32
        assert table.X.has_sorted_indices


def test_bias_is_not_standardised_away() -> None:
    table = apply_feature_options("d", dense_table(), {**PLAIN, "bias": True, "standardize": True})
    assert np.asarray(table.X)[:, 2].tolist() == [1.0, 1.0, 1.0]


def test_sparse_sets_are_not_standardised() -> None:
    for options, remedy in ((PLAIN, "give dense rows"), ({**PLAIN, "dense": ""}, "set dense = true")):
        with pytest.raises(InputError, match=f"'d' is sparse: standardize would make it dense; .* {remedy}$"):
            apply_feature_options("d", sparse_table(), {**options, "standardize": True})


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_same_bits_in_one_piece_and_block_by_block(dtype: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.RandomState(0).normal(3.0, 5.0, (501, 7)).astype(dtype)
    y = np.zeros(len(X), dtype=np.int32)
    options = {"bias": True, "standardize": True, "dtype": "float32"}
    whole = apply_feature_options("d", Table(X, y, ("n", "p"), X[:9], y[:9]), options)
    # The reference computation, on all rows at once.
    mean = X.mean(axis=0, dtype=np.float64)
    spread = np.sqrt(np.mean((X - mean) ** 2, axis=0, dtype=np.float64))
    expected = ((X - mean) / spread).astype(dtype).astype(np.float32)
    assert np.asarray(whole.X)[:, :-1].tolist() == expected.tolist()
    monkeypatch.setattr("singlepass.pipeline.data.tables.features._WHOLE_BYTES", 0)
    monkeypatch.setattr("singlepass.pipeline.data.tables.features._BLOCK_BYTES", 1000)
    pieces = apply_feature_options("d", Table(X, y, ("n", "p"), X[:9], y[:9]), options)
    assert np.asarray(pieces.X).tolist() == np.asarray(whole.X).tolist()
    assert np.asarray(pieces.X_test).tolist() == np.asarray(whole.X_test).tolist()


def test_gaps_are_filled_dense_and_sparse() -> None:
    X = np.array([[1.0, np.nan, 0.0], [3.0, 4.0, np.nan], [np.nan, 6.0, np.nan]])
    options = {**PLAIN, "missing": "mean"}
    dense = apply_feature_options("d", Table(X, Y, ("n", "p")), options).X
    assert np.asarray(dense).tolist() == [[1.0, 5.0, 0.0], [3.0, 4.0, 0.0], [2.0, 6.0, 0.0]]
    sparse = apply_feature_options("d", Table(csr_array(X), Y, ("n", "p")), options).X
    assert sparse.toarray().tolist() == np.asarray(dense).tolist()  # type: ignore[union-attr]
