"""A cell: what is computed, which its key names, and how that is carried out, which changes no outcome."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from ...learners.guests.given import Given
from .. import data
from ..noise import Noise
from ..scoring import Kept
from .course import USUAL, Course
from .specs import ProtocolName, Scalar

# Part of every key. Raise it when the way a cell is run changes its integers, or a sum that learners share.
CELL_VERSION = 4

# `json.dumps` would make an encoder for each text.
sorted_json = json.JSONEncoder(sort_keys=True).encode

StageName = Literal["tune", "run"]
FeatureWork = Literal["", "fitted on the training part", "standardised along the stream"]
# (dataset, algorithm, noise), by label
Group = tuple[str, str, Noise]


@dataclass(frozen=True)
class CellSpec:
    """What a cell computes: two cells with equal `document` have equal integer outcomes.

    Attributes
    ----------
    dataset : data.TaskRef
        The task; of it only label and kind decide, its content is in `fingerprint`.
    fingerprint : str
        Of the task's data.
    algorithm, learner : str
        Label of the algorithm in the study, which is not hashed, and name of its learner.
    algorithm_version : int or str
        Of the learner.
    params : tuple of (name, value)
        Of the learner and of the strategy around it, sorted by name.
    noise : Noise
    seed, root_seed : int
        The repetition, and the root of all randomness of the study.
    stage : {"tune", "run"}
        Whether it judges a point of a grid or counts itself.
    protocol, judge, checkpoints, test_fraction, validation_fraction, folds, max_examples, max_train, max_test
        As in `Study`, with what the data set overrides.
    test_curve : bool
        Whether test accuracy is measured at every checkpoint.
    course : Course
        How the stream goes by.
    kept : tuple of {"classes", "regret", "scores"}
        What metrics need besides mistakes; see `kept_for`.
    features : {"", "fitted on the training part", "standardised along the stream"}
        What the cell itself computes to change features (`standardize`, missing values): of the rows that it
        learns from, since the data have no test part of their own, or of its rows so far.
    """

    dataset: data.TaskRef
    fingerprint: str
    algorithm: str
    learner: str
    algorithm_version: int | str
    params: tuple[tuple[str, Scalar], ...]
    noise: Noise
    seed: int
    root_seed: int
    stage: StageName
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
    course: Course = USUAL
    kept: tuple[Kept, ...] = ()
    features: FeatureWork = ""

    @property
    def group(self) -> Group:
        """The (dataset, algorithm, noise) that a grid is tuned for."""
        return self.dataset.label, self.algorithm, self.noise

    def at(self, seed: int, params: tuple[tuple[str, Scalar], ...]) -> CellSpec:
        """Return the same for another repetition and other parameters, faster than `replace` does."""
        other = object.__new__(CellSpec)
        vars(other).update(vars(self), seed=seed, params=params)
        return other

    @property
    def document(self) -> dict[str, Any]:
        """What is hashed. The names are pinned: they stay when a field or a module is renamed."""
        document = {
            "cell_version": CELL_VERSION,
            "task": [self.dataset.label, self.dataset.task],
            "fingerprint": self.fingerprint,
            # A label only names the algorithm in reports: renaming it computes nothing again.
            "algorithm": self.learner,
            "learner": self.learner,
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
            # A study that asks for no such metric has the cells that it had.
            **({"kept": list(self.kept)} if self.kept else {}),
        }
        # Left out of the others, whose keys are older.
        return document | {"features": self.features} if self.features else document


@dataclass(frozen=True)
class Execution:
    """How a cell is carried out, which changes nothing of what it computes.

    Attributes
    ----------
    grid : str or None
        The grid that it is a point or the winner of, as JSON; for the store.
    plugins : tuple of str
        Python files with learners, loaded where the cell runs.
    time_limit : float or None
        Seconds of learning after which it is stopped.
    repetitions : int or None
        How many repetitions there are of it, where not as many as the study asks for; for the store.
    given : Given or None
        The learner itself, if it is an object or a class of a notebook: it is pickled with the cell.
    """

    grid: str | None = None
    plugins: tuple[str, ...] = ()
    time_limit: float | None = None
    repetitions: int | None = None
    given: Given | None = None


@dataclass(frozen=True)
class Cell:
    """Everything a worker needs to run one cell: a few hundred bytes, no data.

    Attributes
    ----------
    spec : CellSpec
    execution : Execution
    """

    spec: CellSpec
    execution: Execution = Execution()

    @cached_property
    def key(self) -> str:
        """Hex digest of what the cell computes: resolved names, fingerprint of the data, versions."""
        return hashlib.sha256(sorted_json(self.spec.document).encode()).hexdigest()[:32]

    def with_key(self, key: str) -> Cell:
        """Return the cell, told its `key`, which takes as long to make out as much else of a cell."""
        vars(self)["key"] = key
        return self
