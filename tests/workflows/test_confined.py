"""Test what the commands write, unpickle and listen on, by Python's audit events in every process."""

from __future__ import annotations

import ipaddress
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

from singlepass.pipeline.data.io.folders import cache_folder

STUDY = """
name = "{name}"
protocol = "holdout"
seeds = 2
noise = [0.0, 0.1]
[[datasets]]
path = "f.csv"
[[algorithms]]
name = "Perceptron"
[[algorithms]]
name = "AROW"
r = [0.1, 1.0]
"""
COMMANDS = """
import json, sys
from singlepass.workflows.cli import main
for arguments in json.loads(sys.argv[1]):
    sys.argv = ["singlepass", *arguments]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            sys.exit(f"{arguments}: exit {ended.code}")
"""
# Numba caches compiled functions as pickles: these are code, like the source that they come from.
COMPILED = ("numba.",)
# Dask's processes exchange pickled Python objects.
SENT = ("distributed.", "dask.", "multiprocessing.")


class Event(NamedTuple):
    """Store an audit event: its kind, its object, and the calling modules, innermost first."""

    kind: str
    what: str
    callers: list[str]

    def is_by(self, libraries: Sequence[str]) -> bool:
        """Return whether one of these libraries caused the event, rather than this package."""
        known = (*libraries, "singlepass.")
        return next((name for name in self.callers if name.startswith(known)), "").startswith(
            tuple(libraries)
        )


