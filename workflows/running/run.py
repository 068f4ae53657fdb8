"""Run a study: plan its cells, compute stage by stage what the store lacks."""

from __future__ import annotations

import gc
import json
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa

from ...pipeline import data
from ...pipeline.analysis.study_results import StudyResults, read_results
from ...pipeline.errors import InputError
from ...pipeline.run.splits import check_splits
from ...pipeline.store.cell_result import CellResult
from ...pipeline.store.store import LEFTOVERS, MAX_PARTS, Store, exclusive
from ...pipeline.study.absent import left_out, missing_learners
from ...pipeline.study.plan import Plan, make_plan
from ...pipeline.study.study import Study
from ...pipeline.workers.environment import Environment
from ...pipeline.workers.warned import each_once
from .costs import COSTS, Costs
from .provenance import provenance, with_reuse
from .stages import Stage, Tuning
from .work import Work
from .workers import WorkerOptions, Workers, is_marked, unmark, workers

# A part is written after this many seconds: what a kill can lose at most.
FLUSH_SECONDS = 2.0
# Or after so many cells: 4 kB of memory each. A part takes 16 ms besides its rows, the smallest cell 0.2 ms.
_FLUSH_CELLS = 8192
# A learner of another library that takes longer over an example is named.
_SLOW_MILLISECONDS = 0.5
_THREADS = WorkerOptions()


class RunProgress(Protocol):
    """What `run_study` tells of its progress."""

    def start(self, total: int, already: int) -> None:
        """Say how many cells there are, and how many of them were in the store."""

    def advance(self, cells: int) -> None:
        """Say that this many more are finished."""

    def expect(self, seconds: float | None) -> None:
        """Say how long the rest is expected to take, as far as that can be said."""

    def note(self, text: str) -> None:
        """Say something in one line."""


@dataclass(frozen=True)
class Summary:
    """What a run came to.

    Attributes
    ----------
    results : StudyResults
        Everything the store now holds of the study.
    computed, reused, failed, crashed, stopped : int
        Cells computed now, cells found in the store, and among both those that failed, those that took their
        process along or never ended, and those that were stopped at their time limit.
    seconds : float
        Wall time.
    """

    results: StudyResults
    computed: int
    reused: int
    failed: int
    crashed: int
    stopped: int
    seconds: float


def refused_splits(plan: Plan) -> str:
    """Return what a run says of tables that cannot be split; of those that it has parsed before."""
    drawn = {task.label for task in plan.tasks if data.is_drawn(task)}
    try:
        # To draw a stream takes time and memory, and those of generators have every class.
        check_splits(cell for cell in plan.split_cells() if cell.spec.dataset.label not in drawn)
    except InputError as error:
        return str(error)
    return ""


@dataclass
class _Workers:
    """Connects to the workers when the first cell needs them: a finished study starts none."""

    stack: ExitStack
    options: WorkerOptions
    plan: Plan
    output: str
    note: Callable[[str], None]
    found: Workers | None = None

    def get(self) -> Workers:
        if self.found is None:
            self.found = self.stack.enter_context(workers(self.options, self.plan, self.output, self.note))
        return self.found


def _plan(study: Study, file: Path | None, plugins: tuple[str, ...]) -> Plan:
    if file is None:
        return make_plan(study, plugins=plugins)
    try:
        return make_plan(study, base=file.parent, plugins=plugins)
    except InputError as error:
        raise InputError(f"{file}: {error}") from None


def run_study(
    study: Study,
    out: str,
    *,
    progress: RunProgress,
    file: Path | None = None,
    plugins: tuple[str, ...] = (),
    options: WorkerOptions = _THREADS,
    retry_failed: bool = False,
    command: str | None = None,
) -> Summary:
    """Run what is missing of a study.

    Parameters
    ----------
    study : Study
    out : str
        Folder or fsspec URL of the results.
    progress : RunProgress
        Told how far the run is.
    file : Path, default=None
        The study's file: relative paths in the study start from its folder (None: from the current one), and
        errors name it.
    plugins : tuple of str, default=()
        Python files with further learners.
    options : WorkerOptions
        Who runs the cells; by default threads of this process, one a core.
    retry_failed : bool, default=False
        Compute failed, crashed and stopped cells again.
    command : str, default=None
        The command line that asked for the run, for the report.

    Returns
    -------
    Summary

    Raises
    ------
    InputError
        Something in the study, the output or the cluster is not as it must be.
    """
    began = time.perf_counter()
    # A run before may have had workers in this process.
    data.unpin()
    plan = _plan(study, file, plugins)
    store = Store(out)
    store.prepare()
    with each_once(progress.note), exclusive(store, progress.note), ExitStack() as stack:
        for part in store.set_aside:
            progress.note(f"{part}: damaged, moved to {out}/damaged; what it held is made again")
        held = store.read_json("study.json").get("name", study.name)
        if held != study.name:
            progress.note(f"{out}: held the study {held!r}; its cells stay, its report is replaced")
        # The plan and all that is imported stay: to look through them ever again would hold up every thread.
        if not gc.get_freeze_count():
            gc.collect()
            stack.callback(gc.unfreeze)
            gc.freeze()
        found = _Workers(stack, options, plan, out, progress.note)
        run = _Run(plan, store, progress, found, command, retry_failed)
        for line in (*missing_learners(plan.learners), *left_out(plugins)):
            progress.note(line)
        stage: Stage | None = Tuning(plan)
        while stage is not None:
            run.stage(stage)
            for line in stage.lacking():
                progress.note(line)
            stage = stage.after(store.cells)
        run.end()
    results = read_results(out)
    status = results.cells["status"]
    return Summary(
        results=results,
        computed=run.computed,
        reused=len(results.cells) - run.computed,
        failed=int((status == "failed").sum()),
        crashed=int((status == "crashed").sum()),
        stopped=int((status == "stopped").sum()),
        seconds=time.perf_counter() - began,
    )


