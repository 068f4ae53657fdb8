"""Turn a study's data set entries into task references (`TaskRef`), and a reference into its stream."""

from __future__ import annotations

import functools
import glob
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from threading import Condition
from typing import Any, Literal

import numpy as np
from cachetools import LRUCache, cached
from numpy.typing import NDArray

from ..errors import InputError, did_you_mean
from .catalogue.clicks import Clicks
from .catalogue.generators import GENERATORS
from .catalogue.public import ALIASES, CATALOGUE, FAMILIES
from .composition import COMPOSED, ComposedSource, Part, composed_name
from .given_sources import ArraySource, FrameSource
from .io.folders import cache_folder
from .memory_sources import BUNDLED, BundledSource, GeneratorSource
from .own_sources import FamilyDataset, FileSource, OpenMLSource, PublicSource
from .remote import absolute, is_url
from .sources import Dataset, Draw, Source
from .tables.features import (
    FeatureFit,
    change_features,
    computed,
    fit_features,
    raw_options,
    scaled_online,
    typical_sizes,
)
from .tables.options import FEATURE_OPTIONS, Options, Value, count_of
from .tables.stream import Rows, SpillingMatrix, Stream, is_sparse
from .tables.tasks import TaskRef, derive, task_codes

# For each kind of data set: the declarations by name, and the class of source made from a declaration.
_DECLARED: tuple[tuple[Mapping[str, Any], Callable[[Any], Source]], ...] = (
    (BUNDLED, BundledSource),
    (GENERATORS, GeneratorSource),
    (CATALOGUE, PublicSource),
)


def named_datasets() -> Iterator[Dataset]:
    """Yield every data set that a study can name without a path, families of data sets included."""
    for declared, make in _DECLARED:
        yield from map(make, declared.values())
    yield from map(FamilyDataset, FAMILIES.values())


def dataset_names() -> list[str]:
    """Return all names that a study may use, sorted."""
    public = [name for name, entry in CATALOGUE.items() if not entry.family]
    return sorted([*BUNDLED, *GENERATORS, *public, *FAMILIES, *ALIASES])


def main_name(name: str) -> str:
    """Return the main name of a data set, as in `describe`, given that name or its alias."""
    return ALIASES.get(name, name)


def find_dataset(name: str) -> Dataset:
    """Return the data set, or family of data sets, that a study names; raise InputError if it is unknown."""
    name = main_name(name)
    return FamilyDataset(FAMILIES[name]) if name in FAMILIES else find_source(name)


def find_source(name: str) -> Source:
    """Return the data set of this name, path or URL (`TaskRef.source`); raise InputError if it is unknown."""
    if name.startswith(COMPOSED):
        parts = json.loads(name.removeprefix(COMPOSED))["parts"]
        return ComposedSource(name, [Part(find_source(each["source"]), each["options"]) for each in parts])
    if is_url(name) or Path(name).is_absolute():
        return FileSource(name)
    if name.startswith(OpenMLSource.PREFIX):
        number = name.removeprefix(OpenMLSource.PREFIX)
        if not number.isascii() or not number.isdigit():
            raise InputError(f"data set {name!r}: {number!r} is not a number of an OpenML data set")
        return OpenMLSource(int(number))
    for kind in (ArraySource, FrameSource):
        if name.startswith(kind.PREFIX):
            return kind(name)
    for declared, make in _DECLARED:
        if name in declared:
            return make(declared[name])
    raise InputError(
        f'unknown data set {name!r}; {did_you_mean(name, dataset_names())}; your own file needs path = "…"'
    )


