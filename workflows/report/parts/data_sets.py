"""Describe the data sets of a study in a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ....pipeline.analysis.design import evaluation_rows
from ..page.table import TableBlock, tabulate
from ..page.view import StudyView
from ..words.wording import setting

# For a data set with more classes the table prints only the smallest and the largest share of a class.
_MOST_CLASSES = 4
_NOTE = (
    "Examples: of the stream, without those only used for tuning. Class shares, and the error of always "
    "predicting the most frequent class: of the test part, or of the stream if there is none, at the first "
    "seed."
)


def data_sets(view: StudyView) -> TableBlock:
    """Return a table of the data sets: sizes, class shares, points of change, parameters that they set."""
    frame = _facts(view).dropna(axis="columns", how="all")
    writers: dict[str, Callable[[Any], str]] = {
        "class shares, %": str,
        "majority's error, %": "{:.1f}".format,
        "changes after": str,
        "parameters": str,
    }
    return tabulate(
        frame,
        "data-sets",
        "Data sets",
        write=[writers.get(str(name), "{:,.0f}".format) for name in frame.columns[1:]],
        show="long",
        note=_NOTE,
    )


def _facts(view: StudyView) -> pd.DataFrame:
    """Return the values of the data sets table, one row per data set; missing values are NaN or None."""
    rows = evaluation_rows(view.cells, status="ok").sort_values("seed").drop_duplicates("dataset")
    found = rows.set_index("dataset").reindex(view.design.datasets)
    # Several entries may have one label, with different tasks.
    entries: dict[str, list[str]] = {}
    for entry in view.results.study.get("datasets", []):
        if (text := _settings(entry.get("parameters") or {})) not in ("", *entries.get(entry["label"], [])):
            entries.setdefault(entry["label"], []).append(text)
    counts = [
        _counts(test) if len(_counts(test)) else _counts(stream)
        for test, stream in zip(found["test_occurred"], found["occurred_clean"], strict=True)
    ]
    return pd.DataFrame(
        {
            "data set": view.design.datasets,
            "examples": found["n_examples"].tolist(),
            "test examples": found["test_examples"].tolist(),
            "features": found["n_features"].tolist(),
            "class shares, %": [_shares(each) for each in counts],
            "majority's error, %": [
                100 * (each.sum() - each.max()) / each.sum() if each.sum() else None for each in counts
            ],
            "changes after": [
                ", ".join(f"{at:,}" for at in _counts(each)) or None for each in found["changes"]
            ],
            "parameters": [" or ".join(entries.get(parent, [])) or None for parent in found["parent"]],
        }
    )


def _settings(parameters: Mapping[str, Any]) -> str:
    """Write the parameters that a data set sets; those of a single algorithm follow its label."""
    return "; ".join(
        f"{name}: {_settings(value)}"
        if isinstance(value, Mapping)
        else setting(name, ", ".join(map(str, value)) if isinstance(value, list) else value)
        for name, value in parameters.items()
    )


def _counts(value: Any) -> Any:
    """Return a list of numbers from the cells table as an array; a missing list gives an empty array."""
    return np.asarray(value if isinstance(value, Sequence | np.ndarray) else [], dtype=np.int64)


def _shares(counts: Any) -> str | None:
    if not counts.sum():
        return None
    shares = 100 * counts / counts.sum()
    if len(shares) > _MOST_CLASSES:
        return f"{len(shares)} classes, {shares.min():.1f} to {shares.max():.1f}"
    return " / ".join(f"{share:.1f}" for share in shares)
