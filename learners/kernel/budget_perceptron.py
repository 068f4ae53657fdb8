"""Perceptrons on a budget: a full support set drops a random support vector, or the oldest."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..estimator.parameters import Count, Seed
from .kernel_classifier import KernelClassifier
from .perceptron import KernelPerceptronRule
from .rules import learn
from .support.block_view import add, replace
from .support.support_set import RandomSlots


class _Replacement(NamedTuple):
    """Keep the budget: the k-th row of a block to join a full support set replaces slot ``victims[k]``."""

    budget: int
    victims: np.ndarray
    #: The number of removals in this block so far, in an array of shape (1,) that compiled loops increase.
    removals: np.ndarray

    def join(self, view, n, t, s, a):
        if n < self.budget:
            return add(view, n, t, a), True, 0
        replace(view, self.victims[self.removals[0]], t, a)
        self.removals[0] += 1
        return n, True, 0


class _SlotsInTurn:
    """The slots to replace: 0 … budget - 1 in turn, so that the oldest support vector is always next."""

    def __init__(self, budget):
        self._budget = budget
        self._used = 0

    def next(self, n):
        """Return the next `n` slots without using them up: only `use` moves on to later ones."""
        return (self._used + np.arange(n)) % self._budget

    def use(self, n):
        """Move on by `n` slots, because they have been used."""
        self._used += n


@dataclass(eq=False, repr=False)
class _BudgetPerceptron(KernelClassifier):
    """A kernel Perceptron with at most `budget` support vectors."""

    budget: Count = 100

    def _allocate(self, n_features):
        super()._allocate(n_features)
        # The budget is read once per stream: the order in which slots are replaced depends on it.
        self._budget = int(self.budget)

    def _learn_block(self, view, n, codes, scores):
        removals = np.zeros(1, np.int64)
        replacement = _Replacement(self._budget, self._victims.next(len(codes)), removals)
        outcome = learn(view, n, codes, scores, KernelPerceptronRule(0.0), replacement)
        self._victims.use(removals[0])
        return outcome


@dataclass(eq=False, repr=False)
class RandomizedBudgetPerceptron(_BudgetPerceptron):
    """The Randomized Budget Perceptron (RBP): on a mistake, a full support set first loses a random row.

    Parameters
    ----------
    budget : int, default=100
        Largest number of support vectors, >= 1.
    random_state : int, default=0
        Seed of the removals, 0 … 2³² - 1: the same seed, the same removals.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    See Also
    --------
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Cavallanti, Cesa-Bianchi, Gentile (2007), "Tracking the best hyperplane with a simple budget Perceptron",
    Machine Learning 69 (COLT 2006).

    Examples
    --------
    >>> learner = RandomizedBudgetPerceptron(budget=2)
    >>> learner.fit([[0.0], [1.0], [0.2], [0.9], [0.5]], [0, 1, 1, 0, 1]).n_support_
    2
    """

    random_state: Seed = 0

    def _allocate(self, n_features):
        super()._allocate(n_features)
        self._victims = RandomSlots(int(self.random_state), self._budget)


@dataclass(eq=False, repr=False)
class RemoveOldestPerceptron(_BudgetPerceptron):
    """A Perceptron with a window: on a mistake, a full support set first loses its oldest row.

    It is the Forgetron without its shrinking of the coefficients. Papers on budgets call it the shifting
    Perceptron, too; `ShiftingPerceptron` is the linear learner of that name.

    Parameters
    ----------
    budget : int, default=100
        Largest number of support vectors, >= 1.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    See Also
    --------
    Forgetron
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Dekel, Shalev-Shwartz, Singer (2008), "The Forgetron: a kernel-based Perceptron on a budget", SIAM J.
    Comput. 37 (there: remove-oldest).

    Examples
    --------
    >>> learner = RemoveOldestPerceptron(budget=2)
    >>> learner.fit([[0.0], [1.0], [0.2], [0.9], [0.5]], [0, 1, 1, 0, 1]).support_.tolist()
    [2, 3]
    """

    def _allocate(self, n_features):
        super()._allocate(n_features)
        self._victims = _SlotsInTurn(self._budget)
