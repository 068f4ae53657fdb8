"""Test results at a URL, on a local S3 server: run, killed, resumed, watched, merged, reported."""

from __future__ import annotations

import logging
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pandas as pd
import pytest

from singlepass.pipeline.analysis.study_results import read_results
from singlepass.pipeline.errors import InputError
from singlepass.pipeline.store import locking
from singlepass.pipeline.store.locking import LEASE, holder_here, holder_of
from singlepass.pipeline.store.schema import PROVENANCE
from singlepass.pipeline.store.store import Store, exclusive
from singlepass.workflows.running.run import run_study
from singlepass.workflows.running.workers import WorkerOptions
from singlepass.workflows.shipped import find_study
from singlepass.workflows.status import run_status


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """Start the server; processes of this test find it through environment variables."""
    moto = pytest.importorskip("moto.server", reason="needs moto, flask and flask-cors: the extra `test`")
    s3fs = pytest.importorskip("s3fs", reason="needs s3fs: the extra `test`")
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = moto.ThreadedMotoServer("127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        environment.setenv("AWS_ACCESS_KEY_ID", "anybody")
        environment.setenv("AWS_SECRET_ACCESS_KEY", "anything")
        environment.setenv("AWS_DEFAULT_REGION", "us-east-1")
        environment.setenv("AWS_EC2_METADATA_DISABLED", "true")
        s3fs.S3FileSystem.clear_instance_cache()
        # The server stores its buckets in this process, so that a second server here would share them.
        name = f"results-{uuid4().hex}"
        s3fs.S3FileSystem().mkdir(name)
        yield f"s3://{name}"
        s3fs.S3FileSystem.clear_instance_cache()
    server.stop()


@pytest.fixture
def url(bucket: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return a new URL for each test, and shorten leases."""
    monkeypatch.setattr(locking, "RENEWED_EVERY", 0.4)
    monkeypatch.setattr(locking, "SETTLING", 0.2)
    return f"{bucket}/{uuid4().hex}/study"


def tables(url: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return cells and curves without the columns for time, place and speed."""
    results = read_results(url)
    return results.cells.drop(columns=list(PROVENANCE)), results.curves.drop(columns="fit_seconds")


def assert_same(first: str, second: str) -> None:
    for ours, theirs in zip(tables(first), tables(second), strict=True):
        pd.testing.assert_frame_equal(ours, theirs, check_exact=True)


@pytest.mark.slow
def test_a_study_at_a_url_is_the_same_study(
    url: str, study_file: Path, tmp_path: Path, silent: Any, singlepass: Callable[..., Any]
) -> None:
    study, _ = find_study(str(study_file))
    first = run_study(study, url, progress=silent, options=WorkerOptions(threads=2))
    assert (first.computed, first.failed) == (28, 0)
    run_study(study, str(tmp_path / "local"), progress=silent, options=WorkerOptions(threads=2))
    assert_same(str(tmp_path / "local"), url)
    again = singlepass("run", study_file.name, "--out", url)
    assert "small: 0 cells computed, 28 reused, 0 failed" in again.stdout
    reported = singlepass("report", url, "--to", "rep")
    assert reported.returncode == 0
    assert (tmp_path / "rep" / "report.html").stat().st_size > 1000
    told = singlepass("status", url).stdout
    assert "28 of 28 finished (100%)" in told
    assert "run by   no process now" in told
    merged = singlepass("compact", url)
    assert merged.returncode == 0
    assert "28 cells" in merged.stdout
    assert len(merged.stdout.splitlines()) == 1
    assert_same(str(tmp_path / "local"), url)
    store = Store(url)
    names = [Path(path).name for path in store.fs.find(store.root)]
    # Objects are written under their final name: nothing to rename, nothing left over.
    assert not any(name.endswith(".tmp") or name.startswith(".write") or name == LEASE for name in names)


SLOW = """
from singlepass.learners import Perceptron as _Perceptron
import time

class SlowAtUrl(_Perceptron):
    def learn_rows(self, X, codes):
        time.sleep(0.05)
        return super().learn_rows(X, codes)
"""


@pytest.mark.slow
def test_a_killed_run_at_a_url_resumes(url: str, tmp_path: Path, silent: Any) -> None:
    (tmp_path / "slow.py").write_text(SLOW)
    text = 'name = "s"\nseeds = 60\ncheckpoints = 2\n[[datasets]]\nname = "breast-cancer"\n'
    (tmp_path / "s.toml").write_text(text + '[[algorithms]]\nname = "SlowAtUrl"\n')
    plugins = (str(tmp_path / "slow.py"),)
    command = [sys.executable, "-c", "from singlepass.workflows.cli import main; main()"]
    command += ["run", "s.toml", "--plugin", plugins[0], "--out", url, "--threads", "1"]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    store, seen, rows = Store(url), set[str](), 0
    deadline = time.monotonic() + 60
    # Another process writes, so a cached listing must not be used.
    while not rows and time.monotonic() < deadline:
        rows += len(store.new_rows(seen))
        time.sleep(0.05)
    told = run_status(url)
    assert told.holder.startswith(f"process {process.pid} on {socket.gethostname()} since ")
    assert told.silent_seconds is not None
    assert told.planned == 60
    assert 0 < told.cells["ok"] < 60
    assert told.per_minute > 0
    assert told.seconds_left is not None
    assert [worker.name for worker in told.workers] == [f"{socket.gethostname()}:{process.pid}"]
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    # Its lease is still there; on the same machine the process is known to have ended.
    assert store.fs.exists(f"{store.root}/{LEASE}")
    assert holder_of(store.folder) is None or not Path("/proc/self/ns/pid").exists()
    kept = len(store.done())
    assert 0 < kept < 60
    study, _ = find_study(str(tmp_path / "s.toml"))
    summary = run_study(study, url, progress=silent, plugins=plugins)
    assert (summary.computed, summary.reused, summary.failed) == (60 - kept, kept, 0)
    run_study(
        study, str(tmp_path / "whole"), progress=silent, plugins=plugins, options=WorkerOptions(threads=2)
    )
    assert_same(str(tmp_path / "whole"), url)


@pytest.mark.slow
def test_the_second_client_at_a_url_is_refused(url: str, study_file: Path, silent: Any) -> None:
    store = Store(url)
    store.prepare()
    study, _ = find_study(str(study_file))
    line = rf"another run is writing to it \(process {os.getpid()} on {socket.gethostname()} since "
    with exclusive(store), pytest.raises(InputError, match=line):
        run_study(study, url, progress=silent)
    assert run_study(study, url, progress=silent).computed == 28


def test_a_missing_bucket_is_one_line(bucket: str, singlepass: Callable[..., Any]) -> None:
    for command in ("status", "compact", "report"):
        result = singlepass(command, "s3://no-such-bucket/study")
        assert result.returncode == 2
        assert result.stderr.startswith("singlepass: error: s3://no-such-bucket/study: no results here")
        assert len(result.stderr.splitlines()) == 1


def test_a_missing_bucket_is_refused(bucket: str, study_file: Path, singlepass: Callable[..., Any]) -> None:
    refused = singlepass("run", study_file.name, "--out", "s3://missing-bucket/r3")
    assert refused.returncode == 2
    assert "output s3://missing-bucket/r3: cannot be written to" in refused.stderr
    import s3fs

    assert not s3fs.S3FileSystem().exists("missing-bucket")


def test_a_run_whose_lease_is_taken_over_stops(url: str, study_file: Path, silent: Any) -> None:
    """Check that a resumed client that finds another lease holder stops, and leaves the output to it."""
    study, _ = find_study(str(study_file))
    taker = replace(holder_here(), host="far", pid=77, machine="another boot", token="other")
    taken = False

    def take(*_: object) -> None:
        nonlocal taken
        if not taken:
            taken = True
            # A renewal that has just read the lease may write over the first taker's.
            for _ in range(2):
                Store(url).folder.write(LEASE, taker.document())
                # Several renewals of the lease, also on a busy machine: the first that fails stops the run.
                time.sleep(2)

    silent.advance = take
    with pytest.raises(InputError, match=r"process 77 on far since .* has taken the output over"):
        run_study(study, url, progress=silent, options=WorkerOptions(threads=1))
    assert holder_of(Store(url).folder) == taker
