"""Derive tasks from K classes: binary, one against the rest, pairs, a named grouping, multi-class."""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from ...errors import InputError, did_you_mean
from .options import Value
from .stream import Codes, Origin, Rows, Stream, Table

Groupings: TypeAlias = Mapping[str, tuple[str, ...]]
TaskLists: TypeAlias = Mapping[str, Mapping[str, str]]

_KINDS = ("auto", "binary", "one-vs-rest", "pairs", "multiclass")


@dataclass(frozen=True)
class TaskRef:
    """Identify one task, with everything a worker needs to open it; small, hashable and picklable."""

    #: The task's name in results, such as ``"usps[3-vs-5]"``.
    label: str
    #: Name of a bundled set, generator or public set, or the absolute path of a file.
    source: str
    #: ``"binary"``, ``"binary:POSITIVE"``, ``"one-vs-rest:CLASS"``, ``"pair:POSITIVE,NEGATIVE"``,
    #: ``"group:NAME"`` or ``"multiclass"``.
    task: str
    #: The study's name of the data set from which the task is derived, such as ``"usps"``: its label, its
    #: name, or its file name without suffixes. A data set with a single task is its own parent.
    parent: str
    #: The options that differ from their default, sorted by name.
    options: tuple[tuple[str, Value], ...] = ()


def name_tasks(
    label: str,
    classes: Sequence[str],
    task: str,
    *,
    groupings: Groupings | None = None,
    positive: str = "",
    task_lists: TaskLists | None = None,
) -> list[tuple[str, str]]:
    """Return the (label, task) pairs that a study's ``task`` key selects, in the order of the classes.

    `task` is ``"auto"`` (binary for two classes, otherwise multi-class), ``"binary"``, ``"one-vs-rest"`` (K
    tasks), ``"one-vs-rest:CLASS"``, ``"pairs"`` (K(K-1)/2 tasks), ``"pair:A,B"``, ``"multiclass"``, the name
    of a task list, or that of a grouping (a set of classes that together are the positive class) with or
    without ``"group:"``. `positive` is the positive class of a binary task; empty takes the last class. Each
    task list maps the label's suffix to a task. Raises InputError if the task is unknown or does not fit.
    """
    groupings, task_lists = groupings or {}, task_lists or {}
    if task in task_lists and not positive:
        return [(f"{label}[{suffix}]", each) for suffix, each in task_lists[task].items()]
    if task == "auto":
        task = "binary" if len(classes) == 2 else "multiclass"
    if positive and task != "binary":
        raise InputError(f"data set {label!r}: positive = {positive!r} needs task = 'binary', found {task!r}")
    if task == "binary":
        _require_two_classes(label, classes)
        if positive:
            _require_class(label, positive, classes)
        return [(label, f"binary:{positive}" if positive else "binary")]
    if task == "multiclass":
        return [(label, task)]
    if task == "one-vs-rest":
        if len(classes) == 2:
            raise InputError(f"data set {label!r} has two classes: task = 'binary', not 'one-vs-rest'")
        return [(f"{label}[{name}-vs-rest]", f"one-vs-rest:{name}") for name in classes]
    if task == "pairs":
        pairs = list(itertools.combinations(classes, 2))
        for a, b in pairs:
            if "," in a or "," in b:
                _split_pair(label, f"{a},{b}", classes)
        return [(f"{label}[{a}-vs-{b}]", f"pair:{a},{b}") for a, b in pairs]
    kind, _, argument = task.partition(":")
    if kind == "one-vs-rest":
        _require_class(label, argument, classes)
        return [(f"{label}[{argument}-vs-rest]", task)]
    if kind == "pair":
        a, b = _split_pair(label, argument, classes)
        return [(f"{label}[{a}-vs-{b}]", task)]
    group = argument if kind == "group" else task
    if group in groupings:
        return [(f"{label}[{group}]", f"group:{group}")]
    raise InputError(
        f"data set {label!r}: unknown task {task!r}; {did_you_mean(task, [*_KINDS, *groupings, *task_lists])}"
    )


def derive(ref: TaskRef, table: Table, fingerprint: str, groupings: Groupings) -> Stream:
    """Derive the stream of one task from the table of its source.

    The stream shares the table's X and never copies it; `rows` is set only if the task leaves rows out.
    `fingerprint` is that of the task.
    """
    codes, names = task_codes(ref, table.classes, groupings)
    y, rows = _relabel(table.y, codes)
    y_test, rows_test = (None, None) if table.y_test is None else _relabel(table.y_test, codes)
    origin = Origin(table.y, table.classes, codes) if rows is None else None
    changes = table.changes
    if rows is not None:
        changes = tuple(np.searchsorted(rows, changes).tolist())
    parts = table.X, y, names, table.X_test, y_test
    return Stream(ref.label, *parts, fingerprint, rows, rows_test, origin, changes)


