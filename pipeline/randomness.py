"""Random streams that depend only on the study's root seed and on what they are for.

Every draw of the pipeline (sample, order, label noise, split) comes from here. The algorithm is never part of
the key, so all algorithms of a (dataset, noise, seed) meet the same rows in the same order with the same
flipped labels, and comparisons are paired.
"""

from __future__ import annotations

import functools
import hashlib
from typing import Literal

import numpy as np

from .noise import CLEAN, Noise

Purpose = Literal["draw", "split", "order", "noise", "learner"]

# A sample or a split belongs to (dataset, seed) alone: noise levels are compared on the same test rows.
_WITHOUT_NOISE = ("draw", "split")


@functools.lru_cache(maxsize=1024)
def _code(text: str) -> int:
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def random_state(
    root: int, dataset: str, *, seed: int, purpose: Purpose, noise: Noise = CLEAN
) -> np.random.RandomState:
    """Return the generator of one (dataset, noise, seed) for one purpose.

    Parameters
    ----------
    root : int
        The study's root seed, >= 0.
    dataset : str
        Label of the task, such as ``"digits[3-vs-rest]"``.
    seed : int
        The repetition, >= 0.
    purpose : {"draw", "split", "order", "noise", "learner"}
        What the numbers are for; "draw" and "split" ignore `noise`.
    noise : Noise, default=no noise
        That of the cell.

    Returns
    -------
    numpy.random.RandomState
        RandomState rather than Generator: NumPy keeps its streams frozen for ever (NEP 19), those of
        Generator may change with a release, and results must be the same next year.

    Examples
    --------
    >>> random_state(0, "digits", seed=1, purpose="order").permutation(5).tolist()
    [1, 3, 4, 2, 0]
    """
    noise_code = 0 if purpose in _WITHOUT_NOISE else noise.code
    key = (_code(dataset), _code(purpose), noise_code, seed)
    return np.random.RandomState(np.random.PCG64(np.random.SeedSequence(root, spawn_key=key)))
