"""Truncated gradient, and FOBOS with an L1 norm."""

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from ...estimator.parameters import Count, NonNegative, Positive
from ...numeric.compiled import register_jitable
from ...numeric.formulas import soft_threshold, where
from .gradient_descent import step_size
from .lazy_learner import LazyLearner


class ShrinkageRule(NamedTuple):
    """Gradient steps, and a truncation of all weights every `K` rows. Stored: u with ``w = soft(u, owed)``.

    `owed` is ``clock[1]``, the sum of all truncations so far; a truncation after row t subtracts K λ η_t from
    the size of each weight. When a weight w is stored, `owed` is added to its size, which gives u. So the
    next ``soft(u, owed)`` subtracts only the truncations since then.
    """

    eta: float
    falls: bool
    l1: float
    K: int
    size: int = 1

    def now(self, clock):
        """Return the sum of all truncations so far, and η_t of the next row."""
        return clock[1], step_size(self, clock[0] + 1.0)

    @staticmethod
    def weight(u, owed, eta):
        """Return the current weight ``soft(u, owed)`` (Langford, Li & Zhang 2009, eq. 4, no θ)."""
        return soft_threshold(u, owed)

    @staticmethod
    def step(u, w, g, owed, eta):
        """Make the gradient step on w; return u, the new w with its size increased by truncations so far."""
        w = w - eta * g
        return [w + where(w < 0.0, -owed, owed)]

    def tick(self, clock, is_update):
        """After row t, add its truncation K λ η_t to the sum of truncations if t is a multiple of K."""
        # Convert to integers, because the remainder of two floats would be a slow function call.
        if np.uint64(clock[0]) % np.uint64(self.K) == 0:
            clock[1] += self.K * step_size(self, clock[0]) * self.l1


_owe = register_jitable(ShrinkageRule.tick)


class TruncationRule(NamedTuple):
    """A `ShrinkageRule` that truncates only weights of size up to `theta`.

    Stored per weight: w, and the sum of all truncations before it was stored.
    """

    shrinkage: ShrinkageRule
    theta: float
    size: int = 2

    def now(self, clock):
        """Return the sum of all truncations so far, θ, and η_t of the next row."""
        return clock[1], self.theta, step_size(self.shrinkage, clock[0] + 1.0)

    @staticmethod
    def weight(stored, paid, owed, theta, eta):
        """Return the current weight: the stored one, truncated since then if its size is at most θ."""
        return where(abs(stored) <= theta, soft_threshold(stored, owed - paid), stored)

    @staticmethod
    def step(stored, paid, w, g, owed, theta, eta):
        """Make the gradient step; store the new weight, and next to it the sum of all truncations so far."""
        return [w - eta * g, owed]

    def tick(self, clock, is_update):
        """After row t, add its truncation K λ η_t to the sum of truncations if t is a multiple of K."""
        _owe(self.shrinkage, clock, is_update)


@dataclass(eq=False, repr=False)
class TruncatedGradient(LazyLearner):
    """Truncated gradient: gradient descent that moves small weights towards 0 every K rows.

    ``w -= η_t g`` with ``g = -y c(m) x`` (c(m) is minus the loss's slope at the margin m). Then, if t is a
    multiple of K, every w_j with ``|w_j| <= θ`` becomes ``sgn(w_j) max(|w_j| - K η_t λ, 0)``. t counts all
    rows from 1.

    Parameters
    ----------
    eta : float, default=1.0
        η > 0: the first step size, or with a constant rate every step size.
    l1 : float, default=0.01
        λ >= 0, called gravity in the paper.
    K : int, default=10
        Rows from one truncation to the next, K >= 1.
    theta : float, default=None
        θ > 0: weights of size above θ are not truncated. None: all weights are truncated.
    rate : {"sqrt", "constant"}, default="sqrt"
        ``η_t = η/√t``, or always η.
    loss : {"hinge", "logistic"}, default="hinge"
        As in `OnlineGradientDescent`. With more than two classes "logistic" is the softmax, and the hinge
        takes the margin over the best wrong class.
    epochs : int, default=1
        Passes that `fit` makes; t is not reset between them.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w after all rows so far, computed on access.
    n_nonzero_ : int
        Number of weights that are not 0.

    Notes
    -----
    A row takes time proportional to its non-zeros. A truncation is not counted as an update.

    SOL's ``stg`` is the same rule for a constant step, except that it truncates the final weights once more;
    with several classes it truncates only the weights of the first class.

    See Also
    --------
    FOBOS : K = 1 and no θ.

    References
    ----------
    Langford, Li, Zhang (2009), "Sparse online learning via truncated gradient", JMLR 10, eq. 4 to 6.

    Examples
    --------
    >>> TruncatedGradient(l1=0.5, K=2).fit([[1.0, 0.0], [0.0, 3.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.2929, 1.4142]]
    """

    eta: Positive = 1.0
    l1: NonNegative = 0.01
    K: Count = 10
    theta: Positive | None = None
    rate: Literal["sqrt", "constant"] = "sqrt"
    loss: Literal["hinge", "logistic"] = "hinge"
    epochs: int = 1

    is_sparse = True
    # In version 1, rounding left tiny weights where a truncation should give exactly 0.
    algorithm_version = 2

    def _rule(self):
        rule = ShrinkageRule(float(self.eta), self.rate == "sqrt", float(self.l1), int(self.K))
        return rule if self.theta is None else TruncationRule(rule, float(self.theta))


@dataclass(eq=False, repr=False)
class FOBOS(LazyLearner):
    """FOBOS (forward-backward splitting) with an L1 norm: a gradient step, then soft thresholding.

    ``w = soft(w - η_t g, η_t λ)`` on every row, with ``g = -y c(m) x`` (c(m) is minus the loss's slope at the
    margin m) and ``soft(v, a) = sgn(v) max(|v| - a, 0)``.

    Parameters
    ----------
    eta : float, default=1.0
        η > 0: the first step size, or with a constant rate every step size.
    l1 : float, default=0.001
        λ >= 0, the weight of the L1 norm.
    rate : {"sqrt", "constant"}, default="sqrt"
        ``η_t = η/√t``, where t counts all rows from 1, or always η.
    loss : {"hinge", "logistic"}, default="hinge"
        As for `TruncatedGradient`.
    epochs : int, default=1
        Passes that `fit` makes; t is not reset between them.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w after all rows so far, computed on access.
    n_nonzero_ : int
        Number of weights that are not 0.

    Notes
    -----
    This is the paper's online form with η_{t+1/2} = η_t. A row takes time proportional to its non-zeros. With
    decreasing steps SOL's ``fobos-l1`` differs: it shrinks for all rows since the last update with one step.

    See Also
    --------
    TruncatedGradient : The same rule every K rows.

    References
    ----------
    Duchi, Singer (2009), "Efficient online and batch learning using forward backward splitting", JMLR 10,
    eq. 2 and 3.

    Examples
    --------
    >>> FOBOS(l1=0.25).fit([[1.0, 0.0], [0.0, 3.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.5732, 1.9445]]
    """

    eta: Positive = 1.0
    l1: NonNegative = 0.001
    rate: Literal["sqrt", "constant"] = "sqrt"
    loss: Literal["hinge", "logistic"] = "hinge"
    epochs: int = 1

    is_sparse = True
    # In version 1, rounding left tiny weights where a truncation should give exactly 0.
    algorithm_version = 2

    def _rule(self):
        return ShrinkageRule(float(self.eta), self.rate == "sqrt", float(self.l1), 1)
