"""The coin betting of Vowpal Wabbit."""

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from ...estimator.parameters import Scale, one_of
from ...numeric.compiled import compiled, register_jitable
from ...numeric.loops import learning_loop
from ...numeric.margins import signed
from ...numeric.rows import entry, n_entries, n_rows, new_state, row
from ..linear_classifier import LinearClassifier
from ..parts.losses import LOSSES, has_gradient, slope

# Columns of the state, which has a row per feature: θ_j, G_j, B_j, D_j and M_j of `VowpalWabbitCoin`.
_THETA, _TOTAL, _WON, _SLOPE, _SIZE = range(5)
_NUMBERS = 5

# Start value of the sum of (x_j/M_j)² over all rows and features, whose mean N over rows divides the scores.
# It is not 0, so that N is never 0.
_FIRST = 1e-6

_LARGEST = float(np.finfo(np.float64).max)


@register_jitable
def _weight(numbers, j, size, alpha):
    """Return the weight w_j, where `size` is M_j, the largest ``|x_j|`` so far; 0 if it would overflow."""
    wealth, reach = alpha + numbers[j, _WON], numbers[j, _SLOPE] * size
    # Also true if `reach` is 0.
    if not wealth < reach * _LARGEST:
        return 0.0
    return wealth / reach * (numbers[j, _THETA] / (reach + numbers[j, _TOTAL]))


@register_jitable
def _score(numbers, x, alpha, squares, rounds):
    """Return a row's score in round `rounds`, and the sum of all (x_j/M_j)² so far, including this row's."""
    s = 0.0
    for k in range(n_entries(x)):
        j, x_j = entry(x, k)
        size = abs(x_j)
        if not size > numbers[j, _SIZE]:
            size = numbers[j, _SIZE]
        ratio = x_j / size if size != 0.0 else x_j
        squares += ratio * ratio
        s += _weight(numbers, j, size, alpha) * x_j
    return s / (squares / rounds), squares


@learning_loop
def _learn(X, codes, scores, numbers, scalars, alpha, beta, loss, rounds):
    """Make one pass. At each x_j, update M_j, then D_j, w_j, θ_j, G_j and B_j (see `VowpalWabbitCoin`)."""
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        rounds[0] += 1
        s, scalars[0] = _score(numbers, x, alpha, scalars[0], rounds[0])
        scores[t] = s
        mistakes += not y * s > 0.0
        c = slope(loss, y * s)
        teaches = has_gradient(c, s, x)
        for k in range(n_entries(x)):
            j, x_j = entry(x, k)
            numbers[j, _SIZE] = max(numbers[j, _SIZE], abs(x_j))
            g = -y * c * x_j
            if teaches and g != 0.0:
                if abs(c) > numbers[j, _SLOPE]:
                    numbers[j, _SLOPE] = max(abs(c), beta)
                w = _weight(numbers, j, numbers[j, _SIZE], alpha)
                numbers[j, _THETA] -= g
                numbers[j, _TOTAL] += abs(g)
                numbers[j, _WON] -= g * w
        updates += teaches
    return mistakes, updates


@compiled
def _scores(X, numbers, scalars, alpha, rounds, scores):
    for t in range(n_rows(X)):
        scores[t], _ = _score(numbers, row(X, t), alpha, scalars[0], rounds + 1)


@compiled
def _weights(numbers, alpha, w):
    for j in range(w.shape[0]):
        w[j] = _weight(numbers, j, numbers[j, _SIZE], alpha)


@dataclass(eq=False, repr=False)
class VowpalWabbitCoin(LinearClassifier):
    """The coin betting of Vowpal Wabbit's ``--coin``: COCOB with normalized scores.

    With M_j the largest ``|x_j|`` so far, the row's own included, and D_j the largest slope,
    ``w_j = (α + B_j) θ_j/(D_j M_j (D_j M_j + G_j))``, 0 while D_j is 0 or ``(α + B_j)/(D_j M_j)`` overflows.
    The score is ``w·x/N``, N being the mean of ``Σ_j (x_j/M_j)²`` over all rows including this one, with 10⁻⁶
    added to the sum. On a row with gradient ``g = -y c(m) x`` (c(m) is minus the loss's slope at the margin
    m), for every j with ``g_j != 0``: if ``|c| > D_j``, ``D_j = max(|c|, β)``; with w_j computed again,
    ``θ_j -= g_j``, ``G_j += |g_j|``, ``B_j -= g_j w_j``.

    Parameters
    ----------
    alpha : float, default=4.0
        The initial wealth of each bettor, > 0.
    beta : float, default=1.0
        The smallest D_j of a feature that has had a gradient, > 0.
    loss : str, default="logistic"
        One of those of `OnlineGradientDescent`.
    epochs : int, default=1
        Passes that `fit` makes; N is a mean over all passes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w/N, where N is the mean over the rows so far.

    Notes
    -----
    With ``--coin``, Vowpal Wabbit does not report the score that it learns from: its predictions use the
    weights before the previous row was learned, so its progressive loss is that of an older model.

    References
    ----------
    Orabona, Tommasi (2017), "Training deep networks without learning rates through coin betting", NIPS;
    Vowpal Wabbit 9.11, ``ftrl.cc``.

    Examples
    --------
    >>> VowpalWabbitCoin().fit([[1.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.round(4).tolist()
    [[-1.3333, 1.3333]]
    """

    alpha: Scale = 4.0
    beta: Scale = 1.0
    loss: Annotated[str, one_of(LOSSES)] = "logistic"
    epochs: int = 1

    @property
    def scores_need_whole_rows(self) -> bool:
        """Always true: each feature of a row adds to the mean N, which divides its score."""
        return True

    _state = ("_numbers", "_scalars")

    def _allocate(self, n_features):
        self._numbers = new_state(_NUMBERS * n_features).reshape(n_features, _NUMBERS)
        self._scalars = np.array([_FIRST])  # the sum of all (x_j/M_j)² so far, over rows and features

    def _loop(self):
        rounds = np.array([self.n_examples_])
        return _learn, (
            self._numbers, self._scalars, float(self.alpha), float(self.beta), LOSSES.index(self.loss), rounds
        )  # fmt: skip

    def _score(self, X, scores):
        _scores(X, self._numbers, self._scalars, float(self.alpha), self.n_examples_, scores)

    @property
    def coef_(self) -> NDArray[np.float64]:
        w = np.empty(len(self._numbers))
        _weights(self._numbers, float(self.alpha), w)
        return (w / (self._scalars[0] / max(self.n_examples_, 1))).reshape(1, -1)
