"""Define the keys of a study file and validate each one separately."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, field_validator, model_validator

from ..noise import CLEAN, parse_noise
from ..scoring import BASELINES
from .specs import (
    AlgorithmSpec,
    Count,
    DatasetSpec,
    NoiseSpec,
    Order,
    Positive,
    ProtocolName,
    RankingSpec,
    Share,
    WinnerRule,
)

# Far above any plausible list of seeds, so that tuning never sees a draw that is reported.
TUNING_SEED = 1_000_000
DEFAULT_FOLDS = 10
# Limit on the points of a learning curve: each is a row of the store.
_MOST_CHECKPOINTS = 10_000


def _is_count(value: Any) -> bool:
    """Return whether a value is a whole number of at least 1."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _rising_counts(values: Sequence[Any]) -> tuple[int, ...]:
    """Return the checkpoints of a list as a tuple, or raise ValueError if they are not rising counts."""
    for value in values:
        if not _is_count(value):
            raise ValueError(f"{value!r} is not a number of examples: give whole numbers from 1 on")
    for before, after in itertools.pairwise(values):
        if not before < after:
            raise ValueError(f"the list must rise, but {after:,} follows {before:,}")
    if not 1 <= len(values) <= _MOST_CHECKPOINTS:
        raise ValueError(f"a list of {len(values)} is not 1 to {_MOST_CHECKPOINTS} numbers of examples")
    return tuple(values)


