"""What is easily written wrong in a study file, and would otherwise be told in words that do not help."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import data
from ..errors import InputError, did_you_mean
from ..noise import Noise
from .specs import DatasetSpec, RankingSpec
from .study import Study

# Keys that are lists of tables.
_TABLES = ("datasets", "algorithms", "rankings")


def check_keys(table: dict[str, Any], source: str) -> None:
    """Refuse keys that a study has not, and single brackets where tables are listed.

    Parameters
    ----------
    table : dict
        The parsed TOML document.
    source : str
        How error messages call it.

    Raises
    ------
    InputError
    """
    for key, value in table.items():
        if key not in Study.model_fields:
            hint = did_you_mean(key, Study.model_fields)
            near = next((each for each in _TABLES if hint.startswith(f"did you mean {each!r}")), None)
            if near is not None and isinstance(value, dict | list):
                raise InputError(f"{source}: unknown key '{key}': did you mean [[{near}]]?")
            raise InputError(f"{source}: unknown key '{key}': {hint}")
        if key in _TABLES and isinstance(value, dict):
            raise InputError(f"{source}: [{key}] is one table of a list: write [[{key}]], in double brackets")


def misplaced(key: str) -> str:
    """Return what to do about a key of the study in one of its tables, "" for any other key.

    TOML takes every key below a ``[[table]]`` for a part of it.
    """
    return f"'{key}' is a key of the study: put it above the first [[…]]" if key in Study.model_fields else ""


def check_tables(table: dict[str, Any], source: str) -> None:
    """Refuse keys of the study in its tables of data sets and rankings.

    Raises
    ------
    InputError
    """
    for name, model in (("datasets", DatasetSpec), ("rankings", RankingSpec)):
        entries = table.get(name)
        for place, entry in enumerate(entries if isinstance(entries, list) else (), start=1):
            for key in entry if isinstance(entry, dict) else ():
                if key not in model.model_fields and misplaced(key):
                    raise InputError(f"{source}: {name}[{place}]: {misplaced(key)}")


def check_tests_are_read(study: Study, source: str) -> None:
    """Refuse a test file that the protocol never reads.

    Raises
    ------
    InputError
    """
    for number, entry in enumerate(study.datasets, start=1):
        protocol = study.protocol_of(entry)
        if entry.options.get("test") and protocol != "holdout":
            raise InputError(
                f"{source}: datasets[{number}].test: protocol '{protocol}' never reads a test part: set "
                'protocol = "holdout", or leave test out'
            )


def check_noise_rates(study: Study, tasks: Iterable[data.TaskRef]) -> None:
    """Refuse rates of uniform noise at which a class is given its own label less often than another one.

    Raises
    ------
    InputError
    """
    # Other models say for themselves what becomes of whom. Up to a half is right whatever the classes.
    high = [noise for noise in study.noise if type(noise) is Noise and noise.rate > 0.5]
    for task in tasks if high else ():
        own, joined = data.task_classes(task)
        for noise in high:
            n_classes = len(own if noise.level == "task" else joined or own)
            # Its own label has the share 1 - p, each of the others p / (K - 1). Equal shares are a control.
            most = 1 - 1 / n_classes
            if noise.rate > most:
                raise InputError(
                    f"noise: at {noise.rate:g} the {n_classes} classes of data set {task.label!r} are each "
                    f"called by their own name less often than by another one's; give rates up to {most:.4g}"
                )
