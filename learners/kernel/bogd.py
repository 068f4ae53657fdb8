"""BOGD: kernel gradient descent on a budget that random removal keeps."""

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
    """Learn a block; removal k drops the support vector at position ``drops[k]`` by age, the oldest at 0.

    ``ages`` lists the slots from the oldest row to the newest; its length is the budget.
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
    """Bounded online gradient descent: NORMA with a constant step, on a budget that random removal keeps.

    Each row: ``α *= 1 - η lam``. If ``m <= 1`` the row joins with ``α = η y``. A full support set first loses
    a random support vector, all with the same probability, and the others are enlarged, ``α *= B/(B - 1)``,
    so that the expected score stays the same; `projection` bounds them.

    Parameters
    ----------
    budget : int, default=100
        B, the largest number of support vectors, >= 2.
    eta : float, default=0.2
        Step, > 0.
    lam : float, default=0.01
        Regularisation, >= 0, such that ``eta lam < 1``.
    gamma_max : float, default=5.0
        > 0, such that after a removal ``|α| <= eta gamma_max``.
    projection : {"clip", "scale"}, default="clip"
        "clip" lowers each coefficient that is larger to the bound, before the new row joins. "scale"
        multiplies all by the same factor, after it has joined.
    random_state : int, default=0
        Seed of the removals, 0 … 2³² - 1: the same seed, the same removals.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    Notes
    -----
    Checked against figures of an independent implementation, which equals ports of JSAT's BOGD ("clip") and
    of BOGD.m ("scale"). KOL's drops the oldest and enlarges nothing. BOGD++, which drops small coefficients
    more often, is left out: its published probabilities can be negative.

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
    kernel: str = "rbf"
    gamma: float = 1.0
    degree: int = 3
    coef0: float = 1.0
    epochs: int = 1

    def _check_parameters(self):
        if not self.eta * self.lam < 1.0:
            raise ValueError(
                f"BOGD: eta * lam must be < 1, got {self.eta!r} * {self.lam!r} = {self.eta * self.lam:g}"
            )

    def _allocate(self, n_features):
        super()._allocate(n_features)
        # The budget is read once per stream: the arrays depend on it.
        self._ages = np.zeros(int(self.budget), np.int64)
        self._victims = RandomSlots(int(self.random_state), len(self._ages))

    def _learn_block(self, view, n, codes, scores):
        eta, lam = float(self.eta), float(self.lam)
        bound = eta * float(self.gamma_max), self.projection == "scale"
        drops = self._victims.next(len(codes))
        *outcome, removals = _learn(view, n, codes, scores, eta, lam, *bound, self._ages, drops)
        self._victims.use(removals)
        return outcome
