"""A cluster class that behaves like a batch queue: workers start late and end after their wall time.

A cluster file imports this module by name, so it does not depend on other modules of these tests.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from typing import Any

from distributed import SpecCluster
from distributed.scheduler import Scheduler


class LateCluster(SpecCluster):
    """A scheduler in this process, and queued jobs of one worker each.

    A job waits `queue_seconds` before its worker starts. The worker is killed after `wall_seconds`, and the
    job is queued again.
    """

    def __init__(self, queue_seconds: float = 5.0, wall_seconds: float = 5.0, **more: Any) -> None:
        self._queue_seconds, self._wall_seconds = queue_seconds, wall_seconds
        self._ended = threading.Event()
        self._jobs: list[threading.Thread] = []
        scheduler = {"cls": Scheduler, "options": {"host": "127.0.0.1", "dashboard": False}}
        scheduler["options"]["dashboard_address"] = "127.0.0.1:0"
        super().__init__(scheduler=scheduler, workers={}, asynchronous=False, **more)

    def scale(self, n: int = 0, **_: Any) -> None:
        """Queue jobs until there are n."""
        while len(self._jobs) < n:
            job = threading.Thread(target=self._requeue, args=(self.scheduler_address,), daemon=True)
            self._jobs.append(job)
            job.start()

    def _requeue(self, address: str) -> None:
        while not self._ended.wait(self._queue_seconds):
            command = [sys.executable, "-P", "-m", "dask", "worker", address]
            command += ["--nthreads", "1", "--no-nanny", "--host", "127.0.0.1", "--no-dashboard"]
            worker = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            self._ended.wait(self._wall_seconds)
            with contextlib.suppress(ProcessLookupError):
                os.kill(worker.pid, signal.SIGKILL)
            worker.wait()

    def close(self, timeout: float | None = None) -> Any:
        """End the jobs, then the scheduler."""
        self._ended.set()
        for job in self._jobs:
            job.join()
        return super().close(timeout)
