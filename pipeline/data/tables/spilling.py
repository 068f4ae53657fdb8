"""A matrix under construction, dense or CSR, in bounded memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ...errors import InputError
from ..io.spill import SpillingArray
from .stream import is_sparse


class SpillingMatrix:
    """Rows that are added block by block.

    Parameters
    ----------
    folder : Path
        Where a large one is kept, in files without a name.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._parts: list[SpillingArray[Any]] = []

    def append(self, X: Any) -> None:
        """Add rows; they are copied.

        Raises
        ------
        InputError
            There are too many non-zeros, or the folder cannot be written.
        """
        if not self._parts:
            self._parts = [SpillingArray(X.dtype.type, self._folder)]
            if is_sparse(X):
                self._parts += [SpillingArray(np.int32, self._folder) for _ in range(2)]
                self._parts[2].append(np.zeros(1))
        if not is_sparse(X):
            self._parts[0].append(X)
            return
        data, indices, ends = self._parts
        if data.size + X.nnz >= 2**31:
            raise InputError("2^31 non-zeros or more; the index of a stream is 32 bit, so split the file")
        ends.append(X.indptr[1:] + data.size)
        data.append(X.data)
        indices.append(X.indices)

    def finish(self, shape: tuple[int, int]) -> Any:
        """Return the matrix: in memory, or mapped and read-only."""
        if len(self._parts) == 1:
            return self._parts[0].finish(shape)
        from scipy.sparse import csr_array

        data, indices, ends = (part.finish() for part in self._parts)
        return csr_array((data, indices, ends), shape=shape)
