"""Run a study on a cluster whose workers, scheduler and client are killed repeatedly.

The script is ``python tests/cluster/disturbance.py --rounds 20 --seed 1 [--nanny]``. In each round
`singlepass run STUDY --scheduler tcp://127.0.0.1:PORT` runs a study of 2,052 cells with grids on two workers
of one thread. The round's seed determines a schedule. A worker is killed every 1 to 4 s and started again
after 0.5 to 3 s. The scheduler is killed once or twice and started again on its port after 1 to 5 s. The
client is killed or interrupted once or twice, and the same command is started again at once. Workers that end
because their scheduler is gone are started again, as an init system would do.

A round passes if its last client ends with status 0, no other client ends by itself, no line contains
Traceback, and the stored results equal those of an undisturbed run in threads: each cell once, all `ok`,
every integer and every curve equal. Kills stop `DISTURBED` seconds after the start of a round; `LONGEST`
seconds after it the round fails.
"""

from __future__ import annotations

import argparse
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

if __package__:
    from .processes import Processes, Running, free_port
    from .studies import cells_of_wide_study, unlike, wide_study
else:
    from processes import Processes, Running, free_port
    from studies import cells_of_wide_study, unlike, wide_study

DISTURBED, LONGEST = 60.0, 180.0
N_WORKERS = 2
# Ranges in seconds for uniform draws: between two kills of a worker; until it restarts; until the scheduler
# restarts; from the start of the round until the scheduler or the client is killed.
BETWEEN_KILLS, WORKER_BACK, SCHEDULER_BACK, WITHIN = (1.0, 4.0), (0.5, 3.0), (1.0, 5.0), (4.0, 30.0)
# Python itself reports an earlier interrupt, before the program runs, with a traceback.
INTERRUPTIBLE_AGE = 3.0
# Restarts of a client that gave up. The round has failed then, but the restarts show how the study ends.
MOST_RESTARTS = 10


@dataclass
class Verdict:
    """The result of a round.

    Attributes
    ----------
    seconds : float
        Wall time.
    killed : Counter
        Number of kills by kind of process.
    wrong : list of str
        One line per failure; empty if the round passed.
    notes : Counter
        Lines that the clients printed, without their progress and with digits replaced.
    """

    seed: int
    seconds: float = 0.0
    killed: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    notes: Counter[str] = field(default_factory=Counter)

    def __str__(self) -> str:
        """Return a summary line, then a line for each failure and for each frequent line of a client."""
        killed = ", ".join(f"{number} × {name}" for name, number in sorted(self.killed.items()))
        outcome = "FAILED" if self.wrong else "passed"
        head = f"seed {self.seed}: {outcome} in {self.seconds:.0f} s, killed {killed}"
        wrong = [f"  wrong: {line}" for line in self.wrong]
        notes = [f"  {number} × client: {line[:180]}" for line, number in self.notes.most_common(12)]
        return "\n".join([head, *wrong, *notes])


