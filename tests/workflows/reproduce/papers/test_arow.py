"""Test the AROW paper's page: all claims hold on results as the paper describes, none on opposite ones."""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pandas as pd
import pytest

from singlepass.pipeline.analysis.study_results import StudyResults
from singlepass.pipeline.data.catalogue.public import CATALOGUE
from singlepass.workflows.reproduce import printed
from singlepass.workflows.reproduce.evidence import Evidence, StudyEvidence
from singlepass.workflows.reproduce.page import CLAIMS_FILE, write_page
from singlepass.workflows.reproduce.papers.arow import PAPER
from singlepass.workflows.reproduce.papers.arow.exhibits import RATES
from singlepass.workflows.reproduce.verdicts import Outcome, Verdict

from ...synthetic_results import make_results
from ..made_results import verdicts_on

pytestmark = pytest.mark.slow

# Maps a row of the cells table to its accuracy.
Accuracy = Callable[["pd.Series[object]"], float]

_TEXT = [f"amazon[{i}-vs-x]" for i in range(9)] + ["amazon-acl[a-vs-b]"]
_DIGITS = [f"mnist[{i}-vs-x]" for i in range(10)]
# Text and digits alternate, so that a claim about all tasks holds for either kind.
_BINARY = tuple(name for pair in zip(_TEXT, _DIGITS, strict=True) for name in pair)
_BINARY_NOISE = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3)
# Number of the twenty tasks on which PA is ahead of CW, by noise.
_OVERTAKEN = dict(zip(_BINARY_NOISE, (0, 2, 5, 8, 10, 16), strict=True))
_MULTICLASS = ("amazon7", "amazon3", "20newsgroups", "reuters21578-r8", "usps", "letter", "waveform")
_ALGORITHMS = (
    *(f"{name} {constraints}" for name in ("AROW", "AROW-H") for constraints in (1, 5, "all")),
    *("Perceptron", "PA", "PA-I", "CW", "AdaGrad"),
)
# Mistakes per example and test errors along the synthetic stream.
_STREAM = {
    "Perceptron": (0.40, 0.15),
    "PA": (0.30, 0.14),
    "PA-I": (0.31, 0.14),
    "SOP full": (0.35, 0.16),
    "SOP diagonal": (0.36, 0.16),
    "CW full": (0.25, 0.20),
    "CW diagonal": (0.20, 0.18),
    "CW stdev full": (0.26, 0.21),
    "CW stdev diagonal": (0.21, 0.19),
    "AROW full": (0.05, 0.02),
    "AROW diagonal": (0.10, 0.03),
}
_MNIST = {"AROW": (100, 150), "CW": (110, 300), "PA": (120, 310), "PA-I": (115, 305), "SOP": (130, 320)}


def _binary_accuracy(cell: pd.Series[object]) -> float:
    """Return accuracies where AROW and CW share first place without noise; with it CW is behind PA."""
    q, place = float(str(cell["noise"])), _BINARY.index(str(cell["dataset"]))
    pa = {"PA-I": "PA"}
    order = ["AROW", "CW", "PA", "SOP"]
    # The same shares of text and of digits.
    place //= 2
    if q == 0 and place >= 6:
        order = ["CW", "AROW", "PA", "SOP"]
    if place < _OVERTAKEN[q] / 2:
        order = ["AROW", "PA", "CW", "SOP"]
    name = str(cell["algorithm"])
    return 0.95 - 0.3 * q - (0.1 * q or 0.002) * order.index(pa.get(name, name))


def _multiclass_accuracy(cell: pd.Series[object]) -> float:
    """Return accuracies around the baselines' mean; AROW gains more on easy tasks and with noise."""
    q, name = float(str(cell["noise"])), str(cell["algorithm"])
    mean = 0.05 * (1 + _MULTICLASS.index(str(cell["dataset"]))) + 0.6 * q
    factors = {"CW": 0.9 + 0.1 * q, "Perceptron": 1.1 + 0.1 * q, "PA": 1 - 0.2 * q, "PA-I": 1 - 0.2 * q}
    factors["AdaGrad"] = 1.1 * factors["Perceptron"]
    return 1 - mean * factors.get(name, 1 - (0.2 + 0.6 * q) * (1 - mean))


