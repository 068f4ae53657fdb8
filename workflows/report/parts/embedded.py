"""Collect the numbers that the page's script computes with: means by data set, costs, curves and winners."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ....pipeline.analysis.metrics import Metric
from ....pipeline.analysis.subsets import among, task_groups, tasks_of, within
from ....pipeline.counts import LATEST_ERRORS
from ..page.view import StudyView, spaced
from ..plots.svg import PALETTE
from ..words.wording import setting
from .data_sets import data_sets

# Significant digits of scores. Ranks and tests count twelve, so the page finds those of the report.
_SCORE_DIGITS = 15
# Significant digits of costs, which are only drawn and printed.
_COST_DIGITS = 3
# The page should contain at most this many values of curves (five bytes each). A curve therefore has fewer
# points the more curves there are, between `_FEWEST_POINTS` and `_MOST_POINTS`.
_MOST_NUMBERS = 50_000
_FEWEST_POINTS, _MOST_POINTS = 8, 60

# Costs that the page's script shows: column of the cells table, label, and factor to the label's unit.
_COSTS = (("fit_seconds", "milliseconds of learning", 1000.0), ("model_bytes", "kB of the model", 0.001))
_CURVES = ("mistakes_clean", *LATEST_ERRORS, "test_accuracy")


def numbers(view: StudyView) -> dict[str, Any]:
    """Return the numbers of a study that the page's script reads, as values for JSON.

    Algorithms, data sets and noise levels are referred to by their index in the study's order.
    """
    design = view.design
    groups = {name: group.name for group in task_groups(view.cells, design) for name in group.datasets}
    sources = {name: place for place, name in enumerate(dict.fromkeys(design.sources))}
    colors = {light: f"var(--s{place})" for place, (light, _) in enumerate(PALETTE)}
    described = data_sets(view)
    others = [series[0].metric for series in view.other_comparisons]
    return {
        "algorithms": design.algorithms,
        "styles": [[colors[style.colour], style.marker, style.dash] for style in view.styles.values()],
        "datasets": design.datasets,
        "groups": [groups[name] for name in design.datasets],
        "bases": [sources[name] for name in design.sources],
        "noise": [noise.label for noise in design.noise],
        "bound": {
            design.algorithms.index(name): [
                place for place, each in enumerate(design.datasets) if each in own
            ]
            for name, own in design.bound.items()
            if name in design.algorithms
        },
        "rankings": list(_rankings(view)),
        "metrics": [*(_scores(view, metric) for metric in (view.metric, *others)), *_costs(view)],
        "curves": _curves(view),
        "facts": {
            "header": described.header[1:],
            "rows": [[c.text for c in row[1:]] for row in described.rows],
        },
        **_winners(view),
    }


def _rankings(view: StudyView) -> Any:
    """Yield each ranking that the study defines: its title and the indices of algorithms and data sets."""
    for entry in view.results.study.get("rankings") or []:
        part = among(view.design, entry["algorithms"])
        if entry.get("datasets"):
            part = within(part, tasks_of(view.cells, part, entry["datasets"]))
        yield {
            "title": " ".join(entry["title"].split()),
            "a": sorted(view.design.algorithms.index(name) for name in part.algorithms),
            "d": [view.design.datasets.index(name) for name in part.datasets],
        }


def _rounded(values: NDArray[np.float64]) -> list[Any]:
    """Round values to integers and return them as nested lists, with None for NaN and infinity."""
    known = np.isfinite(values)
    whole = np.rint(np.where(known, values, 0)).astype(np.int64).astype(object)
    whole[~known] = None
    found: list[Any] = whole.tolist()
    return found


def _scores(view: StudyView, metric: Metric) -> dict[str, Any]:
    """Return a metric's means by noise, data set and algorithm; a mean without all repetitions is None."""
    tables = []
    for noise in view.design.noise:
        scores = view.averages.scores(metric, noise, view.design)
        tables.append(scores.mean.where(scores.complete).to_numpy(np.float64))
    return {
        "name": metric.name,
        "label": metric.label,
        "higher": metric.direction == "higher",
        "percent": metric.percent,
        "decimals": metric.decimals,
        "scientific": metric.scientific,
        "measured": [name in view.averages.measured(metric) for name in view.design.algorithms],
        "values": _all_short(tables, _SCORE_DIGITS),
    }


def _costs(view: StudyView) -> Any:
    """Yield the means of each cost in `_COSTS`, as nested lists by noise, data set and algorithm."""
    design, rows = view.design, view.finished
    index = pd.MultiIndex.from_product(
        [[noise.slug for noise in design.noise], design.datasets, design.algorithms]
    )
    shape = (len(design.noise), len(design.datasets), len(design.algorithms))
    groups = rows.groupby(["noise", "dataset", "algorithm"])
    for column, label, factor in _COSTS:
        if column in rows and rows[column].notna().any():
            means = factor * groups[column].mean().astype("float64").reindex(index).to_numpy().reshape(shape)
            # Round each cost to three significant digits. Integers with a common factor would make
            # small costs 0.
            values = _all_short(means, _COST_DIGITS)
            yield {"name": column, "label": label, "cost": True, "values": values}


def _all_short(means: Any, digits: int) -> list[Any]:
    """Round values by noise, data set and algorithm to significant digits; return them as nested lists."""
    return [[[_short(value, digits) for value in row] for row in table] for table in means]


