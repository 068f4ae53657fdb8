"""Compose a stream of several data sets; it changes from each to the next, abruptly or gradually."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import InputError
from .catalogue.public import ALIASES, FAMILIES
from .formats.labelled_columns import MEAN_SO_FAR, TRAINING_MEAN
from .memory_sources import GeneratorSource
from .own_sources import FileSource, OpenMLSource
from .remote import absolute
from .sources import Draw, Source
from .tables.features import apply_feature_options, computed, raw_options, scaled_online
from .tables.options import FEATURE_OPTIONS, STANDARDIZE, Option, Options, Value, count_of
from .tables.stream import Table, freeze, is_sparse
from .tables.tasks import TaskRef, listed

#: Prefix of the name of a composed source; the rest of the name is JSON with its parts and changes.
COMPOSED = "compose:"
# Version in the fingerprint of compositions; increase it whenever the same composition would have other rows.
_VERSION = 1
# Likewise where `ComposedSource._is_newer` is true.
_FILES_VERSION = 2
# Keys of a data set that a part may not have.
_NOT_OF_PARTS = {"compose", "at", "width", "task", "openml"}
# Default number of rows of a composition if all its parts are generators.
_ROWS = 10_000


def composed_name(
    parts: Sequence[Mapping[str, Any]], at: Sequence[float], width: int, base: str | Path
) -> str:
    """Return the name of a source that is composed of others.

    Each part has ``name`` or ``path``, ``target`` if it is a file, and options. `at` are the positions of the
    changes between parts, as ascending shares of the stream's length; if empty, parts have equal lengths.
    `width` is the number of examples that a change takes. `base` is the folder from which relative paths
    start. Raises InputError if there are fewer than two parts, or a position or a part is invalid.
    """
    if len(parts) < 2:
        raise InputError(f"compose: needs two sources or more, found {len(parts)}")
    at = list(at) or [i / len(parts) for i in range(1, len(parts))]
    if len(at) != len(parts) - 1 or not all(0 < a < 1 for a in at) or sorted(set(at)) != at:
        raise InputError(
            f"compose: 'at' needs one position for each change of source ({len(parts) - 1} in all), "
            f"ascending and between 0 and 1; found {at}"
        )
    named = []
    for part in parts:
        given = dict(part)
        name, path = given.pop("name", None), given.pop("path", None)
        if (name is None) == (path is None) or given.keys() & _NOT_OF_PARTS:
            raise InputError("compose: each source is a table with a 'name' or a 'path', and its options")
        name = ALIASES.get(str(name), name)
        if str(name) in FAMILIES:
            member = next(iter(FAMILIES[str(name)].members.values()))
            raise InputError(
                f"compose: source {name!r} is a group of data sets; give the name of one, such as {member!r}"
            )
        if str(name).startswith(OpenMLSource.PREFIX):
            raise InputError(
                f"compose: source {name!r} is a data set of OpenML, whose columns are not compared with "
                "others; save its file and give its path"
            )
        for key in given.keys() & FEATURE_OPTIONS.keys():
            raise InputError(f"compose: {key} applies to the whole stream: set it next to compose")
        if "n_train" in given:
            raise InputError(
                f"compose: source {name or path!r} has n_train = {given['n_train']!r}, but the whole stream "
                "has one length: set n_train next to compose"
            )
        if "test" in given or given.get("n_test"):
            key = "test" if "test" in given else "n_test"
            raise InputError(
                f"compose: source {name or path!r} has {key} = {given[key]!r}, but a composed stream has "
                f"no test part: remove {key}"
            )
        named.append({"source": name if path is None else absolute(str(path), base), "options": given})
    return COMPOSED + json.dumps({"parts": named, "at": at, "width": width}, sort_keys=True)


@dataclass(frozen=True)
class Part:
    """Contain one part of a composition: its source of rows, and the options that the study sets for it."""

    source: Source
    given: Options

    @property
    def options(self) -> dict[str, Value]:
        """All options of the part with their values, including defaults."""
        return self.source.options_of(self.ref(self.source.name))

    @property
    def unchanged(self) -> Options:
        """Options to open the part's table with its missing values, and not standardized."""
        return raw_options(self.options) if computed(self.options) else self.options

    def ref(self, label: str) -> TaskRef:
        """Return a reference, called `label`, to the multiclass task of all rows and classes of this part."""
        return TaskRef(label, self.source.name, "multiclass", label, tuple(sorted(self.given.items())))


