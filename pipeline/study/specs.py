"""The tables of a study: a data set, an algorithm with its parameters, a ranking."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StrictFloat,
    field_validator,
    model_validator,
)

from .. import data
from ..errors import did_you_mean
from ..noise import Noise, parse_noise
from .class_weights import CLASS_WEIGHT, with_weights_as_text
from .course import Order
from .strategies import STRATEGIES

ProtocolName = Literal["prequential", "holdout", "crossval"]
WinnerRule = Literal["best", "sparsest"]
Scalar = str | bool | int | float
# Numbers as they are written: text is none, and a count has no point.
Count = Annotated[int, Field(strict=True, ge=1)]
Positive = Annotated[float, Field(strict=True, gt=0)]
Share = Annotated[float, Field(strict=True, gt=0, lt=1)]
# In a study file a rate, or a table of another model; written back as such.
NoiseSpec = Annotated[Noise, PlainValidator(parse_noise), PlainSerializer(lambda noise: noise.spec)]

# Parameters that a data set gives to one algorithm.
OwnParameters = Annotated[dict[str, Scalar | list[Scalar]], Field(min_length=1)]

# The key of an inline table that ties a parameter to another algorithm's outcome.
SUPPORT_OF = "support_of"


class DatasetSpec(BaseModel):
    """One ``[[datasets]]`` table: a name of the catalogue, a path, a number of OpenML, or a composition.

    `label` is what tables call it; by default its name, or the name of its file without suffixes.
    `protocol`, `order`, `max_examples`, `test_fraction` and `max_tune` override the study's. `parameters` are
    given to every algorithm that has such a parameter and does not set it itself, lists as grids: a kernel's
    width belongs to the data; those in a table under an algorithm's label are given to that one alone.
    `compose` lists tables of sources (`name` or `path`, and options) that make one stream, which changes from
    each to the next `at` these relative positions (equally far apart by default), within `width` examples.
    Keys that are not listed here are options of the data set (``n_train``, ``bias``, ...); the data layer
    checks them.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    name: str | None = None
    path: str | None = None
    openml: Count | None = None
    target: str | int | None = None
    task: str = "auto"
    label: str = ""
    protocol: ProtocolName | None = None
    order: Order | None = None
    max_examples: Count | None = None
    test_fraction: Share | None = None
    max_tune: Count | None = None
    parameters: dict[str, Scalar | list[Scalar] | OwnParameters] = {}
    compose: list[dict[str, Any]] = []
    at: list[StrictFloat] = []
    width: Annotated[int, Field(strict=True, ge=0)] = 0

    @field_validator("parameters", mode="before")
    @classmethod
    def _weights_are_text(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        # Also in what is for one algorithm alone.
        own = {
            key: given if key == CLASS_WEIGHT else with_weights_as_text(given) for key, given in value.items()
        }
        return with_weights_as_text(own)

    @field_validator("at", mode="before")
    @classmethod
    def _one_position(cls, value: Any) -> Any:
        return value if isinstance(value, list) else [value]

    @model_validator(mode="after")
    def _one_origin(self) -> DatasetSpec:
        if self.compose and (self.name or self.path or self.target):
            raise ValueError("compose: its sources have names, paths and targets, the composition has none")
        if not self.compose and (self.at or self.width):
            raise ValueError("at and width say where sources of 'compose' change, which is missing")
        return self

    @model_validator(mode="before")
    @classmethod
    def _label_by_default(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        given = [key for key in ("name", "path", "openml", "compose") if table.get(key) not in (None, [], "")]
        if not given:
            raise ValueError(
                "needs a 'name' from `singlepass list datasets`, the 'path' of a file, a number of "
                "'openml' or sources to 'compose'"
            )
        if len(given) > 1:
            raise ValueError(
                f"has both '{given[0]}' and '{given[1]}': write one; what tables call it is 'label'"
            )
        if table.get("label"):
            return table
        if given == ["compose"]:
            raise ValueError("a composition needs a 'label', which tables call it by")
        called = data.label_of(str(table["path"])) if given == ["path"] else table.get("name")
        return {**table, "label": str(called or f"openml-{table['openml']}").replace(":", "-")}

    @property
    def options(self) -> dict[str, Scalar]:
        """Keys beyond the named ones."""
        return dict(self.model_extra or {})

    @property
    def entry(self) -> dict[str, Any]:
        """What the data layer is asked with, by the names of `data.expand` and `data.look`."""
        asked = {"name", "path", "openml", "target", "task", "label", "compose", "at", "width"}
        named = self.model_dump(include=asked)
        return named | {"options": self.options}


class AlgorithmSpec(BaseModel):
    """One ``[[algorithms]]`` table: a learner, its label in the report, and its parameters.

    Every other key is a constructor parameter; a parameter given as a list is a grid. One given as
    ``{ support_of = "LABEL" }`` is the size of the support set with which the algorithm of that label ends on
    the same data set, noise and seed: so learners are compared at equal support sizes. A `class_weight` is a
    table of weights by the names of classes. `query` puts an active strategy around the learner: "all" labels
    counted, "greedy", one label of every `h` rows, "selective", by chance with `query_b`,
    "selective-adaptive" with `query_beta`, or "random", a share `query_q`. `tuned_as` is the label of an
    algorithm whose grid serves this one too: what won it there is taken. `winner` overrides the study's.
    `datasets` binds it to some of the study's data sets, by their labels.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    name: str
    label: str = ""
    query: Literal["all", "greedy", "selective", "selective-adaptive", "random"] | None = None
    h: Count | None = None
    query_b: Positive | None = None
    query_beta: Positive | None = None
    query_q: Annotated[float, Field(strict=True, ge=0, le=1)] | None = None
    winner: WinnerRule | None = None
    tuned_as: str | None = None
    datasets: list[str] = []

    @model_validator(mode="after")
    def _keys_are_of_the_strategy(self) -> AlgorithmSpec:
        own = STRATEGIES[self.query].key if self.query is not None else ""
        here = "there is none" if self.query is None else f"this one has query = {self.query!r}"
        for name, strategy in STRATEGIES.items():
            if strategy.key not in ("", own) and getattr(self, strategy.key) is not None:
                raise ValueError(f"{strategy.key} belongs to query = {name!r}, and {here}")
        return self

    @property
    def strategy(self) -> dict[str, Scalar]:
        """The active strategy, as parameters of `make_learner`."""
        if self.query is None:
            return {}
        strategy = STRATEGIES[self.query]
        given = getattr(self, strategy.key) if strategy.key else None
        own = {strategy.key: strategy.default if given is None else given} if strategy.key else {}
        return {"query": self.query, **own}

    @model_validator(mode="before")
    @classmethod
    def _label_by_default(cls, table: Any) -> Any:
        table = with_weights_as_text(table)
        if isinstance(table, dict) and not table.get("label"):
            return {**table, "label": table.get("name") or ""}
        return table

    def runs_on(self, dataset: str) -> bool:
        """Return whether it takes part on a data set, by what tables call that."""
        return not self.datasets or dataset in self.datasets

    @property
    def grid(self) -> dict[str, list[Scalar]]:
        """The parameters given as lists."""
        return {key: value for key, value in (self.model_extra or {}).items() if isinstance(value, list)}

    def with_parameters(self, given: Mapping[str, Scalar | list[Scalar]]) -> AlgorithmSpec:
        """Return the entry with further parameters, those that it sets itself aside."""
        extra = {key: value for key, value in given.items() if key not in (self.model_extra or {})}
        return AlgorithmSpec.model_validate({**self.model_dump(), **extra}) if extra else self

    @property
    def fixed(self) -> dict[str, Scalar]:
        """The parameters given as single values."""
        values = self.model_extra or {}
        return {key: value for key, value in values.items() if not isinstance(value, list | dict)}

    @property
    def support_of(self) -> dict[str, str]:
        """The parameters that are another algorithm's support size, with its label."""
        values = self.model_extra or {}
        return {key: value[SUPPORT_OF] for key, value in values.items() if isinstance(value, dict)}

    @model_validator(mode="after")
    def _tables_are_support_sizes(self) -> AlgorithmSpec:
        for key, value in (self.model_extra or {}).items():
            if isinstance(value, dict) and not (
                list(value) == [SUPPORT_OF] and isinstance(value[SUPPORT_OF], str)
            ):
                raise ValueError(
                    f"'{key}' must be a value, a list of values or {{ {SUPPORT_OF} = \"LABEL\" }}"
                )
        if self.support_of and self.grid:
            raise ValueError(
                f"'{next(iter(self.support_of))}' is a support size, so '{next(iter(self.grid))}' "
                "cannot be tuned: give one value"
            )
        return self

    @model_validator(mode="after")
    def _one_grid(self) -> AlgorithmSpec:
        if self.tuned_as is not None and self.grid:
            raise ValueError(
                f"'{next(iter(self.grid))}' is a grid, and tuned_as takes what won that of "
                f"{self.tuned_as!r}: give one of the two"
            )
        return self

    @model_validator(mode="after")
    def _grids_hold_values(self) -> AlgorithmSpec:
        for key, values in self.grid.items():
            if not values:
                raise ValueError(f"the grid of '{key}' is empty: give at least one value")
            if any(isinstance(value, dict) for value in values):
                raise ValueError(
                    f"the grid of '{key}' holds a table: {SUPPORT_OF} stands alone, not in a list"
                )
            if len({repr(value) for value in values}) < len(values):
                raise ValueError(f"the grid of '{key}' names a value twice: {values}")
        return self


class RankingSpec(BaseModel):
    """One ``[[rankings]]`` table: algorithms that the report ranks among themselves, besides all together.

    `datasets` (the study's, as tables call them; all when empty) restricts it to their tasks.
    `focus` is the one of the algorithms that is drawn against each of the others, task by task, at the noise
    rates `focus_noise` (three of the study's when empty).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    title: str
    algorithms: Annotated[list[str], Field(min_length=2)]
    datasets: list[str] = []
    focus: str | None = None
    focus_noise: list[NoiseSpec] = []

    @field_validator("focus_noise", mode="before")
    @classmethod
    def _one_rate(cls, value: Any) -> Any:
        return value if isinstance(value, list) else [value]

    @model_validator(mode="after")
    def _focus_takes_part(self) -> RankingSpec:
        if self.focus is None and self.focus_noise:
            raise ValueError("focus_noise says where to draw the 'focus', which is missing")
        if self.focus is not None and self.focus not in self.algorithms:
            raise ValueError(
                f"focus {self.focus!r} does not take part: {did_you_mean(self.focus, self.algorithms)}"
            )
        return self
