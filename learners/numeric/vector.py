"""Passes over a row as explicit vector code: full speed, and the same value on every machine.

LLVM may not reorder floating-point sums, so a plain loop stays scalar; ``fastmath`` lets it, but then the
value depends on how wide the machine's vectors are. Here the order is written down instead: two accumulators
of L lanes take turns at the terms, L at a time (what is left for one alone goes to the first); they are
added and folded in a fixed tree, and the last ``n mod L`` terms are added one by one. No fast-math flag and
no fused multiply-add is used, so the value is a function of the inputs alone.

All arithmetic is in float64, whatever the precision of the data: a float32 row is widened as it is loaded.
(Over 300 lines: the builders of passes share how arrays are read and sums are folded.)
"""

from functools import reduce

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

# (lanes, accumulators). Dense: 16 float64 lanes are two AVX-512, four AVX2 or eight NEON registers, and two
# such accumulators hide the latency of an addition on all of them. Sparse: the weights are gathered one by
# one anyway and rows are short, so a step of 8 leaves fewer terms to the scalar tail.
_DENSE = (16, 2)
_SPARSE = (4, 2)
# Classes taken together: 32 float64 sums are eight AVX2 registers, which hides the latency of an addition.
_CLASS_LANES = (32, 16, 8, 4)

# Pairs of indices compared at once; with 8 or 32 a pass takes as long.
_PAIRS = 16

# A dense matrix is read this far ahead. The processor's own prefetcher stops at every 4 KiB page and starts
# late in the next; 8 KiB ahead takes 15 to 25% off a pass over rows of 784 float32 (16 KiB: the same; 2 KiB:
# a third of that).
_AHEAD, _LINE = 8192, 64
# llvm.prefetch: a read, into all levels of the cache, of data.
_READ_DATA_SOON = (0, 3, 1)

_DOUBLE = ir.DoubleType()
_INT32 = ir.IntType(32)


def is_sparse_row(x):
    """Tell whether a Numba type is a CSR row ``(data, indices)`` rather than a dense one.

    Those are 1-D arrays or, read in an order, tuples ``(row, row to come)``.
    """
    return isinstance(x, types.BaseTuple) and isinstance(x[1].dtype, types.Integer)


class _Array:
    """A 1-D C-contiguous array while code is generated: its pointer, length and Numba type."""

    def __init__(self, context, builder, kind, value):
        if kind.layout != "C":
            raise TypeError(f"rows and state must be C-contiguous, got layout {kind.layout!r}")
        struct = context.make_array(kind)(context, builder, value)
        self.kind = kind
        self.pointer = struct.data
        self.length = cgutils.unpack_tuple(builder, struct.shape, 1)[0]

    def load(self, builder, index, lanes):
        """Load the values at index, index + 1, … (`lanes` of them; 1: a scalar)."""
        address = builder.gep(self.pointer, [index])
        if lanes > 1:
            vector = ir.VectorType(self.pointer.type.pointee, lanes)
            address = builder.bitcast(address, vector.as_pointer())
        value = builder.load(address)
        # A row starts wherever it starts: only the alignment of one element is certain.
        value.align = self.kind.dtype.bitwidth // 8
        return value

    def prefetch(self, builder, index, n_bytes, ahead=0):
        """Ask for `n_bytes` that begin `ahead` bytes after an element; past the end nothing happens."""
        for line in range(0, n_bytes, _LINE):
            address = builder.bitcast(builder.gep(self.pointer, [index]), ir.IntType(8).as_pointer())
            address = builder.gep(address, [ir.Constant(index.type, ahead + line)])
            kind = ir.FunctionType(ir.VoidType(), [address.type, _INT32, _INT32, _INT32])
            ask = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
            builder.call(ask, [address, *(ir.Constant(_INT32, option) for option in _READ_DATA_SOON)])

    def load_double(self, builder, index, lanes):
        """Load as `load` does, widened to float64."""
        value = self.load(builder, index, lanes)
        if self.kind.dtype == types.float64:
            return value
        return builder.fpext(value, _DOUBLE if lanes == 1 else ir.VectorType(_DOUBLE, lanes))

    def store_double(self, builder, index, value):
        """Store what `load_double` loads from a float64 array."""
        address = builder.gep(self.pointer, [index])
        if isinstance(value.type, ir.VectorType):
            address = builder.bitcast(address, value.type.as_pointer())
        builder.store(value, address).align = 8

    def gather_double(self, builder, positions, lanes):
        """Load the float64 values at the given positions (a vector of `lanes` indices, or one index)."""
        if lanes == 1:
            return self.load_double(builder, positions, 1)
        result = ir.Constant(ir.VectorType(_DOUBLE, lanes), ir.Undefined)
        for lane in range(lanes):
            number = ir.Constant(_INT32, lane)
            value = self.load_double(builder, builder.extract_element(positions, number), 1)
            result = builder.insert_element(result, value, number)
        return result


