"""What comes before the sections: what was done, who leads, what was compared, what to beware of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....pipeline.analysis.progress import not_run
from ..page.blocks import Block, Facts, Listing, Text
from ..page.view import StudyView
from ..words import wording
from ..words.phrases import count
from .notes import few, notes

# Groups of cells that have not run which are named.
_MOST_PARTS = 4
_PROTOCOLS = {
    "holdout": "Protocol: holdout. The training part is streamed once, each example predicted before it is "
    "learnt from; accuracy is then measured on clean test labels.",
    "prequential": "Protocol: prequential. The whole stream is seen once, each example predicted before it "
    "is learnt from; there is no test part.",
    "crossval": "Protocol: cross-validation. Every seed is a fold, streamed once and tested on clean labels.",
}

_SCALED = {
    "all": "mean and spread of the whole training part",
    "learnt": "mean and spread of all rows that are learnt",
}


def opening(view: StudyView) -> list[Block]:
    """Say what a reader wants to know first.

    Parameters
    ----------
    view : StudyView

    Returns
    -------
    list of Block
        Protocol, who leads, what was compared, and cautions where there are any.
    """
    study, design = view.results.study, view.design
    blocks: list[Block] = [
        Text(" ".join([_protocols(study), *_courses(view), *_looks_ahead(view)]), "soft"),
        Text(wording.headline(view.comparisons), "lead"),
        Facts(wording.facts(design, view.coverage)),
    ]
    if description := study.get("description"):
        blocks.insert(0, Text(description, "soft"))
    if cautions := wording.cautions(design, view.coverage, view.comparisons, _waiting(view)) + notes(view):
        blocks.append(Listing([("", text) for text in cautions], warning=True))
    return blocks


def _waiting(view: StudyView) -> str:
    """Say which cells have not run yet, successive seeds together."""
    if not view.coverage.missing:
        return ""
    design, begun = view.design, set(view.cells["parent"])
    parts = []
    for lack in not_run(view.cells, design):
        first, last = lack.seeds[0], lack.seeds[-1]
        text = f"seed {first}" if first == last else f"seeds {first} to {last}"
        if len(lack.algorithms) < len(design.algorithms):
            text += f" of {few(lack.algorithms)}"
        if len(lack.datasets) < len(design.datasets):
            text += f" on {few(lack.datasets)}"
        parts.append(f"{text} ({count(lack.cells, 'cell')})")
    if len(parts) > _MOST_PARTS:
        parts[_MOST_PARTS:] = [f"{len(parts) - _MOST_PARTS} more groups"]
    names = [entry["label"] for entry in view.results.study.get("datasets", []) if "label" in entry]
    if none := [name for name in names if name not in begun]:
        parts.append(f"all of {few(none)}")
    return "; ".join(parts)


def _courses(view: StudyView) -> list[str]:
    """Say in which order rows come, what is counted, and when labels come; nothing of what is usual."""
    study, cells, texts = view.results.study, view.cells, []
    given = cells[cells["order"] == "given"]
    if len(given):
        names = list(dict.fromkeys(given["parent"]))
        whose = "" if given["dataset"].nunique() == cells["dataset"].nunique() else f" of {', '.join(names)}"
        texts.append(f"Rows{whose} are read in the order of their source, not shuffled.")
        if given["counted_from"].notna().any():
            share = 100 * float(study.get("tune_fraction", 0.1))
            texts.append(
                f"Grids are judged on the first {share:g}% of such a stream, which all algorithms learn; "
                "what they come to is counted after it."
            )
        if len(view.design.seeds) > 1 and given["repetitions"].notna().any():
            texts.append(
                "In a given order and without noise seeds move nothing: of such a stream there is one "
                "repetition, whatever the number of seeds."
            )
    for entry in study.get("algorithms", []):
        if size := entry.get("batch"):
            sizes = ", ".join(map(str, size)) if isinstance(size, list) else str(size)
            texts.append(f"{entry.get('label')} predicts {sizes} examples at a time, then learns them.")
    if delay := study.get("delay"):
        due = ", just before the prediction of that one" if study.get("label_due") == "before" else ""
        texts.append(f"The label of an example comes {count(delay, 'example')} later{due}.")
    return texts


def _looks_ahead(view: StudyView) -> list[str]:
    """Say where rows are scaled by later ones, and where test rows are older than rows that are learnt."""
    cells, texts = view.cells, []
    for kind, said in _SCALED.items():
        if names := list(dict.fromkeys(cells.loc[cells["scaling"] == kind, "parent"])):
            texts.append(f"Features of {few(names)} are scaled by {said}: the first rows look ahead.")
    if texts:
        texts.append('(standardize = "online" scales each row by those before it.)')
    cut = (cells["protocol"] == "crossval") | cells["own_test"].eq(False)
    if names := list(dict.fromkeys(cells.loc[cut & (cells["order"] != "given"), "parent"])):
        texts.append(
            f"Test rows of {few(names)} are drawn from all rows: where rows come in time, some of them are "
            "older than rows that were learnt."
        )
    return texts


def _protocols(study: Mapping[str, Any]) -> str:
    """Say how the data sets are used; a data set may have a protocol of its own."""
    usual = str(study.get("protocol"))
    used = [str(entry.get("protocol") or usual) for entry in study.get("datasets", [])] or [usual]
    texts = []
    for name in dict.fromkeys(used):
        text = _PROTOCOLS.get(name, f"Protocol: {name}.")
        if len(set(used)) > 1:
            own = [entry for entry, each in zip(study["datasets"], used, strict=True) if each == name]
            names = [str(entry.get("label") or entry.get("name") or entry.get("path")) for entry in own]
            text = f"{', '.join(dict.fromkeys(names))}: {text[0].lower()}{text[1:]}"
        texts.append(text)
    return " ".join(texts)
