"""Multi-class AdaGrad with regularised dual averaging: the gradient of the multi-class hinge loss."""

import numpy as np

from ..linear.parts.classes import best_wrong, copy_scores
from ..linear.parts.steps import dual_averaging_term, slower
from ..numeric.compiled import compiled
from ..numeric.rows import entry, n_entries, n_rows, row
from ..numeric.vector import class_sums

_sums = class_sums(dual_averaging_term)


@compiled
def learn(X, codes, scores, U, rates, eta, delta, l1, rounds):
    """One pass: ``g = -x`` in block y and ``g = x`` in block ỹ."""
    mistakes = updates = 0
    sums = np.empty(U.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _sums((U, rates), x, (l1 * rounds,), sums)
        copy_scores(sums, s)
        z = best_wrong(s, y)
        m = s[y] - s[z]
        mistakes += not m > 0.0
        if 1.0 - m > 0.0:
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                if x_j != 0.0:
                    U[j, y] -= x_j
                    U[j, z] += x_j
                    rates[j, y] = slower(rates[j, y], x_j, eta, delta)
                    rates[j, z] = slower(rates[j, z], x_j, eta, delta)
            updates += 1
        rounds += 1
    return mistakes, updates


@compiled
def class_scores(X, U, rates, threshold, scores):
    """Write the scores under the current model into `scores`."""
    sums = np.empty(U.shape[1])
    for t in range(n_rows(X)):
        _sums((U, rates), row(X, t), (threshold,), sums)
        copy_scores(sums, scores[t])
