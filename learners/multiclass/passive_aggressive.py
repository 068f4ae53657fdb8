"""Multi-class PA, PA-I and PA-II: the binary step along Δf = f(x, y) - f(x, ỹ), whose ‖Δf‖² is 2‖x‖²."""

import numpy as np

from ..linear.parts.classes import add_to_pair, best_wrong, score_classes
from ..numeric.compiled import compiled
from ..numeric.rows import n_rows, row, squared_norm

_SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


@compiled
def learn(X, codes, scores, W, largest_step, slack):
    """One pass: ``τ = min(C, l / (2‖x‖² + 1/(2C)))``, `largest_step` and `slack` as in the binary kernel."""
    mistakes = updates = 0
    sums = np.empty(W.shape[1])
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        score_classes(W, x, sums, s)
        z = best_wrong(s, y)
        m = s[y] - s[z]
        mistakes += not m > 0.0
        l = 1.0 - m
        if 0.0 < l < np.inf:
            norm = 2.0 * squared_norm(x)
            if _SMALLEST_NORMAL <= norm < np.inf:
                tau = min(largest_step, l / (norm + slack))
                if tau < np.inf:
                    add_to_pair(W, tau, x, y, z)
                    updates += 1
    return mistakes, updates