class _Round:
    """A cluster, a client, and the schedule of kills and restarts."""

    def __init__(self, folder: Path, study: Path, out: Path, seed: int, nanny: bool) -> None:
        self.random = random.Random(seed)
        self.verdict = Verdict(seed)
        self.processes = Processes(folder)
        self.port, self.study, self.out, self.nanny = free_port(), study, out, nanny
        self.began = time.monotonic()
        self.scheduler: Running | None = None
        self.workers: list[Running | None] = [None] * N_WORKERS
        self.clients: list[Running] = []
        # Actions, with their times in seconds since the start of the round.
        self.agenda: list[tuple[float, Callable[[], None]]] = []

    @property
    def now(self) -> float:
        return time.monotonic() - self.began

    def draw(self, between: tuple[float, float]) -> float:
        return self.random.uniform(*between)

    def at(self, when: float, what: Callable[[], None]) -> None:
        self.agenda.append((when, what))

    # -- starting ----------------------------------------------------------------------------------

    def start_scheduler(self) -> None:
        self.scheduler = self.processes.scheduler(self.port)

    def start_worker(self, place: int) -> None:
        self.workers[place] = self.processes.worker(f"tcp://127.0.0.1:{self.port}", nanny=self.nanny)

    def start_client(self) -> None:
        address = f"tcp://127.0.0.1:{self.port}"
        arguments = ["run", str(self.study), "--out", str(self.out), "--scheduler", address]
        self.clients.append(self.processes.client(*arguments))

    # -- disturbing --------------------------------------------------------------------------------

    def kill_worker(self) -> None:
        there = [place for place, worker in enumerate(self.workers) if worker is not None and worker.alive]
        if there:
            worker = self.workers[self.random.choice(there)]
            assert worker is not None
            # Under a nanny mostly only the worker is killed: the nanny starts another.
            if self.nanny and self.random.random() < 0.7:
                self.verdict.killed["worker under its nanny"] += worker.kill_children()
            else:
                self.verdict.killed["worker"] += 1
                worker.kill()
        if self.now < DISTURBED:
            self.at(self.now + self.draw(BETWEEN_KILLS), self.kill_worker)

    def kill_scheduler(self) -> None:
        if self.scheduler is not None and self.scheduler.alive:
            self.verdict.killed["scheduler"] += 1
            self.scheduler.kill()
            self.scheduler = None
            self.at(self.now + self.draw(SCHEDULER_BACK), self.start_scheduler)

    def kill_client(self) -> None:
        client = self.clients[-1]
        if self.random.random() < 0.5 and client.age > INTERRUPTIBLE_AGE:
            self.verdict.killed["client by SIGINT"] += 1
            client.interrupt()
            try:
                status = client.wait(30)
            except AssertionError:
                self.verdict.wrong.append("a client had not ended 30 s after SIGINT")
            else:
                if status not in (130, 0):
                    self.verdict.wrong.append(f"an interrupted client ended with status {status}")
        else:
            self.verdict.killed["client by SIGKILL"] += 1
            client.kill()
        self.start_client()

    # -- the round ---------------------------------------------------------------------------------

    def run(self) -> Verdict:
        """Disturb the study until its client ends, and return the verdict on the clients."""
        with self.processes:
            self.start_scheduler()
            for place in range(N_WORKERS):
                self.start_worker(place)
            self.start_client()
            self.at(self.draw(BETWEEN_KILLS), self.kill_worker)
            for victim in (self.kill_scheduler, self.kill_client):
                for _ in range(self.random.choice((1, 2))):
                    self.at(self.draw(WITHIN), victim)
            self._until_the_client_ends()
            self.verdict.seconds = self.now
            for client in self.clients:
                self._listen(client)
        return self.verdict

    def _until_the_client_ends(self) -> None:
        restarts = 0
        while self.now < LONGEST:
            due = sorted((each for each in self.agenda if each[0] <= self.now), key=lambda each: each[0])
            self.agenda = [each for each in self.agenda if each not in due]
            for _, what in due:
                what()
            self._replace_ended_workers()
            client = self.clients[-1]
            if not client.alive:
                status = client.popen.returncode
                if status == 0:
                    return
                said = client.said.strip().splitlines() or ["nothing"]
                self.verdict.wrong.append(f"a client ended by itself with status {status}: {said[-1][:180]}")
                restarts += 1
                # This line means that the study has ended, with failed cells.
                if " computed, " in client.said or restarts > MOST_RESTARTS:
                    return
                self.start_client()
            time.sleep(0.02)
        self.verdict.wrong.append(f"not finished after {LONGEST:.0f} s")

    def _replace_ended_workers(self) -> None:
        for place, worker in enumerate(self.workers):
            if worker is not None and not worker.alive:
                self.workers[place] = None
                again = self.now + self.draw(WORKER_BACK)
                self.at(again, lambda place=place: self.start_worker(place))

    def _listen(self, client: Running) -> None:
        traces = sum("Traceback" in line for line in client.said.splitlines())
        if traces:
            n_lines = len(client.said.splitlines())
            self.verdict.wrong.append(f"a client printed {traces} tracebacks in {n_lines} lines")
        for line in client.said.splitlines():
            # Skip progress and the lines of a traceback.
            if line[:1].strip() and "cells," not in line and "report:" not in line:
                self.verdict.notes["".join("#" if each.isdigit() else each for each in line)] += 1


class Disturbance:
    """A study, its undisturbed results, and disturbed rounds of it.

    All files go to `folder`. `n_tasks` is the number of the study's data sets, of 228 cells each.
    """

    def __init__(self, folder: Path, n_tasks: int = 9) -> None:
        self.folder = folder
        self.planned = cells_of_wide_study(n_tasks)
        self.study = folder / "wide.toml"
        self.study.write_text(wide_study(n_tasks))
        self.undisturbed = folder / "undisturbed"
        with Processes(folder / "reference") as processes:
            arguments = ["run", str(self.study), "--out", str(self.undisturbed), "--threads", "2"]
            client = processes.client(*arguments)
            assert client.wait(LONGEST) == 0, client.said
            self.summary = client.stdout.splitlines()[0]

    def round(self, seed: int, *, nanny: bool = False) -> Verdict:
        """Run the study once, disturbed by the schedule of this seed; keep its folder if the round failed."""
        folder = self.folder / f"round-{seed}{'-nanny' if nanny else ''}"
        out = folder / "out"
        verdict = _Round(folder, self.study, out, seed, nanny).run()
        try:
            verdict.wrong += unlike(out, self.undisturbed, self.planned)
        except Exception as error:  # an unreadable store fails this round only
            verdict.wrong.append(f"what is stored cannot be read: {error}")
        if not verdict.wrong:
            shutil.rmtree(folder, ignore_errors=True)
        return verdict


def main() -> int:
    """Run the rounds and print a verdict on each."""
    # A shell starts background jobs with SIGINT ignored, and the clients would ignore it, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    parser = argparse.ArgumentParser(description="Disturb a study on a cluster of processes on loopback.")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1, help="of the first round; each has the next one")
    parser.add_argument("--nanny", action="store_true", help="workers are started by a nanny")
    parser.add_argument("--tasks", type=int, default=9, help="data sets of the study, 228 cells each")
    parser.add_argument("--folder", type=Path, help="where everything is kept; by default a temporary one")
    chosen = parser.parse_args()
    folder = (chosen.folder or Path(tempfile.mkdtemp(prefix="disturbance-"))).resolve()
    folder.mkdir(parents=True, exist_ok=True)
    # On SIGTERM exit normally, so that all processes started here are killed.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    disturbance = Disturbance(folder, chosen.tasks)
    print(f"undisturbed, in threads: {disturbance.summary}", flush=True)
    failed = 0
    for seed in range(chosen.seed, chosen.seed + chosen.rounds):
        verdict = disturbance.round(seed, nanny=chosen.nanny)
        failed += bool(verdict.wrong)
        print(verdict, flush=True)
    print(f"{chosen.rounds - failed} of {chosen.rounds} rounds passed; {folder} keeps the others", flush=True)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
