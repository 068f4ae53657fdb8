"""Test the doctor: it checks a machine or a cluster, prints problems as lines, and sets an exit status."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from singlepass.pipeline import data
from singlepass.pipeline.data import Lack
from singlepass.pipeline.workers.cluster.checkup import Checkup, WorkerCheckup, job_script
from singlepass.pipeline.workers.cluster.cluster_file import SCHEDULER_SETTINGS
from singlepass.pipeline.workers.environment import this_environment
from singlepass.workflows.doctor import Findings, describe, examine_machine

Call = Callable[..., Any]


def test_this_machine(singlepass: Call, study_file: Path) -> None:
    result = singlepass("doctor", study_file.name)
    assert result.returncode == 0, result.stdout
    for fragment in ("numba", "python", "can be written and locked", "data gauss", "all is well"):
        assert fragment in result.stdout


def test_problems_of_this_machine(
    singlepass: Call, tmp_path: Path, study_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "taken").write_text("a file")
    monkeypatch.setenv("SINGLEPASS_CACHE", str(tmp_path / "taken" / "cache"))
    study_file.write_text(study_file.read_text() + '[[datasets]]\npath = "none.csv"\n')
    result = singlepass("doctor", study_file.name, "--out", "taken/out")
    assert result.returncode == 1
    lines = [line for line in result.stdout.splitlines() if line.startswith("wrong: ")]
    assert [line.split()[1] for line in lines] == ["cache", "output", "data"]
    assert "none.csv: no such file" in lines[2]
    assert "Traceback" not in result.stdout + result.stderr


@pytest.mark.slow
def test_a_cluster_of_this_machine(singlepass: Call, tmp_path: Path, study_file: Path) -> None:
    (tmp_path / "mine.csv").write_text("u,v,label\n1,2,a\n3,4,b\n5,6,a\n")
    study_file.write_text(study_file.read_text() + '[[datasets]]\npath = "mine.csv"\n')
    result = singlepass("doctor", "--cluster", "local:1", study_file.name)
    assert result.returncode == 0, result.stdout + result.stderr
    for fragment in (
        "1 with 1 thread",
        "versions as here",
        "dashboard",
        "not encrypted",
        "can be written and locked",
        "1 table; workers that have all of them: 1",
        "unknown-task-duration 10ms",
        "all is well",
    ):
        assert fragment in result.stdout


def test_a_cluster_without_workers() -> None:
    found = Findings()
    describe(found, _checkup(workers={}), 1)
    assert [problem.partition(":")[0] for problem in found.problems] == ["no worker came"]


def test_an_unreachable_scheduler(singlepass: Call) -> None:
    result = singlepass("doctor", "--scheduler", "tcp://127.0.0.1:9", "--patience", "0")
    assert result.returncode == 1
    assert "wrong: scheduler tcp://127.0.0.1:9: did not answer" in result.stdout
    result = singlepass("doctor", "--scheduler", "tcp://127.0.0.1:9", "--cluster", "local:1")
    assert result.returncode == 2
    assert "give only one of them" in result.stderr


def _checkup(**changes: Any) -> Checkup:
    here = this_environment()
    worker = WorkerCheckup(threads=2, memory=0, environment=here, lacking=[], cache_free=10**12)
    versions = {name: here.versions[name] for name in ("python", "dask", "distributed", "singlepass")}
    found = Checkup(
        scheduler="tls://10.0.0.1:8786",
        versions=versions,
        settings=dict(SCHEDULER_SETTINGS),
        dashboard="http://10.0.0.1:8787/status",
        encrypted=True,
        workers={"tls://10.0.0.2:1": worker},
        first_task=0.01,
        a_task=0.001,
    )
    return replace(found, **changes)


def test_a_cluster_without_problems() -> None:
    found = Findings()
    describe(found, _checkup(), 3)
    assert not found.problems
    assert not found.advice
    assert ("data", "3 tables; workers that have all of them: 1") in found.facts


def test_problems_of_a_cluster() -> None:
    here = this_environment()
    well = WorkerCheckup(threads=2, memory=0, environment=here, lacking=[], cache_free=10**12)
    other = replace(here, versions={**here.versions, "numpy": "1.0"})
    pin = data.Pin("mine.csv", (), "{}")
    workers = {
        "tcp://a": replace(well, environment=other),
        "tcp://b": replace(well, environment="singlepass is missing", lacking="singlepass is missing"),
        "tcp://c": replace(well, lacking=[Lack(pin, "mine.csv: no such file")]),
        "tcp://d": replace(well, lacking="cache /c: 1.0 MB free"),
        "tcp://f": replace(well, guests="river is not installed"),
        "tcp://e": replace(well, lacking="cache /e: full", cache_free="cache /e: full"),
    }
    versions = {**_checkup().versions, "distributed": "1.0", "singlepass": None}
    settings = {**SCHEDULER_SETTINGS, "distributed.scheduler.allowed-failures": 3}
    settings["distributed.scheduler.unknown-task-duration"] = "0.01s"
    found = Findings()
    describe(found, _checkup(workers=workers, versions=versions, settings=settings), 1)
    problems = "\n".join(found.problems)
    assert len(found.problems) == 6, problems
    assert "scheduler: distributed 1.0" in problems
    assert f"worker tcp://a: numpy 1.0 instead of {here.versions['numpy']}" in problems
    assert "worker tcp://b: singlepass is missing" in problems
    assert f"worker tcp://d at {here.host}: cache /c: 1.0 MB free; a run sends it no cells" in problems
    assert problems.count("cache /e: full") == 1
    assert f"worker tcp://f at {here.host}: river is not installed; a run sends it no cells" in problems
    advice = "\n".join(found.advice)
    assert len(found.advice) == 2, advice
    assert "DASK_DISTRIBUTED__SCHEDULER__ALLOWED_FAILURES=1" in advice
    assert "tcp://c: mine.csv: no such file; a run sends it this machine's table" in advice


class _Queue:
    """Provide a script, as batch system clusters do; printing it must not start any worker."""

    def __init__(
        self, n_workers: int = 4, queue: str = "", job_name: str = "", worker_extra_args: tuple[str, ...] = ()
    ) -> None:
        assert n_workers == 0
        self.queue, self.name, self.extra = queue, job_name, worker_extra_args

    def job_script(self) -> str:
        return f"#QUEUE {self.queue} {self.name}\nrun a worker {' '.join(self.extra)}\n"

    def close(self) -> None:
        """Do nothing."""


def test_the_script_of_a_job(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "queue.toml"
    monkeypatch.setattr("singlepass.pipeline.workers.cluster.Queue", _Queue, raising=False)
    file.write_text(
        'class = "singlepass.pipeline.workers.cluster.Queue"\n[kwargs]\nqueue = "long"\nn_workers = 4\n'
        'worker_extra_args = ["--lifetime", "1h"]\n'
    )
    script = job_script(str(file))
    assert script is not None
    # The lifetime is the one that a run would give its jobs; each run draws the end of the name.
    assert script.startswith("#QUEUE long singlepass-XXXX\n")
    assert script.endswith("\nrun a worker --lifetime 3420s --lifetime-stagger 180s\n")
    file.write_text(f'{file.read_text()}job_name = "mine"\n')
    assert (job_script(str(file)) or "").startswith("#QUEUE long mine\n")
    file.write_text('class = "distributed.LocalCluster"\n')
    assert job_script(str(file)) is None
    assert job_script("local:2") is None


def test_all_lines_of_a_job_script_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    assert not Findings(facts=[("job script", "#!/bin/sh\nline"), ("scheduler", "here")]).show()
    assert capsys.readouterr().out == "job script:\n#!/bin/sh\nline\n\nscheduler   here\nall is well\n"


@pytest.mark.slow
def test_dask_runs_the_commands(tmp_path: Path) -> None:
    def call(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "dask", "singlepass", *arguments]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert "doctor" in call("--help").stdout
    refused = call("plan", "quikstart")
    assert refused.returncode == 2
    assert refused.stderr.startswith("singlepass: error: study 'quikstart'")
    assert "Traceback" not in refused.stderr


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Open:
        def __init__(self, *args: object, **options: object) -> None:
            """Lock nothing."""

        def __enter__(self) -> None:
            return None

        def __exit__(self, *error: object) -> None:
            return None

    monkeypatch.setattr("filelock.FileLock", Open)
    found = examine_machine(None, str(tmp_path / "out"))
    assert any("locks no files" in problem for problem in found.problems)
