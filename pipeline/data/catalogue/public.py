"""List the public data sets: their declarations (``sets/*.toml``), their readers, and the checks of content.

Files are taken from ``SINGLEPASS_DATA`` under their public names, from the cache, or downloaded (see
`locate`). Files of any origin are refused if their rows, features, class counts or content differ
from the published ones.
"""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from importlib.resources import files as package_files
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from ...errors import InputError
from ..corpora import mail, news, reviews
from ..formats.arrays import read_idx
from ..formats.files import file_options, read_files
from ..tables.features import with_layout
from ..tables.options import FEATURE_OPTIONS, STANDARDIZE, Option, resolve_options
from ..tables.stream import Codes, Matrix, Table, content_fingerprint, int32_csr, is_sparse

PUBLIC_OPTIONS: dict[str, Option] = {
    **FEATURE_OPTIONS,
    "dense": Option("flag", ""),
    "join": Option("flag", False),
    "verify": Option("flag", True),
}


@dataclass(frozen=True)
class PublicFile:
    """Declare one file of a public set."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    #: The file's name as published, with the folder if the distributor keeps it in one.
    name: str
    #: URLs of folders that contain the file, tried in order.
    bases: tuple[str, ...] = ()
    #: ``"md5:…"`` or ``"sha256:…"`` of the public file, if known for certain.
    checksum: str | None = None
    #: Other accepted names of the file: with another compression, or with only a part of the set (`StandIn`).
    also: tuple[str, ...] = ()
    #: Full URLs of the file, for servers that use another name. Without `bases` and `urls`, no download.
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
    """Declare a public data set; the fields are the keys of an entry in ``sets/*.toml``."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: str
    title: str
    #: The files in the order that the reader expects: first those of the training part, then as many of the
    #: test part. A single file may contain both parts.
    files: tuple[PublicFile, ...]
    #: Function that reads the files. In TOML it is the table ``reader``: a name in `READERS`, and arguments.
    parse: Callable[[Sequence[Path]], Table]
    #: Terms of use.
    licence: str
    #: Preprocessing, scaling and order of the rows.
    note: str
    #: The class names, in the order of their codes; empty if they are only known from the user's files.
    classes: tuple[str, ...] = ()
    #: Published number of classes of a set without `classes`; 0 if it is only known from the user's files.
    n_classes: int = 0
    #: Published number of features; 0 if it is only known from the user's files.
    n_features: int = 0
    #: Published number of training rows per class; empty if it is only known from the user's files.
    counts: tuple[int, ...] = ()
    #: Published number of test rows per class; empty if the set has no official test part.
    counts_test: tuple[int, ...] = ()
    #: For sets without published class counts: the published number of rows of training and test part
    #: together (0 if unknown), and whether there is an official test part.
    n_rows: int = 0
    has_test: bool = False
    #: Default of the option ``standardize``: true if features differ too much in scale for linear learners.
    standardize: bool = False
    #: Increase it after each edit of the declaration or its reader: otherwise a parsed table in the cache is
    #: used. If the reader returns another table, add that table's fingerprint to `fingerprints`.
    version: int = 1
    #: For each name of a binary task, the classes that together are its positive class.
    groupings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Lists of tasks, by the value of a study's ``task`` that selects all tasks of the list. A list maps the
    #: suffix of each task's label to the task.
    task_lists: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: Accepted fingerprints (hashes) of the table that the reader returns. A changed value, another row order
    #: or a change of the reader changes the fingerprint.
    fingerprints: tuple[str, ...] = ()
    #: Published parts of the set that are accepted in its place, by file name (one of `PublicFile.also`).
    stand_ins: Mapping[str, StandIn] = field(default_factory=dict)
    #: Name of the `Family` that has this set as one of its tasks; empty for an independent set.
    family: str = ""
    #: The distributor of the data, and how to get a copy.
    source: str = ""

    @property
    def official_split(self) -> bool:
        """Whether the set has an official test part."""
        return bool(self.counts_test) or self.has_test

    @property
    def options(self) -> dict[str, Option]:
        """Return the options that the set takes in a study."""
        return {**PUBLIC_OPTIONS, "standardize": replace(STANDARDIZE, default=self.standardize)}

    def read(self, paths: Sequence[Path], *, verify: bool = True) -> Table:
        """Read the files; check the table's rows, features and class counts against the published numbers.

        `verify` also compares the content with `fingerprints`, unless these are empty or all files have the
        published checksum. Without published class counts, it compares the number of rows and the class
        names. Raises InputError if a file is damaged, cut short, or not the published one.
        """
        table = self.parse(paths)
        if self.classes and len(table.classes) == len(self.classes):
            self._check_order(table.classes)
        if self.counts:
            self._check_counts(paths, table)
        else:
            self._check_size(paths, table, verify=verify)
        table = Table(table.X, table.y, self.classes or table.classes, table.X_test, table.y_test)
        if verify and self.fingerprints:
            found = content_fingerprint(table)
            if found not in self.fingerprints and not self._official(paths):
                raise InputError(
                    f"{_listed(paths)}: not the public data: rows, features and class counts are right, but "
                    f"the content is not (fingerprint {found[:16]}); changed or reordered? "
                    "Set verify = false to accept it"
                )
        return table

    def _check_order(self, found: Sequence[str]) -> None:
        """Raise InputError if the reader gives the declared classes other codes."""
        plain, declared = _plain(found), _plain(self.classes)
        if plain != declared and sorted(plain) == sorted(declared):
            raise InputError(
                f"data set {self.name!r}: its declaration has the classes {', '.join(self.classes)}, but "
                f"its reader codes them as {', '.join(found)}; declare them in this order"
            )

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

    def _check_size(self, paths: Sequence[Path], table: Table, *, verify: bool) -> None:
        """Check the features, classes and rows of a set without published class counts."""
        parts = [table.X] if table.X_test is None else [table.X, table.X_test]
        n_rows = sum(X.shape[0] for X in parts)
        others = {X.shape[1] for X in parts} - {self.n_features}
        fault = remedy = ""
        if self.n_features and others:
            fault = f"{max(others):,} features instead of {self.n_features:,}"
        elif self.classes and len(table.classes) != len(self.classes):
            fault = f"{len(table.classes):,} classes instead of {len(self.classes):,}"
        elif verify:
            remedy = " Set verify = false to accept it"
            if self.n_rows not in (0, n_rows):
                fault = f"{n_rows:,} rows instead of {self.n_rows:,}"
            elif self.classes and _plain(table.classes) != _plain(self.classes):
                fault = f"classes {', '.join(table.classes)} instead of {', '.join(self.classes)}"
        if fault:
            raise InputError(f"{_listed(paths)}: not the public data: {fault}; damaged or cut short?{remedy}")

    def _official(self, paths: Sequence[Path]) -> bool:
        """Return whether every file has its published checksum; False if a checksum is not known."""
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
    """Declare a group of public sets (parts) under one name; each part is a binary task with its own rows."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    name: str
    title: str
    #: Value of a study's ``task`` that selects the tasks of all parts: "sentiment", "users" or "topics".
    task: str
    #: The name of the `PublicSet` of each part, by the part's name, which is the suffix of its task's label.
    members: Mapping[str, str]
    #: Lists of parts that a study can select by name.
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def arranged(entry: PublicSet, table: Table, *, dense: object, join: bool) -> Table:
    """Append the test part to the training part if `join`; make rows dense or CSR (`dense` "": neither)."""
    if join:
        from scipy import sparse

        if table.X_test is None or table.y_test is None:
            raise InputError(f"data set {entry.name!r} has no official test part; leave join out")
        both: list[Any] = [table.X, table.X_test]
        X = int32_csr(sparse.vstack(both, format="csr")) if is_sparse(table.X) else np.vstack(both)
        table = Table(X, np.concatenate([table.y, table.y_test]), table.classes)
    if dense == "":
        return table
    return with_layout(entry.name, table, dense=bool(dense))


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


def _plain(classes: Sequence[str]) -> list[str]:
    """Return class names with 0 for -1, since copies of sets differ in the name of the negative class."""
    return ["0" if name == "-1" else name for name in classes]


def _listed(paths: Sequence[Path]) -> str:
    return " with ".join(str(path) for path in paths)


def _text(paths: Sequence[Path], last: int = 0, **given: Any) -> Table:
    """Read one file, or a training and a test file, of a format of users' files, with the options `given`.

    If `last` is not 0, the last `last` rows of a single file are its test part.
    """
    options = resolve_options(str(paths[0]), given, file_options(paths[0], given))
    table = read_files(paths[:1], paths[1:], options)
    if not last:
        return table
    n = len(table.y) - last
    if n < 1:
        raise InputError(f"{paths[0]}: only {len(table.y):,} rows, but the last {last:,} are the test part")
    X: Any = table.X
    return replace(table, X=X[:n], y=table.y[:n], X_test=X[n:], y_test=table.y[n:])


def _mnist(paths: Sequence[Path], classes: Sequence[str]) -> Table:
    """Read MNIST's idx files: a row has 784 pixels / 255 as float32; the stored digits are class codes."""
    images, labels, images_test, labels_test = (read_idx(path) for path in paths)
    parts: list[Any] = []
    for pixels, digits, path in ((images, labels, paths[0]), (images_test, labels_test, paths[2])):
        if pixels.ndim != 3 or digits.ndim != 1 or len(pixels) != len(digits):
            raise InputError(f"{path}: {pixels.shape} images and {digits.shape} labels do not match")
        X = pixels.reshape(len(pixels), -1).astype(np.float32)
        X /= np.float32(255.0)
        parts += [X, digits.astype(np.int32)]
    return Table(parts[0], parts[1], tuple(classes), parts[2], parts[3])


# Readers of public sets, by their names in TOML: the function, and the keys of the data set (`PublicSet`)
# that are passed to it in addition to the arguments in the table ``reader``.
READERS: dict[str, tuple[Callable[..., Table], tuple[str, ...]]] = {
    "svmlight": (partial(_text, format="svmlight"), ("n_features",)),
    "delimited": (partial(_text, format="csv", header=False), ()),
    "mnist": (_mnist, ("classes",)),
    "newsgroups": (mail.newsgroups, ("classes",)),
    "spam": (mail.spam, ()),
    "mail-folders": (mail.mail_folders, ()),
    "reuters-topic": (news.reuters_topic, ()),
    "reuters-r8": (news.reuters_r8, ("classes",)),
    "rcv1": (news.rcv1, ("classes",)),
    "vowpal-wabbit": (news.vowpal_wabbit, ()),
    "nytimes": (news.nytimes, ()),
    "acl-sentiment": (reviews.acl_sentiment, ()),
    "acl-domains": (reviews.acl_domains, ("classes",)),
    "fdu-sentiment": (reviews.fdu_sentiment, ()),
    "fdu-domains": (reviews.fdu_domains, ("classes",)),
}

_FILES = (
    "mnist", "libsvm", "uci", "streams", "newsgroups", "reuters", "rcv1", "reviews", "mail", "nytimes",
    "large",
)  # fmt: skip


def _sets(declared: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the data sets that an entry of ``sets/*.toml`` declares: one, or one for each of its ``parts``.

    A part's keys override those of the entry. In every text, ``{part}`` is replaced by the part's name, and
    ``{key}`` by the value of that key of the part.
    """
    common = {key: value for key, value in declared.items() if key != "parts"}
    keys = {each.name for each in fields(PublicSet)}
    for part, values in declared.get("parts", {"": {}}).items():
        own = {key: value for key, value in values.items() if key in keys}
        filled = _filled({**common, **own}, {"part": part, **values}) if part else common
        reader, needs = READERS[filled["reader"]["name"]]
        given = {key: value for key, value in filled["reader"].items() if key != "name"}
        given |= {key: filled[key] for key in needs}
        made = {key: value for key, value in filled.items() if key not in ("reader", "pairs")}
        if "pairs" in filled:
            # The key ``pairs`` names a list of tasks, one for every pair of classes.
            pairs = {f"{a}-vs-{b}": f"pair:{a},{b}" for a, b in combinations(filled["classes"], 2)}
            made["task_lists"] = {filled["pairs"]: pairs}
        yield {**made, "parse": partial(reader, **given)}


def _filled(value: Any, texts: Mapping[str, Any]) -> Any:
    if isinstance(value, str):
        return value.format_map(texts)
    if isinstance(value, list):
        return [_filled(each, texts) for each in value]
    if isinstance(value, dict):
        return {key: _filled(each, texts) for key, each in value.items()}
    return value


def _read() -> tuple[dict[str, PublicSet], dict[str, Family]]:
    """Read ``sets/*.toml``; return all data sets and all families by name."""
    folder, adapter = package_files(__package__) / "sets", TypeAdapter(list[PublicSet])
    documents: list[dict[str, Any]] = []
    sets: dict[str, PublicSet] = {}
    for file in (f"{name}.toml" for name in _FILES):
        declared: list[dict[str, Any]] = []
        try:
            documents.append(tomllib.loads((folder / file).read_text("utf-8")))
            declared += [each for entry in documents[-1]["sets"] for each in _sets(entry)]
            sets |= {each.name: each for each in adapter.validate_python(declared)}
        except tomllib.TOMLDecodeError as error:
            raise InputError(f"sets/{file}: {error}") from None
        except KeyError as error:
            raise InputError(f"sets/{file}: {error} is a missing key or an unknown reader") from None
        except ValidationError as error:
            first = error.errors()[0]
            name, key = declared[int(first["loc"][0])].get("name"), ".".join(map(str, first["loc"][1:]))
            raise InputError(f"sets/{file}: data set {name!r}: {key!r}: {first['msg']}") from None
    families = []
    for entry in (entry for document in documents for entry in document.get("families", ())):
        # A family without the key ``members`` consists of all sets whose key ``family`` has its name.
        own = [each.name for each in sets.values() if each.family == entry["name"]]
        members = {name.rpartition("/")[2]: name for name in entry.get("members", own)}
        families.append({**entry, "members": members})
    made = TypeAdapter(list[Family]).validate_python(families)
    return sets, {each.name: each for each in made}


CATALOGUE, FAMILIES = _read()
ALIASES: dict[str, str] = {"adult": "a9a"}
