"""Define the tables of a study file: data sets, algorithms, class weights, active strategies and rankings."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    PlainValidator,
    StrictFloat,
    field_validator,
    model_validator,
)

from ... import learners
from .. import data
from ..errors import did_you_mean
from ..noise import Noise, parse_noise

if TYPE_CHECKING:
    from ...learners import QueryAll


@dataclass(frozen=True)
class Strategy:
    """Describe an active-learning strategy: it wraps a learner and decides which labels to ask for."""

    # The name of the strategy's class.
    name: str
    # The strategy's parameter, "" if it has none: its key in a study (which no learner uses as the name of a
    # parameter), its name in the class, and its default.
    key: str = ""
    parameter: str = ""
    default: int | float = 0

    @cached_property
    def factory(self) -> type[QueryAll]:
        """Return the strategy's class, imported on demand, so that reading a study imports no learner."""
        found: type[QueryAll] = getattr(learners, self.name)
        return found

    @cached_property
    def draws(self) -> bool:
        """Return whether the strategy draws random numbers."""
        return "random_state" in self.factory._get_param_names()

    def around(
        self, learner: Any, settings: Mapping[str, Any], state: Callable[[], int] | None = None
    ) -> QueryAll:
        """Return the learner wrapped in the strategy; `state` returns the seed of the strategy's draws."""
        given = {self.parameter: settings.get(self.key, self.default)} if self.key else {}
        if self.draws and state is not None:
            given["random_state"] = state()
        return self.factory(learner, **given)


STRATEGIES = {
    "all": Strategy("QueryAll"),
    "greedy": Strategy("Greedy", "h", "h", 5),
    "selective": Strategy("SelectiveSampling", "query_b", "b", 1.0),
    "selective-adaptive": Strategy("AdaptiveSelectiveSampling", "query_beta", "beta", 1.0),
    "random": Strategy("RandomQueries", "query_q", "q", 0.5),
}
#: The classes that tune a grid along the stream, by the value of `tune`.
TUNERS = {"leader": "FollowTheLeader", "weights": "ExponentialWeights"}
#: The study keys of all strategies' parameters.
KEYS = tuple(strategy.key for strategy in STRATEGIES.values() if strategy.key)


CLASS_WEIGHT = "class_weight"


def with_weights_as_text(parameters: Any) -> Any:
    """Return parameters with class weights, alone or in a list, as JSON text.

    Text is hashed, stored and plotted like any other value. Labels are sorted, so that equal weights give
    equal texts. Anything but a dictionary is returned unchanged.
    """
    if not (isinstance(parameters, dict) and CLASS_WEIGHT in parameters):
        return parameters
    given = parameters[CLASS_WEIGHT]
    text = [_as_text(each) for each in given] if isinstance(given, list) else _as_text(given)
    return {**parameters, CLASS_WEIGHT: text}


def _as_text(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def weights_of(value: Any) -> Any:
    """Return the weights by class that a text encodes; any other value is returned unchanged."""
    if not (isinstance(value, str) and value.startswith("{")):
        return value
    try:
        return json.loads(value)
    except ValueError:
        return value


def by_code(parameters: Mapping[str, Any], classes: Sequence[str] | None) -> dict[str, Any]:
    """Return a cell's parameters with class weights keyed by class code instead of class name.

    `classes` are the class names in code order; with None the weights stay keyed by name. Raises ValueError
    for a weight of an unknown class.
    """
    found = dict(parameters)
    if CLASS_WEIGHT not in found:
        return found
    weights = weights_of(found[CLASS_WEIGHT])
    if classes is not None and isinstance(weights, dict):
        for name in weights:
            if name not in classes:
                raise ValueError(
                    f"class_weight names class {name!r}, which is not one of {', '.join(classes)}"
                )
        weights = {classes.index(name): weight for name, weight in weights.items()}
    return {**found, CLASS_WEIGHT: weights}


# How grids are tuned: "seed" on a reserved seed, the others along the stream.
Tune = Literal["seed", "leader", "weights"]
Order = Literal["shuffled", "blocks", "given"]


@dataclass(frozen=True)
class Course:
    """Describe how a cell reads and measures its stream: order, delay of labels, window, part for tuning."""

    # Rows come in a seeded order, whole or of blocks (`splits.in_blocks`), or in the order of their source.
    order: Order = "shuffled"
    # Number of examples between a row and its label.
    delay: int = 0
    # With `window`, curves also have measures of that many latest examples; with `fading`, measures with this
    # fading factor.
    window: int | None = None
    fading: float | None = None
    # Share of the stream, from its start, on which grids are tuned and which is not counted; 0: no such part.
    tune_fraction: float = 0.0

    @property
    def document(self) -> dict[str, Any]:
        """Return the fields to hash: those that differ from the defaults, so that older keys stay valid."""
        return {name: value for name, value in vars(self).items() if value != getattr(USUAL, name)}

    def prefix(self, n: int) -> int:
        """Return the number of examples at the start of `n` on which the points of grids are compared."""
        return min(n - 1, max(1, round(n * self.tune_fraction))) if self.tune_fraction else 0


USUAL = Course()


ProtocolName = Literal["prequential", "holdout", "crossval"]
WinnerRule = Literal["best", "sparsest"]
Scalar = str | bool | int | float
# Types of numbers in a study. They are strict: a number written as text is refused, and 3.0 is not a count.
Count = Annotated[int, Field(strict=True, ge=1)]
Positive = Annotated[float, Field(strict=True, gt=0)]
Share = Annotated[float, Field(strict=True, gt=0, lt=1)]
# Noise, which a study file gives as a number (the rate of uniform noise) or as the table of any noise model.
NoiseSpec = Annotated[Noise, PlainValidator(parse_noise), PlainSerializer(lambda noise: noise.spec)]

# A value that is not a list stands for a list of one.
AS_LIST = BeforeValidator(lambda value: value if isinstance(value, list) else [value])
# A list of names, or a single name.
NameList = Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]

