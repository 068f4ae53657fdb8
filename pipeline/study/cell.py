"""Define cells, the units of work: what a cell computes, its key, how it is executed, and groups of cells."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ...learners import registry
from ...learners.guests.given import Given
from .. import data
from ..noise import Noise
from ..scoring import Kept
from .specs import USUAL, Course, ProtocolName, Scalar

# Part of every key. Raise it if a change of the pipeline changes the counts that cells store, or a sum that
# is computed in the same way for all learners.
CELL_VERSION = 4

# One encoder for all texts: `json.dumps` would construct one per call.
sorted_json = json.JSONEncoder(sort_keys=True).encode

StageName = Literal["tune", "run"]
FeatureWork = Literal["", "fitted on the training part", "standardised along the stream"]
# The labels of data set and algorithm, and the noise.
Group = tuple[str, str, Noise]
# A cell's parameters, sorted by name: those of the learner and of the active strategy around it.
Params = tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True)
class CellSpec:
    """Describe what a cell computes; two cells with equal `document` have equal integer results."""

    # Of the task only the label and the kind are hashed; `fingerprint` identifies the content of its data.
    dataset: data.TaskRef
    fingerprint: str
    # The algorithm's label in the study, which is not hashed, and the name and version of its learner.
    algorithm: str
    learner: str
    algorithm_version: int | str
    params: Params
    noise: Noise
    seed: int
    root_seed: int
    # "tune" if the cell judges a point of a grid, "run" if the report counts it.
    stage: StageName
    # The following are keys of the study, or of the data set where it overrides them.
    protocol: ProtocolName
    judge: str
    checkpoints: str | int | tuple[int, ...]
    test_fraction: float
    validation_fraction: float
    folds: int
    max_examples: int | None
    max_train: int | None
    max_test: int | None
    test_curve: bool = False
    # Whether the cell is a tuning cell that is also tested.
    test_point: bool = False
    course: Course = USUAL
    # What the cell must store for the study's metrics besides mistakes.
    kept: tuple[Kept, ...] = ()
    # How the cell itself standardizes features and fills missing values: with statistics of its training
    # rows, or of the rows so far. Empty if this is done when the data are opened, or not at all.
    features: FeatureWork = ""

    @property
    def group(self) -> Group:
        """Return the (data set, algorithm, noise) for which a grid is tuned."""
        return self.dataset.label, self.algorithm, self.noise

    @property
    def tested(self) -> bool:
        """Return whether the cell is tested, if there is a test part."""
        return self.stage == "run" or self.test_point

    def at(self, seed: int, params: Params) -> CellSpec:
        """Return a copy with another seed and other parameters, faster than `dataclasses.replace`."""
        other = object.__new__(CellSpec)
        vars(other).update(vars(self), seed=seed, params=params)
        return other

    @property
    def document(self) -> dict[str, Any]:
        """Return the dictionary that is hashed; its keys must not change if a field is renamed."""
        learner = registry.stored_name(self.learner)
        document = {
            "cell_version": CELL_VERSION,
            "task": [self.dataset.label, self.dataset.task],
            "fingerprint": self.fingerprint,
            # Not the label, which only reports use: a new label must not recompute the cells.
            "algorithm": learner,
            "learner": learner,
            "learner_version": self.algorithm_version,
            "params": dict(self.params),
            "noise": self.noise.spec,
            "seed": self.seed,
            "root_seed": self.root_seed,
            "stage": self.stage,
            "protocol": self.protocol,
            "judge": self.judge,
            "checkpoints": self.checkpoints,
            "test_fraction": self.test_fraction,
            "validation_fraction": self.validation_fraction,
            "folds": self.folds,
            "max_examples": self.max_examples,
            "max_train": self.max_train,
            "max_test": self.max_test,
            "test_curve": self.test_curve,
            **self.course.document,
            # Omitted when empty, so that studies without such metrics keep their keys.
            **({"kept": list(self.kept)} if self.kept else {}),
            **({"test_point": True} if self.test_point else {}),
        }
        # Omitted when empty, so that cells computed before this field existed keep their keys.
        return document | {"features": self.features} if self.features else document


@dataclass(frozen=True)
class Execution:
    """Describe how a cell runs; nothing here changes its results."""

    # The grid to which a tuning cell belongs, or whose winner the cell runs, as JSON; for the store.
    grid: str | None = None
    # Python files with learners, loaded where the cell runs.
    plugins: tuple[str, ...] = ()
    # Seconds of learning after which the cell is stopped.
    time_limit: float | None = None
    # Number of repetitions if it is lower than the study's; for the store.
    repetitions: int | None = None
    # The learner itself, if it is a notebook object or class: it is pickled with the cell.
    given: Given | None = None


@dataclass(frozen=True)
class Cell:
    """Everything that a worker needs to run one cell: a few hundred bytes, without the data."""

    spec: CellSpec
    execution: Execution = Execution()

    @cached_property
    def key(self) -> str:
        """Return the hex digest of `spec.document`, cut to 32 digits."""
        return hashlib.sha256(sorted_json(self.spec.document).encode()).hexdigest()[:32]

    def with_key(self, key: str) -> Cell:
        """Set the key, which is slow to compute, to a known value, and return the cell itself."""
        vars(self)["key"] = key
        return self


# Placeholder for the seed in the hashed text; larger than any seed.
_SEED = 1 << 70


@dataclass(frozen=True)
class CellGroup:
    """Consecutive cells of one stage of a study, which differ in seed and parameters only."""

    spec: CellSpec
    execution: Execution
    # Seed and parameters of each cell.
    members: list[tuple[int, Params]]

    def __len__(self) -> int:
        return len(self.members)

    @property
    def name(self) -> tuple[str, str]:
        """Return the labels of data set and algorithm; cells with equal names take similar times."""
        return self.spec.dataset.label, self.spec.algorithm

    def cell(self, seed: int, params: Params) -> Cell:
        """Return the cell with this seed and these parameters."""
        return Cell(self.spec.at(seed, params), self.execution)

    def cells(self) -> Iterator[Cell]:
        """Yield the cells in the order of `members`."""
        return (self.cell(seed, params) for seed, params in self.members)

    def cell_keys(self) -> list[str]:
        """Return the cells' keys, ten times faster than `Cell.key` computes them one by one."""
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
