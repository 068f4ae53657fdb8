"""Compute what regret compares with: the least hinge loss of fixed weights whose norm is limited.

The limit is the norm of the learner's final weights.
"""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

#: The extra (optional dependency) of this package that installs the solver: ``pip install
#: singlepass[regret]``.
EXTRA = "regret"
# Largest accepted gap between the loss of the weights found and the proven lower bound of the least loss. It
# is relative to the loss, or absolute if the loss is below 1, which is the hinge loss of one row at margin 0.
TOLERANCE = 1e-6
# Maximum memory of the solver, because a worker runs other cells at the same time.
MOST_BYTES = 4_000_000_000
# Estimate of the solver's memory: bytes per nonzero of the matrix, per row, and per unit of min(rows,
# features)². Measured up to 9 million nonzeros (1.4 GB), 93,000 rows, and min(rows, features) = 8,000 (1.6
# GB).
_BYTES_A_NUMBER, _BYTES_A_ROW, _BYTES_A_PAIR = 150, 1000, 25
# Tolerance that the solver itself is given, far below `TOLERANCE`, which its result must meet.
_PRECISION = 1e-9
# Largest possible score that is accepted. The lower bound of the loss is a difference of numbers of this
# size, and would be lost in the rounding errors of larger ones.
_LARGEST_SCORE = 1e15


class HindsightError(ValueError):
    """Error: the best weights in hindsight cannot be computed; the message says why."""


@dataclass(frozen=True)
class Hindsight:
    """Upper and lower bound of the least total hinge loss, among weights whose norm is limited."""

    # The loss of the best weights found, and a lower bound for the loss of all allowed weights (by duality).
    loss: float
    bound: float

    @property
    def gap(self) -> float:
        """Return the difference of upper and lower bound, divided by the loss if the loss exceeds 1."""
        return (self.loss - self.bound) / max(1.0, self.loss)

    def or_better(self, other: Hindsight) -> Hindsight:
        """Combine two results: return the smaller of both losses and the larger of both lower bounds."""
        return Hindsight(min(self.loss, other.loss), max(self.bound, other.bound))


def has_solver() -> bool:
    """Return whether the solver package clarabel is installed."""
    return importlib.util.find_spec("clarabel") is not None


def best_in_hindsight(X: Any, signs: NDArray[np.float64], radius: float) -> Hindsight:
    """Return the least Σ max(0, 1 - y w·x) over rows x with signs y, for weights w of norm at most `radius`.

    Clarabel finds weights w, and a dual variable α for each row. The loss of w and the lower bound are
    computed here: for any α in [0, 1], the loss is at least Σα - radius·‖Σ αyx‖.

    `X` has shape (n, d), dense or CSR; `signs` are -1 or 1. The result's `gap` is at most `TOLERANCE`. Raises
    HindsightError if there are too many rows, scores are too large, or the solver misses the tolerance.
    """
    rows, longest = _rows_of_margins(X, signs, radius)
    # Without the solver, first try weights in the direction Σ yx, with all α = 1: they are optimal if every
    # margin is below 1.
    best = _loss_and_bound(rows, rows.T @ np.ones(len(signs)), np.ones(len(signs)))
    if best.gap <= TOLERANCE:
        return best
    needed = _BYTES_A_NUMBER * rows.nnz + _BYTES_A_ROW * len(signs) + _BYTES_A_PAIR * min(rows.shape) ** 2
    if needed > MOST_BYTES:
        raise HindsightError(
            f"the solver needs about {needed / 1e9:.1f} GB for these rows and features, more than the limit "
            f"of {MOST_BYTES / 1e9:g} GB"
        )
    # Solve with rows scaled so that the limit is ‖w‖ <= 1. If that is not exact enough and scores can exceed
    # 1, solve again in another unit: divide the rows by the largest possible score, multiply the limit by it.
    for unit in dict.fromkeys((1.0, max(1.0, longest))):
        best = best.or_better(_loss_and_bound(rows, *_solved(rows / unit, unit)))
        if best.gap <= TOLERANCE:
            return best
    raise HindsightError(
        "the solver found no weights that are provably best to a millionth of their loss; with weights of "
        f"the learner's norm, scores are up to {longest:.1g}"
    )


def _rows_of_margins(X: Any, signs: NDArray[np.float64], radius: float) -> tuple[Any, float]:
    """Return the rows multiplied by `radius` and their sign, and the largest norm of these rows.

    The product with weights of norm at most 1 is then a row's margin, which is at most the largest norm.
    Features that are always 0 are left out.
    """
    rows = sp.csr_array(X)
    rows = rows[:, np.unique(rows.indices[rows.data != 0.0])].astype(np.float64)
    size = float(np.abs(rows.data).max(initial=0.0))
    if size == 0.0 or radius == 0.0:
        return sp.csr_array((len(signs), 1)), 0.0
    # Divide by the largest value, so that squares stay within the range of float64.
    rows.data = rows.data / size
    lengths = np.sqrt((rows * rows).sum(axis=1))
    longest = math.exp(min(math.log(radius) + math.log(size) + math.log(lengths.max()), 700.0))
    if longest > _LARGEST_SCORE:
        raise HindsightError(
            f"with weights of the learner's norm, scores are up to {longest:.1g}, too large to compute "
            "losses exactly enough in float64"
        )
    return sp.csr_array(rows * (signs * radius * size)[:, np.newaxis]), longest


def _solved(rows: Any, most: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Find the weights w of least hinge loss with ‖w‖ <= `most`; return w / `most` and dual variables α."""
    # Imported here, because the package is optional: studies without regret do not need it.
    import clarabel

    n, d = rows.shape
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # Use one thread and a fixed method, so that the result is the same on every machine.
    settings.max_threads = 1
    settings.direct_solve_method = "faer"
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _PRECISION
    # Minimize Σ ξ over the weights w and the rows' losses ξ, with ξ >= 0, y w·x + ξ >= 1 and ‖w‖ <= most.
    one = sp.eye_array(n)
    constraints = sp.block_array(
        [[None, -one], [-rows, -one], [sp.csr_array((1, d)), None], [-sp.eye_array(d), None]], format="csc"
    )
    sides = np.r_[np.zeros(n), -np.ones(n), most, np.zeros(d)]
    costs = np.r_[np.zeros(d), np.ones(n)]
    cones = [clarabel.NonnegativeConeT(2 * n), clarabel.SecondOrderConeT(d + 1)]
    solver = clarabel.DefaultSolver(
        sp.csc_matrix((d + n, d + n)), costs, sp.csc_matrix(constraints), sides, cones, settings
    )
    solution = solver.solve()
    w, alpha = np.array(solution.x)[:d], np.array(solution.z)[n : 2 * n]
    return np.nan_to_num(w / most), np.clip(np.nan_to_num(alpha), 0.0, 1.0)


def _loss_and_bound(rows: Any, w: NDArray[np.float64], alpha: NDArray[np.float64]) -> Hindsight:
    """Return an upper bound of the least loss from weights w, and a lower bound from dual variables α.

    The upper bound is the least loss of w scaled to norm 1, w shortened to norm 1 if it is longer, and zero.
    """
    norm = float(np.linalg.norm(w))
    tried = [w / norm if norm > 0.0 else w, w / max(1.0, norm), 0.0 * w]
    loss = min(float(np.maximum(0.0, 1.0 - rows @ each).sum()) for each in tried)
    return Hindsight(loss, max(0.0, float(alpha.sum()) - float(np.linalg.norm(rows.T @ alpha))))
