"""Predictions made from the scores of several learners: those of the best one so far, or weighted votes.

Scores have shape (n, G, W) for n rows and G learners; W is 1 for two classes, otherwise the number of
classes.
`mistakes` (int64, shape (G,)) has each learner's mistakes so far, and is updated.
"""

import math

import numpy as np

from .compiled import INLINE, compiled, register_jitable
from .margins import signed_margin
from .rows import borrowed
from .vector import exponential


@compiled
def follow(scores, codes, mistakes, leaders, out):
    """Give each row the scores of the learner with the fewest mistakes before it; return the mistakes made.

    `leaders` (int64, shape (n + 1,)) receives that learner for each row and for the row to come.
    """
    # Without the references that a counted array would take for each view, a row takes a third of the time.
    scores, out = borrowed(scores), borrowed(out)
    wrong = 0
    leader = mistakes.argmin()
    for t in range(scores.shape[0]):
        leaders[t] = leader
        out[t] = scores[t, leader]
        wrong += not signed_margin(out[t], codes[t]) > 0.0
        leader = 0
        for g in range(scores.shape[1]):
            mistakes[g] += not signed_margin(scores[t, g], codes[t]) > 0.0
            if mistakes[g] < mistakes[leader]:
                leader = g
    leaders[-1] = leader
    return wrong


@register_jitable(**INLINE)
def _vote(f):
    """Return the class that scores are for: the only best one, or -1 on a tie and for NaN."""
    if f.shape[0] == 1:
        return 1 if f[0] > 0.0 else (0 if f[0] < 0.0 else -1)
    z = f.argmax()
    for k in range(f.shape[0]):
        if k != z and not f[k] < f[z]:
            return -1
    return z


@register_jitable(**INLINE)
def _count_votes(scores, weights, out):
    """Write the sums of the learners' weights by class; for two classes, the second sum minus the first."""
    out[:] = 0.0
    for g in range(scores.shape[0]):
        z = _vote(scores[g])
        if out.shape[0] == 1:
            out[0] += weights[g] if z == 1 else (-weights[g] if z == 0 else 0.0)
        elif z >= 0:
            out[z] += weights[g]


@register_jitable
def _set_weights(mistakes, eta, t, weights):
    """Write the weights of round t, counted from 1, which add up to 1; an `eta` of 0 is the default."""
    rate = eta if eta > 0.0 else math.sqrt(8.0 * math.log(len(mistakes)) / t)
    fewest, total = mistakes.min(), 0.0
    for g in range(mistakes.shape[0]):
        weights[g] = exponential(-rate * (mistakes[g] - fewest))
        total += weights[g]
    for g in range(mistakes.shape[0]):
        weights[g] /= total


@compiled
def vote_by_weight(scores, codes, mistakes, eta, before, out):
    """Give each row the weighted votes of the learners; return mistakes, and those expected at random."""
    scores, out = borrowed(scores), borrowed(out)
    weights, wrong, expected = np.empty(scores.shape[1]), 0, 0.0
    for t in range(scores.shape[0]):
        _set_weights(mistakes, eta, before + t + 1, weights)
        _count_votes(scores[t], weights, out[t])
        wrong += not signed_margin(out[t], codes[t]) > 0.0
        for g in range(scores.shape[1]):
            if not signed_margin(scores[t, g], codes[t]) > 0.0:
                mistakes[g] += 1
                expected += weights[g]
    return wrong, expected


@compiled
def votes(scores, mistakes, eta, t, out):
    """Write the learners' weighted votes for rows that come in round t, counted from 1."""
    weights = np.empty(scores.shape[1])
    _set_weights(mistakes, eta, t, weights)
    for i in range(scores.shape[0]):
        _count_votes(scores[i], weights, out[i])
