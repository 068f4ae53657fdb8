"""Cache parsed tables as memory-mapped ``.npy`` files.

Parsing text takes 200 times as long as learning. The name of a table's folder is a hash of everything the
table depends on, including the sha256 of its files. A changed file therefore gets a new folder, and the cache
never serves stale rows. A folder is filled under a temporary name and renamed when it is complete.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ...documents import open_document, seal_document
from ...errors import InputError
from ..io.folders import cache_folder, scratch_folder, writing
from ..io.reading import file_state, is_settled
from ..io.spill import linked, steps
from .stream import Table, arrays_of, content_fingerprint, csr_of, freeze

# Increase this whenever the same file would be parsed into a different table.
CONVERTER_VERSION = 3

# The file that describes a cached table: fingerprint, class names, notes, shapes, sizes and recipe.
_MANIFEST = "manifest.json"
# File with the sizes and times of a table's files when its fingerprint was last checked. While these do not
# change, a run need not read the whole table to check it. Only tables of at least this many bytes have it.
_CHECKED, _REMEMBERED_FROM_BYTES = "checked.json", 1 << 26
# Arrays of fewer bytes are read into memory, not memory-mapped: a mapping costs a page and a file handle, and
# an empty file cannot be mapped.
_MAPPED_FROM_BYTES = 1 << 16


def converted_table(recipe: Mapping[str, Any], parse: Callable[[], Table]) -> Table:
    """Return a table memory-mapped from the cache; parse it and write it there first if needed.

    `recipe` contains everything the table depends on, as JSON values. A damaged table is parsed again.
    The arrays are read-only. Raises InputError if the cache cannot be written.
    """
    folder = _folder_of(recipe)
    kept = _load(folder)
    if kept is not None:
        return kept
    table = parse()
    _store(folder, recipe, table)
    # The mapped copy replaces the parsed one, which frees memory. If another process cleared the cache in
    # between, the parsed table is returned.
    return _load(folder, check=False) or freeze(table)


def kept_manifest(recipe: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the manifest of a cached table, or None if the table is not cached."""
    return _read_manifest(_folder_of(recipe))


def kept_folder(recipe: Mapping[str, Any]) -> Path | None:
    """Return the folder of a cached table, or None if the table is not cached."""
    return None if kept_manifest(recipe) is None else _folder_of(recipe)


def kept_bytes(recipe: Mapping[str, Any]) -> int:
    """Return the bytes of a cached table's arrays, or 0 if the table is not cached."""
    manifest = kept_manifest(recipe)
    return sum(part["bytes"] for part in manifest["parts"].values()) if manifest else 0


def adopt(recipe: Mapping[str, Any], scratch: Path) -> None:
    """Move a table from another machine into the cache; raise InputError if it is damaged."""
    folder = _folder_of(recipe)
    if _load(scratch) is None:
        raise InputError(f"{scratch}: the received table is damaged; run again")
    _put(scratch, folder)
    if kept_folder(recipe) is None:
        raise InputError(
            f"{folder.parent}: the cache cannot be written; set SINGLEPASS_CACHE to a writable folder"
        )


