"""Create random generators, each determined by the root seed, task, noise, seed and purpose.

The pipeline draws samples, row orders, noise and splits with them. They do not depend on the algorithm, so
that all algorithms of a (data set, noise, seed) see the same rows in the same order with the same noisy
labels, and comparisons are paired.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Literal

import numpy as np

from .noise import CLEAN, Noise

Purpose = Literal["draw", "split", "order", "noise", "learner"]

# Purposes whose random numbers do not depend on the noise (samples and splits), so that all noise levels have
# the same test rows.
_WITHOUT_NOISE = ("draw", "split")


@functools.lru_cache(maxsize=1024)
def _code(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def random_state(
    root: int, dataset: str, *, seed: int, purpose: Purpose, noise: Noise = CLEAN
) -> np.random.RandomState:
    """Return a new random generator for one (data set, noise, seed) and one purpose.

    Purposes "draw" and "split" ignore `noise`. `root` and `seed` are at least 0; `dataset` is the label of
    the task, such as ``"digits[3-vs-rest]"``. A RandomState is used, because NumPy never changes the numbers
    that it draws (NEP 19), while those of Generator may change with a release.
    """
    noise_code = 0 if purpose in _WITHOUT_NOISE else noise.code
    key = (_code(dataset), _code(purpose), noise_code, seed)
    return np.random.RandomState(np.random.PCG64(np.random.SeedSequence(root, spawn_key=key)))
