"""The best weights in hindsight: those that lose least on a learner's stream, of a norm up to its own."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve, eigh

# What is left between a loss that weights have and one that no weights can be below, beside the loss; a loss
# below that of one row at a margin of 0 is taken for that.
TOLERANCE = 1e-6
# The fewer of rows and features: the side of a system of equations, of which each step solves one in seconds.
MOST_SIDE = 5000
# Steps of an interior point method: some thirty do, whatever the problem.
_STEPS = 200
# How far it goes towards the border of what is allowed.
_NEARLY = 0.995
# A step of which no more can be gone leads along a border.
_SHORT = 0.3
# Products are not meant to shrink by more than the cube of this at once.
_LEAST = 0.1
# Rows that are weighed together: what is copied for it stays small.
_BLOCK_ROWS = 1 << 14
# Beside 1 on the diagonal: where features add up to others, equations are singular but for rounding.
_RIDGES = (0.0, 1e-14, 1e-12, 1e-10)
# Beside the largest, directions that are shorter are rounding.
_ROUNDING = 1e-13

# Of weights, margins, what rows lack, their multipliers, and that of the norm.
_Change: TypeAlias = tuple[
    NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], float
]


@dataclass(frozen=True)
class Hindsight:
    """The least sum of hinge losses.

    Attributes
    ----------
    loss : float
        That some weights of the norm allowed have.
    bound : float
        No weights of that norm have less, by duality.
    """

    loss: float
    bound: float

    @property
    def gap(self) -> float:
        """What is left between both, beside the loss."""
        return (self.loss - self.bound) / max(1.0, self.loss)


def best_in_hindsight(X: Any, signs: NDArray[np.float64], radius: float) -> Hindsight:
    """Return the least sum of max(0, 1 - y w·x) over the weights w of a norm up to `radius`.

    An interior point method finds weights with dual variables α of the rows, whose dual value Σα -
    radius·‖Σ αyx‖ no loss is below.

    Parameters
    ----------
    X : ndarray or CSR matrix of float64, shape (n, d)
    signs : ndarray of float64, shape (n,)
        -1 or 1.
    radius : float

    Returns
    -------
    Hindsight
        As close as it could be had: its `gap` says how close.
    """
    # The best where all rows lack something: so small is the norm.
    best = _of_slopes(X, signs, radius, np.ones(len(signs)))
    if best.gap <= TOLERANCE or min(X.shape) > MOST_SIDE:
        return best
    search = _Search(_coordinates(X), signs, radius, best)
    for _ in range(_STEPS):
        if not search.step() or search.best.gap <= TOLERANCE:
            break
    return search.best


def _coordinates(X: Any) -> Any:
    """Return rows with as many numbers as there are rows at most: their inner products are the same."""
    n, d = X.shape
    if d <= n:
        return X
    squares, directions = eigh(_dense(X @ X.T))
    kept = squares > _ROUNDING * float(squares[-1])
    return directions[:, kept] * np.sqrt(squares[kept])


class _Search:
    """A path through the inside of what is allowed: slacks and their multipliers are all above 0.

    What a row lacks is ξ, with ``s = y w·x + ξ - 1`` above 0 (multiplier α) and ξ above 0 (multiplier 1 - α);
    ``room = (radius² - ‖w‖²)/2`` is above 0 (multiplier λ). The product of each with its multiplier goes
    to 0.
    """

    def __init__(self, X: Any, signs: NDArray[np.float64], radius: float, best: Hindsight) -> None:
        n, d = X.shape
        self.X, self.signs, self.radius, self.best = X, signs, radius, best
        self.w, self.margins = np.zeros(d), np.zeros(n)
        self.xi, self.alpha = np.full(n, 2.0), np.full(n, 0.5)
        self.room = radius**2 / 2
        # What would hold the sum of rows back at the border.
        self.multiplier = float(np.linalg.norm(X.T @ (signs * self.alpha))) / radius

    def step(self) -> bool:
        """Go a step; return False where floating point allows none."""
        s, beta = self.margins + self.xi - 1.0, 1.0 - self.alpha
        weights = 1.0 / (s / self.alpha + self.xi / beta)
        try:
            solve = self._solver(weights)
        except (LinAlgError, ValueError):
            return False
        tau = float(self.alpha @ s + beta @ self.xi + self.multiplier * self.room) / (2 * len(s) + 1)
        # As far as the straight way leads, products may become small at once.
        straight = self._change(solve, weights, s, beta, 0.0)
        goal = max(1.0 - self._share(straight, s, beta), _LEAST) ** 3 * tau
        change = self._change(solve, weights, s, beta, goal)
        share = self._share(change, s, beta)
        if share < _SHORT:
            # Too near to a border: back to where all products are alike.
            change = self._change(solve, weights, s, beta, tau)
            share = self._share(change, s, beta)
        w, margins, xi, alpha, multiplier = change
        # Not as a difference of squares, which are equal but for a few bits at the end.
        self.room -= share * float(self.w @ w) + share**2 / 2 * float(w @ w)
        self.w = self.w + share * w
        self.margins = self.margins + share * margins
        self.xi = self.xi + share * xi
        self.alpha = self.alpha + share * alpha
        self.multiplier += share * multiplier
        self._note()
        return bool(self.room > 0 and share > _ROUNDING)

    def _change(
        self,
        solve: Callable[[NDArray[np.float64]], NDArray[np.float64]],
        weights: NDArray[np.float64],
        s: NDArray[np.float64],
        beta: NDArray[np.float64],
        goal: float,
    ) -> _Change:
        """Return Newton's step to where every product is `goal`."""
        lack_xi = goal / beta - self.xi
        wanted = weights * (goal / self.alpha - s - lack_xi)
        pulled = self.X.T @ (self.signs * (self.alpha + wanted))
        w = solve(pulled - goal / self.room * self.w)
        margins = self.signs * (self.X @ w)
        alpha = wanted - weights * margins
        multiplier = goal / self.room - self.multiplier + self.multiplier / self.room * float(self.w @ w)
        return w, margins, lack_xi + self.xi / beta * alpha, alpha, multiplier

    def _share(self, change: _Change, s: NDArray[np.float64], beta: NDArray[np.float64]) -> float:
        """Return how much of a step leaves everything above 0."""
        w, margins, xi, alpha, multiplier = change
        pairs = ((s, margins + xi), (self.xi, xi), (self.alpha, alpha), (beta, -alpha))
        most = max(-multiplier / self.multiplier, *(float(np.max(-by / of)) for of, by in pairs))
        # Where ‖w + share·change‖ is the radius.
        square, half = float(w @ w), float(self.w @ w)
        if square:
            most = max(most, square / (math.sqrt(half**2 + 2 * self.room * square) - half))
        return min(1.0, _NEARLY / most) if most > 0 else 1.0

    def _solver(self, weights: NDArray[np.float64]) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
        """Return what solves the equations of a step: Σ weight·xx' + λ + λ/room ww'."""
        system = self.multiplier / self.room * np.outer(self.w, self.w)
        system.flat[:: len(system) + 1] += self.multiplier
        for start in range(0, len(weights), _BLOCK_ROWS):
            rows, own = self.X[start : start + _BLOCK_ROWS], weights[start : start + _BLOCK_ROWS, np.newaxis]
            weighed = rows * own if isinstance(rows, np.ndarray) else rows.multiply(own).tocsr()
            system += _dense(rows.T @ weighed)
        # Features differ in scale, and the equations would be lost in it.
        scale = 1.0 / np.sqrt(system.diagonal())
        system *= np.outer(scale, scale)
        for ridge in _RIDGES:
            system.flat[:: len(system) + 1] = 1.0 + ridge
            with contextlib.suppress(LinAlgError):
                factor = cho_factor(system)
                return lambda side: scale * cho_solve(factor, scale * side)
        raise LinAlgError("features that repeat each other")

    def _note(self) -> None:
        """Keep the least loss and the largest bound."""
        here = float(np.maximum(0.0, 1.0 - self.margins).sum())
        there = _of_slopes(self.X, self.signs, self.radius, self.alpha)
        self.best = Hindsight(min(self.best.loss, here, there.loss), max(self.best.bound, there.bound))


def _of_slopes(X: Any, signs: NDArray[np.float64], radius: float, alpha: NDArray[np.float64]) -> Hindsight:
    """Return the bound of dual variables, and the loss of the weights that they pull to where norms end."""
    pull = X.T @ (signs * alpha)
    length = float(np.linalg.norm(pull))
    margins = signs * (X @ (pull * (radius / length))) if length else np.zeros(len(signs))
    loss = float(np.maximum(0.0, 1.0 - margins).sum())
    return Hindsight(min(float(len(signs)), loss), max(0.0, float(alpha.sum()) - radius * length))


def _dense(system: Any) -> NDArray[np.float64]:
    return system if isinstance(system, np.ndarray) else np.asarray(system.toarray())
