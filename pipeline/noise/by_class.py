"""Label noise with rates per class or a matrix, and noise that replaces a class by the next one."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from .uniform import UNKNOWN, Circumstances, Codes, Level, Noise, percent, plain

# Maximum number of rates that names of the noise list, such as the heading of a table's column.
_MOST_RATES = 4
_NOT_PLAIN = re.compile(r"[^A-Za-z0-9.-]")
_ESCAPED = re.compile(r"~([0-9a-f]+)~")


@dataclass(frozen=True)
class ClassNoise(Noise):
    """Label noise that depends on the label alone (class-conditional noise).

    It is given by `rates` or by `matrix`. `rates` are pairs (class name, probability), sorted by name: a
    label of the class is replaced with this probability by one of the other classes, drawn uniformly; classes
    without a rate keep their labels. `matrix[k][j]` is the probability that a row of class k gets label j, in
    the order of the classes. `rate` is computed from them: the mean probability that a label is changed.

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
    def spec(self) -> dict[str, Any]:
        """Return the noise as a table of a study file, with the rates or the matrix, and the level."""
        given: dict[str, Any] = {"matrix": [list(row) for row in self.matrix]}
        if self.rates:
            given = {"rates": dict(self.rates)}
        return {"model": self.model, **given, **self.further}

    @property
    def slug(self) -> str:
        """Return the noise's name in stored results: its rates, or its matrix row by row.

        Characters that are special in names are replaced by their codes.
        """
        if self.rates:
            given = ["rates", *(f"{_escaped(name)}={plain(rate)}" for name, rate in self.rates)]
        else:
            given = ["matrix", *(",".join(map(plain, row)) for row in self.matrix)]
        return "_".join([self.model, *given, *(f"{key}={value}" for key, value in self.further.items())])

    @property
    def kind(self) -> str:
        return "by class" if self.level == "task" else "class-level, by class"

    @property
    def amount(self) -> str:
        """Return the amount of noise as text: the first few rates.

        For a matrix it is the probability of a change for each class, or their mean if there are many
        classes.
        """
        if self.rates:
            some = [f"{name} {percent(rate)}" for name, rate in self.rates if rate] or ["0%"]
            more = f", … ({len(some)} classes)" if len(some) > _MOST_RATES else ""
            return ", ".join(some[:_MOST_RATES]) + more
        lost = [math.fsum(row[:k] + row[k + 1 :]) for k, row in enumerate(self.matrix)]
        if len(lost) > _MOST_RATES:
            return f"{percent(self.rate)} over {len(lost)} classes"
        return "/".join(map(percent, lost))

    @property
    def label(self) -> str:
        return f"{'label' if self.level == 'task' else 'class-level'} noise by class ({self.amount})"

    @property
    def opening(self) -> str:
        return f"With {self.label}"

    @property
    def named(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.rates)

    @property
    def n_classes(self) -> int | None:
        """Return the number of classes for which the matrix is; None if the noise is given by rates."""
        return len(self.matrix) or None

    def chances(self, codes: Codes, about: Circumstances) -> NDArray[np.float64]:
        """Return for each label the rate of its class, shape (n,)."""
        given = dict(self.rates)
        return np.array([given.get(name, 0.0) for name in about.classes])[codes]

    def corrupt(
        self, codes: Codes, n_classes: int, rng: np.random.RandomState, about: Circumstances = UNKNOWN
    ) -> Codes:
        if not self.matrix:
            return super().corrupt(codes, n_classes, rng, about)
        u = rng.random_sample(len(codes))
        given = codes.copy()
        for k, row in enumerate(self.matrix):
            others = [other for other in range(n_classes) if other != k]
            # Draw the new label from cumulative probabilities. Class k itself comes last and gets what
            # remains, so that every label is kept, despite rounding, if all other classes have probability 0.
            ends = list(itertools.accumulate(row[other] for other in others))
            mine = codes == k
            drawn = np.searchsorted(ends, u[mine], side="right")
            given[mine] = np.array([*others, k], np.int32)[drawn]
        return given


def table_of(fields: list[str]) -> dict[str, Any]:
    """Return the rates or matrix, and the level, as in a table of a study file, from a `ClassNoise.slug`.

    `fields` are the parts of the slug after the model.
    """
    form, *given = fields
    table: dict[str, Any] = {}
    if given[-1] == "level=class":
        table["level"] = "class"
        given.pop()
    if form == "matrix":
        return {"matrix": [[float(share) for share in row.split(",")] for row in given], **table}
    pairs = (text.rpartition("=") for text in given)
    return {"rates": {_read(name): float(rate) for name, _, rate in pairs}, **table}


def _escaped(name: str) -> str:
    return _NOT_PLAIN.sub(lambda found: f"~{ord(found[0]):x}~", name)


def _read(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text)


@dataclass(frozen=True)
class PairNoise(Noise):
    """Replace class k by class k + 1, and the last class by the first, with probability `rate`.

    With two classes this is uniform noise.
    """

    model: ClassVar[str] = "pair"
    place: ClassVar[int] = 2

    def shifts(self, n: int, n_classes: int, rng: np.random.RandomState) -> int:
        """Return 1, which is added to a class code to get the next class."""
        return 1
