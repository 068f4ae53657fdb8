"""Loops over rows, cut in compiled code where what they count is noted."""

import sys
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, register_jitable

from .compiled import compiled
from .rows import n_rows, part

# The number by which the C library of a platform knows a clock that is never set back (CLOCK_MONOTONIC,
# CLOCK_UPTIME_RAW); a platform that is not here has no such clock that a loop could read.
_CLOCK = {"linux": 1, "darwin": 8}.get(sys.platform)

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
        ``(mistakes, updates)``.
    """
    learn = register_jitable(function)

    def loop(X, codes, scores, stops, updates, seconds, *state):
        began = seconds_now()
        mistakes = changed = start = 0
        for i in range(stops.shape[0] + 1):
            stop = stops[i] if i < stops.shape[0] else n_rows(X)
            more = learn(part(X, start, stop), codes[start:stop], scores[start:stop], *state)
            mistakes += more[0]
            changed += more[1]
            if i < stops.shape[0]:
                updates[i], seconds[i] = changed, seconds_now() - began
            start = stop
        return mistakes, changed

    # The name that its compiled code is kept under.
    loop.__module__, loop.__qualname__ = function.__module__, f"{function.__module__}.{function.__name__}"
    return compiled(loop)
