"""What there is: the rows of ``singlepass list datasets``, and fetching public sets ahead of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import InputError, did_you_mean
from .bundled import BUNDLED
from .catalogue import ALIASES, CATALOGUE, PublicSet
from .download import Progress, data_folder, locate, present
from .generators import GENERATORS


@dataclass(frozen=True)
class DatasetRow:
    """One data set, described.

    Attributes
    ----------
    name : str
        Name in a study.
    kind : {"bundled", "generator", "public"}
        Where the rows come from.
    shape : tuple of int
        Rows (training and test part together) and features.
    classes : tuple of str
        Class names.
    official_split : bool
        Whether there is a test part that everybody uses.
    tasks : tuple of str
        What ``task`` may be, besides single classes and pairs.
    licence, note : str
        Terms of use; scaling, order or content.
    state : str
        ``"present"``, ``"present (cache)"``, ``"can be fetched"`` or ``"needs your copy: …"``.
    """

    name: str
    kind: Literal["bundled", "generator", "public"]
    shape: tuple[int, int]
    classes: tuple[str, ...]
    official_split: bool
    tasks: tuple[str, ...]
    licence: str
    note: str
    state: str


def describe() -> list[DatasetRow]:
    """Return a row for every data set that has a name: bundled, generators, public; files go by path.

    Examples
    --------
    >>> [row.name for row in describe() if row.kind == "generator"]
    ['arow-synthetic', 'gauss', 'checkerboard']
    """
    rows = [
        DatasetRow(
            name=entry.name,
            kind="bundled",
            shape=entry.shape,
            classes=entry.classes,
            official_split=False,
            tasks=_tasks(entry.classes, entry.groupings),
            licence=entry.licence,
            note=entry.note,
            state="present",
        )
        for entry in BUNDLED.values()
    ]
    rows += [
        DatasetRow(
            name=generator.name,
            kind="generator",
            shape=(generator.n_train + generator.n_test, generator.n_features),
            classes=generator.classes,
            official_split=True,
            tasks=("binary",),
            licence="none needed",
            note=generator.note,
            state="present",
        )
        for generator in GENERATORS.values()
    ]
    rows += [
        DatasetRow(
            name=public.name,
            kind="public",
            shape=(sum(public.counts) + sum(public.counts_test), public.n_features),
            classes=public.classes,
            official_split=bool(public.counts_test),
            tasks=_tasks(public.classes, public.groupings),
            licence=public.licence,
            note=public.note,
            state=_state(public),
        )
        for public in CATALOGUE.values()
    ]
    return rows


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
    known = [*BUNDLED, *GENERATORS, *CATALOGUE, *ALIASES]
    for name in wanted:
        if name not in known:
            raise InputError(f"unknown data set {name!r}; {did_you_mean(name, known)}")
    entries = [CATALOGUE.get(ALIASES.get(name, name)) for name in wanted]
    return [path for entry in entries if entry is not None for path in locate(entry, progress)]


def _tasks(classes: tuple[str, ...], groupings: Iterable[str]) -> tuple[str, ...]:
    return ("binary",) if len(classes) == 2 else ("one-vs-rest", "pairs", *groupings, "multiclass")


def _state(entry: PublicSet) -> str:
    places = [present(entry, file) for file in entry.files]
    missing = [file for file, place in zip(entry.files, places, strict=True) if place is None]
    if missing:
        if all(file.bases for file in missing):
            return "can be fetched"
        return f"needs your copy: put {', '.join(file.name for file in missing)} in SINGLEPASS_DATA"
    folder = data_folder()
    own = folder is not None and all(place is not None and place.parent == folder for place in places)
    return "present" if own else "present (cache)"
