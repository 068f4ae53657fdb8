"""Generate data from a seed, with the same rows on every machine.

Generators use only elementwise arithmetic on frozen random streams. They draw the training part first, so
more test rows never change the training rows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from ...noise import Noise
from ..tables.options import FEATURE_OPTIONS, Option, Options, count_of
from ..tables.stream import Codes, FloatArray, Table

DrawRows = Callable[..., tuple[FloatArray, Codes]]


@dataclass(frozen=True)
class Generator:
    """Declare a generator.

    Attributes
    ----------
    draw : callable
        ``draw(random_state, n, **parameters) -> X (n, d) float64, y (n,) int32``.
    n_features : int
        d.
    classes : tuple of str
        Class names; of two classes, the second is positive.
    n_train, n_test : int
        Default sizes.
    version : int
        Increased whenever the rows for the same seed change; it is part of the fingerprint.
    note : str
        Source and content in one line.
    train_noise : float, default=0.0
        Share of the training labels that are replaced; test labels are clean.
    groupings : mapping of str to tuple of str
        Named sets of classes that together are the positive class of a task.
    parameters : mapping of str to Option
        Options of the study that are passed to `draw`.
    """

    name: str
    draw: DrawRows
    n_features: int
    classes: tuple[str, ...]
    n_train: int
    n_test: int
    version: int
    note: str
    train_noise: float = 0.0
    groupings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    parameters: Mapping[str, Option] = field(default_factory=dict)

    @property
    def options(self) -> Mapping[str, Option]:
        """Options that a study may set: ``n_train`` (>= 1), ``n_test`` (0: no test part), and others."""
        return {
            "n_train": Option("count", self.n_train, minimum=1),
            "n_test": Option("count", self.n_test),
            **self.parameters,
            **FEATURE_OPTIONS,
        }

    def table(self, random_state: np.random.RandomState, options: Options) -> Table:
        """Draw a training and a test part, with float64 features.

        `random_state` determines every row. Of the resolved options, ``n_train``, ``n_test`` and `parameters`
        are used.
        """
        own = {name: options[name] for name in self.parameters}
        X, y = self.draw(random_state, count_of(options, "n_train"), **own)
        if self.train_noise:
            y = Noise(self.train_noise).corrupt(y, len(self.classes), random_state)
        if not options["n_test"]:
            return Table(X, y, self.classes)
        X_test, y_test = self.draw(random_state, count_of(options, "n_test"), **own)
        return Table(X, y, self.classes, X_test, y_test)


def draw_arow_synthetic(random_state: np.random.RandomState, n: int) -> tuple[FloatArray, Codes]:
    """Draw the synthetic data of the AROW paper (Crammer, Kulesza, Dredze 2009, §5.2).

    X has shape (n, 20). Its first two features are a Gaussian rotated by 45°, with standard deviation 1 along
    the long axis and 0.1 along the short one; the other 18 are noise of variance 2. (The paper does not give
    the lengths of the axes; these reproduce its figure.) y is 1 where the short coordinate is positive: the
    separator is the long axis.

    Examples
    --------
    >>> X, y = draw_arow_synthetic(np.random.RandomState(0), 4)
    >>> X.shape, bool(((X[:, 1] > X[:, 0]) == (y == 1)).all())
    ((4, 20), True)
    """
    X = random_state.standard_normal((n, 20))
    long, short = X[:, 0].copy(), 0.1 * X[:, 1]
    # Rotation by 45°: the cosine and the sine are both 1/√2.
    X[:, 0] = (long - short) * np.sqrt(0.5)
    X[:, 1] = (long + short) * np.sqrt(0.5)
    X[:, 2:] *= np.sqrt(2.0)
    return X, (short > 0.0).astype(np.int32)


def draw_gauss(random_state: np.random.RandomState, n: int) -> tuple[FloatArray, Codes]:
    """Draw two overlapping Gaussians (Haykin): N((0,0), I) and N((2,0), 4I), equal priors.

    X has shape (n, 2). y is 1 for the wide class. The decision boundary of the Bayes rule is a circle; its
    accuracy is 81.5%.
    """
    positive = random_state.random_sample(n) < 0.5
    X = random_state.standard_normal((n, 2))
    X[positive] *= 2.0
    X[positive, 0] += 2.0
    return X, positive.astype(np.int32)


def draw_checkerboard(random_state: np.random.RandomState, n: int) -> tuple[FloatArray, Codes]:
    """Draw a 4 × 4 checkerboard: uniform on [0, 4]², label = parity of ⌊x₁⌋ + ⌊x₂⌋."""
    X = 4.0 * random_state.random_sample((n, 2))
    return X, (np.floor(X).sum(axis=1).astype(np.int32) % 2).astype(np.int32)


def draw_waveform(random_state: np.random.RandomState, n: int) -> tuple[FloatArray, Codes]:
    """Draw the waveforms of Breiman, Friedman, Olshen and Stone (1984).

    X has shape (n, 21): ``u h_a + (1 - u) h_b`` plus N(0, 1) in every feature, u uniform on [0, 1).
    These are mixtures of two of three triangles:
    ``h₁(i) = max(6 - |i - 11|, 0)``, ``h₂(i) = h₁(i - 4)``, ``h₃(i) = h₁(i + 4)``, i = 1 … 21.
    y is 0, 1 or 2, equally likely, for (a, b) = (1, 2), (1, 3), (2, 3).
    """
    y = random_state.randint(3, size=n).astype(np.int32)
    u = random_state.random_sample((n, 1))
    i = np.arange(1, 22)
    triangles = np.maximum(6.0 - np.abs(i - np.array([[11], [15], [7]])), 0.0)
    first, second = triangles[[0, 0, 1]], triangles[[1, 2, 2]]
    X = u * first[y] + (1.0 - u) * second[y] + random_state.standard_normal((n, 21))
    return X, y


GENERATORS: dict[str, Generator] = {
    entry.name: entry
    for entry in (
        Generator(
            name="arow-synthetic",
            draw=draw_arow_synthetic,
            n_features=20,
            classes=("-1", "1"),
            n_train=5_000,
            n_test=10_000,
            version=1,
            note="AROW paper §5.2: two informative dimensions at 45°, 18 of noise",
        ),
        Generator(
            name="gauss",
            draw=draw_gauss,
            n_features=2,
            classes=("-1", "1"),
            n_train=10_000,
            n_test=10_000,
            version=1,
            note="Haykin: N((0,0), I) against N((2,0), 4I); Bayes accuracy 81.5%",
        ),
        Generator(
            name="checkerboard",
            draw=draw_checkerboard,
            n_features=2,
            classes=("even", "odd"),
            n_train=10_000,
            n_test=10_000,
            version=1,
            note="uniform on [0, 4]², parity of the square; no linear learner beats chance",
        ),
        Generator(
            name="checkerboard-noisy",
            draw=draw_checkerboard,
            n_features=2,
            classes=("even", "odd"),
            n_train=10_000,
            n_test=10_000,
            version=1,
            note="checkerboard with 15% of the training labels switched; clean test part",
            train_noise=0.15,
        ),
        Generator(
            name="waveform-generator",
            draw=draw_waveform,
            n_features=21,
            classes=("1", "2", "3"),
            n_train=10_000,
            n_test=10_000,
            version=1,
            note="Breiman et al. 1984: noisy mixtures of two of three triangles (waveform is the UCI file)",
            # The UCI file's first class is our third one (the triangles centred at 7 and 15).
            groupings={"uci-first-negative": ("1", "2")},
        ),
    )
}