def _short(value: Any, digits: int) -> float | str | None:
    """Round a value to significant digits, to an integer if it is one; return None for NaN.

    JSON has no infinity: the text becomes a number in the script.
    """
    short = float(f"{value:.{digits}g}")
    if not math.isfinite(short):
        return None if math.isnan(short) else "Infinity" if short > 0 else "-Infinity"
    return int(short) if short.is_integer() else short


def _curves(view: StudyView) -> dict[str, Any]:
    """Return the mean curves over seeds of every data set, noise level and algorithm."""
    design, curves = view.design, view.results.curves
    columns = [name for name in _CURVES if name in curves and curves[name].notna().any()]
    places = {
        "noise": {noise.slug: place for place, noise in enumerate(design.noise)},
        "dataset": {name: place for place, name in enumerate(design.datasets)},
        "algorithm": {name: place for place, name in enumerate(design.algorithms)},
    }
    rows = view.finished
    coded = pd.DataFrame({name: rows[name].map(codes) for name, codes in places.items()})
    coded = coded.assign(key=rows["key"], seeds=coded.groupby([*places])["noise"].transform("size"))
    joined = curves[["key", "t", *columns]].merge(coded, on="key")
    groups = joined.groupby([*places, "t"], sort=True)
    # Average only at points of the stream at which every seed has a value.
    whole = groups["key"].size() == groups["seeds"].first()
    means = groups[columns].mean()[whole].reset_index()
    budget = _MOST_NUMBERS // max(1, len(coded.drop_duplicates([*places])) * len(columns))
    points = min(max(budget, _FEWEST_POINTS), _MOST_POINTS)
    codes, times = means["dataset"].to_numpy(), means["t"].to_numpy()
    grids = [spaced(np.unique(times[codes == i]).tolist(), points) for i in range(len(design.datasets))]
    slots = [(dataset, t, slot) for dataset, grid in enumerate(grids) for slot, t in enumerate(grid)]
    kept_means = means.merge(pd.DataFrame(slots, columns=["dataset", "t", "slot"]), on=["dataset", "t"])
    where = tuple(kept_means[name].to_numpy(np.intp) for name in (*places, "slot"))
    shape = (*map(len, places.values()), points)
    quantities = []
    for column in columns:
        dense = np.full(shape, np.nan)
        dense[where] = kept_means[column].to_numpy(np.float64)
        quantities.append(_quantity(view, column, dense, grids))
    changes = {
        places["dataset"][name]: np.asarray(found).tolist()
        for name, found in zip(rows["dataset"], rows["changes"], strict=True)
        if isinstance(found, list | np.ndarray)
    }
    return {"t": grids, "quantities": quantities, "changes": changes}


def _quantity(
    view: StudyView, column: str, dense: NDArray[np.float64], grids: list[list[int]]
) -> dict[str, Any]:
    """Return one quantity of the curves for JSON; an algorithm without a curve has 0 instead of a list.

    `dense` has the values, in shape (noise levels, data sets, algorithms, points). `grids` has, per data set,
    the numbers of examples at its points; with fewer points than others it fills only the first places.
    """
    label, scale, zero = "mistakes (clean labels)", 1, True
    if column != "mistakes_clean":
        kind, error, *clean = column.split("_")
        labels = "clean labels" if clean else "given labels"
        label, scale, zero = f"{kind} {error} ({labels}), %", 10, False
        dense = 100 * dense
    if column == "test_accuracy":
        label, dense = "test error, %", 100 - dense
    there: Any = np.isfinite(dense).any(axis=3)
    values = [
        [
            [cell[: len(grid)] if known else 0 for cell, known in zip(row, some, strict=True)]
            for row, some, grid in zip(table, here, grids, strict=True)
        ]
        for table, here in zip(_rounded(scale * dense), there.tolist(), strict=True)
    ]
    window = view.results.study.get("window") if column.startswith("window") else None
    return {"label": label, "zero": zero, "scale": scale, "window": window, "values": values}


def _winners(view: StudyView) -> dict[str, Any]:
    """Return the winners of tuning grids by data set, noise and algorithm, as indices into `settings`."""
    design = view.design
    # Distinct winners of each grid: there may be several if every repetition tunes its own grid.
    texts: dict[tuple[int, int, int], dict[str, None]] = {}
    for tuned in view.results.tuning:
        names = (tuned.dataset in design.datasets, tuned.noise in design.noise)
        if not all(names) or tuned.algorithm not in design.algorithms or not tuned.winner:
            continue
        place = (
            design.datasets.index(tuned.dataset),
            design.noise.index(tuned.noise),
            design.algorithms.index(tuned.algorithm),
        )
        text = ", ".join(setting(name, tuned.winner[name]) for name in tuned.grid)
        texts.setdefault(place, {})[text] = None
    settings: dict[str, int] = {}
    winners: dict[int, list[list[int | None]]] = {}
    for (dataset, noise, algorithm), found in texts.items():
        own = winners.setdefault(dataset, [[None] * len(design.algorithms) for _ in design.noise])
        own[noise][algorithm] = settings.setdefault(" or ".join(found), len(settings))
    return {"settings": [*settings], "winners": winners}
