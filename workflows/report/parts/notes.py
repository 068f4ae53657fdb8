"""What figures hide: labels that never come, rare classes, learners worse than a constant, exact ties."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from ....pipeline.noise import noise_of
from ....pipeline.scoring import BASELINES, SCORINGS
from ..page.view import StudyView
from ..words.phrases import count, enumerate_names

# A class of so small a share can be left out altogether, and the error is as good as any.
_RARE = 0.05
# The first rows of every stream tie; a hundredth of the rows is more than these, and moves figures.
_MANY_TIES = 0.01
_NAMED = 3
_ERRORS = frozenset({"test_accuracy", "clean_error", "online_error", "mistakes", "mistakes_clean"})


def notes(view: StudyView) -> list[str]:
    """Return what a reader should know of the metrics before trusting them.

    Parameters
    ----------
    view : StudyView

    Returns
    -------
    list of str
        Whole sentences; empty when there is nothing to say.
    """
    rows = view.finished
    # Of what looks at labels only it is known, and meant.
    rows = rows[~rows["learner"].isin(BASELINES)]
    rows = rows[[np.ndim(counts) == 1 for counts in rows["occurred_clean"]]]
    if not len(rows):
        return []
    return [
        *_labels_too_late(view, rows),
        *_rare_classes(view, rows),
        *_below_the_majority(rows),
        *_ties(rows),
    ]


def _labels_too_late(view: StudyView, rows: pd.DataFrame) -> list[str]:
    """Name the streams that end before a label has come."""
    delay = view.results.study.get("delay", 0)
    # Labels are late from the first row on, also of rows that only judge a grid.
    length = rows["n_examples"].astype(int) + rows["counted_from"].fillna(0).astype(int)
    ended = rows.loc[length <= delay, "dataset"].unique().tolist()
    if not ended:
        return []
    names = few(ended)
    return [f"No label comes before the end of {names} (delay = {delay}): nothing is learnt until then."]


def _rare_classes(view: StudyView, rows: pd.DataFrame) -> list[str]:
    """Say that the error hardly notices rare classes, where it ranks."""
    name = view.metric.name
    by_error = name in _ERRORS or (name in SCORINGS and SCORINGS[name].measure in ("error", "accuracy"))
    found = []
    for dataset in view.design.datasets if by_error else ():
        lists = rows.loc[rows["dataset"] == dataset, "occurred_clean"].tolist()
        if lists:
            counts = np.sum(lists, axis=0)
            share = float(counts.min() / counts.sum())
            # Of many classes that are all alike none is rare.
            if share < min(_RARE, 0.5 / len(counts)):
                found.append((share, dataset))
    if not found:
        return []
    named = [f"{dataset} ({100 * share:.2g}%)" for share, dataset in sorted(found)[:_NAMED]]
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return [
        f"The rarest class has less than {100 * _RARE:.0f}% of the rows in "
        f"{count(len(found), 'data set')}: {', '.join(named)}{more}. The error, by which algorithms are "
        "ranked, hardly tells whether it is found at all: rank by balanced accuracy, F1 or AUC (metrics)."
    ]


def _below_the_majority(rows: pd.DataFrame) -> list[str]:
    """Name what is less often right than the most frequent class of the stream alone."""
    accuracies, majorities = [], []
    columns = ("occurred_clean", "test_occurred", "test_accuracy", "mistakes_clean", "n_examples")
    for occurred, tested, accuracy, mistakes, n in zip(*(rows[name] for name in columns), strict=True):
        most = int(np.argmax(occurred))
        if np.ndim(tested) == 1 and np.sum(tested):
            accuracies.append(accuracy)
            majorities.append(tested[most] / np.sum(tested))
        else:
            accuracies.append(1 - mistakes / n if n and not pd.isna(mistakes) else np.nan)
            majorities.append(occurred[most] / np.sum(occurred))
    frame = rows[["dataset", "noise", "algorithm"]].assign(own=accuracies, constant=majorities)
    frame = frame.astype({"own": "float64", "constant": "float64"}).dropna(subset=["own"])
    means = frame.groupby(["algorithm", "dataset", "noise"], sort=False).mean()
    below = means[means["own"] < means["constant"]]
    if not len(below):
        return []
    below = below.assign(gap=below["constant"] - below["own"]).sort_values("gap", ascending=False)
    (algorithm, dataset, noise), worst = below.index[0], below.iloc[0]
    names = list(dict.fromkeys(name for name, _, _ in below.index))
    return [
        f"Below the most frequent class: {few(names)} {'is' if len(names) == 1 else 'are'} less often right "
        f"than a constant prediction of it in {len(below)} of {len(means)} cases (a case is an algorithm on "
        f"a data set at a noise level), most of all {algorithm} on {dataset}, {noise_of(noise).label}: "
        f"{100 * worst['own']:.1f}% against {100 * worst['constant']:.1f}%."
    ]


def few(names: Sequence[str]) -> str:
    """Name some, and count the others if they are many."""
    if len(names) <= _NAMED + 1:
        return enumerate_names(names)
    return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} others"


def _ties(rows: pd.DataFrame) -> list[str]:
    """Say where scores decide nothing."""
    found = []
    for ties, of, where in (
        ("ties", "n_examples", "the stream"),
        ("test_ties", "test_examples", "the test part"),
    ):
        shares = rows[ties].astype("float64") / rows[of].astype("float64")
        means = shares.groupby([rows["algorithm"], rows["dataset"]], sort=False).mean().dropna()
        if len(means) and means.max() >= _MANY_TIES:
            algorithm, dataset = means.index[int(means.to_numpy().argmax())]
            found.append(f"{100 * means.max():.1f}% of {where} for {algorithm} on {dataset}")
    if not found:
        return []
    return [
        f"Exact ties (a score of 0; of many classes the right one's equal to the largest other): up to "
        f"{enumerate_names(found)}. Along the stream a tie is counted as a mistake, as the papers count; "
        "where a class is predicted, also on test data, it is the first one. Rows without a feature tie "
        "(bias = true of a data set gives every row one), and so do those before the first label has come."
    ]
