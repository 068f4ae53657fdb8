"""What there is: learners, data sets, shipped studies, as tables on the terminal."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

from rich.table import Table

from ..learners import registry
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


_SHOWN_CLASSES = 4


def _datasets() -> Table:
    found = table("data set", "rows × features", "classes", "tasks", "state", "what it is")
    for row in data.describe():
        many = len(row.classes) > _SHOWN_CLASSES
        found.add_row(
            *plain(
                row.name,
                _shape(row),
                str(len(row.classes)) if many else ", ".join(row.classes),
                ", ".join(row.tasks),
                row.state.partition(":")[0],
                row.title or row.note,
            )
        )
    return found


def _shape(row: data.DatasetRow) -> str:
    rows, features = row.shape
    # What nobody here has opened yet has no known size.
    return f"{rows:,} × {features:,}" if rows else "–"


def _data_set(name: str) -> Table:
    """Return everything about one data set."""
    known = {row.name: row for row in data.describe()}
    main = data.main_name(name)
    if main not in known:
        raise InputError(f"unknown data set {name!r}; {did_you_mean(name, known)}")
    row = known[main]
    found = table("data set", row.name if main == name else f"{row.name}, also called {name}")
    single = ("one-vs-rest:CLASS", "pair:CLASS,CLASS") if len(row.classes) > 2 else ()
    facts = {
        "what it is": row.title,
        "kind": row.kind,
        "rows × features": _shape(row),
        "classes": ", ".join(row.classes),
        "tasks": ", ".join((*row.tasks, *single)),
        "test part": "everybody's" if row.official_split else "a seeded split",
        "note": row.note,
        "from": row.source,
        "licence": row.licence,
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
    """Print a table.

    Parameters
    ----------
    what : {"learners", "datasets", "studies"}
    names : sequence of str, default=()
        Of data sets: everything about these, instead of a line about each there is.

    Raises
    ------
    InputError
        A name is unknown, or names were given of what has no more to tell.
    """
    if names and what != "datasets":
        raise InputError(f"list {what} takes no names, got {names[0]!r}: only data sets have more to tell")
    tables: dict[str, Callable[[], Table]] = {
        "learners": _learners,
        "datasets": _datasets,
        "studies": _studies,
    }
    shown = [_data_set(name) for name in names] or [tables[what]()]
    for each in shown:
        put(each)
