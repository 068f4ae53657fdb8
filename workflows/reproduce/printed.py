"""Read what papers print (claims, numbers, tables) and the texts of our pages from the files in `facts/`.

The claims, numbers and tables are only those that we could read in the texts of the papers; what a text has
lost, such as pictures, is absent. The table ``tasks`` also lists data sets that we added to a paper's.
"""

from __future__ import annotations

import csv
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

_FOLDER = Path(__file__).parent / "facts"


@dataclass(frozen=True)
class Claim:
    """A claim of a paper in our words; `printed` is the value that the paper prints, if any.

    `kind` is empty for a finding, the only kind that summaries count. Otherwise it is "theorem", "by
    construction", "conjecture" (the paper says "may"), "trivial" (true of any learner), or "repeats ID" if
    the numbers that decide it are those of the claim ID.
    """

    id: str
    where: str
    text: str
    printed: str
    kind: str = ""


def texts(paper: str) -> dict[str, Any]:
    """Return the contents of a paper's ``paper.toml``: its title, its studies and the texts of its page."""
    return {
        "notes": {},
        "remarks": {},
        **tomllib.loads((_FOLDER / paper / "paper.toml").read_text(encoding="utf-8")),
    }


@cache
def claims(paper: str) -> tuple[Claim, ...]:
    """Return the claims of a paper, in the order of the file ``claims.csv``.

    Examples
    --------
    >>> len(claims("ramp-loss")), claims("ramp-loss")[0].id
    (29, 'ramp-1')
    """
    return tuple(
        Claim(row["id"], row["where"], row["claim"], row["printed_value"], row["kind"])
        for row in table(paper, "claims")
    )


@cache
def number(paper: str, name: str) -> float:
    """Return a number that a paper prints, by its id in ``numbers.csv``; raise `KeyError` without it."""
    return {row["id"]: float(row["value"]) for row in table(paper, "numbers") if row["value"]}[name]


def table(paper: str, name: str) -> list[dict[str, str]]:
    """Return a table of a paper, such as "table1" of "ramp-loss", as one dict per row of its CSV file."""
    return read_rows(_FOLDER / paper / f"{name}.csv")


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file, each as a dict of texts by column."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
