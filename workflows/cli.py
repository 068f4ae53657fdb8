"""Define the command line. Each command imports its code when called, so that `--help` is fast."""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import io
import os
import signal
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import click

from ..pipeline.errors import InputError
from .bench import BENCHMARKS, run_bench
from .paper_commands import reproduce
from .study_commands import Amount, compare, doctor, merge, plan, report, run, submit, verify

# Allocations between two runs of the cyclic garbage collector. At Python's default of 700, `run` spends more
# than half a second of its start on searching modules for cycles. Importing all modules of a run and its
# report creates fewer objects than this.
_NEW_OBJECTS = 500_000

# Commands that run cells, and store each when it has finished.
_STORING = ("run", "compare", "reproduce")

# Name of the threads that run cells (`workers/threads.py`, which is imported by the commands that need it).
_CELL_THREAD = "singlepass cells"

# Set when this process receives SIGTERM: from Slurm (time limit), `kubectl delete pod` or systemd.
_terminated = threading.Event()


class _Commands(click.Group):
    """Report an InputError as one line with exit status 2, also for commands called as `dask singlepass`."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with _termination_as_interrupt():
                return super().invoke(ctx)
        except InputError as error:
            _fail(str(error))
        except KeyboardInterrupt as interrupt:
            _stopped(interrupt, stores=ctx.invoked_subcommand in _STORING)


@contextlib.contextmanager
def _termination_as_interrupt() -> Iterator[None]:
    """Treat SIGTERM like Ctrl-C."""

    def interrupt(*_: object) -> None:
        # SIGTERM may arrive again while the run cancels its jobs: ignore all but the first one.
        if _terminated.is_set():
            return
        _terminated.set()
        # A background process of a script ignores SIGINT: restore the default handler.
        if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        signal.raise_signal(signal.SIGINT)

    # Do nothing in other threads: Python lets only the main thread set signal handlers.
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    _terminated.clear()
    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


# The name "singlepass" is that under which Dask's command line lists the commands (`dask singlepass`).
@click.group("singlepass", cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="singlepass")
def app() -> None:
    """Benchmark online (single-pass) classifiers: run a study, read its report."""


for _command in (run, plan, compare, merge, submit, verify, doctor, report, reproduce):
    app.add_command(_command)


@app.command()
@click.argument("results")
@click.option("--json", "as_json", is_flag=True, help="As JSON, for scripts.")
def status(results: str, as_json: bool) -> None:
    """Show the progress of the run that writes RESULTS (a folder or URL): cells, rate, time left, errors."""
    from .status import run_status

    found = run_status(results)
    click.echo(found.json() if as_json else "\n".join(found.lines()))


@app.command()
@click.argument("results")
def compact(results: str) -> None:
    """Merge the many files of a long run in RESULTS (a folder or URL) into few, after the run has ended."""
    from .status import compact_results

    click.echo(compact_results(results, lambda line: click.echo(line, err=True)))


@app.command("list")
@click.argument("what", type=click.Choice(["learners", "datasets", "studies"]))
@click.argument("names", nargs=-1)
def list_(what: str, names: tuple[str, ...]) -> None:
    """List learners, datasets or studies, or show the details of the learners or data sets NAMES."""
    from .listing import show

    show(what, names)


@app.command()
@click.argument("results")
@click.option("--table", "tables", multiple=True, metavar="NAME", help="Table of the report, such as ranks.")
@click.option(
    "--figure",
    "figures",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Write cd*.pdf (critical difference diagram) or curves*.pdf (learning curves); also .svg and .png.",
)
@click.option(
    "--width", metavar="LENGTH", help="Width of figures: 3.3in, 84mm, 8.4cm.  [default: as in the report]"
)
@click.option(
    "--noise", help="Noise level of figures: a rate, or a name such as pair_0.2.  [default: the lowest]"
)
@click.option("--metric", help="Metric of critical difference diagrams.  [default: that of the report]")
@click.option("--dataset", help="Data set of learning curves.  [default: the first]")
def export(results: str, tables: tuple[str, ...], figures: tuple[Path, ...], **options: Any) -> None:
    """Print tables of RESULTS (a folder or URL) as LaTeX, and write figures of a given width."""
    if not tables and not figures:
        raise click.UsageError("name at least one --table or --figure, such as --table ranks --figure cd.pdf")
    for name, kind in (("width", ""), ("noise", ""), ("metric", "cd"), ("dataset", "curves")):
        if options[name] is not None and not any(file.name.startswith(kind) for file in figures):
            raise click.UsageError(f"--{name} is for figures: add --figure {kind or 'cd'}.pdf")
    from .report.export import export as exported

    # As bytes, because LaTeX reads UTF-8, and the terminal may have another encoding.
    click.echo(exported(results, tables, figures, **options).encode(), nl=False)
    for file in figures:
        click.echo(file, err=True)


_SIZED = [name for name, benchmark in BENCHMARKS.items() if benchmark.sized]
_COUNTED = [name for name, benchmark in BENCHMARKS.items() if benchmark.counted]


@app.command(
    help="Measure speed, as ratios against peers in the same run.\n\n"
    + "\n\n".join(f"{name}: {benchmark.help}" for name, benchmark in BENCHMARKS.items())
)
@click.argument("what", type=click.Choice(list(BENCHMARKS)), default="linear")
@click.option(
    "--size",
    "gigabytes",
    type=Amount(min=0),
    help="ingestion: gigabytes of an svmlight file, at least 25,013 rows (up to 0.07 GB); CSV and Parquet "
    "files have 500,000 rows at any size; the disk needs four times as much.  [default: 0.2]  "
    "roofline: gigabytes of rows in memory, at least 100,000 rows (0.03 GB).  [default: 0.4]",
)
@click.option(
    "--cells",
    type=click.IntRange(min=100),
    help=f"{', '.join(_COUNTED)}: cells of the largest study that is run.  [default: 5000]",
)
@click.option("--out", help="Also write the tables to the end of this Markdown file.")
def bench(what: str, out: str | None, gigabytes: float | None, cells: int | None) -> None:
    """Measure speed."""
    if gigabytes is not None and what not in _SIZED:
        raise click.UsageError(f"--size is for {', '.join(_SIZED)}: {what} generates no files")
    if cells is not None and what not in _COUNTED:
        raise click.UsageError(f"--cells is for {', '.join(_COUNTED)}: {what} has no such option")
    run_bench(what, out, gigabytes=gigabytes, cells=cells)


@app.group("data")
def data_group() -> None:
    """Download, verify and prepare data sets."""


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
        click.echo("nothing to download: bundled and generated data sets need no files")


@data_group.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME|FILE|STUDY...")
@click.option("--target", metavar="COLUMN", help="Column of the labels, in files with columns.")
@click.option(
    "--option",
    "options",
    multiple=True,
    metavar="KEY=VALUE",
    help="Option of the data sets, as in a study: n_features=123, dense=true.",
)
def convert(names: tuple[str, ...], target: str | None, options: tuple[str, ...]) -> None:
    """Parse and check data sets, your own files, or all data of a study, so that a run starts at once."""
    from .conversion import convert_all

    for line in convert_all(names, target, options):
        click.echo(line)


@app.group()
def reference() -> None:
    """List and download reference cells, which `--base reference` takes instead of computing them."""


@reference.command("list")
def list_reference() -> None:
    """List the studies whose cells are in the reference."""
    from .reference import show_reference

    show_reference()


@reference.command("fetch")
@click.argument("names", nargs=-1, required=True, metavar="STUDY...")
def fetch_reference(names: tuple[str, ...]) -> None:
    """Download the reference cells of each STUDY that does not come with the package, and verify them."""
    from ..pipeline import data
    from ..pipeline.store.reference import read_index
    from .progress import progress_display

    index = read_index()
    with progress_display() as progress, data.watched(progress.read):
        places = [index.fetch(name) for name in names]
    for place in places:
        click.echo(place)


def program() -> None:
    """Run the command line as a program of its own, which may exit while threads still run cells.

    Python before version 3.14 ends such a thread when the thread next takes the GIL. In C++ code, such as
    scikit-learn's, this aborts the process. The process therefore exits without shutting down the
    interpreter. `dask singlepass` does not use this function.
    """
    try:
        main()
    except SystemExit as leaving:
        if any(thread.name == _CELL_THREAD for thread in threading.enumerate()):
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(int(leaving.code or 0))
        raise


def main() -> None:
    """Run the command line. Bad input is reported as one line with exit status 2, never as a traceback."""
    first, *others = gc.get_threshold()
    gc.set_threshold(max(first, _NEW_OBJECTS), *others)
    # Exempt all objects from garbage collection at exit: Python would search all modules for cycles, which
    # takes half a second.
    atexit.register(gc.freeze)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Names of learners and data sets may contain characters that the terminal's encoding lacks.
        sys.stdout.reconfigure(errors="replace")
    try:
        status = app(standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message())
        sys.exit(0)
    except click.ClickException as error:
        _fail(error.format_message())
    except (KeyboardInterrupt, click.Abort) as interrupt:
        _stopped(interrupt, stores=False)
    except BrokenPipeError:
        if not _reader_is_gone():
            raise
        # The program that reads our output has exited, such as `| head`.
        _discard_output()
        sys.exit(1)
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        _discard_output()
        _fail(f"{error.filename or 'the output'}: no space left on the disk")
    sys.exit(status if isinstance(status, int) else 0)


def _discard_output() -> None:
    """Discard what standard output could not write, so that Python does not try again at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _reader_is_gone() -> bool:
    """Return whether the broken pipe is standard output, whose reader has exited, and not another pipe."""
    try:
        print(flush=True)
    except BrokenPipeError:
        return True
    return False


def _stopped(interrupt: BaseException, *, stores: bool) -> NoReturn:
    """Report an interrupt in one line; `stores` says whether the command stores cells."""
    # The interrupt may carry a more precise instruction for the user.
    then = str(interrupt) or "run the same command to continue"
    # Not "finished cells are stored": workers that write report a cell before they store it.
    kept = f"; stored cells are kept, {then}" if stores else ""
    click.echo(f"singlepass: stopped{kept}", err=True)
    sys.exit(128 + (signal.SIGTERM if _terminated.is_set() else signal.SIGINT))


def _fail(line: str) -> NoReturn:
    click.echo(f"singlepass: error: {' '.join(line.split())}", err=True)
    sys.exit(2)
