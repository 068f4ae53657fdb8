"""The second-order Perceptron and AROW in a kernel's feature space."""

import math
from dataclasses import dataclass

import numpy as np
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..estimator.parameters import Positive
from ..numeric.compiled import compiled, register_jitable
from ..numeric.emitters import fused, spread
from ..numeric.margins import signed
from ..numeric.rows import dot
from .kernel_classifier import KernelClassifier
from .support.block_view import add, score_of
from .values.products import LANES, ArrayInCode

# Rows are projected onto the span of the support set by the Cholesky factor of its kernel matrix, ``K_S = L
# Lᵀ``. Let k be the kernel values of a row x with the support vectors and ``z = L⁻¹ k``. Then x is at squared
# distance ``k(x, x) - ‖z‖²`` from the span, and its projection has the coefficients ``d = L⁻ᵀ z``. A new
# support vector adds the row ``[zᵀ, distance]`` to L, and nothing else changes. Computing z or d reads half a
# matrix. With K_S⁻¹ instead, d would take a whole one, and a new support vector would change all of it.
#
# ``view.square`` has L below the diagonal, Lᵀ above it and the reciprocals of L's diagonal on it. So both
# solves, for z and for d, read it along rows.

# Number of unknowns of a triangular system that are solved for together, a panel. If the number of support
# vectors is no multiple of it, the last panel includes free slots, whose rows are zeros and change nothing.
_PANEL = LANES[8]


def _solve_panel(backwards):
    """Build an intrinsic for one panel of a triangular solve: ``L z = k`` or, if `backwards`, ``Lᵀ d = z``.

    It solves for the _PANEL unknowns from number `first` on, and subtracts their terms from the unknowns that
    are solved for later. Each unknown is a chain of fused multiply-adds: ``z_i = (k_i - Σ_j L_ij z_j)/L_ii``
    with j ascending or, if `backwards`, ``d_j = (z_j - Σ_i L_ij d_i)/L_jj`` with i descending.
    """

    @intrinsic
    def solve_panel(_typing_context, square, x, first, n):
        def codegen(context, builder, signature, arguments):
            square, x = (ArrayInCode(context, builder, signature.args[k], arguments[k]) for k in (0, 1))
            first, n = arguments[2:]
            zero, size = first.type(0), first.type(_PANEL)

            def less(total, entry, solved):
                return fused(builder, entry, builder.fneg(solved), total)

            numbers = [builder.add(first, first.type(r)) for r in range(_PANEL)]
            unknowns = [builder.load(x.address(builder, zero, i)) for i in numbers]
            order = list(range(_PANEL))[:: -1 if backwards else 1]
            for place, r in enumerate(order):
                reciprocal = builder.load(square.address(builder, numbers[r], numbers[r]))
                unknowns[r] = builder.fmul(unknowns[r], reciprocal)
                builder.store(unknowns[r], x.address(builder, zero, numbers[r]))
                for q in order[place + 1 :]:
                    entry = builder.load(square.address(builder, numbers[r], numbers[q]))
                    unknowns[q] = less(unknowns[q], entry, unknowns[r])
            vectors = [spread(builder, value, _PANEL) for value in unknowns]
            begin, end = (zero, first) if backwards else (builder.add(first, size), n)
            with cgutils.for_range_slice(builder, begin, end, size, first.type) as (j, _):
                total = x.load(builder, zero, j, _PANEL)
                for r in order:
                    total = less(total, square.load(builder, numbers[r], j, _PANEL), vectors[r])
                x.store(builder, zero, j, total)
            return context.get_dummy_value()

        return types.void(square, x, first, n), codegen

    return solve_panel


_forward, _backward = _solve_panel(backwards=False), _solve_panel(backwards=True)


@register_jitable
def _whole_panels(n):
    return (n + _PANEL - 1) // _PANEL * _PANEL


@register_jitable
def _squared_projection(view, n, t, z):
    """Return ``‖z‖² = k_tᵀ K_S⁻¹ k_t``, the squared norm of row t's projection onto the support set's span.

    ``z = L⁻¹ k_t`` is written into ``z[0]``; k_t are row t's kernel values with the support vectors.
    """
    z[0, :n] = view.values[t, :n]
    stop = _whole_panels(n)
    z[0, n:stop] = 0.0
    for first in range(0, stop, _PANEL):
        _forward(view.square, z, first, stop)
    return dot(z[0, :n], z[0, :n])


@register_jitable
def _projection(view, n, z):
    """Turn ``z = L⁻¹ k_t`` in place into ``d = K_S⁻¹ k_t``, the projection's coefficients; return d."""
    stop = _whole_panels(n)
    for first in range(stop - _PANEL, -1, -_PANEL):
        _backward(view.square, z, first, stop)
    return z[0, :n]


@register_jitable
def _grow_factor(view, n, z, squared_distance):
    """Add the row ``[zᵀ, √squared_distance]`` to the Cholesky factor L; z is ``L⁻¹ k`` of the new row."""
    for i in range(n):
        view.square[n, i] = view.square[i, n] = z[0, i]
    view.square[n, n] = 1.0 / np.sqrt(squared_distance)


# For each dtype of kernel values: a ridge below this share of k(x, x) is less than their rounding errors.
_ROUNDING = {np.dtype(np.float64): 1e-14, np.dtype(np.float32): 1e-6}


