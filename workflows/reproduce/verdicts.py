"""Verdicts on claims, and the rules that derive a verdict from the cases in which a claim holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeAlias

from .evidence import Evidence, NotThere
from .printed import Claim


class Outcome(StrEnum):
    """The possible verdicts on a claim."""

    HOLDS = "holds"
    MOSTLY = "mostly holds"
    MIXED = "mixed"
    MOSTLY_NOT = "mostly fails"
    DOES_NOT = "does not hold"
    UNTESTED = "cannot be decided"

    @property
    def partly(self) -> bool:
        """Return whether the claim holds in some of its cases only."""
        return self in (Outcome.MOSTLY, Outcome.MIXED, Outcome.MOSTLY_NOT)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim; `figures` has the numbers that decide, or why the claim cannot be decided.

    The claim holds in `met` of the `asked` cases.
    """

    outcome: Outcome
    figures: str
    met: int = 0
    asked: int = 0

    @property
    def text(self) -> str:
        """Return the outcome, with the number of cases if there are several."""
        return f"{self.outcome} ({self.met} of {self.asked})" if self.asked > 1 else str(self.outcome)


# A function that judges a claim by the results; it may raise `NotThere`.
Check: TypeAlias = Callable[[Evidence], Verdict]
# Cases of a claim, such as those on one data set, and a text with their numbers.
Parts: TypeAlias = Iterator[tuple[Mapping[str, bool], str]]


@dataclass(frozen=True)
class Judged:
    """A claim with its verdict."""

    claim: Claim
    verdict: Verdict


# Least shares of true cases for "mostly holds" and for "mixed"; with a smaller share a claim "mostly fails".
_MOSTLY, _HALF = 0.75, 0.5


def holds_if(condition: bool, figures: str) -> Verdict:
    """Return "holds" if `condition` is true, otherwise "does not hold"; for claims with one case."""
    return by_share(int(condition), 1, figures)


def by_share(met: int, asked: int, figures: str) -> Verdict:
    """Return the verdict on a claim that holds in `met` of the `asked` cases.

    Examples
    --------
    >>> [by_share(met, 9, "").outcome.value for met in (9, 7, 5, 3, 0)]
    ['holds', 'mostly holds', 'mixed', 'mostly fails', 'does not hold']
    """
    if met == asked:
        outcome = Outcome.HOLDS
    elif not met:
        outcome = Outcome.DOES_NOT
    elif met < _HALF * asked:
        outcome = Outcome.MOSTLY_NOT
    else:
        outcome = Outcome.MOSTLY if met >= _MOSTLY * asked else Outcome.MIXED
    return Verdict(outcome, figures, met, asked)


def conjunction(clauses: Mapping[str, bool], figures: str) -> Verdict:
    """Return "holds" if all clauses of a claim are true, otherwise "does not hold"; name the false clauses.

    Examples
    --------
    >>> conjunction({"size": True, "time": False}, "half the size").text
    'does not hold (1 of 2)'
    """
    verdict = holds_for(clauses, figures)
    return replace(verdict, outcome=Outcome.DOES_NOT) if verdict.outcome.partly else verdict


def holds_for(cases: Mapping[str, bool], figures: str) -> Verdict:
    """Return the verdict by the share of true cases, and name the false cases in its text.

    `cases` maps data sets, noise rates or other parts of the claim to whether it holds there. Raise
    `NotThere` if there are none.

    Examples
    --------
    >>> holds_for({"usps": True, "gauss": False}, "mistakes 3 and 4")
    Verdict(outcome=<Outcome.MIXED: 'mixed'>, figures='mistakes 3 and 4; not for gauss', met=1, asked=2)
    """
    if not cases:
        raise NotThere("the results have no case of the claim")
    against = [name for name, each in cases.items() if not each]
    # The only case of a claim needs no name.
    if named := [name for name in against if name]:
        figures = f"{figures}; not for {', '.join(named)}"
    return by_share(len(cases) - len(against), len(cases), figures)


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
    """Decorate a generator of a claim's `Parts`: turn it into a check that judges it `case_by_case`."""
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
