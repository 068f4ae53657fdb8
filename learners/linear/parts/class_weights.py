"""Class weights: the cost of an error on a row of each class."""

import numpy as np
from numba import types
from numba.extending import overload

from ...numeric.compiled import INLINE
from ...numeric.rows import in_kernels_only


def weights_by_code(learner):
    """Return the weight ω of each class by its code, None for a learner without ``class_weight``.

    Raises
    ------
    ValueError
        If a label of ``class_weight`` is not a class.
    """
    if learner.class_weight is None:
        return None
    codes = {label: code for code, label in enumerate(learner.classes_.tolist())}
    weights = np.ones(len(codes))
    for label, weight in learner.class_weight.items():
        if label not in codes:
            raise ValueError(
                f"{type(learner).__name__}: class_weight names {label!r}, but the classes are "
                f"{', '.join(map(repr, codes))}"
            )
        weights[codes[label]] = weight
    return weights


def weight_of(weights, code):
    """Return the weight of a row's class, in a kernel; without weights it is the constant 1."""
    raise in_kernels_only("weight_of")


@overload(weight_of, jit_options=INLINE)
def _weight_of_kind(weights, code):
    if isinstance(weights, types.NoneType):
        return lambda weights, code: 1.0
    return lambda weights, code: weights[code]
