"""Weights of classes: what an error on a row of each class costs."""

import numpy as np
from numba import types
from numba.extending import overload

from ...numeric.compiled import INLINE
from ...numeric.rows import in_kernels_only


def weights_by_code(learner):
    """Return the ω of each class by its code, None for a learner without ``class_weight``.

    Raises
    ------
    ValueError
        For a label that is no class.
    """
    if learner.class_weight is None:
        return None
    codes = {label: code for code, label in enumerate(learner.classes_.tolist())}
    weights = np.ones(len(codes))
    for label, weight in learner.class_weight.items():
        if label not in codes:
            raise ValueError(
                f"{type(learner).__name__}: class_weight names {label!r}, which is none of the classes "
                f"{', '.join(map(repr, codes))}"
            )
        weights[codes[label]] = weight
    return weights


def weight_of(weights, code):
    """Return the ω of a row's class, in a kernel; without weights it is 1, and compiled away."""
    raise in_kernels_only("weight_of")


@overload(weight_of, jit_options=INLINE)
def _weight_of_kind(weights, code):
    if isinstance(weights, types.NoneType):
        return lambda weights, code: 1.0
    return lambda weights, code: weights[code]
