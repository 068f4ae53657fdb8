"""A bounded cache for threads: what several ask for at once is made once."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class Memo(Generic[T]):
    """Least-recently-used cache in which concurrent requests for one key share one computation.

    Parameters
    ----------
    size : int
        Values kept.

    Examples
    --------
    >>> memo = Memo(size=1)
    >>> memo.get("a", lambda: 1), memo.get("a", lambda: 2)
    (1, 1)
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = threading.Lock()
        self._futures: OrderedDict[Hashable, Future[T]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T]) -> T:
        """Return the value of `key`, made by `make` unless it is kept or being made.

        A failure is raised to everybody who waited for it and is not kept.
        """
        with self._lock:
            future = self._futures.get(key)
            mine = future is None
            if future is None:
                future = self._futures[key] = Future()
                while len(self._futures) > self._size:
                    self._futures.popitem(last=False)
            else:
                self._futures.move_to_end(key)
        if mine:
            try:
                future.set_result(make())
            except BaseException as error:
                with self._lock:
                    if self._futures.get(key) is future:
                        del self._futures[key]
                future.set_exception(error)
        return future.result()

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._futures.clear()