class Machine:
    """Provide a home, a working and a temporary folder, and record what processes do in them."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work, self.temporary = (folder / name for name in ("home", "work", "temporary"))
        for each in (self.home, self.work, self.temporary):
            each.mkdir()
        self._log = folder / "events"
        self.cache = cache_folder()

    def run(self, code: str, *arguments: str) -> list[Event]:
        """Run Python code, and return the events of its process and all child processes."""
        environment = os.environ | {
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "SINGLEPASS_CACHE": str(self.cache),
            "PYTHONPATH": str(Path(__file__).with_name("watched")),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WATCHED": str(self._log),
        }
        # These variables would move folders for fonts and settings out of the home folder.
        for name in ("MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
            environment.pop(name, None)
        done = subprocess.run(
            [sys.executable, "-c", code, *arguments],
            cwd=self.work,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return [Event(*json.loads(line)) for line in self._log.read_text().splitlines()]

    def strays(self, events: Sequence[Event], *outputs: str) -> set[str]:
        """Return the files written outside the outputs, the cache and temporary files."""
        # Matplotlib caches a list of fonts.
        folders = (".cache", ".cache/matplotlib", ".config", ".config/matplotlib")
        fonts = [self.home / each for each in folders]
        allowed = [self.cache, self.temporary, *(self.work / each for each in outputs)]
        written = {Path(event.what) for event in events if event.kind == "write"} - {Path(os.devnull)}
        # Also files written by code that raises no audit events.
        written |= {path for path in self.home.rglob("*") if path.is_file()}
        written |= {path for path in self.work.rglob("*") if path.is_file()} - self._given
        return {
            str(path)
            for path in written
            if not any(path.is_relative_to(each) for each in allowed)
            and path not in fonts
            and path.parent not in (self.home / ".cache" / "matplotlib", self.home / ".matplotlib")
        }

    def give(self, name: str, content: str) -> None:
        """Write a file into the working folder."""
        (self.work / name).write_text(content)

    @property
    def _given(self) -> set[Path]:
        return {self.work / name for name in ("f.csv", "s.toml", "budget-mira-noise.toml")}


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Callable[[], Machine]:
    def make() -> Machine:
        made = Machine(tmp_path_factory.mktemp("machine"))
        made.give("f.csv", "a,label\n" + "".join(f"{i},{'xy'[i % 2]}\n" for i in range(40)))
        for name in ("s", "budget-mira-noise"):
            made.give(f"{name}.toml", STUDY.format(name=name))
        return made

    return make


def commands(*lines: str) -> str:
    return json.dumps([line.split() for line in lines])


@pytest.fixture(scope="module")
def on_threads(machine: Callable[[], Machine]) -> tuple[Machine, list[Event]]:
    """Run most commands, one after the other; return the machine and the events."""
    here = machine()
    lines = commands(
        "plan s.toml",
        "run s.toml --out out --threads 2",
        "run s.toml --out out",
        "status out",
        "compact out",
        "report out --to page",
        "data convert f.csv",
        "doctor s.toml --out out",
        "list learners",
        "run budget-mira-noise.toml --threads 1",
        "reproduce budget-mira --finished --out reproduced",
    )
    return here, here.run(COMMANDS, lines)


@pytest.fixture(scope="module")
def on_cluster(machine: Callable[[], Machine]) -> tuple[Machine, list[Event]]:
    """Run a study on worker processes; return the machine and the events of all processes."""
    here = machine()
    return here, here.run(COMMANDS, commands("run s.toml --out out --cluster local:1"))


@pytest.mark.slow
def test_threads_write_only_to_allowed_folders(on_threads: tuple[Machine, list[Event]]) -> None:
    here, events = on_threads
    assert here.strays(events, "out", "page", "reproduced", "results") == set()
    # No temporary files are left.
    assert list(here.temporary.iterdir()) == []
    assert {"out", "page", "reproduced"} <= {path.name for path in here.work.iterdir()}


@pytest.mark.slow
def test_threads_unpickle_only_compiled_code(on_threads: tuple[Machine, list[Event]]) -> None:
    _, events = on_threads
    assert [event for event in events if event.kind == "unpickle" and not event.is_by(COMPILED)] == []


def test_threads_open_no_port(on_threads: tuple[Machine, list[Event]]) -> None:
    _, events = on_threads
    assert [event for event in events if event.kind == "bind"] == []


@pytest.mark.slow
def test_a_local_cluster_writes_only_to_allowed_folders(on_cluster: tuple[Machine, list[Event]]) -> None:
    here, events = on_cluster
    assert here.strays(events, "out") == set()


@pytest.mark.slow
def test_a_local_cluster_unpickles_only_messages_of_its_processes(
    on_cluster: tuple[Machine, list[Event]],
) -> None:
    _, events = on_cluster
    sent = [event for event in events if event.kind == "unpickle" and not event.is_by(COMPILED)]
    assert sent
    assert [event for event in sent if not event.is_by(SENT)] == []


@pytest.mark.slow
def test_a_local_cluster_listens_only_on_localhost(on_cluster: tuple[Machine, list[Event]]) -> None:
    _, events = on_cluster
    hosts = {event.what for event in events if event.kind == "bind"} - {""}
    # Addresses of the scheduler and of a worker.
    assert hosts
    assert [host for host in hosts if not ipaddress.ip_address(host).is_loopback] == []


def test_forbidden_events_are_detected(machine: Callable[[], Machine]) -> None:
    here = machine()
    events = here.run(
        "import os, pickle, socket, subprocess, sys\n"
        "from pathlib import Path\n"
        "Path.home().joinpath('note').write_text('x')\n"
        "os.mkdir('elsewhere')\n"
        "os.rename('f.csv', 'g.csv')\n"
        "pickle.loads(pickle.dumps(Path()))\n"
        "socket.socket().bind(('0.0.0.0', 0))\n"
        "subprocess.run([sys.executable, '-c', 'open(\"child\", \"w\")'])\n"
    )
    assert here.strays(events, "out") == {
        *(str(here.work / name) for name in ("elsewhere", "f.csv", "g.csv", "child")),
        str(here.home / "note"),
    }
    unpickled = [event for event in events if event.kind == "unpickle"]
    assert unpickled
    assert not any(event.is_by((*COMPILED, *SENT)) for event in unpickled)
    assert [event.what for event in events if event.kind == "bind"] == ["0.0.0.0"]
    through = Event("unpickle", "x.Y", ["numpy.lib", "singlepass.pipeline.store.store", "distributed.worker"])
    assert not through.is_by(SENT)
