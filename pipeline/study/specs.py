"""Define and check the tables of a study file: ``[[datasets]]``, ``[[algorithms]]`` and ``[[rankings]]``."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import (
    AfterValidator,
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
from ..errors import UNPRINTABLE, did_you_mean
from ..noise import Noise, parse_noise

if TYPE_CHECKING:
    from ...learners import QueryAll


@dataclass(frozen=True)
class Strategy:
    """Describe an active-learning strategy: it wraps a learner and decides which labels to ask for."""

    # The name of the strategy's class.
    name: str
    # The strategy's one parameter, if it has one: its key in a study file (different from all parameters of
    # learners), its name in the class ("" for both if it has none), and its default.
    key: str = ""
    parameter: str = ""
    default: int | float = 0

    @cached_property
    def factory(self) -> type[QueryAll]:
        """Return the strategy's class, imported only now, so that reading a study imports no learner."""
        found: type[QueryAll] = getattr(learners, self.name)
        return found

    @cached_property
    def draws(self) -> bool:
        """Return whether the strategy draws random numbers."""
        return "random_state" in self.factory._get_param_names()

    def around(
        self, learner: Any, settings: Mapping[str, Any], state: Callable[[], int] | None = None
    ) -> QueryAll:
        """Return a learner wrapped in this strategy, with its parameter from `settings`.

        `state` returns a seed for the random numbers that the strategy draws.
        """
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
#: Names of the classes that choose among a grid's settings along the stream, by the value of key `tune`.
TUNERS = {"leader": "FollowTheLeader", "weights": "ExponentialWeights"}
#: The keys by which a study file sets parameters of query strategies.
KEYS = tuple(strategy.key for strategy in STRATEGIES.values() if strategy.key)


CLASS_WEIGHT = "class_weight"
# End of the message for a table under another key.
_WEIGHTS = f"class weights need the key '{CLASS_WEIGHT}'"


def with_weights_as_text(parameters: Any) -> Any:
    """Return parameters in which class weights, one table or a list of tables, are JSON text.

    As text, they are hashed, stored and plotted like any other value. Labels are sorted, so that equal
    weights give equal texts. Anything but a dictionary is returned unchanged.
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
    """Return the class weights that a JSON text contains; return any other value unchanged."""
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


# How the settings of a grid are compared: "seed" by separate cells on a reserved seed, "leader" and "weights"
# by one cell along the stream.
Tune = Literal["seed", "leader", "weights"]
Order = Literal["shuffled", "blocks", "given"]


@dataclass(frozen=True)
class Course:
    """How a cell reads and measures its stream: order, delay of labels, window, part for tuning."""

    # "shuffled": rows in random order by the seed; "blocks": blocks of rows in random order, see
    # `splits.in_blocks`; "given": rows in the order of the data set.
    order: Order = "shuffled"
    # Number of examples by which a label arrives later than its row.
    delay: int = 0
    # If set, learning curves also have measures over the latest `window` examples, and measures in which the
    # weight of an example is `fading` times that of the next one.
    window: int | None = None
    fading: float | None = None
    # Share of the stream, from its start, that is used to tune grids and left out of results; 0: no such
    # part.
    tune_fraction: float = 0.0

    @property
    def document(self) -> dict[str, Any]:
        """Return the fields that enter a cell's key.

        Fields with default values are left out, so that keys from before a field existed stay valid.
        """
        return {name: value for name, value in vars(self).items() if value != getattr(USUAL, name)}

    def prefix(self, n: int) -> int:
        """Return how many examples at the start of a stream of `n` are used only to tune grids."""
        return min(n - 1, max(1, round(n * self.tune_fraction))) if self.tune_fraction else 0


USUAL = Course()


ProtocolName = Literal["prequential", "holdout", "crossval"]
WinnerRule = Literal["best", "sparsest"]
Scalar = str | bool | int | float
# Types of numbers in a study. They are strict: a number written as text is refused, and 3.0 is not a count.
Count = Annotated[int, Field(strict=True, ge=1, le=2**53)]
Positive = Annotated[float, Field(strict=True, gt=0)]
Share = Annotated[float, Field(strict=True, gt=0, lt=1)]
# Noise, which a study file gives as a number (the rate of uniform noise) or as the table of any noise model.
NoiseSpec = Annotated[Noise, PlainValidator(parse_noise), PlainSerializer(lambda noise: noise.spec)]


def _without(characters: str) -> AfterValidator:
    def checked(text: str) -> str:
        if re.search(characters, text):
            raise ValueError(f"{text!r} has a control or invalid character: give one without")
        return text

    return AfterValidator(checked)


# A name that tables and figures show.
Label = Annotated[str, _without(rf"[\t\n\r]|{UNPRINTABLE.pattern}")]
# A text that may have tabs and line breaks.
Description = Annotated[str, _without(UNPRINTABLE.pattern)]

# Validator that turns a single value into a list of one value.
AS_LIST = BeforeValidator(lambda value: value if isinstance(value, list) else [value])
# A list of names, which a study file may also give as a single name.
NameList = Annotated[list[str], BeforeValidator(lambda value: [value] if isinstance(value, str) else value)]

# Parameters that the table of a data set sets for a single algorithm.
OwnParameters = Annotated[dict[str, Scalar | list[Scalar]], Field(min_length=1)]

# Key in ``{ support_of = "LABEL" }``, by which a parameter is set to the number of support vectors of another
# algorithm.
SUPPORT_OF = "support_of"


class DatasetSpec(BaseModel):
    """Describe one ``[[datasets]]`` table: a catalogue name, a path, an OpenML number, or a composition.

    docs/study.md describes the keys. Those that are not fields of this class are options of the data set
    (``n_train``, ``bias``, ...), which the data layer checks.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    name: str | None = None
    path: str | None = None
    openml: Count | None = None
    target: str | int | None = None
    task: str = "auto"
    label: Label = ""
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
        # Convert class weights for all algorithms, and those in the table of a single algorithm.
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
        # A label of another type than text is refused later.
        if table.get("label") not in (None, ""):
            return table
        if given == ["compose"]:
            raise ValueError("a composition needs a 'label', its name in tables")
        called = data.label_of(str(table["path"])) if given == ["path"] else table.get("name")
        return {**table, "label": str(called or f"openml-{table['openml']}").replace(":", "-")}

    @property
    def options(self) -> dict[str, Scalar]:
        """Return the options of the data set: the keys that are not fields of this class."""
        return dict(self.model_extra or {})

    @property
    def entry(self) -> dict[str, Any]:
        """Return the keys that describe the data, as keyword arguments of `data.expand` and `data.look`."""
        asked = {"name", "path", "openml", "target", "task", "label", "compose", "at", "width"}
        named = self.model_dump(include=asked)
        return named | {"options": self.options}


