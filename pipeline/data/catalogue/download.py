"""Find the files of a public set in the user's folder or the cache, or download them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import urlsplit

from ...errors import InputError
from ..io.folders import cache_folder, scratch_folder
from ..io.progress import report
from .public import PublicFile, PublicSet

# Seconds to wait for a connection and between two packets: detects a dead server, tolerates a slow line.
_TIMEOUT = (10, 60)
# Bytes downloaded between two progress reports.
_CHUNK = 1 << 16


def data_folder() -> Path | None:
    """Return the folder named by ``SINGLEPASS_DATA``, or None; raise InputError if it is not a folder."""
    named = os.environ.get("SINGLEPASS_DATA")
    if not named:
        return None
    folder = Path(os.path.expanduser(named)).absolute()
    if not folder.is_dir():
        raise InputError(
            f"SINGLEPASS_DATA = {named!r} is not a folder; unset it, or name the folder of your data"
        )
    return folder


def present(entry: PublicSet, file: PublicFile) -> Path | None:
    """Return the path of a public set's file in ``SINGLEPASS_DATA`` or the cache; None if neither has it."""
    folder = data_folder()
    for parent in (*([] if folder is None else [folder]), _kept(entry)):
        for name in (file.name, *file.also):
            if (parent / name).is_file():
                return parent / name
    return None


def locate(entry: PublicSet) -> tuple[Path, ...]:
    """Return the paths of all files of a public set, in the order of ``entry.files``; download missing ones.

    A downloaded file is kept only if it has the public checksum or, if none is known, if `PublicSet.read`
    accepts its content. Raises InputError if a file is not available or a download is not the public file.
    """
    paths = {file.name: present(entry, file) for file in entry.files}
    missing = [file for file in entry.files if paths[file.name] is None]
    if missing:
        with scratch_folder(_kept(entry)) as scratch:
            for file in missing:
                paths[file.name] = _download(entry, file, scratch)
                if file.checksum:
                    # The checksum is right: keep this file even if a later one fails.
                    paths[file.name] = (scratch / file.name).replace(_kept(entry) / file.name)
            found = [path for path in paths.values() if path is not None]
            try:
                entry.read(found)
            except InputError as error:
                raise InputError(f"data set {entry.name!r}: a download was refused: {error}") from None
            for file in missing:
                if not file.checksum:
                    paths[file.name] = (scratch / file.name).replace(_kept(entry) / file.name)
    return tuple(path for path in paths.values() if path is not None)


def _kept(entry: PublicSet) -> Path:
    # The data sets of a family are read from the same files, so they share one folder.
    return cache_folder() / "data" / (entry.family or entry.name)


def mirrored(address: str) -> str:
    """Return the URL to request for an address: the same path on the mirror if one is set, or the address."""
    mirror = _mirror()
    return f"{mirror}{urlsplit(address).path}" if mirror else address


def _mirror() -> str:
    """Return ``SINGLEPASS_MIRROR``, a URL used instead of every server (in tests or offline); "" if unset."""
    return os.environ.get("SINGLEPASS_MIRROR", "").rstrip("/")


class _Bar:
    """Report a download's progress, through the methods that pooch calls on a tqdm progress bar."""

    def __init__(self, name: str) -> None:
        self._name, self._done, self.total = name, 0, 0

    def update(self, size: int) -> None:
        self._done += size
        # Pooch passes the full chunk size even for a shorter last chunk, so limit the sum to the total.
        report(self._name, min(self._done, self.total) if self.total else self._done, self.total)

    def reset(self) -> None:
        self._done = 0

    def close(self) -> None:
        """Do nothing, since there is nothing to release."""


def retrieve(
    name: str, addresses: Sequence[str], checksum: str | None, folder: Path
) -> tuple[Path | None, list[str]]:
    """Download a file into `folder` under `name` from the first address that has it.

    `checksum` is ``"md5:…"`` or ``"sha256:…"``, or None if unknown. Returns the file's path (None if every
    address failed), and the reason for each address that failed.
    """
    import pooch
    import requests

    pooch.get_logger().setLevel("WARNING")
    reasons: list[str] = []
    for address in addresses:
        downloader = pooch.HTTPDownloader(
            progressbar=_Bar(name),
            chunk_size=_CHUNK,
            timeout=_TIMEOUT,
            # Ask for the stored bytes, so that the server does not send a .gz uncompressed.
            headers={"Accept-Encoding": "identity"},
        )
        try:
            return Path(pooch.retrieve(address, checksum, name, folder, downloader=downloader)), reasons
        except requests.RequestException as error:
            reasons.append(f"{urlsplit(address).netloc}: {_reason(error)}")
        except ValueError as error:
            # Pooch raises ValueError if the checksum differs, or for a wrong header of the answer.
            differs = "the known hash" in str(error)
            reason = f"the content does not have the checksum {checksum}" if differs else str(error)
            reasons.append(f"{urlsplit(address).netloc}: {reason}")
        except OSError as error:
            raise InputError(f"{folder.parent}: the cache cannot be written ({error.strerror})") from None
    return None, reasons


def _download(entry: PublicSet, file: PublicFile, folder: Path) -> Path:
    mirror = _mirror()
    addresses = (f"{mirror}/{file.name}",) if mirror else file.addresses
    path, reasons = retrieve(file.name, addresses, file.checksum, folder)
    if path is not None:
        return path
    folder_named = os.environ.get("SINGLEPASS_DATA") or "not set"
    tried = f"and the download failed ({'; '.join(reasons)})" if reasons else "and it cannot be downloaded"
    copy = f"get a copy ({entry.source})" if entry.source else "get a copy"
    source = f"get it from {file.addresses[0]}" if file.addresses else copy
    raise InputError(
        f"data set {entry.name!r}: {file.name} is not in SINGLEPASS_DATA ({folder_named}), {tried}; "
        f"{source} and set SINGLEPASS_DATA to its folder"
    )


def _reason(error: Exception) -> str:
    import requests

    if isinstance(error, requests.HTTPError) and error.response is not None:
        return f"HTTP {error.response.status_code}"
    if isinstance(error, requests.Timeout):
        return "no answer in time"
    if isinstance(error, requests.exceptions.ChunkedEncodingError):
        return "the connection broke off"
    if isinstance(error, requests.ConnectionError):
        return "no connection"
    return type(error).__name__
