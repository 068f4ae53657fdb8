"""Test the estimate of a study's cost, made before anything is downloaded, parsed or written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import psutil
import pytest
from rich.filesize import decimal

from singlepass.pipeline.data import expand, look
from singlepass.pipeline.run.readings import Reading
from singlepass.pipeline.store.schema import CellResult
from singlepass.pipeline.study.plan import make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows import planning
from singlepass.workflows.planning import outline, rows_of_task
from singlepass.workflows.report.page.blocks import Listing
from singlepass.workflows.report.page.view import StudyView
from singlepass.workflows.report.parts.opening import opening
from singlepass.workflows.running import trials
from singlepass.workflows.running.run import run_study
from singlepass.workflows.shipped import find_study

from .conftest import Silent

Call = Callable[..., Any]

# Tests that need its file, with labels `a` and `b`, write it.
OWN = """
name = "own"
seeds = 2
[[datasets]]
path = "mine.csv"
[[datasets]]
name = "gauss"
n_train = 100
n_test = 50
[[algorithms]]
name = "AROW"
covariance = "full"
r = [0.1, 1.0]
[[algorithms]]
name = "KernelPerceptron"
[[algorithms]]
name = "Forgetron"
budget = { support_of = "KernelPerceptron" }
"""


@pytest.fixture(autouse=True)
def empty_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    cache = tmp_path / "cache"
    monkeypatch.setenv("SINGLEPASS_CACHE", str(cache))
    monkeypatch.delenv("SINGLEPASS_DATA", raising=False)
    # On a busy machine, compiling the first trial's loop takes longer than a plan waits.
    monkeypatch.setattr(trials, "_ALL_SECONDS", 600.0)
    return cache


def files_under(folder: Path) -> set[str]:
    # Ignore the cache of compiled learners.
    code = {"__pycache__", "compiled", "numba"}
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if not code & {*path.parts}} - {
        "cache",
        "cache/singlepass",
    }


def test_every_stage_is_counted(tmp_path: Path) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    (tmp_path / "mine.csv").write_text("u,v,label\n1,2,a\n3,4,b\n5,6,a\n")
    before = files_under(tmp_path)
    study, file = find_study(str(tmp_path / "own.toml"))
    found = outline(study, str(tmp_path / "out"), file=file)
    assert files_under(tmp_path) == before, "a plan writes nothing"
    mine, gauss = found.outlooks
    # The contents of the file are unknown until it is parsed, but a task "auto" is one task in any case.
    assert (mine.tasks, mine.rows, mine.ready, mine.missing) == (1, None, False, False)
    assert mine.state.startswith("to be parsed")
    assert (gauss.tasks, gauss.rows, gauss.features, gauss.ready) == (1, 150, 2, True)
    by_stage: dict[str, int] = {}
    for (stage, _), n in found.planned.items():
        by_stage[stage] = by_stage.get(stage, 0) + n
    assert by_stage == {"tuning": 2 * 2, "evaluation": 2 * 2 * 2, "matched": 2 * 2}
    assert found.left() == found.planned
    # Timed by trial cells of the smallest data set that is present.
    assert [kind[0] for kind in found.finished.tried] == ["AROW", "KernelPerceptron"]
    assert found.finished.done.total() == 0
    assert (found.seconds_left() or 0.0) > 0.0
    assert found.covariances == {"AROW on gauss, 2 × 2": 8 * 4}
    each = study.model_copy(update={"protocol": "holdout", "tune_each": True})
    planned = outline(each, str(tmp_path / "out"), file=file).planned
    assert sum(n for (stage, _), n in planned.items() if stage == "tuning") == 2 * 2 * 2


def test_grids_that_each_repetition_tunes_are_counted(tmp_path: Path) -> None:
    table = {
        "name": "s",
        "protocol": "holdout",
        "seeds": 3,
        "noise": [0.0, 0.1],
        "tune_each": True,
        "datasets": [{"name": "gauss", "n_train": 150, "n_test": 20}],
        "algorithms": [{"name": "AROW", "r": [0.1, 1.0]}],
    }
    found = outline(parse_study(table), str(tmp_path / "out"))
    assert found.planned["tuning", (0, "AROW")] == 3 * 2 * 2


# A stream in file order without noise: every seed would give the same result.
STREAM = """
name = "stream"
order = "given"
seeds = 5
[[datasets]]
path = "mine.csv"
[[algorithms]]
name = "AROW"
[[algorithms]]
name = "Perceptron"
"""


def test_seeds_that_repeat_nothing_are_counted_once_before_and_after_parsing(
    tmp_path: Path, singlepass: Call
) -> None:
    (tmp_path / "stream.toml").write_text(STREAM)
    (tmp_path / "mine.csv").write_text("u,v,label\n" + "1,2,a\n3,4,b\n5,6,a\n" * 20)
    told = []
    for command in ("plan", "run", "plan", "status"):
        where = "results/stream" if command == "status" else "stream.toml"
        result = singlepass(command, where)
        assert result.returncode == 0, result.stderr
        told.append(result.stdout + result.stderr)
    before, run, after, status = told
    opening = (
        "stream: 1 data set, 2 algorithms, 1 noise level, 1 seed (4 more would give equal results: rows "
        "in their given order, without noise); results in"
    )
    for text in (before, after):
        assert " ".join(text.split()).startswith(opening)
    assert [line.split() for line in before.splitlines() if line.startswith("evaluation")] == [
        ["evaluation", "2", "0", "0", "2"]
    ]
    assert [line.split() for line in after.splitlines() if line.startswith("evaluation")] == [
        ["evaluation", "2", "2", "0", "0"]
    ]
    assert "stream: 2 cells computed" in run
    assert "2 of 2 finished" in status


def test_finished_cells_are_counted_and_timed(study_file: Path, tmp_path: Path, silent: Silent) -> None:
    study, file = find_study(str(study_file))
    out = str(tmp_path / "out")
    run_study(study, out, progress=silent, file=file)
    found = outline(study, out, file=file)
    assert found.planned.total() == silent.total == found.finished.done.total()
    assert found.left().total() == 0
    assert found.seconds_left() == 0
    # No cell has run with these seeds: they are estimated to take as long as the others.
    more = study.model_copy(update={"seeds": [0, 1, 2, 3]})
    longer = outline(more, out, file=file)
    assert longer.left().total() == found.planned.total() - 12
    pairs = {pair for _, pair in longer.left()}
    means = [longer.finished.costs.seconds(pair) or 0.0 for pair in pairs]
    assert longer.seconds_left() == pytest.approx(2 * 2 * sum(means))
    assert all(means)


def test_a_new_algorithm_is_timed_by_the_others(study_file: Path, tmp_path: Path, silent: Silent) -> None:
    study, file = find_study(str(study_file))
    out = str(tmp_path / "out")
    run_study(study, out, progress=silent, file=file)
    study_file.write_text(study_file.read_text() + '[[algorithms]]\nname = "NHERD"\n')
    found = outline(find_study(str(study_file))[0], out, file=file)
    assert found.left().total() == 2 * 2 * 2
    assert (found.seconds_left() or 0) > 0


def test_parsed_data_is_measured(tmp_path: Path, singlepass: Call) -> None:
    (tmp_path / "own.toml").write_text(OWN)
    (tmp_path / "mine.csv").write_text("u,v,label\n1,2,a\n3,4,b\n5,6,a\n")
    assert singlepass("data", "convert", "mine.csv").returncode == 0
    study, file = find_study(str(tmp_path / "own.toml"))
    mine = outline(study, str(tmp_path / "out"), file=file).outlooks[0]
    assert (mine.ready, mine.rows, mine.features, mine.kept) == (True, 3, 2, True)
    assert sum(mine.n_bytes.values()) >= 3 * 2 * 8
    assert mine.n_learned == 3
    (tmp_path / "test.csv").write_text("u,v,label\n1,4,a\n3,4,b\n")
    assert singlepass("data", "convert", "mine.csv", "--option", "test=test.csv").returncode == 0
    both = look(path="mine.csv", options={"test": "test.csv"}, base=tmp_path)
    assert (both.rows, both.n_learned) == (5, 3)


def test_missing_data_are_named_and_the_rest_is_planned(tmp_path: Path, singlepass: Call) -> None:
    text = OWN.replace(
        "[[algorithms]]", '[[datasets]]\nname = "gaus"\n[[datasets]]\nname = "usps"\n[[algorithms]]', 1
    )
    (tmp_path / "own.toml").write_text(text)
    result = singlepass("plan", "own.toml")
    # The plan reports the error that a run would stop with, and still plans the rest.
    assert result.returncode == 2
    assert result.stderr == singlepass("run", "own.toml").stderr
    assert result.stderr.startswith("singlepass: error: own.toml: ")
    assert "mine.csv: no such file" in result.stderr
    for fragment in (
        "missing  mine: not there",
        "mine.csv: no such file",
        "missing  gaus: not usable: unknown data set",
        "did you mean 'gauss'?",
        "roughly estimated from short trial cells of 2 of 3 algorithms",
        "tuning",
        "matched",
    ):
        assert fragment in result.stdout
    assert not (tmp_path / "results").exists()


def test_trial_cells_are_scaled_to_the_rows_of_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    learnt = []

    def made(reading: Reading) -> list[CellResult]:
        learnt.append([dict(cell.spec.params)["epochs"] for cell in reading])
        found = []
        for cell in reading:
            row = {"dataset": "gauss", "algorithm": cell.spec.algorithm, "status": "ok", "points": 2}
            seconds = {"fit_seconds": 0.02 * dict(cell.spec.params)["epochs"], "total_seconds": 0.03}
            curve = {"t": [1000, 2000], "fit_seconds": [0.01, 0.02]}
            found.append(CellResult(row | seconds | {"n_examples": cell.spec.max_train}, curve))
        return found

    monkeypatch.setattr(trials, "run_reading", made)
    (tmp_path / "s.toml").write_text(
        'name = "s"\nseeds = 5\n[[datasets]]\nname = "gauss"\nn_train = 50000\nn_test = 10000\n'
        '[[algorithms]]\nname = "AROW"\nr = [0.1, 1.0]\nepochs = [1, 2]\n'
    )
    study, file = find_study(str(tmp_path / "s.toml"))
    found = outline(study, str(tmp_path / "out"), file=file)
    assert learnt == [[1, 2, 1, 2]] * 2
    # Two passes of two models over 2,000 rows take 80 of the reading's 120 ms. A quarter of it, with 50,000
    # rows (without the test part), is the time of a cell: of four that tune, and of five.
    assert found.seconds_left() == pytest.approx((4 + 5) * (0.5 + 0.01))


@pytest.mark.parametrize("rows", [2000, 1536])
def test_the_cost_of_a_row_grows_with_the_support_set(monkeypatch: pytest.MonkeyPatch, rows: int) -> None:
    """The estimate is exact if the cost of a row is a constant and a share for each support vector."""

    def cost(n: Any, budget: float) -> Any:
        """Return the time of n rows, half of which become support vectors, up to a budget."""
        growing = np.minimum(n, 2 * budget)
        return 1e-6 * n + 1e-8 * (growing**2 / 4 + budget * (n - growing) if budget < np.inf else n**2 / 4)

    def made(reading: Reading) -> list[CellResult]:
        [cell] = reading
        assert cell.spec.dataset.label == ("b" if cell.spec.learner == "BSGD" else "a")
        budget = dict(cell.spec.params).get("budget", np.inf)
        # The time limit stops a trial between two points of its curve.
        t = np.array([*range(125, rows, 125), rows])
        seconds = cost(t, budget)
        row = {"status": "ok", "n_examples": rows, "fit_seconds": seconds[-1], "total_seconds": seconds[-1]}
        vectors = np.minimum(t / 2, budget)
        return [CellResult(row, {"t": t, "fit_seconds": seconds, "support_vectors": vectors})]

    monkeypatch.setattr(trials, "run_reading", made)
    datasets = [{"name": "gauss", "label": label, "n_train": n} for label, n in (("a", 3000), ("b", 50000))]
    algorithms = [
        {"name": "KernelPerceptron"},
        {"name": "Forgetron", "label": "small", "budget": 100},
        {"name": "Forgetron", "label": "large", "budget": 3000},
        {"name": "BSGD", "budget": 100, "datasets": ["b"]},
    ]
    study = parse_study({"name": "s", "seeds": 1, "datasets": datasets, "algorithms": algorithms})
    found = trials.trials(make_plan(study), {"a": 3000, "b": 50000})
    budgets = {"KernelPerceptron": np.inf, "small": 100, "large": 3000, "BSGD": 100}
    for algorithm in study.algorithms:
        trial, budget = found[trials.kind_of(algorithm)], budgets[algorithm.label]
        for n in (3000, 50000):
            assert trial.seconds_with(n) == pytest.approx(cost(n, budget), rel=0.01)
        # A cell that tunes on few rows takes no less than the trial.
        assert trial.seconds_with(100) == cost(rows, budget)


def test_the_cost_of_a_batch_learner_is_quadratic(monkeypatch: pytest.MonkeyPatch) -> None:
    def made(reading: Reading) -> list[CellResult]:
        row = {"status": "ok", "n_examples": 100, "fit_seconds": 1.0, "total_seconds": 1.5}
        return [CellResult(row, {})]

    monkeypatch.setattr(trials, "run_reading", made)
    study = parse_study(
        {
            "name": "s",
            "seeds": 1,
            "protocol": "holdout",
            "datasets": [{"name": "gauss", "n_train": 1000}],
            "algorithms": [{"name": "AROW"}],
        }
    )
    [trial] = trials.trials(make_plan(study), {"gauss": 1000}).values()
    # Ten times the rows take a hundred times the second of learning.
    assert trial.seconds_with(1000) == pytest.approx(0.5 + 100.0)


def test_a_time_limit_bounds_the_estimate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = trials.Trial(2000, 1.0, per_row=1.0)
    monkeypatch.setattr(
        planning, "trials", lambda plan, rows: {trials.kind_of(each): slow for each in plan.study.algorithms}
    )
    datasets = [{"name": "gauss", "n_train": 50000}]
    table = {"name": "s", "seeds": 3, "datasets": datasets, "algorithms": [{"name": "AROW"}]}
    for limit, seconds in ((None, 48001.0), (20.0, 20.0)):
        study = parse_study(table | ({} if limit is None else {"time_limit": limit}))
        assert outline(study, str(tmp_path / "out")).seconds_left() == pytest.approx(3 * seconds)


def test_an_untried_kind_is_timed_by_its_own_learner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    algorithms = [{"name": "Forgetron", "label": str(n), "budget": n} for n in (10, 20)] + [{"name": "AROW"}]
    datasets = [{"name": "gauss", "n_train": 100}]
    study = parse_study({"name": "s", "seeds": 1, "datasets": datasets, "algorithms": algorithms})
    kinds = [trials.kind_of(each) for each in study.algorithms]
    tried = {kinds[0]: trials.Trial(100, 7.0, 0.0), kinds[2]: trials.Trial(100, 1.0, 0.0)}
    monkeypatch.setattr(planning, "trials", lambda plan, rows: tried)
    assert outline(study, str(tmp_path / "out")).seconds_left() == 7.0 + 7.0 + 1.0


def test_trials_end_after_some_seconds(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter([0.0, 1.0, 601.0])
    monkeypatch.setattr(trials, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    datasets = [{"name": "gauss", "n_train": 100}]
    algorithms = [{"name": name} for name in ("Perceptron", "AROW", "PassiveAggressive")]
    study = parse_study({"name": "s", "seeds": 1, "datasets": datasets, "algorithms": algorithms})
    assert [kind[0] for kind in trials.trials(make_plan(study), {"gauss": 100})] == ["Perceptron"]


@pytest.mark.parametrize("name", ["sea", "clicks"])
def test_a_trial_does_not_draw_a_whole_table(name: str) -> None:
    n = 10**14
    table = {"name": "s", "seeds": 1, "datasets": [{"name": name, "n_train": n, "n_test": n}]}
    study = parse_study({**table, "protocol": "holdout", "algorithms": [{"name": "Perceptron"}]})
    [trial] = trials.trials(make_plan(study), {name: n}).values()
    assert trial.rows == 2000


def test_cells_learn_a_task_up_to_the_limits_of_the_study(tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'name = "s"\nmax_train = 400\n[[datasets]]\nname = "digits"\ntask = "pairs"\n'
        '[[datasets]]\nname = "gauss"\nlabel = "cut"\nmax_examples = 300\n'
        '[[datasets]]\nname = "gauss"\n[[algorithms]]\nname = "AROW"\n'
    )
    study, file = find_study(str(tmp_path / "s.toml"))
    found = outline(study, str(tmp_path / "out"), file=file)
    rows = [rows_of_task(study, *each) for each in zip(study.datasets, found.outlooks, strict=True)]
    # A fifth of the 1,797 digits are of a pair of classes.
    assert rows == [359, 300, 400]


def test_cells_do_not_learn_the_rows_that_are_split_off_as_a_test_part() -> None:
    sets = [
        {"name": "gauss", "n_train": 900, "n_test": 0},
        {"name": "gauss", "label": "half", "n_train": 900, "n_test": 0, "test_fraction": 0.5},
        {"name": "gauss", "label": "own", "n_train": 900, "n_test": 20},
        {"name": "digits", "protocol": "crossval"},
    ]
    study = {"name": "s", "protocol": "holdout", "datasets": sets, "algorithms": [{"name": "AROW"}]}
    parsed = parse_study(study)
    found = outline(parsed, "out")
    rows = [rows_of_task(parsed, *each) for each in zip(parsed.datasets, found.outlooks, strict=True)]
    assert rows == [630, 450, 900, 1797 - 179]


def test_a_task_of_a_family_learns_the_training_rows_of_its_part() -> None:
    sets = [{"name": "amazon-5000"}, {"name": "usps"}, {"name": "usps", "join": True, "label": "joined"}]
    study = parse_study({"name": "s", "datasets": sets, "algorithms": [{"name": "AROW"}]})
    found = outline(study, "out")
    rows = [rows_of_task(study, *each) for each in zip(study.datasets, found.outlooks, strict=True)]
    assert rows == [2_000, 7_291, 7_291 + 2_007]


def test_without_data_no_time_is_guessed(tmp_path: Path, singlepass: Call) -> None:
    (tmp_path / "mine.csv").write_text("u,v,label\n1,2,a\n3,4,b\n5,6,a\n")
    (tmp_path / "s.toml").write_text(
        'name = "s"\n[[datasets]]\npath = "mine.csv"\n[[algorithms]]\nname = "AROW"\n'
    )
    assert "time     unknown: no cell has finished yet" in singlepass("plan", "s.toml").stdout


@pytest.mark.slow
def test_cells_of_data_that_are_not_parsed_are_not_counted(
    tmp_path: Path, singlepass: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "\n".join(f"{x % 7},{x % 3},{'ab'[x % 2]}" for x in range(40))
    (tmp_path / "mine.csv").write_text(f"u,v,label\n{rows}\n")
    (tmp_path / "s.toml").write_text(
        'name = "s"\n[[datasets]]\npath = "mine.csv"\n[[algorithms]]\nname = "AROW"\n'
    )
    assert "unread" not in singlepass("plan", "s.toml", "--out", "out").stdout
    singlepass("run", "s.toml", "--out", "out")
    assert "time     all cells are finished" in singlepass("plan", "s.toml", "--out", "out").stdout
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "other"))
    text = singlepass("plan", "s.toml", "--out", "out").stdout
    assert "time     unknown: no counted cell has finished" in text
    assert "unread   mine: its finished cells, if any, are not counted until it is parsed" in text
    (tmp_path / "mine.csv").unlink()
    text = singlepass("plan", "s.toml", "--out", "out").stdout
    assert re.search("missing  mine: .*; its finished cells, if any, are not counted", text)


def test_a_study_that_cannot_be_run_is_one_line(tmp_path: Path, singlepass: Call) -> None:
    (tmp_path / "own.toml").write_text(OWN.replace('"Forgetron"', '"Forgetro"'))
    result = singlepass("plan", "own.toml")
    assert result.returncode == 2
    assert result.stderr.startswith("singlepass: error: own.toml: ")
    assert "did you mean 'Forgetron'?" in result.stderr


def test_shipped_studies_are_outlined_without_their_data() -> None:
    """Check that absent public sets are described by their published facts and where to get them."""
    study, _ = find_study("arow-binary-small")
    found = outline(study, "nowhere")
    usps = next(outlook for outlook in found.outlooks if outlook.label == "usps")
    assert (usps.tasks, usps.rows, usps.features) == (45, 9298, 256)
    assert usps.state == "to be downloaded"
    assert found.planned.total() > 20_000


WIDE = """
name = "wide"
[[datasets]]
name = "gauss"
n_train = 100
n_test = 50
[[algorithms]]
name = "AROW"
r = [0.1, 1.0, 10.0]
epochs = [1, 10]
[[algorithms]]
name = "AROW"
label = "leader"
tune = "leader"
r = [0.1, 1.0, 10.0]
[[algorithms]]
name = "AROW"
label = "full"
covariance = "full"
r = [0.1, 1.0]
[[algorithms]]
name = "KernelPerceptron"
gamma = [0.1, 1.0]
[[algorithms]]
name = "Perceptron"
"""


def test_the_memory_of_grids_that_are_read_together_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "wide.toml").write_text(WIDE)
    study, file = find_study(str(tmp_path / "wide.toml"))
    assert outline(study, str(tmp_path / "out"), file=file).grids == {}
    monkeypatch.setattr(planning, "_SHOWN_BYTES", 0)
    # Weights, variances and a buffer of two features; each of three models twice.
    n_bytes = 2 * 3 * 3 * 2 * 8
    found = outline(study, str(tmp_path / "out"), file=file)
    # 100 rows of two features, stored by two points and once more for both.
    rows = {"KernelPerceptron on gauss, 2 points, stored rows alone": 3 * 100 * 2 * 8}
    assert found.grids == {"AROW on gauss, 3 points": n_bytes, "leader on gauss, 3 points": n_bytes} | rows
    lines = " ".join(planning._memory(found))
    name, largest = next(iter(rows.items()))
    assert f"models of a grid, in each thread: about {decimal(largest)} at most ({name})" in lines


@pytest.mark.slow
def test_features_of_different_scales_are_named(tmp_path: Path) -> None:
    rows = "".join(f"{i % 7},{5000 + i % 3},{i % 2},{'ab'[i % 2]}\n" for i in range(60))
    (tmp_path / "mine.csv").write_text("u,v,w,label\n" + rows)
    (tmp_path / "thin.svm").write_text("+1 1:2000\n-1 2:1 3:0\n" * 5)
    text = """
        name = "scales"
        [[datasets]]
        label = "{}"
        path = "{}"
        {}
        [[algorithms]]
        name = "AROW"
    """
    said = {}
    for label, path, more in [
        ("raw", "mine.csv", ""),
        ("standardized", "mine.csv", "standardize = true"),
        ("one", "mine.csv", 'ignore = ["v"]'),
        ("sparse", "thin.svm", ""),
    ]:
        (tmp_path / "scales.toml").write_text(text.format(label, path, more))
        study, file = find_study(str(tmp_path / "scales.toml"))
        if label == "raw":
            assert not outline(study, str(tmp_path / "out"), file=file).scales, "the file is not parsed yet"
        results = run_study(study, str(tmp_path / label), progress=Silent(), file=file).results
        found = outline(study, str(tmp_path / label), file=file)
        assert results.provenance.get("scales", {}) == found.scales
        said[label] = " ".join(planning._scales(found))
        warned = [each for each in opening(StudyView(results)) if isinstance(each, Listing) and each.warning]
        lines = [text for each in warned for _, text in each.items]
        assert [line for line in lines if "scale" in line] == [
            f"{name}: {line}." for name, line in found.scales.items()
        ]
    assert said["raw"] == (
        "scales   raw: features differ in scale: non-zero values of feature 2 are about 5e+03, those of "
        "feature 3 about 1, so results depend on units; set standardize = true"
    )
    assert said["sparse"].endswith("feature 2 about 1, so results depend on units; divide them in the file")
    assert said["standardized"] == said["one"] == ""


def test_drawn_rows_are_not_counted_as_dense() -> None:
    dataset = {"name": "clicks", "n_train": 1000, "hash_bits": 20}
    study = parse_study({"name": "c", "datasets": [dataset], "algorithms": [{"name": "AROW"}]})
    found = outline(study, "out")
    (outlook,) = found.outlooks
    assert outlook.features == 1 << 20
    assert [*outlook.n_bytes.values()] == [1000 * 39 * 8]
    (line,) = planning._memory(found)
    assert line.startswith("memory   clicks: 312.0 kB in the cache folder")


def test_random_reads_of_a_table_beyond_memory_are_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"{i % 2} {i % 5 + 1}:1.5\n" for i in range(2000))
    (tmp_path / "long.svm").write_text(rows)
    text = 'name = "long"\norder = "{}"\n[[datasets]]\npath = "long.svm"\n[[algorithms]]\nname = "AROW"\n'
    expand(path=tmp_path / "long.svm")
    lines = {}
    for order in ("shuffled", "blocks", "given"):
        (tmp_path / "long.toml").write_text(text.format(order))
        study, file = find_study(str(tmp_path / "long.toml"))
        found = outline(study, str(tmp_path / "out"), file=file)
        assert list(planning._random_reads(found)) == []
        with monkeypatch.context() as patch:
            patch.setattr(psutil, "virtual_memory", lambda: SimpleNamespace(total=1000))
            lines[order] = list(planning._random_reads(found))
    assert lines["given"] == lines["blocks"] == []
    (line,) = lines["shuffled"]
    assert "long: its table of" in line
    assert 'set order = "blocks" or "given"' in line


@pytest.mark.parametrize(
    ("delay", "more", "line"),
    [
        (0, {}, ""),
        (58, {}, ""),
        (59, {}, "no prediction along a stream of 60 rows uses a label (delay = 59)"),
        (59, {"label_due": "before"}, ""),
        (60, {"label_due": "before"}, "no prediction along a stream of 60 rows uses a label (delay = 60)"),
        (4, {"order": "given"}, ""),
        (
            5,
            {"order": "given"},
            "grids are judged on 6 rows that are predicted before any label comes (delay = 5)",
        ),
        (
            9,
            {"max_tune": 10},
            "grids are judged on 10 rows that are predicted before any label comes (delay = 9)",
        ),
        (9, {"max_tune": 10, "tune_by": "validation"}, ""),
    ],
)
def test_streams_and_grids_that_end_before_the_first_label_are_named(
    delay: int, more: dict[str, Any], line: str
) -> None:
    study = {
        "name": "s",
        "max_examples": 60,
        "delay": delay,
        "datasets": [{"name": "gauss", "n_train": 90, "n_test": 0}],
        "algorithms": [{"name": "AROW", "r": [0.1, 1.0]}],
        **more,
    }
    lines = list(planning._late_labels(outline(parse_study(study), "out")))
    assert [each.partition("; ")[0].partition(", so")[0] for each in lines] == (
        [f"delay    gauss: {line}"] if line else []
    )


def test_grids_within_a_query_that_do_not_follow_the_studys_tune_are_named() -> None:
    query = {"name": "AROW", "query": "all", "r": [0.1, 1.0]}
    algorithms = [
        {**query, "label": "silent"},
        {**query, "label": "told", "tune": "seed"},
        {**query, "label": "single", "r": 1.0},
        {"name": "AROW", "r": [0.1, 1.0]},
    ]
    study = {"name": "s", "tune": "leader", "datasets": [{"name": "gauss"}], "algorithms": algorithms}
    (line,) = planning._untuned_queries(outline(parse_study(study), "out"))
    assert line.startswith("tune     silent: tune = 'leader' does not work with query")
    assert list(planning._untuned_queries(outline(parse_study({**study, "tune": "seed"}), "out"))) == []


def test_classes_that_a_limit_keeps_from_being_learned_are_named(tmp_path: Path) -> None:
    path = tmp_path / "f.csv"
    path.write_text("x,label\n" + "".join(f"{i},{name}\n" for name in "abc" for i in range(20)))
    expand(path=path)
    study = {
        "name": "s",
        "protocol": "holdout",
        "order": "given",
        "test_fraction": 0.1,
        "max_train": 30,
        "datasets": [{"path": str(path)}],
        "algorithms": [{"name": "AROW"}],
    }
    found = outline(parse_study(study), str(tmp_path / "out"))
    assert not found.refusal
    (line,) = planning._unlearned(found)
    assert line == (
        "classes  f: class 'c' is tested but not learned, because max_train leaves none of its rows; set a "
        "larger max_train"
    )
