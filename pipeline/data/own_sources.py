"""Read data sets from files: users' files, folders, patterns and URLs, OpenML's files, and public sets."""

from __future__ import annotations

import functools
import glob
import os
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from threading import Condition
from typing import Any

from cachetools import LRUCache, cached

from ..errors import InputError, did_you_mean
from .catalogue.download import data_folder, locate, present
from .catalogue.openml import openml_set
from .catalogue.public import CATALOGUE, Family, PublicFile, PublicSet, StandIn, arranged
from .formats.arff_files import ArffFile
from .formats.columns import Asked, lay_out
from .formats.encoding import Encoder, survey
from .formats.files import OPENML_OPTIONS, file_options, format_by_suffix, open_columns, read_files
from .io.reading import file_sha256
from .pins import pinned
from .remote import copies, is_url, names_at
from .sources import Dataset, DatasetRow, FixedSource, offered_tasks
from .tables.cache import converted_table, kept_manifest, recipe_key
from .tables.features import apply_feature_options
from .tables.options import Option, Options, names_of
from .tables.stream import Table, content_fingerprint
from .tables.tasks import TaskRef


def files_at(place: str, wanted: str = "", *, download: bool = True) -> tuple[Path, ...]:
    """Return the files of a place, sorted by name.

    A place is a file, which need not exist; a folder, for all data files in it and below; a pattern (``*``,
    ``?``, ``[…]``, ``**``); or a URL of any of these. `wanted` is the format that the data set names, if any;
    see `_of_one_format`. With `download` the files of a URL are copied to this machine. Symbolic links are
    followed, but a file is not listed again by a link to it. Raises InputError if there are no files, files
    of several formats, a link to nothing, or a URL that cannot be read.
    """
    if is_url(place):
        return copies(place, _names_of_one_format(place, wanted, download=download), download=download)
    path = Path(place)
    if path.is_dir():
        below = sorted(_files_below(path))
        # A link to nothing without a suffix may have led to a folder of data.
        _refuse_dangling(each for each in below if not each.suffix)
        chosen = [Path(name) for name in _of_one_format(place, list(map(str, below)), wanted)]
        _refuse_dangling(chosen)
        return _once(each for each in chosen if each.is_file())
    if not glob.has_magic(place) or path.exists():
        return (path,)
    matching = list(map(Path, sorted(glob.glob(place, recursive=True))))
    _refuse_dangling(matching)
    found = _once(each for each in matching if each.is_file())
    if not found:
        raise InputError(f"{place}: no file matches this pattern")
    return found


def _files_below(folder: Path) -> list[Path]:
    """Return the visible files of a folder and of those below it, also behind links, each folder once."""
    found: list[Path] = []
    seen: set[str] = set()
    # Linked folders are walked last, so that the files of a folder inside keep the names without a link.
    ahead = [folder]
    for start in ahead:
        for place, folders, names in os.walk(start):
            # Skip hidden files that programs write into folders, such as _SUCCESS and .crc files.
            folders[:] = sorted(name for name in folders if not name.startswith((".", "_")))
            real = os.path.realpath(place)
            if real in seen:
                folders.clear()
                continue
            seen.add(real)
            found += [Path(place, name) for name in names if not name.startswith((".", "_"))]
            ahead += [link for name in folders if (link := Path(place, name)).is_symlink()]
    return found


def _once(paths: Iterable[Path]) -> tuple[Path, ...]:
    """Return paths in their order, without those through more links than another path to the same file.

    Links to one file are all kept if it has no other name here: programs that store data by their content,
    such as git-annex, keep equal files once.
    """
    paths, real_folder = list(paths), functools.cache(os.path.realpath)
    by_file: dict[str, list[Path]] = {}
    for path in paths:
        is_link = path.is_symlink()
        real = os.path.realpath(path) if is_link else os.path.join(real_folder(path.parent), path.name)
        by_file.setdefault(real, []).append(path)
    dropped: set[Path] = set()
    for same in by_file.values():
        if len(same) > 1:
            least = min(map(_n_links, same))
            dropped.update(path for path in same if _n_links(path) > least)
    return tuple(path for path in paths if path not in dropped)