def _with_accuracy(results: StudyResults, accuracy: Accuracy) -> StudyResults:
    return replace(results, cells=results.cells.assign(test_accuracy=results.cells.apply(accuracy, axis=1)))


def _binary(upside_down: bool) -> StudyEvidence:
    results = make_results(
        datasets=_BINARY,
        algorithms=("AROW", "CW", "PA", "PA-I", "SOP"),
        noise=_BINARY_NOISE,
        seeds=2,
        tuned=(),
    )

    def accuracy(cell: pd.Series[object]) -> float:
        found = _binary_accuracy(cell)
        return 1 - found + 0.05 * (cell["algorithm"] == "CW") if upside_down else found

    return StudyEvidence("arow-binary", _with_accuracy(results, accuracy))


def _multiclass(upside_down: bool) -> StudyEvidence:
    rates = tuple(RATES.values())
    results = make_results(datasets=_MULTICLASS, algorithms=_ALGORITHMS, noise=rates, seeds=2, tuned=())

    def accuracy(cell: pd.Series[object]) -> float:
        found = _multiclass_accuracy(cell)
        return 1 - found - 0.05 * (cell["algorithm"] == "AROW 5") if upside_down else found

    results = _with_accuracy(results, accuracy)
    costs = {"AROW 1": (5, 0.005), "AROW 5": (3, 0.006), "AROW all": (2, 0.008)}
    if upside_down:
        costs |= {"AROW 1": costs["AROW all"], "AROW all": costs["AROW 1"]}
    cells = results.cells
    passes, seconds = ([costs.get(name, (1, 0.001))[i] for name in cells["algorithm"]] for i in (0, 1))
    cells = cells.assign(params=[f'{{"epochs": {n}}}' for n in passes], fit_seconds=seconds)
    return StudyEvidence("arow-multiclass", replace(results, cells=cells))


def _synthetic(upside_down: bool) -> StudyEvidence:
    results = make_results(
        datasets=("arow-synthetic",), algorithms=tuple(_STREAM), noise=(0.1,), seeds=4, tuned=()
    )

    def accuracy(cell: pd.Series[object]) -> float:
        name, seed = str(cell["algorithm"]), int(str(cell["seed"]))
        steady = name.startswith("AROW") != upside_down
        error = _STREAM[name][1] + seed * (0.001 if steady else 0.01)
        return error if upside_down else 1 - error

    results = _with_accuracy(results, accuracy)
    rates = results.cells.set_index("key")["algorithm"].map(
        {name: rate for name, (rate, _) in _STREAM.items()}
    )
    own = results.curves["key"].map(rates)
    t = 5 * results.curves["t"]
    mistakes = (1 - own) * (6000 - t) if upside_down else own * t
    return StudyEvidence(
        "arow-synthetic", replace(results, curves=results.curves.assign(t=t, mistakes_clean=mistakes))
    )


def _mnist(upside_down: bool) -> StudyEvidence:
    results = make_results(
        datasets=("mnist[3-vs-5]",),
        algorithms=tuple(_MNIST),
        noise=(0.0, 0.1),
        seeds=2,
        protocol="prequential",
        tuned=(),
    )
    cells = results.cells
    mistakes = [
        _MNIST[name][(q == "0.1") != upside_down]
        for name, q in zip(cells["algorithm"], cells["noise"], strict=True)
    ]
    return StudyEvidence("arow-mnist", replace(results, cells=cells.assign(mistakes_clean=mistakes)))


