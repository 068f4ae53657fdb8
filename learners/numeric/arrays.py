"""Emit LLVM code that loads, stores, gathers and prefetches elements of arrays, singly or as vectors."""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .emitters import load_vector, store_vector

# Distance in bytes at which loops over a dense matrix prefetch, and size in bytes of a cache line. The
# processor's own prefetcher stops at every 4 KiB page. Prefetching 8 KiB ahead makes a pass over rows of 784
# float32 values 15 to 25% faster. A distance of 16 KiB is no better; 2 KiB gives a third of the gain.
_AHEAD, _LINE = 8192, 64
# Arguments of llvm.prefetch: read (0), keep in all cache levels (3), data rather than instructions (1).
_READ_DATA_SOON = (0, 3, 1)

_DOUBLE = ir.DoubleType()
_INT32 = ir.IntType(32)


def is_sparse_row(x):
    """Return whether a Numba type is a CSR row ``(data, indices)``.

    Otherwise it is a dense row: a 1-D array or, if its matrix comes with a row order, a tuple of the row and
    an array to prefetch, whose values are needed next.
    """
    return isinstance(x, types.BaseTuple) and isinstance(x[1].dtype, types.Integer)


def emit_prefetch(builder, address):
    """Emit a prefetch of the cache line at an address; any address is harmless."""
    address = builder.bitcast(address, ir.IntType(8).as_pointer())
    kind = ir.FunctionType(ir.VoidType(), [address.type, _INT32, _INT32, _INT32])
    function = builder.module.declare_intrinsic("llvm.prefetch", [address.type], kind)
    builder.call(function, [address, *(ir.Constant(_INT32, option) for option in _READ_DATA_SOON)])


class FlatArray:
    """The LLVM values of a 1-D C-contiguous array during code generation: pointer, length and Numba type."""

    def __init__(self, context, builder, kind, value):
        if kind.layout != "C":
            raise TypeError(f"rows and state must be C-contiguous, got layout {kind.layout!r}")
        struct = context.make_array(kind)(context, builder, value)
        self.kind = kind
        self.pointer = struct.data
        self.length = cgutils.unpack_tuple(builder, struct.shape, 1)[0]

    def load(self, builder, index, lanes):
        """Load `lanes` consecutive values; a scalar if `lanes` is 1."""
        return load_vector(builder, self.pointer, index, lanes)

    def prefetch(self, builder, index, n_bytes, ahead=0):
        """Prefetch `n_bytes` that start `ahead` bytes after element `index`; safe past the array's end."""
        address = builder.bitcast(builder.gep(self.pointer, [index]), ir.IntType(8).as_pointer())
        for line in range(0, n_bytes, _LINE):
            emit_prefetch(builder, builder.gep(address, [ir.Constant(index.type, ahead + line)]))

    def load_double(self, builder, index, lanes):
        """Load `lanes` consecutive values, widened to float64."""
        value = self.load(builder, index, lanes)
        if self.kind.dtype == types.float64:
            return value
        return builder.fpext(value, _DOUBLE if lanes == 1 else ir.VectorType(_DOUBLE, lanes))

    def store_double(self, builder, index, value):
        """Store float64 values, a scalar or a vector."""
        store_vector(builder, self.pointer, index, value)

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

    def scatter_double(self, builder, positions, values, lanes):
        """Store float64 values at the given positions (a vector of `lanes` indices, or one index)."""
        if lanes == 1:
            self.store_double(builder, positions, values)
            return
        for lane in range(lanes):
            number = ir.Constant(_INT32, lane)
            value = builder.extract_element(values, number)
            self.store_double(builder, builder.extract_element(positions, number), value)


class DenseRow(FlatArray):
    """A dense row during code generation; loading its values also prefetches values that are needed later.

    If the matrix comes with a row order, `value` is a tuple of the row and the array to prefetch. Otherwise
    rows are read as they are stored, and the values `_AHEAD` bytes later are prefetched.
    """

    def __init__(self, context, builder, kind, value):
        in_order = isinstance(kind, types.BaseTuple)
        if in_order:
            following = FlatArray(context, builder, kind[1], builder.extract_value(value, 1))
            kind, value = kind[0], builder.extract_value(value, 0)
        super().__init__(context, builder, kind, value)
        self._prefetched = (following, 0) if in_order else (self, _AHEAD)

    def load_double(self, builder, index, lanes):
        # Loads of single values do not prefetch. They read only the last few values of a row, most of which
        # share a cache line with values that loads of vectors prefetch.
        if lanes > 1:
            array, ahead = self._prefetched
            array.prefetch(builder, index, lanes * self.kind.dtype.bitwidth // 8, ahead)
        return super().load_double(builder, index, lanes)


@intrinsic
def ahead(_typing_context, x):
    """Return an array that begins `_AHEAD` bytes after `x`, only for prefetching (compiled code only)."""

    def codegen(context, builder, signature, arguments):
        kind = signature.args[0]
        view = context.make_array(kind)(context, builder, arguments[0])
        view.data = builder.gep(view.data, [ir.Constant(_INT32, _AHEAD * 8 // kind.dtype.bitwidth)])
        return view._getvalue()

    return x(x), codegen


@intrinsic
def prefetch(_typing_context, array, start, stop):
    """Prefetch elements start … stop - 1 of an array (compiled code only)."""

    def codegen(context, builder, signature, arguments):
        kind = signature.args[0]
        values = FlatArray(context, builder, kind, arguments[0])
        start, stop = (context.cast(builder, arguments[i], signature.args[i], types.intp) for i in (1, 2))
        step = ir.Constant(start.type, _LINE * 8 // kind.dtype.bitwidth)
        with cgutils.for_range_slice(builder, start, stop, step, start.type) as (index, _):
            values.prefetch(builder, index, _LINE)
        return context.get_dummy_value()

    return types.void(array, start, stop), codegen