def _n_links(path: Path) -> int:
    return sum(each.is_symlink() for each in (path, *path.parents))


def _refuse_dangling(paths: Iterable[Path]) -> None:
    for path in paths:
        # The resolved path exists also if it was found through more links than the system follows.
        if path.is_symlink() and not os.path.exists(os.path.realpath(path)):
            raise InputError(
                f"{path}: is a link to {os.readlink(path)}, which does not exist; get this file or folder, "
                "or remove the link"
            )


def _is_here(place: str, wanted: str) -> bool:
    """Return whether all files of a place (file, folder or pattern) exist on this machine."""
    try:
        return all(path.exists() for path in files_at(place, wanted))
    except InputError:
        return False


def _names_of_one_format(url: str, wanted: str = "", *, download: bool = True) -> list[str]:
    names = names_at(url, download=download)
    return _of_one_format(url, names, wanted) if len(names) > 1 else list(names)


def _of_one_format(place: str, names: Sequence[str], wanted: str) -> list[str]:
    """Return the names that end in a known suffix; raise InputError if none has one or formats differ.

    With a format `wanted`, those of this format are returned if formats differ, and all names, such as
    part-00000, if no suffix is known.
    """
    formats = {name: format_by_suffix(PurePosixPath(name)) for name in names}
    found = sorted({found for found in formats.values() if found})
    if wanted in found:
        found = [wanted]
    elif wanted and names and not found:
        return list(names)
    if not found:
        advice = "" if wanted else "; set format to read files without such a suffix"
        raise InputError(
            f"{place}: no data file in this folder (by suffix, such as .parquet or .csv){advice}"
        )
    if len(found) > 1:
        raise InputError(
            f"{place}: files of several formats ({', '.join(found)}); select one, such as format = "
            f'"{found[0]}"'
        )
    return [name for name in names if formats[name] in found]


class ConvertedSource(FixedSource):
    """Define a data set in files, which are parsed once into a cached table, memory-mapped from then on."""

    @abstractmethod
    def parse(self, options: Options) -> Table:
        """Parse the files into a table; the caller applies the feature options."""

    @abstractmethod
    def files(self, options: Options, *, download: bool = True) -> tuple[Path, ...]:
        """Return the paths of all files, fetched first if `download`; raise InputError if one is missing."""

    def fetchable(self, options: Options) -> bool:
        """Return whether missing files can be downloaded."""
        return False

    def is_here(self, options: Options, *, parsed: bool = False) -> bool:
        try:
            files = self.files(options, download=False)
        except InputError:
            return False
        there = all(path.exists() for path in files)
        return there and not (parsed and kept_manifest(self.recipe_of(files, options)) is None)

    @abstractmethod
    def recipe_of(self, files: tuple[Path, ...], options: Options) -> dict[str, Any]:
        """Return all that determines the table parsed from these files, which is its key in the cache."""

    def recipe(self, options: Options) -> dict[str, Any]:
        return pinned(self.name, options) or self.recipe_of(self.files(options), options)

    def notes(self, options: Options) -> tuple[str, ...]:
        # Manifests of older versions have no notes or cautions.
        kept = kept_manifest(self.recipe(options)) or {}
        return *kept.get("notes", ()), *kept.get("cautions", ())

    def cautions(self, options: Options) -> tuple[str, ...]:
        kept = kept_manifest(self.recipe(options)) or {}
        return *super().cautions(options), *kept.get("cautions", ())

    def read(self, recipe: Mapping[str, Any], options: Options) -> Table:
        def parse() -> Table:
            # A cluster's worker may have no file or another one: it has used the table that it was sent.
            sent = pinned(self.name, options) is not None
            remedy = "the cached table was damaged or is missing: run again with --retry-failed"
            try:
                table = apply_feature_options(self.name, self.parse(options), options)
            except InputError as error:
                raise (InputError(f"{error}; {remedy}") if sent else error) from None
            if self.recipe_of(self.files(options), options) != recipe:
                changed = f"a file differs from the study's, and {remedy}"
                raise InputError(
                    f"data set {self.name!r}: "
                    f"{changed if sent else 'a file changed while it was being read; run again'}"
                )
            return table

        return converted_table(recipe, parse)

    def content(self, options: Options) -> str:
        recipe = self.recipe(options)
        kept = kept_manifest(recipe)
        return str(kept["fingerprint"]) if kept else content_fingerprint(self.read(recipe, options))

    def classes(self, options: Options) -> tuple[str, ...]:
        recipe = self.recipe(options)
        kept = kept_manifest(recipe)
        return tuple(kept["classes"]) if kept else self.read(recipe, options).classes


