"""Declare the data sets that come with scikit-learn, which need no file and no download."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ..tables.options import FEATURE_OPTIONS, STANDARDIZE, Option
from ..tables.stream import Table

_DIGITS = tuple("0123456789")


@dataclass(frozen=True)
class BundledSet:
    """Declare a bundled set."""

    name: str
    #: Returns the features scaled as `note` says, but not standardised.
    load: Callable[[], Table]
    #: Rows and features.
    shape: tuple[int, int]
    #: In code order.
    classes: tuple[str, ...]
    #: Terms of use.
    licence: str
    #: Scaling and order of the rows.
    note: str
    #: Options that a study may set.
    options: Mapping[str, Option] = field(default_factory=lambda: FEATURE_OPTIONS)
    #: Named sets of classes that together are the positive class of a task.
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
            note="standardised over all 569 rows (standardize = false: raw units); 'benign' is positive",
            # Raw columns differ by a factor of 100,000 (areas against fractal dimensions): without scaling, a
            # linear learner would use only the areas.
            options={**FEATURE_OPTIONS, "standardize": replace(STANDARDIZE, default=True)},
        ),
    )
}
