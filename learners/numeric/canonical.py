"""Check that a CSR row is canonical: its column indices rise strictly within 0 … n_features - 1."""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from .arrays import FlatArray
from .compiled import INLINE
from .emitters import select
from .views import stretch

# Indices compared at once, in rows with at least that many. 32 are no faster than 16.
_MANY, _FEW = 16, 4


def _rising(lanes):
    """Build the intrinsic for rows with at least `lanes` indices."""

    @intrinsic
    def rises(_typing_context, indices, n_features):
        """Return whether the indices rise strictly within 0 … n_features - 1, in a kernel."""

        def codegen(context, builder, signature, arguments):
            values = FlatArray(context, builder, signature.args[0], arguments[0])
            intp, integer = values.length.type, values.pointer.type.pointee
            # The first index may be 0, so -1 precedes it.
            start = ir.Constant(ir.VectorType(integer, lanes), [-1] * lanes)
            everywhere = ir.Constant(ir.VectorType(ir.IntType(1), lanes), [1] * lanes)
            rising, before = (cgutils.alloca_once_value(builder, first) for first in (everywhere, start))

            def compare(place):
                here = values.load(builder, place, lanes)
                # Shuffle each lane's predecessor in: a second, unaligned load would cross cache lines.
                shifted = select(builder, builder.load(before), here, range(lanes - 1, 2 * lanes - 1))
                # On processors with mask registers the "and" is part of the comparison.
                rises_here = builder.icmp_signed("<", shifted, here)
                builder.store(builder.and_(builder.load(rising), rises_here), rising)
                builder.store(here, before)
                return here

            last = builder.sub(values.length, intp(lanes))
            end = builder.add(last, intp(1))
            with cgutils.for_range_slice(builder, intp(0), end, intp(lanes), intp) as (place, _):
                compare(place)
            # The last `lanes` indices are compared together, some of them a second time.
            builder.store(start, before)
            largest = builder.extract_element(compare(last), ir.IntType(32)(lanes - 1))
            bits = builder.bitcast(builder.load(rising), ir.IntType(lanes))
            rise = builder.icmp_unsigned("==", bits, bits.type(-1))
            bound = context.cast(builder, arguments[1], signature.args[1], types.int64)
            largest = context.cast(builder, largest, signature.args[0].dtype, types.int64)
            return builder.and_(rise, builder.icmp_signed("<", largest, bound))

        return types.boolean(indices, n_features), codegen

    return rises


_many_rise, _few_rise = _rising(_MANY), _rising(_FEW)


@register_jitable(**INLINE)
def is_canonical(indices, start, stop, n_features):
    """Return whether the CSR row start … stop - 1 exists and rises strictly within 0 … n_features - 1."""
    # As unsigned integers, negative positions are larger than any valid one.
    if not np.uintp(start) <= np.uintp(stop) <= np.uintp(indices.shape[0]):
        return False
    if stop - start >= _MANY:
        return _many_rise(stretch(indices, start, stop), n_features)
    if stop - start >= _FEW:
        return _few_rise(stretch(indices, start, stop), n_features)
    before = -1
    for k in range(np.uintp(start), np.uintp(stop)):
        if indices[k] <= before:
            return False
        before = indices[k]
    return before < n_features
