"""The shifting Perceptron, which forgets old mistakes."""

from dataclasses import dataclass

from ..estimator.parameters import NonNegative
from ..numeric.loops import learning_loop
from ..numeric.margins import signed
from ..numeric.rows import add_scaled, dot, n_rows, row
from .linear_classifier import ScaledClassifier
from .parts.losses import has_entries
from .parts.scale import folded


@learning_loop
def _learn(X, codes, scores, v, scalars, lam):
    """Make one pass of Cesa-Bianchi & Gentile (2006), Figure 1, with w stored as ``scale · v``.

    `scalars` contains the scale, and k, the number of updates so far.
    """
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x, y = row(X, t), signed(codes[t])
        scores[t] = scalars[0] * dot(v, x)
        is_mistake = not y * scores[t] > 0.0
        mistakes += is_mistake
        if is_mistake and has_entries(x):
            # The factor is 1 - λ/(λ + k). Before the first mistake (k = 0) w is 0, so the factor can be 1.
            factor = scalars[1] / (lam + scalars[1]) if scalars[1] > 0.0 else 1.0
            scalars[0] = folded(v, scalars[0] * factor)
            add_scaled(v, y / scalars[0], x)
            scalars[1] += 1.0
            updates += 1
    return mistakes, updates


@dataclass(eq=False, repr=False)
class ShiftingPerceptron(ScaledClassifier):
    """The shifting Perceptron: w is scaled down at each mistake, so that it can follow a changing target.

    On a mistake with k updates before it, ``w = (1 - λ/(λ + k)) w + y x``.

    Parameters
    ----------
    lam : float, default=1.0
        λ >= 0: the larger, the sooner old mistakes are forgotten. With 0 this is the `Perceptron`.
    epochs : int, default=1
        Passes that `fit` makes; k is not reset between them.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w.

    Notes
    -----
    The paper assumes rows of length 1. A row of zeros is a mistake, but causes no update.

    See Also
    --------
    RemoveOldestPerceptron : Forgets the oldest support vector.

    References
    ----------
    Cesa-Bianchi, Gentile (2006), "Tracking the best hyperplane with a simple budget Perceptron", COLT,
    Figure 1.

    Examples
    --------
    >>> ShiftingPerceptron().fit([[1.0, 0.0], [1.0, 1.0], [1.0, 1.0]], [0, 1, 1]).coef_.tolist()
    [[0.5, 1.0]]
    """

    lam: NonNegative = 1.0
    epochs: int = 1

    # Version 1 of this name was the kernel learner that is now called RemoveOldestPerceptron.
    algorithm_version = 2

    def _loop(self):
        return _learn, (self._weights, self._scalars, float(self.lam))