class _Run:
    """One run of a plan: what of it the store had, and what has been computed.

    The store is left as it is until there is a cell to compute: a study that is refused changes nothing.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        progress: RunProgress,
        workers: _Workers,
        command: str | None,
        retry_failed: bool,
    ) -> None:
        self.plan, self.store, self.progress, self.workers = plan, store, progress, workers
        self.command = command
        done = store.done()
        self.costs = Costs()
        if done:
            self.costs.learn_table(store.new_rows(set(), COSTS))
        self.known = {key for key, status in done.items() if status == "ok" or not retry_failed}
        self._slow: set[str] = set()
        self.planned: list[pa.Table] = []
        self.reused = self.computed = 0
        self._began, self._recorded = datetime.now(UTC), set[str]()
        self._earlier_runs = store.read_json("provenance.json").get("runs", [])

    def stage(self, stage: Stage) -> None:
        """Compute the cells of a stage that the store lacks."""
        work = Work(stage.groups, stage.keys, self.known, stage.later)
        if work.missing and not self.computed:
            check_splits(self.plan.split_cells())
            self._record_study()
            self.progress.start(self.total, self.reused)
        self.planned.append(stage.planned)
        self.reused += len(stage.keys) - work.missing
        self.computed += work.missing
        if self.computed:
            self.progress.advance(len(stage.keys) - work.missing)
            if stage.counts:
                self.store.write_plan(self.planned)
        if work.missing:
            self._compute(work)

    def _compute(self, work: Work) -> None:
        """Run cells and write them in parts; what is finished when the run is interrupted is written too."""
        pending: list[CellResult] = []
        found, last_flush = self.workers.get(), time.monotonic()
        later = self.total - sum(map(len, self.planned))
        found.remaining.cells = work.left + later

        def flush() -> None:
            nonlocal last_flush
            if environments := found.environments():
                self.record_environments(environments)
            self.store.write(pending)
            pending.clear()
            last_flush = time.monotonic()

        def collect(results: list[CellResult]) -> None:
            self.store.check_hold()
            pending.extend(result for result in results if not result.stored)
            new = [result for result in results if not result.again]
            self.costs.learn(result.row for result in new)
            self._note_slow_guests(result.row for result in new)
            work.note(new)
            self.progress.expect(work.seconds_left(self.costs))
            found.remaining.cells = work.left + later
            found.remaining.seconds = work.thread_seconds_left(later)
            self.progress.advance(len(new))
            if len(pending) >= _FLUSH_CELLS or time.monotonic() - last_flush > FLUSH_SECONDS:
                flush()

        try:
            found.compute(work.cells(self.costs), collect)
        finally:
            flush()

    def _note_slow_guests(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Name, once each, learners of other libraries that take long over an example."""
        for row in rows:
            label, examples = row["algorithm"], row.get("n_examples") or 0
            learner = self.plan.learners[label]
            batch = json.loads(row.get("params") or "{}").get("batch", 1)
            if label in self._slow or "batch" not in learner.parameters or batch > 1 or not examples:
                continue
            milliseconds = 1000 * (row.get("fit_seconds") or 0.0) / examples
            if milliseconds > _SLOW_MILLISECONDS:
                self._slow.add(label)
                # Others learn the rows of a batch one by one all the same.
                remedy = (
                    "batch = 32 in its table predicts and learns 32 at a time, which is another protocol "
                    "(docs/own-learner.md)"
                    if learner.by_partial_fit
                    else "max_examples takes fewer of them, time_limit ends its cells"
                )
                self.progress.note(
                    f"algorithm {label!r}: {milliseconds:.1f} ms an example on data set {row['dataset']!r}, "
                    f"learnt one by one; {remedy}"
                )

    def end(self) -> None:
        """Tidy up after the last stage; a run that found everything there records the study as it is now."""
        self.store.check_hold()
        # What several processes have written may be there twice, also when they did it for a run before.
        marked = is_marked(self.store)
        if marked:
            # First: without it no worker writes any more.
            unmark(self.store)
        if self.computed or marked:
            self.store.compact(above=1 if marked else MAX_PARTS)
        # An earlier run may have been killed.
        self.store.folder.remove(LEFTOVERS)
        if not self.computed:
            self._record_study()
            self.store.write_plan(self.planned)
            runs = with_reuse(self._earlier_runs, self.plan, self.command)
            if runs != self._earlier_runs:
                self.store.write_json("provenance.json", {"runs": runs})
            self.progress.start(self.total, self.reused)

    def record_environments(self, environments: Mapping[str, Environment]) -> None:
        """Write what computes, whenever another machine has joined."""
        if environments.keys() != self._recorded:
            self._recorded = set(environments)
            this_run = provenance(environments, self.plan, self.command, self._began)
            self.store.write_json("provenance.json", {"runs": [*self._earlier_runs, this_run]})

    @property
    def total(self) -> int:
        """Cells of the plan."""
        return self.plan.n_tuning_cells + self.plan.n_evaluation_cells

    def _record_study(self) -> None:
        self.store.write_json("plan.json", {"planned": self.total})
        self.store.write_json("study.json", self.plan.study.model_dump(mode="json"))