def expand(
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
) -> list[TaskRef]:
    """Return the tasks that one ``[[datasets]]`` entry of a study selects.

    Parameters
    ----------
    name : str, optional
        A name from `describe`; together with `path`, the data set's name in results.
    path : str or Path, optional
        A file (svmlight, CSV, Parquet, Arrow or ARFF, by suffix), a folder or pattern (``*``) of such files,
        or a URL. It is read once, to learn its classes.
    openml : int, optional
        Number of an OpenML data set.
    target : str or int, optional
        Label column of files with columns; its number, from 1, in a CSV file without header.
    task : str, default="auto"
        See `name_tasks`: "pairs" gives K(K-1)/2 references, "one-vs-rest" K, other values one.
    label : str, optional
        Label in results; by default the name, or the file name without suffixes.
    options : mapping, optional
        Other keys of the entry, such as ``standardize`` and ``n_train``; docs/study.md lists them, and
        docs/own-data.md describes those of files.
    base : str or Path, default="."
        Folder from which relative paths start (that of the study file).
    compose, at, width : optional
        Instead of `name` and `path`: the tables of sources that make one stream, the positions of changes
        between them, and the number of examples that a change takes; see `composed_name`.

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
    source, called, given = named_source(name, path, openml, target, options, base, compose, at, width)
    return source.tasks(label or called, task, given)


def named_source(
    name: str | None = None,
    path: str | Path | None = None,
    openml: int | None = None,
    target: str | int | None = None,
    options: Options | None = None,
    base: str | Path = ".",
    compose: Sequence[Mapping[str, Any]] = (),
    at: Sequence[float] = (),
    width: int = 0,
) -> tuple[Dataset, str, dict[str, Value]]:
    """Return the data set of an entry, its default label, and its options; see `expand`."""
    given = dict(options or {})
    if compose:
        return find_source(composed_name(compose, at, width, base)), "composition", given
    if target is not None:
        given["target"] = target
    if path is not None:
        if given.get("test"):
            given["test"] = absolute(str(given["test"]), base)
        return find_source(absolute(path, base)), name or label_of(path), given
    if openml is not None:
        return find_source(f"{OpenMLSource.PREFIX}{openml}"), name or f"openml-{openml}", given
    if name is None:
        raise InputError(f"a data set needs a name or a path; {did_you_mean('', dataset_names())}")
    return find_dataset(name), name.replace(":", "-"), given


def label_of(path: str | Path) -> str:
    """Return the default label of a file, folder, pattern or URL: its name without suffixes."""
    parts = [part for part in PurePosixPath(str(path).partition("?")[0]).parts if not glob.has_magic(part)]
    return parts[-1].split(".")[0] if parts else "data"


def base_set(source: str) -> str:
    """Return the collection (family) that a public set is a part of; for other data sets, the name itself.

    Parts of one collection are not independent: they share documents, as the topics of Reuters-21578 do, or
    at least their origin. Compositions of the same sources share their rows. Generators draw new ones.
    """
    if source.startswith(COMPOSED):
        parts = {part["source"] for part in json.loads(source.removeprefix(COMPOSED))["parts"]}
        return " + ".join(sorted({base_set(part) for part in parts.difference(GENERATORS)})) or source
    entry = CATALOGUE.get(source)
    return entry.family if entry and entry.family else source


def fingerprint(ref: TaskRef) -> str:
    """Return the fingerprint (sha256 in hex) of a task's data, the same on every machine.

    For bundled sets and files it covers shapes, dtypes, contents and class names of the source, and the task.
    For generators it covers name, version, label (which seeds the draw) and options; nothing is drawn.
    Raises InputError if the data are missing or differ from the published ones.
    """
    return find_source(ref.source).fingerprint(ref)


def open_stream(ref: TaskRef, root: int = 0, seed: int = 0, *, raw: bool = False) -> Stream:
    """Open the stream of a task, and cache it in this process for the next call.

    Files and ``SINGLEPASS_DATA`` are those of the machine that opens it. Generators draw new rows for each
    (`root`, label, `seed`), the study's root seed and the repetition; other sources do not depend on them.
    With `raw`, features are left unchanged for `fitted`: not filled, not standardized, without ``bias`` and
    ``dtype``. The arrays are read-only and shared between threads. Raises InputError as `fingerprint` does.

    Examples
    --------
    >>> stream = open_stream(expand(name="digits", task="pair:3,5")[0])
    >>> stream.classes, stream.X.shape, len(stream.y)
    (('5', '3'), (1797, 64), 365)
    """
    return shared_stream(find_source(ref.source), ref, Draw(root, ref.label, seed), raw)


def rows_by_number(ref: TaskRef, root: int, seed: int) -> tuple[Clicks, int] | None:
    """Return an object whose ``rows(start, stop)`` draws training rows of a task, and how many there are.

    The rows are those of `open_stream`. Returns None if the task's rows cannot be drawn in ranges: they are
    stored, drawn only as a whole, or changed after they are drawn.
    """
    source, options = _opened(ref)
    unchanged = ref.task == "binary" and all(
        options[name] == option.default for name, option in FEATURE_OPTIONS.items() if name in options
    )
    if not unchanged or not isinstance(source, GeneratorSource) or not source.generator.by_number:
        return None
    own = {name: count_of(options, name) for name in source.generator.parameters}
    random_state = Draw(root, ref.label, seed).random_state()
    return Clicks(random_state, **own), count_of(options, "n_train")


# The cache of streams has room for the 45 pairs of a digit set, so that a study of several algorithms on all
# pairs derives each stream once. Streams of stored data are small, since they share a table; each stream of a
# generator has its own rows (2.4 MB for the defaults of arow-synthetic).
@cached(
    LRUCache(maxsize=64),
    lambda source, ref, draw, raw: (ref, raw, source.identity(_options(source, ref, raw), draw)),
    condition=Condition(),
)
def shared_stream(source: Source, ref: TaskRef, draw: Draw, raw: bool) -> Stream:
    """Return the stream of a task, derived once per process even if several threads ask for it."""
    table = source.table(_options(source, ref, raw), draw)
    return derive(ref, table, source.fingerprint(ref), source.groupings)


def _options(source: Source, ref: TaskRef, raw: bool) -> dict[str, Value]:
    options = source.options_of(ref)
    return raw_options(options) if raw else options


# Cached, because every run of an algorithm on a task calls the function.
@functools.lru_cache(maxsize=1024)
def feature_fit(ref: TaskRef) -> Literal["", "on training rows", "online"]:
    """Return from which rows the statistics come by which a task's features are standardized or filled.

    The result is "" if features are not changed, "on training rows", or "online" (the rows of the stream so
    far). If the data have an official test part, `open_stream` uses their training part. Otherwise a protocol
    that splits off test rows must open the stream with ``raw`` and change the features with the statistics of
    its training rows (`fitted`). "online" features are changed while the stream is read (`along_stream`).
    """
    _, options = _opened(ref)
    if scaled_online(options):
        return "online"
    return "on training rows" if computed(options) else ""


@functools.lru_cache(maxsize=1024)
def is_standardized(ref: TaskRef) -> bool:
    """Return whether a task's features are standardized; otherwise `feature_fit` is about filled gaps."""
    return bool(_opened(ref)[1].get("standardize"))


