"""Read studies from TOML files and dictionaries; errors are one line that names the key at fault."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from .. import data
from ..errors import InputError, did_you_mean
from .specs import DatasetSpec, RankingSpec
from .study import Study, misplaced

# Keys of a study whose values are lists of tables, which TOML writes as ``[[key]]``.
_TABLES = ("datasets", "algorithms", "rankings")

# For each expected type, the pattern of its values: if a quoted value matches, the error message advises to
# remove the quotes.
_BARE = {"int": r"[+-]?[\d_]+", "float": r"[+-]?[\d_]*\.?\d+(e[+-]?\d+)?", "bool": "true|false"}


def _check_keys(table: dict[str, Any], source: str) -> None:
    """Raise InputError for unknown keys of a study, and for ``[tables]`` that need double brackets."""
    for key, value in table.items():
        if key not in Study.model_fields:
            hint = did_you_mean(key, Study.model_fields)
            near = next((each for each in _TABLES if hint.startswith(f"did you mean {each!r}")), None)
            if near is not None and isinstance(value, dict | list):
                raise InputError(f"{source}: unknown key '{key}': did you mean [[{near}]]?")
            raise InputError(f"{source}: unknown key '{key}': {hint}")
        if key in _TABLES and isinstance(value, dict):
            raise InputError(f"{source}: [{key}] is one table of a list: write [[{key}]], in double brackets")


def _check_tables(table: dict[str, Any], source: str) -> None:
    """Raise InputError if the table of a data set or a ranking contains a key of the whole study."""
    for name, model in (("datasets", DatasetSpec), ("rankings", RankingSpec)):
        entries = table.get(name)
        for place, entry in enumerate(entries if isinstance(entries, list) else (), start=1):
            for key in entry if isinstance(entry, dict) else ():
                if key not in model.model_fields and misplaced(key):
                    raise InputError(f"{source}: {name}[{place}]: {misplaced(key)}")


def _check_tests_are_read(study: Study, source: str) -> None:
    """Raise InputError if a data set has a test part that its protocol never reads."""
    for number, entry in enumerate(study.datasets, start=1):
        protocol, name = study.protocol_of(entry), str(entry.name)
        arrays = name.startswith(data.ArraySource.PREFIX)
        tested = name.endswith(data.ArraySource.TESTED) if arrays else entry.options.get("test")
        if not tested or protocol == "holdout":
            continue
        if arrays or name.startswith(data.FrameSource.PREFIX):
            raise InputError(
                f"data set {entry.label!r}: protocol {protocol!r} never reads a test part: set "
                'protocol = "holdout", or leave X_test and y_test (or test) out'
            )
        raise InputError(
            f"{source}: datasets[{number}].test: protocol '{protocol}' never reads a test part: set "
            'protocol = "holdout", or remove test'
        )


def _one_line(error: ValidationError, source: str) -> str:
    """Return the first problem that pydantic found, as one line that names the key."""
    first = error.errors(include_url=False)[0]
    place = ""
    for part in first["loc"]:
        if isinstance(part, int):
            place += f"[{part + 1}]"
        else:
            place += f".{part}" if place else str(part)
    if first["type"] == "extra_forbidden":
        # The keys of the study itself are checked before.
        key = str(first["loc"][-1])
        return f"{source}: unknown key '{place}': {did_you_mean(key, RankingSpec.model_fields)}"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "model_type":
        given = first["input"]
        return (
            f"{source}: {place}: {given!r} is not a table: write [[{first['loc'][0]}]] and name = {given!r}"
        )
    message = message.replace("Input should be", f"{first['input']!r} should be", 1)
    kind = first["type"].removesuffix("_type")
    if kind in _BARE and isinstance(first["input"], str) and re.fullmatch(_BARE[kind], first["input"]):
        message += ", without quotes"
    if first["type"] == "too_short":
        least = first["ctx"]["min_length"]
        message = f"give at least {least} {'entry' if least == 1 else 'entries'}, not {len(first['input'])}"
    if first["type"] == "missing":
        message = "this key is required"
    return f"{source}: {place}: {message}" if place else f"{source}: {message}"


def parse_study(table: dict[str, Any], source: str = "study") -> Study:
    """Validate a study given as a dictionary.

    `source` names the study in error messages, usually its file. Raises InputError with one line that names
    the key and what would be right.

    Examples
    --------
    >>> study = parse_study(
    ...     {"name": "mine", "seeds": 3, "datasets": [{"name": "digits"}], "algorithms": [{"name": "AROW"}]}
    ... )
    >>> study.seeds
    [0, 1, 2]
    """
    _check_keys(table, source)
    _check_tables(table, source)
    try:
        study = Study.model_validate(table)
    except ValidationError as error:
        raise InputError(_one_line(error, source)) from None
    _check_tests_are_read(study, source)
    return study


def read_study(path: Path, shipped: Mapping[str, Path] = MappingProxyType({})) -> Study:
    """Read and validate a study file; raise InputError if it describes no valid study.

    `shipped` are the files of the studies that it can extend by name.
    """
    return parse_study(extended(read_table(path), path, shipped), str(path))


def extended(table: dict[str, Any], path: Path, shipped: Mapping[str, Path]) -> dict[str, Any]:
    """Return the keys of a study, together with those of the base study that it extends, if any.

    The algorithms are those of both studies; if both have one with the same label, that of the base is left
    out. Every other key of the study replaces that of the base, whose title and description are not taken
    over. Relative paths of data files start at the folder of the file that names them. `path` is the file of
    the study, or the folder of a study without a file. `shipped` has the files of studies by name.
    """
    return _Extension(table, path, shipped).table if table.get("extends") else table


def extension(path: Path, shipped: Mapping[str, Path]) -> str:
    """Say in one line what a study file takes over, adds and overrides; "" if it extends no study."""
    table = read_table(path)
    return str(_Extension(table, path, shipped)) if table.get("extends") else ""


class _Extension:
    """The keys of a study that extends another, and the keys of that base study."""

    def __init__(
        self, table: dict[str, Any], path: Path, shipped: Mapping[str, Path], seen: tuple[Path, ...] = ()
    ) -> None:
        _check_keys(table, str(path))
        self.own, self.name = table, table["extends"]
        if not isinstance(self.name, str):
            raise InputError(
                f"{path}: extends: {self.name!r} should be the name or file of a study, in quotes"
            )
        folder = path if path.is_dir() else path.parent
        file = shipped.get(self.name, folder / self.name)
        if self.name not in shipped and file.suffix != ".toml":
            raise InputError(
                f"{path}: extends: study {self.name!r} is neither shipped nor a TOML file: "
                f"{did_you_mean(self.name, shipped)}"
            )
        if file in seen:
            raise InputError(f"{path}: extends: {self.name!r} extends itself")
        base = read_table(file)
        if base.get("extends"):
            base = _Extension(base, file, shipped, (*seen, file)).table
        if "name" not in table:
            raise InputError(f"{path}: name: this key is required; it names the folder of the results")
        self.base = {key: value for key, value in base.items() if key not in ("title", "description")}
        if file.parent != folder:
            self.base["datasets"] = [_with_paths_from(file.parent, each) for each in base.get("datasets", [])]

    @property
    def table(self) -> dict[str, Any]:
        """Return the keys of both studies together, as `extended` describes."""
        own = _tables(self.own, "algorithms")
        places = {_label(each): place for place, each in enumerate(own)}
        both = {_label(each): each for each in _tables(self.base, "algorithms")}
        both |= {label: own[place] for label, place in places.items()}
        # If the study itself repeats a label, both entries remain, and are refused later.
        repeated = [each for place, each in enumerate(own) if places[_label(each)] != place]
        return {**self.base, **self.own, "algorithms": [*both.values(), *repeated]}

    def __str__(self) -> str:
        mine, theirs = (
            [_label(each) for each in _tables(table, "algorithms")] for table in (self.own, self.base)
        )
        plain = ("name", "title", "description", "extends", "algorithms")
        parts = {
            "adds": [label for label in mine if label not in theirs],
            "replaces": [label for label in mine if label in theirs],
            "overrides": [key for key in self.own if key not in plain],
        }
        told = [f"{verb} {', '.join(names)}" for verb, names in parts.items() if names]
        return f"{self.own['name']} extends {self.name}: {'; '.join(told) or 'changes nothing'}"


def _tables(table: dict[str, Any], key: str) -> list[Any]:
    """Return the list of tables under a key; a value that is no list is put into one and refused later."""
    found = table.get(key, [])
    return found if isinstance(found, list) else [found]


def _label(entry: Any) -> str:
    """Return the label of an algorithm's table: its key `label`, or else its name."""
    return str(entry.get("label") or entry.get("name")) if isinstance(entry, dict) else str(entry)


def _with_paths_from(folder: Path, entry: Any) -> Any:
    """Return a data set's table in which the paths of files are absolute; relative ones start at `folder`."""
    if not isinstance(entry, dict):
        return entry
    own: dict[str, Any] = {
        key: data.absolute(str(entry[key]), folder) for key in ("path", "test") if entry.get(key)
    }
    if isinstance(entry.get("compose"), list):
        own["compose"] = [_with_paths_from(folder, each) for each in entry["compose"]]
    return {**entry, **own}


def read_table(path: Path) -> dict[str, Any]:
    """Return the keys of a TOML file; raise InputError if it cannot be read."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8-sig"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such study file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a study file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: tables or lists are nested too deeply for a study") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
