"""Operations on one row, for dense and for CSR rows; Numba picks the code by the argument types.

A matrix enters compiled code as a 2-D C-contiguous array or as a CSR tuple ``(data, indices, indptr)``.
Either may carry the order in which its rows are read: ``(array, order)`` or ``(data, indices, indptr,
order)``; an empty order stands for all rows as they are stored (see `in_any_order`). Unvalidated CSR is
``(data, indices, indptr, n_features, refused)``, see `rows_to_check`. A row is a 1-D array or a tuple
``(data, indices)``; a dense row of a matrix with an order is a tuple of the row and the row to prefetch.
Weights and all other state are float64 arrays indexed by feature. All arithmetic is in float64, so a float32
stream gives the same outcome as the same values in float64.

The views that `stretch` and `borrowed` return have no reference counts. Numba would count references to an
array and its views with atomic additions, two per array and row, which take a fifth of PA-I's pass over CSR
rows of 75 non-zeros. A loop over arrays that its caller keeps alive does not need the counts.

A CSR row is canonical if its column indices rise strictly within 0 … n_features - 1.
"""

from __future__ import annotations

import functools
from ctypes import addressof, c_char
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic
from numpy.typing import NDArray

from .arrays import FlatArray, ahead, is_sparse_row, prefetch
from .compiled import INLINE, compiled, overload, register_jitable
from .emitters import select
from .vector import lane_sums


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
    """Return an array, or a tuple of arrays, numbers and tuples, without reference counts.

    Use it for arguments only, which the caller keeps alive: an array made in compiled code could be freed
    while the view is in use. Only compiled code can call this, and it must not return the view.
    """

    def codegen(context, builder, signature, arguments):
        return _uncounted(context, builder, signature.args[0], arguments[0])

    return X(X), codegen