def recipe_key(recipe: Mapping[str, Any]) -> str:
    """Return the hash that names the cache folder of a recipe."""
    # Arrays are not parsed, and the cache may have the only copy of those that a notebook gave.
    version = 1 if recipe.keys() == {"arrays"} else CONVERTER_VERSION
    text = json.dumps({"converter": version, **recipe}, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _folder_of(recipe: Mapping[str, Any]) -> Path:
    return cache_folder() / "streams" / recipe_key(recipe)[:32]


def _parts(table: Table) -> dict[str, npt.NDArray[Any]]:
    parts: dict[str, npt.NDArray[Any]] = {}
    for suffix, X, y in (("", table.X, table.y), ("_test", table.X_test, table.y_test)):
        if X is not None and y is not None:
            parts |= {f"X{suffix}_{name}": array for name, array in arrays_of(X).items()} | {f"y{suffix}": y}
    return parts


def _store(folder: Path, recipe: Mapping[str, Any], table: Table) -> None:
    with writing(folder.parent), scratch_folder(folder.parent) as scratch:
        written = {}
        with ThreadPoolExecutor(1) as pool:
            # Hash in another thread while writing, since both take equally long and release the GIL.
            fingerprint = pool.submit(content_fingerprint, table)
            for name, array in _parts(table).items():
                path = scratch / f"{name}.npy"
                _save(path, array)
                written[name] = {"bytes": path.stat().st_size, "form": _form(array)}
        manifest = {
            "fingerprint": fingerprint.result(),
            "classes": list(table.classes),
            "notes": list(table.notes),
            "cautions": list(table.cautions),
            "shape": list(table.X.shape),
            "shape_test": None if table.X_test is None else list(table.X_test.shape),
            "parts": written,
            "recipe": dict(recipe),
        }
        (scratch / _MANIFEST).write_bytes(seal_document(manifest))
        _put(scratch, folder)


def _put(scratch: Path, folder: Path) -> None:
    if folder.exists() and _load(folder) is None:
        shutil.rmtree(folder, ignore_errors=True)
    # Renaming fails if another process has made the folder first; ignore it, since the content is the same.
    with suppress(OSError):
        scratch.rename(folder)


def _read_manifest(folder: Path) -> dict[str, Any] | None:
    try:
        manifest = open_document((folder / _MANIFEST).read_bytes())
        sizes = {name: part["bytes"] for name, part in manifest["parts"].items()}
        whole = all((folder / f"{name}.npy").stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return manifest if whole and {"fingerprint", "classes", "shape"} <= manifest.keys() else None


def _load(folder: Path, *, check: bool = True) -> Table | None:
    """Return a cached table, or None if it is not cached or damaged; remove a damaged one.

    Without `check`, the fingerprint of its content is not compared.
    """
    manifest = _read_manifest(folder)
    if manifest is None:
        return None
    try:
        number = folder.stat().st_ino
        table = _opened(folder, manifest)
        if check and not _is_checked(folder, manifest):
            if content_fingerprint(table) != manifest["fingerprint"]:
                raise ValueError(f"{folder}: damaged")
            _remember_checked(folder, manifest)
    except (OSError, MemoryError):
        return None
    except (ValueError, KeyError, TypeError):
        # Its manifest and sizes are as they should be, so that it would pass for a cached table. Another
        # process may have replaced it by a whole one.
        with suppress(OSError):
            if folder.stat().st_ino == number:
                shutil.rmtree(folder)
        return None
    return freeze(table)


def _opened(folder: Path, manifest: Mapping[str, Any]) -> Table:
    """Return the table of a folder, memory-mapped; raise ValueError, KeyError or TypeError if damaged."""
    parts = {}
    for name, part in manifest["parts"].items():
        parts[name] = _array(folder / f"{name}.npy", mapped=part["bytes"] >= _MAPPED_FROM_BYTES)
        # Refuse an array whose dtype or shape differs; manifests of older versions do not state these.
        form = _form(parts[name])
        if part.get("form", form) != form:
            raise ValueError(f"{folder}: damaged")
    X = _matrix(parts, "X", manifest["shape"])
    X_test = _matrix(parts, "X_test", manifest["shape_test"]) if "y_test" in parts else None
    # Manifests of older versions have no notes or cautions.
    said = {name: tuple(manifest.get(name, ())) for name in ("notes", "cautions")}
    return Table(X, parts["y"], tuple(manifest["classes"]), X_test, parts.get("y_test"), **said)


def _is_checked(folder: Path, manifest: Mapping[str, Any]) -> bool:
    """Return whether a large table has not changed since its fingerprint was last checked."""
    try:
        return (folder / _CHECKED).read_text() == _states(folder, manifest)
    except OSError:
        return False


def _remember_checked(folder: Path, manifest: Mapping[str, Any]) -> None:
    parts = manifest["parts"]
    with suppress(OSError):
        if sum(part["bytes"] for part in parts.values()) >= _REMEMBERED_FROM_BYTES and all(
            is_settled(folder / f"{name}.npy") for name in parts
        ):
            (folder / _CHECKED).write_text(_states(folder, manifest))


def _states(folder: Path, manifest: Mapping[str, Any]) -> str:
    return json.dumps({name: file_state(folder / f"{name}.npy") for name in sorted(manifest["parts"])})


def _array(path: Path, *, mapped: bool) -> npt.NDArray[Any]:
    mode: Literal["r"] | None = "r" if mapped else None
    try:
        # Return a plain array instead of a memmap, so that Numba compiles functions for one type only.
        return np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False))
    except (OSError, MemoryError):
        raise
    except Exception as error:
        # numpy evaluates the header as a Python literal, so a damaged one may raise any exception.
        raise ValueError(f"{path}: damaged") from error


def _form(array: npt.NDArray[Any]) -> list[Any]:
    """Return the dtype and the shape of an array as a JSON list."""
    return [array.dtype.str, *array.shape]


def _matrix(parts: Mapping[str, npt.NDArray[Any]], name: str, shape: list[int]) -> Any:
    if f"{name}_dense" in parts:
        return parts[f"{name}_dense"]
    data, indices, indptr = (parts[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return csr_of(data, indices, indptr, (shape[0], shape[1]))


def _save(path: Path, array: npt.NDArray[Any]) -> None:
    """Write an ``.npy`` file in steps, since the array may be larger than memory."""
    if linked(array, path):
        return
    with path.open("wb") as file:
        header = np.lib.format.header_data_from_array_1_0(np.ascontiguousarray(array))
        np.lib.format.write_array_header_1_0(file, header)
        for step in steps(array):
            file.write(step)
