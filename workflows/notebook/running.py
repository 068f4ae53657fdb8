"""Run a study from a notebook."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...pipeline import data
from ...pipeline.errors import InputError
from ..progress import progress_display
from ..running.progress import RunProgress
from ..running.run import run_study
from ..running.workers import CELL_LIMIT, WorkerOptions
from .results import Results
from .study import NotebookStudy

if TYPE_CHECKING:
    from distributed import Client


def run(
    study: Any,
    client: Client | None = None,
    out: str | Path | None = None,
    threads: int | None = None,
    *,
    plugins: str | Path | Sequence[str | Path] = (),
    base: str | Path | Sequence[str | Path] = (),
    retry_failed: bool = False,
    cell_limit: float | None = None,
    progress: bool = True,
) -> Results:
    """Run a study, or only those of its cells that have no result yet.

    Parameters
    ----------
    study : Study, str, Path or dict
        A study, or what `Study` accepts as `source`.
    client : distributed.Client or None, default=None
        Client of a Dask cluster that runs the cells; None: threads of this process.
    out : str, Path or None, default=None
        Folder or fsspec URL of the results; cells already there are not computed again. None: a temporary
        folder, which exists as long as the returned results.
    threads : int or None, default=None
        Threads of this process; None: one per core.
    plugins : str, Path or sequence of them, default=()
        Python files with your own learners.
    base : str, Path or sequence of them, default=()
        Finished results, as folders or URLs, or ``"reference"``: their cells are taken, not computed.
    retry_failed : bool, default=False
        Compute failed, crashed and stopped cells again.
    cell_limit : float or None, default=None
        Seconds after which an unfinished cell is marked crashed; None: a day.
    progress : bool, default=True
        Whether to show a progress bar.

    Returns
    -------
    Results
        All results of the study.

    Raises
    ------
    InputError
        The study, the output or the cluster is faulty; the message is one line.

    Examples
    --------
    >>> study = {"datasets": "breast-cancer", "algorithms": ["Perceptron", "NoChange"], "seeds": 1}
    >>> results = run(study, progress=False)
    >>> results.ranks()["noise 0"].to_dict()
    {'Perceptron': 1.0, 'NoChange': 2.0}
    """
    if client is not None and threads is not None:
        raise InputError("threads: for runs in this process; with client=, workers have their own number")
    made = study if isinstance(study, NotebookStudy) else NotebookStudy(study)
    with contextlib.ExitStack() as cleanup:
        target = str(out)
        if out is None:
            target = tempfile.mkdtemp(prefix="singlepass-")
            cleanup.callback(shutil.rmtree, target, ignore_errors=True)
        options = WorkerOptions(
            threads=threads,
            scheduler=None if client is None else _address(client),
            security=None if client is None else client.security,
            cell_limit=CELL_LIMIT if cell_limit is None else cell_limit,
            # Without `out`, results are in a temporary folder, which may be deleted while workers of a
            # cluster still run: only this process writes there.
            workers_write=False if out is None and client is not None else None,
        )
        display = progress_display() if progress else RunProgress()
        with made.named(), display as shown, data.watched(shown.read):
            summary = run_study(
                made.valid,
                target,
                progress=shown,
                file=made.file,
                plugins=tuple(str(Path(path).resolve()) for path in _several(plugins)),
                options=options,
                retry_failed=retry_failed,
                bases=tuple(map(str, _several(base))),
            )
            lost = summary.failed + summary.crashed + summary.stopped
            if lost:
                shown.note(f"{lost} cells failed or were stopped: see .failed of the results")
        results = Results(target)
        # The temporary folder is deleted with the results read from it.
        weakref.finalize(results, cleanup.pop_all().close)
        return results


def _several(given: str | Path | Sequence[str | Path]) -> Sequence[str | Path]:
    return [given] if isinstance(given, str | Path) else given


def _address(client: Client) -> str:
    """Return the scheduler address of a client, or raise InputError if it is not a connected Client."""
    # A LocalCluster also has `security`, an executor also has `submit`.
    if not (hasattr(client, "security") and hasattr(client, "submit")):
        raise InputError(
            f"client: expected a distributed.Client, got a {type(client).__name__}; out= is the output folder"
        )
    if client.status != "running":
        raise InputError(f"client: its status is {client.status!r}: connect it again")
    if client.asynchronous and client.cluster is not None:
        # This thread runs the event loop of client and cluster: while it waits, the cluster never answers.
        raise InputError("client: it is asynchronous: make a distributed.Client without asynchronous=True")
    scheduler: Any = client.scheduler
    return str(scheduler.address)


def compare(
    datasets: Any,
    algorithms: Any,
    *,
    client: Client | None = None,
    out: str | Path | None = None,
    threads: int | None = None,
    plugins: str | Path | Sequence[str | Path] = (),
    progress: bool = True,
    **keys: Any,
) -> Results:
    """Compare algorithms on data sets in one call: make a `Study` and `run` it.

    Parameters
    ----------
    datasets, algorithms
        As `Study` takes them.
    client, out, threads, plugins, progress
        As `run` takes them.
    **keys
        Further keys of a study, such as ``noise``, ``seeds``, ``protocol`` and ``metrics``.

    Returns
    -------
    Results
        All results of the study.

    Raises
    ------
    InputError
        As `run`.

    Examples
    --------
    >>> rows = np.random.RandomState(0).standard_normal((200, 2))
    >>> results = compare(
    ...     {"mine": (rows, rows[:, 0] > 0)},
    ...     ["Perceptron", "NoChange"],
    ...     noise=[0, 0.2],
    ...     progress=False,
    ... )
    >>> results.ranks(noise=0.2).to_dict()
    {'Perceptron': 1.0, 'NoChange': 2.0}
    """
    study = NotebookStudy(datasets=datasets, algorithms=algorithms, **keys)
    return run(study, client, out, threads, plugins=plugins, progress=progress)
