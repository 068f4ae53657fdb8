"""Printed claims, numbers and tables of the papers, and the texts of their pages, from the files in `facts/`.

Claims, numbers and printed tables contain only what we could read in the papers' texts: numbers that a text
lacks are absent. The table ``tasks`` also lists data sets that we added.
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

    `kind` is empty for a separate finding. Otherwise it is "theorem", "by construction", "conjecture" (the
    paper says "may"), "trivial" (true of any learner), or "repeats ID" if the same numbers decide as for the
    claim of that id. Only findings are counted.
    """

    id: str
    where: str
    text: str
    printed: str
    kind: str = ""


def texts(paper: str) -> dict[str, Any]:
    """Return the title of a paper, its studies, and the texts of its page."""
    return {"notes": {}, **tomllib.loads((_FOLDER / paper / "paper.toml").read_text(encoding="utf-8"))}


@cache
def claims(paper: str) -> tuple[Claim, ...]:
    """Return the claims of a paper, in its order.

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
    """Return a number of the running text, such as "mc-n1" of "model-complexity", or raise `KeyError`."""
    return {row["id"]: float(row["value"]) for row in table(paper, "numbers") if row["value"]}[name]


def table(paper: str, name: str) -> list[dict[str, str]]:
    """Return a printed table, such as "table1" of "ramp-loss": one dict of texts per printed number."""
    return read_rows(_FOLDER / paper / f"{name}.csv")


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file."""
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))
