"""Arrays while code is generated: vectors loaded from them, stored and gathered, and asked for early."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

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


class FlatArray:
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


class DenseRow(FlatArray):
    """A dense row while code is generated; what comes after it is asked for as it is read.

    That is the row to come, where there is an order; else what lies `_AHEAD` bytes on.
    """

    def __init__(self, context, builder, kind, value):
        in_order = isinstance(kind, types.BaseTuple)
        if in_order:
            following = FlatArray(context, builder, kind[1], builder.extract_value(value, 1))
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
        values = FlatArray(context, builder, kind, arguments[0])
        start, stop = (context.cast(builder, arguments[i], signature.args[i], types.intp) for i in (1, 2))
        step = ir.Constant(start.type, _LINE * 8 // kind.dtype.bitwidth)
        with cgutils.for_range_slice(builder, start, stop, step, start.type) as (index, _):
            values.prefetch(builder, index, _LINE)
        return context.get_dummy_value()

    return types.void(array, start, stop), codegen
