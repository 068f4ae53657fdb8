"""Workers that are not what the client is: a line within 30 s; none hangs, none computes something else.

A worker is made to differ by what its process is started with (`disguises`).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Mapping
from importlib import metadata
from pathlib import Path

import pytest

from singlepass.pipeline.analysis.study_results import read_results

from .disguises import with_cache, with_code, with_file, with_version, without
from .poison import slow
from .processes import Processes, Running, free_port
from .studies import assert_same, narrow_study, stored_keys

# Seconds from the client's start until it must have said what is wrong.
PROMPT = 30.0
LONGEST = 120.0
ALGORITHMS = ['name = "AROW"\nr = [0.1, 1.0]', 'name = "Perceptron"']
# Of the installed one the last number alone is another: what is built upon NumPy looks at the first two.
_MAJOR_MINOR = ".".join(metadata.version("numpy").split(".")[:2])
OTHER_NUMPY = f"{_MAJOR_MINOR}.97"

Start = Callable[..., Running]


@pytest.fixture
def port(processes: Processes) -> int:
    """Start a scheduler and return its port."""
    port = free_port()
    processes.scheduler(port)
    return port


@pytest.fixture
def worker(processes: Processes, port: int) -> Start:
    """Start a worker and wait until the scheduler knows it."""

    def start(env: Mapping[str, str] | None = None, cwd: Path | None = None) -> Running:
        started = processes.worker(f"tcp://127.0.0.1:{port}", env=env, cwd=cwd)
        started.wait_for(lambda: "Registered to:" in started.said, 30, "registration")
        return started

    return start


def address_of(worker: Running) -> str:
    """Return the address of a worker, from what it has printed."""
    found = re.search(r"Start worker at:\s+(\S+)", worker.said)
    assert found, worker.said
    return found.group(1)


def _study(folder: Path, *algorithms: str, **more: object) -> Path:
    path = folder / "study.toml"
    path.write_text(narrow_study(*(algorithms or ALGORITHMS), **more))
    return path


def _arguments(study: Path, port: int, out: str = "out") -> list[str]:
    address = f"tcp://127.0.0.1:{port}"
    return ["run", str(study), "--out", str(study.parent / out), "--scheduler", address]


def _check_refused(client: Running, *words: str) -> None:
    """Check that it ended in time, with status 2, one error and these words."""
    assert client.wait(PROMPT) == 2, client.said
    assert "Traceback" not in client.said
    errors = [line for line in client.stderr.splitlines() if line.startswith("singlepass: error:")]
    assert len(errors) == 1, client.stderr
    for word in words:
        assert word in client.stderr, client.stderr


def test_a_worker_without_singlepass(processes: Processes, port: int, worker: Start, tmp_path: Path) -> None:
    bad = worker(without(tmp_path / "without", "singlepass"))
    client = processes.client(*_arguments(_study(tmp_path), port))
    _check_refused(client, address_of(bad), "singlepass")
    assert stored_keys(tmp_path / "out") == []


def test_a_worker_with_another_numpy(processes: Processes, port: int, worker: Start, tmp_path: Path) -> None:
    """It is refused beside a good one, in a table; with `--allow-mismatch` it is named in the provenance."""
    good, bad = worker(), worker(with_version(tmp_path / "other", "numpy", OTHER_NUMPY))
    arguments = _arguments(_study(tmp_path), port)
    client = processes.client(*arguments)
    _check_refused(client, address_of(bad), "numpy", OTHER_NUMPY, metadata.version("numpy"))
    assert stored_keys(tmp_path / "out") == []

    client = processes.client(*arguments, "--allow-mismatch")
    assert client.wait(LONGEST) == 0, client.said
    last = json.loads((tmp_path / "out" / "provenance.json").read_text())["runs"][-1]
    told = json.dumps(last)
    # By the name that cells know it by, too: host and process.
    assert f':{bad.popen.pid}"' in told
    assert f':{good.popen.pid}"' in told
    assert OTHER_NUMPY in told
    assert metadata.version("numpy") in told


def test_a_worker_with_other_code(processes: Processes, port: int, worker: Start, tmp_path: Path) -> None:
    """A version names a release; what a worker runs may be a checkout that somebody edits."""
    bad = worker(with_code(tmp_path / "copy", "pipeline/run/splits.py", "EDITED = True"))
    client = processes.client(*_arguments(_study(tmp_path), port))
    _check_refused(client, address_of(bad), "singlepass")
    assert stored_keys(tmp_path / "out") == []


@pytest.mark.faults
def test_a_worker_that_joins_later(processes: Processes, port: int, worker: Start, tmp_path: Path) -> None:
    """It is named as at the start, and computes nothing; the run ends, or goes on without it."""
    worker()
    (tmp_path / "slow.py").write_text(slow(0.5))
    study = _study(tmp_path, 'name = "Slow"', seeds=60)
    client = processes.client(*_arguments(study, port), "--plugin", str(tmp_path / "slow.py"))
    client.wait_for(lambda: stored_keys(tmp_path / "out"), LONGEST, "first cells")
    bad = worker(with_version(tmp_path / "other", "numpy", OTHER_NUMPY))
    status = client.wait(LONGEST)
    assert "Traceback" not in client.said
    assert status in (0, 2), client.said
    assert address_of(bad) in client.stderr
    assert OTHER_NUMPY in client.stderr
    cells = read_results(str(tmp_path / "out")).cells
    assert (cells["status"] == "ok").all()
    assert not cells["worker"].str.contains(address_of(bad).rpartition(":")[2]).any()
    assert (len(cells) == 60) == (status == 0)


# -- data and plug-ins --------------------------------------------------------------------------------


def _data_file(path: Path, seed: int = 0) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    draw = random.Random(seed)
    rows = ["x1,x2,x3,kind"]
    for _ in range(300):
        x = [draw.gauss(0, 1) for _ in range(3)]
        kind = "high" if x[0] + x[1] + draw.gauss(0, 0.5) > 0 else "low"
        rows.append(",".join([*(f"{each:.3f}" for each in x), kind]))
    path.write_text("\n".join(rows) + "\n")
    return path


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Return a client's folder: a study with a relative path, a plug-in, and what threads make of them."""
    home = tmp_path / "home"
    _data_file(home / "data" / "mine.csv")
    (home / "mine.py").write_text(slow(0.0))
    _study(
        home, *ALGORITHMS, 'name = "Slow"', datasets='[[datasets]]\npath = "data/mine.csv"\ntarget = "kind"'
    )
    with Processes(tmp_path / "reference") as processes:
        client = processes.client(
            "run", "study.toml", "--out", "threads", "--threads", "2", "--plugin", "mine.py", cwd=home
        )
        assert client.wait(LONGEST) == 0, client.said
    return home


