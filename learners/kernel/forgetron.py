"""The self-tuned Forgetron."""

import math
from dataclasses import dataclass

import numpy as np

from ..estimator.parameters import Count
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from ..numeric.rows import dot
from .kernel_classifier import KernelClassifier
from .support.block_view import add, replace, replace_in_gram, score_of


@compiled
def _largest_shrinkage(damage, largest, λ, μ):
    """Return the largest φ in (0, 1] with ``Ψ(φλ, φμ) + damage <= largest``, and the value of Ψ for this φ.

    All coefficients are multiplied by φ before a row with ``|α| = λ`` and margin μ is removed. The damage of
    its removal is then ``Ψ(φλ, φμ) = (λ² - 2λμ) φ² + 2λ φ``; `damage` is the total of earlier removals. The
    inequality is true at φ = 0. If it is false at φ = 1, exactly one φ in between makes both sides equal.
    """
    a, b, c = λ * λ - 2.0 * λ * μ, 2.0 * λ, damage - largest
    φ = 1.0
    if a + b + c > 0.0:
        φ = min(1.0, -2.0 * c / (b + math.sqrt(b * b - 4.0 * a * c)))
    return φ, (a * φ + b) * φ


@compiled
def _learn(view, n, codes, scores, budget, oldest, damage, earlier_mistakes):
    """Learn a block of rows by the self-tuned Forgetron; `damage` is the total damage, Q in the paper."""
    mistakes = updates = evaluations = 0
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        evaluations += n
        if not y * scores[t] > 0.0:
            mistakes += 1
            if not view.own[t] < np.inf:
                continue
            if n < budget:
                replace_in_gram(view, n, n, t)
                n = add(view, n, t, y)
                updates += 1
                continue
            r = oldest
            evaluations += n
            f_r = dot(view.alpha[:n], view.square[r][:n]) + y * view.values[t, r]
            λ, μ = abs(view.alpha[r]), math.copysign(1.0, view.alpha[r]) * f_r
            largest = 15.0 / 32.0 * (earlier_mistakes + mistakes)
            φ, Ψ = _largest_shrinkage(damage, largest, λ, μ)
            if not (φ > 0.0 and abs(Ψ) < np.inf):
                continue
            damage += Ψ
            for i in range(n):
                view.alpha[i] *= φ
            replace_in_gram(view, n, r, t)
            replace(view, r, t, φ * y)
            oldest = (oldest + 1) % budget
            updates += 1
    return n, mistakes, updates, evaluations, oldest, damage


@dataclass(eq=False, repr=False)
class Forgetron(KernelClassifier):
    """The self-tuned Forgetron: on a mistake all coefficients shrink, then the oldest row is dropped.

    On a mistake the row joins the support set with α = y. If the set then exceeds its budget, all
    coefficients are multiplied by the largest φ <= 1 with which the total damage of all removals (the paper's
    Q) is at most 15/32 of the number of mistakes; then the oldest row is dropped. If φ = 1 keeps the damage
    within this bound, no coefficient shrinks.

    A removal takes one kernel evaluation of the oldest row with each other support vector.

    Parameters
    ----------
    budget : int, default=100
        Largest number of support vectors, >= 1.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`. The mistake bound assumes k(x, x) <= 1.

    Notes
    -----
    The Gram matrix of the support set takes 8 budget² bytes.

    See Also
    --------
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Dekel, Shalev-Shwartz, Singer (2008), "The Forgetron: a kernel-based Perceptron on a budget", SIAM J.
    Comput. 37, section 5 (φ is the root in (0, 1]; DOGMA may take the other root).

    Examples
    --------
    >>> learner = Forgetron(budget=2)
    >>> learner.fit([[0.0], [1.0], [0.2], [0.9], [0.5]], [0, 1, 1, 0, 1]).support_.tolist()
    [3, 4]
    """

    budget: Count = 100

    _keeps_square = True

    def _allocate(self, n_features):
        super()._allocate(n_features)
        # The budget is read once per stream, because slots are replaced in turn, modulo the budget.
        self._budget, self._oldest, self._damage, self._mistakes = int(self.budget), 0, 0.0, 0

    def _learn_block(self, view, n, codes, scores):
        *outcome, self._oldest, self._damage = _learn(
            view, n, codes, scores, self._budget, self._oldest, self._damage, self._mistakes
        )
        self._mistakes += outcome[1]
        return outcome