class ComposedSource(Source):
    """Compose a stream of several sources: choose a source for each row, and take its next unused row.

    In a stream planned for n rows, with a change at t₀ = at·n, row t (from 1) comes from the later source
    with probability 1 / (1 + exp(-4 (t - t₀) / width)); with width 0, all rows after t₀ do. If a source is
    not a generator, each source gives as many rows as with width 0. For `name`, `at` and `width` see
    `composed_name`.
    """

    def __init__(self, name: str, parts: Sequence[Part]) -> None:
        self.name, self.parts = name, parts
        self._declared = json.loads(name.removeprefix(COMPOSED))
        self._drawn = [isinstance(part.source, GeneratorSource) for part in parts]

    @property
    def is_drawn(self) -> bool:  # type: ignore[override]
        return all(part.source.is_drawn for part in self.parts)

    @property
    def differs_by_seed(self) -> bool:
        return self._declared["width"] > 0 or any(part.source.is_drawn for part in self.parts)

    def options(self, given: Options) -> Mapping[str, Option]:
        # The stream is standardized by default if a part would be by itself.
        standardize = any(bool(part.options.get("standardize")) for part in self.parts)
        features = {**FEATURE_OPTIONS, "standardize": replace(STANDARDIZE, default=standardize)}
        return {"n_train": Option("count", 0, minimum=1), **features}

    def options_of(self, ref: TaskRef) -> dict[str, Value]:
        options = super().options_of(ref)
        # Parts are opened with their gaps, which are filled with means of the stream's training rows.
        gaps = any(part.options.get("missing", "error") != "error" for part in self.parts)
        return {**options, "missing": "mean"} if gaps else options

    def tasks(self, label: str, task: str, given: Options) -> list[TaskRef]:
        found = super().tasks(label, task, given)
        _check_features(self.parts)
        return found

    def classes(self, options: Options) -> tuple[str, ...]:
        found = [part.source.classes(part.options) for part in self.parts]
        for each in found[1:]:
            if each != found[0]:
                raise InputError(
                    f"compose: all sources must have the same classes, found {found[0]} and {each}"
                )
        return found[0]

    def is_here(self, options: Options, *, parsed: bool = False) -> bool:
        return all(part.source.is_here(part.options, parsed=parsed) for part in self.parts)

    def notes(self, options: Options) -> tuple[str, ...]:
        # Parts are parsed without scaling, so their notes name training means. If the whole stream is scaled
        # online, gaps are filled with means so far.
        fill = MEAN_SO_FAR if scaled_online(options) else TRAINING_MEAN
        found = self._named(lambda part: part.source.notes(part.unchanged))
        return tuple(line.replace(TRAINING_MEAN, fill) for line in found)

    def cautions(self, options: Options) -> tuple[str, ...]:
        return self._named(lambda part: part.source.cautions(part.unchanged))

    def _named(self, lines: Callable[[Part], tuple[str, ...]]) -> tuple[str, ...]:
        """Return lines about parts, each with the part's name; a source used twice has its lines once."""
        found = (f"{part.source.name}: {line}" for part in self.parts for line in lines(part))
        return tuple(dict.fromkeys(found))

    def identity(self, options: Options, draw: Draw) -> Hashable:
        return draw, *(part.source.identity(part.unchanged, draw) for part in self.parts)

    def fingerprint(self, ref: TaskRef) -> str:
        labelled = ((part, part.ref(_label(ref.label, i))) for i, part in enumerate(self.parts))
        parts = [part.source.fingerprint(own) for part, own in labelled]
        at, width = self._declared["at"], self._declared["width"]
        options = self.options_of(ref)
        version = _FILES_VERSION if self._is_newer(options) else _VERSION
        recipe = [version, parts, at, width, ref.label, ref.task, sorted(options.items())]
        # These tables are parsed and cached by now, because the parts' fingerprints need them.
        tables = {i: p.source.table(p.options, Draw(0, "", 0)) for i, p in self._fixed()}
        n = self._length(ref.label, options, tables)
        # Only compositions that an earlier version made shorter get another fingerprint.
        if not options["n_train"] and n != _rows_of_files(tables, at, earlier=True):
            recipe.append(n)
        return hashlib.sha256(json.dumps(recipe).encode()).hexdigest()

    def _is_newer(self, options: Options) -> bool:
        """Return whether the rows, or whether they count as drawn, may differ from version 1."""
        gradual = self._declared["width"] > 0 or len(self.parts) > 2
        changed = options["standardize"] is True or any(computed(part.options) for part in self.parts)
        return not all(self._drawn) and (any(self._drawn) or gradual or changed)

    @property
    def rows(self) -> int | None:
        """The default number of rows of the stream, or None if it depends on the lengths of files."""
        return _ROWS if all(self._drawn) else None

    def _fixed(self) -> list[tuple[int, Part]]:
        """Return the parts that are not generators, with their numbers."""
        return [(i, part) for i, part in enumerate(self.parts) if not self._drawn[i]]

    def _length(self, label: str, options: Options, tables: Mapping[int, Table]) -> int:
        """Return the number of rows of the stream; `tables` are those of parts that are not generators."""
        asked, at = count_of(options, "n_train"), self._declared["at"]
        most = _rows_of_files(tables, at)
        if _are_too_few(tables, at, asked):
            raise InputError(
                f"data set {label!r}: n_train = {asked:,}, but with these changes its sources have too few "
                f"rows; set n_train = {most} or less, or other positions 'at'"
            )
        return asked or most

    def table(self, options: Options, draw: Draw) -> Table:
        at: list[float] = self._declared["at"]
        draws = [draw._replace(label=_label(draw.label, i)) for i in range(len(self.parts))]
        tables = {i: part.source.table(part.unchanged, draws[i]) for i, part in self._fixed()}
        n = self._length(draw.label, options, tables)
        for i, part in enumerate(self.parts):
            if self._drawn[i]:
                # Draw n rows from each generator, enough even if all rows of the stream come from it.
                asked = {**part.options, "n_train": n, "n_test": 0}
                tables[i] = part.source.table(asked, draws[i])
        due = _due(draw.random_state(), n, at, self._declared["width"])
        if not all(self._drawn):
            _give_shares(due, at)
        changes = tuple(t for t in (round(a * n) for a in at) if 0 < t < n)
        return freeze(apply_feature_options(draw.label, _taken(tables, due, changes), options))


