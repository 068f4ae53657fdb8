"""Read studies from TOML files and dictionaries; an error is one line that names the key."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ..errors import InputError, did_you_mean
from .key_checks import check_keys, check_tables, check_tests_are_read
from .study import Study

# Values that become valid without their quotes, by the expected kind.
_BARE = {"int": r"[+-]?[\d_]+", "float": r"[+-]?[\d_]*\.?\d+(e[+-]?\d+)?", "bool": "true|false"}


def _one_line(error: ValidationError, source: str) -> str:
    """Return the first problem of a validation as one line that names the key."""
    first = error.errors(include_url=False)[0]
    place = ""
    for part in first["loc"]:
        if isinstance(part, int):
            place += f"[{part + 1}]"
        else:
            place += f".{part}" if place else str(part)
    if first["type"] == "extra_forbidden":
        return f"{source}: unknown key '{place}': {did_you_mean(place, Study.model_fields)}"
    message = first["msg"].removeprefix("Value error, ")
    if first["type"] == "model_type":
        given = first["input"]
        return f"{source}: {place}: {given!r} is no table: write [[{first['loc'][0]}]] and name = {given!r}"
    message = message.replace("Input should be", f"{first['input']!r} should be", 1)
    kind = first["type"].removesuffix("_type")
    if kind in _BARE and isinstance(first["input"], str) and re.fullmatch(_BARE[kind], first["input"]):
        message += ", without quotes"
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
    check_keys(table, source)
    check_tables(table, source)
    try:
        study = Study.model_validate(table)
    except ValidationError as error:
        raise InputError(_one_line(error, source)) from None
    check_tests_are_read(study, source)
    return study


def read_study(path: Path) -> Study:
    """Read and validate a study file.

    Raises InputError if the file is missing, is not UTF-8 TOML, or describes no valid study.
    """
    try:
        table = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such study file") from None
    except IsADirectoryError:
        raise InputError(f"{path}: is a folder, not a study file") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: byte {error.start} is not UTF-8 text") from None
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{path}: not TOML: {error}") from None
    except RecursionError:
        raise InputError(f"{path}: tables or lists within each other, more than a study has") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from None
    return parse_study(table, str(path))