def task_classes(ref: TaskRef) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Return the class names of a task, and those of its data set, which is opened only if necessary.

    The task's classes are in the order of their codes. The data set's classes are None if the task leaves
    rows out.

    Examples
    --------
    >>> from singlepass.pipeline.data import expand
    >>> task_classes(expand(name="digits", task="one-vs-rest:3")[0])
    (('rest', '3'), ('0', '1', '2', '3', '4', '5', '6', '7', '8', '9'))
    """
    source, options = _opened(ref)
    own = source.classes(options)
    codes, names = task_codes(ref, own, source.groupings)
    return names, own if codes.min() >= 0 else None


# Cached, because every run of an algorithm on a task calls the function, and a run may take only 0.1 ms.
@functools.lru_cache(maxsize=1024)
def is_drawn(ref: TaskRef) -> bool:
    """Return whether generators draw all rows of a task, so that repetitions share none."""
    return find_source(ref.source).is_drawn


@functools.lru_cache(maxsize=1024)
def differs_by_seed(ref: TaskRef) -> bool:
    """Return whether a task's stream differs between repetitions before any shuffling or split."""
    return find_source(ref.source).differs_by_seed


@functools.lru_cache(maxsize=1024)
def has_test(ref: TaskRef) -> bool:
    """Return whether a task's data have an official test part, without opening the data."""
    source, options = _opened(ref)
    return source.has_test(options)


