"""Sums over a row, and updates along it, as explicit vector code with the same result on every machine.

LLVM may not reorder floating-point sums, so a plain loop stays scalar. ``fastmath`` allows it, but then the
result depends on the width of the machine's vectors. This module fixes the order instead: two accumulators of
L lanes take turns, L terms at a time (a single remaining block of L terms goes to the first). The
accumulators are added and folded in a fixed tree, and the last ``n mod L`` of n terms are added one by one.
Sums use neither fast-math flags nor fused multiply-adds, so the result depends on the inputs alone.

All arithmetic is in float64; a float32 row is widened when loaded.
"""

from __future__ import annotations

import functools

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .arrays import DenseRow, FlatArray, is_sparse_row
from .emitters import emit_exponential, fold, load_vector, spread, store_vector
from .formulas import in_code

# Positive numbers below this one have fewer digits, and dividing by them may overflow.
SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)
# The distance from 1 to the next larger float64.
EPSILON = float(np.finfo(np.float64).eps)


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

# Numbers of entries that an update computes at once: 8 while there are 8 (an AVX-512 register has room for
# them), then 4, then 1. Without the 4, rows of 7 or 12 entries take up to 1.4 times as long.
_UPDATE_LANES = (8, 4, 1)

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
        vector = functools.reduce(builder.fadd, [builder.load(accumulator) for accumulator in total])
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


def pointers_of(context, builder, kinds, values):
    """Return pointers to the data of the arrays in a tuple."""
    return [
        context.make_array(kind)(context, builder, builder.extract_value(values, position)).data
        for position, kind in enumerate(kinds)
    ]


def row_of(context, builder, kind, value):
    """Return the values of a row and, if it is a CSR row, its column indices, else None."""
    if is_sparse_row(kind):
        data, indices = arrays_of(context, builder, kind, value)
        return data, indices
    return DenseRow(context, builder, kind, value), None


class _Entries:
    """The entries of a row during code generation, and the state at their features.

    The arguments are those of a `codegen` for ``f(state, x, scalars)``.
    """

    def __init__(self, context, builder, signature, arguments):
        self._builder = builder
        self._arrays = arrays_of(context, builder, signature.args[0], arguments[0])
        self._data, self._indices = row_of(context, builder, signature.args[1], arguments[1])
        self._scalars = cgutils.unpack_tuple(builder, arguments[2])
        self.length = self._data.length
        self.order = DENSE_ORDER if self._indices is None else SPARSE_ORDER

    def read(self, index, lanes):
        """Return the state, the row's values and the scalars for `lanes` entries from `index` on."""
        builder = self._builder
        if self._indices is None:
            state = [array.load_double(builder, index, lanes) for array in self._arrays]
        else:
            # Column indices are needed only to read state arrays; a sum such as ‖x‖² has none.
            columns = self._indices.load(builder, index, lanes) if self._arrays else None
            state = [array.gather_double(builder, columns, lanes) for array in self._arrays]
        scalars = [spread(builder, scalar, lanes) for scalar in self._scalars]
        return *state, self._data.load_double(builder, index, lanes), *scalars

    def write(self, index, lanes, new):
        """Store the new state of `lanes` entries from `index` on; None stands for an unchanged value."""
        builder = self._builder
        columns = None if self._indices is None else self._indices.load(builder, index, lanes)
        for array, value in zip(self._arrays, new, strict=True):
            if value is not None and columns is None:
                array.store_double(builder, index, value)
            elif value is not None:
                array.scatter_double(builder, columns, value, lanes)


def lane_sums(n_sums, terms):
    """Build an intrinsic that computes `n_sums` sums over the features of a row in one pass.

    ``terms(*state, x, *scalars)`` is the formula (see `formulas`) of a feature's terms, a list of `n_sums`.
    The intrinsic is ``f(state, x, scalars)``: `state` is a tuple of float64 arrays of shape (n_features,),
    `x` a dense row or a CSR row ``(data, indices)``, float32 or float64, indices within bounds, `scalars` a
    tuple of float64. It returns a float64, or a tuple of `n_sums` of them.
    """
    return lane_pass(n_sums, lambda *values: (None, terms(*values)))


