"""Label noise: every training label is replaced independently with a fixed probability."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def flip_labels(
    codes: NDArray[np.int32], rate: float, n_classes: int, rng: np.random.RandomState
) -> NDArray[np.int32]:
    """Return the labels as the learner is given them.

    Parameters
    ----------
    codes : ndarray of int32, shape (n,)
        Clean class codes in 0 .. n_classes - 1.
    rate : float in [0, 1)
        Probability that a label is replaced (AROW paper §5.3: flipped, if binary; §5.4: by another class
        drawn uniformly, if multi-class).
    n_classes : int
        Number of classes, at least 2.
    rng : numpy.random.RandomState
        The cell's noise generator.

    Returns
    -------
    ndarray of int32, shape (n,)
        A new array; `codes` itself is never written to.

    Examples
    --------
    >>> flip_labels(np.zeros(6, dtype=np.int32), 0.5, 2, np.random.RandomState(0)).tolist()
    [0, 0, 0, 0, 1, 0]
    """
    replaced = rng.random_sample(len(codes)) < rate
    # Any of the other classes: a shift by 1 .. n_classes - 1 never lands on the label itself.
    shift = rng.randint(1, n_classes, size=len(codes)).astype(np.int32)
    return np.where(replaced, (codes + shift) % n_classes, codes).astype(np.int32)
