"""Sources in files, parsed once: what they have in common, public sets, and families of public sets."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from ..errors import InputError, did_you_mean
from .catalogue.catalogue import CATALOGUE
from .io.checksums import file_sha256
from .pins import pinned
from .public.declarations import Family, PublicSet, StandIn, arranged
from .public.download import data_folder, locate, present
from .sources import Dataset, DatasetRow, FixedSource, offered_tasks
from .tables.cache import converted_classes, converted_fingerprint, converted_notes, converted_table
from .tables.features import apply_feature_options
from .tables.options import Option, Options
from .tables.stream import Table
from .tables.tasks import TaskRef


class ConvertedSource(FixedSource):
    """A source in files: parsed once, memory-mapped from then on."""

    @abstractmethod
    def parse(self, options: Options) -> Table:
        """Parse the files."""

    @abstractmethod
    def files(self, options: Options, *, download: bool = True) -> tuple[Path, ...]:
        """Return the paths of the files, downloaded when missing, if that is wanted.

        Raises
        ------
        InputError
            When one cannot be had.
        """

    def fetchable(self, options: Options) -> bool:
        """Return whether files that are not there can be downloaded."""
        return False

    @abstractmethod
    def recipe_of(self, files: tuple[Path, ...], options: Options) -> dict[str, Any]:
        """Return the recipe of a table that is parsed from these files."""

    def recipe(self, options: Options) -> dict[str, Any]:
        return pinned(self.name, options) or self.recipe_of(self.files(options), options)

    def notes(self, options: Options) -> tuple[str, ...]:
        return converted_notes(self.recipe(options))

    def read(self, recipe: Mapping[str, Any], options: Options) -> Table:
        return converted_table(recipe, partial(self._parse_unchanged, recipe, options))

    def content(self, options: Options) -> str:
        recipe = self.recipe(options)
        return converted_fingerprint(recipe, partial(self._parse_unchanged, recipe, options))

    def classes(self, options: Options) -> tuple[str, ...]:
        recipe = self.recipe(options)
        return converted_classes(recipe, partial(self._parse_unchanged, recipe, options))

    def _parse_unchanged(self, recipe: Mapping[str, Any], options: Options) -> Table:
        table = apply_feature_options(self.name, self.parse(options), options)
        if self.recipe_of(self.files(options), options) != recipe:
            raise InputError(f"data set {self.name!r}: a file changed while it was being read; run again")
        return table


class PublicSource(ConvertedSource):
    """A public set, in the user's folder, in the cache or on the network."""

    def __init__(self, entry: PublicSet) -> None:
        self.entry = entry
        self.name, self.groupings, self.task_lists = entry.name, entry.groupings, entry.task_lists

    def options(self, given: Options) -> Mapping[str, Option]:
        return self.entry.options

    def classes(self, options: Options) -> tuple[str, ...]:
        return self.entry.classes or super().classes(options)

    def has_test(self, options: Options) -> bool:
        return bool(self.entry.counts_test) and not options["join"]

    def fetchable(self, options: Options) -> bool:
        return self.state() == "can be fetched"

    def files(self, options: Options, *, download: bool = True) -> tuple[Path, ...]:
        if download:
            return self.locate()
        paths = {file.name: present(self.entry, file) for file in self.entry.files}
        missing = [name for name, path in paths.items() if path is None]
        if missing:
            raise InputError(f"data set {self.name!r}: {missing[0]} is not there")
        return tuple(path for path in paths.values() if path is not None)

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
            official_split=bool(entry.counts_test),
            tasks=offered_tasks(entry.classes, *entry.groupings, *entry.task_lists),
            licence=entry.licence,
            note=entry.note,
            state=self.state(),
            title=entry.title,
            source=entry.source,
        )

    def rows(self) -> int:
        """Return the published number of rows; of what stands in for the set, where that is what there is."""
        stand_in = self._stand_in()
        return sum(self.entry.counts if stand_in is None else stand_in.counts) + sum(self.entry.counts_test)

    def state(self) -> str:
        """Return whether the files are there, as `DatasetRow.state`."""
        entry = self.entry
        places = [present(entry, file) for file in entry.files]
        missing = [file for file, place in zip(entry.files, places, strict=True) if place is None]
        if missing:
            wanting = [file.name for file in missing if not file.addresses]
            if not wanting:
                return "can be fetched"
            source = f" ({entry.source})" if entry.source else ""
            return f"needs your copy: put {', '.join(wanting)} in SINGLEPASS_DATA{source}"
        folder = data_folder()
        stand_in = self._stand_in()
        if stand_in is not None:
            return f"present ({stand_in.remark})"
        own = folder is not None and all(folder in place.parents for place in places if place is not None)
        return "present" if own else "present (cache)"

    def _stand_in(self) -> StandIn | None:
        entry = self.entry
        places = [place.as_posix() for file in entry.files if (place := present(entry, file)) is not None]
        for name, stand_in in entry.stand_ins.items():
            if any(place.endswith(f"/{name}") for place in places):
                return stand_in
        return None


class FamilyDataset(Dataset):
    """Public sets under one name: each of its tasks has a source of its own."""

    def __init__(self, family: Family) -> None:
        self.family = family
        self.members = {part: PublicSource(CATALOGUE[name]) for part, name in family.members.items()}

    def tasks(self, label: str, task: str, given: Options) -> list[TaskRef]:
        """Return a task for each part that `task` names: all, a named list of parts, or one part."""
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
        # The parts share their files.
        return tuple(dict.fromkeys(path for member in self.members.values() for path in member.locate()))

    def describe(self) -> DatasetRow:
        """Describe a family: the rows of all its tasks together, the features of the widest."""
        members = list(self.members.values())
        first = members[0].entry
        same = all(member.entry.classes == first.classes for member in members)
        parts = (*self.family.groups, *self.members)
        return DatasetRow(
            name=self.family.name,
            kind="public",
            shape=(sum(each.rows() for each in members), max(each.entry.n_features for each in members)),
            classes=first.classes if same else tuple(self.members),
            official_split=bool(first.counts_test),
            tasks=(self.family.task, *(f"{self.family.task}:{part}" for part in parts)),
            licence=first.licence,
            note=first.note,
            state=members[0].state(),
            title=self.family.title,
            source=first.source,
        )
