"""Build the opening of a report: what was run, who leads, what was compared, and cautions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from ....pipeline.analysis.design import evaluation_rows
from ....pipeline.analysis.progress import not_run
from ....pipeline.noise import noise_of
from ....pipeline.scoring import BASELINES
from ..page.blocks import Block, Facts, Listing, Text
from ..page.view import StudyView, is_error
from ..words import wording
from ..words.wording import count, enumerate_names

# A class with a smaller share of the rows is rare: an algorithm can ignore it and still have a low error.
_RARE = 0.05
# Ties of scores are reported if they are at least this share of the rows. Every stream begins with a few
# ties, because scores are 0 at first.
_MANY_TIES = 0.01
_NAMED = 3


def notes(view: StudyView) -> list[str]:
    """Return sentences that warn of misleading metrics, for example on rare classes or tied scores."""
    rows = _by_data_set(view, view.finished)
    # Leave out baselines: they ignore features on purpose, so the warnings do not apply to them.
    rows = rows[~rows["learner"].isin(BASELINES)]
    rows = rows[[np.ndim(counts) == 1 for counts in rows["occurred_clean"]]]
    if not len(rows):
        return []
    return [
        *_labels_too_late(view, rows),
        *_unlearned_classes(view, rows),
        *_rare_classes(view, rows),
        *_below_the_majority(rows),
        *_ties(rows),
    ]


def _by_data_set(view: StudyView, cells: pd.DataFrame) -> pd.DataFrame:
    """Sort cells by data set, in the study's order, in which sentences name the data sets."""
    places = {name: place for place, name in enumerate(view.design.datasets)}
    return cells.sort_values("dataset", key=lambda names: names.map(places), kind="stable")


def _labels_too_late(view: StudyView, rows: pd.DataFrame) -> Iterator[str]:
    """Warn of streams, and of grids, whose predictions use no label, because labels are delayed."""
    study = view.results.study
    delay = study.get("delay", 0)
    # As in `Study.late`. The label of the first row is learned after this row, counted from 0.
    late = delay - (study.get("label_due") == "before")
    if not late:
        return
    # Delay counts from the first row of the stream, including rows that only serve to choose parameters.
    length = rows["n_examples"].astype(int) + rows["counted_from"].fillna(0).astype(int)
    ended = rows.loc[length <= late + 1, "dataset"].unique().tolist()
    if ended:
        yield f"No prediction along the stream of {few(ended)} uses a label (delay = {delay})."
    tuning = _by_data_set(view, view.cells)
    online = (tuning["stage"] == "tune") & (tuning["status"] == "ok") & tuning["validation_mistakes"].isna()
    judged = tuning[online & (tuning["n_examples"] <= late + 1) & ~tuning["dataset"].isin(ended)]
    if len(judged):
        yield (
            f"Grids on {few(judged['dataset'].unique().tolist())} are judged on rows that are predicted "
            f"before any label comes (delay = {delay}), so their winners say nothing: set a smaller delay, "
            "or a larger tune_fraction (max_tune if rows are shuffled)."
        )


def _unlearned_classes(view: StudyView, rows: pd.DataFrame) -> Iterator[str]:
    """Warn of data sets with a class that is tested but that no learned row has, because rows are limited."""
    study = view.results.study
    own = {entry["label"]: entry.get("max_examples") for entry in study.get("datasets", [])}
    # Rows before the counted ones may have the class.
    counted = rows[rows["counted_from"].isna()].reindex(
        columns=["dataset", "parent", "drawn", "n_examples", "occurred_clean", "test_occurred"]
    )
    found, remedies = dict[str, None](), dict[str, None]()
    for dataset, parent, drawn, n, learned, tested in counted.itertuples(index=False):
        if np.shape(tested) == np.shape(learned) and np.any(
            (np.asarray(tested) > 0) & (np.asarray(learned) == 0)
        ):
            found[dataset] = None
            limits = {
                "max_train": study.get("max_train"),
                "max_examples": own.get(parent) or study.get("max_examples"),
            }
            # A generator draws n_train rows, if no limit keeps fewer.
            given = ["n_train"] if pd.notna(drawn) and drawn else []
            remedies |= dict.fromkeys([key for key, limit in limits.items() if limit == n] or given)
    if found:
        remedy = f": set a larger {' or '.join(remedies)}" if remedies else ""
        yield (
            f"In the test part of {few(list(found))} there are classes without a learned row, which a model "
            f"cannot predict{remedy}."
        )


