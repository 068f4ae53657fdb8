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

# Maximum length of a noise's name in file names, because file systems limit the length of names.
_LONGEST_STEM = 60


def plain(number: float) -> str:
    """Return a number as text with as few digits as suffice to read back the same number."""
    short = f"{number:.12g}"
    return short if float(short) == number else repr(number)


def percent(share: float) -> str:
    """Return a share between 0 and 1 as text, as a percentage."""
    return f"{100 * share:.6g}%"


@dataclass(frozen=True, eq=False)
class Circumstances:
    """What noise models can know about a task besides the labels: class names, and the rows' margins."""

    # Names of the classes, in the order of their codes.
    classes: tuple[str, ...] = ()
    # Function that returns the margin of each row under a reference classifier: float64, shape (n,).
    margins: Callable[[], NDArray[np.float64]] | None = None


UNKNOWN = Circumstances()


@dataclass(frozen=True)
class Noise:
    """Replace every training label independently with probability `rate` in [0, 1): uniform label noise.

    The label becomes one of the other classes, drawn uniformly (AROW paper §5.3 and §5.4). With `level`
    "task" these are the classes of the task. With "class" they are the classes of the data set before the
    task joins some of them, as in one class against the rest. Noises are sorted by model, then by rate.

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

    # Name of the model in study files, and the model's position when noises are sorted.
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
        """Return the keys of a noise table besides model and rate, as far as they differ from the default."""
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
        """Return the noise as a study file writes it: a number for uniform noise, otherwise a table.

        This also enters a cell's key, by which its results are stored.
        """
        if self._is_rate:
            return self.rate
        return {"model": self.model, "rate": self.rate, **self.further}

    @property
    def slug(self) -> str:
        """Return the noise's name in stored results and CSV tables, from which `noise_of` makes the noise."""
        if self._is_rate:
            return plain(self.rate)
        further = (
            f"{key}={value if isinstance(value, str) else plain(value)}"
            for key, value in self.further.items()
        )
        return "_".join([self.model, plain(self.rate), *further])

    @property
    def stem(self) -> str:
        """Return the noise's name in file names: `slug`, or a shorter name with a digest if that is long."""
        slug = self.slug
        return slug if len(slug) <= _LONGEST_STEM else f"{self.model}_{self._digest[:8]}"

    @property
    def kind(self) -> str:
        """Return a name of the noise for users, without the amount of noise."""
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
        """Return words that begin a sentence about results with this noise, such as "At 30% label noise"."""
        return f"At {self.label}" if self.rate else "Without label noise"

    @property
    def code(self) -> int:
        """Return a whole number ≥ 0 that seeds random numbers, so that they differ between noises."""
        # The code of uniform noise is computed from its rate and is below 2³⁰. That of any other noise is at
        # least 2³¹, so the two never coincide.
        return round(self.rate * 10**9) if self._is_rate else int(self._digest[:8], 16) | 1 << 31

    @property
    def _digest(self) -> str:
        return hashlib.sha256(self.slug.encode()).hexdigest()

    @property
    def named(self) -> tuple[str, ...]:
        """Return the names of the classes for which the noise has rates; the task must have these classes."""
        return ()

    @property
    def n_classes(self) -> int | None:
        """Return the number of classes that a task must have for this noise; None for any number."""
        return None

    def largest_rate(self, n_classes: int) -> float:
        """Return the largest valid rate p for K classes: 1 - 1/K for uniform noise, 1 for other models.

        Uniform noise keeps a label with probability 1 - p, and replaces it by each other label with
        probability p / (K - 1), which must not be larger. If both are equal, labels are independent of the
        clean ones; this is allowed, as a control experiment.
        """
        return 1 - 1 / n_classes if type(self) is Noise else 1.0

    @property
    def asks_classes(self) -> bool:
        """Return whether a task's classes must be known to decide whether this noise is valid for it."""
        # Rates up to that for two classes (0.5 for uniform noise) are valid for any number of classes.
        return bool(self.level == "class" or self.named or self.n_classes or self.rate > self.largest_rate(2))

    def chances(self, codes: Codes, about: Circumstances) -> NDArray[np.float64] | float:
        """Return the probability with which each label is replaced: one number, or one for each label."""
        return self.rate

    def shifts(self, n: int, n_classes: int, rng: np.random.RandomState) -> Codes | int:
        """Return, for n labels, what is added to the class code (modulo the number of classes) to replace it.

        The replacement takes place only if it is drawn with the probability from `chances`.
        """
        # Draw from 1 .. n_classes - 1, because 0 would give the same label again.
        return rng.randint(1, n_classes, size=n).astype(np.int32)

    def corrupt(
        self, codes: Codes, n_classes: int, rng: np.random.RandomState, about: Circumstances = UNKNOWN
    ) -> Codes:
        """Return a new array of labels with noise, given the clean class codes of a stream."""
        replaced = rng.random_sample(len(codes)) < self.chances(codes, about)
        shift = self.shifts(len(codes), n_classes, rng)
        return np.where(replaced, (codes + shift) % n_classes, codes).astype(np.int32)

    def change_features(self, X: Any, rng: np.random.RandomState) -> NDArray[np.bool_]:
        """Add feature noise to rows of X in place; return which rows changed: none if this is label noise."""
        return np.zeros(X.shape[0], bool)


CLEAN = Noise()


@dataclass(frozen=True)
class WindowNoise(Noise):
    """Uniform label noise in a window of the stream; no noise before and after the window.

    Example i of n, counted from 0, is in the window if ``start * n <= i < stop * n``. `rate` is the rate in
    the window.
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
        """Return, for each label, the noise rate if it is in the window, otherwise 0."""
        n = len(codes)
        place = np.arange(n)
        return np.where((self.start * n <= place) & (place < self.stop * n), self.rate, 0.0)
