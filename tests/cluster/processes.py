"""Start real processes on loopback: Dask schedulers and workers, and ``singlepass`` as a user types it.

All of them end in any case. Each leads a process group that `Processes` kills, and the kernel kills it when
its parent is gone.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType

import psutil

LAUNCH = Path(__file__).with_name("launch.py")
FORK_SERVER = Path(__file__).with_name("fork_server.py")
# A program with this environment variable is not forked from a process that has imported its modules.
NEW_INTERPRETER = "SINGLEPASS_TESTS_NEW_INTERPRETER"
# Below the kernel's ports for outgoing connections. So a restarted scheduler finds its port free, and a
# client that connects to the port meanwhile is not connected to itself.
PORTS = range(12000, 32000)


class Forked:
    """A process of the fork server, with the methods of `subprocess.Popen` that these tests call."""

    def __init__(self, pid: int, status: Path) -> None:
        self.pid = pid
        self.returncode: int | None = None
        self._status = status

    def poll(self) -> int | None:
        """Return the exit status, or None while the process runs."""
        if self.returncode is None:
            with contextlib.suppress(FileNotFoundError):
                self.returncode = int(self._status.read_text())
        return self.returncode

    def wait(self, timeout: float = float("inf")) -> int:
        """Wait for the end of the process and return its exit status."""
        until = time.monotonic() + timeout
        while (status := self.poll()) is None:
            if time.monotonic() > until:
                raise subprocess.TimeoutExpired(str(self.pid), timeout)
            time.sleep(0.02)
        return status

    def send_signal(self, number: signal.Signals) -> None:
        """Send a signal if the process runs."""
        if self.poll() is None:
            # The process may have ended before its status is written.
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        """Send SIGTERM."""
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        """Send SIGKILL."""
        self.send_signal(signal.SIGKILL)


@functools.cache
def _fork_server() -> subprocess.Popen[str]:
    """Start the fork server of this process; it ends with it."""
    server = subprocess.Popen(
        [sys.executable, "-P", str(FORK_SERVER)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=_without_settings(),
        start_new_session=True,
    )
    atexit.register(server.communicate)
    return server


def _fork(
    command: Sequence[str], env: dict[str, str], cwd: Path, out: Path, err: Path, status: Path
) -> Forked:
    """Run a program in a fork of the fork server."""
    job = {"command": list(command), "env": env, "cwd": str(cwd)}
    job |= {"out": str(out), "err": str(err), "status": str(status)}
    # A program inherits that SIGINT is ignored.
    job["ignores_sigint"] = signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    server = _fork_server()
    assert server.stdin is not None
    assert server.stdout is not None
    print(json.dumps(job), file=server.stdin, flush=True)
    return Forked(int(server.stdout.readline()), status)


def _without_settings() -> dict[str, str]:
    """Return this process's environment without Dask's and Python's settings."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("DASK_", "PYTHON"))}


@dataclass
class Running:
    """A started process and its output so far.

    Attributes
    ----------
    out, err : Path
        Files with its standard output and standard error.
    began : float
        Start time on the monotonic clock.
    """

    name: str
    popen: subprocess.Popen[bytes] | Forked
    out: Path
    err: Path
    began: float = field(default_factory=time.monotonic)

    @property
    def alive(self) -> bool:
        """Whether the process is running."""
        return self.popen.poll() is None

    @property
    def age(self) -> float:
        """Seconds since the start."""
        return time.monotonic() - self.began

    @property
    def stdout(self) -> str:
        """The standard output so far."""
        return self.out.read_text(errors="replace")

    @property
    def stderr(self) -> str:
        """The standard error so far."""
        return self.err.read_text(errors="replace")

    @property
    def said(self) -> str:
        """Standard output and standard error so far."""
        return self.stdout + self.stderr

    def wait(self, seconds: float) -> int:
        """Wait for the end of the process and return its exit status.

        After `seconds` the process is killed and AssertionError is raised.
        """
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(
                f"{self.name} had not ended after {seconds} s; it said:\n{self.said[-3000:]}"
            ) from None

    def wait_for(self, there: Callable[[], object], seconds: float, what: str) -> None:
        """Wait until `there` returns true; raise AssertionError after `seconds` or if the process ends."""
        until = time.monotonic() + seconds
        while not there():
            assert self.alive, f"{self.name} ended before {what}; it said:\n{self.said[-3000:]}"
            assert time.monotonic() < until, f"no {what} within {seconds} s; it said:\n{self.said[-3000:]}"
            time.sleep(0.05)

    def interrupt(self) -> None:
        """Send SIGINT, as Ctrl-C does."""
        self.popen.send_signal(signal.SIGINT)

    def kill_children(self) -> int:
        """Kill the child processes but not the process itself; return how many there were."""
        children = psutil.Process(self.popen.pid).children()
        # A nanny's children are its worker and Python's resource tracker, which ends with the nanny.
        workers = [each for each in children if "resource_tracker" not in " ".join(each.cmdline())]
        for worker in workers:
            with contextlib.suppress(psutil.NoSuchProcess):
                worker.kill()
        return len(workers)

    def kill(self) -> None:
        """Kill the process and all its descendants."""
        # The group exists as long as one of its processes does, even after the end of its leader.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        # Unless it has not made its group yet.
        self.popen.kill()
        self.popen.wait()


