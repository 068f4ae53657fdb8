"""Define the interface of data sets from which tasks are derived: bundled sets, generators and files."""

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

from ..randomness import random_state
from .tables.cache import recipe_key
from .tables.options import Option, Options, Value, resolve_options
from .tables.stream import Table
from .tables.tasks import Groupings, TaskLists, TaskRef, name_tasks, task_fingerprint


@dataclass(frozen=True)
class DatasetRow:
    """Describe one data set in the list of data sets."""

    #: Name in a study.
    name: str
    #: Origin of the rows.
    kind: Literal["bundled", "generator", "public"]
    #: Rows (training and test part together) and features; 0 if known only from the user's copy.
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
    #: A description, and the distributor; each is empty if unknown.
    title: str = ""
    source: str = ""


class Draw(NamedTuple):
    """Identify the study, task and repetition of a stream; generators draw other rows for each."""

    root: int
    label: str
    seed: int

    def random_state(self) -> np.random.RandomState:
        """Return the random generator that draws the rows."""
        return random_state(self.root, self.label, seed=self.seed, purpose="draw")


class Dataset(ABC):
    """Define what a data set entry of a study can name: one or more tasks, such as one per class."""

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
    """Define a data set whose tasks are all derived from one table."""

    name: str
    groupings: Groupings = MappingProxyType({})
    task_lists: TaskLists = MappingProxyType({})
    #: Whether the rows are drawn again for each repetition.
    is_drawn = False

    @abstractmethod
    def options(self, given: Options) -> Mapping[str, Option]:
        """Return the options that the source accepts."""

    @abstractmethod
    def classes(self, options: Options) -> tuple[str, ...]:
        """Return the class names; declared names do not require opening the data."""

    @abstractmethod
    def identity(self, options: Options, draw: Draw) -> Hashable:
        """Return a value that differs whenever the table may differ."""

    @abstractmethod
    def table(self, options: Options, draw: Draw) -> Table:
        """Return the table, read-only."""

    @abstractmethod
    def fingerprint(self, ref: TaskRef) -> str:
        """Return the fingerprint of a task's data."""

    def has_test(self, options: Options) -> bool:
        """Return whether the data have an official test part, without opening them."""
        return False

    def is_here(self, options: Options, *, parsed: bool = False) -> bool:
        """Return whether the table can be made without a download and, with `parsed`, without parsing."""
        return True

    def notes(self, options: Options) -> tuple[str, ...]:
        """Return notes on how the features were made; empty if they have not been made yet."""
        return ()

    def tasks(self, label: str, task: str, given: Options) -> list[TaskRef]:
        """Return the tasks of an entry, according to its classes, groupings and task lists."""
        given = dict(given)
        positive = str(given.pop("positive", ""))
        declared = self.options(given)
        options = resolve_options(label, given, declared)
        found = name_tasks(
            label,
            self.classes(options),
            task,
            groupings=self.groupings,
            positive=positive,
            task_lists=self.task_lists,
        )
        kept = tuple(sorted((key, value) for key, value in options.items() if value != declared[key].default))
        return [TaskRef(each, self.name, resolved, label, kept) for each, resolved in found]

    def options_of(self, ref: TaskRef) -> dict[str, Value]:
        """Return all options of a task with their values."""
        given = dict(ref.options)
        return resolve_options(ref.label, given, self.options(given))


class FixedSource(Source):
    """Define a source with fixed rows: its tasks share one table, whose content gives the fingerprint."""

    @abstractmethod
    def recipe(self, options: Options) -> dict[str, Any]:
        """Return everything that determines the table's content, as JSON values."""

    @abstractmethod
    def read(self, recipe: Mapping[str, Any], options: Options) -> Table:
        """Return the table, read-only."""

    @abstractmethod
    def content(self, options: Options) -> str:
        """Return the fingerprint of the table's content."""

    def identity(self, options: Options, draw: Draw) -> Hashable:
        return recipe_key(self.recipe(options))

    def table(self, options: Options, draw: Draw) -> Table:
        return shared_table(self, self.recipe(options), options)

    def fingerprint(self, ref: TaskRef) -> str:
        return task_fingerprint(self.content(self.options_of(ref)), ref.task, self.groupings)


# Tables are memory-mapped or small, so caching a few is cheap; all tasks of a set share one.
@cached(LRUCache(maxsize=16), lambda source, recipe, options: recipe_key(recipe), condition=Condition())
def shared_table(source: FixedSource, recipe: Mapping[str, Any], options: Options) -> Table:
    """Return the table of a source, read once per process even if several threads ask for it."""
    return source.read(recipe, options)


def offered_tasks(classes: tuple[str, ...], *groupings: str) -> tuple[str, ...]:
    """Return the accepted values of ``task``, besides single classes and pairs."""
    return ("binary",) if len(classes) == 2 else ("one-vs-rest", "pairs", *groupings, "multiclass")
