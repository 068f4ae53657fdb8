"""What a study will take, on one screen."""

from __future__ import annotations

from collections.abc import Iterator

import joblib
from rich.filesize import decimal

from .planning import STAGES, StudyOutline
from .status import span
from .terminal import plain, put, table

# Entries that fit on a screen.
DATASETS_SHOWN = 20


def show_outline(found: StudyOutline) -> None:
    """Print what a study will take."""
    study = found.study
    counts = {
        "data set": len(found.outlooks),
        "algorithm": len(study.algorithms),
        "noise level": len(study.noise),
        "seed": found.repetitions,
    }
    counted = ", ".join(f"{n} {name}{'' if n == 1 else 's'}" for name, n in counts.items())
    # One number of seeds: that of the cells below, of a run and of its report.
    repeats = len(study.seeds) - found.repetitions
    if repeats:
        counted += f" ({repeats} more would repeat it: rows in their given order, without noise)"
    put(f"{study.name}: {counted}; results in {found.out}\n")
    _show_cells(found)
    _show_data(found)
    for line in (*_memory(found), *_time(found), *_missing(found), *_budgets(found)):
        put(line)


def _show_cells(found: StudyOutline) -> None:
    columns = ("planned", "done", "failed", "left")
    lines = table("cells", *columns, right=columns)
    counters = (found.planned, found.finished.done, found.finished.failed, found.left())
    for stage in STAGES:
        sums = [sum(n for (name, _), n in counter.items() if name == stage) for counter in counters]
        if sums[0]:
            lines.add_row(*plain(stage, *(f"{n:,}" for n in sums)))
    lines.add_row(*plain("together", *(f"{counter.total():,}" for counter in counters)))
    put(lines)
    put()


def _show_data(found: StudyOutline) -> None:
    right = ("tasks", "rows", "features", "in memory")
    lines = table("data set", *right, "state", right=right)
    for outlook, entry in [*zip(found.outlooks, found.study.datasets, strict=True)][:DATASETS_SHOWN]:
        name = outlook.label if entry.task == "auto" else f"{outlook.label}, {entry.task}"
        size = decimal(sum(outlook.n_bytes.values())) if outlook.n_bytes else "?"
        numbers = ("?" if n is None else f"{n:,}" for n in (outlook.tasks, outlook.rows, outlook.features))
        lines.add_row(*plain(name, *numbers, size, outlook.state.partition(":")[0]))
    more = len(found.outlooks) - DATASETS_SHOWN
    put(lines)
    put(f"… and {more:,} more\n" if more > 0 else "")


def _memory(found: StudyOutline) -> Iterator[str]:
    kept: dict[str, int] = {}
    own: dict[str, int] = {}
    for outlook in found.outlooks:
        (kept if outlook.kept else own).update(outlook.n_bytes)
    if kept:
        yield (
            f"memory   tables of {decimal(sum(kept.values()))}, the largest {decimal(max(kept.values()))}: "
            "mapped files, which all workers of a machine share"
        )
    if own:
        yield (
            f"memory   bundled and generated tables of up to {decimal(max(own.values()))}: each worker has "
            "its own, of the last that it met"
        )
    if unknown := sum(not outlook.n_bytes for outlook in found.outlooks):
        yield f"memory   of {_number(unknown, 'data set')} unknown until parsed"
    if found.covariances:
        name, largest = max(found.covariances.items(), key=lambda item: item[1])
        yield f"memory   full covariances, one in each thread: about {decimal(largest)} at most ({name})"


def _time(found: StudyOutline) -> Iterator[str]:
    left = found.left()
    if not left and not any(outlook.tasks is None for outlook in found.outlooks):
        yield "time     nothing is left to do"
        return
    seconds = found.seconds_left()
    if seconds is None:
        yield "time     unknown: nothing finished yet"
        return
    cores = joblib.cpu_count()
    pairs = {pair for _, pair in left}
    guessed = sum(pair not in found.finished.costs for pair in pairs)
    how = "by the cells that are finished"
    if found.finished.tried:
        how = f"a rough guess by short trial cells of {' and '.join(found.finished.tried)}"
    if guessed:
        how += f"; {guessed:,} of {_number(len(pairs), 'pair')} of data set and algorithm by those of others"
    yield (
        f"time     about {span(seconds)} of one thread, {span(seconds / cores)} with this machine's {cores}, "
        f"{how}"
    )


def _missing(found: StudyOutline) -> Iterator[str]:
    for outlook in found.outlooks:
        if outlook.missing:
            yield f"missing  {outlook.label}: {outlook.state}"
        elif outlook.tasks is None:
            yield f"unknown  {outlook.label}: how many tasks it has, until it is parsed; no cell of it counts"


def _budgets(found: StudyOutline) -> Iterator[str]:
    """Yield a line for each budget of support vectors that is larger than the stream."""
    for outlook in found.outlooks:
        for each in found.study.algorithms if outlook.rows else ():
            given = each.grid.get("budget", [each.fixed.get("budget", 0)])
            large = [value for value in given if isinstance(value, int) and value > (outlook.rows or 0)]
            if large and each.runs_on(outlook.label):
                yield (
                    f"budget   {each.label}: {max(large):,} is more than the {outlook.rows:,} rows of "
                    f"{outlook.label}: nothing is ever removed; give a smaller budget to compare"
                )


def _number(n: int, what: str) -> str:
    return f"{n:,} {what}{'' if n == 1 else 's'}"
