"""AdaGrad with regularized dual averaging."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..estimator.parameters import NonNegative, Scale
from ..numeric.compiled import compiled
from ..numeric.formulas import soft_threshold, where
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import copy_into, entry, n_entries, n_rows, new_state, row
from ..numeric.vector import class_sums, lane_sums, lane_update, single_update
from .linear_classifier import MulticlassClassifier, as_coef


def _term(u, rate, x, threshold):
    """Return a feature's term ``w_j x_j`` of the score, with w_j computed as in `AdaGradRDA`."""
    return -soft_threshold(u, threshold) * rate * x


def _step(u, rate, x, y, eta, delta):
    """Add the gradient ``-y x_j`` to the sum ū_j, and compute the new rate η/(δ + √G_j)."""
    root = eta / rate - delta
    slower = eta / (delta + (root * root + x * x).root())
    # A feature that is 0 in the row keeps its rate exactly; computing it again could round it differently.
    return [where(x != 0.0, u - y * x, u), where(x != 0.0, slower, rate)]


_update, _update_one = lane_update(_step), single_update(_step)
_score = lane_sums(1, lambda *arguments: [_term(*arguments)])
_score_classes = class_sums(_term)


@learning_loop
def _learn(X, codes, scores, u, rates, eta, delta, l1, rounds):
    """Make one pass of Duchi et al. (2011) with the hinge loss.

    A weight w_j is computed from the sum ū_j of its gradients when a row has feature j. The rates
    η/(δ + √G_j) are stored instead of the G_j, the sums of squared gradients, so that scoring, which is most
    of the work, needs no root and no division.
    """
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t] = _score((u, rates), x, (l1 * rounds[0],))
        m = y * scores[t]
        mistakes += not m > 0.0
        if 1.0 - m > 0.0:
            _update((u, rates), x, (y, eta, delta))
            updates += 1
        rounds[0] += 1
    return mistakes, updates


@compiled
def _scores(X, u, rates, threshold, scores):
    for t in range(n_rows(X)):
        scores[t] = _score((u, rates), row(X, t), (threshold,))


@learning_loop
def _learn_classes(X, codes, scores, U, rates, eta, delta, l1, rounds):
    """Make one pass for K > 2 classes: the gradient is -x for the right class, x for the best wrong one."""
    mistakes = updates = 0
    width = np.uintp(U.shape[1])
    sums = np.empty(width)
    for t in range(n_rows(X)):
        x, y, s = row(X, t), codes[t], scores[t]
        _score_classes((U, rates), x, (l1 * rounds[0],), sums)
        copy_into(s, sums)
        z = best_wrong(s, y)
        m = s[y] - s[z]
        mistakes += not m > 0.0
        if 1.0 - m > 0.0:
            for k in range(n_entries(x)):
                j, x_j = entry(x, k)
                if x_j != 0.0:
                    _update_one((U, rates), j * width + np.uintp(y), (x_j, 1.0, eta, delta))
                    _update_one((U, rates), j * width + np.uintp(z), (x_j, -1.0, eta, delta))
            updates += 1
        rounds[0] += 1
    return mistakes, updates


@compiled
def _class_scores(X, U, rates, threshold, scores):
    sums = np.empty(U.shape[1])
    for t in range(n_rows(X)):
        _score_classes((U, rates), row(X, t), (threshold,), sums)
        copy_into(scores[t], sums)


@compiled
def _count_nonzero(u, rates, threshold):
    """Count non-zero weights without `coef_`: computing it takes longer than learning between checkpoints."""
    n = 0
    for j in range(u.shape[0]):
        size = abs(u[j]) - threshold
        n += (0.0 if size <= 0.0 else size) * rates[j] != 0.0
    return n


@dataclass(eq=False, repr=False)
class AdaGradRDA(MulticlassClassifier):
    """AdaGrad with regularized dual averaging and the hinge loss: a step size per feature.

    On a row x with label y (±1), margin ``m = y w·x`` and hinge loss ``l = 1 - m > 0``, the gradient is
    ``g = -y x``: ``ū += g``, ``G += g²``. After t rows ``w_j = -sign(ū_j) η/(δ + √G_j) max(0, |ū_j| - λt)``.

    With more than two classes the gradient of the multi-class hinge is -x in the block of the right class
    and x in that of the best wrong one.

    Parameters
    ----------
    eta : float, default=1.0
        Step size η, > 0.
    delta : float, default=1.0
        δ > 0: keeps the first steps small.
    l1 : float, default=0.0
        Weight λ >= 0 of the L1 norm: a feature whose mean gradient is at most λ in size has weight 0.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w, computed from ū, G and t on access.
    n_nonzero_ : int
        Number of weights that are not 0.

    Notes
    -----
    Changes of η, δ and λ by `set_params` take effect at the next `fit`.

    References
    ----------
    Duchi, Hazan, Singer (2011), "Adaptive subgradient methods for online learning and stochastic
    optimization", JMLR 12, eq. 24 and Fig. 1 (its λ, η and δ).

    Examples
    --------
    >>> AdaGradRDA().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 0.5]]
    """

    eta: Scale = 1.0
    delta: Scale = 1.0
    l1: NonNegative = 0.0
    epochs: int = 1

    @property
    def is_sparse(self):
        return self.l1 > 0.0

    # `_weights` is ū, the sum of all gradients; `_rates` are the step sizes η/(δ + √G).
    _state = ("_weights", "_rates")

    def _begin_with(self, zeros):
        # Later changes of η, δ and λ have no effect on this model: learning computes G from `_rates`, which
        # are η/(δ + √G), so η and δ must stay the same.
        self._rule = float(self.eta), float(self.delta), float(self.l1)
        self._weights = zeros
        self._rates = new_state(zeros.size, self._rule[0] / self._rule[1], place=1).reshape(zeros.shape)

    def _loop(self):
        return _learn, self._arguments()

    def _loop_of_classes(self):
        return _learn_classes, self._arguments()

    def _arguments(self):
        return self._weights, self._rates, *self._rule, np.array([self.n_examples_])

    def _score(self, X, scores):
        _scores(X, self._weights, self._rates, self._threshold(), scores)

    def _score_classes(self, X, scores):
        _class_scores(X, self._weights, self._rates, self._threshold(), scores)

    def _threshold(self):
        return self._rule[2] * self.n_examples_

    @property
    def n_nonzero_(self) -> int:
        return int(_count_nonzero(self._weights.reshape(-1), self._rates.reshape(-1), self._threshold()))

    @property
    def coef_(self) -> NDArray[np.float64]:
        u, rates = (as_coef(state, len(self.classes_)) for state in (self._weights, self._rates))
        return -np.sign(u) * np.maximum(np.abs(u) - self._threshold(), 0.0) * rates
