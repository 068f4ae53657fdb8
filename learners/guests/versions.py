"""Tell the versions of the packages that a learner uses; that of a local module is a hash of its code.

A local module belongs to no installed distribution, or to an editable one.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import hashlib
import importlib.util
import json
import os
import struct
import sys
from collections.abc import Iterable
from importlib import metadata
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import Any, NamedTuple

# Packages whose versions are not part of a learner's key.
SHARED = {"numpy", "scipy", "singlepass"}

_IMPORT = ast.Import | ast.ImportFrom


class _Version(NamedTuple):
    text: str
    # The local modules that were imported, by name. Importing or reloading one again makes another object.
    specs: dict[str, ModuleSpec]


_versions: dict[frozenset[str], _Version] = {}
# For each imported local module: how it was imported, and the hash of its file.
_imported: dict[str, tuple[ModuleSpec, str]] = {}


def version_of(names: Iterable[str], *, again: bool = False) -> str:
    """Return the packages of top-level modules and their versions, as text.

    For local modules these are hashes of all their Python files; local modules that they import are added.
    Files are read when modules were imported since the last call, or `again`. Raise ValueError, with one
    line, if a file has changed since it was imported, because the hash must not be of other code.
    """
    names = frozenset(names)
    known = _versions.get(names)
    if again or known is None or any(_spec(name) is not spec for name, spec in known.specs.items()):
        known = _versions[names] = _read(names)
    return known.text


def imports_of(source: str | bytes) -> frozenset[str]:
    """Return the top-level modules that Python code imports, except those of Python and of this package."""
    try:
        return _imports_of(source) - sys.stdlib_module_names - SHARED - {"__main__"}
    except (SyntaxError, ValueError):
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


def missing_imports(source: bytes) -> list[str]:
    """Return the modules that code imports but that no installed package provides, sorted."""
    body = ast.parse(source).body
    needed = set().union(*(imports_of(ast.unparse(each)) for each in body if isinstance(each, _IMPORT)))
    return sorted(
        name for name in imports_of(source) if is_local(name) or (name in needed and _found(name) is None)
    )


def is_local(name: str) -> bool:
    """Return whether a top-level module is here, but not as part of Python or of an installed package."""
    return name not in sys.stdlib_module_names | SHARED and not _installed(name) and bool(_files(name))


def _read(names: frozenset[str]) -> _Version:
    local = {name for name in names if is_local(name)}
    texts = {_installed(name) or name for name in names - local}
    specs: dict[str, ModuleSpec] = {}
    waiting, done = set(local), set()
    while waiting:
        top = waiting.pop()
        done.add(top)
        contents = {place: path.read_bytes() for place, path in _files(top).items()}
        texts.add(f"{top} {_digest(contents)[:16]}")
        imports = frozenset[str]().union(*map(imports_of, contents.values()))
        waiting |= {name for name in imports - done if is_local(name)}
        specs |= {name: spec for name in list(sys.modules) if _within(name, top) and (spec := _spec(name))}
    _remember(specs)
    return _Version(", ".join(sorted(texts)), specs)


def _digest(contents: dict[str, bytes]) -> str:
    hashes = {place: hashlib.sha256(content).hexdigest() for place, content in contents.items()}
    if len(hashes) == 1:
        return next(iter(hashes.values()))
    return hashlib.sha256(json.dumps(hashes, sort_keys=True).encode()).hexdigest()


def _remember(specs: dict[str, ModuleSpec]) -> None:
    """Store the state of imported modules' files; raise ValueError if one differs from what was imported."""
    now = {name: (spec, _hash_of(spec)) for name, spec in specs.items()}
    kept = [name for name in now if name in _imported and _imported[name][0] is now[name][0]]
    changed = [name for name in now if name in _imported and _imported[name][1] != now[name][1]]
    # A module that was not imported again may still use what it once imported from a changed one.
    stale = [(name, name if name in kept else kept[0]) for name in changed if kept]
    stale += [(name, name) for name, spec in specs.items() if name not in kept and _differs(spec)]
    for name, old in stale[:1]:
        raise ValueError(
            f"{specs[name].origin} has changed since {old!r} was imported: restart Python, or "
            f"importlib.reload({old})"
        )
    _imported.update(now)


def _hash_of(spec: ModuleSpec) -> str:
    try:
        return hashlib.sha256(Path(spec.origin or "").read_bytes()).hexdigest()
    except OSError:  # a folder without __init__.py has no file
        return ""


def _differs(spec: ModuleSpec) -> bool:
    """Return whether a module's file is not the one that Python compiled into its .pyc file."""
    if sys.dont_write_bytecode or type(spec.loader) is not SourceFileLoader or not spec.cached:
        return False
    try:
        header, status = Path(spec.cached).read_bytes()[:16], os.stat(spec.origin or "")
        # Python may have imported a newer file without writing the .pyc file.
        written = os.access(Path(spec.cached).parent, os.W_OK)
        flags, seconds, size = struct.unpack("<4x3I", header)
    except (OSError, struct.error):
        return False
    state = int(status.st_mtime) & 0xFFFFFFFF, status.st_size & 0xFFFFFFFF
    return written and flags == 0 and (seconds, size) != state


def _spec(name: str) -> Any:
    return getattr(sys.modules.get(name), "__spec__", None)


def _within(name: str, top: str) -> bool:
    return name == top or name.startswith(f"{top}.")


def _found(name: str) -> ModuleSpec | None:
    with contextlib.suppress(
        ImportError, ValueError
    ):  # ValueError: a module that was not imported from a file
        return importlib.util.find_spec(name)
    return None


def _files(name: str) -> dict[str, Path]:
    """Return the file of a top-level module, or all Python files of a package, by their place in it."""
    spec = _found(name)
    if spec is None:
        return {}
    if spec.submodule_search_locations is None:
        path = Path(spec.origin or "")
        return {"": path} if path.is_file() else {}
    found = {}
    for folder in map(Path, spec.submodule_search_locations):
        for path in folder.rglob("*.py"):
            place = path.relative_to(folder)
            # Leave out files that cannot be imported, as those in .ipynb_checkpoints.
            if all(part.isidentifier() for part in place.with_suffix("").parts):
                found[place.as_posix()] = path
    return found


@functools.cache
def _installed(name: str) -> str:
    """Return the installed package of a top-level module, with its version; "" if it is local."""
    spec = _found(name)
    places = [*(spec.submodule_search_locations or ()), spec.origin or ""] if spec else []
    for package in _distributions().get(name, ()):
        here = metadata.distribution(package)
        folder = Path(str(here.locate_file(""))).resolve()
        # A user's own module can have the name of one that is installed.
        inside = not places or Path(places[0]).resolve().is_relative_to(folder)
        if name in SHARED or (inside and not _editable(package)):
            return f"{package} {here.version}"
    return ""


def _editable(package: str) -> bool:
    """Return whether a package is installed from a folder that the user may edit."""
    # In that folder, Python finds another description of the package first.
    said = (each.read_text("direct_url.json") for each in metadata.distributions(name=package))
    return any(json.loads(text).get("dir_info", {}).get("editable") for text in said if text)


@functools.cache
def _distributions() -> dict[str, list[str]]:
    """Return the packages that install a module, by the module's name."""
    return {name: sorted(set(packages)) for name, packages in metadata.packages_distributions().items()}
