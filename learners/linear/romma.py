"""ROMMA, the relaxed online maximum margin algorithm."""

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

from ..estimator.parameters import check_bool
from ..numeric.loops import learning_loop
from ..numeric.margins import best_wrong, signed
from ..numeric.rows import add_scaled, dot, linear_scores, n_rows, new_state, row, squared_norm
from ..numeric.vector import EPSILON, SMALLEST_NORMAL
from .multiclass_classifier import MulticlassClassifier, as_coef
from .parts.classes import add_to_pair, class_scores, new_class_state, score_classes

# A w whose part across x is, squared, less than this of it points along x as far as rounding can tell.
_PARALLEL = 1e-12
# How exact ‖v‖² is kept, relative, and the scales of v at which they are multiplied out: each costs d, and is
# due after hundreds of updates, or after one that leaves little of w, which takes a row with much of w in it.
_INEXACT = 1e-13
_SMALLEST_SCALE, _LARGEST_SCALE = 2.0**-100, 2.0**100
# Where w has grown longer than 2^300, w and the margin asked for are divided by that.
_LARGEST_NORM, _REDUCTION = 2.0**600, 2.0**-300


# Results of `_step`: do nothing, restart, add to v.
_PASS_OVER, _ANEW, _ADD = range(3)


@register_jitable
def _multiply_out(v, scale, target):
    """Replace v by w; return its ``(‖v‖², target)``, both reduced if need be."""
    v *= scale
    norm = squared_norm(v)
    if norm > _LARGEST_NORM:
        v *= _REDUCTION
        target *= _REDUCTION
        norm = squared_norm(v)
    return norm, target


@register_jitable
def _step(m, u, squares, scale, norm, error, target):
    """Return what to do with v, by how much of the row's direction, and ``(scale, norm, error)`` after it.

    The shortest w' with ``w'·w >= ‖w‖²`` and margin ``>= target`` is ``c w`` and ``d`` times the row's
    direction (y x or Δf), whose square is `squares`; `m` and `u` are its products with w and v. The paper's
    fractions are divided by `squares` above and below; `across` is ‖w‖² less the part of it along the row.
    """
    w_squares = scale * scale * norm
    along = m / squares
    across = w_squares - m * along
    if target * along >= w_squares:
        # The second constraint implies the first: so at the start (w = 0), and later only with `aggressive`,
        # where x is shorter than all before it.
        return _ANEW, target / squares, 1.0, target * target / squares, 0.0
    if across > _PARALLEL * w_squares:
        c = (w_squares - target * along) / across
        d = (w_squares / across) * ((target - m) / squares)
        scale *= c
        a = d / scale
        error += EPSILON * (norm + a * a * squares)
        norm += a * (2.0 * u + a * squares)
        return _ADD, a, scale, norm, error
    return _PASS_OVER, 0.0, scale, norm, error


@register_jitable
def _is_exact(scale, norm, error):
    """Return whether ``scale v`` is accurate enough to keep."""
    return _SMALLEST_SCALE < scale < _LARGEST_SCALE and norm <= _LARGEST_NORM and error <= _INEXACT * norm


@learning_loop
def _learn(X, codes, scores, v, scalars, aggressive):
    """One pass of Li & Long (2002), with ``w = scale v``: a round costs its non-zeros."""
    mistakes = updates = 0
    # norm: ‖v‖²; error: its rounding error
    scale, norm, error, target = scalars[0], scalars[1], scalars[2], scalars[3]
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        s = dot(v, x)
        scores[t] = scale * s
        m = y * scores[t]
        mistakes += not m > 0.0
        if not m > 0.0 or (aggressive and m < target):
            squares = squared_norm(x)
            if not SMALLEST_NORMAL <= squares < np.inf:
                continue
            what, a, scale, norm, error = _step(m, y * s, squares, scale, norm, error, target)
            if what == _PASS_OVER:
                continue
            if what == _ANEW:
                v[:] = 0.0
            add_scaled(v, y * a, x)
            updates += 1
            if not _is_exact(scale, norm, error):
                norm, target = _multiply_out(v, scale, target)
                scale, error = 1.0, 0.0
    scalars[0], scalars[1], scalars[2], scalars[3] = scale, norm, error, target
    return mistakes, updates


