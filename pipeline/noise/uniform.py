"""Uniform label noise, and what every model of noise is derived from."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

Level: TypeAlias = Literal["task", "class"]
Codes: TypeAlias = NDArray[np.int32]

# Longer names than this would, with what stands before them, be too long for a file system.
_LONGEST_STEM = 60


def plain(number: float) -> str:
    """Write a number so that it is read back equal, in a few digits where they will do.

    Examples
    --------
    >>> plain(0.1), plain(1 / 3), plain(2.0)
    ('0.1', '0.3333333333333333', '2')
    """
    short = f"{number:.12g}"
    return short if float(short) == number else repr(number)


def percent(share: float) -> str:
    """Write a share as a percentage.

    Examples
    --------
    >>> percent(0.025)
    '2.5%'
    """
    return f"{100 * share:.6g}%"


@dataclass(frozen=True, eq=False)
class Circumstances:
    """What a model of noise may need to know beside the labels.

    Attributes
    ----------
    classes : tuple of str
        Names of the classes, in the order of their codes.
    margins : callable or None
        Returns how far each row is from the boundary of a reference classifier: float64, shape (n,).
    """

    classes: tuple[str, ...] = ()
    margins: Callable[[], NDArray[np.float64]] | None = None


@dataclass(frozen=True)
class Noise:
    """Uniform label noise: every training label is replaced independently with one probability.

    Sorted by model, then by rate, then by name.

    Attributes
    ----------
    rate : float in [0, 1), default=0.0
        Probability that a label is replaced (AROW paper §5.3: flipped, if binary; §5.4: by another class
        drawn uniformly, if multi-class).
    level : {"task", "class"}, default="task"
        Whether labels are replaced among the classes of the task, or among those of the data set that the
        task joins, before they are joined: one class against the rest, groups.

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

    # How a study file calls the model, and where it stands among the others.
    model: ClassVar[str] = "uniform"
    place: ClassVar[int] = 0
    # Whether labels that are given differ from the clean ones, or rows do.
    relabels: ClassVar[bool] = True

    def __lt__(self, other: Noise) -> bool:
        return self._order < other._order

    @property
    def _order(self) -> tuple[int, bool, str, float, str]:
        return self.place, self.level != "task", self.kind, self.rate, self.slug

    @property
    def further(self) -> dict[str, Any]:
        """What a study file says of it besides model and rate, where that is not the default."""
        return {} if self.level == "task" else {"level": self.level}

    @property
    def _is_rate(self) -> bool:
        return self.model == Noise.model and not self.further

    @property
    def uniform_rate(self) -> float | None:
        """The rate of uniform noise among the classes of the task, None of any other noise."""
        return self.rate if self._is_rate else None

    @property
    def spec(self) -> Any:
        """What a study file says, and what is hashed into a cell's key: plain values, for JSON and TOML."""
        if self._is_rate:
            return self.rate
        return {"model": self.model, "rate": self.rate, **self.further}

    @property
    def slug(self) -> str:
        """How the store and CSV tables write it; `noise_of` reads it back."""
        if self._is_rate:
            return plain(self.rate)
        told = [
            f"{key}={value if isinstance(value, str) else plain(value)}"
            for key, value in self.further.items()
        ]
        return "_".join([self.model, plain(self.rate), *told])

    @property
    def stem(self) -> str:
        """How file names write it: as `slug`, or shorter."""
        slug = self.slug
        return slug if len(slug) <= _LONGEST_STEM else f"{self.model}_{self._digest[:8]}"

    @property
    def kind(self) -> str:
        """What noise of its model is called, whatever the amount."""
        name = self.model if self.model != Noise.model or self.level == "task" else ""
        return f"{'' if self.level == 'task' else 'class-level '}{name}".strip()

    @property
    def amount(self) -> str:
        """How much it is, beside others of its kind."""
        return percent(self.rate)

    @property
    def short(self) -> str:
        """How a column is headed."""
        return self.amount if self._is_rate else f"{self.amount} {self.kind}"

    @property
    def label(self) -> str:
        """How titles call it."""
        return f"{self.short} label noise" if self._is_rate else f"{self.short} noise"

    @property
    def opening(self) -> str:
        """How a sentence about it begins."""
        return f"At {self.label}" if self.rate else "Without label noise"

    @property
    def code(self) -> int:
        """What tells its random numbers from those of other noise: a whole number >= 0."""
        # Codes of rates end below 2³⁰; those of other noise begin at 2³¹.
        return round(self.rate * 10**9) if self._is_rate else int(self._digest[:8], 16) | 1 << 31

    @property
    def _digest(self) -> str:
        return hashlib.sha256(self.slug.encode()).hexdigest()

    def chances(self, codes: Codes, about: Circumstances) -> NDArray[np.float64] | float:
        """Return the probability with which each label is replaced."""
        return self.rate

    def shifts(self, n: int, n_classes: int, rng: np.random.RandomState) -> Codes | int:
        """Return by how many classes, in the order of their codes, each label moves where it is replaced."""
        # Any of the other classes: a shift by 1 .. n_classes - 1 never lands on the label itself.
        return rng.randint(1, n_classes, size=n).astype(np.int32)

    def corrupt(
        self,
        codes: Codes,
        n_classes: int,
        rng: np.random.RandomState,
        about: Circumstances = Circumstances(),
    ) -> Codes:
        """Return the labels as the learner is given them.

        Parameters
        ----------
        codes : ndarray of int32, shape (n,)
            Clean class codes in 0 .. n_classes - 1, in the order of the stream.
        n_classes : int
            Number of classes, at least 2.
        rng : numpy.random.RandomState
            The cell's noise generator.
        about : Circumstances
            What else is known; some models ask for it.

        Returns
        -------
        ndarray of int32, shape (n,)
            A new array; `codes` itself is never written to.

        Examples
        --------
        >>> Noise(0.5).corrupt(np.zeros(6, dtype=np.int32), 2, np.random.RandomState(0)).tolist()
        [0, 0, 0, 0, 1, 0]
        """
        replaced = rng.random_sample(len(codes)) < self.chances(codes, about)
        shift = self.shifts(len(codes), n_classes, rng)
        return np.where(replaced, (codes + shift) % n_classes, codes).astype(np.int32)


CLEAN = Noise()
