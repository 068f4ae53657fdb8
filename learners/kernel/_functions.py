"""The kernel functions: from inner products to kernel values, in the precision of the rows."""

import numpy as np

from .._jit import kernel
from ._exponential import exponential

KERNELS = ("rbf", "poly", "linear")


@kernel
def _rbf(products, n_a, n_b, triangle, norms_a, norms_b, gamma):
    zero = gamma * 0
    for i in range(n_a):
        norm, values = norms_a[i], products[i][: min(n_b, i + 1) if triangle else n_b]
        for j in range(values.shape[0]):
            distance = (norm + norms_b[j]) - (values[j] + values[j])
            # Rounding may leave a small negative number for rows that are nearly the same.
            values[j] = -gamma * (zero if distance < zero else distance)
        # A loop of its own: LLVM vectorises the two, not their sum.
        for j in range(values.shape[0]):
            values[j] = exponential(values[j])


@kernel
def _poly(products, n_a, n_b, triangle, gamma, coef0, degree):
    for i in range(n_a):
        values = products[i][: min(n_b, i + 1) if triangle else n_b]
        for j in range(values.shape[0]):
            values[j] = gamma * values[j] + coef0
        base = values.copy()
        for _ in range(degree - 1):
            for j in range(values.shape[0]):
                values[j] *= base[j]


def apply_kernel(function, products, n_a, n_b, norms_a, norms_b, triangle=False):
    """Replace inner products by kernel values, in place.

    Parameters
    ----------
    function : tuple
        ``(kernel, gamma, coef0, degree)``.
    products : ndarray of shape (n_a or more, n_b or more)
    n_a, n_b : int
    norms_a, norms_b : ndarray
        Squared norms of the rows; the distance of the rbf kernel is ``‖a‖² + ‖b‖² - 2 a·b``.
    triangle : bool, default=False
        Only where the second row is not after the first.
    """
    name, gamma, coef0, degree = function
    real = products.dtype.type
    if name == "rbf":
        _rbf(products, n_a, n_b, triangle, norms_a, norms_b, real(gamma))
    elif name == "poly":
        _poly(products, n_a, n_b, triangle, real(gamma), real(coef0), np.int64(degree))
