"""`singlepass compact`: the many files that a long run or many workers wrote become few."""

from __future__ import annotations

import time
from collections.abc import Callable

from ..pipeline.errors import InputError
from ..pipeline.store.store import Store, exclusive


def compact_results(url: str, note: Callable[[str], None]) -> str:
    """Merge the parts of results.

    Parameters
    ----------
    url : str
        What ``singlepass run`` wrote to.
    note : callable
        Told in a line of each damaged part, and what is waited for.

    Returns
    -------
    str
        One line: what it came to.

    Raises
    ------
    InputError
        There are no results, or somebody is writing to them.
    """
    began = time.perf_counter()
    store = Store(url)
    if not store.exists():
        raise InputError(f"{url}: no results here: give a folder that `singlepass run` wrote")
    store.prepare()
    with exclusive(store, note):
        for part in store.set_aside:
            note(f"{part}: damaged, moved to {url}/damaged; `singlepass run` makes what it held again")
        came_to = store.compact(above=0)
    if came_to is None:
        return f"{url}: holds no cells yet"
    parts = "part" if came_to.after == 1 else "parts"
    if came_to.before == came_to.after and not came_to.repeats:
        return f"{url}: nothing to merge: {came_to.cells:,} cells in {came_to.after:,} {parts}"
    dropped = f", {came_to.repeats:,} repeated rows dropped" if came_to.repeats else ""
    return (
        f"{url}: {came_to.before:,} parts became {came_to.after:,}, with {came_to.cells:,} cells{dropped}, "
        f"{time.perf_counter() - began:.1f} s"
    )
