"""Define the command `reproduce`, which repeats a paper."""

from __future__ import annotations

import shlex
from pathlib import Path

import click


def paper_names() -> list[str]:
    """Return the names of the papers, and of our own studies with claims, without importing them."""
    folder = Path(__file__).parent / "reproduce" / "facts"
    return sorted(path.parent.name for path in folder.glob("*/paper.toml"))


@click.command(
    help=f"""Repeat the experiments of PAPER, and write a page that judges the paper's claims.

    PAPER is a paper or a study of ours with claims: {", ".join(paper_names()[:-1])} or {paper_names()[-1]}.
    Finished studies, made by `run` or on a cluster, are not run again.
    """
)
@click.argument("paper")
@click.option(
    "--small",
    is_flag=True,
    help="Run small forms of the studies: minutes instead of hours. A study without one runs whole if "
    "that takes minutes, and is otherwise left out. A paper whose studies all have none is refused.",
)
@click.option("--finished", is_flag=True, help="Run nothing: make the page from the finished results.")
@click.option(
    "--results",
    default="results",
    show_default=True,
    metavar="FOLDER",
    help="Folder or URL with one folder of results per study.",
)
@click.option(
    "--out",
    metavar="FOLDER",
    help="Local folder of the page.  [default: reproduced/<paper>, with --small reproduced/<paper>-small]",
)
@click.option(
    "--readme",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Also write the verdicts of all pages next to this one: counts by paper into FILE, and every claim "
    "into README.md in the parent folder of the pages. Both files have marks for their tables.",
)
@click.option("--threads", type=click.IntRange(min=1), help="Threads.  [default: one per core]")
def reproduce(
    paper: str,
    small: bool,
    finished: bool,
    results: str,
    out: str | None,
    readme: Path | None,
    threads: int | None,
) -> None:
    if finished and threads is not None:
        raise click.UsageError(
            "--threads needs studies to run, but --finished runs none: leave one of the two out"
        )
    if small and readme is not None:
        raise click.UsageError(
            "--readme takes verdicts of full studies, but --small runs small forms: leave one of the two out"
        )
    from ..pipeline.errors import InputError, did_you_mean
    from ..pipeline.store.folder import local_folder
    from .reproduce.page import write_page, write_summary
    from .reproduce.paper import read_studies, small_form, study_folder, study_names, whole_studies
    from .reproduce.papers import OWN, PAPERS

    pages = {**PAPERS, **OWN}
    if paper not in pages:
        raise InputError(f"paper {paper!r} is not known: {did_you_mean(paper, pages)}")
    found = pages[paper]
    shown = small_form(found) if small else found
    # Before the studies run, because a URL is refused.
    target = local_folder(out or f"reproduced/{paper}{'-small' if small else ''}")
    if not finished:
        if small and (whole := whole_studies(found)):
            click.echo(f"without a small form, run whole: {', '.join(whole)}", err=True)
        names = study_names(found, small=small)
        for place, name in enumerate(names, start=1):
            click.echo(f"study {place} of {len(names)}: {name}", err=True)
            _run(name, study_folder(results, name), threads)
    written = write_page(shown, read_studies(found, results, small=small), target)
    click.echo(f"page: {written[0]}")
    if readme is not None:
        write_summary(readme, target.parent, PAPERS, OWN)
        click.echo(f"claims: {readme}, {target.parent / 'README.md'}")


def _run(name: str, out: str, threads: int | None) -> None:
    from ..pipeline import data
    from .progress import progress_display
    from .running.run import run_study
    from .running.workers import WorkerOptions
    from .shipped import find_study

    study, file = find_study(name)
    with progress_display() as progress, data.watched(progress.read):
        run_study(
            study,
            out,
            progress=progress,
            file=file,
            options=WorkerOptions(threads=threads),
            command=f"singlepass run {name} --out {shlex.quote(out)}",
        )
