"""Sums and updates of several models at once: the models of one learner with different parameters.

Their state arrays have shape (d, LANES): the LANES values of one feature fill a cache line. The arithmetic is
that of a model that learns alone: sums in the order of `vector`, and the same operations in an update.
"""

from functools import reduce

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .arrays import emit_prefetch, is_sparse_row
from .emitters import load_vector, spread, store_vector
from .formulas import in_code
from .lanes import LANES, as_vector, lanes, mask
from .vector import DENSE_ORDER, SPARSE_ORDER, pointers_of, row_of

# Number of partial sums that a loop keeps in vector registers, of which processors have 16 or 32.
_TOGETHER = 8

_DOUBLES = ir.VectorType(ir.DoubleType(), LANES)


def _entries(context, builder, kind, value):
    """Return a function that reads entry k of a row, the number of entries, and the order to add them in.

    The order is `DENSE_ORDER` or `SPARSE_ORDER` of the module `vector`.
    """
    data, indices = row_of(context, builder, kind, value)
    intp, order = data.length.type, DENSE_ORDER if indices is None else SPARSE_ORDER

    def entry(k):
        feature = k if indices is None else builder.zext(indices.load(builder, k, 1), intp)
        place = builder.mul(feature, intp(LANES))
        return place, spread(builder, data.load_double(builder, k, 1), LANES)

    return entry, data.length, order


def _add_up(builder, emit, n_sums, length, order):
    """Generate loops that add up the vectors that ``emit(k)`` returns for k from 0 to `length` - 1."""
    lanes, accumulators, bits = order
    intp, slots = length.type, lanes * accumulators
    step, lane_step = intp(slots), intp(lanes)
    whole = builder.mul(builder.udiv(length, step), step)
    whole_lanes = builder.mul(builder.udiv(length, lane_step), lane_step)
    zero = ir.Constant(_DOUBLES, [0.0] * LANES)
    folded = [cgutils.alloca_once_value(builder, zero) for _ in range(n_sums)]

    def fold(parts):
        values = {lane: reduce(builder.fadd, parts[lane::lanes]) for lane in range(lanes)}
        for bit in bits:
            values = {
                lane: builder.fadd(value, values[lane | 1 << bit])
                for lane, value in values.items()
                if not lane >> bit & 1
            }
        return values[0]

    # A row that has fewer entries than a step (lanes * accumulators) needs only the first accumulator. The
    # partial sums of that one fit into registers, which makes short rows faster.
    with builder.if_else(builder.icmp_unsigned("<", length, step)) as (short, long):
        with short:
            terms = [[] for _ in range(n_sums)]
            with builder.if_then(builder.icmp_unsigned("!=", whole_lanes, intp(0))):
                for slot in range(lanes):
                    for total, term in zip(terms, emit(intp(slot)), strict=True):
                        # The sums of long rows begin with 0. Adding 0 to a term of a short row gives the same
                        # result: it turns -0.0 into 0.0.
                        total.append(builder.fadd(zero, term))
                for total, values in zip(folded, terms, strict=True):
                    builder.store(fold(values), total)
        with long:
            sums = [[] for _ in range(n_sums)]
            for first in range(0, slots, _TOGETHER):
                places = range(first, first + _TOGETHER)
                for total in sums:
                    total += [cgutils.alloca_once_value(builder, zero) for _ in places]
                with cgutils.for_range_slice(builder, intp(0), whole, step, intp) as (index, _):
                    for slot in places:
                        for total, term in zip(sums, emit(builder.add(index, intp(slot))), strict=True):
                            builder.store(builder.fadd(builder.load(total[slot]), term), total[slot])
            with cgutils.for_range_slice(builder, whole, whole_lanes, lane_step, intp) as (index, _):
                for slot in range(lanes):
                    for total, term in zip(sums, emit(builder.add(index, intp(slot))), strict=True):
                        builder.store(builder.fadd(builder.load(total[slot]), term), total[slot])
            for total, values in zip(folded, sums, strict=True):
                builder.store(fold([builder.load(value) for value in values]), total)
    with cgutils.for_range_slice(builder, whole_lanes, length, intp(1), intp) as (index, _):
        for total, term in zip(folded, emit(index), strict=True):
            builder.store(builder.fadd(builder.load(total), term), total)
    return [builder.load(total) for total in folded]


def model_sums(n_sums, terms):
    """Build an intrinsic ``f(state, x)`` that returns sums over the features of a row, as `lanes`.

    ``terms(*state, x)`` is the formula of a feature's terms, as for `vector.lane_sums`. `state` is a tuple
    of float64 arrays of shape (d, LANES). The result is a tuple if `n_sums` > 1.
    """
    result = lanes if n_sums == 1 else types.UniTuple(lanes, n_sums)

    @intrinsic
    def sums_of_models(_typing_context, state, x):
        def codegen(context, builder, signature, arguments):
            pointers = pointers_of(context, builder, signature.args[0], arguments[0])
            entry, length, order = _entries(context, builder, signature.args[1], arguments[1])

            def emit(k):
                place, x_j = entry(k)
                loaded = [load_vector(builder, each, place, LANES) for each in pointers]
                return in_code(terms, builder, *loaded, x_j)

            totals = _add_up(builder, emit, n_sums, length, order)
            return totals[0] if n_sums == 1 else context.make_tuple(builder, result, totals)

        return result(state, x), codegen

    return sums_of_models


def model_update(step):
    """Build an intrinsic ``f(state, x, scalars, updated)`` that updates some of the models with a row.

    ``step(*state, x, *scalars)`` is the formula of a feature's new state values. `scalars` is a tuple of
    `lanes` or numbers; `updated` is the `mask` of the models to update.
    """

    @intrinsic
    def update_models(_typing_context, state, x, scalars, updated):
        def codegen(context, builder, signature, arguments):
            pointers = pointers_of(context, builder, signature.args[0], arguments[0])
            entry, length, _ = _entries(context, builder, signature.args[1], arguments[1])
            numbers = [
                as_vector(context, builder, lanes, kind, builder.extract_value(arguments[2], i))
                for i, kind in enumerate(signature.args[2])
            ]
            chosen = as_vector(context, builder, mask, signature.args[3], arguments[3])
            with cgutils.for_range(builder, length, intp=length.type) as loop:
                place, x_j = entry(loop.index)
                old = [load_vector(builder, each, place, LANES) for each in pointers]
                # Models that are not in `updated` keep their old values by selection. An update of size 0
                # could change them, since -0.0 + 0.0 is 0.0, and 0 times infinity is NaN.
                new = in_code(step, builder, *old, x_j, *numbers)
                for each, before, after in zip(pointers, old, new, strict=True):
                    store_vector(builder, each, place, builder.select(chosen, after, before))
            return context.get_dummy_value()

        return types.void(state, x, scalars, updated), codegen

    return update_models


@intrinsic
def prefetch_models(_typing_context, state, x):
    """Prefetch the state (see `model_sums`) of a sparse row's features; do nothing for a dense row."""

    def codegen(context, builder, signature, arguments):
        if is_sparse_row(signature.args[1]):
            pointers = pointers_of(context, builder, signature.args[0], arguments[0])
            entry, length, _ = _entries(context, builder, signature.args[1], arguments[1])
            with cgutils.for_range(builder, length, intp=length.type) as loop:
                place, _ = entry(loop.index)
                for pointer in pointers:
                    emit_prefetch(builder, builder.gep(pointer, [place]))
        return context.get_dummy_value()

    return types.void(state, x), codegen
