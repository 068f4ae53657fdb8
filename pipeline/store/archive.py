"""Pack the folder of a store, or a part of it, into one archive, and unpack an archive safely.

An archive is a zip file, or with the suffix ``.xz`` an uncompressed zip file within an xz file. The second
kind is smaller if files repeat the same content, such as the keys of cells; it is read and written in memory.
"""

from __future__ import annotations

import io
import lzma
import re
import shutil
import zipfile
import zlib
from collections.abc import Iterable
from pathlib import Path

from ..errors import InputError

# Names of the files in an archive: documents, tables of parts, sources of plug-ins. Others are refused.
_NAMES = re.compile(
    r"(plan|study|provenance|submission)\.json|plan\.parquet"
    r"|(cells|curves)/part-[A-Za-z0-9._-]+\.parquet|plugins/[A-Za-z0-9_][A-Za-z0-9_.-]*\.py"
)
# Maximum number of bytes that an archive may unpack to: far above the largest study, far below a disk's size.
_MOST_BYTES = 2 << 30
# All entries have this date, so that the same files give the same archive.
_DATE = (2000, 1, 1, 0, 0, 0)


def pack(folder: Path, names: Iterable[str], to: Path) -> None:
    """Write files of a folder to an archive; raise InputError if it cannot be written."""
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        solid = to.suffix == ".xz"
        content = io.BytesIO()
        with zipfile.ZipFile(content if solid else to, "w") as archive:
            for name in sorted(names):
                entry = zipfile.ZipInfo(name, _DATE)
                entry.compress_type = zipfile.ZIP_STORED if solid else zipfile.ZIP_DEFLATED
                archive.writestr(entry, (folder / name).read_bytes())
        if solid:
            to.write_bytes(lzma.compress(content.getvalue(), preset=9 | lzma.PRESET_EXTREME))
    except OSError as error:
        raise InputError(f"{to}: cannot be written ({error.strerror or error})") from None


def unpack(archive: Path, folder: Path) -> None:
    """Unpack an archive into a new folder; raise InputError if it is damaged or contains other files."""
    try:
        with zipfile.ZipFile(_decompressed(archive) if archive.suffix == ".xz" else archive) as opened:
            entries = opened.infolist()
            other = next((entry.filename for entry in entries if not _NAMES.fullmatch(entry.filename)), None)
            if other is not None:
                raise InputError(f"{archive}: contains {other[:100]!r}, which no archive of results has")
            if sum(entry.file_size for entry in entries) > _MOST_BYTES:
                raise InputError(f"{archive}: would unpack to more than {_MOST_BYTES >> 30} GB")
            for entry in entries:
                path = folder / entry.filename
                path.parent.mkdir(parents=True, exist_ok=True)
                # `zipfile` reads no more than the declared size, and compares the checksum.
                with opened.open(entry) as member, path.open("xb") as target:
                    shutil.copyfileobj(member, target)
    except FileNotFoundError:
        raise InputError(f"{archive}: no such archive") from None
    except (
        OSError,
        EOFError,
        NotImplementedError,
        RuntimeError,
        lzma.LZMAError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        raise InputError(f"{archive}: damaged, or no archive of `singlepass submit` ({error})") from None


def _decompressed(archive: Path) -> io.BytesIO:
    """Return the content of an xz file, of which at most `_MOST_BYTES` are read."""
    decompressor = lzma.LZMADecompressor()
    content = decompressor.decompress(archive.read_bytes(), _MOST_BYTES)
    if not decompressor.eof:
        raise EOFError("incomplete, or too large")
    return io.BytesIO(content)
