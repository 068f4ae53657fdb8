"""What the tasks of a data set are derived from: one contract for bundled sets, generators and files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Condition
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
    """One data set, described.

    Attributes
    ----------
    name : str
        Name in a study.
    kind : {"bundled", "generator", "public"}
        Where the rows come from.
    shape : tuple of int
        Rows (training and test part together) and features; 0 where only the user's copy tells.
    classes : tuple of str
        Class names.
    official_split : bool
        Whether there is a test part that everybody uses.
    tasks : tuple of str
        What ``task`` may be, besides single classes and pairs.
    licence, note : str
        Terms of use; scaling, order or content.
    state : str
        ``"present"``, ``"present (cache)"``, ``"present (what stands in for it)"``, ``"can be fetched"`` or
        ``"needs your copy: …"``.
    title, source : str
        What it is; who distributes it. Empty where the name says it.
    """

    name: str
    kind: Literal["bundled", "generator", "public"]
    shape: tuple[int, int]
    classes: tuple[str, ...]
    official_split: bool
    tasks: tuple[str, ...]
    licence: str
    note: str
    state: str
    title: str = ""
    source: str = ""


class Draw(NamedTuple):
    """For which study, task and repetition a stream is opened: generators draw anew for each."""

    root: int
    label: str
    seed: int

    def random_state(self) -> np.random.RandomState:
        """Return the generator of the rows."""
        return random_state(self.root, self.label, seed=self.seed, purpose="draw")


class Dataset(ABC):
    """What an entry of a study names: tasks, and what is known of them."""

    @abstractmethod
    def tasks(self, label: str, task: str, given: Options) -> list[TaskRef]:
        """Return the tasks of an entry (see `expand`) that calls the data set `label`."""

    def locate(self) -> tuple[Path, ...]:
        """Return the public files, downloaded when missing."""
        return ()

    def describe(self) -> DatasetRow | None:
        """Return the data set's row in the list of all; None keeps it out."""
        return None


class Source(Dataset):
    """A data set whose tasks are all derived from one table."""

    name: str
    groupings: Groupings
    task_lists: TaskLists
    #: Whether its rows are drawn anew for each repetition.
    is_drawn = False

    @abstractmethod
    def options(self, given: Options) -> Mapping[str, Option]:
        """Return the options that the source takes."""

    @abstractmethod
    def classes(self, options: Options) -> tuple[str, ...]:
        """Return the class names, without opening the data when they are declared."""

    @abstractmethod
    def identity(self, options: Options, draw: Draw) -> Hashable:
        """Return a value that differs whenever the table may differ."""

    @abstractmethod
    def table(self, options: Options, draw: Draw) -> Table:
        """Return the table, read-only."""

    @abstractmethod
    def fingerprint(self, ref: TaskRef) -> str:
        """Return the fingerprint of the data of a task."""

    def has_test(self, options: Options) -> bool:
        """Return whether there is a test part of the data's own, without opening them."""
        return False

    def notes(self, options: Options) -> tuple[str, ...]:
        """Return what is to be known of how the features were made, once they are."""
        return ()

    def tasks(self, label: str, task: str, given: Options) -> list[TaskRef]:
        """Return the tasks of an entry: those that its classes, groupings and lists of tasks give."""
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
        """Return every option of a task with its value."""
        given = dict(ref.options)
        return resolve_options(ref.label, given, self.options(given))


class FixedSource(Source):
    """A source whose rows are there: the tasks share one table, and its content is what is fingerprinted."""

    @abstractmethod
    def recipe(self, options: Options) -> dict[str, Any]:
        """Return what decides the content of the table, as JSON values."""

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


# Tables are memory-mapped or small, so keeping a few is cheap; every task of a set shares one.
@cached(LRUCache(maxsize=16), lambda source, recipe, options: recipe_key(recipe), condition=Condition())
def shared_table(source: FixedSource, recipe: Mapping[str, Any], options: Options) -> Table:
    """Return the table of a source, read once in this process however many threads ask."""
    return source.read(recipe, options)


def offered_tasks(classes: tuple[str, ...], *groupings: str) -> tuple[str, ...]:
    """Return what ``task`` may be, besides single classes and pairs."""
    return ("binary",) if len(classes) == 2 else ("one-vs-rest", "pairs", *groupings, "multiclass")
