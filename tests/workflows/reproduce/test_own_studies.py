"""Test the pages of our own studies: choices among points of a grid, and claims against stored numbers."""

from __future__ import annotations

import csv
import itertools
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.noise import Noise, parse_noise
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.progress import RunProgress
from singlepass.workflows.reproduce import printed
from singlepass.workflows.reproduce.evidence import Evidence, NotThere, StudyEvidence
from singlepass.workflows.reproduce.papers import OWN, own_studies
from singlepass.workflows.reproduce.verdicts import Outcome, Verdict
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions

from ..synthetic_results import fail, make_results
from .made_results import verdicts_on

PAGES = Path(__file__).parents[3] / "results" / "reference"


def numbers(name: str, table: str) -> pd.DataFrame:
    return pd.read_csv(PAGES / name / "tables" / f"{table}.csv")


def verdicts(name: str) -> dict[str, tuple[int, int]]:
    with (PAGES / name / "claims.csv").open(encoding="utf-8", newline="") as lines:
        return {row["id"]: (int(row["met"]), int(row["asked"])) for row in csv.DictReader(lines)}


@pytest.mark.parametrize("name", OWN)
def test_every_claim_has_a_check(name: str) -> None:
    assert list(OWN[name].checks) == [claim.id for claim in printed.claims(name)]
    assert OWN[name].own


def test_verdicts_on_slack_agree_with_the_stored_figure() -> None:
    """Check estimates only where the figure has no interval of the paired values that a verdict needs."""
    found = numbers("slack", "leads")
    of_all = found[found["panel"] == "all 17 base sets"].pivot(index="x", columns="series")
    y, low, said = of_all["y"], of_all["low"], verdicts("slack")
    for name, other in (("slack-1", "PA"), ("slack-4", "PA-I")):
        assert said[name] == ((low[f"AROW − {other}"] > 0).sum(), 4)
    for name, other in (("slack-2", "PA"), ("slack-5", "CW")):
        met, asked = said[name]
        assert asked == 3
        assert met <= (y[f"AROW − {other}"].diff() > 0).sum()
    recovered = 1 - y["AROW − PA-I"] / y["AROW − PA"]
    assert said["slack-3"] == (3, 3)
    assert (recovered[recovered.index > 0] > 0.5).all()


def test_more_than_half_is_beyond_chance() -> None:
    whole = pd.Series(np.arange(1.0, 13.0))
    noise = np.tile([0.2, -0.2], 6)
    for share, above in ((0.7, True), (0.5, False), (0.4, False)):
        part = share * whole + noise
        assert (own_studies._share(part, whole, half=True) > 0) == above
        assert own_studies._share(part, whole, half=False) == pytest.approx(100 * share)


@pytest.mark.slow
def test_verdicts_on_drift_agree_with_the_stored_figure() -> None:
    """Check means only: the figure has no paired intervals, which a verdict needs too."""
    found = numbers("noise-and-drift", "plane").pivot(index="panel", columns="series")
    firm = ["AROW", "SCW-I", "NHERD"]
    clear = {f"drift-{i}": [] for i in (1, 2, 3)}
    for quick in (["CW", "SOP"], ["CW stdev", "SOP"]):
        clear["drift-1"] += [*(found["x"][firm].max(axis=1) < found["x"][quick].min(axis=1))]
        clear["drift-2"] += [*(found["y"][quick].max(axis=1) < found["y"][firm].min(axis=1))]
        clear["drift-3"] += [*(found["x"]["NAROW"] < found["x"][quick].min(axis=1))]
    clear["drift-4"] = [*(found["y"]["NAROW"] < found["y"][["AROW", "NHERD"]].min(axis=1))]
    said = verdicts("noise-and-drift")
    for name, cases in clear.items():
        met, asked = said[name]
        assert asked == len(cases)
        assert met <= sum(cases)
    falls = 0
    for stream, cw in itertools.product(found.index, ("CW", "CW stdev")):
        x, y = (found[column].loc[stream, [*firm, cw, "SOP", "NAROW"]].to_numpy() for column in "xy")
        exact = stats.permutation_test(
            (x,),
            lambda order, y=y: stats.spearmanr(order, y).statistic,
            permutation_type="pairings",
            n_resamples=np.inf,
        )
        falls += exact.statistic < 0 and exact.pvalue <= 0.05
    assert said["drift-5"] == (falls, 6)


def test_verdicts_on_tuning_agree_with_the_stored_tables() -> None:
    found, said = numbers("tuning-under-noise", "budgets"), verdicts("tuning-under-noise")
    gains = found.pivot(index=["panel", "x"], columns="series", values="y")
    uniform, by_class = gains.loc["30% label noise"], gains.loc["10%/40% by class label noise"]
    ends = found[found["panel"] == "30% label noise"].pivot(index="series", columns="x", values="high")
    # The upper ends are 0.85, 1.08 and 1.31 points.
    cases = own_studies._TUNING["tuning-2"].predicate(ends.loc[["clean labels"]])
    assert list(cases.values()) == [True, False, False]
    assert said["tuning-2"] == (1, 3)
    assert said["tuning-3"] == (int((uniform["corrected for the noise"] == 0).all()), 1)
    means = numbers("tuning-under-noise", "accuracies").set_index(["noise", "points"])
    arms = means.loc["10%/40% by class"]
    share = (arms["corrected for the noise"] - arms["noisy labels"]) / (
        arms["clean labels"] - arms["noisy labels"]
    )
    assert said["tuning-4"] == (2, 3)
    assert (share > 0.5).all()
    steps = means["noisy labels"].unstack()
    # The table has one digit after the point, and no intervals.
    assert said["tuning-5"] == (1, 4)
    assert (steps[80] - steps[20] <= 0.25 + 0.1).all()
    assert (steps[20] - steps[5] > steps[80] - steps[20]).all()
    assert (by_class["hindsight"] >= by_class["clean labels"]).all()


