"""Verdicts on a paper's claims: each is a function of the results, with the figures that decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeAlias

from .evidence import Evidence, NotThere
from .printed import Claim


class Outcome(StrEnum):
    """The possible verdicts on a claim."""

    HOLDS = "holds"
    IN_PART = "holds in part"
    DOES_NOT = "does not hold"
    UNTESTED = "cannot be tested here"


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim.

    Attributes
    ----------
    figures : str
        The numbers that decide, or why the claim cannot be tested.
    """

    outcome: Outcome
    figures: str


# A claim as a predicate over results; may raise `NotThere`.
Check: TypeAlias = Callable[[Evidence], Verdict]


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict."""

    claim: Claim
    verdict: Verdict


def holds_if(condition: bool, figures: str, *, in_part: bool = False) -> Verdict:
    """Return "holds" if `condition` is true; otherwise "in part" if `in_part` is true, or else "does not".

    Examples
    --------
    >>> holds_if(1 < 2, "1 and 2").outcome.value, holds_if(False, "", in_part=True).outcome.value
    ('holds', 'holds in part')
    """
    if condition:
        return Verdict(Outcome.HOLDS, figures)
    return Verdict(Outcome.IN_PART if in_part else Outcome.DOES_NOT, figures)


def holds_for(cases: Mapping[str, bool], figures: str) -> Verdict:
    """Return "holds" if all cases do, "in part" if some do, else "does not"; name the cases that fail.

    `cases` maps data sets, noise rates or other parts of the claim to whether it holds there. Raise
    `NotThere` if there are none.

    Examples
    --------
    >>> holds_for({"usps": True, "gauss": False}, "mistakes 3 and 4")
    Verdict(outcome=<Outcome.IN_PART: 'holds in part'>, figures='mistakes 3 and 4; not for gauss')
    """
    if not cases:
        raise NotThere("there is nothing that it speaks of")
    against = [name for name, each in cases.items() if not each]
    if against:
        figures = f"{figures}; not for {', '.join(against)}"
    return holds_if(not against, figures, in_part=len(against) < len(cases))


def judge(claims: Iterable[Claim], checks: Mapping[str, Check], evidence: Evidence) -> list[Judged]:
    """Return every claim with its verdict, by the check of its id.

    A claim whose check raises `NotThere` cannot be tested.
    """
    judged = []
    for claim in claims:
        try:
            verdict = checks[claim.id](evidence)
        except NotThere as lack:
            verdict = Verdict(Outcome.UNTESTED, str(lack))
        judged.append(Judged(claim, verdict))
    return judged
