"""The inputs that all cells of one (data, noise, seed) share: rows, labels, noisy labels, test part.

They are made once per process and cached. Cells of a small task read a copy that has only the rows used. With
feature noise or online scaling, the changed rows are stored in the order of the stream.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from operator import attrgetter
from threading import Condition, local
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
from cachetools import LRUCache, cached, cachedmethod
from numpy.typing import NDArray

from ...learners import BaselineCounts, RunningScale, take_rows
from .. import data
from ..errors import InputError
from ..noise import Circumstances, Noise, reference_margins
from ..randomness import random_state
from ..study.cell import CellSpec
from .splits import Codes, Floats, Fold, Rows, before_validation, chosen_rows, split

# Most bytes of rows that are copied (see `CompactCopy`). Copying more would take longer than it saves, and a
# stream larger than memory leaves no room for the copy.
_MOST_BYTES = 1 << 26
# Approximate bytes of the Python objects that contain the arrays of cached inputs.
_OBJECTS = 1 << 12


@dataclass(frozen=True, eq=False)
class CompactCopy:
    """A copy of only the training and test rows that a task uses; if sparse, without absent features."""

    # For the training matrix and, if there is one, the test matrix: the numbers of the copied rows, ascending
    # (None: all), these rows, and for CSR matrices the rows with only the features that occur, renumbered.
    parts: tuple[tuple[Rows | None, Any, Any], ...]
    # Bytes of memory of the copy plus those of the original matrices, which stay in memory with it.
    n_bytes: int

    def fold(self, fold: Fold, part: int) -> Fold:
        """Return `fold` with rows of the copy of the training matrix (`part` 0) or test matrix (1)."""
        rows, X, renumbered = self.parts[part]
        places = fold.rows if rows is None else np.searchsorted(rows, fold.rows)
        # Keep the number of rows per block of the original: results of other packages' learners depend on it.
        return Fold(X, places, fold.codes, renumbered, fold.block_rows())


def compact_copy(matrices: list[tuple[Any, Rows | None]]) -> CompactCopy:
    """Copy the given rows of each matrix; use the matrix itself if they are all rows (None) or too large."""
    parts: list[tuple[Rows | None, Any, Any]] = []
    n_bytes = 0
    for X, rows in matrices:
        if rows is None or data.matrix_bytes(X) * (len(rows) / X.shape[0]) > _MOST_BYTES:
            parts.append((None, X, None))
        else:
            parts.append((rows, take_rows(X, rows), None))
        n_bytes += held_bytes(X) + (0 if parts[-1][1] is X else held_bytes(parts[-1][1]))
    if all(not isinstance(X, np.ndarray) and data.matrix_bytes(X) <= _MOST_BYTES for _, X, _ in parts):
        # Renumber the features that occur in training or test rows, in the same way for both matrices.
        occurs = np.zeros(parts[0][1].shape[1], bool)
        for _, X, _ in parts:
            occurs[X.indices] = True
        occurring = np.flatnonzero(occurs)
        # The new number of each feature; those of absent features are never read, so they stay uninitialized.
        numbers = np.empty(len(occurs), parts[0][1].indices.dtype)
        numbers[occurring] = np.arange(len(occurring))
        for i, (rows, X, _) in enumerate(parts):
            indices = numbers[X.indices].astype(X.indices.dtype, copy=False)
            renumbered = type(X)((X.data, indices, X.indptr), shape=(X.shape[0], len(occurring)))
            parts[i] = rows, X, renumbered
            n_bytes += indices.nbytes
    return CompactCopy(tuple(parts), n_bytes)


def held_bytes(X: Any) -> int:
    """Return the bytes of memory that a matrix takes; almost none if its file is mapped into memory."""
    array = X if isinstance(X, np.ndarray) else X.data
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return _OBJECTS
        array = array.base
    return data.matrix_bytes(X) + _OBJECTS


def with_feature_noise(
    part: Fold, noise: Noise, rng: np.random.RandomState
) -> tuple[Fold, NDArray[np.bool_]]:
    """Return a copy of the training rows with feature noise, and which rows it changed (bool, shape (n,))."""
    X = take_rows(part.X, part.rows)
    changed = noise.change_features(X, rng)
    renumbered = part.renumbered
    if renumbered is not None:
        # Feature noise changes only stored values, so the renumbered copy takes the new values too.
        numbers = take_rows(renumbered, part.rows)
        renumbered = type(X)((X.data, numbers.indices, numbers.indptr), shape=numbers.shape)
    return Fold(X, np.arange(len(part.rows)), part.codes, renumbered, part.block_rows()), changed


def shares_by_class(touched: NDArray[np.bool_], codes: Codes, n_classes: int) -> list[float | None]:
    """Return, for each class, the share of its examples that noise changed, or None if it has no examples."""
    n, hits = (np.bincount(of, minlength=n_classes).tolist() for of in (codes, codes[touched]))
    return [hit / each if each else None for hit, each in zip(hits, n, strict=True)]


def standardised_along(task: data.TaskRef, part: Fold, test: Fold | None) -> tuple[Fold, Fold | None]:
    """Return copies of a cell's training and test rows, standardized online.

    Each training row is standardized by the mean and spread of the rows up to and including it; test rows by
    those of all training rows. The rows get the ``bias`` and ``dtype`` of `task`. Raises InputError if values
    are too large to be standardized.
    """
    scale = RunningScale(part.n_features)

    def blocks() -> Iterator[Any]:
        for _, _, X in part.blocks():
            try:
                yield scale.standardised(X).astype(X.dtype)
            except OverflowError as error:
                raise InputError(
                    f"data set {task.label!r}: {error}; divide them by a constant, or remove standardize"
                ) from None

    X = data.along_stream(task, blocks(), len(part.rows))
    end = scale.means, scale.spreads
    if test is not None:
        rows = data.standardised(task, take_rows(test.X, test.rows), *end)
        test = replace(test, X=rows, rows=np.arange(len(rows)), renumbered=None)
    return Fold(X, np.arange(len(X)), part.codes, None, part.block_rows()), test


# Most bytes of cached inputs in a process. Cells run seed by seed, and task by task within a seed: successive
# cells use a task's inputs, and cells of the next seed again. About twenty small tasks fit, or one or two of
# nearly `_MOST_BYTES`. With more tasks, files are opened again for each seed: milliseconds per task.
_SHARED_BYTES = 1 << 28
# Most pairs of repetition and noise level for which a task's row order and labels are cached, and most bytes
# of these (part of `_SHARED_BYTES`). Tasks of over a million rows exceed the bytes: each of their cells then
# makes its order and labels again, which takes a small part of the cell's time.
_ORDERS, _ORDERS_BYTES = 256, 1 << 24
# Most repetitions of a task whose features, standardized by their training rows, are cached; and most bytes.
_REPETITIONS, _FEATURES_BYTES = 10, 1 << 26
# Most bytes of a task's cached margins, which take 8 bytes per row and repetition. A margin is a row's
# distance from a decision boundary, on which margin noise depends.
_MARGINS_BYTES = 1 << 24
_ALONG = "standardised along the stream"


@dataclass(frozen=True, eq=False)
class SharedInputs:
    """The rows and labels that the cells of all algorithms share for one (data set, noise, seed)."""

    stream: data.Stream
    # The training rows in the order in which they are learned, with their clean class codes.
    train: Fold
    # The labels of the training rows that a learner gets, with noise if any: int32, shape (n,).
    noisy: Codes
    # Share of training examples whose label or features the noise changed: in all, and for each class (None
    # for a class without examples). Without noise, `noise_by_class` is None.
    noise_realised: float
    noise_by_class: list[float | None] | None
    # The validation rows, on which the parameter settings of a grid are compared, with their noisy labels;
    # None if settings are not compared on validation rows.
    held_out: tuple[Fold, Codes] | None
    # The test rows with clean labels; None without test rows or if the cell is not tested.
    test: Fold | None
    # Bytes of rows that only these inputs use, because features are standardized by their training rows or
    # have noise.
    own_bytes: int = 0
    # Number of first training rows that are learned but left out of all results.
    counted_from: int = 0
    # Numbers of counted examples after which the concept changes (drift), if the data set declares this and
    # its order is kept.
    changes: tuple[int, ...] = ()
    # Cached counts of the baseline classifiers, which depend on the labels only.
    followed: dict[tuple[int, bytes], BaselineCounts] = field(default_factory=dict)

    def with_all_features(self) -> SharedInputs:
        """Return the same inputs without renumbered features: columns are those of the data set."""
        held_out = self.held_out
        if held_out is not None:
            held_out = replace(held_out[0], renumbered=None), held_out[1]
        test = None if self.test is None else replace(self.test, renumbered=None)
        return replace(self, train=replace(self.train, renumbered=None), held_out=held_out, test=test)

    @property
    def n_bytes(self) -> int:
        """Return the bytes of memory of these inputs; a view of an array counts as the whole array."""
        folds = [self.train, *([self.test] if self.test is not None else [])]
        arrays = [self.noisy, *(array for fold in folds for array in (fold.rows, fold.codes))]
        held = _OBJECTS + self.own_bytes
        return held + sum(array.nbytes if array.base is None else array.base.nbytes for array in arrays)


def _cuts_of(_: object, spec: CellSpec) -> tuple[Hashable, ...]:
    cut = spec.judge, spec.test_fraction, spec.validation_fraction, spec.folds
    course = spec.course.order, spec.course.tune_fraction
    stage = spec.stage, spec.tested
    return spec.seed, spec.noise, *stage, spec.protocol, *cut, spec.max_train, spec.max_test, course


class _Source:
    """The opened data of a task, with caches of the inputs that are made from them for its cells.

    All noise levels and stages of the task share it: the stream, and a copy of the rows that are used.
    """

    def __init__(self, spec: CellSpec, stream: data.Stream) -> None:
        rows, chosen = stream.rows, chosen_rows(spec, stream)
        if chosen is not None:
            rows = chosen if rows is None else rows[chosen]
        matrices = [(stream.X, rows)]
        if _tests(spec) and stream.X_test is not None:
            matrices.append((stream.X_test, stream.rows_test))
        self.stream, self.copy = stream, compact_copy(matrices)
        arrays = [stream.y, stream.rows, stream.y_test, stream.rows_test]
        arrays += [stream.origin.y] if stream.origin is not None else []
        own = sum(array.nbytes for array in arrays if array is not None)
        # Size of the cache of row orders and labels, which take 16 bytes per row: 8 for the row number, and 4
        # each for the given and the clean label.
        n = len(stream.y) if chosen is None else len(chosen)
        n += 0 if stream.y_test is None else len(stream.y_test)
        room = min(_ORDERS * (16 * n + _OBJECTS), _ORDERS_BYTES)
        # Size of the cache of features standardized by training rows, which differ between repetitions.
        bytes_of_features = data.matrix_bytes(self.copy.parts[0][1]) if spec.features else 0
        size = min(_REPETITIONS * bytes_of_features, _FEATURES_BYTES)
        if spec.features == _ALONG:
            # Features that are scaled online depend on the row order, so they are cached with it instead.
            room, size = room + size, 0
        self.features: LRUCache[Hashable, Any] = LRUCache(size, held_bytes)
        self.fitting = Condition()
        self.n_bytes = own + self.copy.n_bytes + room + size
        self.inputs: LRUCache[Hashable, SharedInputs] = LRUCache(room, lambda made: made.n_bytes)
        # Even for a long stream there is room for its margins, because computing them takes longer than a
        # cell.
        self.margins: LRUCache[Hashable, Floats] = LRUCache(max(_MARGINS_BYTES, 8 * n), attrgetter("nbytes"))
        self.making = Condition()

    @cachedmethod(attrgetter("inputs"), _cuts_of, condition=attrgetter("making"))
    def inputs_of(self, spec: CellSpec) -> SharedInputs:
        """Return the inputs of a cell, made once for all cells of the same repetition, noise and stage."""
        stream, copy = self.stream, self.copy
        part, test = split(spec, stream)
        test = test if spec.tested else None
        rng = random_state(
            spec.root_seed, spec.dataset.label, seed=spec.seed, purpose="noise", noise=spec.noise
        )
        # Keep the row numbers in the whole stream: noise of level 'class' uses them to look up the original
        # classes, which the task may have joined.
        rows, part = part.rows, copy.fold(part, 0)
        if test is not None:
            test = copy.fold(test, 1 if test.X is stream.X_test else 0)
        if spec.features == _ALONG:
            part, test = standardised_along(spec.dataset, part, test)
        elif spec.features:
            # Row numbers are sorted, so that the same rows in another order use the same cache entry.
            X = self.fitted(spec.dataset, np.sort(part.rows))
            part = replace(part, X=X, renumbered=None)
            test = None if test is None else replace(test, X=X, renumbered=None)
        # Draw noisy labels first: they may depend on the features, but never on noisy features.
        noisy = self._given_labels(spec, part, rows, rng)
        touched, own = noisy != part.codes, held_bytes(part.X) if spec.features else 0
        if not spec.noise.relabels:
            part, touched = with_feature_noise(part, spec.noise, rng)
            own += held_bytes(part.X)
        n, held_out = len(part.rows), None
        prefix = spec.course.prefix(n)
        if spec.stage == "tune" and prefix:
            n, prefix = prefix, 0
        if spec.stage == "tune" and spec.judge == "validation":
            whole, n = n, before_validation(spec, n)
            held_out = part.part(n, whole), noisy[n:whole]
        train, given, touched = part.part(0, n), noisy[:n], touched[:n]
        by_class = shares_by_class(touched, train.codes, len(stream.classes)) if spec.noise.rate else None
        known = stream.changes if spec.course.order == "given" else ()
        changes = tuple(t - prefix for t in known if prefix < t < n)
        realised = float(np.mean(touched))
        return SharedInputs(stream, train, given, realised, by_class, held_out, test, own, prefix, changes)

    def _given_labels(self, spec: CellSpec, part: Fold, rows: Rows, rng: np.random.RandomState) -> Codes:
        """Return noisy labels for the training rows `part`; `rows` are the rows' numbers in the stream."""
        noise, stream = spec.noise, self.stream
        codes, classes, origin = part.codes, stream.classes, None
        if noise.level == "class":
            origin = stream.origin
            if origin is None:
                raise InputError(
                    f"data set {spec.dataset.label!r}: level = 'class' is noise among all classes, but this "
                    "task leaves some out: set level = 'task'"
                )
            codes, classes = origin.y[rows], origin.classes
        along = spec.features == _ALONG
        about = Circumstances(
            classes,
            lambda: reference_margins(part.X, codes) if along else self._margins(part, codes, noise.level),
        )
        noisy = noise.corrupt(codes, len(classes), rng, about)
        return noisy if origin is None else origin.codes[noisy]

    def _margins(self, part: Fold, codes: Codes, level: str) -> Floats:
        """Return each row's margin: its distance from the boundary of a reference model fitted to them."""
        order = np.argsort(part.rows)
        margins = np.empty(len(order))
        margins[order] = self._sorted_margins(part.X, part.rows[order], codes[order], level)
        return margins

    # Cached by the sorted row numbers, because all noise rates of a repetition have the same rows, in
    # different orders. The cache key needs no X: its features are unchanged or standardized by these rows.
    @cachedmethod(
        attrgetter("margins"),
        lambda _, X, rows, codes, level: (sha256(rows).digest(), level),
        condition=attrgetter("making"),
    )
    def _sorted_margins(self, X: Any, rows: Rows, codes: Codes, level: str) -> Floats:
        return reference_margins(take_rows(X, rows), codes)

    # Cached by the row numbers, because all noise levels of a repetition learn from the same rows.
    @cachedmethod(
        attrgetter("features"),
        lambda _, task, rows: sha256(rows).digest(),
        condition=attrgetter("fitting"),
    )
    def fitted(self, task: data.TaskRef, rows: Rows) -> Any:
        """Return the training matrix with features standardized or filled by the statistics of `rows`."""
        return data.fitted(task, self.copy.parts[0][1], rows)