def task_codes(ref: TaskRef, classes: Sequence[str], groupings: Groupings) -> tuple[Codes, tuple[str, ...]]:
    """Return the task's class code of each of a data set's classes (-1: left out), and the task's classes."""
    kind, _, argument = ref.task.partition(":")
    if kind == "multiclass":
        return np.arange(len(classes), dtype=np.int32), tuple(classes)
    if kind == "binary":
        _require_two_classes(ref.label, classes)
        positive = argument or classes[1]
        negative = classes[0] if positive == classes[1] else classes[1]
        return _codes([positive], None, classes), (negative, positive)
    if kind == "one-vs-rest":
        _require_class(ref.label, argument, classes)
        return _codes([argument], None, classes), ("rest", argument)
    if kind == "pair":
        a, b = _split_pair(ref.label, argument, classes)
        return _codes([a], [b], classes), (b, a)
    if kind == "group" and argument in groupings:
        return _codes(groupings[argument], None, classes), ("rest", argument)
    raise InputError(f"data set {ref.label!r}: unknown task {ref.task!r}")


def task_fingerprint(table_fingerprint: str, task: str, groupings: Groupings) -> str:
    """Return a task's fingerprint: a hash of the task and its table's fingerprint, which fix its data."""
    kind, _, argument = task.partition(":")
    members = list(groupings.get(argument, ())) if kind == "group" else []
    return hashlib.sha256(json.dumps([table_fingerprint, task, members]).encode()).hexdigest()


def _codes(positive: Sequence[str], negative: Sequence[str] | None, classes: Sequence[str]) -> Codes:
    """Return each class's new code: 1 if in `positive`, 0 if in `negative` (None: all others), else -1."""
    others = set(classes if negative is None else negative) - set(positive)
    return np.array([1 if c in positive else 0 if c in others else -1 for c in classes], dtype=np.int32)


def _relabel(y: Codes, codes: Codes) -> tuple[Codes, Rows | None]:
    relabelled = codes[y]
    rows: Rows | None = None
    if codes.min() < 0:
        rows = np.flatnonzero(relabelled >= 0).astype(np.int64, copy=False)
        relabelled = relabelled[rows]
        rows.flags.writeable = False
    relabelled.flags.writeable = False
    return relabelled, rows


def _require_two_classes(label: str, classes: Sequence[str]) -> None:
    if len(classes) != 2:
        raise InputError(
            f"data set {label!r}: a binary task needs two classes, found {len(classes)}: {listed(classes)}; "
            "set task = 'one-vs-rest' or 'pairs'"
        )


def _require_class(label: str, name: str, classes: Sequence[str]) -> None:
    if name not in classes:
        raise InputError(f"data set {label!r} has no class {name!r}: {listed(classes)}")


def _split_pair(label: str, argument: str, classes: Sequence[str]) -> tuple[str, str]:
    # Class names may contain commas, so split at each comma in turn.
    fields = argument.split(",")
    cuts = [(",".join(fields[:cut]).strip(), ",".join(fields[cut:]).strip()) for cut in range(1, len(fields))]
    found = [(a, b) for a, b in cuts if a in classes and b in classes and a != b]
    if len(found) == 1:
        return found[0]
    if found:
        shown = " or ".join(f"{a!r} and {b!r}" for a, b in found)
        raise InputError(
            f"data set {label!r}: task 'pair:{argument}' may mean {shown}; rename classes that have commas"
        )
    unknown = [name for name in map(str.strip, fields) if name not in classes]
    fault = (
        f"there is no class {unknown[0]!r}"
        if len(fields) == 2 and unknown
        else "it must name two different classes"
    )
    raise InputError(f"data set {label!r}: task 'pair:{argument}': {fault}; classes: {listed(classes)}")


def listed(names: Sequence[str], limit: int = 10) -> str:
    """Join names into one short text; name only the first `limit`, so that an error stays on one line."""
    shown = ", ".join(name if name.isprintable() else repr(name) for name in names[:limit])
    return shown if len(names) <= limit else f"{shown}, … ({len(names)} in all)"
