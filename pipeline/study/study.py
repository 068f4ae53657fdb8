"""Define the keys of a study file, and check each key and whether the keys agree with each other."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Sequence
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StrictBool, field_validator, model_validator

from ..errors import did_you_mean
from ..noise import CLEAN, parse_noise
from ..scoring import BASELINES, METRIC_NAMES, can_rank, is_of_test_part
from .specs import (
    TUNERS,
    AlgorithmSpec,
    Count,
    Course,
    DatasetSpec,
    Description,
    NameList,
    NoiseSpec,
    Order,
    Positive,
    ProtocolName,
    RankingSpec,
    Share,
    Tune,
    WinnerRule,
)

# The seed on which grids are tuned. It is far above the seeds of any plausible study, so that tuning and
# reported results never share random draws.
TUNING_SEED = 1_000_000
DEFAULT_FOLDS = 10
# Most points of a learning curve, each of which is stored as a row of the results.
_MOST_CHECKPOINTS = 10_000


def _is_count(value: Any) -> bool:
    """Return whether a value is a whole number of at least 1."""
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _rising_counts(values: Sequence[Any]) -> tuple[int, ...]:
    """Return a list of checkpoints as a tuple; raise ValueError if they are not rising whole numbers."""
    for value in values:
        if not _is_count(value):
            raise ValueError(f"{value!r} is not a number of examples: give whole numbers from 1 on")
    for before, after in itertools.pairwise(values):
        if not before < after:
            raise ValueError(f"the list must rise, but {after:,} follows {before:,}")
    if not 1 <= len(values) <= _MOST_CHECKPOINTS:
        raise ValueError(
            f"a list has 1 to {_MOST_CHECKPOINTS} numbers of examples, this one has {len(values)}"
        )
    return tuple(values)


def _check_labels(key: str, kind: str, labels: Iterable[str], known: Collection[str]) -> None:
    """Raise ValueError if one of the `labels` under a key is not the label of one of the study's entries.

    `kind` says what `known` are: algorithms or data sets.
    """
    for label in labels:
        if label not in known:
            raise ValueError(f"{key}: no {kind} is called {label!r}: {did_you_mean(label, known)}")


class Study(BaseModel):
    """The keys of a study; docs/study.md describes each of them."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    name: Annotated[str, Field(max_length=100)]
    # If empty, the study's name.
    title: Description = ""
    description: Description = ""
    # See `study_file.extended`.
    extends: str = ""
    protocol: ProtocolName = "prequential"
    noise: Annotated[list[NoiseSpec], Field(min_length=1)] = [CLEAN]
    # A study file may give a number n for seeds 0 .. n-1. With protocol "crossval", seeds are fold numbers,
    # by default those of all folds.
    seeds: Annotated[list[int], Field(min_length=1)] = [0, 1, 2, 3, 4]
    root_seed: Annotated[int, Field(strict=True, ge=0)] = 0
    checkpoints: Literal["log"] | int | tuple[int, ...] = "log"
    order: Order = "shuffled"
    tune_fraction: Share = 0.1
    # After x_t is predicted, (x_{t-delay}, y_{t-delay}) is learned; with label_due = "before" just before x_t
    # is predicted, as in River. Labels due after the end of the stream are learned and not counted.
    delay: Annotated[int, Field(strict=True, ge=0)] = 0
    label_due: Literal["after", "before"] = "after"
    window: Count | None = None
    fading: Share | None = None
    # Whether to add the algorithms in `BASELINES`.
    baselines: StrictBool = False
    test_fraction: Share = 0.3
    folds: Annotated[int, Field(strict=True, ge=2, le=TUNING_SEED)] = DEFAULT_FOLDS
    max_examples: Count | None = None
    max_train: Count | None = None
    max_test: Count | None = None
    # None: see `judge_of`.
    tune_by: Literal["online", "validation"] | None = None
    validation_fraction: Share = 0.2
    # "sparsest" is the rule of one standard error (Breiman et al. 1984, section 3.4.3).
    winner: WinnerRule = "best"
    tune: Tune = "seed"
    tune_each: StrictBool = False
    test_points: StrictBool = False
    time_limit: Positive | None = None
    max_tune: Count | None = None
    test_curve: StrictBool = False
    # From `METRIC_NAMES`; see `ranked_by`.
    metrics: NameList = []
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
            raise ValueError(f"a rate is given twice: {[noise.spec for noise in given]}")
        return given

    @field_validator("seeds", mode="before")
    @classmethod
    def _seed_list(cls, value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            if value < 1:
                raise ValueError(f"{value} repetitions are too few: give at least 1")
            if value > TUNING_SEED:
                raise ValueError(f"{value} repetitions are more than the limit of {TUNING_SEED:,}")
            return list(range(value))
        if isinstance(value, list):
            for seed in value:
                if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < TUNING_SEED:
                    raise ValueError(f"{seed!r} is not a seed: give whole numbers in [0, {TUNING_SEED:,})")
            if len(set(value)) < len(value):
                raise ValueError("a seed is given twice")
            return value
        raise ValueError(f"{value!r} is neither a number of repetitions nor a list of seeds")

    @model_validator(mode="before")
    @classmethod
    def _completed(cls, table: Any) -> Any:
        """Add baselines, the study's `tune` to its algorithms, and the folds of crossval as seeds."""
        if not isinstance(table, dict):
            return table
        entries = table.get("algorithms")
        if isinstance(entries, list):
            if table.get("baselines") is True:
                # Only if they are missing: a study that is read from results already contains them.
                # A list, because a wrong value may be unhashable.
                names = [entry.get("name") for entry in entries if isinstance(entry, dict)]
                names += [entry.name for entry in entries if isinstance(entry, AlgorithmSpec)]
                absent = [(name, label) for name, label in BASELINES.items() if name not in names]
                entries = [*entries, *({"name": name, "label": label} for name, label in absent)]
            if table.get("tune", "seed") != "seed":
                # Not of a query strategy, which wraps a single learner and so cannot compare settings.
                own = {"tune": table["tune"]}
                entries = [
                    {**own, **each} if isinstance(each, dict) and not each.get("query") else each
                    for each in entries
                ]
            table = {**table, "algorithms": entries}
        datasets = table.get("datasets")
        parts = [table, *(datasets if isinstance(datasets, list) else [])]
        crossval = any(isinstance(part, dict) and part.get("protocol") == "crossval" for part in parts)
        folds = table.get("folds", DEFAULT_FOLDS)
        # If `folds` is invalid, leave `seeds` unset: the validation of `folds` reports it.
        sound = isinstance(folds, int) and not isinstance(folds, bool) and 2 <= folds <= TUNING_SEED
        if "seeds" not in table and crossval and sound:
            table = {**table, "seeds": list(range(folds))}
        return table

    @model_validator(mode="after")
    def _protocol_and_order_agree(self) -> Study:
        crossval = "crossval" in (self.protocol, *(entry.protocol for entry in self.datasets))
        if crossval and max(self.seeds) >= self.folds:
            raise ValueError(
                f"seeds: with protocol 'crossval', seeds are fold numbers 0 to {self.folds - 1}; got "
                f"{max(self.seeds)}"
            )
        given = [entry for entry in self.datasets if self.order_of(entry) == "given"]
        for entry in given:
            if self.protocol_of(entry) == "crossval":
                raise ValueError(
                    f"order: data set {entry.label!r} is read in the given order, which folds of crossval "
                    "would break: set protocol 'prequential' or 'holdout', or order 'shuffled'"
                )
        if given and (self.max_tune is not None or any(entry.max_tune for entry in given)):
            raise ValueError(
                'max_tune: with order = "given" grids are tuned on the first tune_fraction of the stream; '
                "remove max_tune"
            )
        # Accept the default value, because a study that is read from results contains it explicitly.
        if not given and self.tune_fraction != type(self).model_fields["tune_fraction"].default:
            raise ValueError('tune_fraction needs order = "given", which no data set here uses')
        if self.tune_each:
            for entry in self.datasets:
                if self.protocol_of(entry) == "prequential" or self.order_of(entry) == "given":
                    if self.tune in TUNERS:
                        raise ValueError(
                            f"tune_each: tune = {self.tune!r} already tunes the grids of data set "
                            f"{entry.label!r} along the stream of each repetition: remove tune_each"
                        )
                    if entry in given:
                        raise ValueError(
                            f"tune_each: data set {entry.label!r} is read in the given order, in which grids "
                            "are tuned on the first tune_fraction of the stream, which is not reported: "
                            "remove tune_each"
                        )
                    raise ValueError(
                        f"tune_each: data set {entry.label!r} would tune its grids on the stream whose "
                        "results it reports: set protocol 'holdout' or 'crossval', or replace tune_each by "
                        'tune = "leader"'
                    )
        if self.label_due == "before" and not self.delay:
            raise ValueError("label_due needs a delay, because it says when late labels come: set delay")
        if self.test_curve and all(self.protocol_of(entry) == "prequential" for entry in self.datasets):
            raise ValueError("test_curve needs a test part: set protocol 'holdout' or 'crossval'")
        for i, entry in enumerate(self.datasets, 1):
            if entry.test_fraction is not None and self.protocol_of(entry) != "holdout":
                raise ValueError(
                    f"datasets[{i}]: test_fraction needs a seeded split, but protocol "
                    f"{self.protocol_of(entry)!r} makes none: give the data set protocol = 'holdout'"
                )
        return self

    @model_validator(mode="after")
    def _metrics_are_known(self) -> Study:
        tested = any(self.protocol_of(entry) != "prequential" for entry in self.datasets)
        for place, name in enumerate(self.metrics):
            if name not in METRIC_NAMES:
                raise ValueError(f"metrics: unknown metric {name!r}: {did_you_mean(name, METRIC_NAMES)}")
            if name in self.metrics[:place]:
                raise ValueError(f"metrics: {name!r} is given twice")
            if is_of_test_part(name) and not tested:
                raise ValueError(f"metrics: {name!r} needs a test part: set protocol 'holdout' or 'crossval'")
        if self.rank_by is not None and self.rank_by not in self.metrics:
            hint = did_you_mean(self.rank_by, self.metrics) if self.metrics else "add it to metrics"
            raise ValueError(f"rank_by: {self.rank_by!r} is not one of the study's metrics: {hint}")
        if self.ranked_by is not None and not can_rank(self.ranked_by):
            raise ValueError(
                f"rank_by: {self.ranked_by!r} cannot rank: it compares each learner with weights of that "
                "learner's own norm, so that learning nothing has regret 0. With one norm for all learners, "
                f"regret ranks as {self.ranked_by.replace('regret', 'hinge_loss')!r} does: add that to "
                "metrics and set rank_by to it"
            )
        return self

    @model_validator(mode="after")
    def _algorithms_agree(self) -> Study:
        labels = [entry.label for entry in self.algorithms]
        twice = sorted({label for label in labels if labels.count(label) > 1})
        if twice:
            raise ValueError(f"algorithms: two entries are called {twice[0]!r}: give one of them a 'label'")
        given = any(dataset.parameters for dataset in self.datasets)
        for entry in self.algorithms:
            if entry.tune in TUNERS and entry.tune != self.tune and not (entry.lists or given):
                raise ValueError(
                    f"algorithms: {entry.label!r} has tune = {entry.tune!r} but no grid: give a parameter a "
                    "list of values"
                )
        free = [entry.label for entry in self.algorithms if not entry.support_of]
        for entry in self.algorithms:
            for key, label in entry.support_of.items():
                if label not in free:
                    raise ValueError(
                        f"algorithms: '{key}' of {entry.label!r} is the support size of {label!r}, but "
                        f"support_of must name an algorithm without support_of: {did_you_mean(label, free)}"
                    )
        own = [entry.label for entry in self.algorithms if entry.tuned_as is None]
        for entry in self.algorithms:
            if entry.tuned_as is not None and entry.tuned_as not in own:
                raise ValueError(
                    f"algorithms: {entry.label!r} is tuned as {entry.tuned_as!r}, but tuned_as must name an "
                    f"algorithm without tuned_as: {did_you_mean(entry.tuned_as, own)}"
                )
        return self

    @model_validator(mode="after")
    def _labels_are_known(self) -> Study:
        datasets = [entry.label for entry in self.datasets]
        models = {entry.label: entry for entry in self.algorithms}
        for entry in self.algorithms:
            _check_labels(f"algorithms: datasets of {entry.label!r}", "data set", entry.datasets, datasets)
            needed = [*entry.support_of.values(), *([entry.tuned_as] if entry.tuned_as else [])]
            for name in filter(entry.runs_on, datasets):
                for label in needed:
                    if not models[label].runs_on(name):
                        raise ValueError(
                            f"algorithms: {entry.label!r} depends on {label!r}, which does not run on data "
                            f"set {name!r}: give both the same datasets"
                        )
        _check_labels("curves", "algorithm", self.curves, models)
        _check_labels("solutions", "algorithm", self.solutions, models)
        for ranking in self.rankings:
            _check_labels("rankings", "algorithm", ranking.algorithms, models)
            _check_labels("rankings", "data set", ranking.datasets, datasets)
            for noise in ranking.focus_noise:
                if noise not in self.noise:
                    raise ValueError(
                        f"rankings: focus_noise {noise.spec} is not one of the study's noise rates "
                        f"{[each.spec for each in self.noise]}"
                    )
        return self

    def protocol_of(self, entry: DatasetSpec) -> ProtocolName:
        """Return the protocol of a data set: its own, or that of the study."""
        return entry.protocol or self.protocol

    @property
    def ranked_by(self) -> str | None:
        """Return the metric by which algorithms are ranked, or None if the study names no metrics."""
        return self.rank_by or (self.metrics[0] if self.metrics else None)

    def tuning_seed(self, seed: int) -> int:
        """Return the seed of the cells that tune grids for the repetition with seed `seed`."""
        return seed if self.tune_each else TUNING_SEED

    @property
    def own_winners(self) -> dict[str, WinnerRule]:
        """Return the rules for choosing the winner of a grid, by label, of algorithms that set their own."""
        return {each.label: each.winner for each in self.algorithms if each.winner is not None}

    def order_of(self, entry: DatasetSpec) -> Order:
        """Return the order of a data set's rows, "shuffled", "blocks" or "given": its own or the study's."""
        return entry.order or self.order

    @property
    def late(self) -> int:
        """Return how many further examples are predicted before the label of an example is learned."""
        # With "before", a label arrives just before row t is predicted, which is just after row t-1: the
        # delay is one less.
        return self.delay - (self.label_due == "before")

    def course_of(self, entry: DatasetSpec, *, tuned: bool) -> Course:
        """Return how cells read and measure a data set; `tuned` says whether any grid is tuned on it."""
        judged = tuned and self.order_of(entry) == "given"
        return Course(
            order=self.order_of(entry),
            delay=self.late,
            window=self.window,
            fading=self.fading,
            tune_fraction=self.tune_fraction if judged else 0.0,
        )

    def judge_of(self, entry: DatasetSpec) -> Literal["online", "validation"]:
        """Return how the settings of a grid are compared: by mistakes "online" or on "validation" rows."""
        if self.tune_by is not None:
            return self.tune_by
        online = self.protocol_of(entry) == "prequential" or self.order_of(entry) == "given"
        return "online" if online else "validation"


def misplaced(key: str) -> str:
    """Return advice if a key found in a ``[[table]]`` is a key of the whole study; "" for other keys."""
    return f"'{key}' is a key of the study: put it above the first [[…]]" if key in Study.model_fields else ""
