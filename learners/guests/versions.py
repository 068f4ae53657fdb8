"""Tell the versions of the packages that a learner uses; that of a local module is a hash of its code.

A module is local if it is not in a folder of Python or of installed packages. Packages that are installed in
editable form are local too.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
import json
import os
import struct
import sys
import sysconfig
from collections.abc import Iterable
from importlib import metadata
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

# Packages whose versions are not part of a learner's key.
SHARED = {"numpy", "scipy", "singlepass"}

_OF_PYTHON = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
_OF_PACKAGES = {"site-packages", "dist-packages"}


class _Version(NamedTuple):
    text: str
    # The local modules that have been imported, by name. Reloading one gives it another object.
    specs: dict[str, ModuleSpec]


_versions: dict[frozenset[str], _Version] = {}


def version_of(names: Iterable[str], *, again: bool = False) -> str:
    """Return the packages of top-level modules and their versions, as text.

    For local modules these are hashes of all their Python files; local modules that they import are added.
    Files are read when a module was reloaded since the last call, or `again`. Raise ValueError, with one
    line, if a file cannot be read, or if it has changed since it was imported: the hash must not be that of
    other code. After a change a single module may be reloaded. If there are several, Python must be
    restarted, because one may still have what it imported from another.
    """
    names = frozenset(names)
    known = _versions.get(names)
    if not again and known is not None and all(_spec(name) is spec for name, spec in known.specs.items()):
        return known.text
    try:
        found = _read(names)
    except OSError as error:
        raise ValueError(f"{error.filename}: cannot be read ({error.strerror})") from None
    if known is None:
        changed = [name for name, spec in found.specs.items() if _is_older(spec)]
    else:
        old = [name for name, spec in found.specs.items() if known.specs.get(name) is spec]
        reloaded = len(found.specs) == 1 and not old
        changed = [] if known.text == found.text or reloaded else sorted(found.specs)
    if changed:
        cure = f" or importlib.reload({changed[0]})" if len(found.specs) == 1 else ""
        raise ValueError(
            f"files of {', '.join(changed)} have changed since they were imported: restart Python{cure}"
        )
    _versions[names] = found
    return found.text


def imports_of(source: str | bytes) -> frozenset[str]:
    """Return the top-level modules that Python code imports, except those of Python and of this package."""
    try:
        return _imports_of(source) - sys.stdlib_module_names - SHARED - {"__main__"}
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return frozenset()


@functools.lru_cache(maxsize=4096)
def _imports_of(source: str | bytes) -> frozenset[str]:
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
    return frozenset(name.partition(".")[0] for name in found)


def is_local(name: str) -> bool:
    """Return whether a top-level module is here, but not as part of Python or of an installed package."""
    return name not in sys.stdlib_module_names | SHARED and bool(_local_files(name))


def _read(names: frozenset[str]) -> _Version:
    waiting = {name for name in names if is_local(name)}
    texts = {_installed(name) for name in names - waiting}
    specs: dict[str, ModuleSpec] = {}
    done: set[str] = set()
    while waiting:
        top = waiting.pop()
        done.add(top)
        contents = {place: path.read_bytes() for place, path in _local_files(top).items()}
        texts.add(f"{top} {_digest(contents)[:16]}")
        imports = frozenset[str]().union(*map(imports_of, contents.values()))
        waiting |= {name for name in imports - done if is_local(name)}
        loaded = [name for name in list(sys.modules) if name == top or name.startswith(f"{top}.")]
        specs |= {name: spec for name in loaded if (spec := _spec(name))}
    return _Version(", ".join(sorted(texts)), specs)


def _digest(contents: dict[str, bytes]) -> str:
    hashes = {place: hashlib.sha256(content).hexdigest() for place, content in contents.items()}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    return hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()


def _is_older(spec: ModuleSpec) -> bool:
    """Return whether a module's file was written after Python compiled it into the module's .pyc file."""
    if sys.dont_write_bytecode or type(spec.loader) is not SourceFileLoader or not spec.cached:
        return False
    try:
        header, status = Path(spec.cached).read_bytes()[:16], os.stat(spec.origin or "")
        # If Python may not write there, the .pyc file can be that of an earlier import.
        written = os.access(Path(spec.cached).parent, os.W_OK)
        flags, seconds, size = struct.unpack("<4x3I", header)
    except (OSError, struct.error):
        return False
    state = int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF
    return written and flags == 0 and (seconds, size) != state


def _spec(name: str) -> Any:
    return getattr(sys.modules.get(name), "__spec__", None)


def _local_files(name: str) -> dict[str, Path]:
    """Return the file of a local top-level module, or all Python files of a package, by their place in it."""
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError):  # ValueError: a module that was not imported from a file
        spec = None
    if spec is None:
        return {}
    tops = [Path(place) for place in spec.submodule_search_locations or [spec.origin or ""]]
    if any(map(_is_installed, tops)):
        return {}
    if spec.submodule_search_locations is None:
        return {"": tops[0]} if tops[0].is_file() else {}
    found: dict[str, Path] = {}
    for top in tops:
        for folder, folders, files in os.walk(top):
            # Leave out files that cannot be imported, such as those in .ipynb_checkpoints, and environments.
            folders[:] = [
                each
                for each in folders
                if each.isidentifier() and not Path(folder, each, "pyvenv.cfg").exists()
            ]
            paths = [Path(folder, file) for file in files if file.endswith(".py")]
            found |= {path.relative_to(top).as_posix(): path for path in paths if path.is_file()}
    return found


def _is_installed(place: Path) -> bool:
    """Return whether a place is in a folder of Python or of installed packages."""
    return not _OF_PACKAGES.isdisjoint(place.parts) or any(map(place.is_relative_to, _OF_PYTHON))


@functools.cache
def _installed(name: str) -> str:
    """Return the installed package of a top-level module and its version, or else the module's name."""
    for package in _distributions().get(name, ()):
        return f"{package} {metadata.version(package)}"
    return name


@functools.cache
def _distributions() -> dict[str, list[str]]:
    """Return the packages that install a module, by the module's name."""
    return {name: sorted(set(packages)) for name, packages in metadata.packages_distributions().items()}
