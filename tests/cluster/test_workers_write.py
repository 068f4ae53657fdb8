"""Workers that write their cells themselves: the client may leave, and a run that comes after goes on."""

from __future__ import annotations

import signal
import time
from pathlib import Path

from .poison import slow
from .processes import Processes, free_port
from .studies import assert_same, narrow_study, stored_keys

LONGEST = 120.0


def test_the_client_leaves_and_comes_back(processes: Processes, tmp_path: Path) -> None:
    """Workers are killed with cells that they have not written yet, and the client; nothing is lost."""
    (tmp_path / "slow.py").write_text(slow(0.3))
    study = tmp_path / "study.toml"
    study.write_text(narrow_study('name = "Slow"', 'name = "Perceptron"', seeds=120))
    port, out = free_port(), tmp_path / "out"
    address = f"tcp://127.0.0.1:{port}"
    run = ["run", str(study), "--plugin", str(tmp_path / "slow.py"), "--out"]
    processes.scheduler(port)
    workers = [processes.worker(address) for _ in range(2)]
    # Elsewhere, by a relative path: a folder of the same name there is another one.
    command = [*run, "out", "--scheduler", address, "--workers-write"]
    client = processes.client(*command, cwd=tmp_path)
    client.wait_for(lambda: len(stored_keys(out)) > 5, LONGEST, "the first cells")
    workers[0].kill()
    client.popen.send_signal(signal.SIGKILL)
    client.popen.wait()
    there = len(stored_keys(out))
    # Nobody but the worker that is left writes now.
    deadline = time.monotonic() + LONGEST
    while len(stored_keys(out)) < there + 5 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert len(stored_keys(out)) >= there + 5
    # What was handed out is run by whoever comes, and known to the client that comes back.
    workers[1].kill()
    processes.worker(address)
    processes.worker(address)
    again = processes.client(*command, cwd=tmp_path)
    assert again.wait(LONGEST) == 0, again.said
    assert "Traceback" not in again.said
    threads = processes.client(*run, str(tmp_path / "threads"), "--threads", "2")
    assert threads.wait(LONGEST) == 0, threads.said
    assert_same(tmp_path / "threads", out)


def test_an_output_that_workers_do_not_see(processes: Processes, tmp_path: Path) -> None:
    study = tmp_path / "study.toml"
    study.write_text(narrow_study('name = "Perceptron"'))
    port = free_port()
    processes.scheduler(port)
    processes.worker(f"tcp://127.0.0.1:{port}")
    # In the client's memory.
    where = ["--out", "memory://out", "--scheduler", f"tcp://127.0.0.1:{port}", "--workers-write"]
    client = processes.client("run", str(study), *where)
    assert client.wait(LONGEST) == 2, client.said
    assert "memory://out is not the client's" in client.stderr.splitlines()[-1]
    local = processes.client("run", str(study), "--workers-write")
    assert local.wait(LONGEST) == 2
    assert "--workers-write is for clusters" in local.stderr
