"""Read and write the results of a study: cells and curves as plain Parquet, and small JSON documents.

``cells/part-*.parquet`` has one row per cell. ``curves/part-*.parquet`` (long) has the learning curves of the
part with the same name (see `parts`). ``plan.parquet`` names the cells of the current study (see `PLAN`).

One client at a time has the store's lock (`exclusive`), tidies it and decides what is computed. Any number of
processes may read the store and write finished cells to it, during that time and after.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from ..documents import open_document, seal_document
from ..errors import InputError
from .bases import BASES, Base
from .checksums import check_parquet
from .folder import Folder
from .locking import StoreLock, locked
from .parts import Compaction, Parts, compact
from .schema import EARLIER_PLAN, PLAN, SCHEMAS, CellResult, as_now, schema_of
from .tables import in_order, joined, part_of, to_frame, to_parquet

if TYPE_CHECKING:
    import pandas as pd

# A finished run with more parts than this is merged: a run writes many, and a reader should open few.
MAX_PARTS = 8
# Name of a file that contains the name of a run. While it is in the store, workers of that run may write
# results to the store themselves, and a new client that finds it may continue the run.
MARK = "shared.json"
# Name of a file that lists what remains of a run's cluster if the run is killed, such as batch jobs, and the
# number of workers. The run removes the file at its end.
CLUSTER = "cluster.json"
# The small JSON documents of a store, except those of its lock.
DOCUMENTS = ("study.json", "plan.json", "provenance.json", BASES, MARK, CLUSTER)
# The types of values that are read from documents: a list has the type of its entries, a dictionary the types
# of its keys, of which those with "?" may be missing. Other keys of study.json are only shown or compared.
_DATASET = {"label": str, "task?": str, "parameters?": dict, "compose?": list, "test_fraction?": float | None}
_ALGORITHM = {"name": str, "label": str, "winner?": str | None, "tuned_as?": str | None, "datasets?": [str]}
_RANKING = {"title": str, "algorithms": [str], "datasets?": [str], "focus?": str | None, "focus_noise?": list}
_TYPES: dict[str, Any] = {
    "study.json": {
        "name": str,
        "title?": str | None,
        "description?": str | None,
        "noise?": list,
        "seeds?": [int],
        "tune_fraction?": float | int,
        "delay?": int,
        "window?": int | None,
        "fading?": float | None,
        "test_fraction?": float | int,
        "folds?": int,
        "winner?": str,
        "metrics?": [str],
        "rank_by?": str | None,
        "curves?": [str],
        "datasets?": [_DATASET],
        "algorithms?": [_ALGORITHM],
        "rankings?": [_RANKING],
    },
    "plan.json": {"planned": int, "data?": dict, "plugins?": dict},
    "provenance.json": {
        "runs?": [{"packages?": dict, "fingerprints?": dict, "guests?": dict, "scales?": dict}]
    },
    BASES: {"bases?": [{"url": str, "name": str, "cells": int}]},
}
# Files of incomplete parts that are older than this were left by killed processes, and are removed. A worker
# may still be writing younger ones; a run whose workers write may also have been killed without their notice.
LEFT_AFTER, LEFT_BY_WORKERS_AFTER = timedelta(minutes=5), timedelta(hours=1)
# Columns of the cells table from which the progress of a run is computed.
PROGRESS = ("key", "status", "n_examples", "fit_seconds", "total_seconds", "started", "worker")


class Store:
    """The results of one study in a local folder or at any fsspec URL, such as ``s3://bucket/results/mine``.

    `set_aside` lists the damaged parts and documents that were moved to ``damaged/``; their content is
    computed again.
    """

    def __init__(self, url: str) -> None:
        self.folder = Folder(url)
        self.fs, self.root, self.url = self.folder.fs, self.folder.root, url
        self.set_aside: list[str] = []
        #: The lock that this process has on the store; set by `exclusive`.
        self.lock: StoreLock | None = None
        #: Bases in which keys that the store lacks are looked up, in this order; see `use_bases`.
        self.bases: tuple[Base, ...] = ()
        self._parts = Parts(self.folder)

    # -- writing -----------------------------------------------------------------------------------

    def prepare(self) -> None:
        """Create the store's folders; raise InputError if that fails or they have an unreadable schema."""
        for within in SCHEMAS:
            self.folder.make(within)
        self.try_writing()
        self.check_version()

    def try_writing(self) -> None:
        """Write and remove a test file, creating nothing else; raise InputError if that fails."""
        with self._parts.probe():
            pass

    def check_version(self) -> None:
        """Raise InputError if the store has results of another version."""
        self._parts.check_version()

    def tidy(self) -> None:
        """Move damaged files aside and remove incomplete ones; the caller must have the store's lock."""
        self.set_aside += self._parts.set_damaged_aside()
        for name in DOCUMENTS:
            if self._document(name) is None:
                self.folder.make("damaged")
                self.folder.move(name, f"damaged/{name}")
                self.set_aside.append(f"{self.url}/{name}")
        self._parts.drop_leftovers(LEFT_BY_WORKERS_AFTER if self.read_json(MARK) else LEFT_AFTER)

    def write(self, results: list[CellResult]) -> None:
        """Write finished cells, the last result of each, as one part; many processes may write at once."""
        self.check_lock()
        if results:
            results = list({each.row["key"]: each for each in results}.values())
            self._parts.write(*part_of([each.row for each in results], [each.curve for each in results]))

    def write_tables(self, cells: pa.Table, curves: pa.Table) -> None:
        """Write cells and their curves, given as tables with any columns of the schema, as one part."""
        self._parts.write(as_now(cells, SCHEMAS["cells"]), as_now(curves, SCHEMAS["curves"]))

    def compact(self, *, above: int = MAX_PARTS) -> Compaction | None:
        """Merge parts into few if there are more than `above`; the caller must have the store's lock."""
        return compact(self._parts) if len(self._parts.names()) > above else None

    def write_plan(self, parts: Iterable[pa.Table]) -> None:
        """Record the cells of the current study, given as tables of schema `PLAN`."""
        self.folder.write("plan.parquet", to_parquet(pa.concat_tables([PLAN.empty_table(), *parts])))

    def write_json(self, name: str, content: dict[str, Any]) -> None:
        """Write a small JSON document, with a checksum, to the store's folder."""
        self.folder.write(name, seal_document(content))

    # -- bases -------------------------------------------------------------------------------------

    def use_bases(self, urls: Sequence[str] = ()) -> None:
        """Take cells that the store lacks from the bases at these URLs, by default from the recorded ones."""
        # Bases, and whether cells of them are needed: one that gave none may be gone.
        named = dict.fromkeys(urls, True)
        if not urls:
            recorded: dict[str, Any] | None = {}
            # Ignore an output that cannot be read or written: the next access to it reports the error.
            with contextlib.suppress(InputError):
                recorded = self._document(BASES)
            if recorded is None:
                raise InputError(f"{self.url}/{BASES}: damaged: name the bases again with --base")
            named = {each["url"]: each["cells"] > 0 for each in recorded.get("bases", [])}
        found = []
        for url, is_needed in named.items():
            try:
                found.append(Base(url))
            except InputError as error:
                if urls:
                    raise
                if is_needed:
                    raise InputError(
                        f"{error} ({self.url}/{BASES} names it: `singlepass run` with --base NEW replaces "
                        "it; make results of merge or compare again)"
                    ) from None
        self.bases = tuple(found)

    def known_data(self) -> dict[str, str]:
        """Return each data set's fingerprint in the bases, by `data_id`; earlier bases take precedence."""
        found: dict[str, str] = {}
        for base in reversed(self.bases):
            found |= base.fingerprints
        return found

    def write_bases(self, counts: Mapping[str, int]) -> None:
        """Record the bases; `counts` has the number of the study's cells that come from each, by URL."""
        listed = [
            {"url": base.url, "name": base.name, "cells": counts.get(base.url, 0)} for base in self.bases
        ]
        if listed or self.read_json(BASES):
            self.write_json(BASES, {"bases": listed})

    def base_of(self, keys: Iterable[str]) -> dict[str, Base]:
        """Return the base of each cell that the store lacks and a base has, by key."""
        if not self.bases:
            return {}
        own, found = self.own_keys(), dict[str, Base]()
        for key in keys:
            if key not in own and (base := next((b for b in self.bases if key in b.keys), None)) is not None:
                found[key] = base
        return found

    # -- reading -----------------------------------------------------------------------------------

    def done(self) -> dict[str, str]:
        """Return the status of every cell in the store and its bases, by key."""
        found = dict.fromkeys((key for base in self.bases for key in base.keys), "ok")
        return found | self.own_keys()

    def own_keys(self) -> dict[str, str]:
        """Return the status of every cell in the store itself, by key."""
        table = self._parts.table("cells", ["key", "status"])
        return dict(zip(table["key"].to_pylist(), table["status"].to_pylist(), strict=True))

    def own(self, within: str, keys: Sequence[str] | None = None) -> pa.Table:
        """Return a table ("cells" or "curves", by `within`) without the rows of bases; see `cells`."""
        return self._parts.table(within, keys=keys)

    def new_rows(self, seen: set[str], columns: Sequence[str] = PROGRESS) -> pd.DataFrame:
        """Return the rows of parts written since the last call, with the given columns of the cells table.

        `seen` has the names of the parts read so far, empty at first; the call adds to it. A cell may
        appear more than once, if it was tried again or its part was merged.
        """

        def read() -> tuple[list[str], list[pa.Table]]:
            names = [name for name in self._parts.names() if name not in seen]
            return names, list(self._parts.read(names, "cells", columns))

        names, tables = self._parts.steadily(read)
        seen.update(names)
        schema = schema_of("cells", columns)
        return to_frame(joined(tables, schema), schema)

    def cells(self, keys: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the cells table, one row per cell, sorted by key; with `keys` only those cells.

        Rows of cells that only a base has are read from there.
        """
        return self._sorted("cells", keys)

    def curves(self, keys: Sequence[str] | None = None) -> pd.DataFrame:
        """Return the curves table, sorted by key and t; with `keys` only those cells."""
        return self._sorted("curves", keys)

    def _sorted(self, within: str, keys: Sequence[str] | None) -> pd.DataFrame:
        tables = [self.own(within, keys)]
        if self.bases:
            asked = {key for base in self.bases for key in base.keys} if keys is None else keys
            origin = self.base_of(asked)
            for base in self.bases:
                tables.append(base.table(within, [key for key, each in origin.items() if each is base]))
        return to_frame(in_order(joined(tables, SCHEMAS[within]), within), SCHEMAS[within])

    def plan(self) -> pa.Table:
        """Return the cells that `write_plan` recorded last; raise InputError if it cannot be read."""
        try:
            content = pa.py_buffer(self.folder.read("plan.parquet"))
            check_parquet(content)
            file = pq.ParquetFile(content, page_checksum_verification=True)
            written = file.schema_arrow.remove_metadata()
            if written not in (PLAN.remove_metadata(), EARLIER_PLAN.remove_metadata()):
                raise pa.ArrowInvalid("other columns")
            return as_now(file.read(), PLAN)
        except (OSError, KeyError, UnicodeDecodeError, pa.ArrowException):
            raise InputError(
                f"{self.url}/plan.parquet: missing, damaged or of an earlier version: run the study again "
                "to write it"
            ) from None

    def read_json(self, name: str) -> dict[str, Any]:
        """Return a small JSON document, empty if it does not exist; raise InputError if it is damaged."""
        content = self._document(name)
        if content is None:
            cure = "run the study again to set it aside and write a new one"
            raise InputError(f"{self.url}/{name}: damaged, or changed by hand: {cure}")
        return content

    def _document(self, name: str) -> dict[str, Any] | None:
        """Return a document, empty if it does not exist, or None if it is damaged."""
        try:
            content = open_document(self.folder.read(name))
        except FileNotFoundError:
            return {}
        except ValueError:
            return None
        return content if _fits(content, _TYPES.get(name, {})) else None

    def exists(self) -> bool:
        """Return whether the folder contains a store."""
        if self.folder.is_local:
            return bool(self.fs.isdir(self.folder.path("cells")))
        # Object stores have no folders: look for parts, or for study.json, which is written before them.
        return bool(self._parts.names() or self.read_json("study.json"))

    def check_lock(self) -> None:
        """Raise InputError, which names the new holder, if another process has taken this store over."""
        if self.lock is not None:
            self.lock.check()


def _fits(value: Any, types: Any) -> bool:
    """Return whether a value of a document has the right types; see `_TYPES`."""
    if isinstance(types, list):
        return isinstance(value, list) and all(_fits(each, types[0]) for each in value)
    if not isinstance(types, dict):
        return isinstance(value, types)
    return isinstance(value, dict) and all(
        _fits(value[key.rstrip("?")], of) if key.rstrip("?") in value else key.endswith("?")
        for key, of in types.items()
    )


def existing(url: str) -> Store:
    """Return the store at a folder or URL; raise InputError if it has no results."""
    store = Store(url)
    if not store.exists():
        is_study = url.endswith(".toml") and Path(url).is_file()
        here = "this is a study, not its results" if is_study else "no results here"
        raise InputError(f"{url}: {here}: give a folder or URL that `singlepass run` wrote")
    return store


@contextlib.contextmanager
def exclusive(store: Store, note: Callable[[str], None] = lambda line: None) -> Iterator[None]:
    """Lock a store for the duration of the context, and tidy it; the lock ends with the process.

    At a URL whose earlier holder may still run, this sends `note` a line and waits to see whether that holder
    renews its lease. Raises InputError if another run is writing, or if there are results of another version.
    """
    with locked(store.folder, note) as store.lock:
        store.tidy()
        yield
