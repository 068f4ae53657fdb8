"""Plug-ins that a run must survive, as texts of their files."""

from __future__ import annotations

# It acts only on data of 30 features, so that a study also has the learner on data where it is harmless.
_PLUGIN = """
import os, signal, sys, time
import numpy as np
from numba import njit
from singlepass.learners import Perceptron

@njit(nogil=True)
def _busy(cell):
    while cell[0] >= 0:
        cell[0] = (cell[0] + 1) % 1000

@njit
def _busy_alone(cell):
    while cell[0] >= 0:
        cell[0] = (cell[0] + 1) % 1000

class Poison(Perceptron):
    def learn(self, X, y, classes=None):
        if X.shape[1] == 30:
            {action}
        return super().learn(X, y, classes=classes)
"""
_ACTIONS = {
    "exit": "os._exit(1)",
    "sys.exit": "sys.exit(3)",
    # What the kernel does to a process that uses too much memory.
    "kill": "os.kill(os.getpid(), signal.SIGKILL)",
    "sleep": "while True: time.sleep(0.1)",
    "busy": "_busy(np.zeros(1, np.int64))",
    # Compiled code that keeps the GIL: no other thread of the process can run.
    "freeze": "_busy_alone(np.zeros(1, np.int64))",
    # Only nonzero bytes take real memory; at some 0.8 GB per second a watcher has time to act.
    "memory": "eaten = []\n            while True: eaten.append(b'x' * (1 << 24)); time.sleep(0.02)",
    "array": "np.ones(1 << 36)",
}


def poison(kind: str) -> str:
    """Return a plug-in with the learner ``Poison``, which acts by `kind` on data of 30 features.

    "exit" ends the process with status 1, "sys.exit" raises SystemExit, "kill" sends SIGKILL. The next three
    never return: "sleep" sleeps, "busy" runs compiled code, "freeze" runs compiled code that keeps the GIL.
    "memory" allocates memory step by step, "array" 512 GB at once.
    """
    return _PLUGIN.format(action=_ACTIONS[kind])


# It sleeps, so that a run is long enough to be disturbed on any machine.
_SLOW = """
import time
from singlepass.learners import Perceptron

class Slow(Perceptron):
    def learn(self, X, y, classes=None):
        if not getattr(self, "_slept_", False):
            time.sleep(SECONDS)
            self._slept_ = True
        return super().learn(X, y, classes=classes)
"""


def slow(seconds: float) -> str:
    """Return a plug-in with the learner ``Slow``, a Perceptron that takes this long for a cell."""
    return f"SECONDS = {seconds}\n{_SLOW}"