class PublicSource(ConvertedSource):
    """Read a public data set from the user's folder, the cache or the network."""

    def __init__(self, entry: PublicSet) -> None:
        self.entry = entry
        self.name, self.groupings, self.task_lists = entry.name, entry.groupings, entry.task_lists

    def options(self, given: Options) -> Mapping[str, Option]:
        return self.entry.options

    def classes(self, options: Options) -> tuple[str, ...]:
        return self.entry.classes or super().classes(options)

    def has_test(self, options: Options) -> bool:
        return self.entry.official_split and not options["join"]

    def fetchable(self, options: Options) -> bool:
        return self.state() == "can be fetched"

    def files(self, options: Options, *, download: bool = True) -> tuple[Path, ...]:
        if not download and (missing := self._missing()):
            raise InputError(f"data set {self.name!r}: {missing[0].name} is missing")
        return self.locate()

    def recipe_of(self, files: tuple[Path, ...], options: Options) -> dict[str, Any]:
        hashes = [file_sha256(path) for path in files]
        return {"set": self.name, "version": self.entry.version, "files": hashes, "options": dict(options)}

    def parse(self, options: Options) -> Table:
        table = self.entry.read(self.locate(), verify=bool(options["verify"]))
        return arranged(self.entry, table, dense=options["dense"], join=bool(options["join"]))

    def locate(self) -> tuple[Path, ...]:
        return locate(self.entry)

    def describe(self) -> DatasetRow | None:
        entry = self.entry
        if entry.family:
            return None
        return DatasetRow(
            name=self.name,
            kind="public",
            shape=(self.rows(), entry.n_features),
            classes=entry.classes,
            official_split=entry.official_split,
            tasks=offered_tasks(len(entry.classes) or entry.n_classes, *entry.groupings, *entry.task_lists),
            licence=entry.licence,
            note=entry.note,
            state=self.state(),
            title=entry.title,
            source=entry.source,
        )

    def rows(self) -> int:
        """Return the published number of rows; if only a published part of the set is present, the part's."""
        stand_in = self._stand_in()
        counts = self.entry.counts if stand_in is None else stand_in.counts
        return sum(counts) + sum(self.entry.counts_test) or self.entry.n_rows

    def state(self) -> str:
        """Return in words whether the files are present, such as "present" or "can be fetched"."""
        entry = self.entry
        missing = self._missing()
        if missing:
            unavailable = [file.name for file in missing if not file.addresses]
            if not unavailable:
                return "can be fetched"
            source = f" ({entry.source})" if entry.source else ""
            return f"needs your copy: put {', '.join(unavailable)} in SINGLEPASS_DATA{source}"
        folder = data_folder()
        stand_in = self._stand_in()
        if stand_in is not None:
            return f"present ({stand_in.remark})"
        places = self.files({}, download=False)
        own = folder is not None and all(folder in place.parents for place in places)
        return "present" if own else "present (cache)"

    def _missing(self) -> list[PublicFile]:
        return [file for file in self.entry.files if present(self.entry, file) is None]

    def _stand_in(self) -> StandIn | None:
        entry = self.entry
        places = [place.as_posix() for file in entry.files if (place := present(entry, file)) is not None]
        for name, stand_in in entry.stand_ins.items():
            if any(place.endswith(f"/{name}") for place in places):
                return stand_in
        return None


