"""The inputs that all cells of one (data, noise, seed) share: rows, labels, noisy labels, test part.

They are made once per process. Small tasks read a compact copy of their rows. Feature noise and online
scaling copy the rows in the order of the stream.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import sha256
from operator import attrgetter
from threading import Condition, Lock, local
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
from .splits import Codes, Floats, Fold, Rows, chosen_rows, split

# Rows of more bytes get no compact copy: making it would take longer than it saves, and a stream larger than
# memory leaves no memory for it.
_MOST_BYTES = 1 << 26
# Approximate bytes of the Python objects around arrays.
_OBJECTS = 1 << 12


@dataclass(frozen=True, eq=False)
class CompactCopy:
    """A copy of the training and test rows that a task uses; features that occur are renumbered if sparse."""

    # For the training and the test matrix: row numbers, ascending (None: all), the rows, and for CSR matrices
    # the rows with renumbered features.
    parts: tuple[tuple[Rows | None, Any, Any], ...]
    # Bytes that the copy takes or keeps from being freed.
    n_bytes: int

    def fold(self, fold: Fold, part: int) -> Fold:
        """Return a fold of the training matrix (part 0) or test matrix (part 1) as a fold of the copy."""
        rows, X, renumbered = self.parts[part]
        places = fold.rows if rows is None else np.searchsorted(rows, fold.rows)
        # Keep the whole matrix's number of rows per block: results of other packages' learners depend on it.
        return Fold(X, places, fold.codes, renumbered, fold.block_rows())


def compact_copy(matrices: list[tuple[Any, Rows | None]]) -> CompactCopy:
    """Copy the given rows (None for all) of the matrices, unless they are too large or all are used."""
    parts: list[tuple[Rows | None, Any, Any]] = []
    n_bytes = 0
    for X, rows in matrices:
        if rows is None or matrix_bytes(X) * (len(rows) / X.shape[0]) > _MOST_BYTES:
            parts.append((None, X, None))
        else:
            parts.append((rows, take_rows(X, rows), None))
        n_bytes += held_bytes(X) + (0 if parts[-1][1] is X else held_bytes(parts[-1][1]))
    if all(not isinstance(X, np.ndarray) and matrix_bytes(X) <= _MOST_BYTES for _, X, _ in parts):
        # Training and test rows share the numbering, because a learner knows each feature by one number.
        occurs = np.zeros(parts[0][1].shape[1], bool)
        for _, X, _ in parts:
            occurs[X.indices] = True
        occurring = np.flatnonzero(occurs)
        # Numbers of absent features are never read, so they stay uninitialized.
        numbers = np.empty(len(occurs), parts[0][1].indices.dtype)
        numbers[occurring] = np.arange(len(occurring))
        for i, (rows, X, _) in enumerate(parts):
            indices = numbers[X.indices].astype(X.indices.dtype, copy=False)
            renumbered = type(X)((X.data, indices, X.indptr), shape=(X.shape[0], len(occurring)))
            parts[i] = rows, X, renumbered
            n_bytes += indices.nbytes
    return CompactCopy(tuple(parts), n_bytes)


def held_bytes(X: Any) -> int:
    """Return the bytes of memory that a matrix takes; almost none if it is mapped from a file."""
    array = X if isinstance(X, np.ndarray) else X.data
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return _OBJECTS
        array = array.base
    return matrix_bytes(X) + _OBJECTS


def matrix_bytes(X: Any) -> int:
    """Return the bytes of a dense or CSR matrix."""
    if isinstance(X, np.ndarray):
        return X.nbytes
    return int(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes)


def with_feature_noise(
    part: Fold, noise: Noise, rng: np.random.RandomState
) -> tuple[Fold, NDArray[np.bool_]]:
    """Return a copy of the training rows with feature noise, and which rows it changed (bool, shape (n,))."""
    X = take_rows(part.X, part.rows)
    changed = noise.change_features(X, rng)
    renumbered = part.renumbered
    if renumbered is not None:
        # Noise changed only the values: combine them with the renumbered column indices.
        numbers = take_rows(renumbered, part.rows)
        renumbered = type(X)((X.data, numbers.indices, numbers.indptr), shape=numbers.shape)
    return Fold(X, np.arange(len(part.rows)), part.codes, renumbered, part.block_rows()), changed


def shares_by_class(touched: NDArray[np.bool_], codes: Codes, n_classes: int) -> list[float | None]:
    """Return the share of examples that noise changed in each class, or None for a class without examples."""
    n, hits = (np.bincount(of, minlength=n_classes).tolist() for of in (codes, codes[touched]))
    return [hit / each if each else None for hit, each in zip(hits, n, strict=True)]


def standardised_along(task: data.TaskRef, part: Fold, test: Fold | None) -> tuple[Fold, Fold | None]:
    """Return copies of a cell's rows, each training row standardized by itself and the rows before it.

    The test rows are standardized by the final statistics of the training rows. The rows get the ``bias`` and
    ``dtype`` of `task`. Raises InputError if values are too large to be standardized.
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


