"""Sec. 5.3 of the AROW paper: binary tasks under label noise (Table 1, Fig. 8)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from ....report.page.blocks import Block, Heading, Panels, Picture, Text
from ....report.page.table import TableBlock, TableCell
from ....report.plots.head_to_head_plots import scatter
from ....report.words.markup import slug
from ...evidence import Evidence, NotThere, StudyEvidence
from ...figures import ABSENT, beside, number, numbers_file
from ...printed import table
from ...verdicts import Check, Verdict, holds_for, holds_if
from .measures import PAS, binary_groups, four, listed, percent, rises, row

# The columns and rows of Fig. 8, in the paper's order.
BASELINES = ("PA", "SOP", "CW")
LEVELS = (0.0, 0.1, 0.3)


def mean_ranks(evidence: Evidence) -> list[Block]:
    """Return Table 1, once for each PA."""
    study = evidence["binary"]
    return [_ranked(study, pa) for pa in PAS]


def _ranked(study: StudyEvidence, pa: str) -> TableBlock:
    printed = {
        (row["algorithm"], float(row["noise"])): float(row["value"]) for row in table("arow", "table1")
    }
    rows, data = [], []
    for group, tasks in binary_groups(study).items():
        ranks = pd.DataFrame({q: study.ranks(four(pa), q, datasets=tasks) for q in study.rates})
        for name in ranks.index:
            entries = [TableCell(f"{group}, {len(tasks)} tasks"), TableCell(str(name))]
            for q, rank in zip(study.rates, row(ranks, str(name)), strict=True):
                # The paper prints ranks over all tasks only.
                found = printed.get((str(name), q)) if group == "all" else None
                entry = beside(rank, found, 2)
                entries.append(TableCell(entry.text, best=rank <= ranks[q].min()))
                data.append((group, len(tasks), name, q, rank, found))
            rows.append(entries)
        if group == "all":
            rows += [
                [TableCell("the paper, 130 tasks"), TableCell(name), *_printed(printed, name, study.rates)]
                for name in four("PA")
            ]
    columns = ["tasks", "number", "algorithm", "noise", "mean_rank", "printed"]
    return TableBlock(
        f"table-1-{slug(pa)}",
        f"Mean rank by test accuracy, {'PA without slack' if pa == 'PA' else pa}",
        ["tasks", "algorithm", *map(percent, study.rates)],
        rows,
        labels=2,
        note="Rank 1 is best, 4 worst; columns are rates of label noise. In brackets the printed number and "
        "our deviation from it. Which PA the paper takes it does not say.",
        data=pd.DataFrame(data, columns=columns),
    )


def _printed(found: dict[tuple[str, float], float], name: str, rates: Sequence[float]) -> list[TableCell]:
    return [TableCell(number(found[name, q], 2) if (name, q) in found else ABSENT) for q in rates]


def task_by_task(evidence: Evidence) -> list[Block]:
    """Return Fig. 8, with PA-I below it."""
    study = evidence["binary"]
    groups = binary_groups(study)
    blocks: list[Block] = [
        Text(
            "Every point is a task: test accuracy of AROW (y) against that of a baseline (x), in percent.",
            "soft",
        )
    ]
    parts = []
    for group in ("text", "digits"):
        blocks.append(Heading(f"{group.capitalize()}, {len(groups[group])} tasks"))
        further = []
        for q in LEVELS:
            accuracy = study.table("test_accuracy", q, datasets=groups[group])
            blocks.append(Panels([_panel(study, accuracy, group, q, name) for name in BASELINES], roomy=True))
            further.append(_panel(study, accuracy, group, q, "PA-I"))
            long = accuracy[["AROW", *BASELINES, "PA-I"]].rename_axis("task").reset_index()
            parts.append(long.assign(group=group, noise=q))
        blocks.append(Panels(further, roomy=True))
    blocks.append(numbers_file("fig-8", "Test accuracy of every task", pd.concat(parts, ignore_index=True)))
    return blocks


def _panel(study: StudyEvidence, accuracy: pd.DataFrame, group: str, q: float, baseline: str) -> Picture:
    ours, theirs = accuracy["AROW"], accuracy[baseline]
    at = f"{percent(q)} noise"
    return Picture(
        f"Test accuracy of AROW against {baseline}, {at} ({group})",
        f"{baseline}, {at}: {int((ours > theirs).sum())} of {len(accuracy)} above the line",
        scatter(
            100 * theirs.to_numpy(),
            100 * ours.to_numpy(),
            study.view.styles[baseline],
            f"{baseline}, %",
            "AROW, %",
        ),
        f"figures/fig-8-{group}-{slug(baseline)}-{round(100 * q)}.svg",
    )


# Our thresholds for words of the paper. Differences of mean ranks: "slightly" ahead, "comparable", "easily".
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
    """Return mean ranks of a group of tasks, or with text and digits weighted as in the paper."""
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
    """Return AROW's lead in mean rank over the next algorithm, by noise; negative if AROW is not the best."""
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
    """Return AROW's accuracy minus CW's, by task."""
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
