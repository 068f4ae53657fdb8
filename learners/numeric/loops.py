"""Compile loops over rows that record counts at checkpoints and check unvalidated rows piece by piece."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .compiled import INLINE, compiled, register_jitable
from .rows import by_types, first_nonfinite_row, n_rows, part

# The C library's number of a monotonic clock (CLOCK_MONOTONIC, CLOCK_UPTIME_RAW). On other platforms loops
# cannot read a clock.
_CLOCK = {"linux": 1, "darwin": 8}.get(sys.platform)

# Unvalidated rows are learned this many at a time, so that the check of their labels (16 KB) and, for two
# classes, scores (32 KB) finds both in a core's cache.
_PIECE = 4096

#: Whether loops can record the time.
LOOPS_HAVE_A_CLOCK = _CLOCK is not None


@intrinsic
def seconds_now(_typing_context):
    """Return the seconds of a monotonic clock, 0 on platforms without one (compiled code only)."""

    def codegen(context, builder, _signature, _arguments):
        if _CLOCK is None:
            return context.get_constant(types.float64, 0.0)
        # Two 64-bit integers are a C `struct timespec` on 64-bit platforms: seconds and nanoseconds.
        time = cgutils.alloca_once(builder, ir.ArrayType(ir.IntType(64), 2))
        kind = ir.FunctionType(ir.IntType(32), [ir.IntType(32), time.type])
        read = cgutils.get_or_insert_function(builder.module, kind, "clock_gettime")
        builder.call(read, [ir.Constant(ir.IntType(32), _CLOCK), time])
        seconds, nanoseconds = (
            builder.sitofp(builder.extract_value(builder.load(time), i), ir.DoubleType()) for i in range(2)
        )
        return builder.fadd(seconds, builder.fmul(nanoseconds, ir.Constant(ir.DoubleType(), 1e-9)))

    return types.float64(), codegen


def _to_check(X):
    """Return whether a Numba type is that of unvalidated CSR rows."""
    return isinstance(X, types.BaseTuple) and len(X) == 5


@by_types(**INLINE)
def _end_of_piece(X, start, stop):
    """Return where the piece of rows that begins at `start` ends; validated rows are a single piece."""
    if _to_check(X):
        return lambda X, start, stop: min(start + _PIECE, stop)
    return lambda X, start, stop: stop


@by_types()
def _are_codes(X, codes, scores):
    """Return whether all labels are class codes; labels of validated rows are not tested."""
    if not _to_check(X):
        return lambda X, codes, scores: True
    many = scores.ndim == 2

    def checked(X, codes, scores):
        # Negative labels, converted to unsigned integers, are larger than any class code.
        largest = np.uint32(0)
        for i in range(codes.shape[0]):
            largest = max(largest, np.uint32(codes[i]))
        known = largest < (scores.shape[1] if many else 2)
        if not known:
            X[4][0] = True
        return known

    return checked


@by_types()
def _check_scores(X, scores):
    """Mark unvalidated rows as refused if a score is not finite, since a non-finite row may be the reason."""
    if not _to_check(X):
        return lambda X, scores: None

    def checked(X, scores):
        if first_nonfinite_row(scores.reshape(1, scores.size)) >= 0:
            X[4][0] = True

    return checked


def learning_loop(function: Callable[..., Any]) -> Any:
    """Compile a loop over rows; one call records updates and seconds at several checkpoints.

    ``function(X, codes, scores, *state)`` learns the rows in order and returns ``(mistakes, updates)``. It
    keeps everything that it needs for later rows in the arrays of `state`.

    The result is ``loop(X, codes, scores, stops, updates, seconds, *state)``. It calls the function on the
    rows up to each of `stops` (int64, ascending), then on the rest. After each stop it writes the updates so
    far and the seconds since the call into `updates` (int64) and `seconds` (float64). It returns ``(mistakes,
    updates)``. For rows from `rows_to_check` it also checks labels and scores, and sets `refused` if a label
    is not a class code or a score is not finite.
    """
    learn = register_jitable(function)

    def loop(X, codes, scores, stops, updates, seconds, *state):
        began = seconds_now()
        mistakes = changed = start = 0
        for i in range(stops.shape[0] + 1):
            stop = stops[i] if i < stops.shape[0] else n_rows(X)
            while start < stop:
                end = _end_of_piece(X, start, stop)
                labels, rows_scores = codes[start:end], scores[start:end]
                if not _are_codes(X, labels, rows_scores):
                    return mistakes, changed
                more = learn(part(X, start, end), labels, rows_scores, *state)
                _check_scores(X, rows_scores)
                mistakes += more[0]
                changed += more[1]
                start = end
            if i < stops.shape[0]:
                updates[i], seconds[i] = changed, seconds_now() - began
        return mistakes, changed

    # Numba caches the compiled code under this name, which must differ between loops.
    loop.__module__ = function.__module__
    loop.__qualname__ = f"{function.__module__}.{function.__qualname__}"
    return compiled(loop)
