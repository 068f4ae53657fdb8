"""Preview data sets without downloading, parsing or generating them; list them for ``singlepass list``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError, did_you_mean
from .composition import ComposedSource
from .io.progress import Progress, watched
from .memory_sources import BundledSource, GeneratorSource
from .own_sources import ConvertedSource, FamilyDataset, PublicSource
from .remote import is_url
from .resolve import (
    dataset_names,
    find_dataset,
    find_source,
    label_of,
    named_datasets,
    named_source,
)
from .sources import DatasetRow, Source
from .tables.cache import kept_manifest, recipe_key
from .tables.options import Value, count_of, resolve_options


def describe() -> list[DatasetRow]:
    """Return a row for every data set that has a name (bundled, generated, public), not for the user's files.

    Examples
    --------
    >>> next(row.shape for row in describe() if row.name == "digits")
    (1797, 64)
    """
    rows = (dataset.describe() for dataset in named_datasets())
    return [row for row in rows if row is not None]


def fetch(names: Iterable[str], progress: Progress | None = None) -> list[Path]:
    """Download the files of public data sets that this machine does not have; return the paths of all files.

    `names` are those of `describe`; bundled sets and generators have no files. `progress` is called with file
    name, bytes so far and total bytes (0 if unknown). Raises InputError on an unknown name, before anything
    is downloaded, or if a file is not available.
    """
    wanted = list(names)
    known = dataset_names()
    for name in wanted:
        if name not in known:
            raise InputError(f"unknown data set {name!r}; {did_you_mean(name, known)}")
    paths: dict[Path, None] = {}
    with watched(progress):
        for name in wanted:
            paths |= dict.fromkeys(find_dataset(name).locate())
    return list(paths)


# Values of the key ``task`` of a study that select a single task.
_ONE_TASK = ("auto", "binary", "multiclass")


@dataclass(frozen=True)
class Outlook:
    """Contain what is known about a study's ``[[datasets]]`` entry before its data are opened."""

    #: The data set's name in results.
    label: str
    #: Whether its tasks can be opened at once, without a download or parsing.
    ready: bool
    #: Whether the user must act: files are missing, or the entry is invalid.
    missing: bool
    #: A text that says whether the data are ready, such as "to be downloaded".
    state: str
    #: Number of tasks, of rows (training and test part) and of features; None if not known in advance.
    tasks: int | None = None
    rows: int | None = None
    features: int | None = None
    #: Number of the rows that are a test part, from which no learner learns; 0 if unknown.
    n_test: int = 0
    #: Number of tables that the rows are spread over: one for each part of a family.
    n_tables: int = 1
    #: Number of classes of each task.
    classes: int = 2
    #: Bytes of each table of the data set, by a key that identifies the table; empty if unknown.
    n_bytes: Mapping[str, int] = field(default_factory=dict)
    #: Whether tables are memory-mapped from the cache, so that the processes of a machine share them;
    #: otherwise each process has its own copy.
    kept: bool = True
    #: Whether rows may be generated while a learner reads them, so that they need not be stored in the cache.
    by_number: bool = False
    #: The error message that a run reports if the data set is `missing`.
    problem: str = ""

    @property
    def n_learned(self) -> int:
        """The mean number of rows of a table without a test part; 0 if unknown."""
        return ((self.rows or 0) - self.n_test) // self.n_tables


def look(*, task: str = "auto", label: str | None = None, **entry: Any) -> Outlook:
    """Preview a ``[[datasets]]`` entry, given by the parameters of `expand`; an error becomes its `state`."""
    name, path, openml = (entry.get(key) for key in ("name", "path", "openml"))
    called = label or name or (f"openml-{openml}" if path is None else label_of(path))
    try:
        dataset, _, given = named_source(**entry)
        if isinstance(dataset, FamilyDataset):
            return _of_family(dataset, called, task, given)
        assert isinstance(dataset, Source)
        return _of_source(dataset, called, task, given)
    except InputError as error:
        return Outlook(called, False, True, f"not usable: {error}", problem=str(error))


def _of_source(source: Source, label: str, task: str, given: dict[str, Value]) -> Outlook:
    named = {key: value for key, value in given.items() if key != "positive"}
    options = resolve_options(label, named, source.options(named))
    found = _of_table(source, label, options)
    # Determine the tasks from the classes only if these are known without reading a file.
    if not (found.ready or (isinstance(source, PublicSource) and source.entry.classes)):
        one = task in _ONE_TASK or ":" in task
        return replace(found, tasks=1 if one else None)
    refs = source.tasks(label, task, given)
    many = any(ref.task == "multiclass" for ref in refs)
    return replace(found, tasks=len(refs), classes=len(source.classes(options)) if many else 2)


