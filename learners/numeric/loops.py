"""Compile loops over rows that record counts at checkpoints."""

import sys
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .compiled import compiled, register_jitable
from .rows import n_rows, part

# The C library's number of a monotonic clock (CLOCK_MONOTONIC, CLOCK_UPTIME_RAW). On other platforms loops
# cannot read a clock.
_CLOCK = {"linux": 1, "darwin": 8}.get(sys.platform)

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


def learning_loop(function: Callable[..., Any]) -> Any:
    """Compile a loop over rows; one call records updates and seconds at several checkpoints.

    ``function(X, codes, scores, *state)`` learns the rows in order and returns ``(mistakes, updates)``. It
    keeps everything that it needs for later rows in the arrays of `state`.

    The result is ``loop(X, codes, scores, stops, updates, seconds, *state)``. It calls the function on the
    rows up to each of `stops` (int64, ascending), then on the rest. After each stop it writes the updates so
    far and the seconds since the call into `updates` (int64) and `seconds` (float64). It returns ``(mistakes,
    updates)``.
    """
    learn = register_jitable(function)

    def loop(X, codes, scores, stops, updates, seconds, *state):
        began = seconds_now()
        mistakes = changed = start = 0
        for i in range(stops.shape[0] + 1):
            stop = stops[i] if i < stops.shape[0] else n_rows(X)
            if start < stop:
                more = learn(part(X, start, stop), codes[start:stop], scores[start:stop], *state)
                mistakes += more[0]
                changed += more[1]
                start = stop
            if i < stops.shape[0]:
                updates[i], seconds[i] = changed, seconds_now() - began
        return mistakes, changed

    # Numba caches the compiled code under this name, which must differ between loops.
    loop.__module__ = function.__module__
    loop.__qualname__ = f"{function.__module__}.{function.__qualname__}"
    return compiled(loop)
