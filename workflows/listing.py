"""List learners, data sets and shipped studies as tables on the terminal."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence

from rich.table import Table

from ..learners import registry
from ..learners.table import ROWS
from ..pipeline import data
from ..pipeline.errors import InputError, did_you_mean
from .shipped import find_study, shipped_studies
from .terminal import plain, put, table


def _learners() -> Table:
    found = table("learner", "parameters and defaults", "what it is")
    for name, learner in sorted(registry.available().items()):
        signature = inspect.signature(learner)
        parameters = ", ".join(f"{key}={value.default!r}" for key, value in signature.parameters.items())
        summary = (inspect.getdoc(learner) or "").partition("\n")[0].replace("``", "")
        found.add_row(*plain(name, parameters, summary))
    return found


def _learner(name: str) -> Table:
    """Return a table of a learner's parameters: defaults, meanings, and grids in shipped studies."""
    # Strategies are not among the available learners, because a study has them as keys of an algorithm.
    strategies = {row.name: row.load() for row in ROWS.values() if row.kind == "strategy"}
    learners = strategies | registry.available()
    if name not in learners:
        raise InputError(f"unknown learner {name!r}; {did_you_mean(name, learners)}")
    learner, row = learners[name], ROWS.get(name)
    doc = inspect.getdoc(learner) or ""
    words = [doc.partition("\n")[0]]
    if row is not None:
        words.append(f"{row.source}. For {row.classes} classes; {row.kind}.".removeprefix(". "))
    described, grids = _described_parameters(doc), _shipped_grids(name)
    found = table("parameter", "default", "meaning", "grids in shipped studies")
    [found.title] = plain(f"{name}: {' '.join(words)}".replace("``", ""))
    found.title_justify, found.title_style = "left", ""
    for key, parameter in inspect.signature(learner).parameters.items():
        default = "" if parameter.default is parameter.empty else repr(parameter.default)
        found.add_row(*plain(key, default, described.get(key, ""), "; ".join(grids.get(key, ()))))
    return found


def _described_parameters(doc: str) -> dict[str, str]:
    """Return the type and meaning of each parameter in a numpydoc docstring."""
    section = doc.partition("\nParameters\n----------\n")[2]
    section = re.split(r"\n\n\S[^\n]*\n-{3,}\n", section)[0]
    described: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section):
        head, _, meaning = entry.partition("\n")
        names, _, kind = head.partition(" : ")
        # Remove the default value, which another column shows.
        kind = re.sub(r",? ?default=.*", "", kind)
        said = " ".join(": ".join(part for part in (kind, meaning) if part).split())
        described |= dict.fromkeys(names.split(", "), said.replace("``", ""))
    return described


def _shipped_grids(name: str) -> dict[str, list[str]]:
    """Return the grids of each parameter of a learner in shipped studies, with the studies that use them."""
    studies: dict[str, dict[str, list[str]]] = {}
    for study in shipped_studies():
        for algorithm in find_study(study)[0].algorithms:
            for key, values in algorithm.lists.items() if algorithm.name == name else ():
                named = studies.setdefault(key, {}).setdefault(str(values), [])
                if study not in named:
                    named.append(study)
    return {
        key: [f"{grid} ({', '.join(named)})" for grid, named in grids.items()]
        for key, grids in studies.items()
    }


# Largest number of classes that the list of data sets names; if there are more, it shows their number.
_SHOWN_CLASSES = 4


def _datasets() -> Table:
    found = table("data set", "rows × features", "classes", "tasks", "state", "what it is")
    for row in data.describe():
        classes = str(len(row.classes)) if len(row.classes) > _SHOWN_CLASSES else ", ".join(row.classes)
        # Show the name of a family of tasks ("sentiment"), but not its members (sentiment:books, …).
        tasks = ", ".join([task for task in row.tasks if ":" not in task])
        state = row.state.partition(":")[0]
        found.add_row(*plain(row.name, _shape(row), classes, tasks, state, row.title or row.note))
    return found


def _shape(row: data.DatasetRow) -> str:
    rows, features = row.shape
    # The size of a data set is unknown until it is opened for the first time.
    return f"{rows:,} × {features:,}" if rows else "–"


def _data_set(name: str) -> Table:
    """Return a table of all that is known about one data set."""
    known = {row.name: row for row in data.describe()}
    main = data.main_name(name)
    if main not in known:
        raise InputError(f"unknown data set {name!r}; {did_you_mean(name, known)}")
    row = known[main]
    found = table("data set", row.name if main == name else f"{row.name}, also called {name}")
    # The tasks of a family are its parts, not its classes.
    several = len(row.classes) > 2 and "one-vs-rest" in row.tasks
    single = ("one-vs-rest:CLASS", "pair:CLASS,CLASS") if several else ()
    facts = {
        "what it is": row.title,
        "kind": row.kind,
        "rows × features": _shape(row),
        "classes": ", ".join(row.classes),
        "tasks": ", ".join((*row.tasks, *single)),
        "test part": "the publisher's" if row.official_split else "a split drawn by the seed",
        "note": row.note,
        "source": row.source,
        "license": row.licence,
        "state": row.state,
    }
    for key, value in facts.items():
        if value:
            found.add_row(*plain(key, value))
    return found


def _studies() -> Table:
    found = table("study", "title", "what it runs")
    for name in shipped_studies():
        study, _ = find_study(name)
        found.add_row(*plain(name, study.title, study.description))
    return found


def show(what: str, names: Sequence[str] = ()) -> None:
    """Print the list of learners, datasets or studies, or the details of the learners or data sets named."""
    lists: dict[str, Callable[[], Table]] = {
        "learners": _learners,
        "datasets": _datasets,
        "studies": _studies,
    }
    details: dict[str, Callable[[str], Table]] = {"learners": _learner, "datasets": _data_set}
    if names and what not in details:
        raise InputError(
            f"list {what} takes no names, got {names[0]!r}; use `singlepass plan {names[0]}` for details"
        )
    for each in [details[what](name) for name in names] or [lists[what]()]:
        put(each)
