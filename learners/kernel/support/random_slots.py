"""Random numbers of support vectors that go, drawn ahead of a loop."""

import numpy as np


class RandomSlots:
    """A frozen sequence of random slot numbers, of any length."""

    def __init__(self, seed, budget):
        # RandomState: NumPy keeps its streams the same for good.
        self._random = np.random.RandomState(seed)
        self._budget = budget
        self._ahead = np.zeros(0, np.int64)

    def next(self, n):
        """Return the next `n`, without using them up."""
        if len(self._ahead) < n:
            more = self._random.random_sample(n - len(self._ahead))
            slots = np.minimum((more * self._budget).astype(np.int64), self._budget - 1)
            self._ahead = np.append(self._ahead, slots)
        return self._ahead[:n]

    def use(self, n):
        """Use up the next `n`."""
        self._ahead = self._ahead[n:]
