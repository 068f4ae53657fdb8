"""Test `doctor` on a real cluster: it names each worker that differs from this process, and how."""

from __future__ import annotations

import os
import re
from importlib import metadata
from pathlib import Path

import pytest

from .disguises import with_cache, with_file, with_full_disk, with_version, without
from .processes import Processes, Running, free_port

OTHER = ".".join([*metadata.version("numpy").split(".")[:2], "97"])
STUDY = """
name = "own"
[[datasets]]
path = "mine.csv"
target = "label"
[[algorithms]]
name = "Perceptron"
"""


def _registered(worker: Running) -> str:
    """Wait until a worker is registered; return its address."""
    worker.wait_for(lambda: "Registered to:" in worker.said, 120, "registration")
    found = re.search(r"Start worker at:\s+(\S+)", worker.said)
    assert found
    return found.group(1)


@pytest.mark.slow
def test_workers_that_are_unlike_this_process(processes: Processes, tmp_path: Path) -> None:
    mine = tmp_path / "mine.csv"
    mine.write_text("u,v,label\n1,2,a\n3,4,b\n5,6,a\n7,8,b\n")
    (tmp_path / "own.toml").write_text(STUDY)
    port = free_port()
    processes.scheduler(port)
    address = f"tcp://127.0.0.1:{port}"
    elsewhere = {
        **with_file(tmp_path / "elsewhere", mine, tmp_path / "none.csv"),
        **with_cache(tmp_path / "cache"),
    }
    kinds = [
        without(tmp_path / "without", "singlepass"),
        with_version(tmp_path / "o", "numpy", OTHER),
        elsewhere,
        with_full_disk(tmp_path / "full"),
    ]
    bare, old, empty, full = (_registered(processes.worker(address, env=env)) for env in kinds)
    doctor = processes.client("doctor", str(tmp_path / "own.toml"), "--scheduler", address)
    assert doctor.wait(300) == 1, doctor.said
    wrong = {
        line.split()[2].rstrip(":"): line for line in doctor.stdout.splitlines() if line.startswith("wrong:")
    }
    assert set(wrong) == {bare, old, full}, doctor.said
    assert "singlepass is missing" in wrong[bare]
    assert f"numpy {OTHER} instead of {metadata.version('numpy')}" in wrong[old]
    assert f"{tmp_path}/full/cache: cannot be written (No space left on device)" in wrong[full]
    better = [line for line in doctor.stdout.splitlines() if line.startswith("better:")]
    assert any(f"worker {empty}: " in line and os.fspath(mine) in line for line in better), doctor.said
    # A scheduler that was started by hand has Dask's default settings.
    assert any("ALLOWED_FAILURES=1" in line for line in better), doctor.said
    assert "Traceback" not in doctor.said