def lane_pass(n_sums, step):
    """Build an intrinsic that updates state along a row and computes sums over it, in one pass.

    A learner applies the update of one row while it reads the next row, so that it reads the state once for
    both rows. The sums equal those of `lane_sums` over the updated state to the last bit.

    ``step(*state, x, *scalars)`` is the formula of a feature's update. It returns the list of new state
    values, None for an unchanged one, or None instead of the list, and the list of `n_sums` terms. The
    intrinsic is ``f(state, x, scalars)`` as for `lane_sums`; the arrays of `state` must not overlap, and each
    feature occurs once in a row.
    """
    result = types.float64 if n_sums == 1 else types.UniTuple(types.float64, n_sums)

    @intrinsic
    def pass_(_typing_context, state, x, scalars):
        def codegen(context, builder, signature, arguments):
            entries = _Entries(context, builder, signature, arguments)

            def emit(index, lanes):
                new, terms = in_code(step, builder, *entries.read(index, lanes))
                if new is not None:
                    entries.write(index, lanes, new)
                return terms

            totals = _sum_terms(builder, emit, n_sums, entries.length, *entries.order)
            return totals[0] if n_sums == 1 else context.make_tuple(builder, result, totals)

        return result(state, x, scalars), codegen

    return pass_


def lane_update(step):
    """Build an intrinsic that updates state at the entries of a row: ``f(state, x, scalars)``.

    ``step(*state, x, *scalars)`` is the formula of a feature's new state values, a list; `state` and
    `scalars` are as for `lane_sums`. Each feature occurs once in a row, so that the order of updates does not
    matter.
    """

    @intrinsic
    def update(_typing_context, state, x, scalars):
        def codegen(context, builder, signature, arguments):
            entries = _Entries(context, builder, signature, arguments)
            intp = entries.length.type
            begin = ir.Constant(intp, 0)
            for lanes in _UPDATE_LANES:
                stride = ir.Constant(intp, lanes)
                end = builder.mul(builder.udiv(entries.length, stride), stride)
                with cgutils.for_range_slice(builder, begin, end, stride, intp) as (index, _):
                    entries.write(index, lanes, in_code(step, builder, *entries.read(index, lanes)))
                begin = end
            return context.get_dummy_value()

        return types.void(state, x, scalars), codegen

    return update


def single_update(step):
    """Build an intrinsic ``f(state, place, scalars)`` that updates one number in each array of the state.

    `state` is a tuple of C-contiguous float64 arrays, and `place` the position in each of them, counted as if
    it had one dimension. ``step(*state, *scalars)`` is the formula of the new values, a list.
    """

    @intrinsic
    def update_one(_typing_context, state, place, scalars):
        def codegen(context, builder, signature, arguments):
            place = context.cast(builder, arguments[1], signature.args[1], types.intp)
            arrays = pointers_of(context, builder, signature.args[0], arguments[0])
            old = [load_vector(builder, array, place, 1) for array in arrays]
            new = in_code(step, builder, *old, *cgutils.unpack_tuple(builder, arguments[2]))
            for array, value in zip(arrays, new, strict=True):
                store_vector(builder, array, place, value)
            return context.get_dummy_value()

        return types.void(state, place, scalars), codegen

    return update_one


def class_sums(term):
    """Build an intrinsic that sums `term` over the features of a row, for all classes at once.

    Each lane is a class and adds feature by feature, so a CSR row gives the result of the same dense row to
    the last bit: absent features add 0.

    ``term(*state, x, *scalars)`` is the formula of a feature's term for one class. It must be 0 for x = 0.
    `x` and the scalars fill all lanes. The intrinsic is ``f(state, x, scalars, sums)``: `state` is a tuple of
    float64 arrays of shape (n_features, width), `x` a dense or CSR row, `scalars` a tuple of float64, and
    `sums` the float64 result of shape (width,), width a multiple of 4.
    """

    @intrinsic
    def sums_of_classes(_typing_context, state, x, scalars, sums):
        def codegen(context, builder, signature, arguments):
            arrays = pointers_of(context, builder, signature.args[0], arguments[0])
            data, indices = row_of(context, builder, signature.args[1], arguments[1])
            constants = cgutils.unpack_tuple(builder, arguments[2])
            out = FlatArray(context, builder, signature.args[3], arguments[3])
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
                        values = [load_vector(builder, array, place, lanes) for array in arrays]
                        x_j = spread(builder, data.load_double(builder, loop.index, 1), lanes)
                        added = in_code(term, builder, *values, x_j, *scalars_there)
                        builder.store(builder.fadd(builder.load(total), added), total)
                    out.store_double(builder, first, builder.load(total))
                begin = end
            return context.get_dummy_value()

        return types.void(state, x, scalars, sums), codegen

    return sums_of_classes
