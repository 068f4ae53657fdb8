"""What a cell learns from and is tested on: made once in a process for all cells that share it."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from hashlib import sha256
from operator import attrgetter
from threading import Condition, Lock, local
from typing import Any
from weakref import ReferenceType, ref

import numpy as np
from cachetools import LRUCache, cached, cachedmethod
from numpy.typing import NDArray

from ...learners import BaselineCounts, take_rows
from .. import data
from ..errors import InputError
from ..noise import Circumstances, FeatureNoise
from ..noise.reference import reference_margins
from ..randomness import random_state
from ..study.cell import CellSpec
from .disturbance import disturbed, shares_by_class
from .excerpts import excerpt, held_bytes, matrix_bytes
from .online_scaling import standardised_along
from .splits import Fold, chosen_rows, split

# Cells come seed by seed, and task by task within a seed: what they share is used again at once, then with
# the next seed. Some twenty small tasks fit, or one or two of those that are just small enough to be copied.
# Of more tasks each seed opens the files again, which takes some milliseconds a task.
_SHARED_BYTES = 1 << 28
# Of that for the orders and labels of a task: those of so many repetitions and levels of noise, but no more
# bytes. A stream of over a million rows has them made for each of its cells, which take much longer.
_ORDERS, _ORDERS_BYTES = 256, 1 << 24
# Repetitions of a small task whose features are kept, and the bytes of them all.
_REPETITIONS, _FEATURES_BYTES = 10, 1 << 26
# For margins of a task's rows, where noise goes by them: eight bytes a row and repetition.
_MARGINS_BYTES = 1 << 24
_ALONG = "standardised along the stream"
# What the objects of an order take, about.
_OBJECTS = 1 << 12


@dataclass(frozen=True, eq=False)
class Material:
    """What the cells of one (data set, noise, seed) share, whatever the algorithm.

    Attributes
    ----------
    stream : data.Stream
    train : Fold
        The rows to learn from, in their order, with their clean codes.
    noisy : ndarray of int32, shape (n,)
        The labels that a learner is given for them.
    noise_realised : float
        Share of the examples that noise touched: the label given is not the clean one, or the row is changed.
    noise_by_class : list of (float or None), or None
        The same for each class of the task; of a class without an example None. None where there is no noise.
    held_out : tuple of (Fold, ndarray of int32) or None
        The rows that judge a grid, with their noisy labels.
    test : Fold or None
        The clean test part; None for cells that judge a grid, which are never tested.
    own_bytes : int
        What rows take that are its own: fitted to its training rows, or changed by noise.
    counted_from : int
        How many of the rows to learn from are learnt before counting begins.
    changes : tuple of int
        After how many of those that are counted the stream changes, where they are in its own order.
    followed : dict
        See `References`.
    """

    stream: data.Stream
    train: Fold
    noisy: NDArray[np.int32]
    noise_realised: float
    noise_by_class: list[float | None] | None
    held_out: tuple[Fold, NDArray[np.int32]] | None
    test: Fold | None
    own_bytes: int = 0
    counted_from: int = 0
    changes: tuple[int, ...] = ()
    followed: dict[tuple[int, bytes], BaselineCounts] = field(default_factory=dict)

    def with_all_features(self) -> Material:
        """Return the same with every feature under its own number."""
        held_out = self.held_out
        if held_out is not None:
            held_out = replace(held_out[0], renumbered=None), held_out[1]
        test = None if self.test is None else replace(self.test, renumbered=None)
        return replace(self, train=replace(self.train, renumbered=None), held_out=held_out, test=test)

    @property
    def n_bytes(self) -> int:
        """What its own arrays take, those that they are stretches of as a whole, and some objects."""
        folds = [self.train, *([self.test] if self.test is not None else [])]
        arrays = [self.noisy, *(array for fold in folds for array in (fold.rows, fold.codes))]
        held = _OBJECTS + self.own_bytes
        return held + sum(array.nbytes if array.base is None else array.base.nbytes for array in arrays)


def _cuts_of(_: object, spec: CellSpec) -> tuple[Hashable, ...]:
    cut = spec.judge, spec.test_fraction, spec.validation_fraction, spec.folds
    course = spec.course.order, spec.course.tune_fraction
    return spec.seed, spec.noise, spec.stage, spec.protocol, *cut, spec.max_train, spec.max_test, course


def _fit_of(_: object, task: data.TaskRef, rows: NDArray[np.int64]) -> Hashable:
    # All levels of noise of a repetition learn from the same rows.
    return sha256(rows.tobytes()).digest()


class _Source:
    """What the cells of a task share, whatever the noise: the stream, and what is read of it."""

    def __init__(self, spec: CellSpec, stream: data.Stream) -> None:
        rows, chosen = stream.rows, chosen_rows(spec, stream)
        if chosen is not None:
            rows = chosen if rows is None else rows[chosen]
        matrices = [(stream.X, rows)]
        if _tests(spec) and stream.X_test is not None:
            matrices.append((stream.X_test, stream.rows_test))
        self.stream, self.excerpt = stream, excerpt(matrices)
        arrays = [stream.y, stream.rows, stream.y_test, stream.rows_test]
        arrays += [stream.origin.y] if stream.origin is not None else []
        own = sum(array.nbytes for array in arrays if array is not None)
        # An order is a row number of eight bytes and two codes of four for each row.
        n = len(stream.y) if chosen is None else len(chosen)
        n += 0 if stream.y_test is None else len(stream.y_test)
        room = min(_ORDERS * (16 * n + _OBJECTS), _ORDERS_BYTES)
        # Features that repetitions have each their own of, where they are few bytes.
        size = (
            min(_REPETITIONS * matrix_bytes(self.excerpt.parts[0][1]), _FEATURES_BYTES)
            if spec.features
            else 0
        )
        if spec.features == _ALONG:
            # Each order has its own, which are kept with it.
            room, size = room + size, 0
        self.features: LRUCache[Hashable, Any] = LRUCache(size, held_bytes)
        self.fitting = Condition()
        self.n_bytes = own + self.excerpt.n_bytes + room + size
        self.materials: LRUCache[Hashable, Material] = LRUCache(room, lambda made: made.n_bytes)
        # Those of a long stream are kept all the same: no cell takes as long as they do.
        self.margins: LRUCache[Hashable, NDArray[np.float64]] = LRUCache(
            max(_MARGINS_BYTES, 8 * n), attrgetter("nbytes")
        )
        self.making = Condition()

    @cachedmethod(attrgetter("materials"), _cuts_of, condition=attrgetter("making"))
    def material(self, spec: CellSpec) -> Material:
        """Return what cells of one level of noise learn from and are tested on."""
        stream, near = self.stream, self.excerpt
        part, test = split(spec, stream)
        test = None if spec.stage == "tune" else test
        rng = random_state(
            spec.root_seed, spec.dataset.label, seed=spec.seed, purpose="noise", noise=spec.noise
        )
        # As the stream numbers them: classes before they are joined are looked up by that.
        rows, part = part.rows, near.fold(part, 0)
        if test is not None:
            test = near.fold(test, 1 if test.X is stream.X_test else 0)
        if spec.features == _ALONG:
            part, test = standardised_along(spec.dataset, part, test)
        elif spec.features:
            # Neither the order nor a part that judges a grid decides what the training rows are.
            X = self.fitted(spec.dataset, np.sort(part.rows))
            part = replace(part, X=X, renumbered=None)
            test = None if test is None else replace(test, X=X, renumbered=None)
        # Noise is told of the features that a learner would have without it.
        noisy = self._given_labels(spec, part, rows, rng)
        touched, own = noisy != part.codes, held_bytes(part.X) if spec.features else 0
        if isinstance(spec.noise, FeatureNoise):
            part, touched = disturbed(part, spec.noise, rng)
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
        return Material(stream, train, given, realised, by_class, held_out, test, own, prefix, changes)

    def _given_labels(
        self, spec: CellSpec, part: Fold, rows: NDArray[np.int64], rng: np.random.RandomState
    ) -> NDArray[np.int32]:
        """Return the labels that a learner is given for training rows; `rows` numbers them in the stream."""
        noise, stream = spec.noise, self.stream
        codes, classes, origin = part.codes, stream.classes, None
        if noise.level == "class":
            origin = stream.origin
            if origin is None:
                raise InputError(
                    f"data set {spec.dataset.label!r} joins no classes: noise has level = 'task'"
                )
            codes, classes = origin.y[rows], origin.classes
        along = spec.features == _ALONG
        about = Circumstances(
            classes,
            lambda: reference_margins(part.X, codes) if along else self._margins(part, codes, noise.level),
        )
        noisy = noise.corrupt(codes, len(classes), rng, about)
        return noisy if origin is None else origin.codes[noisy]

    def _margins(self, part: Fold, codes: NDArray[np.int32], level: str) -> NDArray[np.float64]:
        """Return the margins of rows, in their order, under a reference that is fitted to them."""
        order = np.argsort(part.rows)
        margins = np.empty(len(order))
        margins[order] = self._sorted_margins(part.X, part.rows[order], codes[order], level)
        return margins

    # The rows of a repetition are the same at every rate of noise, in another order; so are their features,
    # where those are changed by what is computed of the rows.
    @cachedmethod(
        attrgetter("margins"),
        lambda _, X, rows, codes, level: (sha256(rows).digest(), level),
        condition=attrgetter("making"),
    )
    def _sorted_margins(
        self, X: Any, rows: NDArray[np.int64], codes: NDArray[np.int32], level: str
    ) -> NDArray[np.float64]:
        return reference_margins(take_rows(X, rows), codes)

    @cachedmethod(attrgetter("features"), _fit_of, condition=attrgetter("fitting"))
    def fitted(self, task: data.TaskRef, rows: NDArray[np.int64]) -> Any:
        """Return the features that are read, changed by what is computed of some rows of them."""
        return data.fitted(task, self.excerpt.parts[0][1], rows)


def _read_of(spec: CellSpec, stream: data.Stream) -> tuple[Hashable, ...]:
    # All repetitions read the same rows, unless they are drawn anew: then it is another stream.
    has_test = _tests(spec) and stream.X_test is not None
    return stream, has_test, spec.max_examples, spec.course.order, spec.root_seed


def _tests(spec: CellSpec) -> bool:
    return spec.protocol == "holdout" and spec.stage == "run"


_source = cached(LRUCache(_SHARED_BYTES, lambda made: made.n_bytes), _read_of, condition=Condition())(_Source)

# Sources by what names them, as long as they are kept: a stream need not be looked up for every cell.
_known: LRUCache[Hashable, ReferenceType[_Source]] = LRUCache(1024)
_looking = Lock()


class _Last(local):
    """What a thread's last cell was given, as long as it is kept: most often the next one shares it."""

    name: tuple[Hashable, ...] = ()
    reference: ReferenceType[Material] | None = None


