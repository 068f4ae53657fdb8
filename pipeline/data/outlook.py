"""What is known of a study's data sets before anything is downloaded, parsed or drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ..errors import InputError
from .composition import ComposedSource
from .file_sources import ConvertedSource, FamilyDataset, PublicSource
from .memory_sources import BundledSource, GeneratorSource
from .resolve import find_source, label_of, named_source
from .sources import Source
from .tables.cache import kept_manifest, recipe_key
from .tables.options import Options, Value, count_of, resolve_options

# What a number takes where an option does not say.
_DOUBLE, _BYTES = 8, {"float32": 4, "float64": 8}
# What one of these names stands for is one task.
_ONE_TASK = ("auto", "binary", "multiclass")


@dataclass(frozen=True)
class Outlook:
    """What is known of one ``[[datasets]]`` entry.

    Attributes
    ----------
    label : str
        What results call it.
    ready : bool
        Whether its tasks can be opened at once: nothing has to be downloaded or parsed first.
    missing : bool
        Whether something has to be done by hand: the files are not there, or the entry names what is not.
    state : str
        In words.
    tasks, rows, features : int or None
        None where only the files tell. Rows of training and test part together.
    problem : str
        What a run says of it where it is `missing`.
    classes : int
        Of each task.
    n_bytes : dict of str to int
        What its tables take, by what tells them apart; empty where it is not known.
    kept : bool
        Whether they are mapped from the cache, and shared by the processes of a machine; else each process
        has its own.
    """

    label: str
    ready: bool
    missing: bool
    state: str
    tasks: int | None = None
    rows: int | None = None
    features: int | None = None
    classes: int = 2
    n_bytes: Mapping[str, int] = field(default_factory=dict)
    kept: bool = True
    problem: str = ""


def look(
    *,
    name: str | None = None,
    path: str | Path | None = None,
    openml: int | None = None,
    target: str | int | None = None,
    task: str = "auto",
    label: str | None = None,
    options: Options | None = None,
    base: str | Path = ".",
    compose: Sequence[Mapping[str, Any]] = (),
    at: Sequence[float] = (),
    width: int = 0,
) -> Outlook:
    """Return what is known of a study entry, see `expand`; what is wrong with it is its `state`."""
    called = label or name or (f"openml-{openml}" if path is None else label_of(path))
    try:
        dataset, _, given = named_source(name, path, openml, target, options, base, compose, at, width)
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
    # Asked only where no file is read for it.
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
    sizes: dict[str, int] = {}
    for part in parts:
        sizes.update(part.n_bytes)
    return Outlook(
        label,
        ready=not waiting,
        missing=any(part.missing for part in parts),
        state=waiting[0].state if waiting else parts[0].state,
        problem=next((part.problem for part in parts if part.problem), ""),
        tasks=len(refs),
        rows=None if None in rows else sum(each or 0 for each in rows),
        features=None if None in features else max(each or 0 for each in features),
        n_bytes=sizes,
    )


def _of_table(source: Source, label: str, options: Mapping[str, Value]) -> Outlook:
    if isinstance(source, ConvertedSource):
        return _of_files(source, label, options)
    if isinstance(source, ComposedSource):
        state = "composed of other sources"
        rows = count_of(options, "n_train") or source.rows
        return Outlook(label, True, False, state, rows=rows, kept=False)
    assert isinstance(source, BundledSource | GeneratorSource)
    if isinstance(source, GeneratorSource):
        rows = count_of(options, "n_train") + count_of(options, "n_test")
        features = source.generator.n_features
        state = "generated, anew for each repetition"
    else:
        (rows, features), state = source.entry.shape, "comes with scikit-learn"
    features += bool(options.get("bias"))
    size = rows * features * _BYTES.get(str(options.get("dtype")), _DOUBLE)
    sizes = {f"{source.name} {sorted(options.items())}": size}
    return Outlook(label, True, False, state, rows=rows, features=features, n_bytes=sizes, kept=False)


def _of_files(source: ConvertedSource, label: str, options: Mapping[str, Value]) -> Outlook:
    rows, features = _declared(source, options)
    try:
        files = source.files(dict(options), download=False)
        recipe = source.recipe_of(files, dict(options))
    except InputError as error:
        state = source.state() if isinstance(source, PublicSource) else f"not there: {error}"
        if source.fetchable(options):
            return Outlook(label, False, False, "to be downloaded", rows=rows, features=features)
        problem = _refusal(source, options) or str(error)
        return Outlook(label, False, True, state, rows=rows, features=features, problem=problem)
    manifest = kept_manifest(recipe)
    if manifest is None:
        size = sum(path.stat().st_size for path in files) / 1e6
        state = f"to be parsed ({size:,.1f} MB of files)"
        return Outlook(label, False, False, state, rows=rows, features=features)
    rows, features = _shape(manifest)
    sizes = {recipe_key(recipe): sum(part["bytes"] for part in manifest["parts"].values())}
    return Outlook(label, True, False, "ready", rows=rows, features=features, n_bytes=sizes)


def _refusal(source: ConvertedSource, options: Mapping[str, Value]) -> str:
    """Return what is said when the files are opened; "" where some would be downloaded for it."""
    if isinstance(source, PublicSource) and any(file.addresses for file in source.entry.files):
        return ""
    try:
        source.files(dict(options))
    except InputError as error:
        return str(error)
    return ""


def _declared(source: ConvertedSource, options: Mapping[str, Value]) -> tuple[int | None, int | None]:
    """Return the published rows and features."""
    if not isinstance(source, PublicSource) or not source.entry.n_features:
        return None, None
    return source.rows() or None, source.entry.n_features + bool(options.get("bias"))


def _shape(manifest: Mapping[str, Any]) -> tuple[int, int]:
    test = manifest.get("shape_test")
    return manifest["shape"][0] + (test[0] if test else 0), manifest["shape"][1]
