"""Test that running a study is complete, resumable, and gives the same integers wherever it runs."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pandas as pd
import pytest

from singlepass.learners import registry
from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.noise import CLEAN
from singlepass.pipeline.store.schema import PROVENANCE, CellResult
from singlepass.pipeline.store.store import CLUSTER, Store
from singlepass.pipeline.study.plan import Plan, make_plan
from singlepass.pipeline.study.study_file import parse_study
from singlepass.workflows.report import write_report
from singlepass.workflows.running import run
from singlepass.workflows.running import workers as workers_module
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions
from singlepass.workflows.shipped import find_study

from ..conftest import Silent


def tables(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return cells and curves without the columns for time, place and speed."""
    results = read_results(str(folder))
    return results.cells.drop(columns=list(PROVENANCE)), results.curves.drop(columns="fit_seconds")


def assert_same(first: Path, second: Path) -> None:
    for ours, theirs in zip(tables(first), tables(second), strict=True):
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


@pytest.fixture
def finished(study_file: Path, tmp_path: Path, silent: Any) -> Path:
    study, _ = find_study(str(study_file))
    run_study(study, str(tmp_path / "one"), progress=silent, options=WorkerOptions(threads=1))
    return tmp_path / "one"


@pytest.fixture(scope="module")
def once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("once") / "one"


@pytest.fixture
def copied(once: Path, study_file: Path, tmp_path: Path, silent: Any) -> Path:
    """Return a copy of the results of `finished`, computed only once because many tests use it."""
    if not once.exists():
        study, _ = find_study(str(study_file))
        run_study(study, str(once), progress=silent, options=WorkerOptions(threads=1))
    return Path(shutil.copytree(once, tmp_path / "one"))


def test_a_run_is_complete(finished: Path, silent: Any) -> None:
    cells, curves = tables(finished)
    assert (cells["status"] == "ok").all()
    # 2 data sets × 2 noise levels: a grid of 3, and 2 algorithms × 2 seeds.
    assert cells["stage"].value_counts().to_dict() == {"run": 16, "tune": 12}
    assert silent.finished == silent.total == 28
    run = cells[cells["stage"] == "run"]
    assert run["test_accuracy"].notna().all()
    # A cell that judges a grid has no test part, and counts mistakes by the given labels only.
    tune = cells[cells["stage"] == "tune"]
    assert tune["test_accuracy"].isna().all()
    assert tune["validation_mistakes"].notna().all()
    last = curves.groupby("key").last().loc[cells["key"]].reset_index()
    assert last["t"].tolist() == cells["n_examples"].tolist()
    for column in ("mistakes", "mistakes_clean", "updates"):
        assert last[column].tolist() == cells[column].tolist()
    assert (curves.groupby("key").size() == 4).all()


def test_all_algorithms_get_the_same_noise(finished: Path) -> None:
    cells, _ = tables(finished)
    run = cells[cells["stage"] == "run"]
    assert (run.groupby(["dataset", "noise", "seed"])["noise_realised"].nunique() == 1).all()
    assert (run.loc[run["noise"] == "0", "noise_realised"] == 0).all()
    assert (run.loc[run["noise"] == "0", "mistakes"] == run.loc[run["noise"] == "0", "mistakes_clean"]).all()
    assert run.loc[run["noise"] != "0", "noise_realised"].between(0.1, 0.3).all()