@intrinsic
def stretch(_typing_context, array, start, stop):
    """Return elements start … stop - 1 of a 1-D C-contiguous array as a view (compiled code only).

    The view counts no references. Bounds are not checked, and negative positions do not count from the end.
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


# How many column indices of a CSR row are compared at once: 16 if the row has that many, otherwise 4.
# Comparing 32 at once is no faster.
_MANY, _FEW = 16, 4


def _rising(lanes):
    """Build an intrinsic that tests whether column indices rise strictly, comparing `lanes` at a time.

    The row must have at least `lanes` indices.
    """

    @intrinsic
    def rises(_typing_context, indices, n_features):
        """Return whether the indices rise strictly within 0 … n_features - 1."""

        def codegen(context, builder, signature, arguments):
            values = FlatArray(context, builder, signature.args[0], arguments[0])
            intp, integer = values.length.type, values.pointer.type.pointee
            # The first index has no predecessor. It is compared with -1, because it may be 0.
            start = ir.Constant(ir.VectorType(integer, lanes), [-1] * lanes)
            everywhere = ir.Constant(ir.VectorType(ir.IntType(1), lanes), [1] * lanes)
            rising, before = (cgutils.alloca_once_value(builder, first) for first in (everywhere, start))

            def compare(place):
                here = values.load(builder, place, lanes)
                # Shift the indices by one lane to get each one's predecessor. Loading the predecessors from
                # memory would be an unaligned load, which can cross cache lines.
                shifted = select(builder, builder.load(before), here, range(lanes - 1, 2 * lanes - 1))
                # On processors with mask registers, such as those with AVX-512, this comparison and the
                # `and_` in the next line compile to one instruction.
                rises_here = builder.icmp_signed("<", shifted, here)
                builder.store(builder.and_(builder.load(rising), rises_here), rising)
                builder.store(here, before)
                return here

            last = builder.sub(values.length, intp(lanes))
            end = builder.add(last, intp(1))
            with cgutils.for_range_slice(builder, intp(0), end, intp(lanes), intp) as (place, _):
                compare(place)
            # The number of indices may not be a multiple of `lanes`. So the last `lanes` of them are compared
            # together, although the loop has already compared some of them.
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
    """Return whether ``indices[start:stop]`` exists and rises strictly within 0 … n_features - 1."""
    # Negative positions, converted to unsigned integers, are larger than any valid position.
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


# `Rows` is a matrix in the form that compiled loops read, `Matrix` any matrix that `as_rows` takes.
Rows: TypeAlias = NDArray[Any] | tuple[NDArray[Any], ...]
Matrix: TypeAlias = Rows | sp.csr_matrix | sp.csr_array

# Lengths of the tuples that represent a CSR matrix without a row order: unvalidated (5), validated (3).
_CSR = (5, 3)

_dot = lane_sums(1, lambda w, x: [w * x])
_squares = lane_sums(1, lambda x: [x * x])
_weighted_squares = lane_sums(1, lambda s, x: [s * x * x])
_dot_and_weighted_squares = lane_sums(2, lambda w, s, x: [w * x, s * x * x])
_times_zero = lane_sums(1, lambda x: [x * 0.0])


# A vector that straddles two cache lines costs a second access. A load waits for an earlier store at the same
# offset in another page, because x86 compares the low 12 bits of addresses first. So arrays start at a cache
# line, and arrays that are read together start a third of a page apart.
_LINE, _PAGE = 64, 4096
_THIRD = 21 * _LINE


def new_state(n_features: int, value: float = 0.0, place: int = 0) -> NDArray[np.float64]:
    """Return a float64 array of shape (n_features,) filled with `value`, aligned so that loops are fastest.

    Arrays that are read together need a different `place` each (0, 1 or 2): they then start a third of a
    memory page apart, which avoids stalls of the processor.
    """
    # `np.zeros` only reserves memory, which is cleared when it is first used. If `value` is not 0, `np.empty`
    # avoids that clearing, so that the memory is written only once.
    memory = (np.empty if value else np.zeros)(8 * n_features + 2 * _PAGE, np.uint8)
    start = -addressof(c_char.from_buffer(memory.data)) % _PAGE + place * _THIRD
    state = np.ndarray(n_features, np.float64, memory, start)
    if value != 0.0:
        state.fill(value)
    return state


def by_types(strict=True, **jit_options):
    """Return a decorator for a function that chooses an implementation by Numba types.

    The function gets the types of the arguments of a call, and returns the implementation that compiled code
    calls; if `strict`, both must have the same parameters. Calling it from Python raises TypeError.
    """

    def decorate(choose):
        @functools.wraps(choose)
        def compiled_only(*_arguments):
            raise TypeError(f"{choose.__name__}() can only be called from compiled code, not from Python")

        overload(compiled_only, jit_options=jit_options, strict=strict)(choose)
        return compiled_only

    return decorate


def method(name, *default):
    """Return a function that calls the method `name` of its first argument, a rule (compiled code only).

    Arguments are passed by position. A rule without the method takes the `default`, a function, if there is
    one.
    """

    def call(self, *_arguments):
        return getattr(self.instance_class, name, *default)

    call.__name__ = name
    return by_types(strict=False, **INLINE)(call)


@by_types(**INLINE)
def n_rows(X):
    """Return the number of rows of a matrix (compiled code only)."""
    if not isinstance(X, types.BaseTuple):
        return lambda X: X.shape[0]
    if len(X) in _CSR:
        return lambda X: X[2].shape[0] - 1
    if len(X) == 2:
        return lambda X: X[1].shape[0] or X[0].shape[0]
    return lambda X: X[3].shape[0] or X[2].shape[0] - 1


@by_types(**INLINE)
def row(X, i):
    """Return row `i` of a matrix without copying it (compiled code only)."""
    if not isinstance(X, types.BaseTuple):
        return lambda X, i: borrowed(X)[i]

    if len(X) == 3:

        def csr_row(X, i):
            data, indices, indptr = borrowed(X)
            start, stop = indptr[i], indptr[i + 1]
            return stretch(data, start, stop), stretch(indices, start, stop)

        return csr_row

    if len(X) == 5:

        def csr_row_checked(X, i):
            data, indices, indptr, n_features, refused = borrowed(X)
            start, stop = np.intp(indptr[i]), np.intp(indptr[i + 1])
            if not is_canonical(indices, start, stop, n_features):
                refused[0] = True
                start = stop = 0
            return stretch(data, start, stop), stretch(indices, start, stop)

        return csr_row_checked

    if len(X) == 2:

        def dense_row_in_order(X, i):
            values, order = borrowed(X)
            if order.shape[0]:
                return values[order[i]], values[order[min(i + 1, order.shape[0] - 1)]]
            return values[i], ahead(values[i])

        return dense_row_in_order

    def csr_row_in_order(X, i):
        data, indices, indptr, order = borrowed(X)
        if order.shape[0]:
            following = order[min(i + 1, order.shape[0] - 1)]
            prefetch(data, indptr[following], indptr[following + 1])
            prefetch(indices, indptr[following], indptr[following + 1])
            i = order[i]
        start, stop = indptr[i], indptr[i + 1]
        return stretch(data, start, stop), stretch(indices, start, stop)

    return csr_row_in_order


@by_types()
def part(X, start, stop):
    """Return rows start … stop - 1 of a matrix, at least one, without copying them (compiled code only)."""
    if not isinstance(X, types.BaseTuple):
        return lambda X, start, stop: X[start:stop]
    if len(X) == 3:
        return lambda X, start, stop: (X[0], X[1], X[2][start : stop + 1])
    if len(X) == 5:
        return lambda X, start, stop: (X[0], X[1], X[2][start : stop + 1], X[3], X[4])
    if len(X) == 2:

        def dense_part(X, start, stop):
            values, order = X
            return (values, order[start:stop]) if order.shape[0] else (values[start:stop], order)

        return dense_part

    def csr_part(X, start, stop):
        data, indices, indptr, order = X
        if order.shape[0] == 0:
            indptr = indptr[start : stop + 1]
        return data, indices, indptr, order[start:stop]

    return csr_part


@by_types()
def n_entries(x):
    """Return how many features a row stores: all if it is dense, else its non-zeros (compiled code only)."""
    if isinstance(x, types.BaseTuple):
        return lambda x: x[0].shape[0]
    return lambda x: x.shape[0]


@by_types()
def entry(x, k):
    """Return ``(feature, value)`` of the k-th stored feature of a row (compiled code only).

    The feature is unsigned, so that Numba does not test for negative indices.
    """
    if is_sparse_row(x):
        return lambda x, k: (np.uintp(x[1][k]), np.float64(x[0][k]))
    if isinstance(x, types.BaseTuple):
        return lambda x, k: (np.uintp(k), np.float64(x[0][k]))
    return lambda x, k: (np.uintp(k), np.float64(x[k]))


@register_jitable(**INLINE)
def dot(w, x):
    """Return Σ_j w_j x_j."""
    return _dot((w,), x, ())


@register_jitable(**INLINE)
def squared_norm(x):
    """Return Σ_j x_j²."""
    return _squares((), x, ())


@register_jitable(**INLINE)
def weighted_squared_norm(s, x):
    """Return Σ_j s_j x_j²."""
    return _weighted_squares((s,), x, ())


@register_jitable(**INLINE)
def dot_and_weighted_squared_norm(w, s, x):
    """Return ``(Σ_j w_j x_j, Σ_j s_j x_j²)``, reading the row once."""
    return _dot_and_weighted_squares((w, s), x, ())


@register_jitable(**INLINE)
def add_scaled(w, a, x):
    """Add ``a x`` to `w` in place."""
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        w[j] += a * x_j


@register_jitable(**INLINE)
def add_step(w, eta, a, x):
    """Add ``η (a x)`` to `w` in place; the gradient ``a x`` is rounded first, as in the papers' formulas."""
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        w[j] += eta * (a * x_j)


