"""Restore objects after errors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from numpy.typing import NDArray


class RolledBack:
    """Restore an object's attributes, and the values of some arrays, if a ``with`` block raises.

    The values of `arrays`, to which the block may write, are backed up. Other attributes are only set back to
    the objects that they were. This is a class because a context manager made of a generator is slower.
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


def parts_to_widen(part: Any, found: dict[int, Any] | None = None) -> list[Any]:
    """Return an object that has a method ``widen``, and everything in it that this method may change."""
    found = {} if found is None else found
    # An object with slots has no attributes that could be restored.
    if id(part) not in found and hasattr(part, "__dict__"):
        found[id(part)] = part
        for value in vars(part).values():
            for each in value if isinstance(value, (list, tuple)) else [value]:
                if hasattr(each, "widen"):
                    parts_to_widen(each, found)
    return list(found.values())
