"""Online feature selection: linear learners with at most B weights that are not 0."""

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..estimator.parameters import Count, NonNegative, Positive, Scale
from ..numeric.compiled import compiled, register_jitable
from ..numeric.loops import learning_loop
from ..numeric.margins import signed
from ..numeric.rows import add_scaled, dot, entry, method, n_entries, n_rows, new_state, row, squared_norm
from .linear_classifier import LinearClassifier
from .parts.losses import has_entries


@compiled
def _at_rank(values, k):
    """Return the (k + 1)-th largest value; move the k larger or equal values before it (Hoare's selection).

    NumPy's selection is not used, because Numba compiles it more slowly than the rest of a learning loop.
    """
    first, last = 0, values.shape[0] - 1
    while first < last:
        pivot, i, j = values[(first + last) // 2], first, last
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i, j = i + 1, j - 1
        if k > j and k < i:
            break
        first, last = (first, j) if k <= j else (i, last)
    return values[k]


@register_jitable
def _keep_largest(w, strengths, kept, x):
    """Set w to 0 except for the B features of largest |strength|; on ties, keep those of lowest index.

    Before the call, only features of the row x and those in `kept` have weights other than 0. `kept` contains
    the number of features kept, then these features in ascending order; it is updated.
    """
    n, budget = kept[0], kept.shape[0] - 1
    found = np.empty(n + n_entries(x), np.int64)
    i = size = 0
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        if x_j != 0.0:
            while i < n and kept[1 + i] <= np.int64(j):
                if kept[1 + i] < np.int64(j):
                    found[size] = kept[1 + i]
                    size += 1
                i += 1
            found[size] = j
            size += 1
    for place in range(i, n):
        found[size] = kept[1 + place]
        size += 1
    n_kept = size
    if size > budget:
        sizes = np.empty(size)
        for i in range(size):
            sizes[i] = abs(strengths[found[i]])
        # The smallest strength that is kept, and how many of the features with this strength are kept.
        least, spare, n_kept = _at_rank(sizes, budget - 1), budget, 0
        for i in range(budget):
            spare -= sizes[i] > least
        for i in range(size):
            j = found[i]
            strength = abs(strengths[j])
            if strength > least or (strength == least and spare > 0):
                spare -= strength == least
                found[n_kept] = j
                n_kept += 1
            else:
                w[j] = 0.0
    kept[0] = n_kept
    kept[1 : 1 + n_kept] = found[:n_kept]


class DescentSelection(NamedTuple):
    """The update rule of `OFS`, which ranks features by the size of their weights, so `q` is w."""

    eta: float
    l2: float

    def follow(self, w, q, kept, x, y, m):
        """Make the update of Wang, Zhao, Hoi & Jin (2014), Algs. 2 and 3; return True: it skips no row."""
        decay = 1.0 - self.l2 * self.eta
        squares = self.eta * (self.eta * squared_norm(x) + 2.0 * decay * m)
        for j in kept[1 : 1 + kept[0]]:
            w[j] *= decay
            squares += w[j] * w[j]
        add_scaled(w, self.eta * y, x)
        _keep_largest(w, q, kept, x)
        # The paper scales w before it drops features, so `squares` is ‖w‖² before dropping. Scaling after
        # dropping has the same result, because a common factor does not change which features are dropped.
        if self.l2 * squares > 1.0:
            for j in kept[1 : 1 + kept[0]]:
                w[j] /= math.sqrt(self.l2) * math.sqrt(squares)
        return True


class PrecisionSelection(NamedTuple):
    """The update rule of `SOFS`, which ranks features by q_j, the sum of their squared values x_j²."""

    r: float

    def follow(self, w, q, kept, x, y, m):
        """Make the update of Wu, Hoi, Mei & Yu (2017), which is AROW's; return False if it is skipped."""
        v = 0.0
        for k in range(n_entries(x)):
            j, x_j = entry(x, k)
            v += x_j / (1.0 + q[j] / self.r) * x_j
        # A row whose variance overflows is skipped.
        if not v < np.inf:
            return False
        for k in range(n_entries(x)):
            j, x_j = entry(x, k)
            w[j] += (1.0 - m) / (v + self.r) * y * (x_j / (1.0 + q[j] / self.r))
            q[j] += x_j * x_j
        _keep_largest(w, q, kept, x)
        return True


_follow = method("follow")


@learning_loop
def _learn(X, codes, scores, w, q, kept, rule):
    """Make one pass; rows with a margin of at least 1 change nothing."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t] = dot(w, x)
        m = y * scores[t]
        mistakes += not m > 0.0
        if m < 1.0 and has_entries(x):
            updates += _follow(rule, w, q, kept, x, y, m)
    return mistakes, updates


class _FeatureSelector(LinearClassifier):
    """Base of `OFS` and `SOFS`. State: the weights, q (only `SOFS`), and the list of the features kept."""

    B: Count

    is_sparse = True

    _state = ("_weights", "_q", "_kept")

    def _begin_with(self, zeros):
        self._weights, self._q = zeros, None
        # Entry 0 is the number of features kept; the next entries are their indices.
        self._kept = np.zeros(1 + int(self.B), np.int64)

    def _loop(self):
        return _learn, (
            self._weights,
            self._weights if self._q is None else self._q,
            self._kept,
            self._rule(),
        )


@dataclass(eq=False, repr=False)
class OFS(_FeatureSelector):
    """Online feature selection (OFS): gradient descent that keeps the B largest weights.

    On a row x with label y (±1) and margin ``m = y w·x < 1``: ``w = (1 - λη) w + η y x``; if ``‖w‖ > 1/√λ``,
    w is scaled to that norm; then all w_j except the B largest in size become 0 (of two equal ones, the lower
    j is kept). Other rows change nothing.

    Parameters
    ----------
    B : int, default=10
        Number of features kept, B >= 1.
    eta : float, default=0.2
        Step η > 0.
    l2 : float, default=0.01
        λ >= 0. With 0 there is no decay and no largest norm.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w.
    n_nonzero_ : int
        Number of weights that are not 0.

    Notes
    -----
    An update takes time proportional to B and the row's non-zeros, apart from sorting them. A row of zeros
    causes no update. Public programs differ: SOL of 2013 decays w on every row, ports of the authors' Matlab
    code never do.

    See Also
    --------
    SOFS : The second-order form.

    References
    ----------
    Wang, Zhao, Hoi, Jin (2014), "Online feature selection and its applications", IEEE Transactions on
    Knowledge and Data Engineering 26, Algorithms 2 and 3.

    Examples
    --------
    >>> OFS(B=1).fit([[1.0, 0.0, 0.5], [0.0, 3.0, 0.5]], [0, 1]).coef_.round(4).tolist()
    [[0.0, 0.6, 0.0]]
    """

    B: Count = 10
    eta: Positive = 0.2
    l2: NonNegative = 0.01
    epochs: int = 1

    def _rule(self):
        return DescentSelection(float(self.eta), float(self.l2))


@dataclass(eq=False, repr=False)
class SOFS(_FeatureSelector):
    """Second-order online feature selection (SOFS): AROW that keeps the B features it knows best.

    Σ is diagonal, with ``σ_j = 1/(1 + q_j/r)`` and q = 0 at first. On a row x with label y (±1) and margin
    ``m = y w·x < 1``: ``v = Σ_j σ_j x_j²``, ``w_j += (1 - m)/(v + r) y σ_j x_j``, ``q_j += x_j²``; then all
    w_j except those of the B largest q_j become 0 (of two equal ones, the lower j is kept). q_j also grows
    while w_j is 0.

    Parameters
    ----------
    B : int, default=10
        Number of features kept, B >= 1.
    r : float, default=1.0
        r > 0: the larger, the smaller the steps, as in `AROW`.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w.
    sigma_ : ndarray of float64, shape (d,)
        σ.
    n_nonzero_ : int
        Number of weights that are not 0.

    Notes
    -----
    An update takes time proportional to B and the row's non-zeros, apart from sorting them. A row of zeros
    causes no update.

    See Also
    --------
    OFS : The first-order form.
    AROW : With projection="precision", the same rule with all features.

    References
    ----------
    Wu, Hoi, Mei, Yu (2017), "Large-scale online feature selection for ultra-high dimensional sparse data",
    ACM Transactions on Knowledge Discovery from Data 11.

    Examples
    --------
    >>> SOFS(B=1).fit([[1.0, 0.0, 0.5], [0.0, 3.0, 0.5]], [0, 1]).coef_.round(4).tolist()
    [[0.0, 0.2941, 0.0]]
    """

    B: Count = 10
    r: Scale = 1.0
    epochs: int = 1

    def _begin_with(self, zeros):
        super()._begin_with(zeros)
        self._q = new_state(len(zeros), place=1)

    @property
    def sigma_(self):
        return 1.0 / (1.0 + self._q / float(self.r))

    def _rule(self):
        return PrecisionSelection(float(self.r))
