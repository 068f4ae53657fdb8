"""From a name or a path to a source: something with classes, options, groupings and a table."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from ..errors import InputError, did_you_mean
from .catalogue.bundled import BUNDLED, BundledSet
from .catalogue.catalogue import ALIASES, CATALOGUE, FAMILIES, PublicSet
from .catalogue.declarations import arranged
from .catalogue.download import locate
from .catalogue.generators import GENERATORS
from .formats.files import file_options, read_file
from .io.checksums import file_sha256
from .io.single_flight import Memo
from .tables.cache import converted_classes, converted_fingerprint, converted_table, recipe_key
from .tables.features import apply_feature_options
from .tables.options import Option, Options
from .tables.stream import Table, content_fingerprint, freeze
from .tables.tasks import Groupings, Named

# Tables are memory-mapped or small, so keeping a few is cheap; every task of a set shares one.
_tables: Memo[Table] = Memo(size=16)
# Of bundled sets; the others have theirs written beside the parsed table.
_fingerprints: Memo[str] = Memo(size=64)


class Source(Protocol):
    """What the tasks of a data set are derived from, generators apart (they have no fixed table)."""

    @property
    def groupings(self) -> Groupings:
        """Named groupings of the classes."""

    @property
    def named(self) -> Named:
        """Named lists of tasks."""

    def declared(self, given: Options) -> Mapping[str, Option]:
        """Return the options that the source takes."""

    def classes(self, options: Options) -> tuple[str, ...]:
        """Return the class names, without opening the data when they are declared."""

    def identity(self, options: Options) -> Hashable:
        """Return a value that differs whenever the data may differ."""

    def fingerprint(self, options: Options) -> str:
        """Return the content fingerprint of the table."""

    def table(self, options: Options) -> Table:
        """Return the table, read-only."""


@dataclass(frozen=True)
class _Bundled:
    entry: BundledSet

    @property
    def groupings(self) -> Groupings:
        return self.entry.groupings

    @property
    def named(self) -> Named:
        return {}

    def declared(self, given: Options) -> Mapping[str, Option]:
        return self.entry.options

    def classes(self, options: Options) -> tuple[str, ...]:
        return self.entry.classes

    def identity(self, options: Options) -> Hashable:
        return (self.entry.name, tuple(sorted(options.items())))

    def fingerprint(self, options: Options) -> str:
        return _fingerprints.get(self.identity(options), lambda: content_fingerprint(self.table(options)))

    def table(self, options: Options) -> Table:
        return _tables.get(
            self.identity(options),
            lambda: freeze(apply_feature_options(self.entry.name, self.entry.load(), options)),
        )


class _Converted(ABC):
    """A source in files: parsed once, memory-mapped from then on."""

    name: str

    @abstractmethod
    def _recipe(self, options: Options) -> dict[str, Any]:
        """Return what decides the content of the conversion, beside the files themselves."""

    @abstractmethod
    def _parse(self, options: Options) -> Table:
        """Parse the files."""

    def _parse_unchanged(self, recipe: Mapping[str, Any], options: Options) -> Table:
        table = apply_feature_options(self.name, self._parse(options), options)
        if self._recipe(options) != recipe:
            raise InputError(f"data set {self.name!r}: a file changed while it was being read; run again")
        return table

    def identity(self, options: Options) -> Hashable:
        return recipe_key(self._recipe(options))

    def fingerprint(self, options: Options) -> str:
        recipe = self._recipe(options)
        return converted_fingerprint(recipe, partial(self._parse_unchanged, recipe, options))

    def classes(self, options: Options) -> tuple[str, ...]:
        recipe = self._recipe(options)
        return converted_classes(recipe, partial(self._parse_unchanged, recipe, options))

    def table(self, options: Options) -> Table:
        recipe = self._recipe(options)
        parse = partial(self._parse_unchanged, recipe, options)
        return _tables.get(recipe_key(recipe), lambda: converted_table(recipe, parse))


class _Public(_Converted):
    def __init__(self, entry: PublicSet) -> None:
        self.entry = entry
        self.name = entry.name

    @property
    def groupings(self) -> Groupings:
        return self.entry.groupings

    @property
    def named(self) -> Named:
        return self.entry.named

    def declared(self, given: Options) -> Mapping[str, Option]:
        return self.entry.options

    def classes(self, options: Options) -> tuple[str, ...]:
        return self.entry.classes or super().classes(options)

    def _recipe(self, options: Options) -> dict[str, Any]:
        hashes = [file_sha256(path) for path in locate(self.entry)]
        named = {"set": self.entry.name, "version": self.entry.version}
        return {**named, "files": hashes, "options": dict(options)}

    def _parse(self, options: Options) -> Table:
        table = self.entry.read(locate(self.entry), verify=bool(options["verify"]))
        return arranged(self.entry, table, dense=options["dense"], join=bool(options["join"]))


class _File(_Converted):
    def __init__(self, path: Path) -> None:
        self.path = path
        self.name = str(path)

    @property
    def groupings(self) -> Groupings:
        return {}

    @property
    def named(self) -> Named:
        return {}

    def declared(self, given: Options) -> Mapping[str, Option]:
        return file_options(self.path, given)

    def _recipe(self, options: Options) -> dict[str, Any]:
        paths = [self.path, *([Path(str(options["test"]))] if options["test"] else [])]
        # The suffix decides format and compression; the folder a file lies in decides nothing.
        hashes = [[path.suffixes[-2:], file_sha256(path)] for path in paths]
        others = {key: value for key, value in options.items() if key != "test"}
        return {"files": hashes, "options": others}

    def _parse(self, options: Options) -> Table:
        return read_file(self.path, options)


def source_names() -> list[str]:
    """Return every data set name that needs no path, sorted."""
    public = [name for name, entry in CATALOGUE.items() if not entry.family]
    return sorted([*BUNDLED, *GENERATORS, *public, *FAMILIES, *ALIASES])


def find_source(source: str) -> Source:
    """Return the source of a name, or of an absolute path.

    Parameters
    ----------
    source : str
        Name of a bundled or public set, or the path of a file.

    Raises
    ------
    InputError
        When there is none; the nearest name is suggested.
    """
    if Path(source).is_absolute():
        return _File(Path(source))
    if source in BUNDLED:
        return _Bundled(BUNDLED[source])
    if source in CATALOGUE:
        return _Public(CATALOGUE[source])
    raise InputError(
        f'unknown data set {source!r}; {did_you_mean(source, source_names())}; your own file needs path = "…"'
    )
