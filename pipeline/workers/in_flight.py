"""Which cells are being run by threads of a process, for the run that comes after one that died.

A small file, mapped into memory: a cell is noted before it begins, which takes a microsecond, and what was
noted is in the file however the process ends. It has a slot for each thread: the key of its cell, or blanks.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os
from types import TracebackType

from .. import data

# Hexadecimal digits of a cell's key.
_SLOT = 32


class InFlight:
    """The cells that are being run; a context that ends in good order leaves none.

    Parameters
    ----------
    output : str
        Folder, absolute, or URL of the results: what was in flight is remembered for each.
    n_slots : int
        Threads.

    Attributes
    ----------
    left : frozenset of str
        Keys of the cells that the run before was at when it died.
    """

    def __init__(self, output: str, n_slots: int) -> None:
        name = hashlib.sha256(output.encode()).hexdigest()[:32]
        self._path = data.cache_folder() / "in-flight" / name
        self._n_slots = n_slots
        self.left = self._read()
        self._map: mmap.mmap | None = None

    def _read(self) -> frozenset[str]:
        with contextlib.suppress(OSError):
            text = self._path.read_bytes().decode("ascii", "replace")
            slots = (text[start : start + _SLOT] for start in range(0, len(text), _SLOT))
            return frozenset(slot for slot in slots if slot.isalnum())
        return frozenset()

    def __enter__(self) -> InFlight:
        size = (self._n_slots + len(self.left)) * _SLOT
        # A cache that cannot be written costs this memory, not the run.
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # What the run before was at stays noted until this one has come to its end.
            left = "".join(sorted(self.left)).encode()
            # A new file: whoever has the one before mapped keeps it.
            scratch = self._path.with_name(f".{os.getpid()}-{self._path.name}")
            scratch.write_bytes(b" " * self._n_slots * _SLOT + left)
            scratch.replace(self._path)
            with self._path.open("r+b") as file:
                self._map = mmap.mmap(file.fileno(), size)
        return self

    def begin(self, slot: int, key: str) -> None:
        """Note that a thread begins a cell."""
        self._write(slot, key)

    def end(self, slot: int) -> None:
        """Note that it has ended."""
        self._write(slot, "")

    def _write(self, slot: int, key: str) -> None:
        if self._map is not None:
            self._map[slot * _SLOT : (slot + 1) * _SLOT] = key[:_SLOT].ljust(_SLOT).encode()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._map is not None:
            self._map.close()
            self._map = None
        with contextlib.suppress(OSError):
            if self.left and kind is not None:
                self._path.write_text("".join(sorted(self.left)))
            else:
                self._path.unlink()
