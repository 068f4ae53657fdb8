"""Starts a program that ends with whoever started it: ``launch.py BYTES PROGRAM ARGUMENT...``.

BYTES limits the program's address space, 0 leaves it as it is. Run by `processes`, in a process of its own:
what is set here before the program takes its place cannot be set from a process that has threads.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Set what the program inherits, and become it."""
    n_bytes, *command = sys.argv[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if int(n_bytes):
        resource.setrlimit(resource.RLIMIT_AS, (int(n_bytes), int(n_bytes)))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