def _of_family(family: FamilyDataset, label: str, task: str, given: dict[str, Value]) -> Outlook:
    refs = family.tasks(label, task, given)
    parts = [
        _of_table(source, label, source.options_of(ref))
        for ref in refs
        if isinstance(source := find_source(ref.source), PublicSource)
    ]
    waiting = [part for part in parts if not part.ready]
    rows, features = [part.rows for part in parts], [part.features for part in parts]
    return Outlook(
        label,
        ready=not waiting,
        missing=any(part.missing for part in parts),
        state=(waiting or parts)[0].state,
        problem=next((part.problem for part in parts if part.problem), ""),
        tasks=len(refs),
        rows=None if None in rows else sum(each or 0 for each in rows),
        n_test=0 if None in rows else sum(part.n_test for part in parts),
        n_tables=len(parts),
        features=None if None in features else max(each or 0 for each in features),
        n_bytes={table: size for part in parts for table, size in part.n_bytes.items()},
    )


def _of_table(source: Source, label: str, options: Mapping[str, Value]) -> Outlook:
    if isinstance(source, ConvertedSource):
        return _of_files(source, label, options)
    found = Outlook(label, True, False, "composed of other sources", kept=False)
    if isinstance(source, ComposedSource):
        return replace(found, rows=count_of(options, "n_train") or source.rows)
    assert isinstance(source, BundledSource | GeneratorSource)
    if isinstance(source, GeneratorSource):
        generator, n_test = source.generator, count_of(options, "n_test")
        rows, row_bytes = count_of(options, "n_train") + n_test, generator.row_bytes
        features = 1 << count_of(options, "hash_bits") if "hash_bits" in options else generator.n_features
        state, by_number = "generated for each repetition", generator.by_number
        found = replace(found, state=state, n_test=n_test, by_number=by_number)
    else:
        (rows, features), row_bytes = source.entry.shape, 0
        found = replace(found, state="comes with scikit-learn")
    features += bool(options["bias"])
    size = rows * (row_bytes or features * np.dtype(str(options["dtype"]) or "float64").itemsize)
    sizes = {f"{source.name} {sorted(options.items())}": size}
    return replace(found, rows=rows, features=features, n_bytes=sizes)


def _of_files(source: ConvertedSource, label: str, options: Mapping[str, Value]) -> Outlook:
    rows, features, n_test = _declared(source, options)
    found = Outlook(label, False, False, "to be downloaded", rows=rows, n_test=n_test, features=features)
    try:
        files = source.files(options, download=False)
        recipe = source.recipe_of(files, options)
    except InputError as error:
        if source.fetchable(options):
            return found
        state = source.state() if isinstance(source, PublicSource) else f"not there: {error}"
        return replace(found, missing=True, state=state, problem=_refusal(source, options) or str(error))
    manifest = kept_manifest(recipe)
    if manifest is None:
        size = sum(path.stat().st_size for path in files) / 1e6
        return replace(found, state=f"to be parsed ({size:,.1f} MB of files)")
    (rows, features), test = manifest["shape"], manifest.get("shape_test")
    n_test = test[0] if test else 0
    rows += n_test
    sizes = {recipe_key(recipe): sum(part["bytes"] for part in manifest["parts"].values())}
    return Outlook(label, True, False, "ready", rows=rows, n_test=n_test, features=features, n_bytes=sizes)


def _refusal(source: ConvertedSource, options: Mapping[str, Value]) -> str:
    """Look for the files; return the error message, or "" if there is none or a download could start."""
    if isinstance(source, PublicSource) and any(file.addresses for file in source.entry.files):
        return ""
    if is_url(str(options.get("test", ""))):
        return ""
    try:
        source.files(options)
    except InputError as error:
        return str(error)
    return ""


def _declared(source: ConvertedSource, options: Mapping[str, Value]) -> tuple[int | None, int | None, int]:
    """Return the published numbers of rows and features, and how many of the rows are the test part.

    Rows and features are None if unknown, as for the user's own files; test rows are 0 then.
    """
    if not isinstance(source, PublicSource) or not source.entry.n_features:
        return None, None, 0
    n_test = 0 if options["join"] else sum(source.entry.counts_test)
    return source.rows() or None, source.entry.n_features + bool(options.get("bias")), n_test
