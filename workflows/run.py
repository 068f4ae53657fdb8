"""Run a study: plan its cells, compute what the store lacks, tune first, report last."""

from __future__ import annotations

import platform
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..pipeline.analysis.study_results import StudyResults, read_results
from ..pipeline.analysis.tuning import tuned_grids
from ..pipeline.errors import InputError
from ..pipeline.noise import parse_noise
from ..pipeline.run.cluster import compute, connect
from ..pipeline.run.splits import check_splits
from ..pipeline.store.cell_result import CellResult
from ..pipeline.store.store import Store, exclusive
from ..pipeline.study.plan import Cell, Group, Plan, make_plan
from ..pipeline.study.specs import Scalar
from ..pipeline.study.study import Study

if TYPE_CHECKING:
    from distributed import Client

# A part is written after this many seconds: what a kill can lose at most.
FLUSH_SECONDS = 2.0
_PACKAGES = (
    "singlepass",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "dask",
    "distributed",
    "pandas",
    "pyarrow",
)


class Progress(Protocol):
    """What `run_study` tells of its progress."""

    def start(self, total: int, already: int) -> None:
        """Say how many cells there are, and how many of them were in the store."""

    def advance(self, cells: int) -> None:
        """Say that this many more are finished."""

    def note(self, text: str) -> None:
        """Say something in one line."""


@dataclass(frozen=True)
class Summary:
    """What a run came to.

    Attributes
    ----------
    results : StudyResults
        Everything the store now holds of the study.
    computed, reused, failed, stopped : int
        Cells computed now, cells found in the store, and among both those that failed and those that were
        stopped at their time limit.
    seconds : float
        Wall time.
    """

    results: StudyResults
    computed: int
    reused: int
    failed: int
    stopped: int
    seconds: float


@dataclass
class _Workers:
    """Connects to the workers when the first cell needs them: a finished study starts none."""

    stack: ExitStack
    options: dict[str, Any]
    client: Client | None = None

    def get(self) -> Client:
        if self.client is None:
            self.client = self.stack.enter_context(connect(**self.options))
        return self.client


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
    progress: Progress,
    file: Path | None = None,
    plugins: tuple[str, ...] = (),
    threads: int | None = None,
    scheduler: str | None = None,
    scheduler_file: str | None = None,
    retry_failed: bool = False,
    command: str | None = None,
) -> Summary:
    """Run what is missing of a study.

    Parameters
    ----------
    study : Study
    out : str
        Folder or fsspec URL of the results.
    progress : Progress
        Told how far the run is.
    file : Path, default=None
        The study's file: relative paths in the study start from its folder (None: from the current one), and
        errors name it.
    plugins : tuple of str, default=()
        Python files with further learners.
    threads, scheduler, scheduler_file
        See `singlepass.pipeline.run.cluster.connect`.
    retry_failed : bool, default=False
        Compute failed and stopped cells again.
    command : str, default=None
        The command line that asked for the run, for the report.

    Returns
    -------
    Summary

    Raises
    ------
    InputError
        Something in the study, the output or the scheduler is not as it must be.
    """
    began = time.perf_counter()
    plan = _plan(study, file, plugins)
    store = Store(out)
    store.prepare()
    with exclusive(store), ExitStack() as stack:
        for part in store.set_aside:
            progress.note(f"{part}: damaged, moved to {out}/damaged; its cells are computed again")
        held = store.read_json("study.json").get("name", study.name)
        if held != study.name:
            progress.note(f"{out}: held the study {held!r}; its cells stay, its report is replaced")
        done = store.done()
        known = {key for key, status in done.items() if status == "ok" or not retry_failed}
        total = plan.n_tuning_cells + plan.n_evaluation_cells
        workers = _Workers(
            stack, {"threads": threads, "scheduler": scheduler, "scheduler_file": scheduler_file}
        )
        document = study.model_dump(mode="json")
        keys: list[str] = []
        reused = computed = 0
        for number, cells in enumerate(_stages(plan, store)):
            own = [cell.key for cell in cells()]
            missing = sum(key not in known for key in own)
            if missing and not computed:
                # A study that is refused leaves what is there as it is.
                check_splits(plan.split_cells())
                store.write_json("study.json", document)
                store.write_json("plan.json", {"planned": total})
                _add_provenance(store, plan, command)
                progress.start(total, reused)
            keys += own
            reused += len(own) - missing
            if computed or missing:
                progress.advance(len(own) - missing)
                if number:
                    store.write_plan(keys)
            computed += missing
            _compute((cell for cell in cells() if cell.key not in known), workers, store, progress)
        for (label, model), lacking in plan.unmatched(_supports(plan, store)).items():
            progress.note(f"{label}: not run {lacking} times, for {model} has no support size there")
        if computed:
            store.compact()
        else:
            store.write_json("study.json", document)
            store.write_json("plan.json", {"planned": total})
            store.write_plan(keys)
            progress.start(total, reused)
    results = read_results(out)
    return Summary(
        results=results,
        computed=computed,
        reused=len(results.cells) - computed,
        failed=int((results.cells["status"] == "failed").sum()),
        stopped=int((results.cells["status"] == "stopped").sum()),
        seconds=time.perf_counter() - began,
    )