class FamilyDataset(Dataset):
    """Group public sets under one name; each task of the family has its own source."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.members = {part: PublicSource(CATALOGUE[name]) for part, name in family.members.items()}

    def tasks(self, label: str, task: str, given: Options) -> list[TaskRef]:
        """Return one task for each part that `task` selects: all parts, a named list of them, or one part."""
        family = self.family
        part = task.removeprefix(f"{family.task}:")
        if task in ("auto", family.task):
            parts = tuple(family.members)
        elif part in family.groups:
            parts = family.groups[part]
        elif part in family.members:
            parts = (part,)
        else:
            known = [family.task, *family.groups, *family.members]
            raise InputError(f"data set {label!r}: unknown task {task!r}; {did_you_mean(part, known)}")
        return [
            replace(ref, parent=label)
            for each in parts
            for ref in self.members[each].tasks(f"{label}[{each}]", "binary", given)
        ]

    def locate(self) -> tuple[Path, ...]:
        # List each file once: all data sets of a family are read from the same files.
        return tuple(dict.fromkeys(path for member in self.members.values() for path in member.locate()))

    def describe(self) -> DatasetRow:
        """Describe a family of data sets: the rows of all its tasks, and the largest number of features."""
        members = list(self.members.values())
        first = members[0].entry
        same = all(member.entry.classes == first.classes for member in members)
        parts = (*self.family.groups, *self.members)
        return DatasetRow(
            name=self.family.name,
            kind="public",
            shape=(sum(each.rows() for each in members), max(each.entry.n_features for each in members)),
            classes=first.classes if same else tuple(self.members),
            official_split=first.official_split,
            tasks=(self.family.task, *(f"{self.family.task}:{part}" for part in parts)),
            licence=first.licence,
            note=first.note,
            state=members[0].state(),
            title=self.family.title,
            source=first.source,
        )


class FileSource(ConvertedSource):
    """Read the user's own data, with or without a test part, from a file, folder, pattern or URL."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.name = place

    def options(self, given: Options) -> Mapping[str, Option]:
        url = is_url(self.place)
        # Leave out a URL's query, so that the name ends with the suffix.
        named = Path(self.place.partition("?")[0] if url else self.place)
        if not (given.get("format") or format_by_suffix(named)):
            named = Path(_names_of_one_format(self.place)[0]) if url else files_at(self.place)[0]
            if not (url or named.exists()):
                raise InputError(f"{named}: no such file or folder")
        return file_options(named, given)

    def files(self, options: Options, *, download: bool = True) -> tuple[Path, ...]:
        train, test = self._parts(options, download=download)
        return *train, *test

    def recipe_of(self, files: tuple[Path, ...], options: Options) -> dict[str, Any]:
        # A file is identified by suffix (format and compression) and content, so it can be moved or renamed.
        hashes = [[path.suffixes[-2:], file_sha256(path)] for path in files]
        recipe = {"files": hashes, "options": _plain(options)}
        test, wanted = str(options["test"]), str(options["format"])
        n_train = len(files) - (len(files_at(test, wanted, download=False)) if test else 0)
        _refuse_same_content(files[:n_train], files[n_train:])
        return recipe if n_train == 1 else {**recipe, "train": n_train}

    def parse(self, options: Options) -> Table:
        train, test = self._parts(options)
        try:
            return read_files(train, test, options)
        except InputError as error:
            # Replace names of local copies in the message by their URL, since users know only the URL.
            message = str(error)
            for place, paths in ((self.place, train), (str(options["test"]), test)):
                for path in paths if is_url(place) else ():
                    shown = place if len(paths) == 1 else f"{place} ({path.name})"
                    message = message.replace(str(path), shown)
            raise InputError(message) from None

    def has_test(self, options: Options) -> bool:
        return bool(options["test"])

    # Cached, since rows with categories or missing values are read for it in full.
    @cached(
        LRUCache(maxsize=64),
        lambda self, options: recipe_key(self.recipe_of(self.files(options), options)),
        condition=Condition(),
    )
    def encoder(self, options: Options) -> Encoder | None:
        """Return how columns become features, reading rows only if necessary; None without columns."""
        asked, laid = Asked.of(options), []
        for path in self._parts(options)[0]:
            file = open_columns(path, options)
            if file is None:
                return None
            laid.append((file, lay_out(file, asked)))
        return survey(laid, asked)

    def fetchable(self, options: Options) -> bool:
        places = [place for place in (self.place, str(options["test"])) if place]
        wanted = str(options["format"])
        return any(map(is_url, places)) and all(is_url(place) or _is_here(place, wanted) for place in places)

    def _parts(self, options: Options, *, download: bool = True) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        test, wanted = str(options["test"]), str(options["format"])
        train = files_at(self.place, wanted, download=download)
        return train, files_at(test, wanted, download=download) if test else ()