def _label(label: str, i: int) -> str:
    """Return a label for part i of a composition; a generator's rows depend on this label."""
    return f"{label}/{i + 1}"


def _rows_of_files(tables: Mapping[int, Table], at: Sequence[float], *, earlier: bool = False) -> int:
    """Return the number of rows at which the first table is used up; `_ROWS` without tables.

    With `earlier`, return the number of an earlier version, which a rounding error could make smaller.
    """
    bounds = [0.0, *at, 1.0]
    quotients = (len(t.y) / (bounds[i + 1] - bounds[i]) for i, t in tables.items())
    # 100 / (1 - 2/3) is 299.99999999999994.
    n = min((int(each if earlier else round(each, 6)) for each in quotients), default=_ROWS)
    # A share between two changes may be rounded up.
    while _are_too_few(tables, at, n):
        n -= 1
    return n


def _are_too_few(tables: Mapping[int, Table], at: Sequence[float], n: int) -> bool:
    """Return whether some table has fewer rows than its share of a stream of n rows."""
    bounds = [0.0, *at, 1.0]
    return any(round(bounds[i + 1] * n) - round(bounds[i] * n) > len(t.y) for i, t in tables.items())


def _due(random_state: np.random.RandomState, n: int, at: Sequence[float], width: int) -> NDArray[np.int64]:
    """Choose the source of each of n rows, at random near changes if `width` > 0; return sources by index."""
    due = np.zeros(n, np.int64)
    t = np.arange(1, n + 1)
    for i, a in enumerate(at, start=1):
        if width:
            # Clip to ±700, since beyond that the exponential overflows or is 0.
            slope = np.clip(-4.0 * (t - a * n) / width, -700.0, 700.0)
            due[random_state.random_sample(n) < 1.0 / (1.0 + np.exp(slope))] = i
        else:
            due[t > round(a * n)] = i
    return due


