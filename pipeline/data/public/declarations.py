"""Declare public data sets, and compare their files with the declaration."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ..tables.features import with_layout
from ..tables.options import FEATURE_OPTIONS, Option
from ..tables.stream import Codes, Matrix, Table, content_fingerprint, int32_csr

# The folder of the LIBSVM data page.
LIBSVM = "https://www.csie.ntu.edu.tw/~cjlin/libsvmtools/datasets"
UCI_LICENCE = "UCI repository set; UCI now lists CC BY 4.0"
NO_LICENCE = "no licence stated by the distributor, research use is customary"

# `dense`: the layout; by default as distributed. `join`: append the official test part to the training part,
# for protocols that split the whole set themselves. `verify`: compare with the known content.
PUBLIC_OPTIONS: dict[str, Option] = {
    **FEATURE_OPTIONS,
    "dense": Option("flag", ""),
    "join": Option("flag", False),
    "verify": Option("flag", True),
}


@dataclass(frozen=True)
class PublicFile:
    """Declare one file of a public set.

    Attributes
    ----------
    name : str
        Its public name, with the folder if the distributor has one.
    bases : tuple of str
        URLs of folders that contain it, tried in order.
    checksum : str or None
        ``"md5:…"`` or ``"sha256:…"`` of the public file, if known for certain.
    also : tuple of str
        Other accepted file names: compressed differently, or a stand-in.
    urls : tuple of str
        Full URLs, for servers that use another name. A file without `bases` and `urls` cannot be downloaded.
    """

    name: str
    bases: tuple[str, ...] = ()
    checksum: str | None = None
    also: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()

    @property
    def addresses(self) -> tuple[str, ...]:
        """Every URL of the file, in the order in which they are tried."""
        return (*(f"{base}/{self.name}" for base in self.bases), *self.urls)


@dataclass(frozen=True)
class StandIn:
    """Declare a published part of a set that is accepted in its place: its rows per class, and a remark."""

    counts: tuple[int, ...]
    remark: str


@dataclass(frozen=True)
class PublicSet:
    """Declare a public set.

    Attributes
    ----------
    name, title : str
        Name in a study, and a description.
    files : tuple of PublicFile
        In the order that `parse` expects: those of the training part, then as many of the test part; a single
        file may contain both.
    parse : callable
        ``parse(paths) -> Table``, with features scaled as `note` says.
    classes : tuple of str
        Class names in code order; empty if known only from the user's copy.
    n_features : int
        Published number of features; 0 if known only from the user's copy.
    counts, counts_test : tuple of int
        Published number of rows per class. Empty `counts`: known only from the user's copy. Empty
        `counts_test`: no official test part.
    licence, note : str
        Terms of use; preprocessing, scaling and order of the rows.
    version : int
        Increased whenever `parse` changes its result; `fingerprints` then gets the new one.
    options, groupings : mapping
        As in `BundledSet`.
    task_lists : mapping of str to mapping of str to str
        Named lists of tasks: a value of ``task``, mapped to each task's label suffix and task.
    fingerprints : tuple of str
        Content fingerprints (see `content_fingerprint`) of what `parse` makes of the public files. Another
        row order, a changed value or another parser changes the fingerprint.
    stand_ins : mapping of str to StandIn
        By file name (one of `PublicFile.also`).
    family : str
        Name of the `Family` that has this set as one of its tasks; empty for an independent set.
    source : str
        The distributor, and how to get a copy.
    """

    name: str
    title: str
    files: tuple[PublicFile, ...]
    parse: Callable[[Sequence[Path]], Table]
    classes: tuple[str, ...]
    n_features: int
    counts: tuple[int, ...]
    counts_test: tuple[int, ...]
    licence: str
    note: str
    version: int = 1
    options: Mapping[str, Option] = field(default_factory=lambda: PUBLIC_OPTIONS)
    groupings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    task_lists: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    fingerprints: tuple[str, ...] = ()
    stand_ins: Mapping[str, StandIn] = field(default_factory=dict)
    family: str = ""
    source: str = ""

    def read(self, paths: Sequence[Path], *, verify: bool = True) -> Table:
        """Parse the files and compare them with the published declaration.

        `verify` also refuses rows with the right counts but unknown content, unless all files have the public
        checksum. Raises InputError if a file is damaged, cut short, or not the public one.
        """
        table = self.parse(paths)
        if self.counts:
            self._check_counts(paths, table)
        table = Table(table.X, table.y, self.classes or table.classes, table.X_test, table.y_test)
        if verify and self.fingerprints:
            found = content_fingerprint(table)
            if found not in self.fingerprints and not self._official(paths):
                raise InputError(
                    f"{_listed(paths)}: not the public data: rows, features and class counts are right, but "
                    f"the content is not (fingerprint {found[:16]}); changed or reordered? "
                    "verify = false takes it as it is"
                )
        return table

    def _check_counts(self, paths: Sequence[Path], table: Table) -> None:
        both = bool(self.counts_test) and len(paths) > 1
        half = len(paths) // 2 if both else len(paths)
        accepted = [self.counts, *(other.counts for other in self.stand_ins.values())]
        _check_part(paths[:half], table.X, table.y, self.n_features, accepted)
        if self.counts_test:
            where = paths[half:] if both else paths
            if table.X_test is None or table.y_test is None:
                raise InputError(f"{_listed(where)}: not the public data: no test part")
            _check_part(where, table.X_test, table.y_test, self.n_features, [self.counts_test])

    def _official(self, paths: Sequence[Path]) -> bool:
        """Return whether every file has the public checksum."""
        for file, path in zip(self.files, paths, strict=True):
            kind, _, digest = (file.checksum or "").partition(":")
            if not digest:
                return False
            with path.open("rb") as stream:
                if hashlib.file_digest(stream, kind).hexdigest() != digest:
                    return False
        return True


@dataclass(frozen=True)
class Family:
    """Declare binary tasks under one name, each on its own table with its own features and rows.

    Attributes
    ----------
    name, title : str
        Name in a study, and a description.
    task : str
        Collective name of the tasks: ``"sentiment"``, ``"users"``, ``"topics"``.
    members : mapping of str to str
        From the part's name, which is the label's suffix, to the name of a `PublicSet`.
    groups : mapping of str to tuple of str
        Named lists of parts.
    """

    name: str
    title: str
    task: str
    members: Mapping[str, str]
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def arranged(entry: PublicSet, table: Table, *, dense: object, join: bool) -> Table:
    """Return a table in the requested layout and, with `join`, with its test part appended.

    `dense` of ``""`` keeps the layout. Raises InputError if there is no test part to join or the dense form
    would be too large (see `with_layout`).
    """
    if join:
        if table.X_test is None or table.y_test is None:
            raise InputError(f"data set {entry.name!r} has no official test part; leave join out")
        X: Any = _stacked(table.X, table.X_test)
        table = Table(X, np.concatenate([table.y, table.y_test]), table.classes)
    if dense == "":
        return table
    return with_layout(entry.name, table, dense=bool(dense))


def _stacked(X: Matrix, X_test: Matrix) -> Any:
    if isinstance(X, np.ndarray):
        return np.vstack([X, np.asarray(X_test)])
    from scipy.sparse import vstack

    both: list[Any] = [X, X_test]
    return int32_csr(vstack(both, format="csr"))


def _check_part(
    paths: Sequence[Path], X: Matrix, y: Codes, n_features: int, accepted: Sequence[tuple[int, ...]]
) -> None:
    counts = accepted[0]
    found = tuple(np.bincount(y, minlength=len(counts)).tolist())
    sizes = " or ".join(f"{sum(each):,}" for each in accepted)
    fault = ""
    if X.shape[0] not in {sum(each) for each in accepted}:
        fault = f"{X.shape[0]:,} rows instead of {sizes}"
    elif n_features and X.shape[1] != n_features:
        fault = f"{X.shape[1]:,} features instead of {n_features:,}"
    elif found not in accepted:
        right = next(each for each in accepted if sum(each) == X.shape[0])
        fault = f"class counts {found} instead of {right}"
    if fault:
        raise InputError(f"{_listed(paths)}: not the public data: {fault}; damaged or cut short?")


def _listed(paths: Sequence[Path]) -> str:
    return " with ".join(str(path) for path in paths)
