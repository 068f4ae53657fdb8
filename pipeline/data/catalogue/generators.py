"""Generate data from a seed, with the same rows on every machine except for the last bit of normal draws.

Generators use only elementwise arithmetic on numbers from `RandomState`, whose sequences NumPy never changes.
The last bit of a normal draw depends on the C library and on how NumPy was compiled. Generators draw the
training part first, so more test rows never change the training rows.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from importlib.resources import files as package_files
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...noise import Noise
from ..tables.options import FEATURE_OPTIONS, Option, Options, count_of
from ..tables.stream import Codes, FloatArray, Matrix, Table, row_slice
from .clicks import draw_clicks


@dataclass(frozen=True)
class Generator:
    """Declare a generated data set: its drawing function, its options and their defaults."""

    name: str
    #: ``draw(random_state, n, **parameters) -> X (n, d), y (n,) int32``; X is float64, or CSR.
    draw: Callable[..., tuple[Matrix, Codes]]
    n_features: int
    #: Class names, by code; of two classes, the second is positive.
    classes: tuple[str, ...]
    #: The publication that the data come from, and their content, in one line.
    note: str
    #: Default numbers of training and test rows.
    n_train: int = 10_000
    n_test: int = 0
    #: Increased whenever the rows for the same seed change; it is part of the fingerprint.
    version: int = 1
    #: Share of the training labels that are replaced by another class; test labels are never changed.
    train_noise: float = 0.0
    #: For each name of a binary task, the classes that together are its positive class.
    groupings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: Options of this generator that a study may set; they are passed to `draw`.
    parameters: Mapping[str, Option] = field(default_factory=dict)
    #: Bytes that one row takes if `draw` returns CSR, to estimate memory; 0 if it returns a dense array.
    row_bytes: int = 0
    #: Whether `draw` also draws the concept; if so, it takes `n_test` and returns n + n_test rows of it.
    draws_concept: bool = False
    #: Whether `Clicks` draws any range of `draw`'s rows.
    by_number: bool = False

    @property
    def options(self) -> Mapping[str, Option]:
        """Options: ``n_train`` (>= 1), ``n_test`` (0: no test part), `parameters`, and feature options."""
        return {
            "n_train": Option("count", self.n_train, minimum=1),
            "n_test": Option("count", self.n_test),
            **self.parameters,
            **FEATURE_OPTIONS,
        }

    def version_of(self, options: Options) -> int:
        """Return the version of the rows: higher for test parts that once had another concept."""
        return self.version + (self.draws_concept and bool(options["n_test"]))

    def table(self, random_state: np.random.RandomState, options: Options) -> Table:
        """Draw a training and a test part; `random_state` determines every row."""
        own = {name: options[name] for name in self.parameters}
        n, n_test = count_of(options, "n_train"), count_of(options, "n_test")
        if self.draws_concept and n_test:
            X, y = self.draw(random_state, n, n_test=n_test, **own)
            return Table(row_slice(X, 0, n), y[:n], self.classes, row_slice(X, n, n + n_test), y[n:])
        X, y = self.draw(random_state, n, **own)
        if self.train_noise:
            y = Noise(self.train_noise).corrupt(y, len(self.classes), random_state)
        if not n_test:
            return Table(X, y, self.classes)
        X_test, y_test = self.draw(random_state, n_test, **own)
        return Table(X, y, self.classes, X_test, y_test)


def draw_arow_synthetic(random_state: np.random.RandomState, n: int) -> tuple[FloatArray, Codes]:
    """Draw the synthetic data of the AROW paper (Crammer, Kulesza, Dredze 2009, §5.2).

    X has shape (n, 20). Its first two features are a Gaussian rotated by 45°, with standard deviation 1 along
    the long axis and 0.1 along the short one; the other 18 are noise of variance 2. (The paper does not give
    the lengths of the axes; these reproduce its figure.) y is 1 where the short coordinate is positive: the
    separator is the long axis.
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

    X has shape (n, 2). y is 1 for the wide class. The Bayes rule has accuracy 81.5%; its decision
    boundary is a circle.
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


