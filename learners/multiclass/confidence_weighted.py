"""Multi-class Confidence-Weighted learning: the binary step along Δf = f(x, y) - f(x, ỹ)."""

import numpy as np

from ..linear.parts.classes import best_wrong, pair_variance, score_classes, update_pair
from ..linear.parts.covariance import is_usable
from ..linear.parts.steps import SMALLEST_VARIANCE, is_step, stdev_step, variance_step
from ..numeric.compiled import compiled
from ..numeric.rows import n_rows, row


@compiled
def learn(X, codes, scores, mu, sigma, s, phi, stdev, precision):
    """One pass; v is the variance of Δf, in the diagonal case the sum over both blocks."""
    mistakes = updates = 0
    sums = np.empty(mu.shape[1])
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(mu, x, sums, f)
        z = best_wrong(f, y)
        m = f[y] - f[z]
        mistakes += not m > 0.0
        v = pair_variance(sigma, x, y, z, s)
        if v > SMALLEST_VARIANCE and is_usable(v):
            alpha, beta, gamma = stdev_step(m, v, phi) if stdev else variance_step(m, v, phi)
            if is_step(alpha, gamma):
                update_pair(mu, sigma, x, y, z, s, alpha, beta, gamma, precision)
                updates += 1
    return mistakes, updates
