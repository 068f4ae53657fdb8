"""Define the commands about a study: `run`, `plan`, `doctor`, `report`."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..pipeline.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

# Kinds of failures shown on the terminal; the report lists them all.
FAILURES_SHOWN = 20

_out = click.option("--out", help="Folder or fsspec URL of the results.  [default: results/<study>]")
_plugin = click.option(
    "--plugin", "plugins", multiple=True, metavar="FILE", help="Python file with your own learners."
)
_CLUSTER_OPTIONS = (
    click.option(
        "--cluster", metavar="FILE|local:N", help="Start a Dask cluster: as the file says, or N processes."
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Address of a running Dask scheduler, tcp://…."),
    click.option("--scheduler-file", metavar="FILE", help="Scheduler file of a running Dask cluster."),
    click.option(
        "--patience",
        type=click.FloatRange(min=0),
        metavar="SECONDS",
        help="How long to wait for a cluster that does not answer.  [default: 600, or as its file says]",
    ),
)


def _cluster(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_CLUSTER_OPTIONS):
        command = option(command)
    return command


def _one_cluster(cluster: str | None, scheduler: str | None, scheduler_file: str | None) -> bool:
    """Return whether a cluster is named; refuse more than one."""
    given = {"--cluster": cluster, "--scheduler": scheduler, "--scheduler-file": scheduler_file}
    named = [name for name, value in given.items() if value]
    if len(named) > 1:
        raise click.UsageError(f"{' and '.join(named)}: name one cluster")
    return bool(named)


@click.command()
@click.argument("study")
@_out
@click.option("--threads", type=click.IntRange(min=1), help="Threads.  [default: one a core]")
@_cluster
@click.option(
    "--cell-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Give up a cell that has not ended after so long, and mark it crashed.  [default: a day]",
)
@click.option(
    "--workers-write/--client-writes",
    default=None,
    help="Have all workers write the cells that they run, so that this process may leave, and refuse those "
    "that do not see the output; or have this process write them.  [default: with --scheduler and "
    "--scheduler-file, workers that see the output write]",
)
@click.option("--allow-mismatch", is_flag=True, help="Compute on workers with other versions, too.")
@_plugin
@click.option("--retry-failed", is_flag=True, help="Compute failed, crashed and stopped cells again.")
def run(
    study: str,
    out: str | None,
    threads: int | None,
    cluster: str | None,
    scheduler: str | None,
    scheduler_file: str | None,
    patience: float | None,
    cell_limit: float | None,
    workers_write: bool | None,
    allow_mismatch: bool,
    plugins: tuple[str, ...],
    retry_failed: bool,
) -> None:
    """Run STUDY (a shipped study's name or a TOML file), or what is missing of it, and write its report."""
    on_cluster = _one_cluster(cluster, scheduler, scheduler_file)
    if on_cluster and threads is not None:
        raise click.UsageError("--threads is for runs in this process: a cluster's workers have their own")
    if workers_write is not None and not on_cluster:
        given = "--workers-write" if workers_write else "--client-writes"
        raise click.UsageError(f"{given} is for clusters: name one")
    from ..pipeline import data
    from .progress import progress_display
    from .running.run import run_study
    from .running.workers import CELL_LIMIT, WorkerOptions
    from .shipped import find_study

    found, file = find_study(study)
    target = out or str(Path("results") / found.name)
    with progress_display() as progress, data.watched(progress.read):
        summary = run_study(
            found,
            target,
            progress=progress,
            file=file,
            plugins=_absolute(plugins),
            options=WorkerOptions(
                threads=threads,
                cluster=cluster,
                scheduler=scheduler,
                scheduler_file=scheduler_file,
                patience=patience,
                cell_limit=cell_limit or CELL_LIMIT,
                allow_mismatch=allow_mismatch,
                workers_write=workers_write,
            ),
            retry_failed=retry_failed,
            command=_command_line("run"),
        )
    crashed = f"{summary.crashed} crashed, " if summary.crashed else ""
    stopped = (
        f"{summary.stopped} stopped at the time limit (again with --retry-failed), "
        if summary.stopped
        else ""
    )
    click.echo(
        f"{found.name}: {summary.computed} cells computed, {summary.reused} reused, "
        f"{summary.failed} failed, {crashed}{stopped}{summary.seconds:.1f} s"
    )
    _report(target, None)
    if summary.failed or summary.crashed:
        _show_failed(summary.results.cells)
        sys.exit(1)


@click.command()
@click.argument("study")
@_out
@_plugin
def plan(study: str, out: str | None, plugins: tuple[str, ...]) -> None:
    """Tell what STUDY will take: cells, data, memory, time; what is done and what is missing."""
    from .planning import outline, show_outline
    from .shipped import find_study

    found, file = find_study(study)
    target = out or str(Path("results") / found.name)
    outlined = outline(found, target, file=file, plugins=_absolute(plugins))
    show_outline(outlined)
    if outlined.refusal:
        raise InputError(outlined.refusal)


@click.command()
@click.argument("study", required=False)
@click.option("--out", default="results", show_default=True, help="Where results are to be written.")
@_cluster
@_plugin
def doctor(
    study: str | None,
    out: str,
    cluster: str | None,
    scheduler: str | None,
    scheduler_file: str | None,
    patience: float | None,
    plugins: tuple[str, ...],
) -> None:
    """Check this machine, or a cluster: versions, memory, speed, settings, and the data of STUDY there."""
    from .doctor import examine_cluster, examine_machine
    from .shipped import find_study

    subject = None if study is None else (*find_study(study), _absolute(plugins))
    if _one_cluster(cluster, scheduler, scheduler_file):
        findings = examine_cluster(cluster, scheduler, scheduler_file, patience, subject)
    else:
        findings = examine_machine(out, subject)
    sys.exit(1 if findings.show() else 0)


@click.command()
@click.argument("results")
@click.option("--to", help="Folder of the report.  [default: the results' own folder]")
def report(results: str, to: str | None) -> None:
    """Write the report of RESULTS (a folder or URL that `run` wrote to) anew: HTML, Markdown, CSV, LaTeX."""
    _report(results, to)


def _command_line(name: str) -> str:
    """Return the command line of a command, also if another program, such as `dask`, called it."""
    words = sys.argv[1:]
    given = words[words.index(name) + 1 :] if name in words else words
    return f"{click.get_current_context().command_path} {shlex.join(given)}"


def _absolute(plugins: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(str(Path(path).resolve()) for path in plugins)


def _report(results: str, to: str | None) -> None:
    from .report import write_report

    # Reports of results at a URL go to a local folder of their name, others into the results' own folder.
    if to is None:
        to = f"report/{results.rstrip('/').rpartition('/')[2]}" if "://" in results else results
    written = write_report(results, Path(to))
    click.echo(f"report: {next(path for path in written if path.suffix == '.html')}")


def _show_failed(cells: pd.DataFrame) -> None:
    from ..pipeline.analysis.failures import failures

    found = failures(cells[cells["status"].isin(["failed", "crashed"])])
    for failure in found[:FAILURES_SHOWN]:
        click.echo(failure, err=True)
    if len(found) > FAILURES_SHOWN:
        click.echo(f"… and {len(found) - FAILURES_SHOWN} more kinds: see the report", err=True)