_SEA_THRESHOLDS = (8.0, 9.0, 7.0, 9.5)


def draw_sea(random_state: np.random.RandomState, n: int, concept: int = 1) -> tuple[FloatArray, Codes]:
    """Draw the SEA concepts (Street, Kim 2001): y is 1 where x₁ + x₂ <= θ, with θ = 8, 9, 7, 9.5 by concept.

    X has shape (n, 3), uniform on [0, 10]; the third feature is irrelevant.
    """
    X = 10.0 * random_state.random_sample((n, 3))
    return X, (X[:, 0] + X[:, 1] <= _SEA_THRESHOLDS[concept - 1]).astype(np.int32)


def draw_stagger(random_state: np.random.RandomState, n: int, concept: int = 1) -> tuple[FloatArray, Codes]:
    """Draw the STAGGER concepts (Schlimmer, Granger 1986).

    Positive examples are, for concept 1, 2 and 3: small and red; green or circular; medium or large. X has
    shape (n, 9): three uniform attributes of three values each, one-hot: size (small, medium, large), colour
    (red, blue, green), shape (circular, square, triangular).
    """
    size, colour, shape = random_state.randint(3, size=(n, 3)).T
    X = np.concatenate([_one_hot(each, 3) for each in (size, colour, shape)], axis=1)
    positive = ((size == 0) & (colour == 0), (colour == 2) | (shape == 0), size > 0)[concept - 1]
    return X, positive.astype(np.int32)


def draw_hyperplane(
    random_state: np.random.RandomState,
    n: int,
    n_test: int = 0,
    drift_features: int = 2,
    change: float = 0.001,
    reversal: float = 0.1,
) -> tuple[FloatArray, Codes]:
    """Draw a rotating hyperplane (Hulten, Spencer, Domingos 2001).

    X has shape (n, 10), uniform on [0, 1]. y is 1 where ``Σ w_j x_j >= Σ w_j / 2``, for half of the rows; the
    initial weights are uniform on [0, 1]. The first `drift_features` weights change by `change` with every
    row; each reverses its direction with probability `reversal` per row. Test rows continue the stream.
    """
    weights = random_state.random_sample(10)
    X = random_state.random_sample((n, 10))
    turns = np.where(random_state.random_sample((n, drift_features)) < reversal, -1.0, 1.0)
    directions = np.where(random_state.random_sample(drift_features) < 0.5, -1.0, 1.0)
    if n_test:
        # Drawn last, so that they do not change the training rows.
        X = np.concatenate([X, random_state.random_sample((n_test, 10))])
        reversed_ = random_state.random_sample((n_test, drift_features)) < reversal
        turns = np.concatenate([turns, np.where(reversed_, -1.0, 1.0)])
    # A row's weights are moved by the steps of all earlier rows; the first row uses the initial weights.
    steps = np.cumprod(turns, axis=0) * directions * change
    moved = np.cumsum(steps, axis=0) - steps
    balance = np.zeros(n + n_test)
    for j, weight in enumerate(weights):
        balance += (weight + moved[:, j] if j < drift_features else weight) * (X[:, j] - 0.5)
    return X, (balance >= 0.0).astype(np.int32)


def draw_random_rbf(
    random_state: np.random.RandomState, n: int, n_test: int = 0, centres: int = 50, speed: float = 0.0001
) -> tuple[FloatArray, Codes]:
    """Draw from random radial basis functions whose centres move.

    Each centre has a random place in the unit cube, class, weight, width and direction. With every row it
    moves by `speed` in its direction; it bounces off the sides of the cube. X has shape (n, 10): the place of
    a centre drawn by weight, plus N(0, width²) in a random direction. y is the class of that centre. Test
    rows continue the stream.
    """
    places = random_state.random_sample((centres, 10))
    # Half of the centers get class 0, the others class 1, in random order, so that both classes occur.
    classes = random_state.permutation(np.arange(centres) % 2).astype(np.int32)
    weights, widths = random_state.random_sample((2, centres))
    moves = speed * _directions(random_state, centres)
    bounds = np.cumsum(weights)

    def rows(start: int, stop: int) -> tuple[FloatArray, Codes]:
        drawn = random_state.random_sample(stop - start) * bounds[-1]
        chosen = np.minimum(np.searchsorted(bounds, drawn, side="right"), centres - 1)
        moved = places[chosen] + np.arange(start, stop)[:, np.newaxis] * moves[chosen]
        # A center that bounces between 0 and 1 is back at its place after a distance of 2.
        X = 1.0 - np.abs(np.mod(moved, 2.0) - 1.0)
        lengths = widths[chosen] * random_state.standard_normal(stop - start)
        X += lengths[:, np.newaxis] * _directions(random_state, stop - start)
        return X, classes[chosen]

    X, y = rows(0, n)
    if not n_test:
        return X, y
    # Drawn last, so that they do not change the training rows.
    X_test, y_test = rows(n, n + n_test)
    return np.concatenate([X, X_test]), np.concatenate([y, y_test])


