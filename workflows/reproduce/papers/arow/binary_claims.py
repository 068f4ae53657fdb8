"""Claims of Sec. 5.3: binary tasks under label noise (Table 1, Fig. 8)."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from ...evidence import Evidence, NotThere, StudyEvidence
from ...verdicts import Check, Verdict, holds_for, holds_if
from .parts import PAS, binary_groups, four, listed, percent, rises, row

# Thresholds for words of the paper, all of them ours. Mean ranks: "slightly" ahead, "comparable", "easily".
_SLIGHTLY, _LEVEL, _CLEAR = 0.25, 0.25, 0.25
# Shares of tasks: a "narrow" majority, "most", "almost every".
_NARROW, _MOST, _NEARLY_ALL = 0.6, 0.5, 0.9
# Accuracies that are "close to the line".
_CLOSE = 0.01
# The paper's tasks by group. A larger share of the study's tasks is text, on which CW does better.
_PAPER_TASKS = {"text": 30, "digits": 100}
_MIX = "the paper's mix"


def _tasks(study: StudyEvidence, group: str) -> list[str]:
    tasks = binary_groups(study).get(group)
    if tasks is None:
        raise NotThere(f"{study.name}: has no tasks of {group}")
    return tasks


def _ranks(study: StudyEvidence, pa: str, group: str = "all") -> pd.DataFrame:
    """Return mean ranks of the four algorithms, shape (algorithms, noise)."""
    tasks = _tasks(study, group)
    return pd.DataFrame({q: study.ranks(four(pa), q, datasets=tasks) for q in study.rates})


def _ranks_at(study: StudyEvidence, pa: str, where: str) -> pd.DataFrame:
    """Return mean ranks of a group, or with text and digits weighted as in the paper."""
    if where != _MIX:
        return _ranks(study, pa, where)
    total = sum(_PAPER_TASKS.values())
    text, digits = (n / total * _ranks(study, pa, group) for group, n in _PAPER_TASKS.items())
    return text + digits


def _at(ranks: pd.DataFrame, study: StudyEvidence, q: float) -> pd.Series[float]:
    if q not in ranks:
        raise NotThere(f"{study.name}: has not been run with {percent(q)} label noise")
    return ranks[q]


def _named(ranks: pd.Series[float]) -> str:
    return ", ".join(f"{name} {rank:.2f}" for name, rank in ranks.items())


def _level_on_clean(evidence: Evidence) -> Verdict:
    study = evidence["binary"]
    ranks = {pa: _ranks(study, pa)[0.0] for pa in PAS}
    gaps = {pa: float(each["CW"] - each["AROW"]) for pa, each in ranks.items()}
    text = _ranks(study, "PA", "text")[0.0]
    said = "; ".join(f"with {pa} {_named(ranks[pa][['AROW', 'CW']])}" for pa in PAS)
    return holds_if(
        all(0 < gap <= _SLIGHTLY for gap in gaps.values()),
        f"{said} (printed 1.51 and 1.63); text alone {_named(text[['AROW', 'CW']])}",
        in_part=all(gap > 0 for gap in gaps.values()),
    )


def _slim_majority(evidence: Evidence) -> Verdict:
    study = evidence["binary"]
    ahead, behind, said = 0.0, 0.0, []
    for group, n in _PAPER_TASKS.items():
        lead = _ahead(study, 0.0, group)
        won, lost = int((lead > 0).sum()), int((lead < 0).sum())
        ahead, behind = ahead + n * won / len(lead), behind + n * lost / len(lead)
        said.append(f"{won} and {lost} of {len(lead)} tasks of {group}")
    every = _ahead(study, 0.0)
    share = ahead / (ahead + behind) if ahead + behind else 0.0
    return holds_if(
        behind < ahead <= _NARROW * (ahead + behind),
        f"AROW and CW ahead on {int((every > 0).sum())} and {int((every < 0).sum())} of {len(every)} tasks: "
        f"{', '.join(said)}; at {_MIX} on {listed([ahead, behind], 1)} ({100 * share:.0f}%)",
        in_part=ahead > behind,
    )


def _order_on_clean(evidence: Evidence) -> Verdict:
    cases, said = {}, []
    for pa in PAS:
        for where in ("all", *_PAPER_TASKS, _MIX):
            ranks = _ranks_at(evidence["binary"], pa, where)[0.0]
            cases[f"{pa} third ({where})"] = bool(max(ranks["AROW"], ranks["CW"]) < ranks[pa] < ranks["SOP"])
            said.append(f"{where} {_named(ranks)}")
    return holds_for(cases, "; ".join(said))


def _lead(ranks: pd.DataFrame) -> list[float]:
    """Return by how much AROW is ahead of the next, by noise; negative where it is not the best."""
    others = [row(ranks, str(name)) for name in ranks.index if name != "AROW"]
    return [min(next_ones) - ours for ours, *next_ones in zip(row(ranks, "AROW"), *others, strict=True)]


def _best_throughout(evidence: Evidence) -> Verdict:
    study = evidence["binary"]
    cases: dict[str, bool] = {}
    said = []
    for pa in PAS:
        for where in ("all", _MIX):
            ranks = _ranks_at(study, pa, where)
            lead = _lead(ranks)
            cases |= {
                f"{pa} at {percent(q)} ({where})": each > 0 for q, each in zip(study.rates, lead, strict=True)
            }
            cases[f"the growing lead with {pa} ({where})"] = lead[-1] > lead[0]
            said.append(f"with {pa} ({where}) AROW {listed(row(ranks, 'AROW'))}, its lead {listed(lead)}")
    text = _lead(_ranks(study, "PA", "text"))
    said.append(f"text alone with PA, its lead {listed(text)}")
    return holds_for(cases, f"at {', '.join(map(percent, study.rates))}: {'; '.join(said)}")


def _loses_ground(evidence: Evidence) -> Verdict:
    study = evidence["binary"]
    behind, said = [], []
    for pa in PAS:
        ranks = _ranks(study, pa)
        for other in (pa, "AROW"):
            behind.append([a - b for a, b in zip(row(ranks, "CW"), row(ranks, other), strict=True)])
            said.append(
                f"CW behind {other}{f' (with {pa})' if other == 'AROW' else ''} by {listed(behind[-1])}"
            )
    return holds_if(
        all(map(rises, behind)),
        f"at {', '.join(map(percent, study.rates))}: {'; '.join(said)}",
        in_part=any(each[-1] > each[0] for each in behind),
    )


def _against_pa(study: StudyEvidence, q: float, group: str = "all") -> dict[str, pd.Series[float]]:
    return {pa: _at(_ranks(study, pa, group), study, q)[["CW", pa]] for pa in PAS}


def _level_at_20(evidence: Evidence) -> Verdict:
    study = evidence["binary"]
    found, text = _against_pa(study, 0.2), _against_pa(study, 0.2, "text")
    return holds_for(
        {pa: bool(abs(ranks["CW"] - ranks[pa]) <= _LEVEL) for pa, ranks in found.items()},
        f"{_both(found)}; text alone {_both(text)}",
    )


def _behind_at_30(evidence: Evidence) -> Verdict:
    study = evidence["binary"]
    found, text = _against_pa(study, 0.3), _against_pa(study, 0.3, "text")
    return holds_for(
        {pa: bool(ranks["CW"] - ranks[pa] >= _CLEAR) for pa, ranks in found.items()},
        f"{_both(found)}; text alone {_both(text)}",
    )


def _both(found: Mapping[str, pd.Series[float]]) -> str:
    return " and ".join(_named(ranks) for ranks in found.values())


def _ahead(study: StudyEvidence, q: float, group: str = "all") -> pd.Series[float]:
    """Return by how much AROW is more accurate than CW, by task."""
    accuracy = study.table("test_accuracy", q, datasets=_tasks(study, group), algorithms=["AROW", "CW"])
    return accuracy["AROW"] - accuracy["CW"]


def _close_on_clean(evidence: Evidence) -> Verdict:
    ahead = _ahead(evidence["binary"], 0.0)
    near = int((ahead.abs() <= _CLOSE).sum())
    return holds_if(
        near > _MOST * len(ahead),
        f"within {100 * _CLOSE:g} point on {near} of {len(ahead)} tasks; AROW ahead by "
        f"{listed([100 * ahead.mean()])} points in the mean",
    )


def _rise_above(evidence: Evidence) -> Verdict:
    study = evidence["binary"]
    rates = (0.0, 0.1, 0.3)
    means = {
        group: [100 * float(_ahead(study, q, group).mean()) for q in rates]
        for group in ("all", "text", "digits")
    }
    said = "; ".join(f"{group} {listed(values)}" for group, values in means.items())
    return holds_for(
        {group: rises(values) for group, values in means.items()},
        f"AROW ahead of CW by points at {', '.join(map(percent, rates))}: {said}",
    )


def _nearly_every_task(evidence: Evidence) -> Verdict:
    study = evidence["binary"]
    groups = binary_groups(study)
    accuracy = study.table("test_accuracy", 0.3)
    cases, said = {}, []
    for other in ("CW", *PAS, "SOP"):
        ahead = accuracy["AROW"] > accuracy[other]
        cases[other] = bool(ahead.mean() >= _NEARLY_ALL)
        said.append(
            f"{other} on {int(ahead.sum())} of {len(ahead)} tasks "
            f"(text {int(ahead[groups['text']].sum())} of {len(groups['text'])})"
        )
    return holds_for(cases, f"at 30% AROW ahead of {', '.join(said)}")


CHECKS: Mapping[str, Check] = {
    "arow-1": _level_on_clean,
    "arow-2": _slim_majority,
    "arow-3": _order_on_clean,
    "arow-4": _best_throughout,
    "arow-5": _loses_ground,
    "arow-6": _level_at_20,
    "arow-7": _behind_at_30,
    "arow-8": _close_on_clean,
    "arow-9": _rise_above,
    "arow-10": _nearly_every_task,
}
