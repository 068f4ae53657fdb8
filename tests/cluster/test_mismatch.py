"""Test workers that differ from the client: they are reported within 30 s, and no result differs.

A worker is made to differ by the environment of its process (`disguises`).
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
from .studies import assert_same, narrow_study, run_in_threads, stored_keys

# Seconds from the client's start until it must have reported the error.
PROMPT = 30.0
LONGEST = 300.0
ALGORITHMS = ['name = "AROW"\nr = [0.1, 1.0]', 'name = "Perceptron"']
# Only the last part of the version differs, because packages built on NumPy check the first two.
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
        started.wait_for(lambda: "Registered to:" in started.said, 120, "registration")
        return started

    return start


def address_of(worker: Running) -> str:
    """Return a worker's address from its output."""
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
    """Assert that a client ended in time, with status 2, one error and these words."""
    assert client.wait(PROMPT) == 2, client.said
    assert "Traceback" not in client.said
    errors = [line for line in client.stderr.splitlines() if line.startswith("singlepass: error:")]
    assert len(errors) == 1, client.stderr
    for word in words:
        assert word in client.stderr, client.stderr


@pytest.mark.slow
def test_a_worker_without_singlepass(processes: Processes, port: int, worker: Start, tmp_path: Path) -> None:
    bad = worker(without(tmp_path / "without", "singlepass"))
    client = processes.client(*_arguments(_study(tmp_path), port))
    _check_refused(client, address_of(bad), "singlepass")
    assert stored_keys(tmp_path / "out") == []


@pytest.mark.slow
def test_a_worker_with_another_numpy(processes: Processes, port: int, worker: Start, tmp_path: Path) -> None:
    """Alone, such a worker ends the run; next to others it gets no cells and is listed in a table.

    With `--allow-mismatch` it computes cells, and the provenance lists its versions.
    """
    bad = worker(with_version(tmp_path / "other", "numpy", OTHER_NUMPY))
    study = _study(tmp_path)
    second = _arguments(study, port, "second")
    client = processes.client(*second)
    _check_refused(client, address_of(bad), "numpy", OTHER_NUMPY, "no worker is left")
    assert stored_keys(tmp_path / "second") == []

    good = worker()
    client = processes.client(*_arguments(study, port))
    assert client.wait(LONGEST) == 0, client.said
    row = rf"{address_of(bad)} +numpy +{re.escape(metadata.version('numpy'))} +{OTHER_NUMPY}"
    assert len(re.findall(row, client.stderr)) == 1
    assert client.stderr.count("given no cells") == 1
    assert read_results(str(tmp_path / "out")).cells["worker"].str.endswith(f":{good.popen.pid}").all()

    # A cell that the bad worker got before it was set aside must not occupy it until it gives up (120 s).
    client = processes.client(*second, "--allow-mismatch")
    assert client.wait(100) == 0, client.said
    last = json.loads((tmp_path / "second" / "provenance.json").read_text())["runs"][-1]
    told = json.dumps(last)
    # The workers also appear under the name that cells record: host and process.
    assert f':{bad.popen.pid}"' in told
    assert f':{good.popen.pid}"' in told
    assert OTHER_NUMPY in told
    assert metadata.version("numpy") in told


@pytest.mark.slow
def test_a_worker_with_other_code(processes: Processes, port: int, worker: Start, tmp_path: Path) -> None:
    """The version may be equal: a worker may run an edited checkout, so the code's digest is compared."""
    bad = worker(with_code(tmp_path / "copy", "pipeline/run/splits.py", "EDITED = True"))
    client = processes.client(*_arguments(_study(tmp_path), port))
    _check_refused(client, address_of(bad), "singlepass")
    assert stored_keys(tmp_path / "out") == []


@pytest.mark.slow
def test_a_worker_with_another_river(processes: Processes, port: int, worker: Start, tmp_path: Path) -> None:
    """Such a worker gets no cells of a study that names a learner of River, but those of other studies."""
    pytest.importorskip("river")
    bad = worker(with_version(tmp_path / "other", "river", "0.0.97"))
    client = processes.client(*_arguments(_study(tmp_path), port, "without"))
    assert client.wait(LONGEST) == 0, client.said
    study = _study(tmp_path, *ALGORITHMS, 'name = "river.naive_bayes:GaussianNB"\nlabel = "NB"')
    client = processes.client(*_arguments(study, port))
    _check_refused(client, address_of(bad), "river 0.0.97", "no worker is left")
    assert stored_keys(tmp_path / "out") == []