@compiled
def _learn(view, whitened, n, codes, scores, ridge, margin, rounding):
    """Learn a block by ridge regression on all rows whose margin was not above `margin`, updated row by row.

    Let K be the kernel matrix of these rows. ``view.square`` has the Cholesky factor L of ``K + ridge I``,
    and Lᵀ above the diagonal. `whitened` is ``z = L⁻¹ y``, and ``α = L⁻ᵀ z``. The inverse of ``K + ridge I``
    would cost the same work, but it loses all digits if `ridge` is small compared with K.
    """
    mistakes = updates = evaluations = 0
    w = np.zeros((1, view.alpha.shape[0]))
    for t in range(codes.shape[0]):
        y = signed(codes[t])
        scores[t] = score_of(view, n, t)
        evaluations += n
        m = y * scores[t]
        mistakes += not m > 0.0
        if not m > margin:
            evaluations += 1
            if not view.own[t] < np.inf:
                continue
            norm = _squared_projection(view, n, t, w)
            # The Schur complement by which row t would extend K + ridge I. In AROW, this is r + v.
            c = max(ridge, rounding * view.own[t]) + max(0.0, view.own[t] - norm)
            z = (y - dot(w[0, :n], whitened[:n])) / math.sqrt(c)
            if not abs(z) < np.inf:
                continue
            _grow_factor(view, n, w, c)
            whitened[n] = z
            n = add(view, n, t, 0.0)
            w[0, :n] = whitened[:n]
            view.alpha[:n] = _projection(view, n, w)
            updates += 1
    return n, mistakes, updates, evaluations


class _RidgeRegression(KernelClassifier):
    """Base of the learners that do ridge regression on the rows whose margin is not above a limit."""

    _keeps_square = _keeps_companions = True

    # `_ridge` is the name of the parameter that sets the ridge, `_margin` the largest margin of learned rows.
    _ridge: str
    _margin: float

    def _learn_block(self, view, n, codes, scores):
        ridge, rounding = float(getattr(self, self._ridge)), _ROUNDING[view.values.dtype]
        return _learn(view, self._support.companions, n, codes, scores, ridge, self._margin, rounding)


@dataclass(eq=False, repr=False)
class KernelSecondOrderPerceptron(_RidgeRegression):
    """The second-order Perceptron with kernels: ridge regression on the rows that were mistakes.

    ``α = (K + a I)⁻¹ y``, with the kernel matrix K and the labels y of the rows that were mistakes. A mistake
    takes one kernel evaluation, k(x, x), besides those of its prediction.

    Parameters
    ----------
    a : float, default=1.0
        Ridge, > 0, as in `SecondOrderPerceptron`.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    Notes
    -----
    The score leaves the current row out of the matrix, as in DOGMA. For the linear kernel it is therefore
    ``1 + xᵀA⁻¹x`` times the score of `SecondOrderPerceptron` with full covariance, A being that learner's
    matrix, and has the same sign.

    The Cholesky factor of ``K + a I`` is stored in float64: 8 n² bytes for n support vectors. An a below the
    rounding error of kernel values, 1e-14 k(x, x) (1e-6 k(x, x) for float32), is replaced by this error.

    See Also
    --------
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Cesa-Bianchi, Conconi, Gentile (2005), "A second-order perceptron algorithm", SIAM J. Comput. 34, section
    4.

    Examples
    --------
    >>> KernelSecondOrderPerceptron(a=3.0).fit([[0.0], [10.0]], [0, 1]).dual_coef_.tolist()
    [[-0.25, 0.25]]
    """

    a: Positive = 1.0

    _ridge, _margin = "a", 0.0


@dataclass(eq=False, repr=False)
class KernelAROW(_RidgeRegression):
    """AROW (full covariance, squared hinge) with kernels, by the representer lemma.

    ``μ = Σ ν_i x_i`` and ``Σ = I + Σ π_ij x_i x_jᵀ`` over the rows that were updates, those with a margin m <
    1. For row t with hinge loss l, let k_t be its kernel values with these rows, K their kernel matrix and
    ``d = -π k_t``. An update is ``β = 1/(v + r)``, ``v = k(x, x) - k_tᵀd``, ``ν -= l β y d``,
    ``ν_t = l β y``, ``π -= β [d; -1][d; -1]ᵀ``, which makes ``-π`` the inverse of ``K + r I`` and ν the
    solution of ridge regression on these rows. `dual_coef_` is ν.

    A row with m < 1 takes one kernel evaluation, k(x, x), besides those of its prediction.

    Parameters
    ----------
    r : float, default=1.0
        Regularization, > 0.
    kernel, gamma, degree, coef0, epochs : default="rbf", 1.0, 3, 1.0, 1
        The kernel and the passes of `fit`, as for `KernelPerceptron`.

    Notes
    -----
    π is stored as the Cholesky factor of ``K + r I``, in float64: 8 n² bytes for n support vectors, which are
    all rows with m < 1. An r below the rounding error of kernel values, 1e-14 k(x, x) (1e-6 k(x, x) for
    float32), is replaced by this error.

    See Also
    --------
    AROW
    KernelClassifier : Attributes; `OnlineClassifier` has the methods.

    References
    ----------
    Crammer, Kulesza, Dredze (2013), "Adaptive regularization of weight vectors", Machine Learning 91,
    Lemma 1.

    Examples
    --------
    >>> KernelAROW(kernel="linear").fit([[1.0, 0.0], [1.0, 1.0]], [0, 1]).n_support_
    2
    """

    r: Positive = 1.0

    # Rows with a margin below 1 are learned, so the limit is the largest number below 1.
    _ridge, _margin = "r", math.nextafter(1.0, 0.0)
