"""What there is: the rows of ``singlepass list datasets``, and fetching public sets ahead of a run."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from ..errors import InputError, did_you_mean
from .io.progress import Progress, watched
from .resolve import dataset_names, expand, find_dataset, fingerprint, named_datasets
from .sources import DatasetRow
from .tables.options import Options


def describe() -> list[DatasetRow]:
    """Return a row for every data set that has a name: bundled, generators, public; files go by path.

    Examples
    --------
    >>> next(row.shape for row in describe() if row.name == "digits")
    (1797, 64)
    """
    rows = (dataset.describe() for dataset in named_datasets())
    return [row for row in rows if row is not None]


def fetch(names: Iterable[str], progress: Progress | None = None) -> list[Path]:
    """Make sure that public data sets are on this machine; download what is missing.

    Parameters
    ----------
    names : iterable of str
        Names of `describe`. Bundled sets and generators have nothing to fetch.
    progress : callable, optional
        Called as ``progress(file name, bytes so far, bytes in all)``, 0 in all when unknown.

    Returns
    -------
    list of Path
        The files, in the order of the names.

    Raises
    ------
    InputError
        On an unknown name, before anything is downloaded; or when a file cannot be had.
    """
    wanted = list(names)
    known = dataset_names()
    for name in wanted:
        if name not in known:
            raise InputError(f"unknown data set {name!r}; {did_you_mean(name, known)}")
    paths: dict[Path, None] = {}
    with watched(progress):
        for name in wanted:
            paths |= dict.fromkeys(find_dataset(name).locate())
    return list(paths)


def convert(
    *,
    name: str | None = None,
    path: str | Path | None = None,
    target: str | int | None = None,
    options: Options | None = None,
    base: str | Path = ".",
    progress: Progress | None = None,
) -> list[str]:
    """Convert a data set ahead of a run: parsed once here, memory-mapped by every cell from then on.

    Parameters
    ----------
    name, path, target, options, base
        As in `expand`. Text is read in bounded memory: a file may be larger than memory.
    progress : callable, optional
        Called as ``progress(file name, bytes so far, bytes in all)``, in this thread; bytes as stored,
        compressed or not.

    Returns
    -------
    list of str
        The fingerprints of its tables (several for a family).

    Raises
    ------
    InputError
        As `expand` and `open_stream`.
    """
    with watched(progress):
        refs = expand(name=name, path=path, target=target, options=options, base=base)
        return [fingerprint(ref) for ref in refs]
