"""Declare the data sets that come with scikit-learn, which need no file and no download."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..tables.options import FEATURE_OPTIONS, STANDARDIZE, Option
from ..tables.stream import Table

# Digits drawn with a loop or bow, as opposed to straight ones (Wang & Vucetic's task on USPS).
ROUND_DIGITS = ("0", "3", "6", "8", "9")
DIGITS = tuple("0123456789")


@dataclass(frozen=True)
class BundledSet:
    """Declare a bundled set.

    Attributes
    ----------
    load : callable
        Returns the Table, with features scaled as `note` says but not standardised.
    shape : tuple of int
        Rows and features.
    classes : tuple of str
        Class names in code order.
    licence, note : str
        Terms of use; scaling and order of the rows.
    options : mapping of str to Option
        Options that a study may set.
    groupings : mapping of str to tuple of str
        Named sets of classes that together are the positive class of a task.
    """

    name: str
    load: Callable[[], Table]
    shape: tuple[int, int]
    classes: tuple[str, ...]
    licence: str
    note: str
    options: Mapping[str, Option] = field(default_factory=lambda: FEATURE_OPTIONS)
    groupings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def _load_digits() -> Table:
    from sklearn.datasets import load_digits

    bunch = load_digits()
    # 16 is the largest pixel value; it is a power of two, so the division is exact.
    X = np.ascontiguousarray(bunch.data, dtype=np.float64) / 16.0
    return Table(X, bunch.target.astype(np.int32), DIGITS)


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
            classes=DIGITS,
            licence="UCI repository set (CC BY 4.0), with scikit-learn",
            note="pixels divided by 16, in [0, 1]",
            groupings={"round": ROUND_DIGITS},
        ),
        BundledSet(
            name="breast-cancer",
            load=_load_breast_cancer,
            shape=(569, 30),
            classes=("malignant", "benign"),
            licence="UCI repository set (CC BY 4.0), with scikit-learn",
            note="standardised over all 569 rows (standardize = false: raw units); 'benign' is positive",
            # Raw columns differ by a factor of 100,000 (areas against fractal dimensions): without scaling, a
            # linear learner would use only the areas.
            options={**FEATURE_OPTIONS, "standardize": replace(STANDARDIZE, default=True)},
        ),
    )
}