def test_a_corrected_count_is_the_clean_one_if_labels_flip_exactly_as_often_as_expected() -> None:
    # By true class: 100 negatives, of which a classifier gets 30 wrong, and 200 positives, 20 wrong. In each
    # group a tenth of the negatives and four tenths of the positives are flipped.
    groups = [(0, True, 70), (0, False, 30), (1, True, 180), (1, False, 20)]
    occurred, right, rates = np.zeros(2), np.zeros(2), (0.1, 0.4)
    for true, is_right, n in groups:
        predicted = true if is_right else 1 - true
        for given, share in ((true, 1 - rates[true]), (1 - true, rates[true])):
            occurred[given] += share * n
            right[given] += share * n * (given == predicted)
    points = pd.DataFrame({"occurred_given": [occurred], "right_given": [right]})
    noise = parse_noise({"model": "class", "matrix": [[0.9, 0.1], [0.4, 0.6]]})
    assert own_studies._corrected(points, noise).tolist() == [50.0]
    wrong = (occurred - right).sum()
    uniform = own_studies._corrected(points, Noise(0.3)).tolist()
    assert uniform == [pytest.approx((wrong - 0.3 * 300) / (1 - 0.6))]


def test_choices_are_the_best_points_of_each_judge(tmp_path: Path) -> None:
    values = [float(f"{10 ** (-4 + i / 10):.3g}") for i in range(80)]
    table = {
        "name": "tuning-under-noise",
        "protocol": "holdout",
        "noise": [0.3, {"model": "class", "matrix": [[0.9, 0.1], [0.4, 0.6]]}],
        "seeds": 2,
        "tune_by": "online",
        "tune_each": True,
        "test_points": True,
        "checkpoints": 1,
        "metrics": ["test_accuracy", "test_balanced_accuracy"],
        "datasets": [{"name": "breast-cancer", "max_examples": 200}],
        "algorithms": [{"name": "AROW", "r": values}, {"name": "AROW", "label": "AROW, default"}],
    }
    folder = str(tmp_path / "out")
    run_study(parse_study(table), folder, progress=RunProgress(), options=WorkerOptions(threads=1))
    study = StudyEvidence("tuning-under-noise", read_results(folder))
    by_budget, cells = own_studies._choices(study), study.view.results.cells
    assert len(by_budget) == 2 * 3
    for (noise, _), found in by_budget.items():
        assert len(found) == 2
        assert (found["hindsight"] >= found.drop(columns="defaults").max(axis=1)).all()
        same = found["noisy labels"].equals(found["corrected for the noise"])
        assert same or noise != "30%"
    # A tested point is the study's own cell with these parameters.
    columns = ["mistakes", "mistakes_clean", "test_mistakes", "test_examples"]
    tuned, run = (cells[cells["stage"] == stage] for stage in ("tune", "run"))
    own = run[run["algorithm"] == "AROW"].set_index(["noise", "seed", "params"])[columns]
    assert len(own) == 4
    assert tuned.set_index(["noise", "seed", "params"])[columns].loc[own.index].equals(own)
    won = own["test_mistakes"].unstack("params").min(axis=1)
    best = pd.concat([found["noisy labels"] for (_, budget), found in by_budget.items() if budget == 80])
    shown = 100 * (1 - won.to_numpy() / own["test_examples"].iloc[0])
    assert sorted(best.to_numpy().round(6)) == sorted(shown.round(6))
    # A choice needs every point of its grid, and a mean every choice.
    first = cells.index == cells.index[cells["stage"] == "tune"][0]
    failed = cells.assign(status=cells["status"].mask(first, "failed"))
    for part, line in ((failed, "1 cell of grids or defaults failed"), (cells[~first], "1 of .* not run")):
        with pytest.raises(NotThere, match=line):
            own_studies._choices(StudyEvidence("tuning", replace(study.view.results, cells=part)))


@pytest.mark.slow
def test_a_learner_without_results_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(own_studies, "_STREAMS", {"SEA": ("steady", "abrupt", 500)})
    whole = make_results(
        datasets=("steady", "abrupt"), algorithms=own_studies._LEARNERS, noise=(0.0, 0.3), seeds=3, tuned=()
    )
    cells = whole.cells
    lost = fail(
        whole, cells[(cells["algorithm"] == "NHERD") & (cells["dataset"] == "steady")]["key"].tolist()
    )
    paper = OWN["noise-and-drift"]
    for results, untested in ((whole, False), (lost, True)):
        evidence = Evidence({"drift": StudyEvidence("drift", results)})
        verdicts = verdicts_on(paper, evidence).values()
        assert {each.outcome is Outcome.UNTESTED for each in verdicts} == {untested}
    assert {each.figures for each in verdicts} == {"drift: has no results of NHERD on SEA"}
    with pytest.raises(NotThere, match="has no results of NHERD on SEA"):
        own_studies._plane(evidence)


def test_too_few_base_sets_decide_nothing() -> None:
    results = make_results(datasets=own_studies._TEXT, algorithms=("PA", "PA-I", "CW", "AROW"), tuned=())
    evidence = Evidence({"slack": StudyEvidence("slack", results)})
    found = verdicts_on(OWN["slack"], evidence, "slack-1")["slack-1"]
    assert found == Verdict(Outcome.UNTESTED, "cannot be computed: PA at 0% is -inf")
    with pytest.raises(NotThere, match=r"has no results on digits\[round\], mnist\[3-vs-rest\]"):
        own_studies._leads_figure(evidence)
