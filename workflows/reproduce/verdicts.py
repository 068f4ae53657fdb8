"""Verdicts on claims, and the rules that make them from the cases of a claim."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
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
    """The verdict on a claim; `figures` has the numbers that decide, or why the claim cannot be tested."""

    outcome: Outcome
    figures: str


# Judges a claim by the results; may raise `NotThere`.
Check: TypeAlias = Callable[[Evidence], Verdict]
# Cases of a claim, such as those on one data set, and a text with their numbers.
Parts: TypeAlias = Iterator[tuple[Mapping[str, bool], str]]


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
    """Return "holds" if all cases are true, "in part" if some are, else "does not"; name the false ones.

    `cases` maps data sets, noise rates or other parts of the claim to whether it holds there. Raise
    `NotThere` if there are none.

    Examples
    --------
    >>> holds_for({"usps": True, "gauss": False}, "mistakes 3 and 4")
    Verdict(outcome=<Outcome.IN_PART: 'holds in part'>, figures='mistakes 3 and 4; not for gauss')
    """
    if not cases:
        raise NotThere("the results have no case of the claim")
    against = [name for name, each in cases.items() if not each]
    # The only case of a claim needs no name.
    if named := [name for name in against if name]:
        figures = f"{figures}; not for {', '.join(named)}"
    return holds_if(not against, figures, in_part=len(against) < len(cases))


def case_by_case(said: str, parts: Iterable[tuple[Mapping[str, bool], str]]) -> Verdict:
    """Judge a claim by the cases of all parts; the verdict's text is `said`, then the text of each part.

    Examples
    --------
    >>> case_by_case("mistakes", [({"usps": True}, "usps 3"), ({"gauss": False}, "gauss 4")]).figures
    'mistakes: usps 3; gauss 4; not for gauss'
    """
    cases: dict[str, bool] = {}
    texts = []
    for found, text in parts:
        cases |= found
        texts.append(text)
    return holds_for(cases, f"{said}: {'; '.join(texts)}")


def by_case(said: str) -> Callable[[Callable[[Evidence], Parts]], Check]:
    """Decorate a function that yields cases of a claim, with texts: it becomes a check of the claim."""
    return lambda parts: lambda evidence: case_by_case(said, parts(evidence))


def judge(claims: Iterable[Claim], checks: Mapping[str, Check], evidence: Evidence) -> list[Judged]:
    """Return every claim with its verdict; a claim whose check raises `NotThere` cannot be tested."""
    judged = []
    for claim in claims:
        try:
            verdict = checks[claim.id](evidence)
        except NotThere as lack:
            verdict = Verdict(Outcome.UNTESTED, str(lack))
        judged.append(Judged(claim, verdict))
    return judged
