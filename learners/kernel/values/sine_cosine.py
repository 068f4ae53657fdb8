"""sin(x) and cos(x) of one value or of a vector of them, the same on every machine."""

import math

from llvmlite import ir
from numba import types

from ...numeric.emitters import fused

# π/2 in three parts; their sum is exact to more digits than float64 has.
_HALF_PI = (math.pi / 2.0, 6.123233995736766e-17, -1.4973849048591698e-33)
# The same in float32, each part rounded to its 24 bits.
_HALF_PI_SINGLE = (1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15)

# By precision: bits of the mantissa, the parts of π/2, degrees of the Taylor polynomials of sine and cosine
# (their errors on ±0.83 are below rounding), and the largest |x| that is supported.
_PRECISIONS = {
    types.float32: (23, _HALF_PI_SINGLE, 9, 10, 2.0**21),
    types.float64: (52, _HALF_PI, 17, 16, 2.0**48),
}


def emit_sine_cosine(builder, kind, x):
    """Emit sin(x) and cos(x), of a scalar or a vector of float32 or float64, to two units in the last place.

    After Cody and Waite: x = n π/2 + r with |r| < 0.83, sin(r) and cos(r) by polynomials; n modulo 4 says
    which of the two it is, and its sign. The first part of n π/2 is subtracted without an error, since the
    multiplication is fused and its result a multiple of the last place of π/2: so r is as good as x is, for
    |x| up to 2²¹ (2 · 10⁶) in float32 and 2⁴⁸ in float64. Beyond that, neighbouring numbers are so far apart
    that the figures would mean little: there, and for NaN, x counts as 0.
    """
    mantissa, parts, sine_degree, cosine_degree, largest = _PRECISIONS[kind]
    bits = ir.IntType(32 if kind == types.float32 else 64)
    is_vector = isinstance(x.type, ir.VectorType)
    integer = ir.VectorType(bits, x.type.count) if is_vector else bits

    def constant(type_, value):
        return ir.Constant(type_, [value] * type_.count if is_vector else value)

    def real(value):
        return constant(x.type, value)

    def taylor(square, first, last):
        """Return Σ ± square^i / (first + 2 i)! up to the term of degree `last`, the first one positive."""
        degrees = range(first, last + 1, 2)
        terms = [(-1.0) ** i / math.factorial(degree) for i, degree in enumerate(degrees)]
        p = real(terms[-1])
        for term in reversed(terms[:-1]):
            p = fused(builder, p, square, real(term))
        return p

    below = builder.fcmp_ordered("<=", x, real(largest))
    above = builder.fcmp_ordered(">=", x, real(-largest))
    x = builder.select(builder.and_(below, above), x, real(0.0))
    # Added, it rounds to an integer, which then is in the last bits of the sum.
    rounder = real(1.5 * 2.0**mantissa)
    shifted = fused(builder, x, real(2.0 / math.pi), rounder)
    n = builder.fsub(shifted, rounder)
    r = x
    for part in parts:
        r = fused(builder, n, real(-part), r)
    square = builder.fmul(r, r)
    # r - r³ (1/3! - …) and 1 - r²/2 + r⁴ (1/4! - …): the largest terms come last.
    sine = fused(builder, builder.fmul(builder.fneg(square), r), taylor(square, 3, sine_degree), r)
    cosine = fused(builder, square, real(-0.5), real(1.0))
    cosine = fused(builder, builder.fmul(square, square), taylor(square, 4, cosine_degree), cosine)

    quarter = builder.bitcast(shifted, integer)
    one, two = constant(integer, 1), constant(integer, 2)
    swapped = builder.icmp_unsigned("!=", builder.and_(quarter, one), constant(integer, 0))
    to_sign = constant(integer, bits.width - 2)

    def signed(value, number):
        sign = builder.shl(builder.and_(number, two), to_sign)
        return builder.bitcast(builder.xor(builder.bitcast(value, integer), sign), x.type)

    return (
        signed(builder.select(swapped, cosine, sine), quarter),
        signed(builder.select(swapped, sine, cosine), builder.add(quarter, one)),
    )
