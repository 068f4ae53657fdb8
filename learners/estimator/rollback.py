"""Restore a learner if input is refused halfway."""

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray


class RolledBack:
    """Restore an object's attributes if a ``with`` block raises.

    This is a class because entering and leaving a generator takes longer.

    Parameters
    ----------
    learner : object
    arrays : sequence of ndarray or None
        The arrays that the block may write to; their values are copied first and restored. Other arrays
        are restored as objects, not by value.
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