class OpenMLSource(ConvertedSource):
    """Read an OpenML data set by its number."""

    # The name of an OpenML data set, also on the command line, is this prefix and its number.
    PREFIX = "openml:"

    def __init__(self, number: int) -> None:
        self.number = number
        self.name = f"{self.PREFIX}{number}"

    def options(self, given: Options) -> Mapping[str, Option]:
        return OPENML_OPTIONS

    def files(self, options: Options, *, download: bool = True) -> tuple[Path, ...]:
        return (openml_set(self.number, download=download)[1],)

    def recipe_of(self, files: tuple[Path, ...], options: Options) -> dict[str, Any]:
        entry, _ = openml_set(self.number, download=False)
        described = {"target": entry.target, "ignored": list(entry.ignored)}
        hashes = [file_sha256(path) for path in files]
        recipe = {"openml": self.number, "version": entry.version, "told": described}
        return {**recipe, "files": hashes, "options": _plain(options)}

    def parse(self, options: Options) -> Table:
        entry, path = openml_set(self.number)
        target = str(options["target"]) or entry.target
        named = {target, *(name for key in ("categorical", "text") for name in names_of(options, key))}
        asked = names_of(options, "ignore")
        # Some descriptions name columns that the file lacks.
        free = {*ArffFile(path).names} - {*named, *asked}
        ignored = (*asked, *(name for name in entry.ignored if name in free))
        given = {**options, "target": target, "ignore": ignored, "format": "arff", "test": ""}
        table = read_files((path,), (), given)
        checksum = f"md5 {entry.md5}" if entry.md5 else f"sha256 {entry.sha256}"
        origin = f"OpenML {entry.number}: {entry.name}, version {entry.version}, {checksum}"
        return replace(table, notes=(origin, *table.notes))

    def fetchable(self, options: Options) -> bool:
        return True

    def locate(self) -> tuple[Path, ...]:
        return (openml_set(self.number)[1],)


def _refuse_same_content(train: tuple[Path, ...], test: tuple[Path, ...]) -> None:
    """Raise an error for a test file that is a copy of a training file."""
    hashes = {file_sha256(path): path for path in train} if test else {}
    for path in test:
        same = hashes.get(file_sha256(path))
        if same is not None:
            raise InputError(
                f"{path}: the test file has the same content as the training file {same}; give another file, "
                "or leave test out to hold out a part of the rows"
            )


def _plain(options: Options) -> dict[str, Any]:
    """Return options as JSON values, without the path of a test file, which is identified by its content."""
    given = {key: value for key, value in options.items() if key != "test"}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in given.items()}
