"""Define the interface of all kinds of data sets: bundled sets, generators, files and public sets."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np
from cachetools import LRUCache, cached

from ..errors import NOT_IN_XML, InputError
from ..randomness import random_state
from .formats.labels import case_notes, class_name
from .tables.cache import recipe_key
from .tables.options import Option, Options, Value, resolve_options
from .tables.stream import Table
from .tables.tasks import Groupings, TaskLists, TaskRef, name_tasks, task_fingerprint


@dataclass(frozen=True)
class DatasetRow:
    """Describe one data set in the list that ``singlepass list`` shows."""

    #: The data set's name in a study.
    name: str
    #: Origin of the rows.
    kind: Literal["bundled", "generator", "public"]
    #: Numbers of rows (training and test part) and features; 0 if only known from the user's files.
    shape: tuple[int, int]
    classes: tuple[str, ...]
    #: Whether there is an official test part.
    official_split: bool
    #: Accepted values of ``task``, besides single classes and pairs.
    tasks: tuple[str, ...]
    #: Terms of use.
    licence: str
    #: A note on scaling, order or content of the rows.
    note: str
    #: ``"present"``, ``"present (cache)"``, ``"present (…)"`` with a remark if only a part of the set is
    #: present, ``"can be fetched"`` or ``"needs your copy: …"``.
    state: str
    #: A description of the data set, and its distributor; each is empty if unknown.
    title: str = ""
    source: str = ""


class Draw(NamedTuple):
    """Identify a stream of generated rows: the study's root seed, the task's label, the repetition's seed."""

    root: int
    label: str
    seed: int

    def random_state(self) -> np.random.RandomState:
        """Return the random generator that draws the rows."""
        return random_state(self.root, self.label, seed=self.seed, purpose="draw")


class Dataset(ABC):
    """Define the interface of what a study can name as a data set: it offers tasks, such as one per class."""

    @abstractmethod
    def tasks(self, label: str, task: str, given: Options) -> list[TaskRef]:
        """Return the tasks that a study selects from this data set, which it calls `label`."""

    def locate(self) -> tuple[Path, ...]:
        """Download missing files of the data set and return the paths of all its public files."""
        return ()

    def describe(self) -> DatasetRow | None:
        """Return the row for the list of data sets, or None to omit the data set."""
        return None


class Source(Dataset):
    """Define the interface of a data set whose tasks are all derived from one table of rows and classes."""

    name: str
    groupings: Groupings = MappingProxyType({})
    task_lists: TaskLists = MappingProxyType({})
    #: Whether all rows are drawn again for each repetition.
    is_drawn = False

    @property
    def differs_by_seed(self) -> bool:
        """Whether repetitions differ in their rows, or in the order in which the source gives them."""
        return self.is_drawn

    @abstractmethod
    def options(self, given: Options) -> Mapping[str, Option]:
        """Return the options that the data set accepts, given those that a study sets."""

    @abstractmethod
    def classes(self, options: Options) -> tuple[str, ...]:
        """Return the class names; the data are opened only if the names are not declared."""

    @abstractmethod
    def identity(self, options: Options, draw: Draw) -> Hashable:
        """Return a key of the table for caches; it differs whenever the rows may differ."""

    @abstractmethod
    def table(self, options: Options, draw: Draw) -> Table:
        """Return the read-only table with all rows of the data set; generators draw them for `draw`."""

    @abstractmethod
    def fingerprint(self, ref: TaskRef) -> str:
        """Return the fingerprint (hash) of the data of a task."""

    def has_test(self, options: Options) -> bool:
        """Return whether the data have an official test part, without opening them."""
        return False

    def is_here(self, options: Options, *, parsed: bool = False) -> bool:
        """Return whether the table can be made without a download and, with `parsed`, without parsing."""
        return True

    def notes(self, options: Options) -> tuple[str, ...]:
        """Return notes on how columns of files became features; empty if the files are not parsed yet."""
        return ()

    def cautions(self, options: Options) -> tuple[str, ...]:
        """Return those of the notes that are probably mistakes in the data."""
        return tuple(case_notes(self.classes(options)))

    def tasks(self, label: str, task: str, given: Options) -> list[TaskRef]:
        """Return the tasks that a study's key `task` selects, by classes, groupings and task lists."""
        given = dict(given)
        positive = given.pop("positive", "")
        declared = self.options(given)
        options = resolve_options(label, given, declared)
        classes = self.classes(options)
        if not isinstance(positive, str):
            # A class true or 1.0 is named "true" or "1", but "True" or "1.0" if a file has it as text.
            # NaN names no class, and is refused as such.
            text = str(positive)
            positive = text if text in classes else class_name(positive) or text
        found = name_tasks(
            label,
            classes,
            task,
            groupings=self.groupings,
            positive=positive,
            task_lists=self.task_lists,
        )
        # Names of tasks go to figures. Other tasks may have such classes.
        for name in filter(NOT_IN_XML.search, classes):
            if any(name in each.removeprefix(label) for each, _ in found):
                raise InputError(
                    f"data set {self.name!r}: the class {name!r} has a control or invalid character, which "
                    "the name of its task cannot have: rename the class in the data"
                )
        kept = tuple(sorted((key, value) for key, value in options.items() if value != declared[key].default))
        return [TaskRef(each, self.name, resolved, label, kept) for each, resolved in found]

    def options_of(self, ref: TaskRef) -> dict[str, Value]:
        """Return all options of a task's data set with their values, including defaults."""
        given = dict(ref.options)
        return resolve_options(ref.label, given, self.options(given))


class FixedSource(Source):
    """Define the interface of a data set with fixed rows; fingerprints are hashes of the table's content."""

    @abstractmethod
    def recipe(self, options: Options) -> dict[str, Any]:
        """Return everything that determines the table's content, such as hashes of files, as JSON values."""

    @abstractmethod
    def read(self, recipe: Mapping[str, Any], options: Options) -> Table:
        """Load the table, from the cache if possible, and return it read-only."""

    @abstractmethod
    def content(self, options: Options) -> str:
        """Return the fingerprint (hash) of the table's content."""

    def identity(self, options: Options, draw: Draw) -> Hashable:
        return recipe_key(self.recipe(options))

    def table(self, options: Options, draw: Draw) -> Table:
        return shared_table(self, self.recipe(options), options)

    def fingerprint(self, ref: TaskRef) -> str:
        return task_fingerprint(self.content(self.options_of(ref)), ref.task, self.groupings)


# Cached, because all tasks of a data set share a table. This is cheap: tables are memory-mapped or small.
@cached(LRUCache(maxsize=16), lambda source, recipe, options: recipe_key(recipe), condition=Condition())
def shared_table(source: FixedSource, recipe: Mapping[str, Any], options: Options) -> Table:
    """Return the table of a data set; it is read once per process, even if several threads ask for it."""
    return source.read(recipe, options)


def offered_tasks(n_classes: int, *groupings: str) -> tuple[str, ...]:
    """Return the values of a study's ``task`` that a data set accepts, besides single classes and pairs."""
    return ("binary",) if n_classes == 2 else ("one-vs-rest", "pairs", *groupings, "multiclass")
