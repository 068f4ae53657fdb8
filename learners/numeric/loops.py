"""Loops over rows, cut in compiled code where what they count is noted, and where rows are looked at."""

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

from .compiled import INLINE, compiled, digest_of_other_code
from .rows import first_nonfinite_row, in_kernels_only, n_rows, part

# The number by which the C library of a platform knows a clock that is never set back (CLOCK_MONOTONIC,
# CLOCK_UPTIME_RAW); a platform that is not here has no such clock that a loop could read.
_CLOCK = {"linux": 1, "darwin": 8}.get(sys.platform)

# Of rows that nobody has looked at so many are learnt at a time: their labels (16 KB) are still in a core's
# cache when they are learnt, and their scores (32 KB of two classes) when they are looked at.
_LOOKED_AT = 4096

#: Whether loops can note the time.
LOOPS_HAVE_A_CLOCK = _CLOCK is not None


@intrinsic
def seconds_now(_typing_context):
    """Return the seconds of a clock that is never set back, in a kernel; 0 where there is none."""

    def codegen(context, builder, _signature, _arguments):
        if _CLOCK is None:
            return context.get_constant(types.float64, 0.0)
        # struct timespec of 64-bit platforms: seconds, nanoseconds.
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
    """Tell whether a Numba type is that of `rows_to_check`."""
    return isinstance(X, types.BaseTuple) and len(X) == 5


def _end_of_piece(X, start, stop):
    """Return where to stop learning rows start … stop - 1 in order to look at them, in a kernel."""
    raise in_kernels_only("_end_of_piece")


@overload(_end_of_piece, jit_options=INLINE)
def _end_of_piece_of_kind(X, start, stop):
    if _to_check(X):
        return lambda X, start, stop: min(start + _LOOKED_AT, stop)
    return lambda X, start, stop: stop


def _are_codes(X, codes, scores):
    """Tell whether labels are positions of classes, in a kernel; only those of rows to check may be none."""
    raise in_kernels_only("_are_codes")


@overload(_are_codes)
def _are_codes_of_kind(X, codes, scores):
    if not _to_check(X):
        return lambda X, codes, scores: True
    many = scores.ndim == 2

    def checked(X, codes, scores):
        # Unsigned, what is negative is larger than any position.
        largest = np.uint32(0)
        for i in range(codes.shape[0]):
            largest = max(largest, np.uint32(codes[i]))
        known = largest < (scores.shape[1] if many else 2)
        if not known:
            X[4][0] = True
        return known

    return checked


def _look_at_scores(X, scores):
    """Note that a score of rows to check is not finite, as the row may be then, in a kernel."""
    raise in_kernels_only("_look_at_scores")


@overload(_look_at_scores)
def _look_at_scores_of_kind(X, scores):
    if not _to_check(X):
        return lambda X, scores: None

    def checked(X, scores):
        if first_nonfinite_row(scores.reshape(1, scores.size)) >= 0:
            X[4][0] = True

    return checked


def learning_loop(function: Callable[..., Any]) -> Any:
    """Compile a loop over rows so that one call of it notes updates and seconds at several rows.

    Parameters
    ----------
    function : function
        ``f(X, codes, scores, *state)`` as `compiled` takes it: learns the rows in order and returns
        ``(mistakes, updates)``. What it keeps from row to row is in the arrays of `state`.

    Returns
    -------
    numba.core.dispatcher.Dispatcher
        ``loop(X, codes, scores, stops, updates, seconds, *state)``: `function` on the rows up to each of
        `stops` (int64, ascending), then on the rest; after each stop the updates so far and the seconds
        since the call are written into `updates` (int64) and `seconds` (float64). Returns
        ``(mistakes, updates)``. Of `rows_to_check` the labels and the scores are looked at, too: `refused` is
        then also of labels that are no positions of classes, and of scores that are not finite.
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
                _look_at_scores(X, rows_scores)
                mistakes += more[0]
                changed += more[1]
                start = end
            if i < stops.shape[0]:
                updates[i], seconds[i] = changed, seconds_now() - began
        return mistakes, changed

    # The name that its compiled code is kept under.
    loop.__module__ = function.__module__
    loop.__qualname__ = f"{function.__module__}.{function.__qualname__}{digest_of_other_code(function)}"
    return compiled(loop)
