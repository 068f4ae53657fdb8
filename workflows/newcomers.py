"""Extend a study by new learners, for `singlepass compare STUDY --with`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from ..learners import registry
from ..pipeline import data
from ..pipeline.errors import InputError, did_you_mean
from ..pipeline.study.study import Study
from ..pipeline.study.study_file import parse_study


def newcomer(text: str) -> tuple[str, str]:
    """Parse ``FILE.py:NAME``, ``FILE.py`` or ``NAME``; return the plug-in file (or "") and learner's name.

    A file with one learner needs no name. Raises InputError if the file has no such learner.
    """
    path, found, name = text.partition(".py:") if ".py:" in text else (text, "", "")
    if not found and not text.endswith(".py"):
        return "", text
    path = str(Path(f"{path}.py" if found else path).resolve())
    try:
        learners = list(registry.load_plugin(path))
    except (OSError, ImportError, SyntaxError, ValueError) as error:
        raise InputError(str(error)) from None
    if not name and len(learners) > 1:
        raise InputError(
            f"{path} has {len(learners)} learners: name one of {', '.join(learners)} after a colon"
        )
    if name and name not in learners:
        raise InputError(f"{path} has no learner {name!r}: {did_you_mean(name, learners)}")
    return path, name or learners[0]


def with_newcomers(study: Study, names: Sequence[str], folder: Path, note: Callable[[str], None]) -> Study:
    """Return a study extended by new learners, which run only on the data sets that are on this machine.

    For each new learner the study gets one more ranking, with this learner as its focus. `note` receives a
    line that names the data sets that are not on this machine. Relative paths of data start at `folder`.
    Raises InputError for a learner that is given twice, or has the label of an algorithm of the study.
    """
    labels = [each.label for each in study.algorithms]
    for name in names:
        if name in labels:
            raise InputError(
                f"--with: {study.name} has an algorithm {name!r} already: write a study that extends it, in "
                "which the learner has another label"
            )
        if names.count(name) > 1:
            raise InputError(f"--with: {name!r} is given twice: name it once")
    there = [
        each.label
        for each in study.datasets
        if all(data.is_here(task) for task in data.expand(**each.entry, base=folder))
    ]
    absent = [each.label for each in study.datasets if each.label not in there]
    if not there:
        raise InputError(
            f"no data set of {study.name} is on this machine: download one with `singlepass data fetch`"
        )
    if absent:
        note(f"data not here: {', '.join(names)} does not run on {', '.join(dict.fromkeys(absent))}")
    bound = {"datasets": there} if absent else {}
    own = [{"name": name, **bound} for name in names]
    table = study.model_dump(mode="json", exclude_unset=True)
    focused = [
        {"title": f"{name} and the study's algorithms", "algorithms": [*labels, name], "focus": name, **bound}
        for name in names
    ]
    return parse_study(
        {
            **table,
            "name": f"{study.name}-with-{'-'.join(name.rpartition(':')[2] for name in names)}",
            "extends": study.name,
            "algorithms": [*table["algorithms"], *own],
            "rankings": [*focused, *table.get("rankings", [])],
            "curves": [*table["curves"], *names] if table.get("curves") else [],
        }
    )
