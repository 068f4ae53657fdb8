"""Run a study: plan its cells and compute, stage by stage, those that the store lacks."""

from __future__ import annotations

import gc
import hashlib
import json
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any, TextIO

import numba
import pyarrow as pa

from ...learners.registry import loaded_content
from ...pipeline import data
from ...pipeline.analysis.study_results import StudyResults, read_results
from ...pipeline.errors import InputError
from ...pipeline.run.splits import check_splits
from ...pipeline.store.merging import refuse_conflicts
from ...pipeline.store.schema import CellResult
from ...pipeline.store.store import CLUSTER, MARK, MAX_PARTS, Store, exclusive
from ...pipeline.study.learner_factory import left_out, missing_learners
from ...pipeline.study.plan import Plan, data_id, make_plan
from ...pipeline.study.study import Study
from ...pipeline.workers.cluster.cluster_file import left_behind
from ...pipeline.workers.environment import Environment, this_environment
from .progress import RunProgress
from .provenance import provenance, with_reuse
from .stages import Stage, stages
from .work import COSTS, Costs, Work
from .workers import WorkerOptions, Workers, workers

# New results are written as a part (a Parquet file) if the last write is this many seconds ago. A killed run
# loses the results since its last write.
FLUSH_SECONDS = 2.0
# New results are also written if there are this many unwritten cells, because each takes 4 kB of memory.
# Fewer would make a run of small cells slow: a write takes at least 16 ms, the smallest cell runs for 0.2 ms.
_FLUSH_CELLS = 8192
# A run warns of a third-party learner that takes longer than this per example.
_SLOW_MILLISECONDS = 0.5
# Maximum number of warnings shown. Without it, a warning with a changing number would be shown for every row.
_MOST_SAID = 20
_THREADS = WorkerOptions()


@dataclass(frozen=True)
class Summary:
    """The outcome of a run: how many distinct cells it computed and reused, and all results of the study."""

    # All results of the study in the store.
    results: StudyResults
    # Numbers of distinct cells that this run computed, and that it found in the store or in a base (another
    # folder of results, see `run_study`).
    computed: int
    reused: int
    # Number of the study's distinct cells that were read from each base, by the base's name.
    from_bases: dict[str, int]
    # Numbers of distinct cells, computed or found, that raised an error, that crashed the process or ran past
    # `cell_limit`, and that were stopped at the study's time limit.
    failed: int
    crashed: int
    stopped: int
    # Wall time of the run in seconds.
    seconds: float


def refused_splits(plan: Plan) -> tuple[str, dict[str, tuple[str, str]]]:
    """Return the error message if the parsed data cannot be split as the study asks, or "" if they can.

    The second value has, by data set, a class that is tested but not learned, and why (see `check_splits`).
    """
    drawn = {task.label for task in plan.tasks if data.is_drawn(task)}
    try:
        # Skip generated streams, because drawing them takes time and memory: the run checks them.
        return "", check_splits(cell for cell in plan.split_cells() if cell.spec.dataset.label not in drawn)
    except InputError as error:
        return str(error), {}


