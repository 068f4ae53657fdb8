"""Pack a store's folder, or some of its files, into one archive, and unpack an archive safely.

An archive is a zip file, or with the suffix ``.xz`` an uncompressed zip file within an xz file. The second
kind is smaller if several files repeat the same content. It is packed and unpacked in memory.
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

# File names that an archive may contain: JSON documents, Parquet files of results, source files of plug-ins.
# An archive with any other file is refused.
_NAMES = re.compile(
    r"(plan|study|provenance|submission)\.json|plan\.parquet"
    r"|(cells|curves)/part-[A-Za-z0-9._-]+\.parquet|plugins/[A-Za-z0-9_][A-Za-z0-9_.-]*\.py"
)
# Maximum number of bytes that an archive may unpack to: far above the largest study, far below a disk's size.
_MOST_BYTES = 2 << 30
# Every file in an archive gets this date, so that packing the same files twice gives identical bytes.
_DATE = (2000, 1, 1, 0, 0, 0)


def packable(name: str) -> bool:
    """Return whether an archive may contain a file of this name."""
    return _NAMES.fullmatch(name) is not None


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
            # Other programs add entries for folders.
            entries = [entry for entry in opened.infolist() if not entry.is_dir()]
            other = next((entry.filename for entry in entries if not packable(entry.filename)), None)
            if other is not None:
                raise InputError(f"{archive}: contains {other[:100]!r}, which no archive of results has")
            if sum(entry.file_size for entry in entries) > _MOST_BYTES:
                raise InputError(f"{archive}: would unpack to more than {_MOST_BYTES >> 30} GB")
            for entry in entries:
                path = folder / entry.filename
                path.parent.mkdir(parents=True, exist_ok=True)
                # A false size or checksum does no harm: `zipfile` reads at most the size that the archive
                # declares for the file, and then compares the checksum.
                with opened.open(entry) as member, path.open("xb") as target:
                    shutil.copyfileobj(member, target)
    except FileNotFoundError:
        raise InputError(f"{archive}: no such archive") from None
    except (OSError, EOFError, RuntimeError, lzma.LZMAError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(f"{archive}: damaged, or no archive of `singlepass submit` ({error})") from None


def _decompressed(archive: Path) -> io.BytesIO:
    """Return the content of an xz file; raise EOFError if it is incomplete or longer than `_MOST_BYTES`."""
    decompressor = lzma.LZMADecompressor()
    content = decompressor.decompress(archive.read_bytes(), _MOST_BYTES)
    if not decompressor.eof:
        raise EOFError("incomplete, or too large")
    return io.BytesIO(content)
