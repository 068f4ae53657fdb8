"""ROMMA, the relaxed online maximum margin algorithm."""

from dataclasses import dataclass

import numpy as np

from ..numeric.compiled import register_jitable
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import add_scaled, dot, n_rows, row, squared_norm
from ..numeric.vector import EPSILON, SMALLEST_NORMAL
from .linear_classifier import MulticlassClassifier, ScaledClassifier
from .parts.classes import add_to_pair, score_classes

# w and x count as parallel, which allows no update, if the part of w orthogonal to x makes up at most this
# fraction of ‖w‖².
_PARALLEL = 1e-12
# The weights w are stored as ``scale v``. v is replaced by w, and the scale by 1, if the relative error of
# the stored ‖v‖² exceeds _INEXACT or the scale leaves its range. This takes d operations. It happens after
# hundreds of updates, or after an update that nearly cancels w.
_INEXACT = 1e-13
_SMALLEST_SCALE, _LARGEST_SCALE = 2.0**-100, 2.0**100
# If w is longer than 2^300, w and the target margin are divided by 2^300, so that ‖w‖² does not overflow.
_LARGEST_NORM, _REDUCTION = 2.0**600, 2.0**-300


@register_jitable
def _step(m, u, squares, kept):
    """Return ``(is_update, restarts, a, kept)``: v becomes ``v + a g``, or ``a g`` if `restarts` is true.

    g is y x, or Δf for more than two classes; `m` is w·g, `u` is v·g and `squares` is ‖g‖². `kept` contains
    the scale of v, ‖v‖², the error of ‖v‖² and the target margin: as an argument before the step, as a result
    after it. w becomes ``c w + d g``, the shortest w' with ``w'·w >= ‖w‖²`` and ``w'·g >= target``. c and d
    are the paper's fractions with numerator and denominator divided by ‖g‖²; `across` is the squared length
    of the part of w orthogonal to g.
    """
    scale, norm, error, target = kept
    if not SMALLEST_NORMAL <= squares < np.inf:
        return False, False, 0.0, kept
    w_squares = scale * scale * norm
    along = m / squares
    across = w_squares - m * along
    if target * along >= w_squares:
        # The shortest w' with the target margin also satisfies ``w'·w >= ‖w‖²``, so v restarts from 0. This
        # happens at the start (w = 0), later only if `aggressive` is true and all rows before x are longer.
        return True, True, target / squares, (1.0, target * target / squares, 0.0, target)
    if across > _PARALLEL * w_squares:
        c = (w_squares - target * along) / across
        d = (w_squares / across) * ((target - m) / squares)
        scale *= c
        a = d / scale
        error += EPSILON * (norm + a * a * squares)
        norm += a * (2.0 * u + a * squares)
        return True, False, a, (scale, norm, error, target)
    return False, False, 0.0, kept


@register_jitable
def _is_exact(kept):
    """Return whether v can be kept: its scale and length are in range, and the error of ‖v‖² is small."""
    scale, norm, error, _ = kept
    return _SMALLEST_SCALE < scale < _LARGEST_SCALE and norm <= _LARGEST_NORM and error <= _INEXACT * norm


@register_jitable
def _multiply_out(v, kept):
    """Multiply v by its scale, so that it is w; return the scale, ‖v‖², its error and the target margin.

    If w is too long, w and the target are divided by 2^300.
    """
    scale, _, _, target = kept
    v *= scale
    norm = squared_norm(v)
    if norm > _LARGEST_NORM:
        v *= _REDUCTION
        target *= _REDUCTION
        norm = squared_norm(v)
    return 1.0, norm, 0.0, target


@learning_loop
def _learn(X, codes, scores, v, scalars, aggressive):
    """Make one pass of Li & Long (2002); w is stored as ``scale v``, which makes scaling cheap."""
    mistakes = updates = 0
    kept = scalars[0], scalars[1], scalars[2], scalars[3]
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = dot(v, x)
        scores[t] = kept[0] * s
        m = y * scores[t]
        mistakes += not m > 0.0
        if not m > 0.0 or (aggressive and m < kept[3]):
            is_update, restarts, a, kept = _step(m, y * s, squared_norm(x), kept)
            if is_update:
                if restarts:
                    v[:] = 0.0
                add_scaled(v, y * a, x)
                updates += 1
                if not _is_exact(kept):
                    kept = _multiply_out(v, kept)
    scalars[0], scalars[1], scalars[2], scalars[3] = kept
    return mistakes, updates