class StudyKeys(BaseModel):
    """Hold the keys of a study.

    Attributes
    ----------
    name : str
        Name of the study and of its results folder: letters, digits, ``.``, ``_`` and ``-``.
    title : str, default=""
        Heading of the report; the name when empty.
    protocol : {"prequential", "holdout", "crossval"}, default="prequential"
        "prequential": predict, then learn, over the whole (training) stream. "holdout": the same over the
        training part, then accuracy on the official test part, or on a seeded split if there is none.
        "crossval": the training part is cut into `folds` stratified folds; repetition k streams the others
        and is tested on fold k.
    noise : list of Noise, default=no noise
        Rates in [0, 1): every training label is flipped independently with this probability. Tables select
        other models of noise, see `pipeline.noise`.
    seeds : list of int, default=[0, 1, 2, 3, 4]
        Repetitions; a single number n stands for 0 .. n-1. With "crossval" they are fold numbers, all by
        default.
    folds : int, default=10
        Folds of "crossval".
    root_seed : int, default=0
        Root of all randomness of the study.
    checkpoints : "log", int or list of int, default="log"
        Points of the learning curve: log-spaced, this many equal steps, or after these numbers of examples
        and at the end of the stream.
    test_fraction : float in (0, 1), default=0.3
        Share of the rows that a seeded split holds out for testing.
    order : {"shuffled", "given"}, default="shuffled"
        "shuffled": every repetition reads the rows in another seeded order. "given": rows come in the order
        of the file or generator: limits take the first rows, a split tests on the last rows, the first rows
        judge grids, and repetitions differ by noise and random draws only.
    tune_fraction : float in (0, 1), default=0.1
        Share of a stream in given order that judges grids. If a task has grids, all algorithms are counted
        after this part only.
    delay : int, default=0
        Number of examples by which labels are late: x_t is predicted, then (x_{t-delay}, y_{t-delay}) is
        learned. The last labels arrive after the stream and are not counted.
    label_due : {"after", "before"}, default="after"
        "before": the due label arrives just before x_t is predicted, as River counts `delay`; a delay of 1
        then means no delay.
    window : int or None, default=None
        Curves also carry the error and the metrics over this many latest examples.
    fading : float in (0, 1) or None, default=None
        Curves also carry them with this fading factor (Gama, Sebastião, Rodrigues 2013).
    baselines : bool, default=False
        Add the classifiers that use labels only, `MajorityClass` and `NoChange`.
    max_examples : int or None, default=None
        Limit on the rows of a task's training part that are used at all, the same rows in every repetition.
    max_train, max_test : int or None, default=None
        Upper limits on the rows of a task; their order, seeded or given, decides which rows are used.
    tune_by : {"online", "validation"} or None, default=None
        What judges a grid: mistakes along the noisy training stream, or mistakes on a held-out part of the
        noisy training labels. None means "online" for prequential or given order, otherwise "validation".
    validation_fraction : float in (0, 1), default=0.2
        Share of the training rows held out for "validation".
    winner : {"best", "sparsest"}, default="best"
        Which point of a grid wins. "best": the one with the fewest mistakes. "sparsest": the one with the
        smallest support set among those within one standard error of the best (Breiman et al. 1984, section
        3.4.3); learners without a support set take the best.
    time_limit : float or None, default=None
        Seconds that a cell's learner may take. A cell that exceeds it stops, keeps its curve so far and is
        marked "stopped". Batch baselines are not interrupted.
    max_tune : int or None, default=None
        Upper limit on the training rows of the cells that tune grids, besides `max_train`.
    test_curve : bool, default=False
        Measure test accuracy at every checkpoint too: the report then draws it along the stream.
    metrics : list of str, default=[]
        Metrics that compare algorithms, from `METRIC_NAMES`; the first one ranks. When empty: test accuracy
        if measured, otherwise the error against clean labels.
    rank_by : str or None, default=None
        The one of `metrics` that ranks instead of the first.
    curves : list of str, default=[]
        Labels of the algorithms whose learning curves the report draws; all when empty.
    solutions : list of str, default=[]
        Labels of the algorithms whose boundary and support vectors the report draws, on data sets of two
        features.
    datasets, algorithms, rankings : list
        See `DatasetSpec`, `AlgorithmSpec` and `RankingSpec`; `rankings` may be empty.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: Annotated[str, Field(max_length=100)]
    title: str = ""
    description: str = ""
    protocol: ProtocolName = "prequential"
    noise: Annotated[list[NoiseSpec], Field(min_length=1)] = [CLEAN]
    seeds: Annotated[list[int], Field(min_length=1)] = [0, 1, 2, 3, 4]
    root_seed: Annotated[int, Field(strict=True, ge=0)] = 0
    checkpoints: Literal["log"] | int | tuple[int, ...] = "log"
    order: Order = "shuffled"
    tune_fraction: Share = 0.1
    delay: Annotated[int, Field(strict=True, ge=0)] = 0
    label_due: Literal["after", "before"] = "after"
    window: Count | None = None
    fading: Share | None = None
    baselines: StrictBool = False
    test_fraction: Share = 0.3
    folds: Annotated[int, Field(strict=True, ge=2, le=TUNING_SEED)] = DEFAULT_FOLDS
    max_examples: Count | None = None
    max_train: Count | None = None
    max_test: Count | None = None
    tune_by: Literal["online", "validation"] | None = None
    validation_fraction: Share = 0.2
    winner: WinnerRule = "best"
    time_limit: Positive | None = None
    max_tune: Count | None = None
    test_curve: StrictBool = False
    metrics: list[str] = []
    rank_by: str | None = None
    curves: list[str] = []
    solutions: list[str] = []
    datasets: Annotated[list[DatasetSpec], Field(min_length=1)]
    algorithms: Annotated[list[AlgorithmSpec], Field(min_length=1)]
    rankings: list[RankingSpec] = []

    @field_validator("name")
    @classmethod
    def _name_of_a_folder(cls, name: str) -> str:
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]*", name):
            raise ValueError(f"{name!r} is not a usable name: letters, digits, '.', '_' and '-' only")
        return name

    @field_validator("checkpoints", mode="before")
    @classmethod
    def _points_of_curves(cls, value: Any) -> Any:
        if isinstance(value, list | tuple):
            return _rising_counts(value)
        if value != "log" and not (_is_count(value) and value <= _MOST_CHECKPOINTS):
            raise ValueError(
                f'{value!r} is not a number of checkpoints: give "log", a whole number in '
                f"1..{_MOST_CHECKPOINTS} or a list of example counts"
            )
        return value

    @field_validator("noise", mode="before")
    @classmethod
    def _noise_rates(cls, value: Any) -> Any:
        given = [parse_noise(each) for each in (value if isinstance(value, list) else [value])]
        if len(set(given)) < len(given):
            raise ValueError(f"names a rate twice: {[noise.spec for noise in given]}")
        return given

    @field_validator("metrics", mode="before")
    @classmethod
    def _metric_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("seeds", mode="before")
    @classmethod
    def _seed_list(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            if value < 1:
                raise ValueError(f"{value} repetitions make no study: give at least 1")
            if value > TUNING_SEED:
                raise ValueError(f"{value} repetitions are more than the {TUNING_SEED:,} that there may be")
            return list(range(value))
        if isinstance(value, list):
            for seed in value:
                if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < TUNING_SEED:
                    raise ValueError(f"{seed!r} is not a seed: give whole numbers in [0, {TUNING_SEED:,})")
            if len(set(value)) < len(value):
                raise ValueError("names a seed twice")
            return value
        raise ValueError(f"{value!r} is neither a number of repetitions nor a list of seeds")

    @model_validator(mode="before")
    @classmethod
    def _folds_are_seeds(cls, table: Any) -> Any:
        if not isinstance(table, dict) or "seeds" in table:
            return table
        datasets = table.get("datasets")
        parts = [table, *(datasets if isinstance(datasets, list) else [])]
        crossval = any(isinstance(part, dict) and part.get("protocol") == "crossval" for part in parts)
        folds = table.get("folds", DEFAULT_FOLDS)
        # Invalid folds are reported by their own field check.
        sound = isinstance(folds, int) and not isinstance(folds, bool) and 2 <= folds <= TUNING_SEED
        return {**table, "seeds": list(range(folds))} if crossval and sound else table

    @model_validator(mode="before")
    @classmethod
    def _with_baselines(cls, table: Any) -> Any:
        if not (isinstance(table, dict) and table.get("baselines") is True):
            return table
        entries = table.get("algorithms")
        if not isinstance(entries, list):
            return table
        # A study that is read back already contains its baselines.
        names = {entry.get("name") for entry in entries if isinstance(entry, dict)}
        names |= {entry.name for entry in entries if isinstance(entry, AlgorithmSpec)}
        added = [{"name": name, "label": label} for name, label in BASELINES.items() if name not in names]
        return {**table, "algorithms": [*entries, *added]}
