"""Rows of a cell standardised along its stream: a copy, in the order of the stream."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from ...learners import RunningScale, take_rows
from .. import data
from ..errors import InputError
from .splits import Fold


def standardised_along(task: data.TaskRef, part: Fold, test: Fold | None) -> tuple[Fold, Fold | None]:
    """Return a cell's rows, each standardised by itself and the rows before it.

    Parameters
    ----------
    task : data.TaskRef
        Its ``bias`` and ``dtype`` are given to the rows.
    part : Fold
        The training rows as they stand, in their order.
    test : Fold or None
        The test rows, which are standardised by what all training rows come to.

    Returns
    -------
    part, test : Fold
        Of matrices of their own.

    Raises
    ------
    InputError
        Values are too large to be standardised.
    """
    scale = RunningScale(part.n_features)

    def blocks() -> Iterator[Any]:
        for _, _, X in part.blocks():
            try:
                yield scale.standardised(X).astype(X.dtype)
            except OverflowError as error:
                raise InputError(
                    f"data set {task.label!r}: {error}; divide it by a constant, or leave standardize out"
                ) from None

    X = data.along_stream(task, blocks(), len(part.rows))
    end = scale.means, scale.spreads
    if test is not None:
        rows = data.standardised(task, take_rows(test.X, test.rows), *end)
        test = replace(test, X=rows, rows=np.arange(len(rows)), renumbered=None)
    return Fold(X, np.arange(len(X)), part.codes, None, part.block_rows()), test
