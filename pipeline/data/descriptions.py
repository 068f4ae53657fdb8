"""What there is: the rows of ``singlepass list datasets``, and fetching public sets ahead of a run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from ..errors import InputError, did_you_mean
from .catalogue.bundled import BUNDLED
from .catalogue.catalogue import ALIASES, CATALOGUE, FAMILIES
from .catalogue.declarations import Family, PublicSet, StandIn
from .catalogue.download import data_folder, locate, present
from .catalogue.generators import GENERATORS
from .io.progress import Progress, watched
from .resolve import expand, fingerprint
from .sources import source_names
from .tables.options import Options


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
        Rows (training and test part together) and features; 0 where only the user's copy tells.
    classes : tuple of str
        Class names.
    official_split : bool
        Whether there is a test part that everybody uses.
    tasks : tuple of str
        What ``task`` may be, besides single classes and pairs.
    licence, note : str
        Terms of use; scaling, order or content.
    state : str
        ``"present"``, ``"present (cache)"``, ``"present (what stands in for it)"``, ``"can be fetched"`` or
        ``"needs your copy: …"``.
    title, source : str
        What it is; who distributes it. Empty where the name says it.
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
    title: str = ""
    source: str = ""


def describe() -> list[DatasetRow]:
    """Return a row for every data set that has a name: bundled, generators, public; files go by path.

    Examples
    --------
    >>> [row.name for row in describe() if row.kind == "generator"]
    ['arow-synthetic', 'gauss', 'checkerboard', 'checkerboard-noisy', 'waveform-generator']
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
            tasks=_tasks(generator.classes, generator.groupings),
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
            shape=(_rows(public), public.n_features),
            classes=public.classes,
            official_split=bool(public.counts_test),
            tasks=_tasks(public.classes, [*public.groupings, *public.named]),
            licence=public.licence,
            note=public.note,
            state=_state(public),
            title=public.title,
            source=public.source,
        )
        for public in CATALOGUE.values()
        if not public.family
    ]
    return rows + [_family_row(family) for family in FAMILIES.values()]


def _family_row(family: Family) -> DatasetRow:
    """Describe a family: the rows of all its tasks together, the features of the widest."""
    members = [CATALOGUE[name] for name in family.members.values()]
    first = members[0]
    same = all(member.classes == first.classes for member in members)
    return DatasetRow(
        name=family.name,
        kind="public",
        shape=(sum(map(_rows, members)), max(member.n_features for member in members)),
        classes=first.classes if same else tuple(family.members),
        official_split=bool(first.counts_test),
        tasks=(family.task, *(f"{family.task}:{part}" for part in (*family.groups, *family.members))),
        licence=first.licence,
        note=first.note,
        state=_state(first),
        title=family.title,
        source=first.source,
    )


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
    known = source_names()
    for name in wanted:
        if name not in known:
            raise InputError(f"unknown data set {name!r}; {did_you_mean(name, known)}")
    paths: dict[Path, None] = {}
    with watched(progress):
        for name in wanted:
            members = FAMILIES[name].members.values() if name in FAMILIES else [ALIASES.get(name, name)]
            for member in members:
                if member in CATALOGUE:
                    paths |= dict.fromkeys(locate(CATALOGUE[member]))
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


def _rows(entry: PublicSet) -> int:
    """Published number of rows; of what stands in for the set, where that is what there is."""
    stand_in = _stand_in(entry)
    return sum(entry.counts if stand_in is None else stand_in.counts) + sum(entry.counts_test)


def _stand_in(entry: PublicSet) -> StandIn | None:
    places = [place.as_posix() for file in entry.files if (place := present(entry, file)) is not None]
    for name, stand_in in entry.stand_ins.items():
        if any(place.endswith(f"/{name}") for place in places):
            return stand_in
    return None


def _tasks(classes: tuple[str, ...], groupings: Iterable[str]) -> tuple[str, ...]:
    if len(classes) == 2:
        return ("binary",)
    return ("one-vs-rest", "pairs", *groupings, "multiclass")


def _state(entry: PublicSet) -> str:
    places = [present(entry, file) for file in entry.files]
    missing = [file for file, place in zip(entry.files, places, strict=True) if place is None]
    if missing:
        wanting = [file.name for file in missing if not file.addresses]
        if not wanting:
            return "can be fetched"
        source = f" ({entry.source})" if entry.source else ""
        return f"needs your copy: put {', '.join(wanting)} in SINGLEPASS_DATA{source}"
    folder = data_folder()
    found = [place for place in places if place is not None]
    stand_in = _stand_in(entry)
    if stand_in is not None:
        return f"present ({stand_in.remark})"
    own = folder is not None and all(folder in place.parents for place in found)
    return "present" if own else "present (cache)"
