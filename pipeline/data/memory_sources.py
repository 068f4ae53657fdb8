"""Provide sources without files: seeded generators, and the sets that come with scikit-learn."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field, replace
from threading import Condition
from typing import Any

import numpy as np
from cachetools import LRUCache, cached

from ..errors import InputError
from .catalogue.generators import Generator
from .sources import DatasetRow, Draw, FixedSource, Source, offered_tasks, shared_table
from .tables.cache import recipe_key
from .tables.features import apply_feature_options
from .tables.options import FEATURE_OPTIONS, STANDARDIZE, Option, Options
from .tables.stream import Table, content_fingerprint, freeze
from .tables.tasks import TaskRef

_DIGITS = tuple("0123456789")


@dataclass(frozen=True)
class BundledSet:
    """Declare a data set that comes with scikit-learn: how to load it, its shape, classes and options."""

    name: str
    #: Loads the table, with features scaled as `note` says, but not standardized.
    load: Callable[[], Table]
    #: Rows and features.
    shape: tuple[int, int]
    #: Class names, by code.
    classes: tuple[str, ...]
    #: Terms of use.
    licence: str
    #: A note on scaling and order of the rows.
    note: str
    #: Options that a study may set.
    options: Mapping[str, Option] = field(default_factory=lambda: FEATURE_OPTIONS)
    #: For each name of a binary task, the classes that together are its positive class.
    groupings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def _load_digits() -> Table:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    # 16 is the largest pixel value; it is a power of two, so the division is exact.
    X = np.ascontiguousarray(bunch.data, dtype=np.float64) / 16.0
    return Table(X, bunch.target.astype(np.int32), _DIGITS)


def _load_breast_cancer() -> Table:
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    X = np.ascontiguousarray(bunch.data, dtype=np.float64)
    return Table(X, bunch.target.astype(np.int32), ("malignant", "benign"))


BUNDLED: dict[str, BundledSet] = {
    entry.name: entry
    for entry in (
        BundledSet(
            name="digits",
            load=_load_digits,
            shape=(1797, 64),
            classes=_DIGITS,
            licence="UCI repository set (CC BY 4.0), with scikit-learn",
            note="pixels divided by 16, in [0, 1]",
            # Digits drawn with a loop or bow, as opposed to straight ones (Wang & Vucetic's task on USPS).
            groupings={"round": ("0", "3", "6", "8", "9")},
        ),
        BundledSet(
            name="breast-cancer",
            load=_load_breast_cancer,
            shape=(569, 30),
            classes=("malignant", "benign"),
            licence="UCI repository set (CC BY 4.0), with scikit-learn",
            note="standardized over all 569 rows (standardize = false: raw units); 'benign' is positive",
            # Raw columns differ by a factor of 100,000 (areas against fractal dimensions): without scaling, a
            # linear learner would use only the areas.
            options={**FEATURE_OPTIONS, "standardize": replace(STANDARDIZE, default=True)},
        ),
    )
}


class GeneratorSource(Source):
    """Draw a data set's rows from a generator, new ones for each seed; the fingerprint is of its options."""

    is_drawn = True

    def __init__(self, generator: Generator) -> None:
        self.generator = generator
        self.name, self.groupings = generator.name, generator.groupings

    def options(self, given: Options) -> Mapping[str, Option]:
        return self.generator.options

    def classes(self, options: Options) -> tuple[str, ...]:
        return self.generator.classes

    def tasks(self, label: str, task: str, given: Options) -> list[TaskRef]:
        found = super().tasks(label, task, given)
        # Refused here, because rows are not drawn before the first cell.
        if self.generator.row_bytes and given.get("standardize"):
            raise InputError(
                f"data set {label!r} is sparse: standardize would make it dense; set standardize = false"
            )
        return found

    def identity(self, options: Options, draw: Draw) -> Hashable:
        return draw

    def table(self, options: Options, draw: Draw) -> Table:
        drawn = self.generator.table(draw.random_state(), options)
        return freeze(apply_feature_options(self.name, drawn, options))

    def has_test(self, options: Options) -> bool:
        return bool(options["n_test"])

    def fingerprint(self, ref: TaskRef) -> str:
        options = self.options_of(ref)
        version = self.generator.version_of(options)
        recipe = [self.name, version, ref.label, ref.task, sorted(options.items())]
        return hashlib.sha256(json.dumps(recipe).encode()).hexdigest()

    def describe(self) -> DatasetRow:
        generator = self.generator
        return DatasetRow(
            name=self.name,
            kind="generator",
            shape=(generator.n_train + generator.n_test, generator.n_features),
            classes=generator.classes,
            official_split=generator.n_test > 0,
            tasks=offered_tasks(len(generator.classes), *generator.groupings),
            licence="none needed",
            note=generator.note,
            state="present",
        )


class BundledSource(FixedSource):
    """Read a set that comes with scikit-learn."""

    def __init__(self, entry: BundledSet) -> None:
        self.entry = entry
        self.name, self.groupings = entry.name, entry.groupings

    def options(self, given: Options) -> Mapping[str, Option]:
        return self.entry.options

    def classes(self, options: Options) -> tuple[str, ...]:
        return self.entry.classes

    def recipe(self, options: Options) -> dict[str, Any]:
        return {"bundled": self.name, "options": dict(options)}

    def read(self, recipe: Mapping[str, Any], options: Options) -> Table:
        return freeze(apply_feature_options(self.name, self.entry.load(), options))

    # Cached in memory, because the fingerprint is stored on disk only for data sets read from files.
    @cached(
        LRUCache(maxsize=64), lambda self, options: recipe_key(self.recipe(options)), condition=Condition()
    )
    def content(self, options: Options) -> str:
        return content_fingerprint(shared_table(self, self.recipe(options), options))

    def describe(self) -> DatasetRow:
        entry = self.entry
        return DatasetRow(
            name=self.name,
            kind="bundled",
            shape=entry.shape,
            classes=entry.classes,
            official_split=False,
            tasks=offered_tasks(len(entry.classes), *entry.groupings),
            licence=entry.licence,
            note=entry.note,
            state="present",
        )