# The lit segments of each digit: top, upper left, upper right, middle, lower left, lower right, bottom.
_SEGMENTS = (
    "1110111", "0010010", "1011101", "1011011", "0111010",
    "1101011", "1101111", "1010010", "1111111", "1111011",
)  # fmt: skip
_IRRELEVANT = 17


def draw_led(
    random_state: np.random.RandomState, n: int, inverted: float = 0.1, swapped: int = 0
) -> tuple[FloatArray, Codes]:
    """Draw digits of a faulty display (Breiman, Friedman, Olshen, Stone 1984).

    X has shape (n, 24), with values 0 and 1: seven segments, each inverted with probability `inverted`, then
    17 irrelevant features. The first `swapped` segments have changed places with as many irrelevant features.
    y is the digit, uniform.
    """
    lit = np.array([[int(each) for each in segments] for segments in _SEGMENTS])
    y = random_state.randint(10, size=n).astype(np.int32)
    shown = lit[y] ^ (random_state.random_sample((n, 7)) < inverted)
    X = np.concatenate([shown, random_state.randint(2, size=(n, _IRRELEVANT))], axis=1).astype(np.float64)
    order = np.arange(7 + _IRRELEVANT)
    order[:swapped], order[7 : 7 + swapped] = np.arange(7, 7 + swapped), np.arange(swapped)
    return np.ascontiguousarray(X[:, order]), y


def draw_agrawal(
    random_state: np.random.RandomState, n: int, concept: int = 1, perturbation: float = 0.05
) -> tuple[FloatArray, Codes]:
    """Draw loan applicants (Agrawal, Imielinski, Swami 1993).

    `concept` (1 to 10) selects the paper's function that defines group A; y is 1 for group A. Afterwards each
    number is moved by up to the share `perturbation` of its range, and clipped to the range. X has shape (n,
    40): salary, commission, age, house value, years in the house and loan, each divided by its maximum; then
    one-hot education (5), car (20) and zip code (9).
    """
    u = random_state.random_sample((n, 6))
    salary = 20_000.0 + 130_000.0 * u[:, 0]
    commission = np.where(salary >= 75_000.0, 0.0, 10_000.0 + 65_000.0 * u[:, 1])
    age = 20.0 + np.floor(61.0 * u[:, 2])
    education, car, zipcode = (random_state.randint(k, size=n) for k in (5, 20, 9))
    house = (9.0 - zipcode) * 100_000.0 * (0.5 + u[:, 3])
    years = 1.0 + np.floor(30.0 * u[:, 4])
    loan = 500_000.0 * u[:, 5]
    in_group_a = _agrawal_group_a(concept, salary, commission, age, education, house, years, loan)
    moves = 2.0 * random_state.random_sample((n, 6)) - 1.0
    spans = ((20e3, 150e3), (10e3, 75e3), (20.0, 80.0), (50e3, 1350e3), (1.0, 30.0), (0.0, 500e3))
    columns = []
    for j, (values, (low, high)) in enumerate(
        zip((salary, commission, age, house, years, loan), spans, strict=True)
    ):
        moved = np.clip(values + perturbation * (high - low) * moves[:, j], low, high)
        # A commission of 0 means none, so it is not perturbed; all others are 10,000 or more.
        columns.append((np.where(values > 0.0, moved, values) / high)[:, np.newaxis])
    nominal = [_one_hot(education, 5), _one_hot(car, 20), _one_hot(zipcode, 9)]
    return np.concatenate([*columns, *nominal], axis=1), in_group_a.astype(np.int32)