def _variants(upside_down: bool) -> StudyEvidence:
    results = make_results(
        datasets=("amazon[a-vs-b]", "amazon[a-vs-c]"),
        algorithms=("AROW", "AROW precision", "CW", "CW precision"),
        noise=(0.0,),
        seeds=2,
        tuned=(),
    )
    return StudyEvidence(
        "arow-text-variants",
        _with_accuracy(
            results, lambda cell: 0.9 - 0.05 * (upside_down and "precision" in str(cell["algorithm"]))
        ),
    )


def _world(*, upside_down: bool) -> Evidence:
    synthetic = _synthetic(upside_down)
    return Evidence(
        {
            "binary": _binary(upside_down),
            "multiclass": _multiclass(upside_down),
            "synthetic": synthetic,
            "synthetic-batch": synthetic,
            "mnist": _mnist(upside_down),
            "variants": _variants(upside_down),
        }
    )


_verdicts = partial(verdicts_on, PAPER)


def _with(evidence: Evidence, **studies: StudyResults) -> Evidence:
    """Return evidence in which some studies have other results."""
    changed = {name: StudyEvidence(name, results) for name, results in studies.items()}
    return Evidence({name: changed.get(name, evidence[name]) for name in PAPER.studies})


def _altered(evidence: Evidence, study: str, which: str, accuracy: float) -> Evidence:
    """Return evidence in which the cells of a study that the query `which` selects have this accuracy."""
    results = evidence[study].view.results
    cells = results.cells.copy()
    cells.loc[cells.query(which).index, "test_accuracy"] = accuracy
    return _with(evidence, **{study: replace(results, cells=cells)})


@pytest.fixture(scope="module")
def as_printed() -> Evidence:
    return _world(upside_down=False)


def test_every_claim_holds_where_the_results_are_as_the_paper_says(as_printed: Evidence) -> None:
    found = _verdicts(as_printed)
    assert len(found) == 36
    # The paper only says that more rounds may be needed.
    others = {name for name, each in found.items() if each.outcome is not Outcome.HOLDS}
    assert others == {"arow-30"}


def test_no_claim_holds_where_they_are_the_opposite() -> None:
    found = _verdicts(_world(upside_down=True))
    unmoved = {"holds", "cannot be decided"}
    assert {name for name, each in found.items() if each.outcome.value in unmoved} == {"arow-30"}


def test_what_is_said_of_pa_is_asked_of_both(as_printed: Evidence) -> None:
    # PA-I, tuned, beats AROW on noisy labels.
    changed = _altered(as_printed, "binary", "algorithm == 'PA-I' and noise != '0'", 0.99)
    verdict = PAPER.checks["arow-4"](changed)
    assert verdict.outcome.partly
    assert verdict.figures.endswith("not for PA-I (text), PA-I (digits), PA-I (the paper's mix)")


def test_a_lead_of_a_fifth_of_a_rank_does_not_count(as_printed: Evidence) -> None:
    # Then the mean ranks of CW and PA-I on digits are 2.0 and 2.2.
    few = f"noise == '0' and dataset in {_DIGITS[:4]} and algorithm == 'PA-I'"
    found = _verdicts(_altered(as_printed, "binary", few, 0.999), "arow-3", "arow-34")
    for each in found.values():
        assert "CW 2.00, SOP 4.00, PA-I 2.20" in each.figures
        assert each.figures.endswith("; not for PA-I (digits)")


