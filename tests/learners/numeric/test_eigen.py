"""Eigenvalues of small symmetric matrices against LAPACK's."""

import numpy as np
import pytest

from singlepass.learners.numeric.compiled import compiled
from singlepass.learners.numeric.eigen import symmetric_eigen


@compiled
def decompose(A, U):
    symmetric_eigen(A, U)


@pytest.mark.slow
@pytest.mark.parametrize("n", [1, 2, 7])
def test_symmetric_eigen(n):
    random = np.random.RandomState(n)
    for scale in (0.0, 1e-8, 1.0, 1e150):
        B = random.standard_normal((n, n)) * scale
        A, U = B + B.T, np.empty((n, n))
        D = A.copy()
        decompose(D, U)
        np.testing.assert_allclose(np.sort(np.diag(D)), np.linalg.eigvalsh(A), rtol=1e-13, atol=1e-14 * scale)
        np.testing.assert_allclose(U @ U.T, np.eye(n), rtol=0, atol=1e-14)
        np.testing.assert_allclose(U @ np.diag(np.diag(D)) @ U.T, A, rtol=1e-12, atol=1e-13 * scale)