class AlgorithmSpec(BaseModel):
    """Describe one ``[[algorithms]]`` table: a learner, its label in the report, and its parameters.

    docs/study.md describes the keys. Those that are not fields of this class are parameters of the learner: a
    list is a grid of values, and ``{ support_of = "LABEL" }`` stands for the final support size of the
    algorithm with that label on the same data set, noise and seed.
    """

    model_config = ConfigDict(extra="allow", frozen=True)
    name: Label
    label: Label = ""
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
        """Return the parameters of the object that wraps the learner, as they enter a cell's parameters.

        It is a query strategy, a tuner of a grid along the stream, or a change detector.
        """
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
        if isinstance(table, dict) and table.get("label") in (None, ""):
            return {**table, "label": table.get("name") or ""}
        return table

    def runs_on(self, dataset: str) -> bool:
        """Return whether the algorithm runs on the data set with this label."""
        return not self.datasets or dataset in self.datasets

    @property
    def lists(self) -> dict[str, list[Scalar]]:
        """Return the parameters that have a list of values."""
        return {key: value for key, value in (self.model_extra or {}).items() if isinstance(value, list)}

    @property
    def grid(self) -> dict[str, list[Scalar]]:
        """Return the parameters whose combinations of values are tried by separate tuning cells.

        These are `lists`, or none if a single cell tunes them along the stream.
        """
        return {} if self.tune in TUNERS else self.lists

    def with_parameters(self, given: Mapping[str, Scalar | list[Scalar]]) -> AlgorithmSpec:
        """Return this algorithm with further parameters; of those that it has, only `tune` is changed."""
        own = {key for key, value in self if value is not None} | (self.model_extra or {}).keys()
        # `tune` may be the study's, which a data set's table overrides.
        own.discard("tune")
        extra = {key: value for key, value in given.items() if key not in own}
        return AlgorithmSpec.model_validate({**self.model_dump(), **extra}) if extra else self

    @property
    def fixed(self) -> dict[str, Scalar]:
        """Return the parameters that have a single value."""
        values = self.model_extra or {}
        return {key: value for key, value in values.items() if not isinstance(value, list | dict)}

    @property
    def support_of(self) -> dict[str, str]:
        """Return the parameters that are set to the support size of another algorithm, with its label."""
        values = self.model_extra or {}
        return {key: value[SUPPORT_OF] for key, value in values.items() if isinstance(value, dict)}

    @model_validator(mode="after")
    def _parameters_are_valid(self) -> AlgorithmSpec:
        for key, value in (self.model_extra or {}).items():
            if isinstance(value, dict) and not (
                list(value) == [SUPPORT_OF] and isinstance(value[SUPPORT_OF], str)
            ):
                raise ValueError(
                    f"'{key}' must be a value, a list of values or {{ {SUPPORT_OF} = \"LABEL\" }}; {_WEIGHTS}"
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
        if self.tuned_as is not None and self.support_of:
            raise ValueError(
                f"'{next(iter(self.support_of))}' is the support size of another algorithm, so tuned_as, "
                "which takes the winner of a grid, cannot be given: give the parameters' values"
            )
        for key, values in self.lists.items():
            if not values:
                raise ValueError(f"the grid of '{key}' is empty: give at least one value")
            if any(isinstance(value, dict) for value in values):
                raise ValueError(
                    f"the grid of '{key}' contains a table: write {SUPPORT_OF} alone, not in a list; "
                    f"{_WEIGHTS}"
                )
            if len({repr(value) for value in values}) < len(values):
                raise ValueError(f"the grid of '{key}' contains a value twice: {values}")
        return self


class RankingSpec(BaseModel):
    """Describe one ``[[rankings]]`` table: a subset of the algorithms that the report also ranks separately.

    docs/study.md describes the keys. An empty list of data sets means all, and one of `focus_noise` three of
    the study's rates.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)
    title: Description
    algorithms: Annotated[list[str], Field(min_length=2)]
    datasets: list[str] = []
    focus: str | None = None
    focus_noise: Annotated[list[NoiseSpec], AS_LIST] = []

    @model_validator(mode="after")
    def _algorithms_fit(self) -> RankingSpec:
        twice = next((each for each in self.algorithms if self.algorithms.count(each) > 1), None)
        if twice is not None:
            raise ValueError(f"algorithms: {twice!r} is given twice")
        if self.focus is None and self.focus_noise:
            raise ValueError("focus_noise needs a 'focus', the algorithm to plot at these noise rates")
        if self.focus is not None and self.focus not in self.algorithms:
            raise ValueError(
                f"focus {self.focus!r} is not one of the ranking's algorithms: "
                f"{did_you_mean(self.focus, self.algorithms)}"
            )
        return self
