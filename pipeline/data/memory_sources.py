"""Provide sources without files: seeded generators, and the sets that come with scikit-learn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Hashable, Mapping
from threading import Condition
from typing import Any

from cachetools import LRUCache, cached

from .catalogue.bundled import BundledSet
from .catalogue.generators import Generator
from .sources import DatasetRow, Draw, FixedSource, Source, offered_tasks, shared_table
from .tables.cache import recipe_key
from .tables.features import apply_feature_options
from .tables.options import Option, Options
from .tables.stream import Table, content_fingerprint, freeze
from .tables.tasks import TaskRef


class GeneratorSource(Source):
    """Draw rows from a seeded generator.

    Each draw gives other rows, so the fingerprint is that of the recipe.
    """

    is_drawn = True

    def __init__(self, generator: Generator) -> None:
        self.generator = generator
        self.name, self.groupings, self.task_lists = generator.name, generator.groupings, {}

    def options(self, given: Options) -> Mapping[str, Option]:
        return self.generator.options

    def classes(self, options: Options) -> tuple[str, ...]:
        return self.generator.classes

    def identity(self, options: Options, draw: Draw) -> Hashable:
        return draw

    def table(self, options: Options, draw: Draw) -> Table:
        drawn = self.generator.table(draw.random_state(), options)
        return freeze(apply_feature_options(self.name, drawn, options))

    def has_test(self, options: Options) -> bool:
        return bool(options["n_test"])

    def fingerprint(self, ref: TaskRef) -> str:
        options = sorted(self.options_of(ref).items())
        recipe = [self.name, self.generator.version, ref.label, ref.task, options]
        return hashlib.sha256(json.dumps(recipe).encode()).hexdigest()

    def describe(self) -> DatasetRow:
        generator = self.generator
        return DatasetRow(
            name=self.name,
            kind="generator",
            shape=(generator.n_train + generator.n_test, generator.n_features),
            classes=generator.classes,
            official_split=generator.n_test > 0,
            tasks=offered_tasks(generator.classes, *generator.groupings),
            licence="none needed",
            note=generator.note,
            state="present",
        )


class BundledSource(FixedSource):
    """Read a set that comes with scikit-learn."""

    def __init__(self, entry: BundledSet) -> None:
        self.entry = entry
        self.name, self.groupings, self.task_lists = entry.name, entry.groupings, {}

    def options(self, given: Options) -> Mapping[str, Option]:
        return self.entry.options

    def classes(self, options: Options) -> tuple[str, ...]:
        return self.entry.classes

    def recipe(self, options: Options) -> dict[str, Any]:
        return {"bundled": self.name, "options": dict(options)}

    def read(self, recipe: Mapping[str, Any], options: Options) -> Table:
        return freeze(apply_feature_options(self.name, self.entry.load(), options))

    def content(self, options: Options) -> str:
        return bundled_content(self, self.recipe(options), options)

    def describe(self) -> DatasetRow:
        entry = self.entry
        return DatasetRow(
            name=self.name,
            kind="bundled",
            shape=entry.shape,
            classes=entry.classes,
            official_split=False,
            tasks=offered_tasks(entry.classes, *entry.groupings),
            licence=entry.licence,
            note=entry.note,
            state="present",
        )


# Sources in files store their fingerprint in the cache with the parsed table.
@cached(LRUCache(maxsize=64), lambda source, recipe, options: recipe_key(recipe), condition=Condition())
def bundled_content(source: BundledSource, recipe: Mapping[str, Any], options: Options) -> str:
    """Return the content fingerprint of a bundled set, computed once per process."""
    return content_fingerprint(shared_table(source, recipe, options))