def plan_of(
    study: Study, file: Path | None, plugins: tuple[str, ...], store: Store, *, parse: bool = True
) -> Plan:
    """Return the plan of a study; an InputError names the study's file, if it has one.

    For data that are not on this machine, or not parsed yet if `parse` is false, the plan uses the
    fingerprints that the bases of `store` recorded.
    """
    known, base = store.known_data(), None if file is None else file.parent
    try:
        return make_plan(study, base=base, plugins=plugins, known=known, parse=parse)
    except InputError as error:
        if file is None:
            raise
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
    bases: Sequence[str] = (),
    rerun_times: bool = False,
) -> Summary:
    """Run the cells of a study that the store and its bases lack.

    `out` is the folder or fsspec URL of the results. Relative paths in the study start at the folder of
    `file`, or at the current folder without one. `plugins` are Python files with further learners.
    `retry_failed` computes failed, crashed and stopped cells again. `command` is the command line, for the
    report. `bases` are folders or URLs of finished results, or "reference"; by default those that the output
    records. `rerun_times` computes the first repetition of cells that a base has here too, to measure times
    on this machine. Raises InputError if the study, the output, a base or the cluster is wrong.
    """
    began = time.perf_counter()
    store = Store(out)
    store.use_bases(bases)
    if rerun_times and not store.bases:
        raise InputError(f"--rerun-times: {out} has no base whose cells to compute again: add --base")
    plan = plan_of(study, file, plugins, store)
    store.prepare()
    with _each_once(progress.note), exclusive(store, progress.note), ExitStack() as stack:
        for part in store.set_aside:
            progress.note(f"{part}: damaged, moved to {out}/damaged; its content is computed again")
        held = store.read_json("study.json").get("name", study.name)
        if held != study.name:
            progress.note(f"{out}: had results of study {held!r}; its cells are kept, its report is replaced")
        # Exempt the plan and all imported modules from garbage collection: scanning them each time would
        # block every thread.
        if not gc.get_freeze_count():
            stack.callback(gc.unfreeze)
            gc.freeze()
        # Start or connect workers only when the first cell needs one, so that a finished study starts none.
        connect = cache(lambda: stack.enter_context(workers(options, run.plan, out, progress)))
        # Remove the number of workers that a killed run left in the store: `singlepass status` would show it
        # as the current one.
        cluster = store.read_json(CLUSTER)
        # This run removes or overwrites the file, so that `singlepass status` will not name them again.
        if left := left_behind(cluster):
            progress.note(f"{out}: an earlier run may have left running: {left}")
        if cluster.pop("workers", None) is not None:
            store.write_json(CLUSTER, cluster)
        run = _Run(plan, store, progress, connect, command, retry_failed, rerun_times)
        for line in (*missing_learners(plan.learners), *left_out(plugins), *_other_data(plan, store)):
            progress.note(line)
        for stage, _ in stages(plan, store):
            run.stage(stage)
            for line in stage.lacking():
                progress.note(line)
        run.end()
    results = read_results(out)
    planned = {key for table in run.planned for key in table["key"].to_pylist()}
    if lost := planned.difference(results.cells["key"]):
        raise InputError(
            f"{out}: {len(lost):,} cells of the study are no longer there (were files removed during the "
            "run?): run it again"
        )
    # Algorithms with equal parameters share cells, each of which is counted once.
    status = results.cells.drop_duplicates("key")["status"]
    counts = {name: int((status == name).sum()) for name in ("failed", "crashed", "stopped")}
    reused, seconds = len(planned) - run.computed, time.perf_counter() - began
    found = Counter(base.url for base in store.base_of(planned).values())
    names = {base.name: n for base in store.bases if (n := found[base.url])}
    return Summary(
        results=results, computed=run.computed, reused=reused, from_bases=names, seconds=seconds, **counts
    )


def _other_data(plan: Plan, store: Store) -> Iterator[str]:
    """Yield a line for each base that was computed from other content of a data set of the plan."""
    for base in store.bases:
        # Generators have no content: their fingerprints contain the label.
        fixed = [each for each in plan.tasks if not data.is_drawn(each)]
        known = {each.label: base.fingerprints.get(data_id(each)) for each in fixed}
        labels = [label for label, there in known.items() if there not in (None, plan.fingerprints[label])]
        if labels:
            more = f" and {len(labels) - 1:,} more" if len(labels) > 1 else ""
            yield (
                f"base {base.name}: its data of {labels[0]!r}{more} have another content than those here: "
                "it gives none of their cells"
            )