@learning_loop
def _learn_classes(X, codes, scores, V, scalars, aggressive):
    """The step along Δf = f(x, y) - f(x, ỹ), whose ‖Δf‖² is 2‖x‖²; the scale is that of all blocks."""
    mistakes = updates = 0
    sums, v = np.empty(V.shape[1]), V.reshape(-1)
    scale, norm, error, target = scalars[0], scalars[1], scalars[2], scalars[3]
    for t in range(n_rows(X)):
        x, y, f = row(X, t), codes[t], scores[t]
        score_classes(V, x, sums, f)
        for z in range(f.shape[0]):
            f[z] *= scale
        z = best_wrong(f, y)
        m = f[y] - f[z]
        mistakes += not m > 0.0
        if not m > 0.0 or (aggressive and m < target):
            squares = 2.0 * squared_norm(x)
            if not SMALLEST_NORMAL <= squares < np.inf:
                continue
            u = sums[y] - sums[z]
            what, a, scale, norm, error = _step(m, u, squares, scale, norm, error, target)
            if what == _PASS_OVER:
                continue
            if what == _ANEW:
                v[:] = 0.0
            add_to_pair(V, a, x, y, z)
            updates += 1
            if not _is_exact(scale, norm, error):
                norm, target = _multiply_out(v, scale, target)
                scale, error = 1.0, 0.0
    scalars[0], scalars[1], scalars[2], scalars[3] = scale, norm, error, target
    return mistakes, updates


class ROMMA(MulticlassClassifier):
    """ROMMA: the shortest w that has margin 1 on the row and is on the far side of the old w.

    On a mistake w becomes the shortest w' with ``y w'·x >= 1`` and ``w'·w >= ‖w‖²``:
    ``w' = ((‖x‖²‖w‖² - y s) w + ‖w‖² (y - s) x)/(‖x‖²‖w‖² - s²)``, at the start ``y x/‖x‖²``.

    With more than two classes ``Δf = f(x, y) - f(x, ỹ)`` takes the place of y x, where f(x, z) is x in the
    block of class z and ỹ the best wrong class: ``‖Δf‖² = 2‖x‖²``, w is all blocks together, and an update
    scales every one of them.

    Parameters
    ----------
    aggressive : bool, default=False
        Update whenever the margin is below 1. Where ``y x/‖x‖²`` alone satisfies both constraints, w becomes
        that.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d) or (K, d)
        w.

    Notes
    -----
    w never gets shorter, and where no w separates the rows it grows exponentially. Beyond a length of 2^300
    it is kept divided by a power of that, with its scores and the margin asked for; what is predicted stays
    the same.

    Passed over are rows whose ‖x‖² is no normal float64 (a row of zeros among them), and mistakes on a row
    that points straight away from w (to 1e-6 of its length), after which no w would do.

    LIBOL starts from y x instead of y x/‖x‖², and from Δf with more classes; there it scales the two blocks
    of Δf only, and its aggressive variant lacks the case of ``Δf/‖Δf‖²`` alone.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Li, Long (2002), "The relaxed online maximum margin algorithm", Machine Learning 46.

    Examples
    --------
    >>> ROMMA().fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 1.0]]
    """

    def __init__(self, aggressive: bool = False, epochs: int = 1) -> None:
        self.aggressive = aggressive
        self.epochs = epochs

    def _check_parameters(self):
        check_bool(self, "aggressive")

    _state = ("_v", "_scalars")

    @property
    def indifferent_to_absent_features(self) -> bool:
        # ‖v‖² is summed over all features, in an order that would change with their numbers.
        return False

    def _allocate(self, n_features):
        self._begin_with(new_state(n_features))

    def _allocate_classes(self, n_features, n_classes):
        self._begin_with(new_class_state(n_features, n_classes))

    def _begin_with(self, zeros):
        self._v = zeros
        self._scalars = np.array([1.0, 0.0, 0.0, 1.0])  # the scale, ‖v‖², its error, the margin asked for

    def _loop(self):
        return _learn, (self._v, self._scalars, bool(self.aggressive))

    def _loop_of_classes(self):
        return _learn_classes, (self._v, self._scalars, bool(self.aggressive))

    def _score(self, X, scores):
        linear_scores(X, self._v, scores)
        scores *= self._scalars[0]

    def _score_classes(self, X, scores):
        class_scores(X, self._v, scores)
        scores *= self._scalars[0]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # The last mistakes rule where no w separates the rows, as in scikit-learn's check data (83%).
        tags.classifier_tags.poor_score = True
        return tags

    @property
    def coef_(self) -> NDArray[np.float64]:
        return as_coef(self._scalars[0] * self._v, len(self.classes_))
