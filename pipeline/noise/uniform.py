"""Uniform label noise, the base class of all noise models, and uniform noise in a part of the stream."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Level: TypeAlias = Literal["task", "class"]
Codes: TypeAlias = NDArray[np.int32]

# Most characters of a noise's name in file names: longer ones could exceed the limit of a file system.
_LONGEST_STEM = 60


def plain(number: float) -> str:
    """Return a number as text that reads back equal, with few digits if they suffice."""
    short = f"{number:.12g}"
    return short if float(short) == number else repr(number)


def percent(share: float) -> str:
    """Return a share as a percentage."""
    return f"{100 * share:.6g}%"


@dataclass(frozen=True, eq=False)
class Circumstances:
    """Describe a task to noise models that need more than the labels."""

    # Names of the classes, in the order of their codes.
    classes: tuple[str, ...] = ()
    # Returns the margin of each row under a reference classifier: float64, shape (n,).
    margins: Callable[[], NDArray[np.float64]] | None = None


@dataclass(frozen=True)
class Noise:
    """Replace every training label independently with probability `rate` in [0, 1): uniform label noise.

    The label becomes one of the other classes, drawn uniformly (AROW paper §5.3 and §5.4). With `level`
    "task" these are the classes of the task. With "class" they are the classes of the data set before the
    task joins some of them, as in one class against the rest. Instances sort by model, rate and name.

    Examples
    --------
    >>> noise = Noise(0.3)
    >>> noise.slug, noise.short, noise.label, Noise().opening
    ('0.3', '30%', '30% label noise', 'Without label noise')
    >>> Noise(0.3, "class").slug, Noise(0.3, "class").label
    ('uniform_0.3_level=class', '30% class-level noise')
    """

    rate: float = 0.0
    level: Level = "task"

    # Name of the model in study files, and its place in the order of the models.
    model: ClassVar[str] = "uniform"
    place: ClassVar[int] = 0
    # Whether the noise changes labels; otherwise it changes features.
    relabels: ClassVar[bool] = True

    def __lt__(self, other: Noise) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[int, bool, str, float, str]:
        return self.place, self.level != "task", self.kind, self.rate, self.slug

    @property
    def further(self) -> dict[str, Any]:
        """Return the entries of a noise table besides model and rate, without those at their default."""
        return {} if self.level == "task" else {"level": self.level}

    @property
    def _is_rate(self) -> bool:
        return self.model == Noise.model and not self.further

    @property
    def uniform_rate(self) -> float | None:
        """Return the rate of uniform noise among the classes of the task; None for any other noise."""
        return self.rate if self._is_rate else None

    @property
    def spec(self) -> Any:
        """Return the noise as a study file writes it, a number or a table; a cell's key contains this too."""
        if self._is_rate:
            return self.rate
        return {"model": self.model, "rate": self.rate, **self.further}

    @property
    def slug(self) -> str:
        """Return the noise's name in the store and in CSV tables; `noise_of` reads it back."""
        if self._is_rate:
            return plain(self.rate)
        further = (
            f"{key}={value if isinstance(value, str) else plain(value)}"
            for key, value in self.further.items()
        )
        return "_".join([self.model, plain(self.rate), *further])

    @property
    def stem(self) -> str:
        """Return the noise's name in file names: the slug, or a shorter name with a digest."""
        slug = self.slug
        return slug if len(slug) <= _LONGEST_STEM else f"{self.model}_{self._digest[:8]}"

    @property
    def kind(self) -> str:
        """Return the name of the noise without its amount; empty for plain uniform noise."""
        name = self.model if self.model != Noise.model or self.level == "task" else ""
        return f"{'' if self.level == 'task' else 'class-level '}{name}".strip()

    @property
    def amount(self) -> str:
        """Return the amount of noise as text, such as "10%"."""
        return percent(self.rate)

    @property
    def short(self) -> str:
        """Return a short name of the noise, for the heading of a table's column."""
        return self.amount if self._is_rate else f"{self.amount} {self.kind}"

    @property
    def label(self) -> str:
        """Return the name of the noise in titles of figures and tables."""
        return f"{self.short} label noise" if self._is_rate else f"{self.short} noise"

    @property
    def opening(self) -> str:
        """Return the beginning of a sentence about this noise."""
        return f"At {self.label}" if self.rate else "Without label noise"

    @property
    def code(self) -> int:
        """Return a whole number ≥ 0 that gives each noise its own random numbers."""
        # Uniform noise has codes below 2³⁰, from its rate; other noise from 2³¹ on: they never coincide.
        return round(self.rate * 10**9) if self._is_rate else int(self._digest[:8], 16) | 1 << 31

    @property
    def _digest(self) -> str:
        return hashlib.sha256(self.slug.encode()).hexdigest()

    @property
    def named(self) -> tuple[str, ...]:
        """Return the names of the classes that the noise depends on, which the task must have."""
        return ()

    @property
    def n_classes(self) -> int | None:
        """Return the number of classes that the task must have; None for any number."""
        return None

    def largest_rate(self, n_classes: int) -> float:
        """Return the largest valid rate p for K classes: 1 - 1/K for uniform noise, 1 for other models.

        Uniform noise keeps a label with probability 1 - p; each other label has p / (K - 1), which must
        not be larger. Equality is allowed as a control: labels are then independent of the clean ones.
        """
        return 1 - 1 / n_classes if type(self) is Noise else 1.0

    @property
    def asks_classes(self) -> bool:
        """Return whether the noise suits only tasks with certain names or numbers of classes."""
        # Uniform rates up to 0.5 are valid for any number of classes.
        return bool(self.level == "class" or self.named or self.n_classes or self.rate > self.largest_rate(2))

    def chances(self, codes: Codes, about: Circumstances) -> NDArray[np.float64] | float:
        """Return the probability with which each label is replaced."""
        return self.rate

    def shifts(self, n: int, n_classes: int, rng: np.random.RandomState) -> Codes | int:
        """Return how far, in the order of the classes, each of n labels moves if it is replaced."""
        # A shift by 1 .. n_classes - 1 never returns to the label itself.
        return rng.randint(1, n_classes, size=n).astype(np.int32)

    def corrupt(
        self, codes: Codes, n_classes: int, rng: np.random.RandomState, about: Circumstances = Circumstances()
    ) -> Codes:
        """Return a new array with the labels that a learner gets for the clean codes of a stream."""
        replaced = rng.random_sample(len(codes)) < self.chances(codes, about)
        shift = self.shifts(len(codes), n_classes, rng)
        return np.where(replaced, (codes + shift) % n_classes, codes).astype(np.int32)

    def change_features(self, X: Any, rng: np.random.RandomState) -> NDArray[np.bool_]:
        """Change rows of a matrix in place; return which rows were changed: none for label noise."""
        return np.zeros(X.shape[0], bool)


CLEAN = Noise()


@dataclass(frozen=True)
class WindowNoise(Noise):
    """Uniform label noise between two relative positions of the stream, none before and after.

    Example i of n, counted from 0, is in the window if ``start * n <= i < stop * n``. `rate` applies there.
    """

    start: float = 0.0
    stop: float = 1.0

    model: ClassVar[str] = "window"
    place: ClassVar[int] = 4

    @property
    def further(self) -> dict[str, Any]:
        return {"from": self.start, "to": self.stop, **super().further}

    @property
    def kind(self) -> str:
        return f"{super().kind} {100 * self.start:.6g}–{100 * self.stop:.6g}%"

    @property
    def label(self) -> str:
        noise = "class-level noise" if self.level == "class" else "label noise"
        between = f"from {100 * self.start:.6g}% to {100 * self.stop:.6g}% of the stream"
        return f"{self.amount} {noise} {between}"

    def chances(self, codes: Codes, about: Circumstances) -> NDArray[np.float64]:
        """Return the rate within the window, 0 elsewhere."""
        n = len(codes)
        place = np.arange(n)
        return np.where((self.start * n <= place) & (place < self.stop * n), self.rate, 0.0)