class Processes:
    """Start processes in a working folder, which also has their output, and kill all of them at the end."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[Running] = []
        folder.mkdir(parents=True, exist_ok=True)
        # An empty configuration, so that the user's Dask settings do not affect the tests.
        (folder / "dask-config").mkdir(exist_ok=True)
        atexit.register(self.close)

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill all processes."""
        for each in self.started:
            each.kill()
        self.started.clear()
        atexit.unregister(self.close)

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return this process's environment without Dask's and Python's settings, and with `more`."""
        return _without_settings() | {"DASK_CONFIG": str(self.folder / "dask-config")} | dict(more or {})

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        address_space: int = 0,
    ) -> Running:
        """Start a program by its path, in `cwd` or by default in the folder.

        `name` identifies it in failures. `env` is added to this process's environment. `address_space` is a
        limit in bytes; 0 sets none. The program is forked from a process that has imported its modules,
        unless it has such a limit or `NEW_INTERPRETER`.
        """
        number = len(self.started)
        out, err, status = (self.folder / f"{number:03}-{name}.{kind}" for kind in ("out", "err", "status"))
        environment, cwd = self.environment(env), cwd or self.folder
        popen: subprocess.Popen[bytes] | Forked
        with out.open("wb") as stdout, err.open("wb") as stderr:
            if not address_space and NEW_INTERPRETER not in environment:
                popen = _fork(command, environment, cwd, out, err, status)
            else:
                # -S, so that a sitecustomize.py for the program does not run in the launcher already.
                launcher = [sys.executable, "-I", "-S", str(LAUNCH), str(address_space)]
                popen = subprocess.Popen(
                    [*launcher, *command],
                    stdin=subprocess.DEVNULL,
                    stdout=stdout,
                    stderr=stderr,
                    env=environment,
                    cwd=cwd,
                    start_new_session=True,
                )
        running = Running(name, popen, out, err)
        self.started.append(running)
        return running

    def scheduler(
        self, port: int, *, options: Sequence[str] = (), env: Mapping[str, str] | None = None
    ) -> Running:
        """Start a scheduler on a port of the loopback interface; it listens nowhere else."""
        where = ["--host", "127.0.0.1", "--port", str(port), "--no-dashboard"]
        where += ["--dashboard-address", "127.0.0.1:0"]
        return self.start("scheduler", [*dask(), "scheduler", *where, *options], env=env)

    def worker(
        self,
        scheduler: str,
        *,
        nanny: bool = False,
        options: Sequence[str] = (),
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
    ) -> Running:
        """Start a worker of one thread, with its scratch space in the folder."""
        where = ["--nthreads", "1", "--nanny" if nanny else "--no-nanny", "--host", "127.0.0.1"]
        where += ["--no-dashboard", "--local-directory", str(self.folder / "scratch")]
        return self.start("worker", [*dask(), "worker", scheduler, *where, *options], env=env, cwd=cwd)

    def client(
        self,
        *arguments: str,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        address_space: int = 0,
    ) -> Running:
        """Start ``singlepass`` with these arguments."""
        command = [str(Path(sys.executable).with_name("singlepass")), *arguments]
        return self.start("singlepass", command, env=env, cwd=cwd, address_space=address_space)


def dask() -> list[str]:
    """Return the command ``dask``; -P keeps modules of the current folder from shadowing installed ones."""
    return [sys.executable, "-P", "-m", "dask"]


def free_port() -> int:
    """Return a free port of the loopback interface."""
    for port in random.SystemRandom().sample(PORTS, 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
    raise RuntimeError("100 ports were tried and all are taken")
