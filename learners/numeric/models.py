"""Sums and updates of several models at once: the models of one learner with different parameters.

Their state arrays have shape (d, LANES): the LANES values of one feature fill a cache line. Each model gets
the arithmetic that it gets alone: sums in the order of `vector`, and the same operations in an update.
"""

from functools import reduce

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .arrays import DenseRow, is_sparse_row
from .emitters import spread
from .vector import DENSE_ORDER, SPARSE_ORDER, arrays_of, load_lanes

#: Models that are learnt together: 8 float64 are a cache line, and a vector of AVX-512.
LANES = 8

# Partial sums that a loop keeps in registers; processors have 16 or 32.
_TOGETHER = 8

_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)
_INTEGERS = ir.VectorType(ir.IntType(64), LANES)


def _pointers(context, builder, kinds, values):
    """Return the pointers of a tuple of arrays."""
    return [
        context.make_array(kind)(context, builder, builder.extract_value(values, i)).data
        for i, kind in enumerate(kinds)
    ]


def _store_lanes(builder, pointer, place, value):
    address = builder.gep(pointer, [place])
    builder.store(value, builder.bitcast(address, _DOUBLES.as_pointer())).align = 8


def _entries(context, builder, kind, value):
    """Return a function that reads the k-th entry of a row, the number of entries, and the order of sums."""
    if is_sparse_row(kind):
        data, indices = arrays_of(context, builder, kind, value)
        order = SPARSE_ORDER
    else:
        data, indices, order = DenseRow(context, builder, kind, value), None, DENSE_ORDER
    intp = data.length.type

    def entry(k):
        feature = k if indices is None else builder.zext(indices.load(builder, k, 1), intp)
        place = builder.mul(feature, intp(LANES))
        return place, spread(builder, data.load_double(builder, k, 1), LANES)

    return entry, data.length, order


def _add_up(builder, emit, n_sums, length, order):
    """Generate loops that add up the vectors that `emit` generates, in `order`; return `n_sums` totals."""
    lanes, accumulators, bits = order
    intp, slots = length.type, lanes * accumulators
    step, lane_step = intp(slots), intp(lanes)
    whole = builder.mul(builder.udiv(length, step), step)
    whole_lanes = builder.mul(builder.udiv(length, lane_step), lane_step)
    zero = ir.Constant(_DOUBLES, [0.0] * LANES)
    sums = [[cgutils.alloca_once_value(builder, zero) for _ in range(slots)] for _ in range(n_sums)]

    def add(index, slot):
        for total, term in zip(sums, emit(builder.add(index, intp(slot))), strict=True):
            builder.store(builder.fadd(builder.load(total[slot]), term), total[slot])

    for first in range(0, slots, _TOGETHER):
        with cgutils.for_range_slice(builder, intp(0), whole, step, intp) as (index, _):
            for slot in range(first, first + _TOGETHER):
                add(index, slot)
    with cgutils.for_range_slice(builder, whole, whole_lanes, lane_step, intp) as (index, _):
        for slot in range(lanes):
            add(index, slot)
    folded = []
    for total in sums:
        parts = [builder.load(slot) for slot in total]
        values = {lane: reduce(builder.fadd, parts[lane::lanes]) for lane in range(lanes)}
        for bit in bits:
            values = {
                lane: builder.fadd(value, values[lane | 1 << bit])
                for lane, value in values.items()
                if not lane >> bit & 1
            }
        folded.append(cgutils.alloca_once_value(builder, values[0]))
    with cgutils.for_range_slice(builder, whole_lanes, length, intp(1), intp) as (index, _):
        for total, term in zip(folded, emit(index), strict=True):
            builder.store(builder.fadd(builder.load(total), term), total)
    return [builder.load(total) for total in folded]


def model_sums(n_sums, terms):
    """Build an intrinsic ``f(state, x, sums)`` that writes sums over the features of a row, for all models.

    ``terms(builder, *state, x)`` emits the terms of one feature as for `vector.lane_sums`. `state` is a tuple
    of float64 arrays of shape (d, LANES), `sums` a float64 array of shape (n_sums, LANES).
    """

    @intrinsic
    def sums_of_models(_typing_context, state, x, sums):
        def codegen(context, builder, signature, arguments):
            pointers = _pointers(context, builder, signature.args[0], arguments[0])
            entry, length, order = _entries(context, builder, signature.args[1], arguments[1])
            out = context.make_array(signature.args[2])(context, builder, arguments[2]).data

            def emit(k):
                place, x_j = entry(k)
                return terms(builder, *[load_lanes(builder, each, place, LANES) for each in pointers], x_j)

            for i, total in enumerate(_add_up(builder, emit, n_sums, length, order)):
                _store_lanes(builder, out, length.type(i * LANES), total)
            return context.get_dummy_value()

        return types.void(state, x, sums), codegen

    return sums_of_models


def model_update(step):
    """Build an intrinsic ``f(state, x, scalars, mask)`` that updates some of the models along a row.

    ``step(builder, *state, x, *scalars)`` emits the new state values of one feature. `scalars` is a tuple of
    float64 arrays of shape (LANES,); `mask` is an int64 array of that shape, not 0 for models to update.
    """

    @intrinsic
    def update_models(_typing_context, state, x, scalars, mask):
        def codegen(context, builder, signature, arguments):
            pointers = _pointers(context, builder, signature.args[0], arguments[0])
            entry, length, _ = _entries(context, builder, signature.args[1], arguments[1])
            intp = length.type
            numbers = [
                load_lanes(builder, each, intp(0), LANES)
                for each in _pointers(context, builder, signature.args[2], arguments[2])
            ]
            pointer = context.make_array(signature.args[3])(context, builder, arguments[3]).data
            asked = builder.load(builder.bitcast(pointer, _INTEGERS.as_pointer()))
            asked.align = 8
            chosen = builder.icmp_signed("!=", asked, ir.Constant(_INTEGERS, [0] * LANES))
            with cgutils.for_range(builder, length, intp=intp) as loop:
                place, x_j = entry(loop.index)
                old = [load_lanes(builder, each, place, LANES) for each in pointers]
                # A step of 0 is not enough: -0.0 + 0.0 is 0.0, and 0 times infinity NaN.
                for each, before, after in zip(
                    pointers, old, step(builder, *old, x_j, *numbers), strict=True
                ):
                    _store_lanes(builder, each, place, builder.select(chosen, after, before))
            return context.get_dummy_value()

        return types.void(state, x, scalars, mask), codegen

    return update_models


def numbers_of(rules):
    """Return the fields of up to LANES rules as an array of shape (n_fields, LANES).

    The last rule stands for missing ones.
    """
    columns = [*rules, *[rules[-1]] * (LANES - len(rules))]
    return np.array([[rule[i] for rule in columns] for i in range(len(rules[0]))], np.float64)


@intrinsic
def rule_at(_typing_context, rule, numbers, lane):
    """Return the rule of one model: `rule` with floats of column `lane` of `numbers` (compiled code only)."""

    def codegen(context, builder, signature, arguments):
        kind = signature.args[0]
        pointer = context.make_array(signature.args[1])(context, builder, arguments[1]).data
        lane = context.cast(builder, arguments[2], signature.args[2], types.intp)
        fields = []
        for i, field in enumerate(kind):
            value = builder.extract_value(arguments[0], i)
            if field == types.float64:
                value = builder.load(builder.gep(pointer, [builder.add(lane, lane.type(i * LANES))]))
            fields.append(value)
        return context.make_tuple(builder, kind, fields)

    return rule(rule, numbers, lane), codegen
