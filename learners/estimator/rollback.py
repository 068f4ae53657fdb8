"""A learner as it was, when something is refused half-way."""

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from numpy.typing import NDArray


@contextlib.contextmanager
def rolled_back(learner: object, arrays: Sequence[NDArray[Any] | None] = ()) -> Iterator[None]:
    """Give an object the attributes back that it had before the block, should that raise.

    Parameters
    ----------
    learner : object
    arrays : sequence of ndarray or None
        Those of its arrays that the block may write to: they are copied first, and given their values back.
        All others are given back as they are by then.
    """
    before = vars(learner).copy()
    copies = [(array, array.copy()) for array in arrays if array is not None]
    try:
        yield
    except BaseException:
        vars(learner).clear()
        vars(learner).update(before)
        for array, copy in copies:
            array[...] = copy
        raise
