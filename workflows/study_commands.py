"""Define the commands about studies and results: `run`, `plan`, `compare`, `doctor`, `report` and others."""

from __future__ import annotations

import math
import secrets
import shlex
import sys
import webbrowser
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..pipeline.errors import InputError, printable

if TYPE_CHECKING:
    import pandas as pd

    from .running.run import Summary

# Largest number of kinds of failures shown on the terminal; the report lists them all.
FAILURES_SHOWN = 20


class Amount(click.FloatRange):
    """Accept a number up to ten million (seconds: 115 days): timers overflow for much larger ones."""

    def __init__(self, min: float, *, min_open: bool = False) -> None:
        super().__init__(min=min, max=10_000_000, min_open=min_open)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        found = super().convert(value, param, ctx)
        # NaN is neither below nor above a bound.
        if math.isnan(found):
            self.fail(f"{found} is not in the range {self._describe_range()}.", param, ctx)
        return found


def _not_empty(_context: click.Context, option: click.Parameter, value: Any) -> Any:
    """Refuse an empty place, as from an unset shell variable, which would be the current folder."""
    if value == "" or (isinstance(value, tuple) and "" in value):
        raise click.BadParameter("give a folder or URL, not an empty text", param=option)
    return value


_out = click.option(
    "--out", callback=_not_empty, help="Folder or fsspec URL of the results.  [default: results/<study>]"
)
_plugin = click.option(
    "--plugin", "plugins", multiple=True, metavar="FILE", help="Python file with your own learners."
)
_base = click.option(
    "--base",
    "bases",
    multiple=True,
    callback=_not_empty,
    metavar="REF",
    help="Take missing cells from finished results: a folder, a URL or reference.  "
    "[default: the last run's; compare: reference]",
)
_CLUSTER_OPTIONS = (
    click.option(
        "--cluster", metavar="FILE|local:N", help="Start a Dask cluster: from a TOML file, or N processes."
    ),
    click.option("--scheduler", metavar="ADDRESS", help="Address of a running Dask scheduler, tcp://…."),
    click.option("--scheduler-file", metavar="FILE", help="Scheduler file of a running Dask cluster."),
    click.option(
        "--patience",
        type=Amount(min=0),
        metavar="SECONDS",
        help="How long to wait for a cluster to answer.  "
        "[default: `wait` of the TOML file, 120 with local:N, 600 with a running scheduler (doctor: 20)]",
    ),
)


def _cluster(command: Callable[..., None]) -> Callable[..., None]:
    for option in reversed(_CLUSTER_OPTIONS):
        command = option(command)
    return command


def _on_cluster(options: dict[str, Any]) -> bool:
    """Return whether one of the options names a cluster."""
    names = ("cluster", "scheduler", "scheduler_file")
    given = {f"--{name.replace('_', '-')}": options[name] for name in names if options[name] is not None}
    if len(given) > 1:
        raise click.UsageError(f"{' and '.join(given)} each name a cluster: give only one of them")
    for name, value in given.items():
        if not value:
            raise click.UsageError(f"{name} is empty: name a cluster, or leave the option out")
    write = {None: "", True: "--workers-write", False: "--client-writes"}[options.get("workers_write")]
    patience = "" if options["patience"] is None else "--patience"
    mismatch = "--allow-mismatch" if options.get("allow_mismatch") else ""
    needing = write or patience or mismatch
    if needing and not given:
        raise click.UsageError(f"{needing} needs a cluster: add --cluster, --scheduler or --scheduler-file")
    return bool(given)


