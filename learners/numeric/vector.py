"""Sums over a row and exp(x) as explicit vector code, with the same result on every machine.

LLVM may not reorder floating-point sums, so a plain loop stays scalar. ``fastmath`` allows it, but then the
result depends on the width of the machine's vectors. This module fixes the order instead: two accumulators of
L lanes take turns, L terms at a time (a single remaining block of L terms goes to the first). The
accumulators are added and folded in a fixed tree, and the last ``n mod L`` of n terms are added one by one.
Sums use neither fast-math flags nor fused multiply-adds, so the result depends on the inputs alone.

All arithmetic is in float64; a float32 row is widened when loaded.
"""

from __future__ import annotations

import math
from functools import reduce

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .arrays import DenseRow, FlatArray, is_sparse_row
from .emitters import fold, fused, spread

# Positive numbers below this one have fewer digits, and dividing by them may overflow.
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)
# The distance from 1 to the next larger float64.
EPSILON = float(np.finfo(np.float64).eps)


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
    """Return exp(x) for x <= 0 (compiled code only)."""
    return x(x), lambda _context, builder, _signature, arguments: emit_exponential(builder, x, *arguments)


# The order of additions in sums over dense and CSR rows: (lanes, accumulators, order of folding the lanes).
# 16 float64 lanes are two AVX-512, four AVX2 or eight NEON registers, and two such accumulators hide the
# latency of an addition on all of them. CSR rows are short and their weights are gathered one by one, so a
# step of 8 leaves fewer terms to the scalar tail. The dense order is that of OpenBLAS for AVX2 (first within
# each of four vectors, then across them): a dot product of up to 31 features equals NumPy's to the last bit.
DENSE_ORDER = (16, 2, (1, 2, 3, 0))
SPARSE_ORDER = (4, 2, (1, 0))
# Numbers of classes whose sums are added up at once: 32 if so many are left, else 16, 8 or 4. The 32 float64
# sums fill eight AVX2 registers, which is enough to hide the latency of an addition.
_CLASS_LANES = (32, 16, 8, 4)

# Number of entries that an update computes at once: an AVX-512 register has room for this many float64.
_UPDATE_LANES = 8

_DOUBLE = ir.DoubleType()


def _sum_terms(builder, emit, n_sums, length, lanes, accumulators, bits):
    """Generate loops that add up the terms that `emit` returns for entries 0 … length - 1 of a row.

    Return the `n_sums` totals. The order of additions is fixed by `lanes`, `accumulators` and `bits`.
    """
    intp = length.type
    step, lane_step = ir.Constant(intp, lanes * accumulators), ir.Constant(intp, lanes)
    whole = builder.mul(builder.udiv(length, step), step)
    whole_lanes = builder.mul(builder.udiv(length, lane_step), lane_step)
    zero = ir.Constant(ir.VectorType(_DOUBLE, lanes), [0.0] * lanes)
    totals = [[cgutils.alloca_once_value(builder, zero) for _ in range(accumulators)] for _ in range(n_sums)]
    with cgutils.for_range_slice(builder, ir.Constant(intp, 0), whole, step, intp) as (index, _):
        for a in range(accumulators):
            terms = emit(builder.add(index, ir.Constant(intp, a * lanes)), lanes)
            for total, term in zip(totals, terms, strict=True):
                builder.store(builder.fadd(builder.load(total[a]), term), total[a])
    with cgutils.for_range_slice(builder, whole, whole_lanes, lane_step, intp) as (index, _):
        for total, term in zip(totals, emit(index, lanes), strict=True):
            builder.store(builder.fadd(builder.load(total[0]), term), total[0])
    folded = []
    for total in totals:
        vector = reduce(builder.fadd, [builder.load(accumulator) for accumulator in total])
        folded.append(cgutils.alloca_once_value(builder, fold(builder, vector, bits)))
    one = ir.Constant(intp, 1)
    with cgutils.for_range_slice(builder, whole_lanes, length, one, intp) as (index, _):
        for total, term in zip(folded, emit(index, 1), strict=True):
            builder.store(builder.fadd(builder.load(total), term), total)
    return [builder.load(total) for total in folded]


def arrays_of(context, builder, kinds, values):
    """Return the arrays of a tuple as `FlatArray` objects."""
    return [
        FlatArray(context, builder, kind, builder.extract_value(values, position))
        for position, kind in enumerate(kinds)
    ]