def is_here(ref: TaskRef, *, parsed: bool = False) -> bool:
    """Return whether a task can be opened without a download and, with `parsed`, without parsing a file."""
    source, options = _opened(ref)
    return source.is_here(options, parsed=parsed)


def notes(ref: TaskRef) -> tuple[str, ...]:
    """Return notes on how a task's features were made from the columns of files, one line each."""
    source, options = _opened(ref)
    return source.notes(options)


# A warning is given if the typical sizes of two features differ by more than this factor.
_FAR_APART = 1000


def scales_apart(refs: Iterable[TaskRef]) -> dict[str, str]:
    """Return a warning for each data set with features of very different scales, by its label in results.

    Only data sets that are parsed on this machine are opened; generated and standardized ones are left out.
    """
    found: dict[str, str] = {}
    for ref in {(ref.source, ref.options): ref for ref in refs}.values():
        source, options = _opened(ref)
        raw = not (source.is_drawn or options.get("standardize"))
        if ref.parent not in found and raw and source.is_here(options, parsed=True):
            found[ref.parent] = _scales_apart(ref)
    return {label: text for label, text in found.items() if text}


# The key has the fingerprint, because the files may be edited between two runs in one process.
@cached(LRUCache(maxsize=1024), lambda ref: (ref, fingerprint(ref)), condition=Condition())
def _scales_apart(ref: TaskRef) -> str:
    """Return the warning for the data set of a task, "" if its features are alike in scale or all zero."""
    X = open_stream(ref).X
    sizes = typical_sizes(X)
    if np.isnan(sizes).all():
        return ""
    least, most = int(np.nanargmin(sizes)), int(np.nanargmax(sizes))
    if sizes[most] <= _FAR_APART * sizes[least]:
        return ""
    # Do not suggest to standardize sparse rows: they would have to be dense, which may not fit into memory.
    remedy = "divide them in the file" if is_sparse(X) else "set standardize = true"
    return (
        f"features differ in scale: non-zero values of feature {most + 1} are about {sizes[most]:.3g}, those "
        f"of feature {least + 1} about {sizes[least]:.3g}, so results depend on units; {remedy}"
    )


def cautions(refs: Iterable[TaskRef]) -> list[tuple[str, str]]:
    """Return probable mistakes in data sets: pairs of a data set's label in results and one line."""
    found = []
    for ref in {(ref.source, ref.options): ref for ref in refs}.values():
        source, options = _opened(ref)
        found += [(ref.parent, line) for line in source.cautions(options)]
    return found


def fitted(ref: TaskRef, X: Any, rows: Rows) -> Any:
    """Fill, standardize and convert a task's features as its options say, with statistics of training rows.

    `X` are the unchanged features of the stream, or of some of its rows; `rows` are the indices of the
    training rows in it, ascending.
    """
    _, options = _opened(ref)
    return change_features(ref.label, X, fit_features(ref.label, X, options, rows), options)


def along_stream(ref: TaskRef, blocks: Iterable[Any], n_rows: int) -> Any:
    """Join blocks of rows into one matrix with the task's ``bias`` and ``dtype`` applied.

    `blocks` are the dense rows in stream order, `n_rows` in total; the caller has standardized them already.
    A large matrix is stored on disk.
    """
    made, d, options = SpillingMatrix(cache_folder() / "streams"), 0, _opened(ref)[1]
    for block in blocks:
        changed = change_features(ref.label, block, FeatureFit(None, None, None), options)
        d = changed.shape[1]
        made.append(changed)
    return made.finish((n_rows, d))


def standardised(ref: TaskRef, X: Any, mean: NDArray[np.float64], spread: NDArray[np.float64]) -> Any:
    """Return rows standardized by given statistics, with the task's ``bias`` and ``dtype`` applied.

    `X` are unchanged rows; their missing values become 0. `mean` and `spread` are the mean and the standard
    deviation of each feature, shape (d,).
    """
    fit = FeatureFit(mean, mean, spread)
    return change_features(ref.label, X, fit, _opened(ref)[1])


def _opened(ref: TaskRef) -> tuple[Source, dict[str, Value]]:
    source = find_source(ref.source)
    return source, source.options_of(ref)
