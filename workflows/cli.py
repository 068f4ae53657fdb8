"""The command line. Every command imports what it needs when it is called: `--help` answers at once."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..pipeline.errors import InputError
from .bench import BENCHMARKS, run_bench

if TYPE_CHECKING:
    import pandas as pd

# Failed cells shown on the terminal; the report has them all.
FAILED_SHOWN = 20


@click.group(context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="singlepass")
def app() -> None:
    """Benchmark online (single-pass) classifiers: run a study, read its report."""


@app.command()
@click.argument("study")
@click.option("--out", help="Folder or fsspec URL of the results.  [default: results/<study>]")
@click.option("--threads", type=click.IntRange(min=1), help="Threads.  [default: one a core]")
@click.option(
    "--cluster", metavar="FILE|local:N", help="Start a Dask cluster: as the file says, or N processes."
)
@click.option("--scheduler", metavar="ADDRESS", help="Address of a running Dask scheduler, tcp://….")
@click.option("--scheduler-file", metavar="FILE", help="Scheduler file of a running Dask cluster.")
@click.option(
    "--patience",
    type=click.FloatRange(min=0),
    metavar="SECONDS",
    help="How long to wait for a cluster that does not answer.  [default: 600]",
)
@click.option(
    "--cell-limit",
    type=click.FloatRange(min=0, min_open=True),
    metavar="SECONDS",
    help="Give up a cell that has not ended after so long, and mark it crashed.  [default: a day]",
)
@click.option(
    "--workers-write",
    is_flag=True,
    help="Have workers write their cells: they must see the output, and this process may leave.",
)
@click.option("--allow-mismatch", is_flag=True, help="Compute on workers with other versions, too.")
@click.option(
    "--plugin", "plugins", multiple=True, metavar="FILE", help="Python file with your own learners."
)
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
    allow_mismatch: bool,
    workers_write: bool,
    plugins: tuple[str, ...],
    retry_failed: bool,
) -> None:
    """Run STUDY (a shipped study's name or a TOML file), or what is missing of it, and write its report."""
    given = {"--cluster": cluster, "--scheduler": scheduler, "--scheduler-file": scheduler_file}
    named = [name for name, value in given.items() if value]
    if threads is not None and named:
        raise click.UsageError("--threads is for runs in this process: a cluster's workers have their own")
    if workers_write and not named:
        raise click.UsageError("--workers-write is for clusters: name one")
    if len(named) > 1:
        raise click.UsageError(f"{' and '.join(named)}: name one cluster")
    from ..pipeline import data
    from .progress import progress_display
    from .running.run import run_study
    from .running.workers import CELL_LIMIT, PATIENCE, WorkerOptions
    from .shipped import find_study

    found, file = find_study(study)
    target = out or str(Path("results") / found.name)
    with progress_display() as progress, data.watched(progress.read):
        summary = run_study(
            found,
            target,
            progress=progress,
            file=file,
            plugins=tuple(str(Path(path).resolve()) for path in plugins),
            options=WorkerOptions(
                threads=threads,
                cluster=cluster,
                scheduler=scheduler,
                scheduler_file=scheduler_file,
                patience=PATIENCE if patience is None else patience,
                cell_limit=cell_limit or CELL_LIMIT,
                allow_mismatch=allow_mismatch,
                workers_write=workers_write,
            ),
            retry_failed=retry_failed,
            command=shlex.join(["singlepass", *sys.argv[1:]]),
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


@app.command()
@click.argument("results")
@click.option("--to", help="Folder of the report.  [default: the results' own folder]")
def report(results: str, to: str | None) -> None:
    """Write the report of RESULTS (a folder or URL that `run` wrote to) anew: HTML, Markdown, CSV, LaTeX."""
    _report(results, to)


@app.command()
@click.argument("results")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for scripts.")
def status(results: str, as_json: bool) -> None:
    """Tell how far the run of RESULTS (a folder or URL) is: done, rate, time left, by whom, errors."""
    from .status import run_status

    found = run_status(results)
    click.echo(found.json() if as_json else "\n".join(found.lines()))


@app.command()
@click.argument("results")
def compact(results: str) -> None:
    """Merge the files that a long run wrote to RESULTS (a folder or URL) into few, while nobody runs it."""
    from .merging import compact_results

    click.echo(compact_results(results, lambda line: click.echo(line, err=True)))


@app.command("list")
@click.argument("what", type=click.Choice(["learners", "datasets", "studies"]))
@click.argument("names", nargs=-1)
def list_(what: str, names: tuple[str, ...]) -> None:
    """List learners, datasets or studies, or tell everything about the data sets NAMES."""
    from .listing import show

    show(what, names)


_SIZED = [name for name, benchmark in BENCHMARKS.items() if benchmark.sized]


@app.command(
    help="Measure speed, as ratios against peers in the same run.\n\n"
    + "\n\n".join(f"{name}: {benchmark.help}" for name, benchmark in BENCHMARKS.items())
)
@click.argument("what", type=click.Choice(list(BENCHMARKS)), default="linear")
@click.option(
    "--size",
    "gigabytes",
    type=click.FloatRange(min=0),
    help=f"{', '.join(_SIZED)}: gigabytes of the generated files; the disk needs four times as much.  "
    "[default: 0.2]",
)
@click.option("--out", type=click.Path(path_type=Path), help="Also write the table to this Markdown file.")
def bench(what: str, out: Path | None, gigabytes: float | None) -> None:
    """Measure speed."""
    if gigabytes is not None and what not in _SIZED:
        raise click.UsageError(f"--size is for {', '.join(_SIZED)}: {what} generates no files")
    run_bench(what, out, gigabytes=0.2 if gigabytes is None else gigabytes)


@app.group("data")
def data_group() -> None:
    """Data sets."""


@data_group.command()
@click.argument("names", nargs=-1, required=True)
def fetch(names: tuple[str, ...]) -> None:
    """Download the public data sets NAMES and verify them."""
    from ..pipeline import data
    from .progress import progress_display

    with progress_display() as progress:
        paths = data.fetch(list(names), progress.read)
    for path in paths:
        click.echo(path)
    if not paths:
        click.echo("nothing to download: bundled and generated data sets are always there")


@data_group.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME|FILE...")
@click.option("--target", metavar="COLUMN", help="Column of the labels, in files with columns.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="As in a study: n_features=123, dense=true.",
)
def convert(names: tuple[str, ...], target: str | None, options: tuple[str, ...]) -> None:
    """Read and check data sets and files of your own ahead of a run, which then opens them at once."""
    from .conversion import convert_all

    for line in convert_all(names, target, options):
        click.echo(line)


def _report(results: str, to: str | None) -> None:
    from .report import write_report

    # Results at a URL are reported into the current folder, local ones beside the results.
    if to is None:
        to = "report" if "://" in results else results
    written = write_report(results, Path(to))
    click.echo(f"report: {next(path for path in written if path.suffix == '.html')}")


def _show_failed(cells: pd.DataFrame) -> None:
    failed = cells[cells["status"].isin(["failed", "crashed"])]
    columns = ["status", "dataset", "algorithm", "params", "noise", "seed", "error"]
    click.echo(failed[columns].head(FAILED_SHOWN).to_string(index=False), err=True)
    if len(failed) > FAILED_SHOWN:
        click.echo(f"… and {len(failed) - FAILED_SHOWN} more: see the report", err=True)


def main() -> None:
    """Entry point: bad input is one line on standard error and exit status 2, never a traceback."""
    try:
        status = app(standalone_mode=False)
    except InputError as error:
        _fail(str(error))
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        _fail(error.format_message())
    except (KeyboardInterrupt, click.Abort):
        click.echo("singlepass: stopped; what was finished is kept, run again to go on", err=True)
        sys.exit(130)
    sys.exit(status if isinstance(status, int) else 0)


def _fail(line: str) -> None:
    click.echo(f"singlepass: error: {' '.join(line.split())}", err=True)
    sys.exit(2)
