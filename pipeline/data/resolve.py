"""Names and paths to data sets, study entries to task references, references to streams and fingerprints."""

from __future__ import annotations

import glob
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from threading import Condition
from typing import Any

from cachetools import LRUCache, cached

from ..errors import InputError, did_you_mean
from .catalogue.bundled import BUNDLED
from .catalogue.catalogue import ALIASES, CATALOGUE, FAMILIES
from .catalogue.generators import GENERATORS
from .catalogue.stream_generators import STREAM_GENERATORS
from .composition import COMPOSED, ComposedSource, Part, composed_name
from .file_sources import FamilyDataset, PublicSource
from .given_sources import ArraySource, FrameSource
from .memory_sources import BundledSource, GeneratorSource
from .own_sources import FileSource, OpenMLSource
from .remote import absolute, is_url
from .sources import Dataset, Draw, Source
from .tables.features import raw_options
from .tables.options import Options, Value
from .tables.stream import Stream
from .tables.tasks import TaskRef, derive

# What is declared, kind by kind, and the source that it makes.
_DECLARED: tuple[tuple[Mapping[str, Any], Callable[[Any], Source]], ...] = (
    (BUNDLED, BundledSource),
    (GENERATORS, GeneratorSource),
    (STREAM_GENERATORS, GeneratorSource),
    (CATALOGUE, PublicSource),
)


def named_datasets() -> Iterator[Dataset]:
    """Yield every data set that needs no path, the parts of families among them."""
    for declared, make in _DECLARED:
        yield from map(make, declared.values())
    yield from map(FamilyDataset, FAMILIES.values())


def dataset_names() -> list[str]:
    """Return what a study may name, sorted."""
    public = [name for name, entry in CATALOGUE.items() if not entry.family]
    return sorted([*BUNDLED, *GENERATORS, *STREAM_GENERATORS, *public, *FAMILIES, *ALIASES])


def main_name(name: str) -> str:
    """Return what `describe` calls a data set that has two names."""
    return ALIASES.get(name, name)


def find_dataset(name: str) -> Dataset:
    """Return what a study means by a name.

    Raises
    ------
    InputError
        When there is none of that name; the nearest is suggested.
    """
    name = main_name(name)
    return FamilyDataset(FAMILIES[name]) if name in FAMILIES else find_source(name)


def find_source(name: str) -> Source:
    """Return the source of a reference: that of a name, of an absolute path, or one composed of others.

    Raises
    ------
    InputError
        When there is none of that name; the nearest is suggested.
    """
    if name.startswith(COMPOSED):
        said = json.loads(name.removeprefix(COMPOSED))["parts"]
        return ComposedSource(name, [Part(find_source(each["source"]), each["options"]) for each in said])
    if is_url(name) or Path(name).is_absolute():
        return FileSource(name)
    if name.startswith(OpenMLSource.PREFIX):
        number = name.removeprefix(OpenMLSource.PREFIX)
        if not number.isascii() or not number.isdigit():
            raise InputError(f"data set {name!r}: {number!r} is no number of a data set of OpenML")
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
    """Return the tasks that one ``[[datasets]]`` entry of a study stands for.

    Parameters
    ----------
    name : str, optional
        A name of `describe`; beside `path`, what the data set is called.
    path : str or Path, optional
        A file: svmlight, CSV, Parquet, Arrow or ARFF, by suffix; a folder or a pattern (``*``) of such files;
        or a URL. Read (once) to learn its classes.
    openml : int, optional
        Number of a data set of OpenML.
    target : str or int, optional
        Column of the labels, for files with columns; its number, from 1, in a CSV file without header.
    task : str, default="auto"
        See `name_tasks`: "pairs" gives K(K-1)/2 references, "one-vs-rest" K, the others one.
    label : str, optional
        Label in results; by default the name, or the file's name without suffixes.
    options : mapping, optional
        Any set: ``bias`` (append a constant feature 1: the linear learners have no bias term),
        ``standardize`` (mean 0, standard deviation 1 over the training part of the whole set; "online": over
        the rows of the stream so far), ``dtype``
        ("float32" or "float64"), ``positive`` (the positive class of a binary task). Public sets: ``dense``
        (true: dense rows, false: CSR; by default as distributed), ``join`` (append the official test part to
        the training part), ``verify`` (false: take content that is not the known one). Generators:
        ``n_train``, ``n_test``. Files: ``test`` (path of a test file), ``format``; of svmlight
        ``n_features``, ``zero_based``, ``dense``; of CSV ``header``, ``delimiter``; of all with columns
        ``categorical``, ``text``, ``ignore``, ``order_by``, ``missing``, ``one_hot``, ``hash_bits``,
        ``hash_seed``, ``dense`` (docs/own-data.md).
    base : str or Path, default="."
        Folder that relative paths start from (that of the study file).
    compose, at, width : optional
        Instead of `name` and `path`: the tables of sources that make one stream, where it changes from each
        to the next and how many examples that takes; see `composed_name`.

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
    name: str | None,
    path: str | Path | None,
    openml: int | None,
    target: str | int | None,
    options: Options | None,
    base: str | Path,
    compose: Sequence[Mapping[str, Any]] = (),
    at: Sequence[float] = (),
    width: int = 0,
) -> tuple[Dataset, str, dict[str, Value]]:
    """Return the data set of an entry, what it is called by default, and its options; see `expand`."""
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
    """Return what a file, a folder, a pattern or a URL is called by default: its name without suffixes."""
    parts = [part for part in PurePosixPath(str(path).partition("?")[0]).parts if not glob.has_magic(part)]
    return parts[-1].split(".")[0] if parts else "data"


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
    return find_source(ref.source).fingerprint(ref)


def open_stream(ref: TaskRef, root: int = 0, seed: int = 0, *, raw: bool = False) -> Stream:
    """Open the stream of a task, and keep it in this process for the next cell that asks.

    Parameters
    ----------
    ref : TaskRef
        Which task. Files and ``SINGLEPASS_DATA`` are looked up on the machine that opens it.
    root, seed : int, default=0
        The study's root seed and the repetition. Generators are drawn anew for each (root, label, seed);
        the other sources do not depend on them.
    raw : bool, default=False
        Whether features are to be as they stand, for `fitted`: not filled, not standardised, without ``bias``
        and ``dtype``.

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
    return shared_stream(find_source(ref.source), ref, Draw(root, ref.label, seed), raw)


# A stream of a table is a few label arrays beside the shared table; one of a generator is its drawn rows
# (2.4 MB for the defaults of arow-synthetic). The 45 pairs of a digit set fit, so that a study which walks
# through them with every algorithm derives each once.
@cached(
    LRUCache(maxsize=64),
    lambda source, ref, draw, raw: (ref, raw, source.identity(_options(source, ref, raw), draw)),
    condition=Condition(),
)
def shared_stream(source: Source, ref: TaskRef, draw: Draw, raw: bool) -> Stream:
    """Return the stream of a task, derived once in this process however many threads ask."""
    table = source.table(_options(source, ref, raw), draw)
    return derive(ref, table, source.fingerprint(ref), source.groupings)


def _options(source: Source, ref: TaskRef, raw: bool) -> dict[str, Value]:
    options = source.options_of(ref)
    return raw_options(options) if raw else options
