"""Report restarts of learners by drift detectors, and how late they come after known changes."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from ..page.blocks import Section
from ..page.table import tabulate
from ..page.view import StudyView

_NOTE = (
    "Means over seeds. A change is found if the learner is restarted after it and before the next change; "
    "the delay is the number of examples until its first restart. All other restarts count as further ones. "
    "A gradual change is found from half its width before its middle on. Its delay counts from the middle, "
    "so it can be negative."
)


def section(view: StudyView) -> Section | None:
    """Print restarts of each algorithm with a detector; return None if no algorithm has one."""
    cells = view.finished[["reset" in json.loads(params) for params in view.finished["params"]]]
    if cells.empty:
        return None
    groups = dict(iter(cells.groupby(["dataset", "noise", "algorithm"])))
    widths = {entry.get("label"): entry.get("width", 0) for entry in view.results.study.get("datasets", [])}
    rows = [
        (dataset, noise.label, name, *_averaged(groups[dataset, noise.slug, name], widths))
        for dataset in view.design.datasets
        for noise in view.design.noise
        for name in view.design.algorithms
        if (dataset, noise.slug, name) in groups
    ]
    header = ["data set", "noise", "algorithm", "restarts", "changes", "found", "delay", "further restarts"]
    frame = pd.DataFrame(rows, columns=header)
    table = tabulate(frame, "resets", "Restarts by drift detectors", write=_number, labels=3, note=_NOTE)
    return Section("resets", "Drift detection", [table])


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100.0 else f"{value:.1f}"


def _averaged(cells: pd.DataFrame, widths: Mapping[str, int]) -> list[float]:
    """Return means: restarts, changes, changes found, their delay, other restarts; NaN if unknown.

    `widths` has the number of examples that a change of a data set takes, by the data set's label.
    """
    restarts, judged, delays = [], [], []
    early = widths.get(cells["parent"].iloc[0], 0) / 2
    for switches, changes, before in zip(
        cells["switches"], cells["changes"], cells["counted_from"].fillna(0), strict=True
    ):
        times = [int(t - before) for t in switches if t >= before]
        restarts.append(len(times))
        if changes is not None:
            late = delays_of(times, [int(each) for each in changes], early)
            delays += late
            judged.append((len(changes), len(late), len(times) - len(late)))
    counted = np.mean(judged, axis=0).tolist() if judged else [np.nan] * 3
    delay = float(np.mean(delays)) if delays else np.nan
    return [float(np.mean(restarts)), counted[0], counted[1], delay, counted[2]]


def delays_of(restarts: Sequence[int], changes: Sequence[int], early: float = 0.0) -> list[int]:
    """Return after how many examples each change is followed by its first restart.

    A restart belongs to the last change before it; each change begins `early` examples ahead of its place.
    Changes without a restart are left out.

    >>> delays_of([40, 130, 150, 420], [100, 200, 400])
    [30, 20]
    >>> delays_of([90, 380], [100, 400], early=50)
    [-10, -20]
    """
    found = []
    for change, following in pairwise([*changes, np.inf]):
        after = [t for t in restarts if change < t + early <= following]
        found += [int(after[0] - change)] if after else []
    return found
