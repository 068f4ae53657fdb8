"""Merging the parts of a store into few, each sorted by key.

A merged part is written first, then those it was made of are removed: whoever is killed on the way leaves
cells that are there twice, and readers count one row a cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from .parts import Parts
from .schema import SCHEMAS, as_now
from .tables import JUDGED_BY, beaten_keys, in_order, joined, without

# A part is merged up to so many rows: a few hundred MB of memory while it is made, whatever the store holds.
# Besides, keys, states and times of all cells are looked at at once.
MOST_ROWS = {"cells": 1 << 17, "curves": 1 << 20}


@dataclass(frozen=True)
class Compaction:
    """What merging came to.

    Attributes
    ----------
    before, after : int
        Parts.
    cells : int
        Cells in the store.
    repeats : int
        Rows of the cells table that were dropped, another one being better.
    """

    before: int
    after: int
    cells: int
    repeats: int


def compact(parts: Parts) -> Compaction:
    """Merge parts into few, for the one who holds the store; others may read, and write further parts.

    Parameters
    ----------
    parts : Parts

    Returns
    -------
    Compaction
    """
    names = parts.names()
    judged = list(parts.read(names, "cells", JUDGED_BY))
    beaten = {names[place]: keys for place, keys in beaten_keys(judged).items()}
    repeats = sum(map(len, beaten.values()))
    lengths = zip(parts.lengths(names, "cells"), parts.lengths(names, "curves"), strict=True)
    # Columns of a later singlepass would be lost: such parts stay as they are.
    mergeable = {
        name: (cells, points)
        for name, (cells, points) in zip(names, lengths, strict=True)
        if cells is not None and points is not None
    }
    after = len(names) - len(mergeable)
    sorted_ = {name for name, rows in zip(names, judged, strict=True) if _ascending(rows["key"])}
    for members in _groups(mergeable):
        if len(members) == 1 and members[0] not in beaten and members[0] in sorted_:
            after += 1
            continue
        cells, curves = (_merged(parts, members, within, beaten) for within in ("cells", "curves"))
        if len(cells):
            parts.write(cells, curves)
            after += 1
        for name in members:
            parts.remove(name)
    return Compaction(len(names), after, sum(map(len, judged)) - repeats, repeats)


def _ascending(keys: pa.ChunkedArray) -> bool:
    ascending: bool = pc.all(pc.less(keys[:-1], keys[1:])).as_py() is not False
    return len(keys) < 2 or ascending


def _groups(lengths: Mapping[str, tuple[int, int]]) -> list[list[str]]:
    """Return the parts that are merged into one, smallest parts first."""
    groups: list[list[str]] = []
    cells = points = 0
    for name in sorted(lengths, key=lambda name: lengths[name][::-1]):
        more_cells, more_points = lengths[name]
        cells, points = cells + more_cells, points + more_points
        if not groups or cells > MOST_ROWS["cells"] or points > MOST_ROWS["curves"]:
            groups.append([])
            cells, points = more_cells, more_points
        groups[-1].append(name)
    return groups


def _merged(parts: Parts, names: list[str], within: str, beaten: dict[str, pa.Array]) -> pa.Table:
    tables = parts.read(names, within, SCHEMAS[within].names)
    kept = [without(table, beaten.get(name)) for name, table in zip(names, tables, strict=True)]
    return as_now(in_order(joined(kept, SCHEMAS[within]), within), SCHEMAS[within])
