"""Gradient descent that follows changes: with restarts, and with RMSProp's steps."""

import math
from dataclasses import dataclass
from typing import Annotated, Literal, NamedTuple

import numpy as np

from ...estimator.parameters import Count, NonNegative, Positive, Scale, between
from ...numeric.formulas import exp_of_negative, where
from .lazy_learner import LazyLearner


class RestartRule(NamedTuple):
    """The rule of `RestartedGradientDescent`. Stored per weight: w, and the block of rows that set it.

    ``clock[1]`` is the number of the current block, from 0; it stays 0 if `forget` is false.
    """

    eta: float
    period: int
    forget: bool
    size: int = 2

    def now(self, clock):
        """Return the block number and the step size of the next row."""
        return clock[1], self.eta / math.sqrt(clock[0] % self.period + 1.0)

    @staticmethod
    def weight(stored, block, current, eta):
        """Return the current weight: the stored one, or 0 if it was stored in an earlier block."""
        return where(block == current, stored, 0.0)

    @staticmethod
    def step(stored, block, w, g, current, eta):
        """Make the gradient step, and store the current block with the new weight."""
        return [w - eta * g, current]

    def tick(self, clock, is_update):
        """Begin the next block after every `period` rows, if `forget` is true."""
        if self.forget and clock[0] % self.period == 0.0:
            clock[1] += 1.0


class DecayRule(NamedTuple):
    """The rule of `RMSProp`. Stored per weight: w, G, and the number of the update that last changed them.

    G is the decaying mean of squared gradients; ``clock[1]`` is the number of updates so far.
    """

    eta: float
    beta: float
    log_beta: float
    delta: float
    size: int = 3

    def now(self, clock):
        """Return the number of the next update, and the parameters."""
        return clock[1] + 1.0, self.eta, 1.0 - self.beta, self.log_beta, self.delta

    @staticmethod
    def weight(stored, total, settled, *now):
        """Return the current weight: the stored one, since only gradients of its feature change it."""
        return stored

    @staticmethod
    def step(stored, total, settled, w, g, update, eta, share, log_beta, delta):
        """Let G decay for the updates since it was stored, then make the step of Tieleman & Hinton (2012)."""
        new = exp_of_negative((update - settled) * log_beta) * total + share * g * g
        # A gradient is skipped if the new G underflows to 0 or overflows.
        steps = (new > 0.0) & (new < np.inf)
        moved = w - eta * (g / (delta + new.root()))
        return [where(steps, moved, stored), where(steps, new, total), where(steps, update, settled)]

    def tick(self, clock, is_update):
        """Count the updates of all rows in ``clock[1]``."""
        clock[1] += is_update


@dataclass(eq=False, repr=False)
class RestartedGradientDescent(LazyLearner):
    """Gradient descent whose steps start from η again every `period` rows, to follow a changing target.

    In row t, ``w -= η/√k g`` with ``g = -y c(m) x`` (c(m) is minus the loss's slope at the margin m) and
    ``k = 1 + (t - 1) mod period``.

    Parameters
    ----------
    eta : float, default=1.0
        η > 0, the first step of each block.
    period : int, default=100
        Rows of a block, >= 1.
    forget : bool, default=False
        Whether w is reset to 0 at the start of each block, before its first row is scored.
    loss : {"hinge", "logistic"}, default="hinge"
        As in `OnlineGradientDescent`. With more than two classes "logistic" is the softmax, and the hinge
        takes the margin over the best wrong class.
    epochs : int, default=1
        Passes that `fit` makes; t is not reset between them.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        The w that scores the next row.

    Notes
    -----
    In the paper the length of the blocks follows from a bound on the changes of the target; here it is given.
    A row takes time proportional to its non-zeros, also with `forget`.

    References
    ----------
    Besbes, Gur, Zeevi (2015), "Non-stationary stochastic optimization", Operations Research 63.

    Examples
    --------
    >>> model = RestartedGradientDescent(period=2, forget=True)
    >>> model.learn([[1.0], [1.0], [1.0], [1.0]], [1, 1, 1, 1], classes=[0, 1]).tolist()
    [0.0, 1.0, 0.0, 1.0]
    """

    eta: Positive = 1.0
    period: Count = 100
    forget: bool = False
    loss: Literal["hinge", "logistic"] = "hinge"
    epochs: int = 1

    def _rule(self):
        return RestartRule(float(self.eta), int(self.period), self.forget)


@dataclass(eq=False, repr=False)
class RMSProp(LazyLearner):
    """Gradient descent with RMSProp's steps: a step size for each feature that forgets old gradients.

    On a row with gradient ``g = -y c(m) x`` (c(m) is minus the loss's slope at the margin m):
    ``G = β G + (1 - β) g²`` for every feature, and ``w_j -= η g_j/(δ + √G_j)``. Rows without a gradient are
    skipped.

    Parameters
    ----------
    eta : float, default=0.01
        Step size η > 0.
    beta : float, default=0.99
        β, 0 < β < 1: the larger, the longer gradients are remembered.
    delta : float, default=1e-8
        δ >= 0: keeps steps small after small gradients.
    loss : {"hinge", "logistic"}, default="hinge"
        As in `OnlineGradientDescent`. With more than two classes "logistic" is the softmax, and the hinge
        takes the margin over the best wrong class.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    The decay of G_j for rows without feature j is computed when the feature occurs again, so a row takes time
    proportional to its non-zeros.

    See Also
    --------
    OnlineGradientDescent : With rate="adagrad", the steps depend on all gradients so far.

    References
    ----------
    Tieleman, Hinton (2012), "Lecture 6.5: RMSProp", Coursera: Neural networks for machine learning.

    Examples
    --------
    >>> RMSProp().fit([[1.0, 0.0], [0.0, 2.0]], [0, 1]).coef_.round(4).tolist()
    [[-0.1, 0.1]]
    """

    eta: Scale = 0.01
    beta: Annotated[float, between(0.0, 1.0)] = 0.99
    delta: NonNegative = 1e-8
    loss: Literal["hinge", "logistic"] = "hinge"
    epochs: int = 1

    def _rule(self):
        beta = float(self.beta)
        return DecayRule(float(self.eta), beta, math.log(beta), float(self.delta))
