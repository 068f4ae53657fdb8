"""Views of arrays without reference counts, for loops that take a view per row.

Numba counts references to an array and its views with atomic additions, two per array and row. They take a
fifth of PA-I's pass over CSR rows of 75 non-zeros. A loop over arrays that its caller keeps alive does not
need them.
"""

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


def _uncounted(context, builder, kind, value):
    if isinstance(kind, types.BaseTuple):
        parts = [
            _uncounted(context, builder, part, builder.extract_value(value, position))
            for position, part in enumerate(kind)
        ]
        return context.make_tuple(builder, kind, parts)
    if not isinstance(kind, types.Array):
        return value
    array = context.make_array(kind)(context, builder, value)
    array.meminfo = ir.Constant(array.meminfo.type, None)
    array.parent = ir.Constant(array.parent.type, None)
    return array._getvalue()


@intrinsic
def borrowed(_typing_context, X):
    """Return an array, or a tuple of arrays, numbers and tuples, without reference counts, in a kernel.

    Use it for arguments only, which the caller keeps alive: an array that the kernel made itself could be
    freed while the view is in use. The kernel must not return the view.
    """

    def codegen(context, builder, signature, arguments):
        return _uncounted(context, builder, signature.args[0], arguments[0])

    return X(X), codegen


@intrinsic
def stretch(_typing_context, array, start, stop):
    """Return elements start … stop - 1 of a 1-D C-contiguous array as a view like `borrowed`, in a kernel.

    Bounds are not checked, and negative positions do not count from the end.
    """

    def codegen(context, builder, signature, arguments):
        kind = signature.args[0]
        start, stop = (context.cast(builder, arguments[i], signature.args[i], types.intp) for i in (1, 2))
        whole = context.make_array(kind)(context, builder, arguments[0])
        view = context.make_array(signature.return_type)(context, builder)
        context.populate_array(
            view,
            data=builder.gep(whole.data, [start]),
            shape=cgutils.pack_array(builder, [builder.sub(stop, start)]),
            strides=whole.strides,
            itemsize=whole.itemsize,
            meminfo=None,
        )
        return view._getvalue()

    return array(array, start, stop), codegen
