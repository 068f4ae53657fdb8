"""The kernel functions: from inner products to kernel values, in the precision of the rows."""

import numpy as np
from numba.extending import register_jitable

from ...numeric.compiled import INLINE, compiled
from .exponential import exponential

KERNELS = ("rbf", "poly", "linear")
_RBF, _POLY = 0, 1


@register_jitable(**INLINE)
def _rbf_row(values, norm, norms, gamma):
    zero = gamma * 0
    for j in range(values.shape[0]):
        distance = (norm + norms[j]) - (values[j] + values[j])
        # Rounding may leave a small negative number for rows that are nearly the same.
        values[j] = -gamma * (zero if distance < zero else distance)
    # A loop of its own: LLVM vectorises the two, not their sum.
    for j in range(values.shape[0]):
        values[j] = exponential(values[j])


@register_jitable(**INLINE)
def _poly_row(values, gamma, coef0, degree):
    for j in range(values.shape[0]):
        values[j] = gamma * values[j] + coef0
    base = values.copy()
    for _ in range(degree - 1):
        for j in range(values.shape[0]):
            values[j] *= base[j]


@compiled
def _rbf(products, n_a, n_b, triangle, norms_a, norms_b, gamma):
    for i in range(n_a):
        _rbf_row(products[i][: min(n_b, i + 1) if triangle else n_b], norms_a[i], norms_b, gamma)


@compiled
def _poly(products, n_a, n_b, triangle, gamma, coef0, degree):
    for i in range(n_a):
        _poly_row(products[i][: min(n_b, i + 1) if triangle else n_b], gamma, coef0, degree)


def function_in_loops(function, dtype):
    """Return a kernel function as `apply_to_row` takes it, for values of a dtype."""
    name, gamma, coef0, degree = function
    return KERNELS.index(name), dtype.type(gamma), dtype.type(coef0), degree


@register_jitable
def apply_to_row(function, values, norm, norms):
    """Do as `apply_kernel` does to the inner products of one row, in a kernel."""
    number, gamma, coef0, degree = function
    if number == _RBF:
        _rbf_row(values, norm, norms, gamma)
    elif number == _POLY:
        _poly_row(values, gamma, coef0, degree)


@compiled
def own_values(function, norms, own):
    """Write k(x, x) of rows, by their squared norms, into `own`: the values that `apply_kernel` gives."""
    number, gamma, coef0, degree = function
    values = norms.copy()
    if number == _RBF:
        # At distance 0, but for a norm that overflows.
        for j in range(values.shape[0]):
            distance = (norms[j] + norms[j]) - (values[j] + values[j])
            values[j] = -gamma * distance
        for j in range(values.shape[0]):
            values[j] = exponential(values[j])
    elif number == _POLY:
        _poly_row(values, gamma, coef0, degree)
    for j in range(values.shape[0]):
        own[j] = values[j]


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
