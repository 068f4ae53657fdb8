"""Build arrays block by block, and read large arrays step by step, both in bounded memory."""

from __future__ import annotations

import io
import mmap
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, Generic, TypeVar

import numpy as np
import numpy.typing as npt

from .folders import writing

T = TypeVar("T", bound=np.generic)

# Arrays up to this size stay in memory, larger ones go to disk. A reader builds several arrays at once and
# copies each block once, so it needs several times this memory.
_SPILL_BYTES = 1 << 24
# Blocks of fewer bytes than this are collected in memory before they are written to disk.
_SMALL_BYTES = 1 << 16
# Bytes that one step over a large array reads.
_STEP_BYTES = 1 << 24
# Bytes that are left free before the values in a file, so that `linked` can write an ``.npy`` header there.
_HEADER_BYTES = 128
# The unnamed file of each memory mapping, so that `linked` can give it a name.
_files: weakref.WeakKeyDictionary[mmap.mmap, IO[bytes]] = weakref.WeakKeyDictionary()


class SpillingArray(Generic[T]):
    """Collect blocks of values into a one-dimensional array, which is moved to disk if it becomes large.

    It is then in a file without a name in `folder`, which disappears with the last array that maps it.
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
        # Once the array is in a file, a large block is written to it directly, without a copy.
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
            whole = np.memmap(self._file, self._dtype, "r", _HEADER_BYTES, (self.size,))
            mapping = _mapping(whole)
            _files[mapping] = self._file
            self._closing.detach()
            weakref.finalize(mapping, self._file.close)
        return whole.reshape(shape) if shape is not None else whole

    def _spill(self) -> None:
        with writing(self._folder):
            if self._file is None:
                self._folder.mkdir(parents=True, exist_ok=True)
                self._file = _unnamed_file(self._folder)
                self._closing = weakref.finalize(self, self._file.close)
                self._file.write(bytes(_HEADER_BYTES))
            for block in self._blocks:
                self._file.write(block.data)
        self._blocks, self._held = [], 0


def _unnamed_file(folder: Path) -> IO[bytes]:
    try:
        # Open a file without a name. `TemporaryFile` would do so too, but `linked` could not name its file.
        return os.fdopen(os.open(folder, os.O_TMPFILE | os.O_RDWR | os.O_CLOEXEC, 0o666), "w+b")
    except (AttributeError, OSError):
        return tempfile.TemporaryFile(dir=folder)


def linked(array: npt.NDArray[Any], path: Path) -> bool:
    """Save an array from `SpillingArray` as the ``.npy`` file `path`: link its unnamed file, without copying.

    Returns False if this is not possible: the array is in memory or a part of another array, or the
    system or the file system cannot link unnamed files.
    """
    mapping = _mapping(array)
    file = None if mapping is None else _files.get(mapping)
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, np.lib.format.header_data_from_array_1_0(array))
    if file is None or header.tell() != _HEADER_BYTES:
        return False
    if array.nbytes + _HEADER_BYTES != os.fstat(file.fileno()).st_size:
        return False
    with suppress(OSError):
        # Pass `src_dir_fd`, since only then Python follows the symbolic link in /proc to the file. Its value
        # is ignored, because the path is absolute.
        os.link(f"/proc/self/fd/{file.fileno()}", path, src_dir_fd=file.fileno())
        os.pwrite(file.fileno(), header.getbuffer(), 0)
        # Forget the file, so that it is linked only once: a second name would share the header, which gives
        # the shape of this array.
        del _files[mapping]
        return True
    return False


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
    """Free the memory of a memory-mapped array, or of a view of one; it is read again when it is used."""
    base = _mapping(array)
    if base is not None and hasattr(mmap, "MADV_DONTNEED"):
        base.madvise(mmap.MADV_DONTNEED)


def _mapping(array: npt.NDArray[Any]) -> Any:
    """Return the `mmap` object of a memory-mapped array, or of a view of one; None for an array in memory."""
    base: Any = array
    while isinstance(base, np.ndarray):
        base = base.base
    return base if isinstance(base, mmap.mmap) else None
