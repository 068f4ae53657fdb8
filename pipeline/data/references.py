"""Answer questions about a task reference, and change features by the training rows of a protocol."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from .resolve import find_source
from .tables.features import (
    FeatureFit,
    assembled,
    change_features,
    computed,
    fit_features,
    scaled_online,
)
from .tables.options import Value
from .tables.stream import Rows
from .tables.tasks import TaskRef, task_codes

FeatureFitted: TypeAlias = Literal["", "on training rows", "online"]


def feature_fit(ref: TaskRef) -> FeatureFitted:
    """Return which rows determine how a task's features are changed: none, training rows, or rows so far.

    If the data have an official test part, the training rows are its training part. Otherwise a protocol that
    cuts a test part must open the stream with ``raw`` (`open_stream`) and change the features by the rows
    that it learns from (`fitted`). A cell that changes them along its stream (`along_stream`) does so under
    every protocol.
    """
    return _feature_fit(ref.source, ref.label, ref.options)


# Cached, because every cell calls it.
@functools.lru_cache(maxsize=1024)
def _feature_fit(source: str, label: str, given: tuple[tuple[str, Value], ...]) -> FeatureFitted:
    options = find_source(source).options_of(TaskRef(label, source, "", label, given))
    if scaled_online(options):
        return "online"
    return "on training rows" if computed(options) else ""


def task_classes(ref: TaskRef) -> tuple[tuple[str, ...], tuple[str, ...] | None]:
    """Return the names of a task's classes, and of those it joins, without opening declared data.

    Parameters
    ----------
    ref : TaskRef
        The task.

    Returns
    -------
    classes : tuple of str
        In the order of their codes.
    joined : tuple of str or None
        The classes of the data set, in their order; None for a task that leaves rows out.

    Examples
    --------
    >>> from singlepass.pipeline.data import expand
    >>> task_classes(expand(name="digits", task="one-vs-rest:3")[0])
    (('rest', '3'), ('0', '1', '2', '3', '4', '5', '6', '7', '8', '9'))
    """
    source = find_source(ref.source)
    own = source.classes(source.options_of(ref))
    codes, names = task_codes(ref, own, source.groupings)
    return names, own if codes.min() >= 0 else None


def is_drawn(ref: TaskRef) -> bool:
    """Return whether a task has different rows in each repetition, as generators do."""
    return _is_drawn(ref.source)


# Cached, because every cell calls it, and a cell may take only a tenth of a millisecond.
@functools.lru_cache(maxsize=1024)
def _is_drawn(source: str) -> bool:
    return find_source(source).is_drawn


def has_test(ref: TaskRef) -> bool:
    """Return whether a task's data have an official test part, without opening the data."""
    source = find_source(ref.source)
    return source.has_test(source.options_of(ref))


def notes(ref: TaskRef) -> tuple[str, ...]:
    """Return notes on how the features of a task were made, one line each."""
    source = find_source(ref.source)
    return source.notes(source.options_of(ref))


def fitted(ref: TaskRef, X: Any, rows: Rows) -> Any:
    """Return features of a stream opened raw, changed as the task asks by statistics of training rows.

    Parameters
    ----------
    ref : TaskRef
        The task.
    X : ndarray or CSR array
        The stream's features, or a compact copy of some rows.
    rows : ndarray of int64
        The training rows of X, ascending.
    """
    source = find_source(ref.source)
    options = source.options_of(ref)
    return change_features(ref.label, X, fit_features(ref.label, X, options, rows), options)


def along_stream(ref: TaskRef, blocks: Iterable[Any], n_rows: int) -> Any:
    """Return rows that were standardised along a stream, with the task's ``bias`` and ``dtype`` applied.

    Parameters
    ----------
    ref : TaskRef
        The task.
    blocks : iterable of ndarray
        The rows in stream order.
    n_rows : int
        Total number of rows.
    """
    return assembled(ref.label, blocks, n_rows, find_source(ref.source).options_of(ref))


def standardised(ref: TaskRef, X: Any, mean: NDArray[np.float64], spread: NDArray[np.float64]) -> Any:
    """Return rows standardised by given statistics, with the task's ``bias`` and ``dtype`` applied.

    Parameters
    ----------
    ref : TaskRef
        The task.
    X : ndarray of shape (n, d)
        Unchanged rows; missing values become 0.
    mean, spread : ndarray of float64, shape (d,)
        Mean and standard deviation of each feature.
    """
    fit = FeatureFit(mean, mean, spread)
    return change_features(ref.label, X, fit, find_source(ref.source).options_of(ref))