def test_a_finished_run_computes_nothing_and_asks_for_no_workers(
    finished: Path, study_file: Path, silent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("singlepass.workflows.running.run.workers", None)
    study, _ = find_study(str(study_file))
    summary = run_study(study, str(finished), progress=silent)
    assert (summary.computed, summary.reused, summary.failed) == (0, 28, 0)


def test_results_that_are_removed_during_a_run(
    study_file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each stage writes one part, at its end.
    monkeypatch.setattr(run, "FLUSH_SECONDS", 1e9)

    class Removing(Silent):
        def expect(self, seconds: float | None) -> None:
            for part in (tmp_path / "one/cells").glob("part-*"):
                part.unlink()

    study, _ = find_study(str(study_file))
    lost = "one: 12 cells of the study are no longer there .*: run it again$"
    with pytest.raises(InputError, match=lost):
        run_study(study, str(tmp_path / "one"), progress=Removing())
    assert run_study(study, str(tmp_path / "one"), progress=Silent()).computed == 12


def test_a_run_names_leftovers_of_a_killed_run_and_forgets_them(finished: Path, study_file: Path) -> None:
    lines: list[str] = []
    silent = Silent()
    silent.note = lines.append
    Store(str(finished)).write_json(CLUSTER, {"cluster": "dask_jobqueue.SLURMCluster", "jobs": "mine"})
    study, _ = find_study(str(study_file))
    run_study(study, str(finished), progress=silent)
    [line] = lines
    left = "jobs named mine of dask_jobqueue.SLURMCluster, "
    assert line.startswith(f"{finished}: an earlier run may have left running: {left}")
    assert not (finished / CLUSTER).exists()


@pytest.mark.parametrize(("writes", "which"), [(True, "workers"), (False, "workers that still run")])
def test_an_interrupt_names_workers_that_write(
    study_file: Path, tmp_path: Path, silent: Any, monkeypatch: pytest.MonkeyPatch, writes: bool, which: str
) -> None:
    # Without an answer of the scheduler it is unknown which workers write.
    team = SimpleNamespace(writes=writes, may_write=True)
    monkeypatch.setattr(workers_module, "Workforce", lambda *_: team)
    plan = make_plan(find_study(str(study_file))[0])
    options = WorkerOptions(scheduler="tcp://host:1")
    Store(str(tmp_path)).prepare()
    with (
        pytest.raises(KeyboardInterrupt, match=f"^{which} finish and store the cells they have; run"),
        workers_module.workers(options, plan, str(tmp_path), silent),
    ):
        raise KeyboardInterrupt


def test_two_threads_give_the_results_of_one(
    finished: Path, study_file: Path, tmp_path: Path, silent: Any
) -> None:
    study, _ = find_study(str(study_file))
    run_study(study, str(tmp_path / "two"), progress=silent, options=WorkerOptions(threads=2))
    assert_same(finished, tmp_path / "two")


@pytest.mark.slow
def test_parts_are_bounded(
    finished: Path, study_file: Path, tmp_path: Path, silent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    write = Store.write

    def noted(store: Store, results: list[CellResult]) -> None:
        written.append(len(results))
        write(store, results)

    monkeypatch.setattr(Store, "write", noted)
    monkeypatch.setattr("singlepass.workflows.running.run._FLUSH_CELLS", 3)
    monkeypatch.setattr("singlepass.pipeline.workers.threads._UNTAKEN", 2)
    study, _ = find_study(str(study_file))
    run_study(study, str(tmp_path / "two"), progress=silent, options=WorkerOptions(threads=2))
    # A part is written from three cells on. Two readings of two cells may arrive when two cells are waiting.
    assert sum(written) == 28
    assert max(written) <= 6
    assert_same(finished, tmp_path / "two")


def test_a_changed_study_computes_only_new_cells(finished: Path, study_file: Path, silent: Any) -> None:
    study, _ = find_study(str(study_file))
    longer = study.model_copy(update={"seeds": [0, 1, 2]})
    summary = run_study(longer, str(finished), progress=silent)
    assert (summary.computed, summary.reused) == (8, 28)
    shorter = study.model_copy(update={"noise": [CLEAN]})
    summary = run_study(shorter, str(finished), progress=silent)
    assert summary.computed == 0
    # Rows of the longer study stay in the store, but its report omits them.
    assert set(summary.results.cells["noise"]) == {"0"}


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def cluster() -> Iterator[str]:
    """Start a real scheduler and two single-threaded worker processes."""
    address = f"tcp://127.0.0.1:{_free_port()}"
    port = address.rpartition(":")[2]
    dask = [sys.executable, "-m", "dask"]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "start_new_session": True}
    workers = [*dask, "worker", address, "--nworkers", "2", "--nthreads", "1", "--no-dashboard"]
    scheduler = [*dask, "scheduler", "--host", "127.0.0.1", "--port", port, "--no-dashboard"]
    processes = [subprocess.Popen(command, **quiet) for command in (scheduler, workers)]
    yield address
    for process in processes:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def test_a_cluster_of_processes_gives_the_results_of_threads(
    finished: Path, study_file: Path, tmp_path: Path, silent: Any, cluster: str
) -> None:
    study, _ = find_study(str(study_file))
    run_study(study, str(tmp_path / "cluster"), progress=silent, options=WorkerOptions(scheduler=cluster))
    assert_same(finished, tmp_path / "cluster")
    assert read_results(str(tmp_path / "cluster")).cells["worker"].nunique() == 2


@pytest.mark.slow
@pytest.mark.parametrize("protocol", ["prequential", "holdout", "crossval"])
def test_a_study_of_many_classes(tmp_path: Path, silent: Any, protocol: str) -> None:
    """Check cells, curves, ranks and report of multiclass next to binary tasks, with a grid."""
    learners = ("Perceptron", "PassiveAggressive", "SecondOrderPerceptron", "ConfidenceWeighted")
    learners += ("AdaGradRDA",)
    text = f'name = "s"\nprotocol = "{protocol}"\nnoise = 0.2\nseeds = 2\ncheckpoints = 3\nfolds = 3\n'
    text += '[[datasets]]\nname = "digits"\ntask = "multiclass"\nmax_examples = 900\n'
    text += '[[datasets]]\nname = "gauss"\nn_train = 200\nn_test = 100\n'
    text += "".join(f'[[algorithms]]\nname = "{name}"\n' for name in learners)
    text += '[[algorithms]]\nname = "AROW"\nr = [0.1, 1.0]\nconstraints = "all"\n'
    (tmp_path / "s.toml").write_text(text)
    study, _ = find_study(str(tmp_path / "s.toml"))
    out = tmp_path / "out"
    summary = run_study(study, str(out), progress=silent, options=WorkerOptions(threads=2))
    assert (summary.computed, summary.failed) == (2 * (6 * 2 + 2), 0)
    cells, curves = tables(out)
    digits = cells[(cells["dataset"] == "digits") & (cells["stage"] == "run")]
    assert len(digits) == 12
    # With ten classes, guessing errs on 90%.
    assert (digits["mistakes_clean"] / digits["n_examples"] < 0.6).all()
    assert (digits["mistakes_clean"] < digits["mistakes"]).all()
    assert digits["noise_realised"].between(0.1, 0.3).all()
    if protocol != "prequential":
        assert (digits["test_accuracy"] > 0.4).all()
    assert (curves.groupby("key").size() == 3).all()
    written = write_report(str(out), out)
    page = next(path for path in written if path.suffix == ".md").read_text()
    assert "digits" in page
    assert all(name in page for name in (*learners, "AROW"))


SLOW = """
from singlepass.learners import Perceptron as _Perceptron
import time

class SlowPerceptron(_Perceptron):
    def learn_rows(self, X, codes):
        time.sleep(0.05)
        return super().learn_rows(X, codes)
"""


# A cell that never ends and is nearly always in scikit-learn's C++ code.
ENDLESS = """
import pathlib

from sklearn.linear_model import SGDClassifier

from singlepass.learners import Perceptron as _Perceptron


class Endless(_Perceptron):
    def learn_rows(self, X, codes):
        model = SGDClassifier().partial_fit(X[:9], codes[:9], classes=[0, 1])
        pathlib.Path("begun").touch()
        while True:
            model.partial_fit(X[:1], codes[:1])
"""


@pytest.mark.slow
def test_a_stop_in_code_of_cpp_keeps_the_exit_status(tmp_path: Path) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS)
    text = 'name = "s"\nseeds = 2\n[[datasets]]\nname = "breast-cancer"\n'
    (tmp_path / "s.toml").write_text(text + '[[algorithms]]\nname = "Endless"\n')
    command = [sys.executable, "-c", "from singlepass.workflows.cli import program; program()"]
    command += ["run", "s.toml", "--plugin", "endless.py", "--out", "out", "--threads", "2"]
    process = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "begun").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    _, printed = process.communicate(timeout=60)
    assert process.returncode == 128 + signal.SIGTERM
    assert printed.splitlines()[-1].startswith("singlepass: stopped; stored cells are kept")