def _rare_classes(view: StudyView, rows: pd.DataFrame) -> Iterator[str]:
    """Warn of rare classes if algorithms are ranked by error or accuracy, which hardly reflect them."""
    by_error = is_error(view.metric) or view.metric.name in ("mistakes", "mistakes_clean")
    found = []
    for dataset, lists in rows.groupby("dataset")["occurred_clean"] if by_error else ():
        counts = np.sum(lists.tolist(), axis=0)
        share = float(counts.min() / counts.sum())
        # The limit is lower if there are many classes, so that none of equally frequent classes is rare.
        if share < min(_RARE, 0.5 / len(counts)):
            found.append((share, dataset))
    if found:
        named = [f"{dataset} ({100 * share:.2g}%)" for share, dataset in sorted(found)[:_NAMED]]
        more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
        yield (
            f"The rarest class has less than {100 * _RARE:.0f}% of the rows in "
            f"{count(len(found), 'data set')}: {', '.join(named)}{more}. The error, which ranks the "
            "algorithms, hardly depends on this class: rank by balanced accuracy, F1 or AUC (metrics)."
        )


def _below_the_majority(rows: pd.DataFrame) -> Iterator[str]:
    """Name the algorithms that are right less often than a constant prediction of the most frequent class."""
    accuracies, majorities = [], []
    columns = [
        "occurred_clean",
        "right_clean",
        "mistakes_clean",
        "n_examples",
        "test_occurred",
        "test_accuracy",
    ]
    # Cells of a study without metrics of predictions may lack the column `right_clean`.
    values = rows.reindex(columns=columns).itertuples(index=False)
    for occurred, right, mistakes, n, tested, accuracy in values:
        most = int(np.argmax(occurred))
        if np.ndim(tested) == 1 and np.sum(tested):
            accuracies.append(accuracy)
            majorities.append(tested[most] / np.sum(tested))
        else:
            # Without metrics of predictions, only the counts are stored in which ties are mistakes.
            share = 1 - mistakes / n if n and not pd.isna(mistakes) else np.nan
            accuracies.append(np.sum(right) / np.sum(occurred) if np.ndim(right) == 1 else share)
            majorities.append(occurred[most] / np.sum(occurred))
    frame = rows[["dataset", "noise", "algorithm"]].assign(own=accuracies, constant=majorities)
    frame = frame.astype({"own": "float64", "constant": "float64"}).dropna(subset=["own"])
    means = frame.groupby(["algorithm", "dataset", "noise"], sort=False).mean()
    # Twelve digits keep every difference of two shares and drop rounding errors.
    means["gap"] = (means["constant"] - means["own"]).round(12)
    below = means[means["gap"] > 0].sort_values("gap", ascending=False)
    if not len(below):
        return
    (algorithm, dataset, noise), worst = below.index[0], below.iloc[0]
    names = list(dict.fromkeys(name for name, _, _ in below.index))
    yield (
        f"Below the most frequent class: {few(names)} {'is' if len(names) == 1 else 'are'} less often right "
        f"than a constant prediction of it in {len(below)} of {len(means)} cases (a case is an algorithm on "
        f"a data set at a noise level), most of all {algorithm} on {dataset}, {noise_of(noise).label}: "
        f"{100 * worst['own']:.1f}% against {100 * worst['constant']:.1f}%."
    )


