"""Catch common mistakes in study files for which the general validation gives no helpful message."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .. import data
from ..errors import InputError, did_you_mean
from ..noise import Noise
from .specs import DatasetSpec, RankingSpec
from .study import Study

# Keys whose values are lists of tables.
_TABLES = ("datasets", "algorithms", "rankings")


def check_keys(table: dict[str, Any], source: str) -> None:
    """Raise InputError for unknown keys, and for single brackets around a table of a list.

    `source` names the study in error messages.
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
    """Return advice for a study key found inside a table, or "" for any other key.

    TOML assigns every key below a ``[[table]]`` to that table.
    """
    return f"'{key}' is a key of the study: put it above the first [[…]]" if key in Study.model_fields else ""


def check_tables(table: dict[str, Any], source: str) -> None:
    """Raise InputError for study keys inside tables of data sets and rankings."""
    for name, model in (("datasets", DatasetSpec), ("rankings", RankingSpec)):
        entries = table.get(name)
        for place, entry in enumerate(entries if isinstance(entries, list) else (), start=1):
            for key in entry if isinstance(entry, dict) else ():
                if key not in model.model_fields and misplaced(key):
                    raise InputError(f"{source}: {name}[{place}]: {misplaced(key)}")


def check_tests_are_read(study: Study, source: str) -> None:
    """Raise InputError for a test file that the protocol never reads."""
    for number, entry in enumerate(study.datasets, start=1):
        protocol = study.protocol_of(entry)
        if entry.options.get("test") and protocol != "holdout":
            raise InputError(
                f"{source}: datasets[{number}].test: protocol '{protocol}' never reads a test part: set "
                'protocol = "holdout", or leave test out'
            )


def check_noise_rates(study: Study, tasks: Iterable[data.TaskRef]) -> None:
    """Raise InputError for uniform noise that makes a class's own label rarer than another label."""
    # Other noise models define their own label probabilities. Rates up to 0.5 are valid for any number of
    # classes.
    high = [noise for noise in study.noise if type(noise) is Noise and noise.rate > 0.5]
    for task in tasks if high else ():
        own, joined = data.task_classes(task)
        for noise in high:
            n_classes = len(own if noise.level == "task" else joined or own)
            # A class keeps its label with probability 1 - p; each other label has p / (K - 1). Equality is
            # allowed, as a control.
            most = 1 - 1 / n_classes
            if noise.rate > most:
                raise InputError(
                    f"noise: at {noise.rate:g} the {n_classes} classes of data set {task.label!r} are each "
                    f"called by their own name less often than by another one's; give rates up to {most:.4g}"
                )
