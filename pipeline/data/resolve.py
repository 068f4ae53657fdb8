"""Study entries to task references, task references to streams and fingerprints."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from ..errors import InputError, did_you_mean
from ..randomness import random_state
from .catalogue.catalogue import ALIASES, FAMILIES
from .catalogue.declarations import Family
from .catalogue.generators import GENERATORS
from .io.single_flight import Memo
from .sources import find_source, source_names
from .tables.features import apply_feature_options
from .tables.options import Option, Options, Value, resolve_options
from .tables.stream import Stream, freeze
from .tables.tasks import Groupings, Named, TaskRef, derive, name_tasks, task_fingerprint

# A stream of a table is a few label arrays beside the shared table; one of a generator is its drawn rows
# (2.4 MB for the defaults of arow-synthetic). The 45 pairs of a digit set fit, so that a study which walks
# through them with every algorithm derives each once.
_streams: Memo[Stream] = Memo(size=64)


def expand(
    *,
    name: str | None = None,
    path: str | Path | None = None,
    target: str | int | None = None,
    task: str = "auto",
    label: str | None = None,
    options: Options | None = None,
    base: str | Path = ".",
) -> list[TaskRef]:
    """Return the tasks that one ``[[datasets]]`` entry of a study stands for.

    Parameters
    ----------
    name : str, optional
        A name of `describe`; beside `path`, what the data set is called.
    path : str or Path, optional
        A file: svmlight, CSV, Parquet or Arrow, by suffix. Read (once) to learn its classes.
    target : str or int, optional
        Column of the labels, for files with columns; its number, from 1, in a CSV file without header.
    task : str, default="auto"
        See `name_tasks`: "pairs" gives K(K-1)/2 references, "one-vs-rest" K, the others one.
    label : str, optional
        Label in results; by default the name, or the file's name without suffixes.
    options : mapping, optional
        Any set: ``bias`` (append a constant feature 1: the linear learners have no bias term),
        ``standardize`` (mean 0, standard deviation 1 over the training part of the whole set), ``dtype``
        ("float32" or "float64"), ``positive`` (the positive class of a binary task). Public sets: ``dense``
        (true: dense rows, false: CSR; by default as distributed), ``join`` (append the official test part to
        the training part), ``verify`` (false: take content that is not the known one). Generators:
        ``n_train``, ``n_test``. Files: ``test`` (path of a test file), ``format``, and by format
        ``header``, ``delimiter`` (CSV), ``n_features``, ``zero_based``, ``dense`` (svmlight).
    base : str or Path, default="."
        Folder that relative paths start from (that of the study file).

    Returns
    -------
    list of TaskRef
        In the order of the classes.

    Raises
    ------
    InputError
        On an unknown name, task or option, or a file that cannot be read.

    Examples
    --------
    >>> [ref.label for ref in expand(name="digits", task="round")]
    ['digits[round]']
    >>> len(expand(name="digits", task="pairs"))
    45
    """
    given = dict(options or {})
    positive = str(given.pop("positive", ""))
    if target is not None:
        given["target"] = target
    if path is not None:
        source_name = str(_absolute(path, base))
        shown = label or name or Path(path).name.split(".")[0]
        if given.get("test"):
            given["test"] = str(_absolute(str(given["test"]), base))
    elif name is None:
        raise InputError(f"a data set needs a name or a path; {did_you_mean('', source_names())}")
    else:
        source_name, shown = ALIASES.get(name, name), label or name
    if source_name in FAMILIES:
        return _expand_family(FAMILIES[source_name], shown, task, positive, given)
    declared: Mapping[str, Option]
    groupings: Groupings = {}
    named: Named = {}
    if source_name in GENERATORS:
        generator = GENERATORS[source_name]
        declared, classes, groupings = generator.options, generator.classes, generator.groupings
        resolved = resolve_options(source_name, given, declared)
    else:
        source = find_source(source_name)
        declared, groupings, named = source.declared(given), source.groupings, source.named
        resolved = resolve_options(shown, given, declared)
        classes = source.classes(resolved)
    kept = tuple(sorted((key, value) for key, value in resolved.items() if value != declared[key].default))
    tasks = name_tasks(shown, classes, task, groupings=groupings, positive=positive, named=named)
    return [TaskRef(each, source_name, resolved_task, shown, kept) for each, resolved_task in tasks]


def _expand_family(family: Family, shown: str, task: str, positive: str, given: Options) -> list[TaskRef]:
    """Return a reference for each part that `task` names: all, a named list of parts, or one part."""
    part = task.removeprefix(f"{family.task}:")
    if task in ("auto", family.task):
        parts = tuple(family.members)
    elif part in family.groups:
        parts = family.groups[part]
    elif part in family.members:
        parts = (part,)
    else:
        known = [family.task, *family.groups, *family.members]
        raise InputError(f"data set {shown!r}: unknown task {task!r}; {did_you_mean(part, known)}")
    options = {**given, "positive": positive} if positive else given
    return [
        replace(ref, parent=shown)
        for each in parts
        for ref in expand(name=family.members[each], task="binary", label=f"{shown}[{each}]", options=options)
    ]


def fingerprint(ref: TaskRef) -> str:
    """Return the fingerprint of a task's data, the same on every machine.

    Parameters
    ----------
    ref : TaskRef
        Which task.

    Returns
    -------
    str
        sha256, hex. Of bundled sets and files: from shapes, dtypes, contents and class names of the source,
        and the task. Of generators: from name, version, label (it seeds the draw) and options; nothing is
        drawn.

    Raises
    ------
    InputError
        When the data cannot be found or are not what they should be.
    """
    if ref.source in GENERATORS:
        generator = GENERATORS[ref.source]
        options = resolve_options(ref.source, dict(ref.options), generator.options)
        recipe = [generator.name, generator.version, ref.label, ref.task, sorted(options.items())]
        return hashlib.sha256(json.dumps(recipe).encode()).hexdigest()
    source = find_source(ref.source)
    options = _options_of(ref)
    return task_fingerprint(source.fingerprint(options), ref.task, source.groupings)


def open_stream(ref: TaskRef, root: int = 0, seed: int = 0) -> Stream:
    """Open the stream of a task, and keep it in this process for the next cell that asks.

    Parameters
    ----------
    ref : TaskRef
        Which task. Files and ``SINGLEPASS_DATA`` are looked up on the machine that opens it.
    root, seed : int, default=0
        The study's root seed and the repetition. Generators are drawn anew for each (root, label, seed);
        the other sources do not depend on them.

    Returns
    -------
    Stream
        Shared between threads; its arrays are read-only.

    Raises
    ------
    InputError
        When the data cannot be found or are not what they should be.

    Examples
    --------
    >>> stream = open_stream(expand(name="digits", task="pair:3,5")[0])
    >>> stream.classes, stream.X.shape, len(stream.y)
    (('5', '3'), (1797, 64), 365)
    """
    if ref.source in GENERATORS:
        return _streams.get((ref, root, seed), lambda: _draw(ref, root, seed))
    source = find_source(ref.source)
    options = _options_of(ref)
    return _streams.get(
        (ref, source.identity(options)),
        lambda: derive(ref, source.table(options), fingerprint(ref), source.groupings),
    )


def _draw(ref: TaskRef, root: int, seed: int) -> Stream:
    generator = GENERATORS[ref.source]
    options = resolve_options(ref.source, dict(ref.options), generator.options)
    drawn = generator.table(random_state(root, ref.label, seed=seed, purpose="draw"), options)
    table = apply_feature_options(ref.source, drawn, options)
    return derive(ref, freeze(table), fingerprint(ref), generator.groupings)


def _options_of(ref: TaskRef) -> dict[str, Value]:
    given = dict(ref.options)
    return resolve_options(ref.label, given, find_source(ref.source).declared(given))


def _absolute(path: str | Path, base: str | Path) -> Path:
    # Not resolved: a symbolic link keeps the name, and the suffix, that the user gave.
    return Path(base).expanduser().absolute() / Path(path).expanduser()
