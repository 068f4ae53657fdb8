"""Read archives of texts in memory, without unpacking anything into a folder."""

from __future__ import annotations

import lzma
import tarfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath
from typing import IO, Self, cast

from ...errors import InputError
from .progress import report
from .reading import COMPRESSED, USUAL, TextStream

# Largest accepted size of a file in an archive. The largest text of the known corpora has 2 MB, so a much
# larger file is a mistake or an attack.
_LARGEST_MEMBER = 1 << 28
# Keys of `COMPRESSED` by the first bytes of an archive. They decide, not the file's name.
_COMPRESSIONS = {b"\x1f\x8b": ".gz", b"BZh": ".bz2", b"\xfd7zXZ\x00": ".xz"}
# Bytes of the uncompressed archive that are read at a time.
_STEP = 1 << 16


def tar_texts(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """Yield (name, content) of the files of a tar archive for whose names `wanted` is true, in archive order.

    The archive may be compressed. Names have ``/`` between folders. Raises InputError if the archive is
    missing, damaged, cut short or expands past the default limit, or if a member is a link, a device, or has
    a path outside the archive. After an error, files that were already yielded must not be used.
    """
    try:
        with path.open("rb") as stored, _uncompressed(path, stored) as archive:
            size = path.stat().st_size
            for member in archive:
                _check_member(path, member)
                if not member.isfile() or not wanted(member.name):
                    continue
                stream = archive.extractfile(member)
                content = b"" if stream is None else stream.read()
                if len(content) != member.size:
                    raise InputError(f"{path}: {member.name} is cut short; the archive is damaged")
                report(path.name, stored.tell(), size)
                yield member.name, content
            rest = cast("IO[bytes]", archive.fileobj)
            if any(rest.read(tarfile.BLOCKSIZE)):
                raise tarfile.ReadError("a block of zeros before the end")
            # The checksum of compressed data is at their end.
            while rest.read(_STEP):
                pass
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except (tarfile.TarError, EOFError, OSError, lzma.LZMAError, zlib.error) as error:
        reason = (str(error).splitlines() or [""])[0]
        raise InputError(f"{path}: damaged, cut short or not a tar archive ({reason.rstrip(':')})") from None


class _Member(tarfile.TarInfo):
    """Read the header of a member; unlike Python's own class, refuse a damaged one after the first."""

    @classmethod
    def fromtarfile(cls, archive: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(archive)
        except tarfile.EOFHeaderError:  # type: ignore[attr-defined]
            # A block of zeros marks the end.
            raise
        except tarfile.HeaderError as error:
            raise tarfile.ReadError(str(error)) from None


def _uncompressed(path: Path, stored: IO[bytes]) -> tarfile.TarFile:
    """Open an archive, compressed or not; reading raises InputError if it expands past the default limit."""
    head = stored.read(6)
    stored.seek(0)
    suffix = next((suffix for magic, suffix in _COMPRESSIONS.items() if head.startswith(magic)), None)
    stream = stored if suffix is None else COMPRESSED[suffix](stored)
    counted = TextStream(path, stored, stream, USUAL)
    return tarfile.open(fileobj=cast("IO[bytes]", counted), mode="r|", bufsize=_STEP, tarinfo=_Member)


def _check_member(path: Path, member: tarfile.TarInfo) -> None:
    # Refuse a path outside the archive, under POSIX rules and under Windows rules.
    name = PurePosixPath(member.name.replace("\\", "/"))
    if name.is_absolute() or ".." in name.parts or (name.parts and name.parts[0].endswith(":")):
        raise InputError(f"{path}: the archive's {member.name!r} leads out of its folder; refused")
    if not (member.isfile() or member.isdir()):
        raise InputError(f"{path}: the archive's {member.name!r} is a link or a device; refused")
    if member.size > _LARGEST_MEMBER:
        raise InputError(
            f"{path}: the archive's {member.name!r} has {member.size:,} bytes, which is more than the limit "
            f"of {_LARGEST_MEMBER:,}; refused"
        )
