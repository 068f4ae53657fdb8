"""The Passive-Aggressive algorithms PA, PA-I and PA-II."""

import numpy as np

from .._base import OnlineClassifier
from .._jit import kernel
from .._parameters import check_option, check_positive
from .._rows import add_scaled, dot, n_rows, row, squared_norm

_SMALLEST_NORMAL = float(np.finfo(np.float64).tiny)


@kernel
def _learn(X, codes, scores, w, largest_step, slack):
    """One pass of Crammer et al. (2006): ``τ = min(C, l / (‖x‖² + 1/(2C)))``.

    `largest_step` is the C of PA-I (else infinity), `slack` the 1/(2C) of PA-II (else 0).
    """
    mistakes = updates = 0
    for t in range(n_rows(X)):
        x = row(X, t)
        y = 1.0 if codes[t] == 1 else -1.0
        scores[t] = dot(w, x)
        m = y * scores[t]
        mistakes += m <= 0.0
        l = 1.0 - m
        if l > 0.0:
            norm = squared_norm(x)
            # A row of zeros cannot be moved towards; nor one whose squares leave the normal range of
            # float64, for which the step would overflow.
            if norm >= _SMALLEST_NORMAL:
                add_scaled(w, y * min(largest_step, l / (norm + slack)), x)
                updates += 1
    return mistakes, updates


class PassiveAggressive(OnlineClassifier):
    """Passive-Aggressive: the smallest change of w after which the row's hinge loss ``l = 1 - m`` is zero.

    Parameters
    ----------
    variant : {"PA", "PA-I", "PA-II"}, default="PA-I"
        ``w += τ y x`` with ``τ = l/‖x‖²`` (PA, no slack), ``min(C, l/‖x‖²)`` (PA-I) or ``l/(‖x‖² + 1/(2C))``
        (PA-II).
    C : float, default=1.0
        Aggressiveness, > 0; PA does not use it.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, d)
        w.

    See Also
    --------
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Crammer, Dekel, Keshet, Shalev-Shwartz, Singer (2006), "Online passive-aggressive algorithms", JMLR 7.

    Examples
    --------
    >>> PassiveAggressive(variant="PA").fit([[2.0, 0.0], [0.0, 1.0]], [0, 1]).coef_.tolist()
    [[-0.5, 1.0]]
    """

    def __init__(self, variant="PA-I", C=1.0, epochs=1):
        self.variant = variant
        self.C = C
        self.epochs = epochs

    def _check_parameters(self):
        check_option(self, "variant", ("PA", "PA-I", "PA-II"))
        check_positive(self, "C")

    def _allocate(self, n_features):
        self._w = np.zeros(n_features)

    def _pass(self, X, codes, scores):
        largest_step = float(self.C) if self.variant == "PA-I" else np.inf
        slack = 0.5 / float(self.C) if self.variant == "PA-II" else 0.0
        return _learn(X, codes, scores, self._w, largest_step, slack)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Without slack the last row that erred rules: 79% of scikit-learn's check data, which overlap.
        tags.classifier_tags.poor_score = self.variant == "PA"
        return tags

    @property
    def coef_(self):
        return self._w.reshape(1, -1)
