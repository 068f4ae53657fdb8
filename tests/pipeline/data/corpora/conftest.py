"""Provide a helper for tests of corpora: a matrix as lists, with its layout checked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest


@pytest.fixture
def dense() -> Callable[[Any], list[list[float]]]:
    """Return the rows of a CSR matrix after checking its dtypes and column order."""

    def rows(X: Any) -> list[list[float]]:
        assert X.dtype == np.float32
        assert X.indices.dtype == X.indptr.dtype == np.int32
        assert X.has_sorted_indices
        found: list[list[float]] = X.toarray().tolist()
        return found

    return rows