def test_binary_claims_are_asked_at_the_papers_mix_of_tasks(as_printed: Evidence) -> None:
    # AROW is ahead on all digits, which are half of the tasks here and three quarters of the paper's.
    ahead = f"noise == '0' and dataset in {_DIGITS} and algorithm == 'AROW'"
    found = _verdicts(_altered(as_printed, "binary", ahead, 0.999), "arow-2")
    assert found["arow-2"].outcome.partly
    assert "6 and 4 of 10 tasks of text, 10 and 0 of 10 tasks of digits" in found["arow-2"].figures
    assert "on 118.0, 12.0 (90.8%; " in found["arow-2"].figures
    # With text alone CW falls back only at 30%.
    few = f"dataset in {_TEXT} and noise == '0.1' and algorithm == 'CW'"
    found = _verdicts(_altered(as_printed, "binary", few, 0.999), "arow-9")
    assert found["arow-9"].outcome.partly
    assert "not for" in found["arow-9"].figures
    # PA-I leads on digits at one rate: not over all tasks, but at the paper's mix.
    pa = "noise == '0.05' and algorithm == 'PA-I'"
    changed = _altered(as_printed, "binary", f"{pa} and dataset in {_DIGITS}", 0.999)
    changed = _altered(changed, "binary", f"{pa} and dataset in {_TEXT}", 0.1)
    verdict = _verdicts(changed, "arow-4")["arow-4"]
    assert verdict.outcome.partly
    assert verdict.figures.endswith("not for PA-I (digits), PA-I (the paper's mix)")


def test_the_early_advantage_is_that_over_the_next_best(as_printed: Evidence) -> None:
    results = as_printed["synthetic"].view.results
    curves = results.curves.copy()
    # Up to 1,000 examples full SOP is nearly as good as full AROW.
    sop = curves["key"].isin(results.cells.loc[results.cells["algorithm"] == "SOP full", "key"])
    curves.loc[sop & (curves["t"] <= 1000), "mistakes_clean"] = 0.075 * curves["t"]
    found = _verdicts(_with(as_printed, synthetic=replace(results, curves=curves)), "arow-16", "arow-17")
    assert found["arow-16"].outcome is Outcome.HOLDS
    assert found["arow-17"].outcome is Outcome.DOES_NOT
    assert "33.3% fewer than SOP full" in found["arow-17"].figures


def test_cw_must_test_worse_than_both_first_order_learners(as_printed: Evidence) -> None:
    # The Perceptron has the worst test error; CW is still worse than either PA.
    worse = as_printed
    for study in ("synthetic", "synthetic-batch"):
        worse = _altered(worse, study, "algorithm == 'Perceptron'", 0.5)
    found = _verdicts(worse, "arow-21")
    assert found["arow-21"].outcome is Outcome.DOES_NOT


def test_the_papers_form_of_cw_decides_and_the_other_is_said(as_printed: Evidence) -> None:
    results = as_printed["synthetic"].view.results
    cells, curves = results.cells.copy(), results.curves.copy()
    # CW with the standard deviation tests better than AROW, and has made fewer mistakes than CW.
    stdev = cells["algorithm"].str.startswith("CW stdev")
    cells.loc[stdev, "test_accuracy"] = 0.999
    own = curves["key"].isin(cells.loc[stdev, "key"])
    curves.loc[own, "mistakes_clean"] = 0.1 * curves["t"]
    changed = replace(results, cells=cells, curves=curves)
    found = _verdicts(
        _with(as_printed, **{"synthetic": changed, "synthetic-batch": changed}),
        *(f"arow-{place}" for place in (14, 16, 17, 19, 20, 21)),
    )
    assert {each.outcome for each in found.values()} == {Outcome.HOLDS}
    said = "with CW stdev, which the paper does not use, the verdict would be: "
    ours, other = found["arow-20"].figures.split(said)
    assert "stdev" not in ours
    assert other.startswith("does not hold (0 of 4); test errors in percent: one pass ")
    assert "75.0% fewer than CW diagonal, the next best" in found["arow-16"].figures
    assert f"{said}mixed (1 of 2); 50.0% fewer than CW stdev" in found["arow-16"].figures
    assert (found["arow-14"].asked, found["arow-19"].asked, found["arow-21"].asked) == (10, 1, 8)


