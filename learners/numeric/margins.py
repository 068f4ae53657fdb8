"""Margins for two and for many classes, predictions, probabilities, and counts of wrong predictions."""

import numpy as np
from scipy.special import expit, softmax

from .compiled import INLINE, compiled, register_jitable


@register_jitable(**INLINE)
def signed(code):
    """Return the label of two classes as +1.0 (code 1) or -1.0 (code 0)."""
    return 1.0 if code == 1 else -1.0


@register_jitable(**INLINE)
def best_wrong(scores, y):
    """Return the class other than `y` with the largest score.

    On a tie it is the class with the lowest number; a NaN score counts as the largest.
    """
    best = 1 if y == 0 else 0
    for z in range(best + 1, scores.shape[0]):
        if z != y and not scores[z] <= scores[best]:
            if scores[best] != scores[best]:
                break
            best = z
    return best


@register_jitable(**INLINE)
def signed_margin(f, y):
    """Return the margin of class `y`, given the single score of two classes or the K scores of K classes."""
    return signed(y) * f[0] if f.shape[0] == 1 else f[y] - f[best_wrong(f, y)]


@register_jitable(**INLINE)
def predicted_code(f):
    """Return the predicted class, given the single score of two classes or the K scores of K classes.

    A single score predicts class 1 if it is > 0. K scores predict the class with the largest one, the first
    on a tie; a NaN score counts as the largest.
    """
    if f.shape[0] == 1:
        return 1 if f[0] > 0.0 else 0
    predicted = 0
    # The class of the first NaN score is predicted, as NumPy's argmax would do.
    for z in range(1, f.shape[0]):
        if f[predicted] == f[predicted] and not f[z] <= f[predicted]:
            predicted = z
    return predicted


def probabilities(scores):
    """Return the probability of each class, shape (n, K), from log odds of shape (n,) or (n, K).

    Infinite scores give the limit: largest scores that are infinite share the probability.
    """
    if scores.ndim == 1:
        return np.stack([expit(-scores), expit(scores)], axis=1)
    largest = scores.max(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", over="ignore"):
        return softmax(np.where(scores == largest, 0.0, scores - largest), axis=1)


def _is_mistake(f, y):
    return not signed_margin(f, y) > 0.0


# The margin is undefined if scores have overflowed; compiled code does not warn of this, unlike NumPy.
is_mistake = compiled(_is_mistake, nogil=False)


@compiled
def count_wrong(scores, codes):
    """Count the rows whose predicted class is not their label; scores have shape (n, 1) or (n, K)."""
    wrong = 0
    for t in range(scores.shape[0]):
        wrong += predicted_code(scores[t]) != codes[t]
    return wrong
