"""exp(x) for x <= 0, for one value or a vector, with the same result on every machine."""

import math

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from .emitters import fused

# By precision: bits of the mantissa; bits of the first part of ln 2, so that its product with n is exact;
# degree of the Taylor polynomial, whose error on ±(ln 2)/2 is below rounding; the lowest x with exp(x) in the
# normal range.
_PRECISIONS = {types.float32: (23, 12, 7, -86.0), types.float64: (52, 32, 13, -707.0)}

# ln 2 minus its nearest float64.
_LN2_REST = 2.3190468138462996e-17


def emit_exponential(builder, kind, x):
    """Emit exp(x) for x <= 0, a scalar or a vector of float32 or float64, to about one unit in the last
    place.

        After Cody and Waite: x = n ln 2 + r, exp(r) by a polynomial, n added to the exponent. The result is 0
        if exp(x) would leave the normal range of the precision; NaN stays NaN.
    """
    mantissa, high_bits, degree, lowest = _PRECISIONS[kind]
    ln2_high = math.floor(math.log(2.0) * 2.0**high_bits) / 2.0**high_bits
    ln2_low = (math.log(2.0) - ln2_high) + _LN2_REST
    bits = ir.IntType(32 if kind == types.float32 else 64)
    is_vector = isinstance(x.type, ir.VectorType)
    integer = ir.VectorType(bits, x.type.count) if is_vector else bits

    def constant(type_, value):
        return ir.Constant(type_, [value] * type_.count if is_vector else value)

    def real(value):
        return constant(x.type, value)

    # Adding this number rounds to an integer, which is then in the last bits of the sum.
    rounder = real(1.5 * 2.0**mantissa)
    shifted = fused(builder, x, real(1.0 / math.log(2.0)), rounder)
    n = builder.fsub(shifted, rounder)
    r = fused(builder, n, real(-ln2_low), fused(builder, n, real(-ln2_high), x))
    p = real(1.0 / math.factorial(degree))
    for k in reversed(range(degree)):
        p = fused(builder, p, r, real(1.0 / math.factorial(k)))
    exponent = builder.shl(builder.bitcast(shifted, integer), constant(integer, mantissa))
    value = builder.bitcast(builder.add(builder.bitcast(p, integer), exponent), x.type)
    value = builder.select(builder.fcmp_ordered(">=", x, real(lowest)), value, real(0.0))
    return builder.select(builder.fcmp_unordered("uno", x, x), x, value)


@intrinsic
def exponential(_typing_context, x):
    """Return exp(x) for x <= 0, in a kernel."""
    return x(x), lambda _context, builder, _signature, arguments: emit_exponential(builder, x, *arguments)