def _run_at_home(processes: Processes, home: Path, port: int) -> Running:
    """Run the study from its folder, with relative paths."""
    where = ["--scheduler", f"tcp://127.0.0.1:{port}", "--plugin", "mine.py"]
    client = processes.client("run", "study.toml", "--out", "out", *where, cwd=home)
    assert client.wait(LONGEST) == 0, client.said
    assert "Traceback" not in client.said
    assert_same(home / "threads", home / "out")
    return client


def test_a_worker_in_another_folder(
    processes: Processes, port: int, worker: Start, tmp_path: Path, home: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    worker(with_cache(tmp_path / "cache"), cwd=elsewhere)
    client = _run_at_home(processes, home, port)
    assert "mine.csv" not in client.stderr


def test_a_worker_without_the_plugin(
    processes: Processes, port: int, worker: Start, tmp_path: Path, home: Path
) -> None:
    worker(with_file(tmp_path / "hidden", home / "mine.py", tmp_path / "no such file"))
    _run_at_home(processes, home, port)


def test_a_worker_without_the_data(
    processes: Processes, port: int, worker: Start, tmp_path: Path, home: Path
) -> None:
    data = home / "data" / "mine.csv"
    hidden = with_file(tmp_path / "hidden", data, tmp_path / "no such file")
    worker_without = worker({**hidden, **with_cache(tmp_path / "cache")})
    client = _run_at_home(processes, home, port)
    _check_named_once(client, worker_without)


def test_a_worker_with_edited_data(
    processes: Processes, port: int, worker: Start, tmp_path: Path, home: Path
) -> None:
    """It says so, and computes what the client has."""
    edited = _data_file(tmp_path / "edited" / "mine.csv", seed=1)
    other = with_file(tmp_path / "other", home / "data" / "mine.csv", edited)
    worker_with_other = worker({**other, **with_cache(tmp_path / "cache")})
    client = _run_at_home(processes, home, port)
    _check_named_once(client, worker_with_other)


def _check_named_once(client: Running, worker: Running) -> None:
    named = [line for line in client.stderr.splitlines() if "mine.csv" in line]
    assert len(named) == 1, client.said
    assert address_of(worker) in named[0]


# -- nobody there -------------------------------------------------------------------------------------


def test_workers_that_never_appear(processes: Processes, port: int, tmp_path: Path) -> None:
    client = processes.client(*_arguments(_study(tmp_path), port), "--patience", "3")
    _check_refused(client, "worker")
    assert stored_keys(tmp_path / "out") == []


def test_a_scheduler_that_never_appears(processes: Processes, tmp_path: Path) -> None:
    port = free_port()
    client = processes.client(*_arguments(_study(tmp_path), port), "--patience", "3")
    _check_refused(client, str(port))


def test_a_scheduler_that_goes_for_good(processes: Processes, tmp_path: Path) -> None:
    """What is finished is kept, and the same command goes on once there is a scheduler again."""
    port = free_port()
    scheduler = processes.scheduler(port)
    processes.worker(f"tcp://127.0.0.1:{port}")
    (tmp_path / "slow.py").write_text(slow(0.3))
    study = _study(tmp_path, 'name = "Slow"', seeds=40)
    arguments = [*_arguments(study, port), "--plugin", str(tmp_path / "slow.py"), "--patience", "5"]
    client = processes.client(*arguments)
    client.wait_for(lambda: stored_keys(tmp_path / "out"), LONGEST, "first cells")
    scheduler.kill()
    _check_refused(client, str(port))
    kept = len(stored_keys(tmp_path / "out"))
    assert 0 < kept < 40

    processes.scheduler(port)
    processes.worker(f"tcp://127.0.0.1:{port}")
    client = processes.client(*arguments)
    assert client.wait(LONGEST) == 0, client.said
    cells = read_results(str(tmp_path / "out")).cells
    assert (len(cells), cells["status"].unique().tolist()) == (40, ["ok"])
    assert f"{40 - kept} cells computed" in client.stdout
