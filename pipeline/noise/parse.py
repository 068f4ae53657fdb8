"""Make noise objects from the values in study files, and from the names in stored results."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from .by_class import ClassNoise, PairNoise, table_of
from .features import FeatureNoise
from .margin import MarginNoise
from .uniform import Noise, WindowNoise

# The probabilities in a row of a matrix may add up to 1 ± this much, because numbers in files are rounded.
_ROUNDING = 1e-6


def parse_noise(value: object) -> Noise:
    """Return the noise that a value of a study file describes.

    The value is a rate of uniform noise, or a table with a ``model`` and its keys. Raises ValueError, with a
    message of one line, for anything else.
    """
    if isinstance(value, Noise):
        return value
    if isinstance(value, Mapping):
        return _from_table(value)
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise ValueError(f"{value!r} is not a noise rate: give numbers in [0, 1)")
    return Noise(float(value))


def noise_of(slug: str) -> Noise:
    """Return the noise with this name, which `Noise.slug` made for stored results."""
    model, *fields = slug.split("_")
    if not fields:
        return Noise(float(slug))
    if model == ClassNoise.model:
        return parse_noise({"model": model, **table_of(fields)})
    rate, *others = fields
    pairs = (field.partition("=") for field in others)
    further = {key: text if key == "level" else float(text) for key, _, text in pairs}
    return parse_noise({"model": model, "rate": float(rate), **further})


def _number(key: str, value: object, least: float, most: float, kind: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
        raise ValueError(f"'{key}' must be {kind}, got {value!r}")
    return float(value)


def _rate(key: str, value: object) -> float:
    found = _number(key, value, 0.0, 1.0, "a probability in (0, 1]")
    if not found:
        raise ValueError(
            f"'{key}' must be a probability in (0, 1]; for no noise write 0.0 instead of the table"
        )
    return found


_place = partial(_number, least=0.0, most=1.0, kind="a place in the stream, from 0 to 1")
# The smallest number > 0 is `math.ulp(0.0)`.
_scale = partial(_number, least=math.ulp(0.0), most=sys.float_info.max, kind="a finite number > 0")


def _level(key: str, value: object) -> str:
    if value not in ("task", "class"):
        raise ValueError(f"'{key}' must be 'task' or 'class', got {value!r}")
    return str(value)


def _rates(key: str, value: object) -> tuple[tuple[str, float], ...]:
    if not isinstance(value, Mapping) or not value:
        raise ValueError(f"'{key}' must be a table of classes and rates, such as {{ spam = 0.3 }}")
    some = {str(name): _number(str(name), rate, 0.0, 1.0, "a rate in [0, 1]") for name, rate in value.items()}
    return tuple(sorted(some.items()))


def _matrix(key: str, value: object) -> tuple[tuple[float, ...], ...]:
    shape = f"'{key}' must be K rows of K probabilities that add up to 1 in each row"
    if not isinstance(value, list | tuple) or len(value) < 2:
        raise ValueError(f"{shape}; K is the number of classes, at least 2")
    rows = []
    for k, row in enumerate(value, 1):
        if not isinstance(row, list | tuple) or len(row) != len(value):
            raise ValueError(f"{shape}; row {k} does not have {len(value)} numbers")
        rows.append(tuple(_number(key, share, 0.0, 1.0, "rows of probabilities") for share in row))
        if abs(sum(rows[-1]) - 1.0) > _ROUNDING:
            raise ValueError(f"{shape}; row {k} adds up to {sum(rows[-1]):g}")
    return tuple(rows)


_Reader = Callable[[str, object], Any]
_ANY: dict[str, tuple[str, _Reader]] = {"rate": ("rate", _rate), "level": ("level", _level)}
# The models of noise by name, each with its class, the keys that its table in a study file may have, and the
# keys that it must have. A key comes with the attribute of the class that it sets and a function that checks
# it.
MODELS: dict[str, tuple[type[Noise], Mapping[str, tuple[str, _Reader]], tuple[str, ...]]] = {
    "uniform": (Noise, _ANY, ("rate",)),
    "class": (
        ClassNoise,
        {"rates": ("rates", _rates), "matrix": ("matrix", _matrix), "level": ("level", _level)},
        (),
    ),
    "pair": (PairNoise, _ANY, ("rate",)),
    "margin": (MarginNoise, _ANY, ("rate",)),
    "window": (
        WindowNoise,
        {**_ANY, "from": ("start", _place), "to": ("stop", _place)},
        ("rate", "from", "to"),
    ),
    "features": (FeatureNoise, {"rate": ("rate", _rate), "scale": ("scale", _scale)}, ("rate",)),
}


def _from_table(table: Mapping[Any, Any]) -> Noise:
    """Return the noise that a table describes; raise ValueError, naming the model and the key at fault."""
    model = table.get("model")
    if not isinstance(model, str) or model not in MODELS:
        wrong = "a table of noise needs a 'model'" if model is None else f"unknown model of noise {model!r}"
        raise ValueError(f"{wrong}: give one of {', '.join(MODELS)}")
    kind, readers, required = MODELS[model]
    try:
        for key in table:
            if key != "model" and key not in readers:
                raise ValueError(f"unknown key '{key}'; known: {', '.join(readers)}")
        for key in required:
            if key not in table:
                raise ValueError(f"'{key}' is missing")
        given = {
            attribute: read(key, table[key]) for key, (attribute, read) in readers.items() if key in table
        }
        if kind is ClassNoise and ("rates" in given) == ("matrix" in given):
            raise ValueError("give either 'rates' or a 'matrix'")
        if kind is WindowNoise and not given["start"] < given["stop"]:
            raise ValueError(
                f"the window from {given['start']:g} to {given['stop']:g} is empty: "
                "'from' must be less than 'to'"
            )
    except ValueError as error:
        raise ValueError(f"noise of model {model!r}: {error}") from None
    if kind is Noise and given.get("level") != "class":
        return parse_noise(given["rate"])
    return kind(**given)
