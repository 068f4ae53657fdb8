"""Define cells, the units of work: one run of a learner on one data set with one noise level and seed."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ...learners import registry
from ...learners.guests.given import Given
from ...learners.guests.names import VOWPAL_WABBIT
from ...learners.guests.vowpal_wabbit import positive_link
from .. import data
from ..noise import Noise
from ..scoring import Kept
from .specs import USUAL, Course, ProtocolName, Scalar

# Part of every cell's key, by which results are found again. Raise it if a change of the code changes the
# counts that cells store, or a sum that is computed in the same way for all learners: all cells are then
# recomputed.
CELL_VERSION = 4

# Encode JSON with sorted keys. One encoder is shared, because `json.dumps` would make a new one in each call.
sorted_json = json.JSONEncoder(sort_keys=True).encode

StageName = Literal["tune", "run"]
FeatureWork = Literal["", "fitted on the training part", "standardised along the stream"]
# The target of a grid's tuning: the label of a data set, the label of an algorithm, and the noise.
Group = tuple[str, str, Noise]
# A cell's parameters as (name, value) pairs sorted by name: those of its learner, and those of the strategy,
# tuner or change detector around it.
Params = tuple[tuple[str, Scalar], ...]


@dataclass(frozen=True)
class CellSpec:
    """Describe what a cell computes; two cells with equal `document` have equal integer results."""

    # The task. Only its label and kind enter the cell's key, with `fingerprint` for the content of its data.
    dataset: data.TaskRef
    fingerprint: str
    # The algorithm's label in the study, which does not enter the cell's key, and its learner's name and
    # version.
    algorithm: str
    learner: str
    algorithm_version: int | str
    params: Params
    noise: Noise
    seed: int
    root_seed: int
    # "tune" if the cell only tries a parameter setting of a grid, "run" if its results are reported.
    stage: StageName
    # The following fields up to `test_curve` are keys of the study file, or of the data set's table if set
    # there.
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
    # Whether the cell only tries a setting of a grid, but is tested too.
    test_point: bool = False
    course: Course = USUAL
    # What the cell must store besides mistakes, because the study's metrics need it.
    kept: tuple[Kept, ...] = ()
    # From which rows the cell computes statistics to standardize features and fill missing values: its
    # training rows, or the rows so far. Empty if this is done when the data are opened, or not at all.
    features: FeatureWork = ""

    @property
    def group(self) -> Group:
        """Return the cell's (data set, algorithm, noise), for which grids are tuned."""
        return self.dataset.label, self.algorithm, self.noise

    @property
    def tested(self) -> bool:
        """Return whether the cell's learner is tested at the end, provided that there are test rows."""
        return self.stage == "run" or self.test_point

    @property
    def _tests_some_of_fold(self) -> bool:
        return self.protocol == "crossval" and self.max_test is not None and self.tested

    @property
    def _compares_outputs(self) -> bool:
        """Return whether a grid of `MarginPerceptron` with several outputs is tuned along the stream."""
        grid = dict(self.params).get("tune_grid") if self.learner == "MarginPerceptron" else None
        return isinstance(grid, str) and len(json.loads(grid).get("output", ())) > 1

    @property
    def _has_scores_of_vowpal_wabbit(self) -> bool:
        """Return whether scores of Vowpal Wabbit are stored, or a link makes all of them positive."""
        return self.learner == VOWPAL_WABBIT and (
            "scores" in self.kept or bool(positive_link(str(dict(self.params).get("args", ""))))
        )

    @property
    def _switches_late(self) -> bool:
        """Return whether labels are late and the learner may restart or switch its model."""
        params = dict(self.params)
        tracks = "reset" in params or params.get("tune") == "leader" or self.learner == "OnlineModelSelection"
        # Learners from outside this package may have `switches_`.
        return bool(self.course.delay) and (tracks or registry.built_in(self.learner) is None)

    def at(self, seed: int, params: Params) -> CellSpec:
        """Return a copy with this seed and these parameters; faster than `dataclasses.replace`."""
        other = object.__new__(CellSpec)
        vars(other).update(vars(self), seed=seed, params=params)
        return other

    @property
    def document(self) -> dict[str, Any]:
        """Return the dictionary from which the cell's key is computed.

        Its own keys must not change if a field of the class is renamed, so that stored results stay valid.
        """
        learner = registry.stored_name(self.learner)
        document = {
            "cell_version": CELL_VERSION,
            "task": [self.dataset.label, self.dataset.task],
            "fingerprint": self.fingerprint,
            # The learner's name instead of the algorithm's label: a new label must not recompute the cells.
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
            # Left out when empty, so that cells of studies without such metrics keep their keys.
            **({"kept": list(self.kept)} if self.kept else {}),
            **({"test_point": True} if self.test_point else {}),
            # Cells computed before this key existed were tested on the rows of the first classes only.
            **({"test_rows": "shuffled"} if self._tests_some_of_fold else {}),
            # Before this key existed, all points of such a grid predicted with the first point's output.
            **({"outputs": "own"} if self._compares_outputs else {}),
            # Before this key existed, log loss was missing, predicted classes were measured as scores, and a
            # `--link` that makes every score positive was accepted.
            **({"scores": "own"} if self._has_scores_of_vowpal_wabbit else {}),
            # Before this key existed, switches were counted in learned rows, and so stored `delay` too early.
            **({"switches": "in the stream"} if self._switches_late else {}),
        }
        # Left out when empty, so that cells computed before this field existed keep their keys.
        return document | {"features": self.features} if self.features else document


@dataclass(frozen=True)
class Execution:
    """Describe how a cell runs; nothing here changes its results."""

    # As JSON, for the stored results: the grid to which the cell's parameters belong, or whose winner they
    # are.
    grid: str | None = None
    # Paths of Python files that define learners; the process that runs the cell loads them.
    plugins: tuple[str, ...] = ()
    # Seconds of learning after which the cell is stopped; None for no limit.
    time_limit: float | None = None
    # For the stored results: 1 if repetitions would be identical, so that one runs; otherwise None.
    repetitions: int | None = None
    # The learner itself, if it is an object or a class of a notebook; it is pickled together with the cell.
    given: Given | None = None


@dataclass(frozen=True)
class Cell:
    """Everything that a process needs to run one cell, except the data: a few hundred bytes."""

    spec: CellSpec
    execution: Execution = Execution()

    @cached_property
    def key(self) -> str:
        """Return the name under which results are stored: 32 hex digits of a digest of `spec.document`."""
        return hashlib.sha256(sorted_json(self.spec.document).encode()).hexdigest()[:32]

    def with_key(self, key: str) -> Cell:
        """Set the key, which is slow to compute, to its known value; return this cell."""
        vars(self)["key"] = key
        return self


# Placeholder for the seed in the text from which keys are computed; larger than any seed.
_SEED = 1 << 70


@dataclass(frozen=True)
class CellGroup:
    """Cells of a study's tuning or evaluation that differ only in seed and parameters."""

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
        """Return the keys of all cells; ten times faster than calling `Cell.key` for each."""
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