def _give_shares(due: NDArray[np.int64], at: Sequence[float]) -> None:
    """Change `due` such that each source gives as many rows as with abrupt changes, with any seed.

    Otherwise a file could end long before the stream does. Rows farthest from a change are moved.
    """
    start = 0
    for i, a in enumerate(at):
        end = round(a * len(due))
        own = np.flatnonzero(due == i)
        excess = len(own) - (end - start)
        if excess > 0:
            due[own[-excess:]] = i + 1
        elif excess < 0:
            due[np.flatnonzero(due > i)[:-excess]] = i
        start = end


def _check_features(parts: Sequence[Part]) -> None:
    """Raise InputError if a column of files is not the same features in all parts.

    Parts with other numbers of features are refused when they are joined. Generators of sparse rows are
    refused here, because their rows are not drawn before the first cell.
    """
    for part in parts:
        if isinstance(part.source, GeneratorSource) and part.source.generator.row_bytes:
            raise InputError(
                f"compose: the rows of {part.source.name!r} are sparse, which cannot be composed; "
                "remove this source"
            )
    known = [
        (part.source.name, encoder)
        for part in parts
        if isinstance(part.source, FileSource) and (encoder := part.source.encoder(part.options)) is not None
    ]
    for name, encoder in known[1:]:
        first, expected = known[0]
        both = f"{first} and {name}"
        for i, (one, other) in enumerate(zip(expected.columns, encoder.columns, strict=False), start=1):
            if (one.name, one.role) != (other.name, other.role):
                raise InputError(
                    f"compose: column {i} of the features is {one.name!r} ({one.role}) in {first}, but "
                    f"{other.name!r} ({other.role}) in {name}; all need the same columns in the same order"
                )
            if one.marked != other.marked:
                raise InputError(
                    f"compose: column {one.name!r} has missing values, and so an indicator, in only one of "
                    f'{both}; set missing = "mean"'
                )
            if one.values != other.values:
                apart = sorted({*(one.values or ())} ^ {*(other.values or ())})
                raise InputError(
                    f"compose: only one of {both} has a feature for {listed(apart)} in column {one.name!r}; "
                    "ignore the column, or hash it (one_hot = 0, hash_bits = 8, dense = true)"
                )
        if (expected.n_hashed, expected.seed) != (encoder.n_hashed, encoder.seed):
            raise InputError(f"compose: hash_bits and hash_seed must be the same for {both}")


def _taken(tables: Mapping[int, Table], due: NDArray[np.int64], changes: tuple[int, ...]) -> Table:
    """Build the composed table: `due` has the source of each row; rows of a source keep their order."""
    first = tables[0]
    if any(is_sparse(table.X) for table in tables.values()):
        raise InputError("compose: a source is sparse; set dense = true in its table")
    widths = {table.X.shape[1] for table in tables.values()}
    if len(widths) > 1:
        raise InputError(
            f"compose: all sources must have the same number of features, found {sorted(widths)}"
        )
    kind: Any = np.result_type(*(table.X.dtype for table in tables.values()))
    X = np.empty((len(due), first.X.shape[1]), kind)
    y = np.empty(len(due), np.int32)
    for i, table in tables.items():
        places = np.flatnonzero(due == i)
        X[places], y[places] = table.X[: len(places)], table.y[: len(places)]
    return Table(X, y, first.classes, changes=changes)
