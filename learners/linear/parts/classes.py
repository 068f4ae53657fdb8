"""Operations on one row for a learner of K classes: class weights, scores of all classes, updates.

The state is a (d, width) array: it has a row for each feature and a column for each class, padded to whole
SIMD vectors. Scoring reads the K numbers of each non-zero feature together, from one or a few cache lines;
with an array for each class it would read K lines. An update changes two columns at the row's non-zeros.
"""

from __future__ import annotations

import numpy as np
from numba import types

from ...numeric.compiled import INLINE, compiled, register_jitable
from ...numeric.rows import by_types, copy_into, entry, n_entries, n_rows, new_state, row
from ...numeric.vector import class_sums


def weights_by_code(learner):
    """Return an array of the class weights ω, indexed by class code; None without a ``class_weight``.

    A label of ``class_weight`` that is not a class raises ValueError.
    """
    if getattr(learner, "class_weight", None) is None:
        return None
    codes = {label: code for code, label in enumerate(learner.classes_.tolist())}
    # `codes` may be shorter than the classes: `RiverClassifier` has None for each label yet to occur.
    weights = np.ones(len(learner.classes_))
    for label, weight in learner.class_weight.items():
        if label not in codes:
            raise ValueError(
                f"{type(learner).__name__}: class_weight names {label!r}, but the classes are "
                f"{', '.join(repr(each) for each in codes if each is not None)}"
            )
        weights[codes[label]] = weight
    return weights


@by_types(**INLINE)
def weight_of(weights, code):
    """Return the weight of the class with this code; the constant 1 if `weights` is None."""
    if isinstance(weights, types.NoneType):
        return lambda weights, code: 1.0
    return lambda weights, code: weights[code]


def new_class_state(n_features, n_classes, value=0.0, place=0):
    """Return a float64 array of shape (n_features, width); width is n_classes, rounded up to SIMD vectors.

    `value` fills the array. Arrays that one loop reads together need different `place`, see `new_state`.

    >>> new_class_state(5, 10).shape
    (5, 16)
    """
    step = 4 if n_classes <= 4 else 8
    width = -(-n_classes // step) * step
    return new_state(n_features * width, value, place).reshape(n_features, width)


def by_class(state, n_classes):
    """Return the state of all classes, without padding, as a view of shape (n_classes, n_features)."""
    return state[:, :n_classes].T


_linear_sums = class_sums(lambda w, x: w * x)


@register_jitable(**INLINE)
def score_classes(W, x, sums, scores):
    """Write the score w_z·x of each class z into `scores`; `sums`, as wide as W, gets them too."""
    _linear_sums((W,), x, (), sums)
    copy_into(scores, sums)


@compiled
def class_scores(X, W, scores):
    """Write the score ``w_z·x`` of each row x and class z into `scores`, of shape (n, K) for n rows."""
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        score_classes(W, row(X, t), sums, scores[t])


@register_jitable(**INLINE)
def add_to_pair(W, a, x, y, z):
    """Add ``a x`` to the weights of class y, and subtract ``a x`` from the weights of class z."""
    y, z = np.uintp(y), np.uintp(z)
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        W[j, y] += a * x_j
        W[j, z] -= a * x_j
