"""A learner as it was, when something is refused half-way."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray


class RolledBack:
    """Give an object the attributes back that it had before a ``with`` block, should that raise.

    A class, for a generator takes longer to be entered and left.

    Parameters
    ----------
    learner : object
    arrays : sequence of ndarray or None
        Those of its arrays that the block may write to: they are copied first, and given their values back.
        All others are given back as they are by then.
    """

    __slots__ = ("_before", "_copies", "_learner")

    def __init__(self, learner: object, arrays: Sequence[NDArray[Any] | None] = ()) -> None:
        self._learner = learner
        self._before = vars(learner).copy()
        self._copies = [(array, array.copy()) for array in arrays if array is not None]

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is None:
            return
        attributes = vars(self._learner)
        attributes.clear()
        attributes.update(self._before)
        for array, copy in self._copies:
            array[...] = copy