# Parameters that a data set gives to one algorithm.
OwnParameters = Annotated[dict[str, Scalar | list[Scalar]], Field(min_length=1)]

# Key of an inline table that sets a parameter to another algorithm's support size.
SUPPORT_OF = "support_of"


class DatasetSpec(BaseModel):
    """Describe one ``[[datasets]]`` table: a catalogue name, a path, an OpenML number, or a composition.

    docs/study.md describes the keys. `protocol`, `order`, `max_examples`, `test_fraction` and `max_tune`
    override the study's. `parameters` go to every algorithm that has such a parameter and does not set it;
    those in a table under an algorithm's label go to that algorithm only. All other keys are options of the
    data set (``n_train``, ``bias``, ...), which the data layer checks.
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
    at: Annotated[list[StrictFloat], AS_LIST] = []
    width: Annotated[int, Field(strict=True, ge=0)] = 0

    @field_validator("parameters", mode="before")
    @classmethod
    def _weights_are_text(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        # A table under an algorithm's label may contain class weights too.
        own = {
            key: given if key == CLASS_WEIGHT else with_weights_as_text(given) for key, given in value.items()
        }
        return with_weights_as_text(own)

    @model_validator(mode="after")
    def _one_origin(self) -> DatasetSpec:
        if self.compose and (self.name or self.path or self.target):
            raise ValueError("compose: move name, path and target into the tables of its sources")
        if not self.compose and (self.at or self.width):
            raise ValueError("'at' and 'width' need 'compose': they set how its sources follow each other")
        return self

    @model_validator(mode="before")
    @classmethod
    def _label_by_default(cls, table: Any) -> Any:
        if not isinstance(table, dict):
            return table
        given = [key for key in ("name", "path", "openml", "compose") if table.get(key) not in (None, [], "")]
        if not given:
            raise ValueError(
                "needs a 'name' from `singlepass list datasets`, the 'path' of a file, 'openml' with a "
                "number, or 'compose' with sources"
            )
        if len(given) > 1:
            raise ValueError(
                f"has both '{given[0]}' and '{given[1]}': give one of them; 'label' sets the name in tables"
            )
        if table.get("label"):
            return table
        if given == ["compose"]:
            raise ValueError("a composition needs a 'label', its name in tables")
        called = data.label_of(str(table["path"])) if given == ["path"] else table.get("name")
        return {**table, "label": str(called or f"openml-{table['openml']}").replace(":", "-")}

    @property
    def options(self) -> dict[str, Scalar]:
        """Return the keys that are not fields of this table."""
        return dict(self.model_extra or {})

    @property
    def entry(self) -> dict[str, Any]:
        """Return the keys that describe the data, as keyword arguments of `data.expand` and `data.look`."""
        asked = {"name", "path", "openml", "target", "task", "label", "compose", "at", "width"}
        named = self.model_dump(include=asked)
        return named | {"options": self.options}


class AlgorithmSpec(BaseModel):
    """Describe one ``[[algorithms]]`` table: a learner, its label in the report, and its parameters.

    docs/study.md describes the keys. All other keys are constructor parameters, lists are grids, and
    ``{ support_of = "LABEL" }`` is the final support size of the algorithm with that label on the same data
    set, noise and seed. `query` puts an active strategy of `STRATEGIES` around the learner. `tuned_as` is the
    label of an algorithm whose winning parameters this one uses. With a `tune` of `TUNERS` the points of the
    grid compete along the stream, in one cell. `reset` is the detector that restarts the learner, or all
    points of such a grid.
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
    tune: Tune | None = None
    reset: Literal["ddm", "adwin"] | None = None
    datasets: list[str] = []

    @model_validator(mode="after")
    def _keys_are_of_the_strategy(self) -> AlgorithmSpec:
        own = STRATEGIES[self.query].key if self.query is not None else ""
        here = "no query" if self.query is None else f"query = {self.query!r}"
        for name, strategy in STRATEGIES.items():
            if strategy.key not in ("", own) and getattr(self, strategy.key) is not None:
                raise ValueError(f"{strategy.key} belongs to query = {name!r}, but this algorithm has {here}")
        return self

    @property
    def strategy(self) -> dict[str, Scalar]:
        """Return the active strategy, the grid tuned along the stream or the detector, as cell parameters."""
        if self.query is None:
            reset = {} if self.reset is None else {"reset": self.reset}
            if self.tune in TUNERS and self.lists:
                return {"tune": self.tune, "tune_grid": json.dumps(self.lists, sort_keys=True), **reset}
            return dict(reset)
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
        """Return whether the algorithm runs on the data set with this label."""
        return not self.datasets or dataset in self.datasets

    @property
    def lists(self) -> dict[str, list[Scalar]]:
        """Return the parameters given as lists."""
        return {key: value for key, value in (self.model_extra or {}).items() if isinstance(value, list)}

    @property
    def grid(self) -> dict[str, list[Scalar]]:
        """Return the grid whose points are separate cells: `lists`, unless tuned along the stream."""
        return {} if self.tune in TUNERS else self.lists

    def with_parameters(self, given: Mapping[str, Scalar | list[Scalar]]) -> AlgorithmSpec:
        """Return the entry with further parameters, without changing those that it sets itself."""
        extra = {key: value for key, value in given.items() if key not in (self.model_extra or {})}
        return AlgorithmSpec.model_validate({**self.model_dump(), **extra}) if extra else self

    @property
    def fixed(self) -> dict[str, Scalar]:
        """Return the parameters given as single values."""
        values = self.model_extra or {}
        return {key: value for key, value in values.items() if not isinstance(value, list | dict)}

    @property
    def support_of(self) -> dict[str, str]:
        """Return the parameters that are another algorithm's support size, with that algorithm's label."""
        values = self.model_extra or {}
        return {key: value[SUPPORT_OF] for key, value in values.items() if isinstance(value, dict)}

    @model_validator(mode="after")
    def _parameters_are_valid(self) -> AlgorithmSpec:
        for key, value in (self.model_extra or {}).items():
            if isinstance(value, dict) and not (
                list(value) == [SUPPORT_OF] and isinstance(value[SUPPORT_OF], str)
            ):
                raise ValueError(
                    f"'{key}' must be a value, a list of values or {{ {SUPPORT_OF} = \"LABEL\" }}"
                )
        if self.tune in TUNERS and (self.query is not None or CLASS_WEIGHT in self.lists):
            other = "query" if self.query is not None else f"a grid of {CLASS_WEIGHT}"
            raise ValueError(f"tune = {self.tune!r} does not work with {other}: remove one of the two")
        if self.reset is not None and self.query is not None:
            raise ValueError(f"reset = {self.reset!r} does not work with query: remove one of the two")
        if self.support_of and self.lists:
            raise ValueError(
                f"'{next(iter(self.support_of))}' is the support size of another algorithm, so "
                f"'{next(iter(self.lists))}' cannot be a list: give one value"
            )
        if self.tuned_as is not None and self.lists:
            raise ValueError(
                f"'{next(iter(self.lists))}' is a grid, but tuned_as takes the winner of the grid of "
                f"{self.tuned_as!r}: give one of the two"
            )
        for key, values in self.lists.items():
            if not values:
                raise ValueError(f"the grid of '{key}' is empty: give at least one value")
            if any(isinstance(value, dict) for value in values):
                raise ValueError(
                    f"the grid of '{key}' contains a table: write {SUPPORT_OF} alone, not in a list"
                )
            if len({repr(value) for value in values}) < len(values):
                raise ValueError(f"the grid of '{key}' contains a value twice: {values}")
        return self


class RankingSpec(BaseModel):
    """Describe one ``[[rankings]]`` table: algorithms that the report also ranks among themselves.

    `datasets` restricts the ranking to these data sets; empty means all. `focus` is plotted against each
    other algorithm, task by task, at the noise rates `focus_noise` (if empty: three of the study's).
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    title: str
    algorithms: Annotated[list[str], Field(min_length=2)]
    datasets: list[str] = []
    focus: str | None = None
    focus_noise: Annotated[list[NoiseSpec], AS_LIST] = []

    @model_validator(mode="after")
    def _focus_takes_part(self) -> RankingSpec:
        if self.focus is None and self.focus_noise:
            raise ValueError("focus_noise needs a 'focus', the algorithm to plot at these noise rates")
        if self.focus is not None and self.focus not in self.algorithms:
            raise ValueError(
                f"focus {self.focus!r} is not one of the ranking's algorithms: "
                f"{did_you_mean(self.focus, self.algorithms)}"
            )
        return self