# Most bytes of cached inputs in a process. Cells run seed by seed, and task by task within a seed: shared
# inputs are used again at once, then with the next seed. About twenty small tasks fit, or one or two that are
# just small enough to be copied. With more tasks each seed opens the files again: milliseconds per task.
_SHARED_BYTES = 1 << 28
# Row orders and labels of a task are cached for this many pairs of repetition and noise level, and take at
# most this many bytes (part of `_SHARED_BYTES`). Orders of over a million rows exceed this limit: then each
# cell makes its order and labels again, which takes a small part of the cell's time.
_ORDERS, _ORDERS_BYTES = 256, 1 << 24
# Fitted features are cached for this many repetitions of a small task, in at most this many bytes.
_REPETITIONS, _FEATURES_BYTES = 10, 1 << 26
# Bytes for the cached margins of a task's rows, on which some noise depends: eight per row and repetition.
_MARGINS_BYTES = 1 << 24
_ALONG = "standardised along the stream"


@dataclass(frozen=True, eq=False)
class SharedInputs:
    """The inputs that the cells of one (data set, noise, seed) share, for all algorithms."""

    stream: data.Stream
    # The training rows in their order, with their clean codes.
    train: Fold
    # The labels of these rows that a learner gets: int32, shape (n,).
    noisy: Codes
    # Share of examples whose label or features noise changed, in all and for each class. The share of a class
    # without examples is None; without noise `noise_by_class` itself is None.
    noise_realised: float
    noise_by_class: list[float | None] | None
    # The rows on which the points of a grid are compared, with their noisy labels.
    held_out: tuple[Fold, Codes] | None
    # The clean test part; None for tuning cells, which are never tested.
    test: Fold | None
    # Bytes of rows that no other inputs share: their features are fitted to training rows or have noise.
    own_bytes: int = 0
    # Number of training rows that are learned before counting begins.
    counted_from: int = 0
    # Numbers of counted examples after which the concept changes, if the order is the given one.
    changes: tuple[int, ...] = ()
    # Cached counts of the baselines that see labels only.
    followed: dict[tuple[int, bytes], BaselineCounts] = field(default_factory=dict)

    def with_all_features(self) -> SharedInputs:
        """Return the same inputs with the original numbers of all features."""
        held_out = self.held_out
        if held_out is not None:
            held_out = replace(held_out[0], renumbered=None), held_out[1]
        test = None if self.test is None else replace(self.test, renumbered=None)
        return replace(self, train=replace(self.train, renumbered=None), held_out=held_out, test=test)

    @property
    def n_bytes(self) -> int:
        """Return the bytes of the arrays and objects; a view counts as the whole array it belongs to."""
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
    """The inputs that a task's cells share at all noise levels: the stream and a compact copy of its rows."""

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
        # An order takes 16 bytes per row: 8 for the row number, 4 for each label code (given and clean).
        n = len(stream.y) if chosen is None else len(chosen)
        n += 0 if stream.y_test is None else len(stream.y_test)
        room = min(_ORDERS * (16 * n + _OBJECTS), _ORDERS_BYTES)
        # Fitted features differ between repetitions; they are cached only if they take few bytes.
        bytes_of_features = matrix_bytes(self.copy.parts[0][1]) if spec.features else 0
        size = min(_REPETITIONS * bytes_of_features, _FEATURES_BYTES)
        if spec.features == _ALONG:
            # Features scaled online depend on the rows before, so they are cached with the row order.
            room, size = room + size, 0
        self.features: LRUCache[Hashable, Any] = LRUCache(size, held_bytes)
        self.fitting = Condition()
        self.n_bytes = own + self.copy.n_bytes + room + size
        self.inputs: LRUCache[Hashable, SharedInputs] = LRUCache(room, lambda made: made.n_bytes)
        # The margins of one stream always fit, however long: computing them takes longer than a cell.
        self.margins: LRUCache[Hashable, Floats] = LRUCache(max(_MARGINS_BYTES, 8 * n), attrgetter("nbytes"))
        self.making = Condition()

    @cachedmethod(attrgetter("inputs"), _cuts_of, condition=attrgetter("making"))
    def inputs_of(self, spec: CellSpec) -> SharedInputs:
        """Return the inputs of the cells of one repetition, noise level and stage."""
        stream, copy = self.stream, self.copy
        part, test = split(spec, stream)
        test = test if spec.tested else None
        rng = random_state(
            spec.root_seed, spec.dataset.label, seed=spec.seed, purpose="noise", noise=spec.noise
        )
        # Row numbers in the whole stream: noise of level 'class' looks up the rows' classes before the task
        # grouped them.
        rows, part = part.rows, copy.fold(part, 0)
        if test is not None:
            test = copy.fold(test, 1 if test.X is stream.X_test else 0)
        if spec.features == _ALONG:
            part, test = standardised_along(spec.dataset, part, test)
        elif spec.features:
            # Sorted, so that the same training rows in another order share the cached features.
            X = self.fitted(spec.dataset, np.sort(part.rows))
            part = replace(part, X=X, renumbered=None)
            test = None if test is None else replace(test, X=X, renumbered=None)
        # Label noise sees the features before feature noise is added.
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
            whole = n
            n -= max(1, round(n * spec.validation_fraction))
            held_out = part.part(n, whole), noisy[n:whole]
        train, given, touched = part.part(0, n), noisy[:n], touched[:n]
        by_class = shares_by_class(touched, train.codes, len(stream.classes)) if spec.noise.rate else None
        known = stream.changes if spec.course.order == "given" else ()
        changes = tuple(t - prefix for t in known if prefix < t < n)
        realised = float(np.mean(touched))
        return SharedInputs(stream, train, given, realised, by_class, held_out, test, own, prefix, changes)

    def _given_labels(self, spec: CellSpec, part: Fold, rows: Rows, rng: np.random.RandomState) -> Codes:
        """Return the labels that a learner gets for training rows; `rows` are their numbers in the stream."""
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
        """Return the margins of rows, in their order, under a reference model fitted to them."""
        order = np.argsort(part.rows)
        margins = np.empty(len(order))
        margins[order] = self._sorted_margins(part.X, part.rows[order], codes[order], level)
        return margins

    # Cached by the row numbers: all noise rates of a repetition have the same rows, in different orders, so
    # they share the margins. X depends on these rows alone, because features are fitted to them or unchanged.
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
        """Return the copy's matrix with features transformed as the task asks, by statistics of `rows`."""
        return data.fitted(task, self.copy.parts[0][1], rows)


