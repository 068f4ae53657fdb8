"""The cells of one (data set, algorithm, noise): alike but for repetition and parameters."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass

from .cell import Cell, CellSpec, Execution, sorted_json
from .specs import Scalar

# A cell's parameters, sorted by name.
Params = tuple[tuple[str, Scalar], ...]

# Stands for a seed in a text; too large for one.
_SEED = 1 << 70


@dataclass(frozen=True)
class CellGroup:
    """Cells that follow each other in a stage of a study.

    Attributes
    ----------
    spec : CellSpec
        Of all of them, but for seed and parameters.
    execution : Execution
    members : list of (int, Params)
        Seed and parameters of each.
    """

    spec: CellSpec
    execution: Execution
    members: list[tuple[int, Params]]

    def __len__(self) -> int:
        return len(self.members)

    @property
    def name(self) -> tuple[str, str]:
        """What cells are told apart by that take different times: data set and algorithm, by label."""
        return self.spec.dataset.label, self.spec.algorithm

    def cell(self, seed: int, params: Params) -> Cell:
        """Return the cell with these."""
        return Cell(self.spec.at(seed, params), self.execution)

    def cells(self) -> Iterator[Cell]:
        """Yield the cells."""
        return (self.cell(seed, params) for seed, params in self.members)

    def cell_keys(self) -> list[str]:
        """Return the keys of the cells, in a tenth of the time that each takes to make out its own."""
        keys, last = [], None
        for seed, params in self.members:
            if params is not last:
                last = params
                text = sorted_json(self.spec.at(_SEED, params).document)
                before, after = text.encode().split(str(_SEED).encode())
                begun = hashlib.sha256(before)
            digest = begun.copy()
            digest.update(b"%d" % seed + after)
            keys.append(digest.hexdigest()[:32])
        return keys
