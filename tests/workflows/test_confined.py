"""What the commands write, unpickle and listen at, as Python itself tells of every process of theirs."""

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

from singlepass.pipeline.data.tables.cache import cache_folder

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
# Numba keeps compiled functions as pickles: they are code, as what is compiled is.
COMPILED = ("numba.",)
# What Dask's processes send each other is Python, too.
SENT = ("distributed.", "dask.", "multiprocessing.")


class Event(NamedTuple):
    """Something a process did: its kind, what of, and the modules that called, innermost first."""

    kind: str
    what: str
    callers: list[str]

    def is_by(self, libraries: Sequence[str]) -> bool:
        """Return whether it is one of these libraries that did it, and not this package."""
        known = (*libraries, "singlepass.")
        return next((name for name in self.callers if name.startswith(known)), "").startswith(
            tuple(libraries)
        )


class Machine:
    """A home, a folder to work in and one for temporary files, and what processes do there."""

    def __init__(self, folder: Path) -> None:
        self.home, self.work, self.temporary = (folder / name for name in ("home", "work", "temporary"))
        for each in (self.home, self.work, self.temporary):
            each.mkdir()
        self._log = folder / "events"
        self.cache = cache_folder()

    def run(self, code: str, *arguments: str) -> list[Event]:
        """Run Python code, and return what it and all processes that it started did."""
        environment = os.environ | {
            "HOME": str(self.home),
            "TMPDIR": str(self.temporary),
            "SINGLEPASS_CACHE": str(self.cache),
            "PYTHONPATH": str(Path(__file__).with_name("watched")),
            "PYTHONDONTWRITEBYTECODE": "1",
            "WATCHED": str(self._log),
        }
        # Folders of fonts and settings, where the user has said so, are not at home.
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
        """Return what was written elsewhere than to outputs, the cache and temporary files."""
        # Matplotlib keeps a list of the fonts it has found.
        folders = (".cache", ".cache/matplotlib", ".config", ".config/matplotlib")
        fonts = [self.home / each for each in folders]
        allowed = [self.cache, self.temporary, *(self.work / each for each in outputs)]
        written = {Path(event.what) for event in events if event.kind == "write"} - {Path(os.devnull)}
        # And what was written by code that tells nobody.
        written |= {path for path in self.home.rglob("*") if path.is_file()}
        written |= {path for path in self.work.rglob("*") if path.is_file()} - self._given
        return {
            str(path)
            for path in written
            if not any(path.is_relative_to(each) for each in allowed)
            and path not in fonts
            and path.parent != self.home / ".cache" / "matplotlib"
        }

    def give(self, name: str, content: str) -> None:
        """Put a file into the folder to work in."""
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
    """What most commands do, one after the other."""
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
    """What a run on worker processes does, and these."""
    here = machine()
    return here, here.run(COMMANDS, commands("run s.toml --out out --cluster local:1"))


def test_threads_write_in_their_folders(on_threads: tuple[Machine, list[Event]]) -> None:
    here, events = on_threads
    assert here.strays(events, "out", "page", "reproduced", "results") == set()
    # Nothing is left of temporary files.
    assert list(here.temporary.iterdir()) == []
    assert {"out", "page", "reproduced"} <= {path.name for path in here.work.iterdir()}


def test_threads_unpickle_nothing_but_compiled_code(on_threads: tuple[Machine, list[Event]]) -> None:
    _, events = on_threads
    assert [event for event in events if event.kind == "unpickle" and not event.is_by(COMPILED)] == []


def test_threads_listen_nowhere(on_threads: tuple[Machine, list[Event]]) -> None:
    _, events = on_threads
    assert [event for event in events if event.kind == "bind"] == []


def test_a_cluster_here_writes_in_its_folders(on_cluster: tuple[Machine, list[Event]]) -> None:
    here, events = on_cluster
    assert here.strays(events, "out") == set()


def test_a_cluster_here_unpickles_what_its_processes_send(on_cluster: tuple[Machine, list[Event]]) -> None:
    _, events = on_cluster
    sent = [event for event in events if event.kind == "unpickle" and not event.is_by(COMPILED)]
    assert sent
    assert [event for event in sent if not event.is_by(SENT)] == []


def test_a_cluster_here_listens_on_this_machine_alone(on_cluster: tuple[Machine, list[Event]]) -> None:
    _, events = on_cluster
    hosts = {event.what for event in events if event.kind == "bind"} - {""}
    # Of the scheduler and of a worker.
    assert hosts
    assert [host for host in hosts if not ipaddress.ip_address(host).is_loopback] == []


def test_what_is_not_allowed_is_seen(machine: Callable[[], Machine]) -> None:
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