def lane_sums(n_sums, terms, with_scalars=False):
    """Build an intrinsic that computes `n_sums` sums over the features of a row in one pass.

    ``terms(builder, *state, x, *scalars)`` emits the terms of one feature, or of one vector of features, as a
    list of `n_sums` float64 values. The intrinsic is ``f(state, x)``, or ``f(state, x, scalars)`` if
    `with_scalars` is true: `state` is a tuple of float64 arrays of shape (n_features,), `x` a dense row or a
    CSR row ``(data, indices)``, float32 or float64, indices within bounds, `scalars` a tuple of float64. It
    returns a float64, or a tuple of `n_sums` of them.
    """
    result = types.float64 if n_sums == 1 else types.UniTuple(types.float64, n_sums)

    def codegen(context, builder, signature, arguments):
        state_types, x_type = signature.args[:2]
        n_scalars = len(signature.args[2]) if with_scalars else 0
        constants = [builder.extract_value(arguments[2], i) for i in range(n_scalars)]
        arrays = arrays_of(context, builder, state_types, arguments[0])
        if is_sparse_row(x_type):
            data, indices = arrays_of(context, builder, x_type, arguments[1])

            def emit(index, lanes):
                # Column indices are needed only to read state arrays; a sum such as ‖x‖² has none.
                columns = indices.load(builder, index, lanes) if arrays else None
                gathered = [array.gather_double(builder, columns, lanes) for array in arrays]
                value = data.load_double(builder, index, lanes)
                return terms(builder, *gathered, value, *(spread(builder, c, lanes) for c in constants))

            totals = _sum_terms(builder, emit, n_sums, data.length, *SPARSE_ORDER)
        else:
            row = DenseRow(context, builder, x_type, arguments[1])

            def emit(index, lanes):
                values = [array.load_double(builder, index, lanes) for array in [*arrays, row]]
                return terms(builder, *values, *(spread(builder, c, lanes) for c in constants))

            totals = _sum_terms(builder, emit, n_sums, row.length, *DENSE_ORDER)
        return totals[0] if n_sums == 1 else context.make_tuple(builder, result, totals)

    if with_scalars:

        @intrinsic
        def sums(_typing_context, state, x, scalars):
            return result(state, x, scalars), codegen

    else:

        @intrinsic
        def sums(_typing_context, state, x):
            return result(state, x), codegen

    return sums


def lane_pass(n_sums, step):
    """Build an intrinsic that updates state along a dense row and computes sums over it, in one pass.

    A learner applies the update of one row while it reads the next row, so that it reads the state once for
    both rows. The sums equal those of `lane_sums` over the updated state to the last bit.

    ``step(builder, *state, x, *scalars)`` emits the update of one feature, or of one vector of features. It
    returns the list of new state values, None for an unchanged one, and the list of `n_sums` terms. The
    intrinsic is ``f(state, x, scalars)`` as for `lane_sums`; the arrays of `state` must not overlap.
    """

    @intrinsic
    def pass_(_typing_context, state, x, scalars):
        result = types.float64 if n_sums == 1 else types.UniTuple(types.float64, n_sums)

        def codegen(context, builder, signature, arguments):
            state_types, x_type, scalar_types = signature.args
            arrays = arrays_of(context, builder, state_types, arguments[0])
            row = DenseRow(context, builder, x_type, arguments[1])
            constants = [builder.extract_value(arguments[2], i) for i in range(len(scalar_types))]

            def emit(index, lanes):
                values = [array.load_double(builder, index, lanes) for array in [*arrays, row]]
                new, terms = step(builder, *values, *(spread(builder, c, lanes) for c in constants))
                for array, value in zip(arrays, new, strict=True):
                    if value is not None:
                        array.store_double(builder, index, value)
                return terms

            totals = _sum_terms(builder, emit, n_sums, row.length, *DENSE_ORDER)
            return totals[0] if n_sums == 1 else context.make_tuple(builder, result, totals)

        return result(state, x, scalars), codegen

    return pass_


