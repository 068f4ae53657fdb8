"""Whether there is room in memory for what a cell's learner will need, looked at before it begins."""

from __future__ import annotations

from typing import Any

import psutil

from ..errors import InputError
from .splits import Fold

# Less than this is not asked for: to look takes longer than many a cell.
_SMALL_BYTES = 1 << 28


def check_room(learner: Any, part: Fold, n_classes: int) -> None:
    """Refuse a learner whose model would not fit into the memory that is free.

    Parameters
    ----------
    learner : StreamLearner
        One that can tell what its model will take has `state_bytes`; others are let pass.
    part : Fold
        The rows to learn from.
    n_classes : int

    Raises
    ------
    InputError
        Says what it would take, and what is free.
    """
    tell = getattr(learner, "state_bytes", None)
    if tell is None:
        return
    numbered = part.n_occurring if learner.indifferent_to_absent_features else None
    n_features = part.n_features if numbered is None else numbered
    needed = tell(n_classes, n_features)
    if needed < _SMALL_BYTES:
        return
    free = psutil.virtual_memory().available
    if needed > free:
        raise InputError(
            f"its model of {n_features:,} features and {n_classes} classes takes {needed / 1e9:.1f} GB, and "
            f"{free / 1e9:.1f} GB are free: fewer features (n_features, hash_bits), or a larger machine"
        )
