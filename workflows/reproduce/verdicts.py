"""Verdicts on claims, and the rules that derive a verdict from the share of cases in which a claim holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
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
        """Return whether this verdict says that the claim holds in some, but not all, of its cases."""
        return self in (Outcome.MOSTLY, Outcome.MIXED, Outcome.MOSTLY_NOT)


@dataclass(frozen=True)
class Verdict:
    """The verdict on a claim, which holds in `met` of the `asked` cases.

    `figures` is a text with the numbers that decide, or with the reason why the claim cannot be decided.
    """

    outcome: Outcome
    figures: str
    met: int = 0
    asked: int = 0

    @property
    def text(self) -> str:
        """Return the outcome as text; if the claim has several cases, with counts as in "mixed (4 of 7)"."""
        return f"{self.outcome} ({self.met} of {self.asked})" if self.asked > 1 else str(self.outcome)


# A function that judges a claim by the results; it raises `NotThere` if results are missing.
Check: TypeAlias = Callable[[Evidence], Verdict]
# Groups of a claim's cases, such as those on one data set: whether the claim holds in each case, and a text.
Parts: TypeAlias = Iterator[tuple[Mapping[str, bool], str]]


# From these shares of true cases on, a claim "mostly holds" or is "mixed"; below both, it "mostly fails".
_MOSTLY, _HALF = 0.75, 0.5


def holds_if(condition: bool, figures: str) -> Verdict:
    """Return the verdict on a claim with one case: "holds" if `condition` is true, else "does not hold"."""
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
    """Return the verdict "holds" if all clauses of a claim are true, else "does not hold", naming the false.

    Examples
    --------
    >>> conjunction({"size": True, "time": False}, "half the size").text
    'does not hold (1 of 2)'
    """
    verdict = holds_for(clauses, figures)
    return replace(verdict, outcome=Outcome.DOES_NOT) if verdict.outcome.partly else verdict


def holds_for(cases: Mapping[str, bool], figures: str) -> Verdict:
    """Return the verdict on a claim by the share of its true cases; the verdict's text names the false cases.

    `cases` maps each case of the claim, such as a data set or a noise rate, to whether the claim holds there.
    Raise `NotThere` if `cases` is empty.

    Examples
    --------
    >>> holds_for({"usps": True, "gauss": False}, "mistakes 3 and 4")
    Verdict(outcome=<Outcome.MIXED: 'mixed'>, figures='mistakes 3 and 4; not for gauss', met=1, asked=2)
    """
    if not cases:
        raise NotThere("the results have no case of the claim")
    against = [name for name, each in cases.items() if not each]
    # If a claim has a single case, its name is "" and is not listed.
    if named := [name for name in against if name]:
        figures = f"{figures}; not for {', '.join(named)}"
    return by_share(len(cases) - len(against), len(cases), figures)


def by_case(said: str) -> Callable[[Callable[[Evidence], Parts]], Check]:
    """Decorate a function that yields a claim's cases in groups (`Parts`); make it return the verdict.

    The verdict's text is `said`, then the text of each group.

    Examples
    --------
    >>> groups = [({"usps": True}, "usps 3"), ({"gauss": False}, "gauss 4")]
    >>> by_case("mistakes")(lambda evidence: iter(groups))(Evidence({})).figures
    'mistakes: usps 3; gauss 4; not for gauss'
    """

    def check(parts: Callable[[Evidence], Parts], evidence: Evidence) -> Verdict:
        cases: dict[str, bool] = {}
        texts = []
        for found, text in parts(evidence):
            cases |= found
            texts.append(text)
        return holds_for(cases, f"{said}: {'; '.join(texts)}")

    return lambda parts: partial(check, parts)


def judge(
    claims: Iterable[Claim], checks: Mapping[str, Check], evidence: Evidence, *, repetitions: bool = False
) -> list[tuple[Claim, Verdict]]:
    """Return every claim with its verdict, "cannot be decided" if the claim's check raises `NotThere`.

    No claim is judged by a study that was not run to its end, because data sets without a finished cell would
    be left out unnoticed. With `repetitions`, one complete repetition is enough.
    """
    judged, judgeable = [], evidence.judgeable(repetitions=repetitions)
    for claim in claims:
        try:
            verdict = checks[claim.id](judgeable)
        except NotThere as lack:
            verdict = Verdict(Outcome.UNTESTED, str(lack))
        judged.append((claim, verdict))
    return judged
