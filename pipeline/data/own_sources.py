"""Sources that a user names: files, folders, patterns and URLs, and data sets of OpenML."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..errors import InputError
from .file_sources import ConvertedSource
from .formats.files import OPENML_OPTIONS, file_options, format_by_suffix, read_files
from .io.checksums import file_sha256
from .places import files_at, name_at, suffixed
from .public.openml import openml_set
from .remote import is_url
from .tables.options import Option, Options, names_of
from .tables.stream import Table


class FileSource(ConvertedSource):
    """The user's own data, with or without a test part, at a place (see `files_at`)."""

    def __init__(self, place: str) -> None:
        self.place = place
        self.name, self.groupings, self.task_lists = place, {}, {}

    def options(self, given: Options) -> Mapping[str, Option]:
        named = Path(suffixed(self.place))
        if given.get("format") or format_by_suffix(named):
            return file_options(named, given)
        return file_options(Path(name_at(self.place)), given)

    def files(self, options: Options, *, download: bool = True) -> tuple[Path, ...]:
        train, test = self._parts(options, download=download)
        return *train, *test

    def recipe_of(self, files: tuple[Path, ...], options: Options) -> dict[str, Any]:
        # The suffix decides format and compression; the folder a file lies in decides nothing.
        hashes = [[path.suffixes[-2:], file_sha256(path)] for path in files]
        recipe = {"files": hashes, "options": _plain(options, leave_out="test")}
        train, test = self._parts(options, download=False)
        _refuse_same_content(train, test)
        return recipe if len(train) == 1 else {**recipe, "train": len(train)}

    def parse(self, options: Options) -> Table:
        train, test = self._parts(options)
        try:
            return read_files(train, test, options)
        except InputError as error:
            # Nobody has seen the names of copies.
            message = str(error)
            for place, paths in ((self.place, train), (str(options["test"]), test)):
                for path in paths if is_url(place) else ():
                    shown = place if len(paths) == 1 else f"{place} ({path.name})"
                    message = message.replace(str(path), shown)
            raise InputError(message) from None

    def has_test(self, options: Options) -> bool:
        return bool(options["test"])

    def fetchable(self, options: Options) -> bool:
        return is_url(self.place)

    def _parts(self, options: Options, *, download: bool = True) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
        test = str(options["test"])
        train = files_at(self.place, download=download)
        return train, files_at(test, download=download) if test else ()


class OpenMLSource(ConvertedSource):
    """A data set of OpenML, by its number."""

    # What its name begins with, in references and on the command line.
    PREFIX = "openml:"

    def __init__(self, number: int) -> None:
        self.number = number
        self.name, self.groupings, self.task_lists = f"{self.PREFIX}{number}", {}, {}

    def options(self, given: Options) -> Mapping[str, Option]:
        return OPENML_OPTIONS

    def files(self, options: Options, *, download: bool = True) -> tuple[Path, ...]:
        return (openml_set(self.number, download=download)[1],)

    def recipe_of(self, files: tuple[Path, ...], options: Options) -> dict[str, Any]:
        entry, _ = openml_set(self.number, download=False)
        told = {"target": entry.target, "ignored": list(entry.ignored)}
        return {"openml": self.number, "version": entry.version, "told": told} | {
            "files": [file_sha256(path) for path in files],
            "options": _plain(options),
        }

    def parse(self, options: Options) -> Table:
        entry, path = openml_set(self.number)
        target = str(options["target"]) or entry.target
        named = {target, *(name for key in ("categorical", "text") for name in names_of(options, key))}
        kept = names_of(options, "ignore")
        ignored = (*kept, *(name for name in entry.ignored if name not in {*named, *kept}))
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
    """Refuse a test file that is a copy of a training file."""
    hashes = {file_sha256(path): path for path in train} if test else {}
    for path in test:
        same = hashes.get(file_sha256(path))
        if same is not None:
            raise InputError(
                f"{path}: the test file has the same content as the training file {same}: give another one, "
                "or leave test out, and a part of the rows is held out"
            )


def _plain(options: Options, *, leave_out: str = "") -> dict[str, Any]:
    """Return options as JSON has them."""
    return {
        key: list(value) if isinstance(value, tuple) else value
        for key, value in options.items()
        if key != leave_out
    }
