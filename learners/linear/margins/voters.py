"""All hypotheses of a Perceptron, and their votes: the rows that were updates, one after another."""

import numpy as np
from numba.extending import register_jitable

from ...numeric.compiled import compiled
from ...numeric.rows import entry, n_entries, n_rows, row

# Where `sizes` has how many updates there are, and how many entries these have.
_UPDATES, _ENTRIES = 0, 1


@register_jitable
def votes(x, values, columns, starts, steps, rounds, sizes, dense):
    """Return ``Σ_k c_k sgn(w_k·x)``, c_k being rounds of hypotheses; `dense` is 0 before and after.

    ``w_k·x`` is the one before and what the k-th update added.
    """
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        dense[j] = x_j
    total = s = 0.0
    for k in range(sizes[_UPDATES]):
        product = 0.0
        for e in range(starts[k], starts[k + 1]):
            product += values[e] * dense[columns[e]]
        s += steps[k] * product
        if s > 0.0:
            total += rounds[k + 1]
        elif s < 0.0:
            total -= rounds[k + 1]
    for k in range(n_entries(x)):
        j, _ = entry(x, k)
        dense[j] = 0.0
    return total


@register_jitable
def add_voter(x, step, values, columns, starts, steps, rounds, sizes, dense):
    """Note an update ``w += step x``, after which there is one more hypothesis."""
    n, place = sizes[_UPDATES], sizes[_ENTRIES]
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        if x_j != 0.0:
            values[place], columns[place] = x_j, j
            place += 1
    steps[n], starts[n + 1], rounds[n + 1] = step, place, 0
    sizes[_UPDATES], sizes[_ENTRIES] = n + 1, place


@register_jitable
def count_round(rounds, sizes):
    """Count a round of the last hypothesis."""
    rounds[sizes[_UPDATES]] += 1


@compiled
def _count_entries(X):
    count = 0
    for t in range(n_rows(X)):
        count += n_entries(row(X, t))
    return count


@compiled
def _score(X, scores, values, columns, starts, steps, rounds, sizes, dense):
    for t in range(n_rows(X)):
        scores[t] = votes(row(X, t), values, columns, starts, steps, rounds, sizes, dense)


class Voters:
    """The arrays of all hypotheses, with the room for more.

    Parameters
    ----------
    n_features : int
    """

    def __init__(self, n_features):
        self._n_features = n_features
        self._values, self._columns = np.empty(0), np.empty(0, np.int32)
        self._starts, self._steps = np.zeros(1, np.int64), np.empty(0)
        # Those of w = 0 are first, which votes for neither.
        self._rounds, self._sizes = np.zeros(1, np.int64), np.zeros(2, np.int64)

    def reserve(self, X, n):
        """Make room for `n` rows, all of which may be updates."""
        updates, entries = self._sizes[_UPDATES] + n, self._sizes[_ENTRIES] + _count_entries(X)
        if updates > len(self._steps):
            capacity = max(updates, 2 * len(self._steps))
            self._steps = np.append(self._steps, np.empty(capacity - len(self._steps)))
            for name in ("_starts", "_rounds"):
                array = getattr(self, name)
                setattr(self, name, np.append(array, np.zeros(capacity + 1 - len(array), np.int64)))
        if entries > len(self._values):
            more = max(entries, 2 * len(self._values)) - len(self._values)
            self._values = np.append(self._values, np.empty(more))
            self._columns = np.append(self._columns, np.empty(more, np.int32))

    def in_loops(self):
        """Return the arrays as loops take them, and scratch."""
        kept = self._values, self._columns, self._starts, self._steps, self._rounds, self._sizes
        return *kept, np.zeros(self._n_features)

    def score(self, X, scores):
        """Write the votes for every row into `scores`."""
        _score(X, scores, *self.in_loops())

    def n_bytes(self):
        """Return the bytes of the updates and of the rounds of hypotheses."""
        updates, entries = self._sizes.tolist()
        return entries * (8 + 4) + updates * 3 * 8 + 8