@click.command()
@click.argument("study")
@_out
@click.option("--threads", type=click.IntRange(min=1), help="Threads.  [default: one per core]")
@_cluster
@click.option(
    "--cell-limit",
    type=Amount(min=0, min_open=True),
    metavar="SECONDS",
    help="Timeout of a cell, after which it is marked crashed.  [default: a day]",
)
@click.option(
    "--workers-write/--client-writes",
    default=None,
    help="Have all workers write their own results, so that this process may end, and refuse workers without "
    "access to the output; or have this process write all results.  [default: with --scheduler and "
    "--scheduler-file, workers with access write]",
)
@click.option("--allow-mismatch", is_flag=True, help="Also use workers with other versions of packages.")
@_plugin
@_base
@click.option(
    "--rerun-times",
    is_flag=True,
    help="Compute the first repetition here even if a base has it, to measure times.",
)
@click.option("--retry-failed", is_flag=True, help="Compute failed, crashed and stopped cells again.")
def run(
    study: str,
    out: str | None,
    plugins: tuple[str, ...],
    bases: tuple[str, ...],
    rerun_times: bool,
    retry_failed: bool,
    **options: Any,
) -> None:
    """Run the missing cells of STUDY (a shipped study's name or a TOML file), and write its report."""
    if _on_cluster(options) and options["threads"] is not None:
        raise click.UsageError(
            "--threads is for runs in this process; the cluster sets the threads of its workers"
        )
    from ..pipeline import data
    from .progress import progress_display
    from .running.run import run_study
    from .running.workers import WorkerOptions
    from .shipped import extension_of, find_study

    found, file = find_study(study)
    target = out or str(Path("results") / found.name)
    with progress_display() as progress, data.watched(progress.read):
        if said := extension_of(file):
            progress.note(said)
        summary = run_study(
            found,
            target,
            progress=progress,
            file=file,
            plugins=_absolute(plugins),
            options=WorkerOptions(**{key: value for key, value in options.items() if value is not None}),
            retry_failed=retry_failed,
            command=_command_line("run"),
            bases=_absolute_bases(bases),
            rerun_times=rerun_times,
        )
    _finish(found.name, target, summary)


def _finish(name: str, target: str, summary: Summary) -> None:
    """Print a line about a run, write its report, and exit with status 1 if cells failed."""
    from .report.words.wording import count

    told = [f"{n:,} from {base}" for base, n in summary.from_bases.items()]
    reused = f"{summary.reused:,} reused" + (f" ({', '.join(told)})" if told else "")
    counts = [f"{count(summary.computed, 'cell')} computed", reused, f"{summary.failed:,} failed"]
    if summary.crashed:
        counts.append(f"{summary.crashed:,} crashed")
    if summary.stopped:
        counts.append(f"{summary.stopped:,} stopped at the time limit (--retry-failed computes them again)")
    click.echo(f"{name}: {', '.join(counts)}, {summary.seconds:.1f} s")
    _report(target, None)
    if summary.failed or summary.crashed:
        _show_failed(summary.results.cells)
        sys.exit(1)


@click.command()
@click.argument("study")
@_out
@_plugin
@_base
def plan(study: str, out: str | None, plugins: tuple[str, ...], bases: tuple[str, ...]) -> None:
    """Estimate the cells, data, memory and time of STUDY, and show which cells and files are missing."""
    from .planning import outline, show_outline
    from .shipped import extension_of, find_study

    found, file = find_study(study)
    target = out or str(Path("results") / found.name)
    if said := extension_of(file):
        click.echo(said)
    outlined = outline(found, target, file=file, plugins=_absolute(plugins), bases=_absolute_bases(bases))
    show_outline(outlined)
    if outlined.refusal:
        raise InputError(outlined.refusal)


