"""Emit LLVM code for vectors: constants, shuffles, broadcasts, sums of lanes, fused products, exp(x)."""

import functools
import math

from llvmlite import ir
from numba import types
from numba.core import cgutils

_INT32 = ir.IntType(32)


def constant(kind, number):
    """Return a constant of a scalar type, or of a vector type with the number in all lanes."""
    return ir.Constant(kind, [number] * kind.count if isinstance(kind, ir.VectorType) else number)


def constant_like(value, number):
    """Return a constant with the type of a floating-point value or vector."""
    return constant(value.type, number)


def zero_like(value):
    """Return the constant 0 with the type of a floating-point value or vector."""
    return constant_like(value, 0.0)


def select(builder, first, second, lanes):
    """Return a vector of the given `lanes` of two vectors; lane numbers continue from `first` to `second`."""
    return builder.shuffle_vector(first, second, ir.Constant(ir.VectorType(_INT32, len(lanes)), list(lanes)))


def load_vector(builder, pointer, index, lanes):
    """Load `lanes` consecutive values of an array from an index on; a scalar if `lanes` is 1."""
    address, kind = builder.gep(pointer, [index]), pointer.type.pointee
    if lanes > 1:
        address = builder.bitcast(address, ir.VectorType(kind, lanes).as_pointer())
    value = builder.load(address)
    # A row, or the array of an unpickled model, can start anywhere: only single values are aligned.
    value.align = _bytes_of(kind)
    return value


def store_vector(builder, pointer, index, value):
    """Store a scalar or a vector in consecutive elements of an array, from an index on."""
    address = builder.gep(pointer, [index])
    if isinstance(value.type, ir.VectorType):
        address = builder.bitcast(address, value.type.as_pointer())
    builder.store(value, address).align = _bytes_of(pointer.type.pointee)


def _bytes_of(kind):
    return {"float": 4, "double": 8}.get(str(kind)) or kind.width // 8


def spread(builder, scalar, lanes):
    """Return a vector with `scalar` in all lanes, or `scalar` itself if `lanes` is 1."""
    if lanes == 1:
        return scalar
    undefined = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    first = builder.insert_element(undefined, scalar, _INT32(0))
    return select(builder, first, undefined, [0] * lanes)


def fold(builder, vector, bits=None):
    """Add the lanes of a vector in a fixed tree.

    `bits` are bit positions of lane numbers. The first step adds lanes whose numbers differ only in the first
    of these bits, the next step those that differ only in the second, and so on. By default the highest bit
    comes first: the upper half is added to the lower half.
    """
    numbers = list(range(vector.type.count))
    for bit in reversed(range(len(numbers).bit_length() - 1)) if bits is None else bits:
        sides = [[place for place, lane in enumerate(numbers) if lane >> bit & 1 == side] for side in (0, 1)]
        vector = builder.fadd(*(select(builder, vector, vector, side) for side in sides))
        numbers = [numbers[place] for place in sides[0]]
    return builder.extract_element(vector, _INT32(0))


def fused(builder, a, b, c):
    """Generate code for ``a b + c``, rounded once, for scalars or vectors."""
    kind = a.type
    name = {"float": "f32", "double": "f64"}[str(kind.element if isinstance(kind, ir.VectorType) else kind)]
    if isinstance(kind, ir.VectorType):
        name = f"v{kind.count}{name}"
    intrinsic_type = ir.FunctionType(kind, (kind, kind, kind))
    function = cgutils.get_or_insert_function(builder.module, intrinsic_type, f"llvm.fma.{name}")
    return builder.call(function, (a, b, c))


def square_root(builder, a):
    """Generate code for √a, for scalars or vectors of float64."""
    name = f"v{a.type.count}f64" if isinstance(a.type, ir.VectorType) else "f64"
    kind = ir.FunctionType(a.type, (a.type,))
    return builder.call(cgutils.get_or_insert_function(builder.module, kind, f"llvm.sqrt.{name}"), (a,))


# Constants of exp for float32 and float64: bits of the mantissa; bits of the first part of ln 2, so few that
# its product with n is exact; degree of the Taylor polynomial, whose error on ±(ln 2)/2 is below rounding;
# the lowest x with exp(x) in the normal range.
_PRECISIONS = {types.float32: (23, 12, 7, -86.0), types.float64: (52, 32, 13, -707.0)}

# ln 2 minus its nearest float64.
_LN2_REST = 2.3190468138462996e-17


def emit_exponential(builder, kind, x):
    """Emit exp(x) for x <= 0, a float32 or float64 scalar or vector, to about one unit in the last place.

    After Cody and Waite: x = n ln 2 + r, exp(r) by a polynomial, n added to the exponent. The result is 0 if
    exp(x) would leave the normal range of the precision; NaN stays NaN.
    """
    mantissa, high_bits, degree, lowest = _PRECISIONS[kind]
    ln2_high = math.floor(math.log(2.0) * 2.0**high_bits) / 2.0**high_bits
    ln2_low = (math.log(2.0) - ln2_high) + _LN2_REST
    bits = ir.IntType(32 if kind == types.float32 else 64)
    integer = ir.VectorType(bits, x.type.count) if isinstance(x.type, ir.VectorType) else bits
    real = functools.partial(constant, x.type)
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
