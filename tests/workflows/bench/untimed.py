"""Replace the clock in tests of benchmarks, which do not depend on how long work takes."""

from __future__ import annotations

from collections.abc import Callable


def untimed(works: dict[str, Callable[[], object]], repeats: int = 1, **_: object) -> dict[str, float]:
    """Run every work once, and report a time of one second."""
    for work in works.values():
        work()
    return dict.fromkeys(works, 1.0)
