"""Random Fourier features: vectorized sine and cosine, and their angles."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from singlepass.learners.kernel.values.fourier import (
    dense_fourier_features,
    fourier_features,
    from_panels,
    in_panels,
)

from ...streams import as_csr

both_precisions = pytest.mark.parametrize(
    "dtype", [np.float64, pytest.param(np.float32, marks=pytest.mark.slow)]
)
seeds = st.integers(0, 2**31 - 1)
# The largest angle tested.
LARGEST = {np.float32: 2.0**21, np.float64: 2.0**48}


def features(X, U, scale=1.0, sparse=False):
    """Return cosines and sines of the angles of rows with frequencies U, shape (D, d)."""
    panels = in_panels(U, X.dtype)
    assert from_panels(panels, *U.shape).tolist() == U.astype(X.dtype).tolist()
    width = panels.size // U.shape[1]
    factors = np.full(width, scale, X.dtype)
    out = np.empty((len(X), 2 * width), X.dtype)
    if sparse:
        csr = as_csr(X)
        fourier_features(csr.data, csr.indices, csr.indptr, panels, U.shape[1], factors, out)
    else:
        dense_fourier_features(X, panels, factors, out)
    return out[:, : len(U)], out[:, width : width + len(U)]


def of_angles(angles):
    cosines, sines = features(angles.reshape(-1, 1), np.ones((1, 1)))
    return cosines[:, 0], sines[:, 0]


@both_precisions
def test_sine_and_cosine_to_two_units_in_the_last_place(dtype):
    """Test small and large angles, and angles near multiples of π/2, where digits cancel."""
    random, largest = np.random.RandomState(0), LARGEST[dtype]
    angles = np.concatenate(
        [
            random.uniform(-10, 10, 50_000),
            random.uniform(-1e6, 1e6, 50_000),
            random.uniform(-largest, largest, 50_000),
            random.choice([-1, 1], 50_000) * 10.0 ** random.uniform(-30, np.log10(largest), 50_000),
            np.arange(-20_000, 20_000) * np.pi / 2,
            (np.arange(-20_000, 20_000) + 0.5) * np.pi / 2,
        ]
    ).astype(dtype)
    # np.sin of float64 is not exact, either.
    exact = angles.astype(np.longdouble)
    for ours, true in zip(of_angles(angles), (np.cos(exact), np.sin(exact)), strict=True):
        assert (np.abs(ours - true) / np.spacing(np.abs(true).astype(dtype))).max() <= 2.0
        assert np.abs(ours).max() <= 1.0


@both_precisions
def test_special_angles(dtype):
    angles = np.array([0.0, np.inf, -np.inf, np.nan, 2 * LARGEST[dtype], -2 * LARGEST[dtype]], dtype)
    cosines, sines = of_angles(angles)
    assert cosines.tolist() == [1.0] * 6
    assert sines.tolist() == [0.0] * 6


@both_precisions
@given(
    seed=seeds,
    n=st.integers(1, 20),
    d=st.integers(1, 30),
    D=st.integers(1, 150),
    density=st.sampled_from([0.1, 0.5, 1.0]),
)
def test_features_depend_on_row_and_frequency_alone(dtype, seed, n, d, D, density):
    """They do not depend on neighboring rows, or on dense or CSR storage."""
    random = np.random.RandomState(seed)
    X = (random.standard_normal((n, d)) * (random.uniform(size=(n, d)) < density)).astype(dtype)
    U = random.standard_normal((D, d)).astype(dtype)
    cosines, sines = features(X, U)
    wide = X.astype(np.float64) @ U.astype(np.float64).T
    tolerance = 1e-12 if dtype is np.float64 else 2e-5
    np.testing.assert_allclose(cosines, np.cos(wide), rtol=0, atol=tolerance)
    np.testing.assert_allclose(sines, np.sin(wide), rtol=0, atol=tolerance)
    of_csr = features(X, U, sparse=True)
    assert (of_csr[0].tolist(), of_csr[1].tolist()) == (cosines.tolist(), sines.tolist())
    i, k = random.randint(n), random.randint(D)
    one = features(X[i : i + 1], U[k : k + 1])
    assert (one[0][0, 0], one[1][0, 0]) == (cosines[i, k], sines[i, k])