def _read_of(spec: CellSpec, stream: data.Stream) -> tuple[Hashable, ...]:
    # All repetitions read the same rows, unless each draws a new stream.
    has_test = _tests(spec) and stream.X_test is not None
    return stream, has_test, spec.max_examples, spec.course.order, spec.root_seed


def _tests(spec: CellSpec) -> bool:
    return spec.protocol == "holdout" and spec.tested


_source = cached(LRUCache(_SHARED_BYTES, lambda made: made.n_bytes), _read_of, condition=Condition())(_Source)

# Sources in use, by name, so that a cell need not open its stream to find its source.
_known: LRUCache[Hashable, ReferenceType[_Source]] = LRUCache(1024)
_looking = Lock()


class _Last(local):
    """The inputs of a thread's last cell, as long as they are cached: usually the next cell shares them."""

    name: tuple[Hashable, ...] = ()
    reference: ReferenceType[SharedInputs] | None = None


_last = _Last()


def _name_of(spec: CellSpec) -> tuple[Hashable, ...]:
    read = spec.protocol, _tests(spec), spec.max_examples, spec.course.order, spec.root_seed
    return spec.dataset, spec.fingerprint, *read


def inputs_of(spec: CellSpec) -> SharedInputs:
    """Return the inputs of a cell, which threads share: their arrays must not be changed."""
    name = _name_of(spec)
    cuts = _cuts_of(None, spec)
    if name + cuts == _last.name and _last.reference is not None:
        last = _last.reference()
        if last is not None:
            return last
    made = _source_of(spec, name).inputs_of(spec)
    _last.name, _last.reference = name + cuts, ref(made)
    return made


def _source_of(spec: CellSpec, name: tuple[Hashable, ...]) -> _Source:
    if data.is_drawn(spec.dataset):
        # Drawn data have one stream per repetition, other data one for all.
        name = *name, spec.seed
    with _looking:
        reference = _known.get(name)
    source = reference() if reference is not None else None
    if source is None:
        stream = data.open_stream(spec.dataset, root=spec.root_seed, seed=spec.seed, raw=bool(spec.features))
        if stream.fingerprint != spec.fingerprint:
            raise InputError(
                f"data set {spec.dataset.label!r}: its data have changed since the study began: run it again"
            )
        source = _source(spec, stream)
        with _looking:
            _known[name] = ref(source)
    return source