def _agrawal_group_a(
    concept: int,
    salary: FloatArray,
    commission: FloatArray,
    age: FloatArray,
    education: NDArray[np.integer[Any]],
    house: FloatArray,
    years: FloatArray,
    loan: FloatArray,
) -> NDArray[Any]:
    """Return a mask of group A: the applicants that function `concept` of Agrawal's paper selects."""

    k = 1_000.0

    def among(values: NDArray[Any], *bounds: tuple[int, int]) -> list[NDArray[Any]]:
        return [(values >= low * k) & (values <= high * k) for low, high in bounds]

    def by_age(young: NDArray[Any], middle: NDArray[Any], old: NDArray[Any]) -> NDArray[Any]:
        return np.where(age < 40, young, np.where(age < 60, middle, old))

    if concept == 1:
        return (age < 40) | (age >= 60)
    income = salary + (commission if concept == 6 else 0.0)
    earns = by_age(*among(income, (50, 100), (75, 125), (25, 75)))
    if concept in (2, 6):
        return earns
    schooled = by_age(education <= 1, (education >= 1) & (education <= 3), education >= 2)
    if concept == 3:
        return schooled
    if concept == 4:
        low, middle, high = among(salary, (25, 75), (50, 100), (75, 125))
        return by_age(
            np.where(schooled, low, middle), np.where(schooled, middle, high), np.where(schooled, middle, low)
        )
    if concept == 5:
        small, middle, large = among(loan, (100, 300), (200, 400), (300, 500))
        return by_age(
            np.where(earns, small, middle), np.where(earns, middle, large), np.where(earns, large, small)
        )
    left = 0.67 * (salary + commission) - (20 * k if concept in (7, 8) else 10 * k)
    if concept in (7, 9):
        left = left - 0.2 * loan
    if concept in (8, 9, 10):
        left = left - 5 * k * education
    if concept == 10:
        left = left + 0.2 * np.where(years < 20, 0.0, 0.1 * house * (years - 20.0))
    return left > 0.0


def _one_hot(values: NDArray[Any], k: int) -> FloatArray:
    hot: FloatArray = (values[:, np.newaxis] == np.arange(k)).astype(np.float64)
    return hot


def _directions(random_state: np.random.RandomState, n: int) -> FloatArray:
    """Draw n vectors in 10 dimensions, uniform in a cube, and scale them to length 1."""
    drawn = 2.0 * random_state.random_sample((n, 10)) - 1.0
    squares = np.zeros(n)
    for j in range(10):
        squares += drawn[:, j] * drawn[:, j]
    directions: FloatArray = drawn / np.sqrt(squares)[:, np.newaxis]
    return directions


_DRAWN: dict[str, Callable[..., tuple[Matrix, Codes]]] = {
    function.__name__: function
    for function in (
        *(draw_arow_synthetic, draw_gauss, draw_checkerboard, draw_waveform, draw_sea, draw_stagger),
        *(draw_hyperplane, draw_random_rbf, draw_led, draw_agrawal, draw_clicks),
    )
}


def _declared(entry: dict[str, Any]) -> Generator:
    """Return the generator that an entry of ``generators.toml`` declares."""
    parameters = {key: Option(**option) for key, option in entry.pop("parameters", {}).items()}
    groupings = {key: tuple(classes) for key, classes in entry.pop("groupings", {}).items()}
    draw, classes = _DRAWN[entry.pop("draw")], tuple(entry.pop("classes"))
    return Generator(draw=draw, classes=classes, parameters=parameters, groupings=groupings, **entry)


_TABLE = tomllib.loads((package_files(__package__) / "generators.toml").read_text("utf-8"))
GENERATORS: dict[str, Generator] = {entry["name"]: _declared(entry) for entry in _TABLE["generators"]}