def test_a_killed_run_resumes(tmp_path: Path, silent: Any) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    text = 'name = "s"\nseeds = 40\ncheckpoints = 2\n[[datasets]]\nname = "breast-cancer"\n'
    (tmp_path / "s.toml").write_text(text + '[[algorithms]]\nname = "SlowPerceptron"\n')
    plugins = (str(tmp_path / "slow.py"),)
    command = [sys.executable, "-c", "from singlepass.workflows.cli import main; main()"]
    command += ["run", "s.toml", "--plugin", plugins[0], "--out", "killed", "--threads", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    parts = tmp_path / "killed" / "cells"
    deadline = time.monotonic() + 60
    while not list(parts.glob("*.parquet")) and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    kept = sum(len(pd.read_parquet(part)) for part in parts.glob("*.parquet"))
    assert 0 < kept < 40
    study, _ = find_study(str(tmp_path / "s.toml"))
    summary = run_study(study, str(tmp_path / "killed"), progress=silent, plugins=plugins)
    assert (summary.computed, summary.reused, summary.failed) == (40 - kept, kept, 0)
    # No cell is stored twice: there are as many rows on disk as cells.
    on_disk = pd.concat([pd.read_parquet(part) for part in parts.glob("*.parquet")])
    assert len(on_disk) == on_disk["key"].nunique() == 40
    run_study(
        study, str(tmp_path / "whole"), progress=silent, plugins=plugins, options=WorkerOptions(threads=2)
    )
    assert_same(tmp_path / "whole", tmp_path / "killed")


FAILING = """
from singlepass.learners import Perceptron as _Perceptron
import os

class Touchy(_Perceptron):
    def learn_rows(self, X, codes):
        if codes[0] == 1 and not os.environ.get("TOUCHY_CALM"):
            raise RuntimeError("odd one out")
        return super().learn_rows(X, codes)
"""


def test_a_failing_cell_is_a_row_and_can_be_retried(
    tmp_path: Path, silent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "touchy.py").write_text(FAILING)
    text = 'name = "s"\nseeds = 6\nnoise = 0.3\ncheckpoints = 1\n[[datasets]]\nname = "gauss"\nn_train = 60\n'
    (tmp_path / "s.toml").write_text(text + '[[algorithms]]\nname = "Touchy"\n')
    study, _ = find_study(str(tmp_path / "s.toml"))
    again = {"out": str(tmp_path / "o"), "progress": silent, "plugins": (str(tmp_path / "touchy.py"),)}
    first = run_study(study, **again)
    failed = first.results.cells[first.results.cells["status"] == "failed"]
    assert set(failed["error"]) == {
        "algorithm 'Touchy': learn() raised RuntimeError: odd one out (touchy.py, line 8)"
    }
    assert 0 < len(failed) == first.failed < 6
    assert failed["traceback"].str.contains("odd one out").all()
    assert run_study(study, **again).computed == 0
    monkeypatch.setenv("TOUCHY_CALM", "1")
    retried = run_study(study, retry_failed=True, **again)
    assert (retried.computed, retried.failed) == (first.failed, 0)
    assert len(retried.results.cells) == 6


def test_slow_guests_are_named_once_with_the_remedy(
    tmp_path: Path, silent: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    guest = {"name": "sklearn.linear_model:SGDClassifier"}
    table = {
        "name": "s",
        "seeds": 2,
        "datasets": [{"name": "gauss", "n_train": 40, "n_test": 10}],
        "algorithms": [{**guest, "label": "SGD"}, {**guest, "label": "SGD 8", "batch": 8}, {"name": "AROW"}],
    }
    for limit, named in ((0.0, ["SGD"]), (1e9, [])):
        monkeypatch.setattr(run, "_SLOW_MILLISECONDS", limit)
        silent.notes.clear()
        out = str(tmp_path / f"{limit:g}")
        run_study(parse_study(table), out, progress=silent, options=WorkerOptions(threads=1))
        found = [line for line in silent.notes if "ms an example" in line]
        assert [line.partition("'")[2].partition("'")[0] for line in found] == named
        assert all("on data set 'gauss', learned one by one; batch = 32" in line for line in found)


def test_a_damaged_part_is_recomputed(finished: Path, study_file: Path, tmp_path: Path, silent: Any) -> None:
    study, _ = find_study(str(study_file))
    run_study(study, str(tmp_path / "whole"), progress=silent)
    victim = next((finished / "cells").glob("*.parquet"))
    lost = len(pd.read_parquet(victim))
    victim.write_bytes(victim.read_bytes()[:-20])
    summary = run_study(study, str(finished), progress=silent)
    assert summary.computed == lost
    assert any(victim.name in note and "damaged" in note for note in silent.notes)
    assert_same(tmp_path / "whole", finished)


@pytest.mark.slow
def test_budgets_of_another_algorithms_support_size(tmp_path: Path, silent: Any) -> None:
    path = tmp_path / "budgets.toml"
    path.write_text(
        """
name = "budgets"
noise = [0.0, 0.2]
seeds = 2
[[datasets]]
name = "gauss"
n_train = 200
parameters = { gamma = 2.0 }
[[algorithms]]
name = "Forgetron"
budget = { support_of = "Projectron" }
[[algorithms]]
name = "Projectron"
eta = [0.1, 0.3]
"""
    )
    study, _ = find_study(str(path))
    first = run_study(study, str(tmp_path / "out"), progress=silent)
    assert (first.computed, first.failed) == (4 + 4 + 4, 0)
    assert silent.finished == silent.total == 12
    cells, _ = tables(tmp_path / "out")
    cells = cells[cells["stage"] == "run"].set_index(["algorithm", "noise", "seed"]).sort_index()
    sizes = cells.loc["Projectron", "support_vectors"]
    assert (sizes > 5).all()
    budgets = cells.loc["Forgetron", "params"].map(lambda params: json.loads(params)["budget"])
    assert budgets.tolist() == sizes.tolist()
    assert (cells.loc["Forgetron", "support_vectors"] <= sizes).all()
    again = run_study(study, str(tmp_path / "out"), progress=silent)
    assert (again.computed, again.reused) == (0, 12)
    write_report(tmp_path / "out")


@pytest.mark.slow
def test_a_budget_that_equals_another_algorithms_shares_its_cells(tmp_path: Path, silent: Any) -> None:
    """That they share them is known only after the first stage, which computes them."""
    table: dict[str, Any] = {
        "name": "shared",
        "seeds": 2,
        "datasets": [{"name": "gauss", "n_train": 200}],
        "algorithms": [
            {"name": "RandomizedBudgetPerceptron", "label": "R", "budget": 5},
            {"name": "Forgetron", "label": "F", "budget": 5},
            {"name": "Forgetron", "label": "as R", "budget": {"support_of": "R"}},
        ],
    }
    summary = run_study(parse_study(table), str(tmp_path / "out"), progress=silent)
    assert (summary.computed, summary.reused) == (4, 0)
    assert silent.finished == silent.total == 6
    assert sum(len(pd.read_parquet(part)) for part in (tmp_path / "out" / "cells").glob("*.parquet")) == 4


@pytest.mark.slow
def test_budgets_from_an_unfinished_cell_are_reported_missing(tmp_path: Path, silent: Any) -> None:
    table: dict[str, Any] = {
        "name": "slow",
        "seeds": 2,
        "time_limit": 1e-9,
        "datasets": [{"name": "gauss", "n_train": 300}],
        "algorithms": [
            {"name": "Projectron", "label": "P"},
            {"name": "Forgetron", "budget": {"support_of": "P"}},
        ],
    }
    summary = run_study(parse_study(table), str(tmp_path / "out"), progress=silent)
    assert (summary.computed, summary.stopped) == (2, 2)
    assert silent.notes == ["Forgetron: not run 2 times, because P has no number of support vectors there"]


def test_a_stopped_cell_is_not_a_failure_and_can_be_retried(tmp_path: Path, silent: Any) -> None:
    table: dict[str, Any] = {
        "name": "slow",
        "seeds": 1,
        "datasets": [{"name": "gauss", "n_train": 500}],
        "algorithms": [{"name": "AROW"}, {"name": "Perceptron"}],
    }
    out = str(tmp_path / "out")
    stopped = run_study(parse_study({**table, "time_limit": 1e-9}), out, progress=silent)
    assert (stopped.computed, stopped.failed, stopped.stopped) == (2, 0, 2)
    assert set(stopped.results.cells["n_examples"]) == {1}
    report = "\n".join(path.read_text() for path in write_report(out) if path.suffix == ".md")
    assert "time limit of 1e-09 s reached after 1 of 500 examples" in report
    assert run_study(parse_study(table), out, progress=silent).computed == 0
    again = run_study(parse_study(table), out, progress=silent, retry_failed=True)
    assert (again.computed, again.stopped) == (2, 0)
    assert set(again.results.cells["n_examples"]) == {500}


@pytest.mark.parametrize("name", ["study.json", "plan.json", "provenance.json", "shared.json"])
@pytest.mark.parametrize(
    "content",
    [
        b'{"name": ',
        *(pytest.param(each, marks=pytest.mark.slow) for each in (b"", b"[1]", b"\xff\xfe", b"[" * 100_000)),
    ],
)
def test_a_damaged_document_is_named_set_aside_and_rewritten(
    copied: Path, study_file: Path, silent: Any, name: str, content: bytes
) -> None:
    before = {path.name for path in copied.iterdir()}
    (copied / name).write_bytes(content)
    if name == "study.json":
        with pytest.raises(InputError, match=rf"{name}: damaged, .*: run the study again"):
            read_results(str(copied))
    study, _ = find_study(str(study_file))
    summary = run_study(study, str(copied), progress=silent)
    assert (summary.computed, summary.failed) == (0, 0)
    assert any(note.startswith(f"{copied / name}: damaged, moved to") for note in silent.notes)
    assert (copied / "damaged" / name).read_bytes() == content
    assert {path.name for path in copied.iterdir()} - {"damaged"} == before
    assert len(read_results(str(copied)).cells) == summary.reused


PLAIN = b"class Plain:\n    def partial_fit(self, X, y): ...\n    def predict(self, X): return [1] * len(X)\n"


@pytest.mark.slow
@pytest.mark.parametrize("edited", [b"raise SystemError\n", None])
def test_a_run_records_and_sends_the_plugin_that_it_planned_with(
    edited: bytes | None, tmp_path: Path, silent: Silent, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(registry, "_plugins", {})
    plugin, out, sent = tmp_path / "mine.py", tmp_path / "out", []
    plugin.write_bytes(PLAIN)

    def planned(*args: Any, **kwargs: Any) -> Plan:
        plan = make_plan(*args, **kwargs)
        plugin.unlink() if edited is None else plugin.write_bytes(edited)
        return plan

    class Noted(workers_module.Workforce):
        def __init__(self, preparation: Any, *args: Any) -> None:
            sent.append(preparation.plugins[0].content)
            super().__init__(preparation, *args)

    monkeypatch.setattr(run, "make_plan", planned)
    monkeypatch.setattr(workers_module, "Workforce", Noted)
    gauss = {"name": "gauss", "n_train": 20, "n_test": 10}
    study = parse_study({"name": "s", "seeds": 1, "datasets": [gauss], "algorithms": [{"name": "Plain"}]})
    ended = run_study(study, str(out), progress=silent, plugins=(str(plugin),))
    assert (ended.computed, ended.failed) == (1, 0)
    digest = hashlib.sha256(PLAIN).hexdigest()
    assert json.loads((out / "plan.json").read_text())["plugins"] == {str(plugin): digest}
    plugin.write_bytes(PLAIN)
    plan = planned(study, plugins=(str(plugin),))
    with workers_module.workers(WorkerOptions(scheduler="tcp://127.0.0.1:1"), plan, str(out), silent):
        assert sent == [PLAIN]
