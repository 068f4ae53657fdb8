"""Label noise with rates per class, and pair noise, which swaps each class for the next one."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .uniform import Circumstances, Codes, Level, Noise, percent, plain

# More rates than this are not told one by one where a column is headed.
_MOST_TOLD = 4
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9.-]")
_ESCAPED = re.compile(r"~([0-9a-f]+)~")


@dataclass(frozen=True)
class ClassNoise(Noise):
    """Label noise that depends on the label alone: what is called class-conditional.

    Attributes
    ----------
    rate : float
        The mean over `rates`, or over the classes of `matrix`; set by itself.
    level
        As in `Noise`.
    rates : tuple of (str, float)
        A class, and the probability with which its labels are replaced by any other class; classes that are
        not named keep theirs. Sorted by name.
    matrix : tuple of tuple of float
        Or: in row k, in the order of the classes, the probability of each label that is given for class k.

    Examples
    --------
    >>> noise = ClassNoise(rates=(("spam", 0.3),))
    >>> noise.slug, noise.label
    ('class_rates_spam=0.3', 'label noise by class (spam 30%)')
    >>> noise = ClassNoise(matrix=((1.0, 0.0), (0.3, 0.7)))
    >>> noise.slug, noise.short, noise.rate
    ('class_matrix_1,0_0.3,0.7', '0%/30% by class', 0.15)
    """

    rate: float = 0.0
    level: Level = "task"
    rates: tuple[tuple[str, float], ...] = ()
    matrix: tuple[tuple[float, ...], ...] = ()

    model: ClassVar[str] = "class"
    place: ClassVar[int] = 1

    def __post_init__(self) -> None:
        if self.matrix:
            shares = [math.fsum(row[:k] + row[k + 1 :]) for k, row in enumerate(self.matrix)]
        else:
            shares = [rate for _, rate in self.rates]
        object.__setattr__(self, "rate", math.fsum(shares) / len(shares))

    @property
    def named(self) -> tuple[str, ...]:
        """The classes that it names."""
        return tuple(name for name, _ in self.rates)

    @property
    def spec(self) -> dict[str, Any]:
        """The rates, or the matrix, and the level."""
        told: dict[str, Any] = {"matrix": [list(row) for row in self.matrix]}
        if self.rates:
            told = {"rates": dict(self.rates)}
        return {"model": self.model, **told, **self.further}

    @property
    def slug(self) -> str:
        """The rates, or the matrix row by row; what could not stand in a file name is written as its code."""
        if self.rates:
            told = ["rates", *(f"{_escaped(name)}={plain(rate)}" for name, rate in self.rates)]
        else:
            told = ["matrix", *(",".join(map(plain, row)) for row in self.matrix)]
        return "_".join([self.model, *told, *(f"{key}={value}" for key, value in self.further.items())])

    @property
    def kind(self) -> str:
        """Its model, as one says it."""
        return "by class" if self.level == "task" else "class-level, by class"

    @property
    def amount(self) -> str:
        """The rates as far as they are few; of a matrix those with which classes lose their label."""
        if self.rates:
            some = [f"{name} {percent(rate)}" for name, rate in self.rates if rate] or ["0%"]
            more = f", … ({len(some)} classes)" if len(some) > _MOST_TOLD else ""
            return ", ".join(some[:_MOST_TOLD]) + more
        lost = [math.fsum(row[:k] + row[k + 1 :]) for k, row in enumerate(self.matrix)]
        if len(lost) > _MOST_TOLD:
            return f"{percent(self.rate)} over {len(lost)} classes"
        return "/".join(map(percent, lost))

    @property
    def label(self) -> str:
        """How titles call it."""
        return f"{'label' if self.level == 'task' else 'class-level'} noise by class ({self.amount})"

    @property
    def opening(self) -> str:
        """How a sentence about it begins."""
        return f"With {self.label}"

    def chances(self, codes: Codes, about: Circumstances) -> NDArray[np.float64]:
        """Return the rate of each label's class."""
        given = dict(self.rates)
        return np.array([given.get(name, 0.0) for name in about.classes])[codes]

    def corrupt(
        self,
        codes: Codes,
        n_classes: int,
        rng: np.random.RandomState,
        about: Circumstances = Circumstances(),  # noqa: B008
    ) -> Codes:
        """Return the labels as the learner is given them; see `Noise.corrupt`."""
        if not self.matrix:
            return super().corrupt(codes, n_classes, rng, about)
        u = rng.random_sample(len(codes))
        given = codes.copy()
        for k, row in enumerate(self.matrix):
            others = [other for other in range(n_classes) if other != k]
            # Its own class last, with what is left: one that keeps its labels then keeps all, whatever is
            # lost in rounding.
            ends = list(itertools.accumulate(row[other] for other in others))
            mine = codes == k
            drawn = np.searchsorted(ends, u[mine], side="right")
            given[mine] = np.array([*others, k], np.int32)[drawn]
        return given


def table_of(fields: list[str]) -> dict[str, Any]:
    """Return what a study file says of what `ClassNoise.slug` writes behind the model.

    Examples
    --------
    >>> table_of(["rates", "no~20~spam=0.3", "level=class"])
    {'rates': {'no spam': 0.3}, 'level': 'class'}
    """
    what, *told = fields
    table: dict[str, Any] = {}
    if told[-1] == "level=class":
        table["level"] = "class"
        told.pop()
    if what == "matrix":
        return {"matrix": [[float(share) for share in row.split(",")] for row in told], **table}
    pairs = (text.rpartition("=") for text in told)
    return {"rates": {_read(name): float(rate) for name, _, rate in pairs}, **table}


def _escaped(name: str) -> str:
    return _NOT_PLAIN.sub(lambda found: f"~{ord(found[0]):x}~", name)


def _read(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


@dataclass(frozen=True)
class PairNoise(Noise):
    """A label of class k becomes class k + 1, the last one the first, with one probability.

    Of two classes it is uniform noise. Attributes are those of `Noise`.

    Examples
    --------
    >>> noise = PairNoise(0.3)
    >>> noise.slug, noise.short, noise.opening
    ('pair_0.3', '30% pair', 'At 30% pair noise')
    >>> noise.corrupt(np.array([0, 1, 2, 0, 1, 2], np.int32), 3, np.random.RandomState(4)).tolist()
    [0, 1, 2, 0, 1, 0]
    """

    model: ClassVar[str] = "pair"
    place: ClassVar[int] = 2

    def shifts(self, n: int, n_classes: int, rng: np.random.RandomState) -> int:
        """Return 1."""
        return 1
