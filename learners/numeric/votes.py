"""Predictions made from the scores of several learners: those of the best one so far, or weighted votes.

Scores have shape (G, n, W) for G learners and n rows; W is 1 for two classes, otherwise the number of
classes. `mistakes` (int64, shape (G,)) has each learner's mistakes so far, and is updated in place.
"""

import math

import numpy as np

from .compiled import INLINE, compiled, register_jitable
from .margins import signed, signed_margin
from .rows import borrowed
from .vector import exponential


@compiled
def follow(scores, codes, mistakes, changes, out):
    """Write into `out` each row's scores by the learner with the fewest mistakes so far.

    `changes` (int64, shape (n,)) receives the rows from which another learner has the fewest. Returns the
    number of mistakes that the scores in `out` make, and the number of changes.
    """
    # Views of borrowed arrays are not reference-counted, which reduces the time of a row to a third.
    scores, out = borrowed(scores), borrowed(out)
    wrong = n_changes = 0
    leader = mistakes.argmin()
    for t in range(scores.shape[1]):
        out[t] = scores[leader, t]
        wrong += not signed_margin(out[t], codes[t]) > 0.0
        before, leader = leader, 0
        for g in range(scores.shape[0]):
            mistakes[g] += not signed_margin(scores[g, t], codes[t]) > 0.0
            if mistakes[g] < mistakes[leader]:
                leader = g
        if leader != before:
            changes[n_changes] = t + 1
            n_changes += 1
    return wrong, n_changes


@compiled
def follow_of_two(scores, codes, mistakes, changes, out):
    """Do as `follow` for two classes, given scores of shape (G, n) and `out` of shape (n,).

    The leader can change only after a mistake that it, but not every learner, made.
    """
    scores = borrowed(scores)
    G, n = scores.shape
    y, wrong_learners = np.empty(n), np.zeros(n)
    for t in range(n):
        y[t] = signed(codes[t])
    # One learner after the other, so that this loop is vectorized.
    for g in range(G):
        for t in range(n):
            wrong_learners[t] += 0.0 if y[t] * scores[g, t] > 0.0 else 1.0
    wrong = by_all = n_changes = 0
    leader = mistakes.argmin()
    for t in range(n):
        out[t] = scores[leader, t]
        is_wrong = not y[t] * out[t] > 0.0
        wrong += is_wrong
        if wrong_learners[t] == G:
            by_all += 1
        elif wrong_learners[t] > 0.0:
            for g in range(G):
                mistakes[g] += not y[t] * scores[g, t] > 0.0
            if is_wrong:
                best = mistakes.argmin()
                if best != leader:
                    leader = best
                    changes[n_changes] = t + 1
                    n_changes += 1
    mistakes += by_all
    return wrong, n_changes


@register_jitable(**INLINE)
def _vote(f):
    """Return the class with the largest score, or -1 if several classes tie or a score is NaN."""
    if f.shape[0] == 1:
        return 1 if f[0] > 0.0 else (0 if f[0] < 0.0 else -1)
    z = f.argmax()
    for k in range(f.shape[0]):
        if k != z and not f[k] < f[z]:
            return -1
    return z


@register_jitable(**INLINE)
def _count_votes(scores, weights, out):
    """Write the sum of the weights of each class's votes; for two classes, only class 1's minus class 0's."""
    out[:] = 0.0
    for g in range(scores.shape[0]):
        z = _vote(scores[g])
        if out.shape[0] == 1:
            out[0] += weights[g] if z == 1 else (-weights[g] if z == 0 else 0.0)
        elif z >= 0:
            out[z] += weights[g]


@register_jitable
def _set_weights(mistakes, eta, t, weights):
    """Write the weights of round t (counted from 1), whose sum is 1; `eta` 0 stands for √(8 ln G/t)."""
    rate = eta if eta > 0.0 else math.sqrt(8.0 * math.log(len(mistakes)) / t)
    fewest, total = mistakes.min(), 0.0
    # The sum has a separate loop: its order of additions is fixed, so only the other loops are vectorized.
    for g in range(mistakes.shape[0]):
        weights[g] = exponential(-rate * (mistakes[g] - fewest))
    for g in range(mistakes.shape[0]):
        total += weights[g]
    for g in range(mistakes.shape[0]):
        weights[g] /= total


@compiled
def vote_by_weight(scores, codes, mistakes, eta, before, expected, out):
    """Write the learners' weighted votes for each row into `out`; `before` is the number of earlier rows.

    Return the mistakes of the votes, and the expected mistakes of predicting with a learner drawn by weight.
    The latter include `expected`, those of the earlier rows, so that the sum does not depend on the chunks.
    """
    scores, out = borrowed(scores), borrowed(out)
    weights, wrong = np.empty(scores.shape[0]), 0
    for t in range(scores.shape[1]):
        _set_weights(mistakes, eta, before + t + 1, weights)
        _count_votes(scores[:, t], weights, out[t])
        wrong += not signed_margin(out[t], codes[t]) > 0.0
        for g in range(scores.shape[0]):
            if not signed_margin(scores[g, t], codes[t]) > 0.0:
                mistakes[g] += 1
                expected += weights[g]
    return wrong, expected


@compiled
def vote_by_weight_of_two(scores, codes, mistakes, eta, before, expected, out):
    """Do as `vote_by_weight` for two classes, given scores of shape (G, n) and `out` of shape (n,)."""
    scores = borrowed(scores)
    G, n = scores.shape
    own, behind, weights, shares, wrong = np.empty(G), np.empty(G), np.empty(G), np.empty(G), 0
    numerator, differ = 8.0 * math.log(len(mistakes)), True
    for t in range(n):
        if differ:
            fewest = mistakes.min()
            for g in range(G):
                behind[g] = mistakes[g] - fewest
        rate = eta if eta > 0.0 else math.sqrt(numerator / (before + t + 1))
        # Loops that read `scores` or add numbers are separate, so that the others are vectorized.
        for g in range(G):
            own[g] = scores[g, t]
        for g in range(G):
            weights[g] = exponential(-rate * behind[g])
        total = vote = 0.0
        for g in range(G):
            total += weights[g]
        y, by_learners = signed(codes[t]), 0
        for g in range(G):
            weights[g] /= total
            shares[g] = weights[g] if own[g] > 0.0 else (-weights[g] if own[g] < 0.0 else 0.0)
            by_learners += not y * own[g] > 0.0
        for g in range(G):
            vote += shares[g]
        out[t] = vote
        wrong += not y * vote > 0.0
        differ = 0 < by_learners < G
        if by_learners:
            for g in range(G):
                if not y * own[g] > 0.0:
                    mistakes[g] += 1
                    expected += weights[g]
    return wrong, expected


@compiled
def votes(scores, mistakes, eta, t, out):
    """Write the learners' weighted votes for each row into `out`, all with the weights of round t."""
    weights = np.empty(scores.shape[0])
    _set_weights(mistakes, eta, t, weights)
    for i in range(scores.shape[1]):
        _count_votes(scores[:, i], weights, out[i])