class _DenseRow(_Array):
    """A dense row while code is generated; what comes after it is asked for as it is read.

    That is the row to come, where there is an order; else what lies `_AHEAD` bytes on.
    """

    def __init__(self, context, builder, kind, value):
        in_order = isinstance(kind, types.BaseTuple)
        if in_order:
            following = _Array(context, builder, kind[1], builder.extract_value(value, 1))
            kind, value = kind[0], builder.extract_value(value, 0)
        super().__init__(context, builder, kind, value)
        self._to_come = (following, 0) if in_order else (self, _AHEAD)

    def load_double(self, builder, index, lanes):
        # The scalars behind the last vector share its line.
        if lanes > 1:
            array, ahead = self._to_come
            array.prefetch(builder, index, lanes * self.kind.dtype.bitwidth // 8, ahead)
        return super().load_double(builder, index, lanes)


@intrinsic
def prefetch(_typing_context, array, start, stop):
    """Ask for elements start … stop - 1 of an array, in a kernel."""

    def codegen(context, builder, signature, arguments):
        kind = signature.args[0]
        values = _Array(context, builder, kind, arguments[0])
        start, stop = (context.cast(builder, arguments[i], signature.args[i], types.intp) for i in (1, 2))
        step = ir.Constant(start.type, _LINE * 8 // kind.dtype.bitwidth)
        with cgutils.for_range_slice(builder, start, stop, step, start.type) as (index, _):
            values.prefetch(builder, index, _LINE)
        return context.get_dummy_value()

    return types.void(array, start, stop), codegen


@intrinsic
def rises(_typing_context, array):
    """Tell whether every element of an array of integers is above the one before, in a kernel."""

    def codegen(context, builder, signature, arguments):
        values = _Array(context, builder, signature.args[0], arguments[0])
        intp, bit = values.length.type, ir.IntType(1)
        one, lanes = ir.Constant(intp, 1), ir.Constant(intp, _PAIRS)
        falls = cgutils.alloca_once_value(builder, ir.Constant(bit, 0))

        def note_falls(noted, index, lanes):
            before = values.load(builder, builder.sub(index, one), lanes)
            fall = builder.icmp_signed(">=", before, values.load(builder, index, lanes))
            builder.store(builder.or_(builder.load(noted), fall), noted)

        with builder.if_else(builder.icmp_signed(">", values.length, lanes)) as (is_long, is_short):
            with is_long:
                noted = cgutils.alloca_once_value(
                    builder, ir.Constant(ir.VectorType(bit, _PAIRS), [0] * _PAIRS)
                )
                # The last pairs are looked at together, some of them a second time.
                last = builder.sub(values.length, lanes)
                with cgutils.for_range_slice(builder, one, last, lanes, intp) as (index, _):
                    note_falls(noted, index, _PAIRS)
                note_falls(noted, last, _PAIRS)
                bits = builder.bitcast(builder.load(noted), ir.IntType(_PAIRS))
                builder.store(builder.icmp_unsigned("!=", bits, ir.Constant(bits.type, 0)), falls)
            with is_short, cgutils.for_range_slice(builder, one, values.length, one, intp) as (index, _):
                note_falls(falls, index, 1)
        return builder.not_(builder.load(falls))

    return types.boolean(array), codegen


def _spread(builder, scalar, lanes):
    """Return a vector whose lanes all hold `scalar` (1 lane: the scalar itself)."""
    if lanes == 1:
        return scalar
    undefined = ir.Constant(ir.VectorType(_DOUBLE, lanes), ir.Undefined)
    first = builder.insert_element(undefined, scalar, ir.Constant(_INT32, 0))
    return builder.shuffle_vector(first, undefined, ir.Constant(ir.VectorType(_INT32, lanes), [0] * lanes))


def constant_like(value, number):
    """Return a constant of the type of a float64 or of a vector of them."""
    if isinstance(value.type, ir.VectorType):
        return ir.Constant(value.type, [number] * value.type.count)
    return ir.Constant(value.type, number)


def zero_like(value):
    """Return the constant 0 of the type of a float64 or of a vector of them."""
    return constant_like(value, 0.0)


def _fold(builder, vector):
    """Add the lanes of a vector in a fixed tree: upper half onto lower half until one is left."""
    width = vector.type.count
    while width > 1:
        width //= 2
        index = ir.VectorType(_INT32, width)
        undefined = ir.Constant(vector.type, ir.Undefined)
        low = builder.shuffle_vector(vector, undefined, ir.Constant(index, list(range(width))))
        high = builder.shuffle_vector(vector, undefined, ir.Constant(index, list(range(width, 2 * width))))
        vector = builder.fadd(low, high)
    return builder.extract_element(vector, ir.Constant(_INT32, 0))


def _sum_terms(builder, emit, n_sums, length, lanes, accumulators):
    """Emit the loops that add ``emit(index, lanes)`` over 0 … length - 1; return the `n_sums` totals."""
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
        folded.append(cgutils.alloca_once_value(builder, _fold(builder, vector)))
    one = ir.Constant(intp, 1)
    with cgutils.for_range_slice(builder, whole_lanes, length, one, intp) as (index, _):
        for total, term in zip(folded, emit(index, 1), strict=True):
            builder.store(builder.fadd(builder.load(total), term), total)
    return [builder.load(total) for total in folded]


def lane_sums(n_sums, terms, with_scalars=False):
    """Build an intrinsic that sums `terms` over the features of a row.

    Parameters
    ----------
    n_sums : int
        How many sums are taken in one read of the row.
    terms : callable
        ``terms(builder, *state, x, *scalars)`` emits the terms of one feature, or of one vector of features,
        as a list of `n_sums` float64 values; `state` are the values of the state arrays there, `x` those of
        the row.
    with_scalars : bool, default=False
        Whether it takes scalars.

    Returns
    -------
    intrinsic
        ``f(state, x)``, or ``f(state, x, scalars)`` with scalars: `state` is a tuple of float64 arrays of
        shape (n_features,), `x` a dense row or a CSR row ``(data, indices)``, float32 or float64, indices
        within bounds, `scalars` a tuple of float64. The result is a float64, or a tuple of `n_sums` of them.
    """
    result = types.float64 if n_sums == 1 else types.UniTuple(types.float64, n_sums)

    def codegen(context, builder, signature, arguments):
        state_types, x_type = signature.args[:2]
        n_scalars = len(signature.args[2]) if with_scalars else 0
        constants = [builder.extract_value(arguments[2], i) for i in range(n_scalars)]
        arrays = [
            _Array(context, builder, kind, builder.extract_value(arguments[0], position))
            for position, kind in enumerate(state_types)
        ]
        if is_sparse_row(x_type):
            data, indices = (
                _Array(context, builder, kind, builder.extract_value(arguments[1], position))
                for position, kind in enumerate(x_type)
            )

            def emit(index, lanes):
                # Without state (a norm) nothing is looked up by column.
                columns = indices.load(builder, index, lanes) if arrays else None
                gathered = [array.gather_double(builder, columns, lanes) for array in arrays]
                value = data.load_double(builder, index, lanes)
                return terms(builder, *gathered, value, *(_spread(builder, c, lanes) for c in constants))

            totals = _sum_terms(builder, emit, n_sums, data.length, *_SPARSE)
        else:
            row = _DenseRow(context, builder, x_type, arguments[1])

            def emit(index, lanes):
                values = [array.load_double(builder, index, lanes) for array in [*arrays, row]]
                return terms(builder, *values, *(_spread(builder, c, lanes) for c in constants))

            totals = _sum_terms(builder, emit, n_sums, row.length, *_DENSE)
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
    """Build an intrinsic that changes state along a dense row and sums over the row, in one pass.

    So a learner applies the update of one row while it reads the next: the state is read once for both, and
    memory is never idle. The sums are those, to the last bit, that `lane_sums` takes from the changed state.

    Parameters
    ----------
    n_sums : int
        How many sums are taken.
    step : callable
        ``step(builder, *state, x, *scalars)`` emits the work on one feature, or on one vector of features,
        and returns the new state, a list with None for what stays as it is, and the list of `n_sums` terms.

    Returns
    -------
    intrinsic
        ``f(state, x, scalars)``: `state` is a tuple of float64 arrays of shape (n_features,), none
        overlapping another, `x` a dense row, `scalars` a tuple of float64. Returns as `lane_sums`.
    """

    @intrinsic
    def pass_(_typing_context, state, x, scalars):
        result = types.float64 if n_sums == 1 else types.UniTuple(types.float64, n_sums)

        def codegen(context, builder, signature, arguments):
            state_types, x_type, scalar_types = signature.args
            arrays = [
                _Array(context, builder, kind, builder.extract_value(arguments[0], position))
                for position, kind in enumerate(state_types)
            ]
            row = _DenseRow(context, builder, x_type, arguments[1])
            constants = [builder.extract_value(arguments[2], i) for i in range(len(scalar_types))]

            def emit(index, lanes):
                values = [array.load_double(builder, index, lanes) for array in [*arrays, row]]
                new, terms = step(builder, *values, *(_spread(builder, c, lanes) for c in constants))
                for array, value in zip(arrays, new, strict=True):
                    if value is not None:
                        array.store_double(builder, index, value)
                return terms

            totals = _sum_terms(builder, emit, n_sums, row.length, *_DENSE)
            return totals[0] if n_sums == 1 else context.make_tuple(builder, result, totals)

        return result(state, x, scalars), codegen

    return pass_


def class_sums(term):
    """Build an intrinsic that sums `term` over the features of a row, for all classes at once.

    The classes are the lanes: the sum of each is taken feature by feature, so that a CSR row gives the value
    of the same dense row to the last bit (the features it leaves out add 0).

    Parameters
    ----------
    term : callable
        ``term(builder, *state, x, *scalars)`` emits the terms of one feature for one vector of classes, 0 for
        x = 0; `state` are the values of the state arrays there, `x` and the scalars fill all lanes.

    Returns
    -------
    intrinsic
        ``f(state, x, scalars, sums)``: `state` is a tuple of float64 arrays of shape (n_features, width), x
        a dense or CSR row, `scalars` a tuple of float64; writes to `sums`, float64 of shape (width,). The
        width is a multiple of 4.
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
            out = _Array(context, builder, sums_type, arguments[3])
            if is_sparse_row(x_type):
                data, indices = (
                    _Array(context, builder, kind, builder.extract_value(arguments[1], i))
                    for i, kind in enumerate(x_type)
                )
            else:
                data, indices = _DenseRow(context, builder, x_type, arguments[1]), None
            width, intp = out.length, out.length.type
            begin = ir.Constant(intp, 0)
            for lanes in _CLASS_LANES:
                step = ir.Constant(intp, lanes)
                end = builder.mul(builder.udiv(width, step), step)
                with cgutils.for_range_slice(builder, begin, end, step, intp) as (first, _):
                    zero = ir.Constant(ir.VectorType(_DOUBLE, lanes), [0.0] * lanes)
                    total = cgutils.alloca_once_value(builder, zero)
                    spread = [_spread(builder, constant, lanes) for constant in constants]
                    with cgutils.for_range(builder, data.length, intp=intp) as loop:
                        feature = loop.index
                        if indices is not None:
                            feature = builder.zext(indices.load(builder, loop.index, 1), intp)
                        place = builder.add(builder.mul(feature, width), first)
                        values = [_load_lanes(builder, array, place, lanes) for array in arrays]
                        x_j = _spread(builder, data.load_double(builder, loop.index, 1), lanes)
                        added = term(builder, *values, x_j, *spread)
                        builder.store(builder.fadd(builder.load(total), added), total)
                    out.store_double(builder, first, builder.load(total))
                begin = end
            return context.get_dummy_value()

        return types.void(state, x, scalars, sums), codegen

    return sums_of_classes


def _load_lanes(builder, pointer, index, lanes):
    """Load `lanes` float64 values from an index on."""
    address = builder.gep(pointer, [index])
    value = builder.load(builder.bitcast(address, ir.VectorType(_DOUBLE, lanes).as_pointer()))
    value.align = 8
    return value