def lane_update(step):
    """Build an intrinsic that updates state at the entries of a row: ``f(state, x, scalars)``.

    ``step(builder, *state, x, *scalars)`` emits the new state values of one feature, or of one vector of
    features; `state` and `scalars` are as for `lane_sums`. Each feature occurs once in a row, so that the
    order of updates does not matter.
    """

    @intrinsic
    def update(_typing_context, state, x, scalars):
        def codegen(context, builder, signature, arguments):
            state_types, x_type, scalar_types = signature.args
            arrays = arrays_of(context, builder, state_types, arguments[0])
            constants = [builder.extract_value(arguments[2], i) for i in range(len(scalar_types))]
            if is_sparse_row(x_type):
                data, indices = arrays_of(context, builder, x_type, arguments[1])
            else:
                data, indices = DenseRow(context, builder, x_type, arguments[1]), None

            def emit(index, lanes):
                columns = index if indices is None else indices.load(builder, index, lanes)
                kind = "load_double" if indices is None else "gather_double"
                values = [getattr(array, kind)(builder, columns, lanes) for array in arrays]
                value = data.load_double(builder, index, lanes)
                new = step(builder, *values, value, *(spread(builder, c, lanes) for c in constants))
                for array, each in zip(arrays, new, strict=True):
                    if indices is None:
                        array.store_double(builder, index, each)
                    else:
                        array.scatter_double(builder, columns, each, lanes)

            intp = data.length.type
            begin = ir.Constant(intp, 0)
            for lanes in (_UPDATE_LANES, 1):
                stride = ir.Constant(intp, lanes)
                end = builder.mul(builder.udiv(data.length, stride), stride)
                with cgutils.for_range_slice(builder, begin, end, stride, intp) as (index, _):
                    emit(index, lanes)
                begin = end
            return context.get_dummy_value()

        return types.void(state, x, scalars), codegen

    return update


def single_term(term):
    """Build an intrinsic ``f(state, j, scalars)`` that returns the term of the single feature j.

    ``term(builder, *state, *scalars)`` emits a float64; `state` and `scalars` are as for `lane_sums`.
    """

    @intrinsic
    def value(_typing_context, state, j, scalars):
        def codegen(context, builder, signature, arguments):
            index = context.cast(builder, arguments[1], signature.args[1], types.intp)
            arrays = arrays_of(context, builder, signature.args[0], arguments[0])
            loaded = [array.load_double(builder, index, 1) for array in arrays]
            return term(builder, *loaded, *cgutils.unpack_tuple(builder, arguments[2]))

        return types.float64(state, j, scalars), codegen

    return value


def class_sums(term):
    """Build an intrinsic that sums `term` over the features of a row, for all classes at once.

    Each lane is a class and adds feature by feature, so a CSR row gives the result of the same dense row to
    the last bit: absent features add 0.

    ``term(builder, *state, x, *scalars)`` emits the terms of one feature for one vector of classes. They must
    be 0 for x = 0. `x` and the scalars fill all lanes. The intrinsic is ``f(state, x, scalars, sums)``:
    `state` is a tuple of float64 arrays of shape (n_features, width), `x` a dense or CSR row, `scalars` a
    tuple of float64, and `sums` the float64 result of shape (width,), width a multiple of 4.
    """

    @intrinsic
    def sums_of_classes(_typing_context, state, x, scalars, sums):
        def codegen(context, builder, signature, arguments):
            state_types, x_type, scalar_types, sums_type = signature.args
            arrays = [
                context.make_array(kind)(context, builder, builder.extract_value(arguments[0], i)).data
                for i, kind in enumerate(state_types)
            ]
            constants = [builder.extract_value(arguments[2], i) for i in range(len(scalar_types))]
            out = FlatArray(context, builder, sums_type, arguments[3])
            if is_sparse_row(x_type):
                data, indices = arrays_of(context, builder, x_type, arguments[1])
            else:
                data, indices = DenseRow(context, builder, x_type, arguments[1]), None
            width, intp = out.length, out.length.type
            begin = ir.Constant(intp, 0)
            for lanes in _CLASS_LANES:
                step = ir.Constant(intp, lanes)
                end = builder.mul(builder.udiv(width, step), step)
                with cgutils.for_range_slice(builder, begin, end, step, intp) as (first, _):
                    zero = ir.Constant(ir.VectorType(_DOUBLE, lanes), [0.0] * lanes)
                    total = cgutils.alloca_once_value(builder, zero)
                    scalars_there = [spread(builder, constant, lanes) for constant in constants]
                    with cgutils.for_range(builder, data.length, intp=intp) as loop:
                        feature = loop.index
                        if indices is not None:
                            feature = builder.zext(indices.load(builder, loop.index, 1), intp)
                        place = builder.add(builder.mul(feature, width), first)
                        values = [load_lanes(builder, array, place, lanes) for array in arrays]
                        x_j = spread(builder, data.load_double(builder, loop.index, 1), lanes)
                        added = term(builder, *values, x_j, *scalars_there)
                        builder.store(builder.fadd(builder.load(total), added), total)
                    out.store_double(builder, first, builder.load(total))
                begin = end
            return context.get_dummy_value()

        return types.void(state, x, scalars, sums), codegen

    return sums_of_classes


def load_lanes(builder, pointer, index, lanes):
    """Load `lanes` float64 values, starting at an index."""
    address = builder.gep(pointer, [index])
    value = builder.load(builder.bitcast(address, ir.VectorType(_DOUBLE, lanes).as_pointer()))
    value.align = 8
    return value
