"""Read data sets from given cached tables, on machines where the files are missing or have other content."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from .tables.options import Options, Value


@dataclass(frozen=True)
class Pin:
    """Identify the table of a data set on every machine that opens its tasks."""

    #: Name of the public set, or absolute path of the file.
    source: str
    #: All options, sorted by name.
    options: tuple[tuple[str, Value], ...]
    #: Everything that determines the table's content, including the sha256 of the files, as JSON.
    recipe: str

    @property
    def content(self) -> dict[str, Any]:
        """The recipe as JSON values."""
        content: dict[str, Any] = json.loads(self.recipe)
        return content


_pinned: dict[tuple[str, tuple[tuple[str, Value], ...]], Pin] = {}


def pin(pins: Iterable[Pin]) -> None:
    """Make this process read the data sets of these pins from the pinned tables instead of from files."""
    _pinned.update(((each.source, each.options), each) for each in pins)


def unpin() -> None:
    """Make this process read all data sets from this machine's files again."""
    _pinned.clear()


def pin_of(source: str, options: Options, recipe: dict[str, Any]) -> Pin:
    """Return the pin of a table, given its source, its options and what determines its content."""
    return Pin(source, tuple(sorted(options.items())), json.dumps(recipe, sort_keys=True))


def pinned(source: str, options: Options) -> dict[str, Any] | None:
    """Return what determines the content of a data set's pinned table; None if the set is not pinned."""
    found = _pinned.get((source, tuple(sorted(options.items())))) if _pinned else None
    return None if found is None else found.content