@learning_loop
def _learn_classes(X, codes, scores, V, scalars, aggressive):
    """Make one pass for K > 2 classes: steps move the right and the best wrong one; all share one scale."""
    mistakes = updates = 0
    sums, v = np.empty(V.shape[1]), V.reshape(-1)
    kept = scalars[0], scalars[1], scalars[2], scalars[3]
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(V, x, sums, f)
        for z in range(f.shape[0]):
            f[z] *= kept[0]
        z = best_wrong(f, y)
        m = f[y] - f[z]
        mistakes += not m > 0.0
        if not m > 0.0 or (aggressive and m < kept[3]):
            is_update, restarts, a, kept = _step(m, sums[y] - sums[z], 2.0 * squared_norm(x), kept)
            if is_update:
                if restarts:
                    v[:] = 0.0
                add_to_pair(V, a, x, y, z)
                updates += 1
                if not _is_exact(kept):
                    kept = _multiply_out(v, kept)
    scalars[0], scalars[1], scalars[2], scalars[3] = kept
    return mistakes, updates


@dataclass(eq=False, repr=False)
class ROMMA(ScaledClassifier, MulticlassClassifier):
    """ROMMA: a mistake makes w the shortest vector that satisfies two linear constraints.

    On a mistake w becomes the shortest w' with ``y w'·x >= 1`` and ``w'·w >= ‖w‖²``. With ``s = w·x``:
    ``w' = ((‖x‖²‖w‖² - y s) w + ‖w‖² (y - s) x)/(‖x‖²‖w‖² - s²)``, at the start ``y x/‖x‖²``.

    With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the
    block of class z and ỹ the best wrong class: ``‖Δf‖² = 2‖x‖²``, w is all blocks together, and an update
    scales all blocks.

    Parameters
    ----------
    aggressive : bool, default=False
        Update whenever the margin is below 1. If ``y x/‖x‖²`` alone satisfies both constraints, it becomes
        the new w.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    w never gets shorter, and if no vector separates the rows, it grows exponentially. If w is longer than
    2^300, w, the scores and the target margin are divided by a power of 2^300; predictions stay the same.

    Two kinds of rows are skipped: those whose ‖x‖² is not a normal float64 (such as rows of zeros), and
    mistakes on a row antiparallel to w (to 1e-6 of its length), for which no w' exists.

    LIBOL starts from y x instead of y x/‖x‖²; with more classes it starts from Δf and scales only the two
    blocks of Δf, and its aggressive variant lacks the case in which ``Δf/‖Δf‖²`` alone becomes w.

    References
    ----------
    Li, Long (2002), "The relaxed online maximum margin algorithm", Machine Learning 46.

    Examples
    --------
    >>> ROMMA().fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 1.0]]
    """

    aggressive: bool = False
    epochs: int = 1

    # No w separates scikit-learn's data, so w depends on the last mistakes, and 83% of the rows are right.
    _scores_poorly = True

    # ‖v‖² is a sum over all features, whose rounding changes if features are left out and renumbered.
    indifferent_to_absent_features = False

    def _begin_with(self, zeros):
        self._weights = zeros  # v; w is ``scale · v``
        # The scale of v, ‖v‖², a bound on the rounding error of ‖v‖², and the target margin.
        self._scalars = np.array([1.0, 0.0, 0.0, 1.0])

    def _loop(self):
        return _learn, (self._weights, self._scalars, bool(self.aggressive))

    def _loop_of_classes(self):
        return _learn_classes, (self._weights, self._scalars, bool(self.aggressive))

    def _score_classes(self, X, scores):
        super()._score_classes(X, scores)
        scores *= self._scalars[0]
