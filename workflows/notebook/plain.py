"""Values as a study file would hold them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePath
from typing import Any

import numpy as np


def plain(value: Any) -> Any:
    """Return a value with arrays, tuples and ranges as lists, and NumPy's numbers as Python's.

    Examples
    --------
    >>> plain({"r": np.array([0.5, 1.0]), "seeds": range(2)})
    {'r': [0.5, 1.0], 'seeds': [0, 1]}
    """
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(each) for each in value]
    return value
