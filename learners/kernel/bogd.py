"""BOGD: kernel gradient descent with a budget, which is kept by removing random support vectors."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..estimator.parameters import NonNegative, Positive, Seed, Several
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from .kernel_classifier import KernelClassifier
from .support.block_view import add, replace, score_of
from .support.support_set import RandomSlots


@compiled
def _learn(view, n, codes, scores, eta, lam, largest, by_factor, ages, drops):
    """Learn a block of rows; the k-th removal in it, from 0, drops the one in slot ``ages[drops[k]]``.

    `ages` lists the slots from the oldest support vector to the newest; its length is the budget. `drops` has
    random positions in `ages`.
    """
    budget = ages.shape[0]
    mistakes = updates = evaluations = removals = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        for i in range(n):
            view.alpha[i] *= 1.0 - eta * lam
        if m > 1.0 or not view.own[t] < np.inf:
            continue
        updates += 1
        if n < budget:
            ages[n] = n
            n = add(view, n, t, eta * y)
            continue
        first = drops[removals]
        removals += 1
        slot = ages[first]
        for k in range(first, budget - 1):
            ages[k] = ages[k + 1]
        ages[budget - 1] = slot
        for i in range(n):
            view.alpha[i] *= budget / (budget - 1)
            if not by_factor:
                view.alpha[i] = min(max(view.alpha[i], -largest), largest)
        replace(view, slot, t, eta * y)
        if by_factor:
            highest = 0.0
            for i in range(n):
                highest = max(highest, abs(view.alpha[i]))
            if highest > largest:
                for i in range(n):
                    view.alpha[i] *= largest / highest
    return n, mistakes, updates, evaluations, removals


@dataclass(eq=False, repr=False)
class BOGD(KernelClassifier):
    """Bounded online gradient descent: NORMA with a constant step, and random removals to keep a budget.

    Each row multiplies all coefficients α by ``1 - η lam``. A row whose margin ``m = y f(x)`` is at most 1
    then joins the support set with ``α = η y``. If the set is full, a random support vector is removed first
    (all are equally likely), and the coefficients of the others are multiplied by ``B/(B - 1)``, so that the
    expected score stays the same; `projection` bounds these coefficients.

    Parameters
    ----------
    budget : int, default=100
        B, the largest number of support vectors, >= 2.
    eta : float, default=0.2
        Step size η, > 0.
    lam : float, default=0.01
        Regularization, >= 0, such that ``eta lam < 1``.
    gamma_max : float, default=5.0
        Bound of the coefficients after a removal, in units of eta, > 0: ``|α| <= eta gamma_max``.
    projection : {"clip", "scale"}, default="clip"
        "clip" sets each coefficient beyond the bound to the bound, before the new row is added. "scale"
        multiplies all coefficients by the same factor, after it is added.
    random_state : int, default=0
        Seed of the removals, 0 … 2³² - 1: the same seed, the same removals.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    Notes
    -----
    Checked against results of an independent implementation, which agrees with ports of JSAT's BOGD ("clip")
    and of BOGD.m ("scale"). The BOGD of the C++ library KOL removes the oldest row and enlarges no other
    coefficient. There is no BOGD++, which removes small coefficients more often: its published probabilities
    can be negative.

    See Also
    --------
    NORMA
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Zhao, Wang, Wu, Jin, Hoi (2012), "Fast bounded online gradient descent algorithms for scalable
    kernel-based online learning", ICML.

    Examples
    --------
    >>> learner = BOGD(budget=2).fit([[0.0], [3.0], [0.1], [2.9], [0.2]], [0, 1, 0, 1, 0])
    >>> learner.n_support_, learner.n_updates_
    (2, 5)
    """

    budget: Several = 100
    eta: Positive = 0.2
    lam: NonNegative = 0.01
    gamma_max: Positive = 5.0
    projection: Literal["clip", "scale"] = "clip"
    random_state: Seed = 0

    def _check_parameters(self):
        if not self.eta * self.lam < 1.0:
            raise ValueError(
                f"BOGD: eta * lam must be < 1, got {self.eta!r} * {self.lam!r} = {self.eta * self.lam:g}"
            )

    def _allocate(self, n_features):
        super()._allocate(n_features)
        # The budget is read once per stream, because the sizes of arrays depend on it.
        self._ages = np.zeros(int(self.budget), np.int64)
        self._victims = RandomSlots(int(self.random_state), len(self._ages))

    def _learn_block(self, view, n, codes, scores):
        eta, lam = float(self.eta), float(self.lam)
        bound = eta * float(self.gamma_max), self.projection == "scale"
        drops = self._victims.next(len(codes))
        *outcome, removals = _learn(view, n, codes, scores, eta, lam, *bound, self._ages, drops)
        self._victims.use(removals)
        return outcome
