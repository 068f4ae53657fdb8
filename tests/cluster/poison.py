"""Plug-ins that a run must survive, as the text of their files."""

from __future__ import annotations

# Poisonous on data of 30 features alone: a study has the same learner on data that it does nothing to.
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
    # What the kernel does to a process that takes too much memory.
    "kill": "os.kill(os.getpid(), signal.SIGKILL)",
    "sleep": "while True: time.sleep(0.1)",
    "busy": "_busy(np.zeros(1, np.int64))",
    # Compiled code that keeps the interpreter: no other thread of the process gets a turn.
    "freeze": "_busy_alone(np.zeros(1, np.int64))",
    # Bytes that are not zero are really there; some 0.8 GB a second, so that who watches can act.
    "memory": "eaten = []\n            while True: eaten.append(b'x' * (1 << 24)); time.sleep(0.02)",
    "array": "np.ones(1 << 36)",
}


def poison(kind: str) -> str:
    """Return a plug-in with the learner ``Poison``, which on data of 30 features does what `kind` says.

    Parameters
    ----------
    kind : {"exit", "sys.exit", "kill", "sleep", "busy", "freeze", "memory", "array"}
        End the process with status 1 at once, raise SystemExit, end it by SIGKILL; never return, asleep, in
        compiled code, in compiled code that keeps the interpreter; take memory bit by bit, or 512 GB at once.
    """
    return _PLUGIN.format(action=_ACTIONS[kind])


# Sleeps: a run of it is long enough to be disturbed on any machine.
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
    """Return a plug-in with the learner ``Slow``, a Perceptron that takes so long over a cell."""
    return f"SECONDS = {seconds}\n{_SLOW}"
