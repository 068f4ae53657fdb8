"""Read data sets from cached tables that came from another machine, if this one lacks the same files."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from .tables.options import Options, Value


@dataclass(frozen=True)
class Pin:
    """Identify the parsed table of a data set by its content, so that all machines use the same table."""

    #: Name of the public set, or absolute path of the file.
    source: str
    #: All options, sorted by name.
    options: tuple[tuple[str, Value], ...]
    #: Everything that determines the table's content, including the sha256 of the files, as JSON.
    recipe: str
    #: Bytes of the cached table, or 0 if unknown. They do not identify it.
    size: int = field(default=0, compare=False, repr=False)

    @property
    def content(self) -> dict[str, Any]:
        """The recipe as JSON values."""
        content: dict[str, Any] = json.loads(self.recipe)
        return content


# The pins of the run that this thread works for: a worker may serve runs with different contents of one file.
_pins: ContextVar[tuple[Pin, ...]] = ContextVar("pins", default=())


@contextlib.contextmanager
def pinned_to(pins: Iterable[Pin]) -> Iterator[None]:
    """In the ``with`` block, let this thread read data sets from the tables of `pins` instead of files."""
    token = _pins.set(tuple(pins))
    try:
        yield
    finally:
        _pins.reset(token)


def pin_of(source: str, options: Options, recipe: dict[str, Any], size: int = 0) -> Pin:
    """Return the `Pin` of a data set's table; `recipe` is everything that determines its content."""
    return Pin(source, tuple(sorted(options.items())), json.dumps(recipe, sort_keys=True), size)


def pinned(source: str, options: Options) -> dict[str, Any] | None:
    """Return the recipe of the table that was pinned for a data set with these options; None if none was."""
    wanted = source, tuple(sorted(options.items()))
    return next((each.content for each in _pins.get() if (each.source, each.options) == wanted), None)
