"""The kernel functions: turn inner products into kernel values, in the precision of the rows."""

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ...numeric.compiled import INLINE, compiled, register_jitable
from ...numeric.emitters import emit_exponential, load_vector, spread, store_vector, zero_like
from .products import LANES

KERNELS = ("rbf", "poly", "linear")
_RBF, _POLY, _LINEAR = range(3)


@intrinsic
def _rbf_row(_typing_context, values, norm, norms, gamma):
    """Replace the inner products of one row with other rows by rbf kernel values, in 64-byte SIMD vectors.

    LLVM would compile a plain loop to vectors of half that size, and read each value twice.
    """
    if values.layout != "C" or norms.layout != "C" or norms.dtype != norm or values.dtype != norm:
        raise TypeError("the kernel values of a row need C-contiguous arrays of one dtype")

    def codegen(context, builder, signature, arguments):
        products, others = (
            context.make_array(signature.args[k])(context, builder, arguments[k]) for k in (0, 2)
        )
        norm, negative = arguments[1], builder.fneg(arguments[3])
        (length,) = cgutils.unpack_tuple(builder, products.shape, 1)
        lanes = LANES[values.dtype.bitwidth // 8]

        def replace(first, stop, width):
            step = length.type(width)
            with cgutils.for_range_slice(builder, first, stop, step, length.type) as (j, _):
                product, other = (load_vector(builder, array.data, j, width) for array in (products, others))
                own, factor = (spread(builder, x, width) for x in (norm, negative))
                distance = builder.fsub(builder.fadd(own, other), builder.fadd(product, product))
                # The squared distance of nearly equal rows may be negative by rounding; it is then set to 0.
                zero = zero_like(product)
                below = builder.fcmp_ordered("<", distance, zero)
                exponent = builder.fmul(factor, builder.select(below, zero, distance))
                value = emit_exponential(builder, values.dtype, exponent)
                store_vector(builder, products.data, j, value)

        # Values that are too few for a full vector are computed in shorter vectors, then one by one. That
        # saves time because rows of kernel values are often short.
        done = length.type(0)
        for width in (lanes, lanes // 4, 1):
            whole = builder.and_(length, length.type(-width))
            replace(done, whole, width)
            done = whole
        return context.get_dummy_value()

    return types.void(values, norm, norms, gamma), codegen


@register_jitable(**INLINE)
def _poly_row(values, gamma, coef0, degree):
    for j in range(values.shape[0]):
        values[j] = gamma * values[j] + coef0
    base = values.copy()
    for _ in range(degree - 1):
        for j in range(values.shape[0]):
            values[j] *= base[j]


def function_in_loops(function, dtype):
    """Return a kernel for compiled loops: its position in `KERNELS`, gamma, coef0 and degree."""
    name, gamma, coef0, degree = function
    return KERNELS.index(name), dtype.type(gamma), dtype.type(coef0), degree


@register_jitable
def apply_to_row(function, values, norm, norms):
    """Replace the inner products of a row with other rows by kernel values, in place (compiled code only)."""
    number, gamma, coef0, degree = function
    if number == _RBF:
        _rbf_row(values, norm, norms, gamma)
    elif number == _POLY:
        _poly_row(values, gamma, coef0, degree)


@compiled
def own_values(function, norms, own):
    """Write k(x, x) of rows into `own`, given their squared norms; `apply_kernel` gives the same values."""
    number, gamma, coef0, degree = function
    values = norms.copy()
    if number == _RBF:
        # The distance of a row from itself is 0, so its kernel value is 1, or NaN if the norm overflowed.
        for j in range(values.shape[0]):
            distance = (norms[j] + norms[j]) - (values[j] + values[j])
            values[j] = 1 - gamma * distance
    elif number == _POLY:
        _poly_row(values, gamma, coef0, degree)
    elif number != _LINEAR:
        raise ValueError("a kernel without own values")
    for j in range(values.shape[0]):
        own[j] = values[j]


@compiled
def _apply_to_rows(function, products, n_a, n_b, norms_a, norms_b):
    for i in range(n_a):
        apply_to_row(function, products[i][:n_b], norms_a[i], norms_b)


def apply_kernel(function, products, n_a, n_b, norms_a, norms_b):
    """Replace the inner products of `n_a` rows with `n_b` other rows by kernel values, in place.

    `function` is ``(kernel, gamma, coef0, degree)``; `products` has shape (n_a or more, n_b or more);
    `norms_a` and `norms_b` are squared norms. The rbf kernel gets ``‖a - b‖²`` from ``‖a‖² + ‖b‖² - 2 a·b``.
    """
    if function[0] != "linear":
        in_loops = function_in_loops(function, products.dtype)
        _apply_to_rows(in_loops, products, n_a, n_b, norms_a, norms_b)
