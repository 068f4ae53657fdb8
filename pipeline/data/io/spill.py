"""Build arrays block by block in bounded memory, and pass over large ones without filling memory."""

from __future__ import annotations

import mmap
import tempfile
import weakref
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from ...errors import InputError

T = TypeVar("T", bound=np.generic)

# Arrays up to this size stay in memory, larger ones go to disk. A reader builds several arrays at once and
# copies each block once, so it needs several times this memory.
_SPILL_BYTES = 1 << 24
# Smaller blocks are collected before they are written.
_SMALL_BYTES = 1 << 16
# Bytes in one step of a pass over a large array.
_STEP_BYTES = 1 << 24


class SpillingArray(Generic[T]):
    """Collect blocks into a one-dimensional array.

    A large array is stored in an unnamed file in `folder`, which disappears with the last array that maps it.
    """

    def __init__(self, dtype: type[T], folder: Path) -> None:
        self._dtype = np.dtype(dtype)
        self._folder = folder
        self._blocks: list[npt.NDArray[T]] = []
        self._held = 0
        self._file: IO[bytes] | None = None
        self.size = 0

    def append(self, values: npt.NDArray[Any]) -> None:
        """Add copies of values at the end; raise InputError if the folder cannot be written or is full."""
        # Later blocks of a large array are written at once.
        copy = self._file is None or values.nbytes < _SMALL_BYTES
        block = np.array(values, dtype=self._dtype, order="C", copy=copy or None).reshape(-1)
        self._blocks.append(block)
        self._held += block.nbytes
        self.size += block.size
        if self._held > _SPILL_BYTES or not copy:
            self._spill()

    def finish(self, shape: tuple[int, ...] | None = None) -> npt.NDArray[T]:
        """Return the array, either in memory or memory-mapped and read-only."""
        if self._file is None:
            whole = np.concatenate(self._blocks) if self._blocks else np.empty(0, dtype=self._dtype)
            self._blocks = []
        else:
            self._spill()
            self._file.flush()
            whole = np.memmap(self._file, dtype=self._dtype, mode="r", shape=(self.size,))
            # The mapping has its own handle, so it stays valid.
            self._file.close()
        return whole.reshape(shape) if shape is not None else whole

    def _spill(self) -> None:
        try:
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (lives as long as this)
                weakref.finalize(self, self._file.close)
            for block in self._blocks:
                self._file.write(block.data)
        except OSError as error:
            raise InputError(
                f"{self._folder}: the cache cannot be written ({error.strerror}); "
                "set SINGLEPASS_CACHE to a folder that can"
            ) from None
        self._blocks, self._held = [], 0


def steps(array: npt.NDArray[Any]) -> Iterator[memoryview]:
    """Yield the bytes of a C-contiguous array, a few MB at a time.

    Pages of a memory-mapped array are released after each step, so that a pass over a file larger than memory
    takes little memory.
    """
    flat: Any = np.ascontiguousarray(array).reshape(-1)
    if flat.size == 0:
        return
    step = max(1, _STEP_BYTES // flat.itemsize)
    for start in range(0, flat.size, step):
        yield memoryview(flat[start : start + step]).cast("B")
        release(array)


def release(array: npt.NDArray[Any]) -> None:
    """Release the pages of a memory-mapped array, or of a view of one; the system reads them again on use."""
    base: Any = array
    while isinstance(base, np.ndarray) and base.base is not None:
        base = base.base
    if isinstance(base, mmap.mmap) and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)
