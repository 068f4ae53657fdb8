"""Views of arrays that nobody counts, for loops that take one a row.

Numba counts who holds an array, and each view that is taken of it, by atomic additions, two for an array and
a row: a fifth of PA-I's pass over CSR rows of 75 non-zeros. A loop that only looks at what its caller holds
needs none of them.
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
    """Return an array, or a tuple of arrays, numbers and tuples, uncounted, in a kernel.

    Only of an argument, which the caller holds: what a kernel has made itself is freed after its last counted
    use, which would be this one. The kernel must not return it.
    """

    def codegen(context, builder, signature, arguments):
        return _uncounted(context, builder, signature.args[0], arguments[0])

    return X(X), codegen


@intrinsic
def stretch(_typing_context, array, start, stop):
    """Return elements start … stop - 1 of a 1-D C-contiguous array as `borrowed` does, in a kernel.

    They are taken to be there: a slice would look, and count from the end what is negative.
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
