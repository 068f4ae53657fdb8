"""Start a program that ends when its parent ends: ``launch.py BYTES PROGRAM ARGUMENT...``.

BYTES limits the program's address space; 0 sets no limit. `processes` runs this script as a separate process,
because a process with threads cannot safely set these limits for a child before it executes the program.
"""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Set the limits, and replace this process by the program."""
    n_bytes, *command = sys.argv[1:]
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if int(n_bytes):
        resource.setrlimit(resource.RLIMIT_AS, (int(n_bytes), int(n_bytes)))
    os.execv(command[0], command)


if __name__ == "__main__":
    main()
