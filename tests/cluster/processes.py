"""Real processes on loopback: Dask schedulers and workers, and ``singlepass`` as a user types it.

Whatever happens, they end: each is the head of a process group of its own that is killed with `Processes`,
and the kernel kills it when the process that started it is gone.
"""

from __future__ import annotations

import atexit
import contextlib
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
# Below the ports that the kernel gives to outgoing connections: a scheduler that is started again finds its
# port free, and whoever knocks on it meanwhile is not connected to itself.
PORTS = range(12000, 32000)


@dataclass
class Running:
    """A process that was started, and what it has printed so far.

    Attributes
    ----------
    name : str
    popen : subprocess.Popen
    out, err : Path
        What it prints.
    began : float
        When it was started, by the monotonic clock.
    """

    name: str
    popen: subprocess.Popen[bytes]
    out: Path
    err: Path
    began: float = field(default_factory=time.monotonic)

    @property
    def alive(self) -> bool:
        """Whether it is still there."""
        return self.popen.poll() is None

    @property
    def age(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self.began

    @property
    def stdout(self) -> str:
        """What it has printed."""
        return self.out.read_text(errors="replace")

    @property
    def stderr(self) -> str:
        """What it has printed on standard error."""
        return self.err.read_text(errors="replace")

    @property
    def said(self) -> str:
        """Both."""
        return self.stdout + self.stderr

    def wait(self, seconds: float) -> int:
        """Wait for its end and return its exit status; one that has not ended by then is killed.

        Raises
        ------
        AssertionError
            It had not ended.
        """
        try:
            return self.popen.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(
                f"{self.name} had not ended after {seconds} s; it said:\n{self.said[-3000:]}"
            ) from None

    def wait_for(self, there: Callable[[], object], seconds: float, what: str) -> None:
        """Wait until something is there while the process lives.

        Raises
        ------
        AssertionError
            It was not there in time, or the process ended.
        """
        until = time.monotonic() + seconds
        while not there():
            assert self.alive, f"{self.name} ended before {what}; it said:\n{self.said[-3000:]}"
            assert time.monotonic() < until, f"no {what} within {seconds} s; it said:\n{self.said[-3000:]}"
            time.sleep(0.05)

    def interrupt(self) -> None:
        """Do what Ctrl-C does."""
        self.popen.send_signal(signal.SIGINT)

    def kill_children(self) -> int:
        """Kill the processes that it started, not itself, and return how many there were."""
        children = psutil.Process(self.popen.pid).children()
        # A nanny has its worker, and Python's tracker of shared resources, which goes with the nanny.
        workers = [each for each in children if "resource_tracker" not in " ".join(each.cmdline())]
        for worker in workers:
            with contextlib.suppress(psutil.NoSuchProcess):
                worker.kill()
        return len(workers)

    def kill(self) -> None:
        """Kill it and every process that it started."""
        # Its group is there as long as one of its processes is, also after its own end.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.popen.pid, signal.SIGKILL)
        self.popen.wait()


class Processes:
    """Starts processes in a folder, and ends all of them.

    Parameters
    ----------
    folder : Path
        Where they work and what they print is kept.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[Running] = []
        folder.mkdir(parents=True, exist_ok=True)
        # The settings of the user who runs this are not what is tested.
        (folder / "dask-config").mkdir(exist_ok=True)
        atexit.register(self.close)

    def __enter__(self) -> Processes:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill everything."""
        for each in self.started:
            each.kill()
        self.started.clear()
        atexit.unregister(self.close)

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of a process: this one's without Dask's settings, and more."""
        own = {name: value for name, value in os.environ.items() if not name.startswith(("DASK_", "PYTHON"))}
        own["DASK_CONFIG"] = str(self.folder / "dask-config")
        return {**own, **(more or {})}

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        address_space: int = 0,
    ) -> Running:
        """Start a program by its path.

        Parameters
        ----------
        name : str
            What failures call it.
        command : sequence of str
        env : mapping, default=None
            On top of this process's environment.
        cwd : Path, default=None
            None: the folder.
        address_space : int, default=0
            A limit in bytes; 0: none.
        """
        number = len(self.started)
        out, err = (self.folder / f"{number:03}-{name}.{kind}" for kind in ("out", "err"))
        # -S: what is on the program's path is not imported here already.
        launcher = [sys.executable, "-I", "-S", str(LAUNCH), str(address_space)]
        with out.open("wb") as stdout, err.open("wb") as stderr:
            popen = subprocess.Popen(
                [*launcher, *command],
                stdin=subprocess.DEVNULL,
                stdout=stdout,
                stderr=stderr,
                env=self.environment(env),
                cwd=cwd or self.folder,
                start_new_session=True,
            )
        running = Running(name, popen, out, err)
        self.started.append(running)
        return running

    def scheduler(
        self, port: int, *, options: Sequence[str] = (), env: Mapping[str, str] | None = None
    ) -> Running:
        """Start a scheduler on a port of the loopback interface, with nothing open beyond it."""
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
    """Return the command ``dask``; -P: no module in the current folder is taken for an installed one."""
    return [sys.executable, "-P", "-m", "dask"]


def free_port() -> int:
    """Return a port of the loopback interface that nobody listens on."""
    for port in random.SystemRandom().sample(PORTS, 100):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            with contextlib.suppress(OSError):
                probe.bind(("127.0.0.1", port))
                return port
    raise RuntimeError("100 ports were tried and all are taken")