def _tests(spec: CellSpec) -> bool:
    return spec.protocol == "holdout" and spec.tested


def _read_of(spec: CellSpec) -> tuple[Hashable, ...]:
    # Only data that differ by seed give each seed its own stream.
    seed = spec.seed if data.differs_by_seed(spec.dataset) else None
    has_test = _tests(spec) and data.has_test(spec.dataset)
    read = spec.max_examples, spec.course.order, spec.root_seed
    return spec.dataset, spec.fingerprint, bool(spec.features), has_test, seed, *read


@cached(LRUCache(_SHARED_BYTES, lambda made: made.n_bytes), _read_of, condition=Condition())
def _source(spec: CellSpec) -> _Source:
    """Open the data of a cell, once for all cells that read the same rows."""
    stream = data.open_stream(spec.dataset, root=spec.root_seed, seed=spec.seed, raw=bool(spec.features))
    if stream.fingerprint != spec.fingerprint:
        raise InputError(
            f"data set {spec.dataset.label!r}: its data have changed since the study began: run it again"
        )
    return _Source(spec, stream)


class _Last(local):
    """The inputs of the last cell of a thread, for the next cell, which usually has the same inputs.

    The reference is weak, so that it does not keep inputs in memory.
    """

    name: tuple[Hashable, ...] = ()
    reference: ReferenceType[SharedInputs] | None = None


_last = _Last()


def inputs_of(spec: CellSpec) -> SharedInputs:
    """Return the inputs of a cell. Other threads may use the same arrays, so they must not be changed."""
    read = spec.dataset, spec.fingerprint, spec.max_examples, spec.root_seed
    name = *read, *_cuts_of(None, spec)
    if name == _last.name and _last.reference is not None:
        last = _last.reference()
        if last is not None:
            return last
    made = _source(spec).inputs_of(spec)
    _last.name, _last.reference = name, ref(made)
    return made
