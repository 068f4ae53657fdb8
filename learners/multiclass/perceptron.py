"""The multi-class Perceptron: on a mistake the right block gains x and the best wrong one loses it."""

import numpy as np
from numba.extending import register_jitable

from ..linear.parts.classes import add_to_pair, best_wrong, score_classes
from ..numeric.compiled import compiled
from ..numeric.rows import n_rows, row


@compiled
def learn(X, codes, scores, W):
    """One pass with the last hypothesis."""
    mistakes = 0
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        score_classes(W, x, sums, s)
        z = best_wrong(s, y)
        if not s[y] - s[z] > 0.0:
            add_to_pair(W, 1.0, x, y, z)
            mistakes += 1
    return mistakes, mistakes


@register_jitable
def _score_averaged(W, U, x, rounds, sums, missing, scores):
    """Write the scores of the last hypothesis into `sums`, those of the mean into `scores`."""
    score_classes(W, x, sums, scores)
    score_classes(U, x, missing, scores)
    for z in range(scores.shape[0]):
        scores[z] = sums[z] - missing[z] / max(rounds, 1)


@compiled
def learn_averaged(X, codes, scores, W, U, rounds):
    """Predict with the mean of the hypotheses so far, ``W - U/rounds``, as the binary one does."""
    mistakes = updates = 0
    sums, missing = np.empty(W.shape[1]), np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _score_averaged(W, U, x, rounds, sums, missing, s)
        z = best_wrong(s, y)
        mistakes += not s[y] - s[z] > 0.0
        last = sums[: s.shape[0]]
        z = best_wrong(last, y)
        if not last[y] - last[z] > 0.0:
            add_to_pair(W, 1.0, x, y, z)
            add_to_pair(U, rounds, x, y, z)
            updates += 1
        rounds += 1
    return mistakes, updates


@compiled
def averaged_scores(X, W, U, rounds, scores):
    """Write the scores of the mean into `scores`."""
    sums, missing = np.empty(W.shape[1]), np.empty(W.shape[1])
    for t in range(n_rows(X)):
        _score_averaged(W, U, row(X, t), rounds, sums, missing, scores[t])
