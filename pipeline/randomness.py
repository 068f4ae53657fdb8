"""Create random generators, each determined by the root seed, task, noise, seed and purpose.

The pipeline draws samples, orders, noise and splits with them. The algorithm is never part of the key, so
that all algorithms of a (data set, noise, seed) see the same rows in the same order with the same flipped
labels, and comparisons are paired.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Literal

import numpy as np

from .noise import CLEAN, Noise

Purpose = Literal["draw", "split", "order", "noise", "learner"]

# Samples and splits ignore the noise, so that noise levels are compared on the same test rows.
_WITHOUT_NOISE = ("draw", "split")


@functools.lru_cache(maxsize=1024)
def _code(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def random_state(
    root: int, dataset: str, *, seed: int, purpose: Purpose, noise: Noise = CLEAN
) -> np.random.RandomState:
    """Return the generator of one (data set, noise, seed) for one purpose.

    Purposes "draw" and "split" ignore `noise`. `root` and `seed` are at least 0; `dataset` is the label of
    the task, such as ``"digits[3-vs-rest]"``. The generator is a RandomState, because NumPy never changes its
    streams (NEP 19), while those of Generator may change with a release.
    """
    noise_code = 0 if purpose in _WITHOUT_NOISE else noise.code
    key = (_code(dataset), _code(purpose), noise_code, seed)
    return np.random.RandomState(np.random.PCG64(np.random.SeedSequence(root, spawn_key=key)))
