"""Find the reference cells: results of shipped studies that come with the package or were downloaded.

``reference_cells/index.json`` lists them. Each study's cells are in one archive, which contains a store with
few columns and short curves (see `compact_copy`). Archives of small studies are next to the index, the others
have a URL. `ReferenceIndex.fetch` unpacks an archive into the cache.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .. import data
from ..documents import seal_document
from ..errors import InputError, did_you_mean
from .archive import unpack
from .folder import Folder
from .parts import Parts
from .schema import METADATA, SCHEMA_VERSION, with_values
from .tables import only, to_parquet

# The value of ``--base`` that stands for the reference cells.
REFERENCE = "reference"
FOLDER = Path(__file__).parent / "reference_cells"


@dataclass(frozen=True)
class ReferenceStudy:
    """An entry of the index of reference cells: one study and the archive of its results."""

    study: str
    cells: int
    # Size and SHA-256 of the archive with the study's results.
    bytes: int
    sha256: str
    # The commit of singlepass and the versions of packages that computed the cells.
    commit: str
    versions: dict[str, str] = field(default_factory=dict)
    # Where the archive can be downloaded; empty if it comes with the package.
    url: str = ""


@dataclass(frozen=True)
class ReferenceIndex:
    """The reference cells of a release; `folder` has the archives that come with the package."""

    release: str
    studies: list[ReferenceStudy]
    folder: Path

    @property
    def name(self) -> str:
        """Return the name by which reports call the reference cells of this release."""
        return f"{REFERENCE}-{self.release}"

    def place(self, entry: ReferenceStudy) -> Path:
        """Return the folder into which a study's archive is unpacked; it may not exist yet."""
        return data.cache_folder() / REFERENCE / self.release / entry.sha256[:16] / entry.study

    def present(self) -> Iterator[ReferenceStudy]:
        """Yield the studies whose cells are on this machine."""
        return (entry for entry in self.studies if not entry.url or self.place(entry).is_dir())

    def fetch(self, name: str) -> Path:
        """Unpack the archive of a study's cells, downloaded if it has a URL; return the folder of the cells.

        Raises InputError for an unknown study, or if the archive cannot be downloaded or its checksum differs
        from the index.
        """
        entries = {entry.study: entry for entry in self.studies}
        if name not in entries:
            raise InputError(f"reference {name!r}: no such study: {did_you_mean(name, entries)}")
        entry = entries[name]
        place = self.place(entry)
        if place.is_dir():
            return place
        place.parent.mkdir(parents=True, exist_ok=True)
        if not entry.url:
            _unpack_whole(self.folder / archive_name(name), place)
            return place
        archive, reasons = data.retrieve(
            archive_name(name), [data.mirrored(entry.url)], f"sha256:{entry.sha256}", place.parent
        )
        if archive is None:
            raise InputError(f"reference {name!r}: the download failed ({'; '.join(reasons)})")
        _unpack_whole(archive, place)
        archive.unlink(missing_ok=True)
        return place


def _unpack_whole(archive: Path, place: Path) -> None:
    """Unpack an archive into the new folder `place`, unless another process has created it meanwhile."""
    with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
        unpack(archive, Path(scratch) / place.name)
        try:
            os.rename(Path(scratch) / place.name, place)
        except OSError:
            if not place.is_dir():
                raise


def archive_name(study: str) -> str:
    """Return the name of the archive of a study's cells."""
    return f"{study}.zip.xz"


def read_index(folder: Path = FOLDER) -> ReferenceIndex:
    """Return the index; raise InputError if its cells have a schema that this version cannot read."""
    content: dict[str, Any] = json.loads((folder / "index.json").read_text("utf-8"))
    if content["schema"] != SCHEMA_VERSION:
        raise InputError(
            f"base {REFERENCE}: its cells have schema version {content['schema']}, this singlepass reads "
            f"version {SCHEMA_VERSION}: leave --base {REFERENCE} out, or install the version that made them"
        )
    studies = [ReferenceStudy(**entry) for entry in content["studies"]]
    return ReferenceIndex(content["release"], studies, folder)


# Largest total size in bytes of the archives that come with the package: a wheel shall take at most 3 MB.
MOST_BYTES = 1_900_000
# Maximum number of points of a learning curve in a compact copy.
POINTS = 10
# Columns that a compact copy leaves out: where and when a cell ran, and times that no table shows.
_LEFT_OUT = {"total_seconds", "started", "worker", "traceback", "attempts", "error"}
# The order of rows in a compact copy: rows with equal values next to each other take less space when
# compressed.
_SORTED_BY = [(name, "ascending") for name in ("stage", "dataset", "algorithm", "noise", "params", "seed")]


def compact_copy(source: str, keys: list[str], folder: Path, documents: dict[str, dict[str, Any]]) -> int:
    """Write the successful cells of a store with these keys to a new folder, and return their number.

    The copy is a store. Evaluation cells keep at most `POINTS` points of their curves, tuning cells none.
    Times have three significant digits. `documents` are the copy's JSON documents, by file name.
    """
    parts, planned = Parts(Folder(source)), pa.array(keys, pa.string())
    cells = only(parts.table("cells"), planned)
    cells = cells.filter(pc.equal(cells["status"], "ok")).sort_by(_SORTED_BY)
    final = cells.filter(pc.equal(cells["stage"], "run"))["key"]
    curves = thinned(parts.table("curves", keys=final.to_pylist()), final)
    for within, table in (("cells", _few_columns(cells)), ("curves", _few_columns(curves, "fit_seconds"))):
        # The Parquet file is not compressed, because the archive that contains it is compressed as a whole.
        # Splitting integers into streams of their first, second, … bytes makes that compression more
        # effective.
        encoding = {
            field.name: "BYTE_STREAM_SPLIT" for field in table.schema if pa.types.is_integer(field.type)
        }
        content = to_parquet(table, compression="none", use_dictionary=False, column_encoding=encoding)
        (folder / within).mkdir(parents=True)
        (folder / within / "part-reference.parquet").write_bytes(content)
    for name, document in documents.items():
        (folder / name).write_bytes(seal_document(document))
    return len(cells)


def thinned(curves: pa.Table, keys: pa.ChunkedArray) -> pa.Table:
    """Return at most `POINTS` points of each curve, its first and last included, in the order of `keys`."""
    place = pc.index_in(curves["key"], keys.combine_chunks()).to_numpy()
    order = np.lexsort((curves["t"].to_numpy(), place))
    ends = np.flatnonzero(np.diff(np.append(place[order], -1))) + 1
    starts = np.append(0, ends[:-1])
    kept = [
        start + np.unique(np.linspace(0, end - start - 1, min(POINTS, end - start)).round().astype(int))
        for start, end in zip(starts, ends, strict=True)
    ]
    return curves.take(pa.array(order[np.concatenate(kept)] if kept else []))


def _few_columns(table: pa.Table, *left_out: str) -> pa.Table:
    """Return a table with rounded times and without empty columns, `_LEFT_OUT` columns and `left_out`."""
    names = [
        name
        for name in table.column_names
        if name in with_values(table) and name not in {*_LEFT_OUT, *left_out}
    ]
    kept = table.select(names).replace_schema_metadata(METADATA)
    if "fit_seconds" in names:
        seconds = [
            None if value is None else float(f"{value:.2e}") for value in kept["fit_seconds"].to_pylist()
        ]
        at = names.index("fit_seconds")
        kept = kept.set_column(at, table.schema.field("fit_seconds"), pa.array(seconds, pa.float64()))
    return kept
