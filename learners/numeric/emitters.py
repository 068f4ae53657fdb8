"""Emit LLVM code for vectors: constants, shuffles, broadcasts, sums of lanes, thresholds, fused products."""

from llvmlite import ir
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


def soft_threshold(builder, value, threshold):
    """Generate code for ``sgn(v) max(|v| - a, 0)``, for a >= 0."""
    below, above, zero = builder.fadd(value, threshold), builder.fsub(value, threshold), zero_like(value)
    kept = builder.select(builder.fcmp_ordered("<", below, zero), below, zero)
    return builder.select(builder.fcmp_ordered(">", above, zero), above, kept)


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
