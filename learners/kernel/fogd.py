"""FOGD: gradient descent on random Fourier features."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..estimator.online_classifier import OnlineClassifier
from ..estimator.parameters import Count, Positive, Seed
from ..numeric.compiled import compiled
from ..numeric.margins import signed
from ..numeric.rows import add_scaled, count_rows, dot, linear_scores, row_range
from .kernel_classifier import block_ranges
from .values.fourier import dense_fourier_features, fourier_features, from_panels, in_panels
from .values.row_storage import aligned

# Number of rows whose features are computed together: with a thousand frequencies the features stay in the
# second-level cache. The learned model does not depend on this number.
_BLOCK_ROWS = 64

# Largest size of the matrix of frequencies in bytes, so that an ordinary machine has memory for the stream.
_MAX_BYTES = 4 * 2**30


@compiled
def _learn(Z, codes, scores, w, eta):
    mistakes = updates = 0
    for t in range(codes.shape[0]):
        y, z = signed(codes[t]), Z[t]
        scores[t] = dot(w, z)
        m = y * scores[t]
        mistakes += not m > 0.0
        if 1.0 - m > 0.0:
            add_scaled(w, eta * y, z)
            updates += 1
    return mistakes, updates


def _draw(D, n_features, gamma, seed):
    """Draw and return frequencies, (D, n_features), from N(0, 2 gamma I)."""
    # NumPy guarantees that RandomState draws the same numbers in all versions.
    return math.sqrt(2.0 * gamma) * np.random.RandomState(seed).standard_normal((D, n_features))


class _Features:
    """The feature map ``z(x) = [cos(U x), sin(U x)]/√D`` for frequencies U of shape (D, d), in `dtype`."""

    def __init__(self, U, dtype, drawn_by):
        D, self._d = U.shape
        # The gamma and the seed by which U was drawn.
        self._drawn_by = drawn_by
        self._panels = in_panels(U, dtype)
        width = self._panels.size // self._d
        # The number of frequencies is padded (see `in_panels`). The scale of the padding is 0, so that its
        # features are 0.
        self._scale = aligned((width,), dtype, np.zeros)
        self._scale[:D] = 1.0 / math.sqrt(D)
        self.size, self.numbers = 2 * width, np.r_[:D, width : width + D]
        self.n_bytes = U.size * dtype.itemsize

    def widened(self, n_features):
        """Return the map for rows of `n_features` features; the frequencies of new features are drawn."""
        gamma, seed = self._drawn_by
        # The number of features so far is part of the seed, so that new ones get different frequencies.
        more = _draw(self.D, n_features - self._d, gamma, [seed, self._d])
        return _Features(np.hstack([self.frequencies, more]), self._panels.dtype, self._drawn_by)

    @property
    def D(self):
        """The number of frequencies."""
        return len(self.numbers) // 2

    @property
    def frequencies(self):
        """The frequencies U, shape (D, d)."""
        return from_panels(self._panels, self.D, self._d)

    def room(self, n):
        """Return an array for the features of up to `n` rows."""
        return aligned((n, self.size), self._panels.dtype)

    @np.errstate(over="ignore")  # a float64 value beyond float32 becomes infinite
    def of(self, rows, room):
        """Write the features of rows into an array made by `room`, and return them."""
        out, dtype = room[: count_rows(rows)], self._panels.dtype
        if isinstance(rows, tuple):
            data, indices, indptr = rows
            data = data.astype(dtype, copy=False)
            fourier_features(data, indices, indptr, self._panels, self._d, self._scale, out)
        else:
            dense_fourier_features(rows.astype(dtype, copy=False), self._panels, self._scale, out)
        return out


@dataclass(eq=False, repr=False)
class FOGD(OnlineClassifier):
    """Fourier online gradient descent: if ``l = 1 - m > 0``, ``w += η y z(x)`` with random features z.

    ``m = y w·z(x)`` is the margin and ``z(x) = [cos(U x), sin(U x)]/√D``. The D rows of U, the frequencies,
    are drawn from N(0, 2 gamma I) once. The expected value of ``z(x)·z(x')`` is the rbf kernel of x and x',
    ``exp(-gamma ‖x - x'‖²)``. The time for a row grows with its non-zeros times D, but not with the number of
    earlier rows.

    Parameters
    ----------
    D : int, default=500
        Number of frequencies, >= 1; a cosine and a sine of each are the 2 D features.
    eta : float, default=1.0
        Step size η, > 0. The paper's z(x) lacks the factor 1/√D, so its step size corresponds to eta/D.
    gamma : float, default=1.0
        Parameter of the rbf kernel, > 0.
    random_state : int, default=0
        Seed of the frequencies, 0 … 2³² - 1: the same seed, the same frequencies.
    epochs : int, default=1
        Passes that `fit` makes.

    Attributes
    ----------
    coef_ : ndarray of float64, shape (1, 2 D)
        The weights of the cosines, then those of the sines.
    frequencies_ : ndarray of shape (D, d)
        The matrix U.
    model_bytes_ : int
        Bytes of weights and frequencies.

    Notes
    -----
    Frequencies and features are float32 or float64, like the rows of the first call of `learn` or `fit`.
    Dense and CSR rows with the same values give the same outcome to the last bit.

    The angles U x, rounded in the precision of the rows, and their sines and cosines have the same bits on
    every machine. The error of a sine or cosine is at most two units in the last place for angles up to 2²¹ =
    2,097,152 (float32) or 2⁴⁸ (float64); larger angles count as 0.

    Checked against results of an independent implementation, which agrees with KOL, the C++ library of the
    paper's authors, once KOL's sine and cosine are made exact. KOL approximates the sine by a parabola, so
    the inner products of its features are not the kernel.

    See Also
    --------
    NOGD
    OnlineClassifier : Methods and the other attributes.

    References
    ----------
    Lu, Hoi, Wang, Zhao, Liu (2016), "Large scale online kernel learning", JMLR 17. Rahimi, Recht (2007),
    "Random features for large-scale kernel machines", NIPS 20.

    Examples
    --------
    >>> model = FOGD(D=50).fit([[0.0], [3.0], [0.1], [3.1]], [0, 1, 0, 1])
    >>> model.predict([[0.05], [3.05]]).tolist()
    [0, 1]
    """

    D: Count = 500
    eta: Positive = 1.0
    gamma: Positive = 1.0
    random_state: Seed = 0
    epochs: int = 1

    _block_rows = _BLOCK_ROWS

    def _allocate(self, n_features):
        n_bytes = 8 * int(self.D) * n_features
        if n_bytes > _MAX_BYTES:
            raise ValueError(
                f"FOGD: {self.D} frequencies of {n_features:,} features are {n_bytes / 2**30:.1f} GiB, "
                f"the limit is {_MAX_BYTES / 2**30:.0f} GiB; choose a smaller D"
            )
        # The feature map is created when the first rows arrive, because it takes their dtype.
        self._map: _Features | None = None
        self._weights = np.zeros(0)

    def _drawn_frequencies(self, n_features):
        """Draw and return the frequencies of `n_features` features, (D, n_features)."""
        return _draw(int(self.D), n_features, *self._drawn_by)

    @property
    def _drawn_by(self):
        return float(self.gamma), int(self.random_state)

    def _widened(self, name, old, new, n_features):
        if name != "_map" or old is None:
            return super()._widened(name, old, new, n_features)
        return old.widened(n_features)

    def check_state(self):
        super().check_state()
        drawn = getattr(self, "_map", None)
        if drawn is not None and drawn.D != self.D:
            raise ValueError(
                f"FOGD: D is {self.D}, but the model has {drawn.D} frequencies; set it back or fit again"
            )

    def _pass(self, X, codes, scores):
        if self._map is None:
            dtype = (X[0] if isinstance(X, tuple) else X).dtype
            features = _Features(self._drawn_frequencies(self.n_features_in_), dtype, self._drawn_by)
            # The weights come first, because another thread may score as soon as there is a map.
            self._weights, self._map = np.zeros(features.size), features
        mistakes = updates = 0
        room = self._map.room(min(self._block_rows, len(codes)))
        for start, stop in block_ranges(len(codes), self._block_rows):
            Z = self._map.of(row_range(X, start, stop), room)
            outcome = _learn(Z, codes[start:stop], scores[start:stop], self._weights, float(self.eta))
            mistakes += outcome[0]
            updates += outcome[1]
        return mistakes, updates

    def _score(self, X, scores):
        features, weights = self._map, self._weights
        if features is None or len(weights) != features.size:
            scores[:] = 0.0
            return
        room = features.room(min(self._block_rows, len(scores)))
        for start, stop in block_ranges(len(scores), self._block_rows):
            Z = features.of(row_range(X, start, stop), room)
            linear_scores(Z, weights, scores[start:stop])

    @property
    def coef_(self) -> NDArray[np.float64]:
        if self._map is None:
            return np.zeros((1, 2 * int(self.D)))
        return self._weights[self._map.numbers].reshape(1, -1)

    @property
    def frequencies_(self) -> NDArray[np.floating]:
        return self._drawn_frequencies(self.n_features_in_) if self._map is None else self._map.frequencies

    @property
    def model_bytes_(self) -> int:
        return self._map.n_bytes + 8 * len(self._map.numbers) if self._map else 0