@click.command()
@click.argument("subjects", nargs=-1, required=True, metavar="STUDY | RESULTS...")
@click.option(
    "--with", "newcomers", multiple=True, metavar="FILE.py:NAME", help="A learner to compare with STUDY."
)
@_out
@_base
@click.option("--threads", type=click.IntRange(min=1), help="Threads.  [default: one per core]")
def compare(
    subjects: tuple[str, ...],
    newcomers: tuple[str, ...],
    out: str | None,
    bases: tuple[str, ...],
    threads: int | None,
) -> None:
    """Run a new learner and compare it with those of STUDY; or compare finished RESULTS in one report.

    With --with, the cells of STUDY are taken from --base, by default reference, and the learner runs on the
    named data sets that are on this machine, and on your files. NAME selects a learner of a file that has
    several; without a file, it is the name of a learner as in a study.
    """
    from .comparing import compare_results
    from .newcomers import newcomer, with_newcomers
    from .progress import progress_display

    if not newcomers:
        if bases or threads is not None:
            raise click.UsageError("--base and --threads need --with: finished RESULTS are not run")
        if len(subjects) < 2:
            raise click.UsageError("give a learner (--with FILE.py:NAME) or at least two RESULTS")
        target = out or str(Path("results") / "-and-".join(Path(each).resolve().name for each in subjects))
        urls = _absolute_bases(subjects)
        compare_results(urls, target, _command_line("compare"), lambda line: click.echo(line, err=True))
        _report(target, None)
        return
    if len(subjects) > 1:
        raise click.UsageError(f"--with takes one STUDY, got {len(subjects)}: {', '.join(subjects)}")
    from ..pipeline import data
    from .running.run import run_study
    from .running.workers import WorkerOptions
    from .shipped import find_study

    study, file = find_study(subjects[0])
    found = [newcomer(text) for text in newcomers]
    with progress_display() as progress, data.watched(progress.read):
        folder = Path() if file is None else file.parent
        extended = with_newcomers(study, [name for _, name in found], folder, progress.note)
        target = out or str(Path("results") / extended.name)
        summary = run_study(
            extended,
            target,
            progress=progress,
            file=file,
            plugins=tuple(dict.fromkeys(path for path, _ in found if path)),
            options=WorkerOptions(threads=threads),
            command=_command_line("compare"),
            bases=_absolute_bases(bases) or ("reference",),
        )
    _finish(extended.name, target, summary)


@click.command()
@click.argument("results", nargs=-1, required=True)
@click.option("--out", required=True, callback=_not_empty, help="New folder or fsspec URL of the results.")
def merge(results: tuple[str, ...], out: str) -> None:
    """Merge RESULTS of one study from several machines; differing counts of a cell are an error."""
    from .merging import merge_results

    click.echo(merge_results(results, out, lambda line: click.echo(line, err=True)))


@click.command()
@click.argument("results")
@click.option("--to", callback=_not_empty, help="The archive.  [default: <study>.zip in this folder]")
def submit(results: str, to: str | None) -> None:
    """Pack the cells that RESULTS computed, the study and its plug-ins into an archive to be verified."""
    from ..pipeline.store.folder import local_folder
    from .report.words.wording import count
    from .submission import submit as packed

    path, cells = packed(results, None if to is None else local_folder(to))
    size = path.stat().st_size
    click.echo(f"{path}: {count(cells, 'cell')}, {size:,} bytes; `singlepass verify {path}` verifies them")


@click.command()
@click.argument("archive")
@click.option(
    "--cells", type=click.IntRange(min=1), default=20, show_default=True, help="Cells to compute again."
)
@click.option(
    "--seed", type=click.IntRange(min=0), help="Seed that draws the sample.  [default: a new one each time]"
)
@click.option("--trust", is_flag=True, help="Run the code of the archive with your rights.")
@click.option("--seconds", type=Amount(min=1), default=3600.0, show_default=True, help="Time limit.")
@click.option("--memory", type=Amount(min=1), default=16.0, show_default=True, help="Limit in GB.")
def verify(archive: str, cells: int, seed: int | None, trust: bool, seconds: float, memory: float) -> None:
    """Compute a random sample of the cells of ARCHIVE (made by `submit`) again, and compare their results.

    This runs a stranger's code in a subprocess with limits of time and memory: read SECURITY.md first.
    """
    from ..pipeline.store.folder import local_folder
    from .report.words.wording import count
    from .submission import verify as verified

    path, drawn = local_folder(archive), secrets.randbelow(1 << 32) if seed is None else seed
    found = verified(path, cells=cells, seed=drawn, seconds=seconds, memory=memory, trusted=trust)
    for line in found.problems:
        # It quotes a stranger's texts.
        click.echo(printable(" ".join(line.split())), err=True)
    told = count(len(found.problems), "difference") if found.problems else "all results are equal"
    sample = f"{len(found.sample):,} of {found.cells:,} cells computed again (--seed {drawn})"
    click.echo(f"{found.study}: {sample}: {told}")
    if found.unjudged:
        click.echo(f"winners of {found.unjudged:,} grids are not checked: the archive lacks points of them")
    if found.missing:
        click.echo(f"{found.missing:,} of {found.planned:,} cells of the study are not in the archive")
    if found.unfinished:
        click.echo(f"not checked: {count(found.unfinished, 'cell')} of the archive without a result")
    sys.exit(1 if found.problems else 0)