def few(names: Sequence[str]) -> str:
    """Join names; of a long list, name only the first few and count the others."""
    if len(names) <= _NAMED + 1:
        return enumerate_names(names)
    return f"{', '.join(names[:_NAMED])} and {len(names) - _NAMED} others"


def _ties(rows: pd.DataFrame) -> Iterator[str]:
    """Report frequent exact ties of scores: the largest share, with its algorithm and data set."""
    found = []
    columns = (("ties", "n_examples", "the stream"), ("test_ties", "test_examples", "the test part"))
    for ties, of, where in columns:
        shares = rows[ties].astype("float64") / rows[of].astype("float64")
        means = shares.groupby([rows["algorithm"], rows["dataset"]], sort=False).mean().dropna()
        if len(means) and means.max() >= _MANY_TIES:
            algorithm, dataset = means.index[int(means.to_numpy().argmax())]
            found.append(f"{100 * means.max():.1f}% of {where} for {algorithm} on {dataset}")
    if found:
        yield (
            "Exact ties (a score of 0; with many classes, the right one and another share the largest "
            f"score): up to {enumerate_names(found)}. Along the stream a tie counts as a mistake, as in the "
            "papers. A predicted class, also on test data, is the first of those that tie. Rows without "
            "features tie (with bias = true in the data set every row has one), and so do rows before the "
            "first label."
        )


# Maximum number of groups of cells not yet run that the report names.
_MOST_PARTS = 4
_PROTOCOLS = {
    "holdout": "Protocol: holdout. The training part is streamed once, each example predicted before it is "
    "learned; accuracy is then measured on clean test labels.",
    "prequential": "Protocol: prequential. Each example of the stream is predicted before it is learned for "
    "the first time; there is no test part.",
    "crossval": "Protocol: cross-validation. Every seed is a fold, streamed once and tested on clean labels.",
}

_SCALED = {
    "all": "Features of {} are scaled by the mean and spread of the whole training part",
    "learnt": "Features of {} are scaled by the mean and spread of all rows that are learned",
    "gaps by all": "Missing values of {}, if any, are filled with means of the whole training part",
    "gaps by learnt": "Missing values of {}, if any, are filled with means of all rows that are learned",
}


def opening(view: StudyView) -> list[Block]:
    """Return the blocks at the head of a report: protocol, who leads, key figures and cautions."""
    study, design = view.results.study, view.design
    blocks: list[Block] = [
        Text(" ".join([_protocols(study), *_courses(view), *_looks_ahead(view)]), "soft"),
        Text(wording.headline(view.comparisons), "lead"),
        Facts(wording.facts(design, view.coverage)),
    ]
    if description := study.get("description"):
        blocks.insert(0, Text(description, "soft"))
    cautions = wording.cautions(design, view.coverage, view.comparisons, _waiting(view)) + notes(view)
    cautions += [f"{label}: {text}." for label, text in view.results.provenance.get("scales", {}).items()]
    unknown = [each.label for each in view.asked if not view.averages.measured(each)]
    if unknown and len(view.finished):
        cautions.append(f"Requested, but without a value in any cell: {enumerate_names(unknown)}.")
    if cautions:
        blocks.append(Listing([("", text) for text in cautions], warning=True))
    return blocks


def _waiting(view: StudyView) -> str:
    """Describe the cells that have not run yet; successive seeds that lack the same cells share an entry."""
    if not view.coverage.missing:
        return ""
    design, begun = view.design, set(evaluation_rows(view.cells)["parent"])
    lacking = not_run(view.cells, design)
    # A comparison also lacks the failed and stopped cells that it left out, and cannot tell them apart.
    if sum(lack.cells for lack in lacking) > view.coverage.missing:
        return ""
    parts = []
    for lack in lacking:
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


