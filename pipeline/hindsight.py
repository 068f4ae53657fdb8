"""The best weights in hindsight: those that lose least on a learner's stream, of a norm up to its own."""

from __future__ import annotations

import importlib.util
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

#: What the solver of cone programmes is installed with.
EXTRA = "regret"
# What is left between a loss that weights have and one that no weights can be below, beside the loss; a loss
# below that of one row at a margin of 0 is taken for that.
TOLERANCE = 1e-6
# Bytes that the solver takes at most: a worker has other cells to run besides.
MOST_BYTES = 4_000_000_000
# What it takes: by number that is not zero, by row, and by the square of the fewer of rows and features.
# Measured at up to 9 million numbers (1.4 GB), 93,000 rows, and 8,000 rows of more features (1.6 GB).
_BYTES_A_NUMBER, _BYTES_A_ROW, _BYTES_A_PAIR = 150, 1000, 25
# Of the solver's own measures, far enough below what is asked for.
_PRECISION = 1e-9
# Beyond it, lengths of scores are lost in rounding: the bound of a loss is a difference of such.
_LARGEST_SCORE = 1e15


class HindsightError(ValueError):
    """The best weights in hindsight cannot be computed; the words say why."""


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

    def or_better(self, other: Hindsight) -> Hindsight:
        """Return the less of the losses, and the larger of the bounds."""
        return Hindsight(min(self.loss, other.loss), max(self.bound, other.bound))


def has_solver() -> bool:
    """Return whether the solver is installed."""
    return importlib.util.find_spec("clarabel") is not None


def best_in_hindsight(X: Any, signs: NDArray[np.float64], radius: float) -> Hindsight:
    """Return the least sum of max(0, 1 - y w·x) over the weights w of a norm up to `radius`.

    Clarabel finds weights and dual variables α of the rows; what both are worth is computed here, from the
    rows: no loss is below Σα - radius·‖Σ αyx‖ for any α from 0 to 1.

    Parameters
    ----------
    X : ndarray or CSR matrix of float64, shape (n, d)
    signs : ndarray of float64, shape (n,)
        -1 or 1.
    radius : float

    Returns
    -------
    Hindsight
        Its `gap` is `TOLERANCE` at most.

    Raises
    ------
    HindsightError
        The rows are too many, the scores too large, or the solver did not come so close.
    """
    rows, longest = _rows_of_margins(X, signs, radius)
    # The best where all rows lack something: so small is the norm, or so few rows are not zeros.
    best = _worth(rows, rows.T @ np.ones(len(signs)), np.ones(len(signs)))
    if best.gap <= TOLERANCE:
        return best
    needed = _BYTES_A_NUMBER * rows.nnz + _BYTES_A_ROW * len(signs) + _BYTES_A_PAIR * min(rows.shape) ** 2
    if needed > MOST_BYTES:
        raise HindsightError(
            f"for so many rows and features the solver needs some {needed / 1e9:.1f} GB, more than "
            f"{MOST_BYTES / 1e9:g} GB"
        )
    # Weights of norm 1 at most; where scores could be large, weights of scores of 1, which are as far below.
    for unit in dict.fromkeys((1.0, max(1.0, longest))):
        best = best.or_better(_worth(rows, *_solved(rows / unit, unit)))
        if best.gap <= TOLERANCE:
            return best
    raise HindsightError(
        "no weights were proved to be the best to a millionth of their loss; with weights as long as the "
        f"learner's, scores are up to {longest:.1g}"
    )


def _rows_of_margins(X: Any, signs: NDArray[np.float64], radius: float) -> tuple[Any, float]:
    """Return ``radius·y x`` of every row, without the features that are zero; and how long they are."""
    rows = sp.csr_array(X)
    rows = rows[:, np.unique(rows.indices[rows.data != 0.0])].astype(np.float64)
    size = float(np.abs(rows.data).max(initial=0.0))
    if size == 0.0 or radius == 0.0:
        return sp.csr_array((len(signs), 1)), 0.0
    # No square of what is scaled so leaves the range of float64.
    rows.data = rows.data / size
    lengths = np.sqrt((rows * rows).sum(axis=1))
    longest = math.exp(min(math.log(radius) + math.log(size) + math.log(lengths.max()), 700.0))
    if longest > _LARGEST_SCORE:
        raise HindsightError(f"weights as long as its own give scores up to {longest:.1g}, lost in rounding")
    return sp.csr_array(rows * (signs * radius * size)[:, np.newaxis]), longest


def _solved(rows: Any, most: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return weights whose hinges sum up to least, as parts of `most`, their norm, and the rows' α."""
    # An extra: studies without regret do without.
    import clarabel

    n, d = rows.shape
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    # The figure is the same on every machine.
    settings.max_threads = 1
    settings.direct_solve_method = "faer"
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = _PRECISION
    # Of w and what rows lack, ξ: ξ >= 0, y w·x + ξ >= 1, and w within the ball.
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


def _worth(rows: Any, w: NDArray[np.float64], alpha: NDArray[np.float64]) -> Hindsight:
    """Return the loss of weights, at norm 1 and as they are if that is less, and the bound of α."""
    norm = float(np.linalg.norm(w))
    tried = [w / norm if norm > 0.0 else w, w / max(1.0, norm), 0.0 * w]
    loss = min(float(np.maximum(0.0, 1.0 - rows @ each).sum()) for each in tried)
    return Hindsight(loss, max(0.0, float(alpha.sum()) - float(np.linalg.norm(rows.T @ alpha))))