class _Run:
    """Run a plan once, and count the cells reused and computed.

    The store is not changed until there is a cell to compute, so that a refused study changes nothing.
    """

    def __init__(
        self,
        plan: Plan,
        store: Store,
        progress: RunProgress,
        connect: Callable[[], Workers],
        command: str | None,
        retry_failed: bool,
        rerun_times: bool,
    ) -> None:
        self.plan, self.store, self.progress, self.connect = plan, store, progress, connect
        self.command, self._rerun_times = command, rerun_times
        done = store.done()
        self.costs = Costs()
        if done:
            self.costs.learn_table(store.new_rows(set(), COSTS))
        self.known = {key for key, status in done.items() if status == "ok" or not retry_failed}
        self._slow: set[str] = set()
        self.planned: list[pa.Table] = []
        self.reused = self.computed = 0
        self._plan_holds = False
        # Number of the plan's cells that are read from each base, by the base's URL.
        self.from_bases: Counter[str] = Counter()
        # Keys of cells that are computed although a base has them, to measure times on this machine.
        self._timed: list[str] = []
        self._began, self._environments = datetime.now(UTC), dict[str, Environment]()
        self._earlier_runs = store.read_json("provenance.json").get("runs", [])

    def stage(self, stage: Stage) -> None:
        """Compute the cells of a stage that the store and its bases lack."""
        origin = self.store.base_of(stage.keys)
        if self._rerun_times and stage.counts:
            timed = [key for key in self._first_repetition(stage) if key in origin]
            self.known.difference_update(timed)
            self._timed += timed
        work = Work(stage.groups, stage.keys, self.known, stage.later)
        self.from_bases.update(origin[key].url for key in stage.keys if key in origin and key in self.known)
        self._need_data(stage)
        if work.missing and not self.computed:
            check_splits(self.plan.split_cells())
            for label, line in data.cautions(self.plan.here):
                self.progress.note(f"data set {label!r}: {line}")
            if numba.config.DISABLE_JIT:
                self.progress.note(
                    "NUMBA_DISABLE_JIT is set: most learners of this package fail, because they run only "
                    "compiled: unset it, and run again with --retry-failed"
                )
            self._plan_holds = self._is_planned(stage)
            self._record_study()
            self.progress.start(self.total, self.reused)
        self.planned.append(stage.planned)
        self.reused += len(stage.keys) - work.missing
        self.computed += work.missing
        if self.computed:
            self.progress.advance(len(stage.keys) - work.missing)
            self.store.write_bases(self.from_bases)
            # A plan of the tuning cells alone would leave out finished cells of the same study.
            if stage.counts or not self._plan_holds:
                self.store.write_plan(self.planned)
        if work.missing:
            self._compute(work)
            # An algorithm of a later stage, whose budget is then known, may share these cells.
            self.known.update(stage.keys)

    def _is_planned(self, stage: Stage) -> bool:
        """Return whether the plan in the store belongs to this study and has all cells of a stage."""
        study = self.plan.study.model_dump(mode="json")
        with suppress(InputError):
            planned = self.store.plan()["key"].to_pylist()
            return self.store.read_json("study.json") == study and {*planned}.issuperset(stage.keys)
        return False

    def _first_repetition(self, stage: Stage) -> Iterator[str]:
        """Yield the keys of the cells with the first seed, in each group whose data are on this machine."""
        for group in stage.groups:
            if group.spec.dataset.label not in self.plan.absent:
                first = group.members[0][0]
                for (seed, _), key in zip(group.members, group.cell_keys(), strict=True):
                    if seed == first:
                        yield key

    def _need_data(self, stage: Stage) -> None:
        """Download or parse missing data of cells to compute; raise InputError if they cannot be had."""
        for group in stage.groups if self.plan.absent else ():
            label = group.spec.dataset.label
            if label in self.plan.absent and not self.known.issuperset(group.cell_keys()):
                try:
                    self.plan = self.plan.present(label)
                except InputError as error:
                    raise InputError(
                        f"no base has all cells of algorithm {group.spec.algorithm!r} on data set {label!r}, "
                        f"whose data are not here: {error}; or leave this data set out of the algorithm's "
                        "datasets"
                    ) from None

    def _compute(self, work: Work) -> None:
        """Run cells and write their results in parts; after an interrupt, still write finished cells."""
        pending: list[CellResult] = []
        found, last_flush = self.connect(), time.monotonic()
        later = self.total - sum(map(len, self.planned))
        found.remaining.cells = work.left + later

        def flush() -> None:
            nonlocal last_flush
            environments = found.environments()
            # Write the provenance again if a worker has joined.
            if environments and environments.keys() != self._environments.keys():
                self._environments = dict(environments)
                self._record_run(environments)
            self.store.write(pending)
            pending.clear()
            last_flush = time.monotonic()

        def collect(results: list[CellResult]) -> None:
            self.store.check_lock()
            pending.extend(result for result in results if not result.stored)
            new = [result for result in results if not result.again]
            self.costs.learn(result.row for result in new)
            self._note_slow_learners(result.row for result in new)
            work.note(new)
            self.progress.expect(work.seconds_left(self.costs))
            found.remaining.cells = work.left + later
            found.remaining.seconds = work.thread_seconds_left(later)
            self.progress.advance(len(new))
            if len(pending) >= _FLUSH_CELLS or time.monotonic() - last_flush > FLUSH_SECONDS:
                flush()

        try:
            found.compute(work.readings(self.costs), collect)
        finally:
            flush()

    def _note_slow_learners(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Warn once of each third-party learner that is slow per example."""
        for row in rows:
            label, examples = row["algorithm"], row.get("n_examples") or 0
            learner = self.plan.learners[label]
            batch = json.loads(row.get("params") or "{}").get("batch", 1)
            if label in self._slow or "batch" not in learner.parameters or batch > 1 or not examples:
                continue
            milliseconds = 1000 * (row.get("fit_seconds") or 0.0) / examples
            if milliseconds > _SLOW_MILLISECONDS:
                self._slow.add(label)
                # Recommend batches only for learners with partial_fit: others learn the rows of a batch one
                # by one.
                remedy = (
                    "batch = 32 in its table predicts and learns 32 at a time, which is another protocol "
                    "(docs/own-learner.md)"
                    if learner.by_partial_fit
                    else "max_examples limits the number of examples, time_limit the time of a cell"
                )
                self.progress.note(
                    f"algorithm {label!r}: {milliseconds:.1f} ms an example on data set {row['dataset']!r}, "
                    f"learned one by one; {remedy}"
                )

    def end(self) -> None:
        """Clean up after the last stage. Record the study too if no cell was computed, as no stage did so."""
        self.store.check_lock()
        # The file `MARK` lets workers write to the store. If it exists, workers of this run or of a killed
        # one may have written cells twice, so all parts are merged.
        marked = bool(self.store.read_json(MARK))
        if marked:
            # Remove the file before merging parts: without it, workers stop writing.
            self.store.folder.remove(MARK)
        if self.computed or marked:
            self.store.compact(above=1 if marked else MAX_PARTS)
        # Remove the file about the cluster, which an earlier run that was killed may have left.
        self.store.folder.remove(CLUSTER)
        if not self.computed:
            self._record_study()
            self.store.write_plan(self.planned)
            self.store.write_bases(self.from_bases)
            runs = with_reuse(self._earlier_runs, self.plan, self.command)
            if runs != self._earlier_runs:
                self.store.write_json("provenance.json", {"runs": runs})
            self.progress.start(self.total, self.reused)
        if self.from_bases and (self.computed or not self._earlier_runs):
            # Write the provenance again, now with the final number of cells from each base.
            self._record_run(self._environments or {"": this_environment()})
        refuse_conflicts(self.store, self._timed)

    def _record_run(self, environments: Mapping[str, Environment]) -> None:
        this_run = provenance(environments, self.plan, self.command, self._began)
        if self.from_bases:
            names = {base.url: base.name for base in self.store.bases}
            this_run["bases"] = {names[url]: f"{n:,} cells" for url, n in self.from_bases.items()}
        self.store.write_json("provenance.json", {"runs": [*self._earlier_runs, this_run]})

    @property
    def total(self) -> int:
        """Return the number of cells of the plan."""
        return self.plan.n_tuning_cells + self.plan.n_evaluation_cells

    def _record_study(self) -> None:
        plugins = {path: hashlib.sha256(loaded_content(path)).hexdigest() for path in self.plan.plugins}
        fingerprints = self.plan.data_fingerprints
        self.store.write_json("plan.json", {"planned": self.total, "data": fingerprints, "plugins": plugins})
        self.store.write_json("study.json", self.plan.study.model_dump(mode="json"))


@contextmanager
def _each_once(note: Callable[[str], None]) -> Iterator[None]:
    """In the ``with`` block, pass each distinct warning of any thread to `note` once, at most `_MOST_SAID`.

    Python itself would repeat warnings: it forgets which it has shown whenever a library changes the warning
    filters, and scikit-learn does that at every call.
    """
    before, lock = warnings.showwarning, threading.Lock()
    said: set[tuple[str, str]] = set()
    ended = False

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if ended:
            # After the block, act like the original function: a library that replaced `showwarning` inside
            # the block may restore this function later.
            before(message, category, filename, lineno, file, line)
            return
        words = " ".join(str(message).split())
        with lock:
            if (category.__name__, words) in said or len(said) > _MOST_SAID:
                return
            said.add((category.__name__, words))
            full = len(said) > _MOST_SAID
        place = "/".join(Path(filename).parts[-2:])
        note("further warnings are not shown" if full else f"warning: {category.__name__}: {words} ({place})")

    warnings.showwarning = show
    try:
        yield
    finally:
        ended = True
        if warnings.showwarning is show:
            warnings.showwarning = before
