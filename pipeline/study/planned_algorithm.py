"""An algorithm of a study with what all its cells have in common."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from .cell import Execution
from .cell_group import Params
from .learner_factory import grid_points
from .specs import AlgorithmSpec, Scalar


@dataclass(frozen=True)
class PlannedAlgorithm:
    """What all cells of an algorithm have in common.

    Attributes
    ----------
    algorithm : AlgorithmSpec
    version : int or str
        Of its learner.
    strategy : dict
        The active strategy around it, as parameters.
    execution : Execution
    """

    algorithm: AlgorithmSpec
    version: int | str
    strategy: dict[str, Scalar]
    execution: Execution

    @cached_property
    def points(self) -> list[Params]:
        """The points of the grid."""
        return [self.with_strategy(point) for point in grid_points(self.algorithm)]

    def with_strategy(self, params: dict[str, Scalar]) -> Params:
        """Return parameters as a cell has them."""
        return tuple(sorted({**params, **self.strategy}.items()))
