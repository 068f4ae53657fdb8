"""Printed claims, numbers and tables of the papers, from the files in `facts/`.

The files have only what the papers' texts contain; numbers lost from the texts are absent.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_FOLDER = Path(__file__).parent / "facts"


@dataclass(frozen=True)
class Claim:
    """An empirical claim of a paper.

    Attributes
    ----------
    where : str
        Section, table or figure.
    text : str
        The claim in our words.
    predicate : str
        When it holds, in terms of named quantities.
    printed : str
        The value that the paper prints, if any.
    """

    id: str
    where: str
    text: str
    predicate: str
    printed: str


@cache
def claims(paper: str) -> tuple[Claim, ...]:
    """Return the claims of a paper, in its order.

    Examples
    --------
    >>> len(claims("ramp-loss")), claims("ramp-loss")[0].id
    (29, 'ramp-1')
    """
    return tuple(
        Claim(row["id"], row["where"], row["claim"], row["predicate"], row["printed_value"])
        for row in table(paper, "claims")
    )


@cache
def number(paper: str, name: str) -> float:
    """Return a number that the running text prints, such as "mc-n1" of "model-complexity".

    Raise `KeyError` if there is no number of that name.
    """
    return {row["id"]: float(row["value"]) for row in table(paper, "numbers") if row["value"]}[name]


def table(paper: str, name: str) -> list[dict[str, str]]:
    """Return a printed table, such as "table1" of "ramp-loss": one dict of texts per printed number."""
    return list(_rows(_FOLDER / paper / f"{name}.csv"))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)