@register_jitable(**INLINE)
def copy_into(target, source):
    """Fill `target` with the first elements of `source`.

    This is a loop, because Numba takes seconds to compile a slice assignment.
    """
    for i in range(target.shape[0]):
        target[i] = source[i]


@compiled
def linear_scores(X, w, scores):
    """Write ``w · x`` of every row into `scores`."""
    for i in range(n_rows(X)):
        scores[i] = dot(w, row(X, i))


@compiled
def squared_norms_of_rows(X, norms):
    """Write ‖x‖² of every row into `norms`."""
    for i in range(n_rows(X)):
        norms[i] = squared_norm(row(X, i))


@compiled
def first_nonfinite_row(X):
    """Return the first row that contains NaN or infinity, or -1."""
    for i in range(n_rows(X)):
        # The sum of 0 times each value of the row is 0 if all values are finite, and NaN otherwise.
        if _times_zero((), row(X, i), ()) != 0.0:
            return i
    return -1


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return `array` as a read-only view, so that memory-mapped and other arrays share compiled code."""
    if array.flags.writeable:
        array = array.view()
        array.setflags(write=False)
    return array


def as_rows(X: Matrix) -> Rows:
    """Return a matrix in the form that compiled loops take: read-only views of its values.

    `X` is a C-contiguous array of shape (n, d), or a canonical CSR matrix whose indices are below the
    learner's number of features (unchecked here); float32 or float64. The indices of a CSR matrix become
    int32 if they fit, so that 32- and 64-bit matrices share compiled code. A tuple must come from `as_rows`
    or `ordered_rows` and is returned unchanged. Raises TypeError for anything else.
    """
    if isinstance(X, tuple):
        return X
    if isinstance(X, np.ndarray):
        # Subclasses such as np.memmap become plain arrays; else loops would be compiled again for each.
        return read_only(np.asarray(X))
    if not (sp.issparse(X) and X.format == "csr"):
        raise TypeError(f"rows must be a NumPy array or a CSR matrix, got {_kind_of(X)}")
    data, indices, indptr = X.data, X.indices, X.indptr
    if indices.dtype != np.int32 and max(X.shape[1], X.nnz) <= np.iinfo(np.int32).max:
        indices, indptr = indices.astype(np.int32), indptr.astype(np.int32)
    return _readable(data), _readable(indices), _readable(indptr)


def _kind_of(X: Any) -> str:
    return f"a sparse matrix of format {getattr(X, 'format', '')!r}" if sp.issparse(X) else type(X).__name__


def _readable(array: NDArray[Any]) -> NDArray[Any]:
    # The arrays of nearly every CSR matrix are contiguous. Strided ones are copied, such as those of the
    # real part of a complex matrix.
    return read_only(array if array.flags.c_contiguous else np.ascontiguousarray(array))


def rows_to_check(X: sp.csr_matrix | sp.csr_array) -> tuple[Any, ...]:
    """Return an unvalidated CSR matrix in a form whose rows are checked as loops read them.

    The matrix is float32 or float64 with 32-bit indices; the result is ``(data, indices, indptr, n_features,
    refused)``. A row whose indices do not rise strictly within 0 … d - 1 is read as a row without entries,
    and sets `refused`, a bool array of shape (1,), to True.
    """
    arrays = _readable(X.data), _readable(X.indices), _readable(X.indptr)
    return *arrays, X.shape[1], np.zeros(1, np.bool_)


# An empty array of row numbers, for which compiled loops read all rows in the order they are stored in.
_AS_THEY_COME = read_only(np.empty(0, np.int64))


def in_any_order(X: Rows) -> Rows:
    """Add an empty row order to a matrix that has none; empty means that rows are read as they are stored.

    With and without an order, matrices then have the same type, so that loops are compiled only once.
    Only compiled loops take the result. Unvalidated rows, which have no order, are returned unchanged.
    """
    if not isinstance(X, tuple):
        return X, _AS_THEY_COME
    return (*X, _AS_THEY_COME) if len(X) == 3 else X


def count_rows(X: Rows) -> int:
    """Return the number of rows of a matrix from `as_rows` or `ordered_rows`."""
    if not isinstance(X, tuple):
        return X.shape[0]
    return len(X[2]) - 1 if len(X) in _CSR else len(X[-1])


def row_range(X: Rows, start: int, stop: int) -> Rows:
    """Return rows start … stop - 1 of a matrix from `as_rows` or `ordered_rows`, without copying."""
    if not isinstance(X, tuple):
        return X[start:stop]
    if len(X) in _CSR:
        return *X[:2], X[2][start : stop + 1], *X[3:]
    return with_order(X[:-1], X[-1][start:stop])


def with_order(X: tuple[NDArray[Any], ...], order: NDArray[np.int64]) -> Rows:
    """Return ``(array, order)`` or ``(data, indices, indptr, order)``; an empty order gives zero rows."""
    if not len(order):
        # Compiled loops take an empty order as all rows, so the matrix itself is cut to zero rows. The
        # `indptr` of a CSR matrix without rows has one entry.
        X = *X[:-1], X[-1][: 0 if len(X) == 1 else 1]
    return *X, order