def test_a_point_apart_is_within_a_point(as_printed: Evidence) -> None:
    # The published figures at 25%: 60 of 6,000 rows apart, and 3e-14 points more in floating point.
    changed = as_printed
    for name, accuracy in (("5", 0.9191666666666667), ("all", 0.9191666666666667), ("1", 0.9091666666666664)):
        which = f"dataset == 'amazon3' and algorithm == 'AROW {name}'"
        changed = _altered(changed, "multiclass", which, accuracy)
    found = _verdicts(changed, "arow-28")
    assert found["arow-28"].outcome is Outcome.HOLDS


def test_adagrad_must_fall_short_of_arow_first_of_all(as_printed: Evidence) -> None:
    ahead = "algorithm == 'AdaGrad' and dataset != 'usps'"
    verdict = _verdicts(_altered(as_printed, "multiclass", ahead, 0.999), "arow-31")["arow-31"]
    # Behind another baseline on one task, ahead of AROW on six of seven.
    assert verdict.outcome is Outcome.DOES_NOT


def test_a_claim_about_a_rate_that_was_not_run_is_not_judged(as_printed: Evidence) -> None:
    results = as_printed["binary"].view.results
    study = results.study | {"noise": [0.0, 0.1, 0.3]}
    cells = results.cells[results.cells["noise"].isin(["0", "0.1", "0.3"])]
    few = StudyEvidence("arow-binary-small", replace(results, cells=cells, study=study, planned=len(cells)))
    found = _verdicts(Evidence({**dict.fromkeys(PAPER.studies, "not run"), "binary": few}))
    assert found["arow-6"] == Verdict(
        Outcome.UNTESTED, "arow-binary-small: has not been run with 20% label noise"
    )
    assert found["arow-7"].outcome is Outcome.HOLDS
    assert found["arow-11"] == Verdict(Outcome.UNTESTED, "not run")


def test_nothing_is_said_of_all_tasks_before_they_have_run(as_printed: Evidence) -> None:
    results = as_printed["binary"].view.results
    early = replace(results, cells=results.cells[results.cells["dataset"].isin(_TEXT)])
    studies = dict.fromkeys(PAPER.studies, "not run") | {"binary": StudyEvidence("arow-binary", early)}
    found = _verdicts(Evidence(studies))
    assert {found[f"arow-{place}"].outcome for place in range(1, 11)} == {Outcome.UNTESTED}
    assert "arow-binary: 600 of 1,200 cells were not run" in found["arow-2"].figures


def test_the_page_has_every_table_and_figure(as_printed: Evidence, tmp_path: Path) -> None:
    written = write_page(PAPER, as_printed, tmp_path)
    page = written[0].read_text("utf-8")
    for exhibit in PAPER.exhibits:
        assert f'id="{exhibit.id}"' in page
    assert "Not here:" not in page
    # AROW 1.40 and CW 1.60 next to the printed ranks; the paper's text gives no others from Table 1.
    assert "1.40 (1.51, −0.11)" in page
    assert "1.60 (1.63, −0.03)" in page
    assert "not in the text" in page
    assert "75.0 (75.0, ±0.0)" in page
    for name in ("fig-5", "fig-6", "fig-7", "fig-8", "fig-9", "fig-10", "table-1-PA-I", "table-8"):
        assert (tmp_path / "tables" / f"{name}.csv").is_file()
    with (tmp_path / CLAIMS_FILE).open(encoding="utf-8", newline="") as lines:
        verdicts = {row["id"]: row["verdict"] for row in csv.DictReader(lines)}
    assert {name for name, each in verdicts.items() if each != "holds"} == {"arow-30"}


@pytest.mark.parametrize("task", [each for each in printed.table("arow", "tasks") if each["label"]])
def test_table_2_says_what_the_data_sets_are(task: dict[str, str]) -> None:
    entry = CATALOGUE["amazon" if task["label"] == "amazon7" else task["label"]]
    counts = [a + b for a, b in zip(entry.counts, entry.counts_test or [0] * len(entry.counts), strict=True)]
    assert int(task["classes"]) == len(counts)
    assert task["balanced"] == ("yes" if min(counts) * 2 >= max(counts) else "no")
