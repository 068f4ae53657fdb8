"""Store rows given in memory in the cache, under a name derived from their content."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from ..errors import InputError
from .io.folders import cache_folder, scratch_folder, writing
from .own_sources import ConvertedSource, FileSource
from .tables.cache import converted_table, kept_folder
from .tables.options import FEATURE_OPTIONS, Option, Options
from .tables.stream import Table, content_fingerprint, is_sparse

if TYPE_CHECKING:
    import pyarrow as pa

# Number of hexadecimal digits of a sha256 that are used as a name in the cache.
_DIGITS = 32
_OPTIONS = {"missing": Option("text", "error", choices=("error", "mean", "indicator")), **FEATURE_OPTIONS}


class ArraySource(ConvertedSource):
    """Read a data set that the user gave as arrays, which are stored in the cache."""

    # Such a data set has the name PREFIX and a hash, followed by TESTED if it has a test part.
    PREFIX, TESTED = "arrays:", ":test"

    def __init__(self, name: str) -> None:
        self.name = name
        self._kept = {"arrays": name.removeprefix(self.PREFIX).removesuffix(self.TESTED)}

    def options(self, given: Options) -> Mapping[str, Option]:
        return _OPTIONS

    def has_test(self, options: Options) -> bool:
        return self.name.endswith(self.TESTED)

    def files(self, options: Options, *, download: bool = True) -> tuple[Path, ...]:
        if kept_folder(self._kept) is None:
            _refuse_lost(self.name)
        return ()

    def recipe_of(self, files: tuple[Path, ...], options: Options) -> dict[str, Any]:
        default = {key: option.default for key, option in _OPTIONS.items()}
        changed = {key: value for key, value in options.items() if value != default.get(key)}
        return {**self._kept, "options": changed} if changed else dict(self._kept)

    def parse(self, options: Options) -> Table:
        table = converted_table(self._kept, lambda: _refuse_lost(self.name))
        return _marked(self.name, table) if options["missing"] == "indicator" else table


class FrameSource(FileSource):
    """Read a data set that the user gave as a data frame; the cache has it as an Arrow file."""

    PREFIX = "frame:"

    def __init__(self, name: str) -> None:
        super().__init__(str(frame_path(name)))
        self.name = name

    def files(self, options: Options, *, download: bool = True) -> tuple[Path, ...]:
        if not Path(self.place).exists():
            _refuse_lost(self.name)
        return super().files(options, download=download)


def keep_arrays(table: Table) -> str:
    """Store a table made of arrays in the cache of this machine; return its name as a data set.

    The name is derived from the content: the same rows have the same name and are stored once.
    """
    digest = content_fingerprint(table)[:_DIGITS]
    if kept_folder({"arrays": digest}) is None:
        converted_table({"arrays": digest}, lambda: table)
    return f"{ArraySource.PREFIX}{digest}{'' if table.X_test is None else ArraySource.TESTED}"


def keep_frame(table: pa.Table) -> str:
    """Store a data frame, as an Arrow table, in the cache of this machine; return its name as a data set."""
    from pyarrow import feather

    folder = cache_folder() / "frames"
    with writing(folder), scratch_folder(folder) as scratch:
        written = scratch / "frame.arrow"
        feather.write_feather(table, written, compression="uncompressed")
        with written.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()[:_DIGITS]
        # Replacing is safe: if two processes store the same frame, the files are equal.
        written.replace(frame_path(f"{FrameSource.PREFIX}{digest}"))
    return f"{FrameSource.PREFIX}{digest}"


def frame_path(name: str) -> Path:
    """Return the file in which the data frame of this name is stored."""
    return cache_folder() / "frames" / f"{name.removeprefix(FrameSource.PREFIX)}.arrow"


def _refuse_lost(name: str) -> NoReturn:
    raise InputError(
        f"data set {name!r}: its rows were given in memory and are no longer in the cache; give them again"
    )


def _marked(name: str, table: Table) -> Table:
    """Append an indicator (1 where the value is missing) for each feature that has missing values."""
    if is_sparse(table.X):
        raise InputError(
            f'data set {name!r}: missing = "indicator" needs dense rows; give a dense array, or set "mean"'
        )
    X: Any = table.X
    incomplete = np.flatnonzero(np.isnan(X).any(axis=0))

    def marked(rows: Any) -> Any:
        return np.hstack([rows, np.isnan(rows[:, incomplete]).astype(rows.dtype)])

    return replace(table, X=marked(X), X_test=None if table.X_test is None else marked(table.X_test))
