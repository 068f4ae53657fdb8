"""What the papers print: claims, numbers and tables, as files beside this module.

They hold what can be read in the papers' texts and nothing else; what the texts have lost is absent.
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
    id : str
    where : str
        Section, table or figure.
    text : str
        In our words.
    predicate : str
        When it holds, over named quantities.
    printed : str
        The value that the paper prints, if it does.
    """

    id: str
    where: str
    text: str
    predicate: str
    printed: str


@cache
def claims(paper: str) -> tuple[Claim, ...]:
    """Return the claims of a paper, in its order.

    Parameters
    ----------
    paper : str

    Returns
    -------
    tuple of Claim

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
    """Return a number that the running text prints.

    Parameters
    ----------
    paper, name : str
        Such as "model-complexity" and "mc-n1".

    Raises
    ------
    KeyError
        There is none of that name.
    """
    return {row["id"]: float(row["value"]) for row in table(paper, "numbers") if row["value"]}[name]


def table(paper: str, name: str) -> list[dict[str, str]]:
    """Return a printed table in long form, a row a printed number.

    Parameters
    ----------
    paper, name : str
        Such as "ramp-loss" and "table1".

    Returns
    -------
    list of dict
        By column; texts as they stand in the file.
    """
    return list(_rows(_FOLDER / paper / f"{name}.csv"))


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)
