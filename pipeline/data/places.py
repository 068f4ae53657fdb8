"""Where the user's own data are: a file, a folder of files, a pattern, or a URL, as files of this machine."""

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path, PurePosixPath

from ..errors import InputError
from .formats.files import format_by_suffix
from .remote import copies, is_url, names_at


def suffixed(place: str) -> str:
    """Return the name that tells the format of a place."""
    return place.partition("?")[0] if is_url(place) else place


def name_at(place: str) -> str:
    """Return the name of the first file at a place; nothing is copied for it."""
    return names_at(place)[0] if is_url(place) else str(files_at(place)[0])


def files_at(place: str, *, download: bool = True) -> tuple[Path, ...]:
    """Return the files that a place stands for, sorted by name.

    Parameters
    ----------
    place : str
        Path of a file, which need not be there; of a folder, for the data files in it and below; a pattern
        (``*``, ``?``, ``[…]``, ``**``); or a URL of any of these.
    download : bool, default=True
        Whether what a URL names may be brought to this machine.

    Raises
    ------
    InputError
        Nothing is found, or files of several formats; a URL cannot be read.
    """
    if is_url(place):
        names = names_at(place, download=download)
        kept = _of_one_format(place, names) if len(names) > 1 else list(names)
        return copies(place, kept, download=download)
    path = Path(place)
    if path.is_dir():
        inside = (each for each in sorted(path.rglob("*")) if each.is_file())
        visible = [
            str(each) for each in inside if not any(_hidden(part) for part in each.relative_to(path).parts)
        ]
        return tuple(map(Path, _of_one_format(place, visible)))
    if not glob.has_magic(place) or path.exists():
        return (path,)
    found = sorted(name for name in glob.glob(place, recursive=True) if Path(name).is_file())
    if not found:
        raise InputError(f"{place}: no file is called so")
    return tuple(map(Path, found))


def _hidden(part: str) -> bool:
    # Marks of who wrote the folder: _SUCCESS, .crc files.
    return part.startswith((".", "_"))


def _of_one_format(place: str, names: Sequence[str]) -> list[str]:
    """Return the data files among the files of a folder."""
    formats = {name: format_by_suffix(PurePosixPath(name)) for name in names}
    found = sorted({found for found in formats.values() if found})
    if not found:
        raise InputError(f"{place}: no data file in this folder (by suffix, such as .parquet or .csv)")
    if len(found) > 1:
        raise InputError(
            f"{place}: files of several formats ({', '.join(found)}); name those that are meant, such as "
            f'path = "{place.rstrip("/")}/*.{found[0]}"'
        )
    return [name for name in names if formats[name]]
