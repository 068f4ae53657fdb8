"""Label noise as a value: what is done to the labels that a learner is given, and how it is called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Noise:
    """Uniform label noise: every training label is replaced independently with one probability.

    Sorted by rate, then by name. A further model of noise is a class derived from this one, with `spec`,
    `slug`, `short`, `code` and `corrupt` of its own, and
    lines in `parse_noise` and `noise_of`.

    Attributes
    ----------
    rate : float in [0, 1), default=0.0
        Probability that a label is replaced (AROW paper §5.3: flipped, if binary; §5.4: by another class
        drawn uniformly, if multi-class).

    Examples
    --------
    >>> noise = Noise(0.3)
    >>> noise.slug, noise.short, noise.label, Noise().opening
    ('0.3', '30%', '30% label noise', 'Without label noise')
    """

    rate: float = 0.0

    def __lt__(self, other: Noise) -> bool:
        return (self.rate, self.slug) < (other.rate, other.slug)

    @property
    def spec(self) -> Any:
        """What a study file says, and what is hashed into a cell's key: plain values, for JSON and TOML."""
        return self.rate

    @property
    def slug(self) -> str:
        """How the store, file names and CSV tables write it; `noise_of` reads it back."""
        short = f"{self.rate:.12g}"
        return short if float(short) == self.rate else repr(self.rate)

    @property
    def short(self) -> str:
        """How a column is headed."""
        return f"{100 * self.rate:.6g}%"

    @property
    def label(self) -> str:
        """How titles call it."""
        return f"{self.short} label noise"

    @property
    def opening(self) -> str:
        """How a sentence about it begins."""
        return f"At {self.label}" if self.rate else "Without label noise"

    @property
    def code(self) -> int:
        """What tells its random numbers from those of other noise: a whole number >= 0."""
        return round(self.rate * 10**9)

    def corrupt(
        self, codes: NDArray[np.int32], n_classes: int, rng: np.random.RandomState
    ) -> NDArray[np.int32]:
        """Return the labels as the learner is given them.

        Parameters
        ----------
        codes : ndarray of int32, shape (n,)
            Clean class codes in 0 .. n_classes - 1.
        n_classes : int
            Number of classes, at least 2.
        rng : numpy.random.RandomState
            The cell's noise generator.

        Returns
        -------
        ndarray of int32, shape (n,)
            A new array; `codes` itself is never written to.

        Examples
        --------
        >>> Noise(0.5).corrupt(np.zeros(6, dtype=np.int32), 2, np.random.RandomState(0)).tolist()
        [0, 0, 0, 0, 1, 0]
        """
        replaced = rng.random_sample(len(codes)) < self.rate
        # Any of the other classes: a shift by 1 .. n_classes - 1 never lands on the label itself.
        shift = rng.randint(1, n_classes, size=len(codes)).astype(np.int32)
        return np.where(replaced, (codes + shift) % n_classes, codes).astype(np.int32)


CLEAN = Noise()


def parse_noise(value: object) -> Noise:
    """Return the noise that a study file asks for.

    Parameters
    ----------
    value : object
        A rate.

    Returns
    -------
    Noise

    Raises
    ------
    ValueError
        It is no rate in [0, 1).

    Examples
    --------
    >>> parse_noise(0.1)
    Noise(rate=0.1)
    """
    if isinstance(value, Noise):
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1:
        raise ValueError(f"{value!r} is not a noise rate: give numbers in [0, 1)")
    return Noise(float(value))


def noise_of(slug: str) -> Noise:
    """Return the noise that a row of the store names.

    Parameters
    ----------
    slug : str
        As `Noise.slug` writes it.

    Returns
    -------
    Noise
        Equal to the one that was written.

    Examples
    --------
    >>> noise_of(Noise(1 / 3).slug) == Noise(1 / 3)
    True
    """
    return Noise(float(slug))