_last = _Last()


def _name_of(spec: CellSpec) -> tuple[Hashable, ...]:
    read = spec.protocol, _tests(spec), spec.max_examples, spec.course.order, spec.root_seed
    return spec.dataset, spec.fingerprint, *read


def material(spec: CellSpec) -> Material:
    """Return what a cell learns from and is tested on.

    Parameters
    ----------
    spec : CellSpec

    Returns
    -------
    Material
        Shared between threads; its arrays are not to be written to.

    Raises
    ------
    InputError
        The data cannot be found or are not what they should be, or cannot be split as asked; see `split`.
    """
    name = _name_of(spec)
    cuts = _cuts_of(None, spec)
    if name + cuts == _last.name and _last.reference is not None:
        last = _last.reference()
        if last is not None:
            return last
    made = _source_of(spec, name).material(spec)
    _last.name, _last.reference = name + cuts, ref(made)
    return made


def _source_of(spec: CellSpec, name: tuple[Hashable, ...]) -> _Source:
    if data.is_drawn(spec.dataset):
        # The others have one stream for all repetitions.
        name = *name, spec.seed
    with _looking:
        reference = _known.get(name)
    source = reference() if reference is not None else None
    if source is None:
        stream = data.open_stream(spec.dataset, root=spec.root_seed, seed=spec.seed, raw=bool(spec.features))
        if stream.fingerprint != spec.fingerprint:
            raise InputError(f"{spec.dataset.label}: its data have changed since the study began; run again")
        source = _source(spec, stream)
        with _looking:
            _known[name] = ref(source)
    return source
