"""Kernel functions whose code depends on the types of their arguments."""

import functools
from collections.abc import Callable
from typing import Any

from numba.extending import overload

from ...numeric.rows import in_kernels_only


def by_type(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for functions that take Numba types and return the Python function to compile.

    Kernels call the decorated function with values; calling it from Python raises TypeError. The options are
    those of `numba.njit`, such as ``**INLINE``.
    """

    def decorate(choose: Callable[..., Any]) -> Any:
        @functools.wraps(choose)
        def called_from_python(*_arguments: Any) -> None:
            raise in_kernels_only(choose.__name__)

        # Not strict: a rule's method names its arguments itself.
        overload(called_from_python, jit_options=options, strict=False)(choose)
        return called_from_python

    return decorate