def _stages(plan: Plan, store: Store) -> Iterator[Callable[[], Iterator[Cell]]]:
    """Yield what gives the cells of each stage, which may depend on the outcomes of those before."""
    yield plan.tuning_cells
    winners = _winners(plan, store)
    yield lambda: plan.evaluation_cells(winners)
    supports = _supports(plan, store)
    yield lambda: plan.matched_cells(supports)


def _supports(plan: Plan, store: Store) -> dict[tuple[Group, int], int]:
    """Return the support sizes that other cells take as parameters, by group and seed."""
    models = {label for entry in plan.study.algorithms for label in entry.matched.values()}
    if not models:
        return {}
    cells = store.cells()
    planned = {cell.key for cell in plan.evaluation_cells(_winners(plan, store))}
    rows = cells[(cells["status"] == "ok") & cells["algorithm"].isin(models) & cells["key"].isin(planned)]
    supports = {}
    for row in rows.dropna(subset=["support_vectors"]).to_dict("records"):
        group = row["dataset"], row["algorithm"], parse_noise(row["noise"])
        supports[group, row["seed"]] = int(row["support_vectors"])
    return supports


def _winners(plan: Plan, store: Store) -> dict[Group, dict[str, Scalar]]:
    """Return the parameters that won each grid, from the cells in the store."""
    planned = [cell.key for cell in plan.tuning_cells()]
    if not planned:
        return {}
    cells = store.cells()
    tuned = tuned_grids(cells[cells["key"].isin(planned)], plan.study.winner)
    return {grid.group: grid.winner for grid in tuned if grid.winner is not None}


def _compute(cells: Iterable[Cell], workers: _Workers, store: Store, progress: Progress) -> None:
    """Run cells and write them in parts; what is finished when the run is interrupted is written too."""
    pending: list[CellResult] = []
    cells = iter(cells)
    first = next(cells, None)
    if first is None:
        return
    last_flush = time.monotonic()

    def flush() -> None:
        nonlocal last_flush
        store.write(pending)
        pending.clear()
        last_flush = time.monotonic()

    def collect(outcomes: list[CellResult]) -> None:
        pending.extend(outcomes)
        progress.advance(len(outcomes))
        if time.monotonic() - last_flush > FLUSH_SECONDS:
            flush()

    def chained() -> Iterable[Cell]:
        yield first
        yield from cells

    try:
        compute(workers.get(), chained(), collect)
    finally:
        flush()


def _add_provenance(store: Store, plan: Plan, command: str | None) -> None:
    """Add what this run is made with to what the runs before it left."""
    runs = store.read_json("provenance.json").get("runs", [])
    this_run = {
        "command": command,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "cpu": _cpu(),
        "git": _git_commit(),
        "fingerprints": plan.fingerprints,
    }
    store.write_json("provenance.json", {"runs": [*runs, this_run]})


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _git_commit() -> str | None:
    """Return the commit of the checkout this code runs from, None when it is installed."""
    checkout = Path(__file__).resolve().parent.parent
    if not (checkout / ".git").exists():
        return None
    try:
        found = subprocess.run(
            ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()