@pytest.mark.faults
def test_a_worker_that_joins_later(processes: Processes, port: int, worker: Start, tmp_path: Path) -> None:
    """A late worker is reported like an early one and computes nothing; the run may end or go on."""
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
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a client's folder with a study (relative path), a plug-in and the results of a threaded run."""
    home = tmp_path / "home"
    _data_file(home / "data" / "mine.csv")
    (home / "mine.py").write_text(slow(0.0))
    _study(
        home, *ALGORITHMS, 'name = "Slow"', datasets='[[datasets]]\npath = "data/mine.csv"\ntarget = "kind"'
    )
    with monkeypatch.context() as here:
        here.chdir(home)
        run_in_threads(Path("study.toml"), Path("threads"), Path("mine.py"))
    return home


def _run_at_home(processes: Processes, home: Path, port: int) -> Running:
    """Run the study from its folder, with relative paths, and compare the results."""
    where = ["--scheduler", f"tcp://127.0.0.1:{port}", "--plugin", "mine.py"]
    client = processes.client("run", "study.toml", "--out", "out", *where, cwd=home)
    assert client.wait(LONGEST) == 0, client.said
    assert "Traceback" not in client.said
    assert_same(home / "threads", home / "out")
    return client


@pytest.mark.slow
def test_a_worker_in_another_folder(
    processes: Processes, port: int, worker: Start, tmp_path: Path, home: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    worker(with_cache(tmp_path / "cache"), cwd=elsewhere)
    client = _run_at_home(processes, home, port)
    assert "mine.csv" not in client.stderr


@pytest.mark.slow
def test_a_worker_without_the_plugin(
    processes: Processes, port: int, worker: Start, tmp_path: Path, home: Path
) -> None:
    worker(with_file(tmp_path / "hidden", home / "mine.py", tmp_path / "no such file"))
    _run_at_home(processes, home, port)


@pytest.mark.slow
def test_a_worker_without_the_data(
    processes: Processes, port: int, worker: Start, tmp_path: Path, home: Path
) -> None:
    data = home / "data" / "mine.csv"
    hidden = with_file(tmp_path / "hidden", data, tmp_path / "no such file")
    worker_without = worker({**hidden, **with_cache(tmp_path / "cache")})
    client = _run_at_home(processes, home, port)
    _check_named_once(client, worker_without)


@pytest.mark.slow
def test_a_worker_with_edited_data(
    processes: Processes, port: int, worker: Start, tmp_path: Path, home: Path
) -> None:
    """The client reports the difference, and the worker computes on the client's data."""
    edited = _data_file(tmp_path / "edited" / "mine.csv", seed=1)
    other = with_file(tmp_path / "other", home / "data" / "mine.csv", edited)
    worker_with_other = worker({**other, **with_cache(tmp_path / "cache")})
    client = _run_at_home(processes, home, port)
    _check_named_once(client, worker_with_other)


def _check_named_once(client: Running, worker: Running) -> None:
    named = [line for line in client.stderr.splitlines() if "mine.csv" in line]
    assert len(named) == 1, client.said
    assert address_of(worker) in named[0]


# -- missing workers and schedulers -------------------------------------------------------------------


def test_workers_that_never_appear(processes: Processes, port: int, tmp_path: Path) -> None:
    client = processes.client(*_arguments(_study(tmp_path), port), "--patience", "3")
    _check_refused(client, "worker")
    assert stored_keys(tmp_path / "out") == []


@pytest.mark.slow
def test_a_scheduler_that_never_appears(processes: Processes, tmp_path: Path) -> None:
    port = free_port()
    client = processes.client(*_arguments(_study(tmp_path), port), "--patience", "3")
    _check_refused(client, str(port))


@pytest.mark.slow
def test_a_scheduler_that_goes_for_good(processes: Processes, tmp_path: Path) -> None:
    """Finished cells are kept, and the same command continues once a scheduler exists again."""
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
