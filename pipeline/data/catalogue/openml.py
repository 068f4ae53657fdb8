"""Get OpenML data sets by number, pinned to the version and checksum of the first download."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from ...errors import InputError
from ..io.folders import cache_folder, scratch_folder
from ..io.reading import file_sha256
from .download import mirrored, retrieve

_API = "https://www.openml.org/api/v1/json/data"


@dataclass(frozen=True)
class OpenMLSet:
    """Describe an OpenML data set, as OpenML described it when it was first downloaded."""

    #: OpenML's number for the data set; every version of a data set has another number.
    number: int
    version: int
    name: str
    licence: str
    #: URL of the data set's ARFF file.
    url: str
    #: MD5 checksum of the file as published by OpenML; empty if OpenML publishes none.
    md5: str
    #: Checksum of the downloaded file.
    sha256: str
    #: The label column by default; empty if OpenML's description names no label column or several.
    target: str
    #: Columns that are not features: row numbers, and columns that OpenML's description excludes.
    ignored: tuple[str, ...]


def openml_set(number: int, *, download: bool = True) -> tuple[OpenMLSet, Path]:
    """Return an OpenML data set and its file from the cache or, if `download` allows it, the network."""
    folder = cache_folder() / "data" / f"openml-{number}"
    entry = _kept(folder)
    if entry is None or not (folder / _file_name(entry.url)).exists():
        if not download:
            raise InputError(f"OpenML {number}: not downloaded yet")
        entry = _fetch(number, folder, entry)
    path = folder / _file_name(entry.url)
    if file_sha256(path) != entry.sha256:
        raise InputError(
            f"{path}: not the file that was downloaded from OpenML {number} (sha256 {entry.sha256[:16]}…); "
            f"remove {folder} to download it again"
        )
    return entry, path


def _kept(folder: Path) -> OpenMLSet | None:
    """Return the data set that was downloaded into a folder earlier, or None."""
    try:
        kept = json.loads((folder / "pin.json").read_text())
        return OpenMLSet(**{**kept, "ignored": tuple(kept["ignored"])})
    except (OSError, ValueError, TypeError, KeyError):
        return None


def _fetch(number: int, folder: Path, kept: OpenMLSet | None) -> OpenMLSet:
    """Download a data set; if it is `kept` but its file was removed, only the same file again."""
    with scratch_folder(folder) as scratch:
        entry = kept or _asked(number, scratch)
        checksum = f"sha256:{kept.sha256}" if kept else f"md5:{entry.md5}" if entry.md5 else None
        path, reasons = retrieve(_file_name(entry.url), [mirrored(entry.url)], checksum, scratch)
        if path is None:
            cure = f"; remove {folder} to take the file that is there now" if kept else ""
            raise InputError(
                f"OpenML {number} ({entry.name}): the download failed ({'; '.join(reasons)}){cure}"
            )
        entry = replace(entry, sha256=file_sha256(path))
        path.replace(folder / path.name)
        (scratch / "pin.json").write_text(json.dumps(asdict(entry), indent=1))
        (scratch / "pin.json").replace(folder / "pin.json")
    return entry


def _asked(number: int, scratch: Path) -> OpenMLSet:
    """Ask OpenML for the description of a data set."""
    address = f"{_API}/{number}"
    path, reasons = retrieve("description.json", [mirrored(address)], None, scratch)
    if path is None:
        raise InputError(
            f"OpenML {number}: its description cannot be downloaded ({'; '.join(reasons)}); check the "
            f"number and the connection to {urlsplit(address).netloc}"
        )
    try:
        description = json.loads(path.read_text())["data_set_description"]
        stored = str(description["format"])
        if "arff" not in stored.lower():
            raise InputError(
                f"OpenML {number} ({description['name']}): its file is {stored}; only ARFF can be read"
            )
        targets = _names(description, "default_target_attribute")
        return OpenMLSet(
            number=number,
            version=int(description["version"]),
            name=str(description["name"]),
            licence=str(description.get("licence", "")),
            url=str(description["url"]),
            md5=str(description.get("md5_checksum") or ""),
            sha256="",
            target=targets[0] if len(targets) == 1 else "",
            ignored=(*_names(description, "row_id_attribute"), *_names(description, "ignore_attribute")),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"OpenML {number}: the answer does not describe a data set ({type(error).__name__}: {error})"
        ) from None


def _names(description: Mapping[str, Any], key: str) -> tuple[str, ...]:
    """Return the column names under `key` of OpenML's description, where they are a list or "a,b,c"."""
    value = description.get(key) or []
    named = value.split(",") if isinstance(value, str) else value
    return tuple(str(name).strip() for name in named)


def _file_name(url: str) -> str:
    return PurePosixPath(urlsplit(url).path).name or "data.arff"
