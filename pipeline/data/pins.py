"""Which table a data set is, on machines that may not have its files, or have other ones."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .tables.options import Options, Value


@dataclass(frozen=True)
class Pin:
    """The table that a data set is, wherever its tasks are opened.

    Attributes
    ----------
    source : str
        Name of the public set, or absolute path of the file.
    options : tuple of (name, value)
        All of them, sorted by name.
    recipe : str
        What decides the content of the table, the sha256 of the files included, as JSON.
    """

    source: str
    options: tuple[tuple[str, Value], ...]
    recipe: str

    @property
    def content(self) -> dict[str, Any]:
        """The recipe as JSON values."""
        content: dict[str, Any] = json.loads(self.recipe)
        return content


_pinned: dict[tuple[str, tuple[tuple[str, Value], ...]], Pin] = {}


def pin(pins: Iterable[Pin]) -> None:
    """Have this process take these tables for their data sets, whatever the files here say."""
    _pinned.update(((each.source, each.options), each) for each in pins)


def unpin() -> None:
    """Have this process look at its files again."""
    _pinned.clear()


def pin_of(source: str, options: Options, recipe: dict[str, Any]) -> Pin:
    """Return the pin of a table."""
    return Pin(source, _sorted(options), json.dumps(recipe, sort_keys=True))


def pinned(source: str, options: Options) -> dict[str, Any] | None:
    """Return the recipe of the table that was pinned for a data set, None where none was."""
    found = _pinned.get((source, _sorted(options))) if _pinned else None
    return None if found is None else found.content


def _sorted(options: Options) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(options.items()))