def _courses(view: StudyView) -> Iterator[str]:
    """Describe the order of rows, uncounted rows, batches and label delay, if they are not the default."""
    study, cells = view.results.study, _by_data_set(view, view.cells)
    blocks = cells[cells["order"] == "blocks"]
    if len(blocks):
        names = list(dict.fromkeys(blocks["parent"]))
        yield f"Rows of {', '.join(names)} come in blocks in random order, shuffled within windows of blocks."
    given = cells[cells["order"] == "given"]
    if len(given):
        names = list(dict.fromkeys(given["parent"]))
        whose = "" if given["dataset"].nunique() == cells["dataset"].nunique() else f" of {', '.join(names)}"
        yield f"Rows{whose} are read in the order of their source, not shuffled."
        tuned = list(dict.fromkeys(given["parent"][given["counted_from"].notna()]))
        if tuned:
            share = 100 * float(study.get("tune_fraction", 0.1))
            on = "" if len(tuned) == len(names) else f" on {few(tuned)}"
            yield (
                f"Winners of grids{on} are chosen on the first {share:g}% of such a stream. All algorithms "
                "learn these rows, but results are counted only after them."
            )
        if len(view.design.seeds) > 1 and given["repetitions"].notna().any():
            once = few(list(dict.fromkeys(given["parent"][given["repetitions"].notna()])))
            yield f"Without noise, seeds change nothing in {once}, so one repetition runs there."
    for entry in study.get("algorithms", []):
        if size := entry.get("batch"):
            sizes = ", ".join(map(str, size)) if isinstance(size, list) else str(size)
            yield f"{entry.get('label')} predicts {sizes} examples at a time, then learns them."
    if repeated := [str(each.get("label")) for each in study.get("algorithms", []) if _learns_again(each)]:
        yield (
            f"{few(repeated)} {'learns' if len(repeated) == 1 else 'learn'} the same examples again in "
            "later passes (epochs): results along the stream are those of the first pass, but updates are "
            "counted in all of them."
        )
    if delay := study.get("delay"):
        due = ", just before that later example is predicted" if study.get("label_due") == "before" else ""
        yield f"The label of an example comes {count(delay, 'example')} later{due}."


def _learns_again(algorithm: Mapping[str, Any]) -> bool:
    """Return whether an algorithm of a study makes, or tries, more than one pass."""
    return any(isinstance(n, int) and n > 1 for n in np.ravel(algorithm.get("epochs") or 1).tolist())


def _looks_ahead(view: StudyView) -> list[str]:
    """Warn if rows are scaled with later rows, or if test rows are older than training rows."""
    cells, texts = _by_data_set(view, view.cells), []
    filled = {entry["label"] for entry in view.results.study.get("datasets", []) if _is_only_filled(entry)}
    # Earlier versions wrote "all" and "learnt" also if only gaps are filled.
    renamed = cells["scaling"].replace({"all": "gaps by all", "learnt": "gaps by learnt"})
    scaling = cells["scaling"].mask(cells["parent"].isin(filled), renamed)
    for kind, said in _SCALED.items():
        if names := list(dict.fromkeys(cells.loc[scaling == kind, "parent"])):
            texts.append(f"{said.format(few(names))}, so the first rows depend on later ones.")
    if texts:
        texts.append('(standardize = "online" scales each row, and fills it, by those before it.)')
    cut = (cells["protocol"] == "crossval") | cells["own_test"].eq(False)
    if names := list(dict.fromkeys(cells.loc[cut & (cells["order"] != "given"), "parent"])):
        texts.append(
            f"Test rows of {few(names)} are drawn from all rows: if rows are ordered in time, some test rows "
            "are older than rows that were learned."
        )
    return texts


def _is_only_filled(entry: Mapping[str, Any]) -> bool:
    """Return whether gaps of a study's data set are filled without standardizing its features."""
    parts = entry.get("compose") or [entry]
    # False for compositions with a named set: some of these are standardized by default.
    files = all(part.get("path") for part in entry.get("compose") or ())
    gaps = any(part.get("missing", "error") != "error" for part in parts)
    return files and gaps and not entry.get("standardize")


def _protocols(study: Mapping[str, Any]) -> str:
    """Describe the protocol of the study (such as holdout), or of each data set if they differ."""
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