@click.command()
@click.argument("study", required=False)
@click.option(
    "--out", default="results", callback=_not_empty, show_default=True, help="Folder or URL for results."
)
@_cluster
@_plugin
def doctor(study: str | None, out: str, plugins: tuple[str, ...], **options: Any) -> None:
    """Check this machine, or a cluster: versions, memory, speed, settings, and the data of STUDY there."""
    from .doctor import examine_cluster, examine_machine
    from .shipped import find_study

    subject = None if study is None else (*find_study(study), _absolute(plugins))
    on_cluster = _on_cluster(options)
    findings = examine_cluster(subject, out, **options) if on_cluster else examine_machine(subject, out)
    sys.exit(1 if findings.show() else 0)


@click.command()
@click.argument("results")
@click.option("--to", callback=_not_empty, help="Folder of the report.  [default: the results' own folder]")
@click.option("--open", "opened", is_flag=True, help="Open the report in a web browser.")
def report(results: str, to: str | None, opened: bool) -> None:
    """Write the report of RESULTS (a folder or URL that `run` wrote to) as HTML, Markdown, CSV and LaTeX.

    If RESULTS is a folder of several results, write all their reports and an index page.
    """
    page = _report(results, to)
    if opened and not webbrowser.open(page.resolve().as_uri()):
        raise InputError(f"--open: no web browser found: open {page} yourself")


def _command_line(name: str) -> str:
    """Return the command line of this call, also if another program, such as `dask`, made it."""
    words = sys.argv[1:]
    given = words[words.index(name) + 1 :] if name in words else words
    command = f"{click.get_current_context().command_path} {shlex.join(given)}"
    # The name of a study's file may be bytes that are not UTF-8, which JSON cannot contain.
    return command.encode(errors="surrogateescape").decode(errors="replace")


def _absolute(plugins: tuple[str, ...]) -> tuple[str, ...]:
    from ..pipeline.store.folder import local_folder

    return tuple(str(local_folder(path).resolve()) for path in plugins)


def _absolute_bases(bases: tuple[str, ...]) -> tuple[str, ...]:
    """Return bases as the output records them: folders as absolute paths."""
    from ..pipeline.store.folder import local_folder

    return tuple(
        base if base == "reference" or "://" in base else str(local_folder(base).resolve()) for base in bases
    )


def _report(results: str, to: str | None) -> Path:
    """Write the report of results, or of all results in a folder; print and return the path of its page."""
    from ..pipeline.store.folder import local_folder
    from .report import write_report
    from .report.index import results_in, write_index

    if not results:
        raise InputError("results: the name of the folder or URL is empty")
    # The report of results at a URL goes to a local folder.
    if to is None:
        to = f"report/{results.rstrip('/').rpartition('/')[2]}" if "://" in results else results
    if "://" not in results and results_in(local_folder(results)):
        page, *_ = write_index(local_folder(results), local_folder(to))
    else:
        page, *_ = write_report(results, local_folder(to))
    click.echo(f"report: {page}")
    return page


def _show_failed(cells: pd.DataFrame) -> None:
    from ..pipeline.analysis.failures import failures

    found = failures(cells[cells["status"].isin(["failed", "crashed"])])
    for failure in found[:FAILURES_SHOWN]:
        click.echo(failure, err=True)
    if len(found) > FAILURES_SHOWN:
        click.echo(f"… and {len(found) - FAILURES_SHOWN} more kinds: see the report", err=True)
