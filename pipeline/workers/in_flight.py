"""Record which cells the threads of a process are running, so that the run after a crash knows the suspects.

The record is a small file, mapped into memory, with a slot for each thread. Before a thread runs a cell, it
writes the cell's key to its slot, which takes a microsecond; when idle, it writes blanks. The file survives
any end of the process.
"""

from __future__ import annotations

import contextlib
import hashlib
import mmap
import os

from .. import data

# Bytes of a thread's slot in the file: a cell's key has this many hexadecimal digits.
_SLOT = 32


class InFlight:
    """Context manager that records the running cells in a file, and deletes the file after a normal end.

    `output` is the absolute folder or the URL of the results; each output has a separate record.
    `n_slots` is the number of threads. `left` has the keys of the cells that were running when the previous
    run crashed.
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
        # If the cache cannot be written, the run goes on without a record.
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            # Keep the cells of the previous, crashed run in the file until this run has ended normally.
            left = "".join(sorted(self.left)).encode()
            # Replace the file instead of changing it: another process may still have the previous one mapped.
            scratch = self._path.with_name(f".{os.getpid()}-{self._path.name}")
            scratch.write_bytes(b" " * self._n_slots * _SLOT + left)
            scratch.replace(self._path)
            with self._path.open("r+b") as file:
                self._map = mmap.mmap(file.fileno(), 0)
        return self

    def note(self, slot: int, key: str) -> None:
        """Record that a thread starts the cell with this key, or is idle if the key is empty.

        `slot` is the number of the thread.
        """
        if self._map is not None:
            self._map[slot * _SLOT : (slot + 1) * _SLOT] = key[:_SLOT].ljust(_SLOT).encode()

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._map is not None:
            self._map.close()
            self._map = None
        with contextlib.suppress(OSError):
            if self.left and kind is not None:
                self._path.write_text("".join(sorted(self.left)))
            else:
                self._path.unlink()
