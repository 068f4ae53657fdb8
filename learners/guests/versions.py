"""Tell the versions of the packages that a learner uses; that of a local module is a hash of its code.

A module is local if it is not in a folder of Python or of installed packages. Packages that are installed in
editable form are local too, unless they have no __init__.py and setuptools gives them no folder.
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
from collections.abc import Iterable, Set
from importlib import metadata
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from typing import NamedTuple
from zipimport import zipimporter

# Packages whose versions are not part of a learner's key.
SHARED = {"numpy", "scipy", "singlepass"}

_OF_PYTHON = tuple(Path(sysconfig.get_path(name)) for name in ("stdlib", "platstdlib"))
_OF_PACKAGES = {"site-packages", "dist-packages"}
_IMPORTS = ast.Import | ast.ImportFrom


class _Version(NamedTuple):
    text: str
    # The local top-level modules, and which of their modules were loaded: see `_loaded`.
    local: frozenset[str]
    loaded: dict[str, ModuleSpec]


_versions: dict[frozenset[str], _Version] = {}
# For each loaded local module: its spec, of which a reload makes another, and the hash of its file.
_seen: dict[str, tuple[ModuleSpec, str]] = {}
# For each loaded local module that was edited and reloaded: its spec, and those of all modules loaded when
# this was noticed.
_edited: dict[str, tuple[ModuleSpec, dict[str, ModuleSpec | None]]] = {}


def version_of(names: Iterable[str], *, again: bool = False) -> str:
    """Return the packages of top-level modules and their versions, as text.

    For local modules these are hashes of all their Python files; local modules that they import are added.
    Files are read when a module was loaded or reloaded since the last call, or `again`. Raise ValueError,
    with one line, if a file cannot be read, or if the loaded code may not be that of the file.
    """
    names = frozenset(names)
    known = _versions.get(names)
    if again or known is None or not _is_same(known.loaded, _loaded(known.local)):
        try:
            known = _versions[names] = _read(names)
        except OSError as error:
            raise ValueError(f"{error.filename}: cannot be read ({error.strerror})") from None
    return known.text


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


def needed_by(source: str | bytes) -> frozenset[str]:
    """Return those of `imports_of` that are imported at the top of a file, not within other statements."""
    body = ast.parse(source).body
    return imports_of("\n".join(ast.unparse(each) for each in body if isinstance(each, _IMPORTS)))


def is_local(name: str) -> bool:
    """Return whether a top-level module is here, but not as part of Python or of an installed package."""
    return name not in sys.stdlib_module_names | SHARED and bool(_local_files(name))


def is_here(name: str) -> bool:
    """Return whether a top-level module can be imported."""
    return _spec_of(name) is not None


def _read(names: frozenset[str]) -> _Version:
    waiting = {name for name in names if is_local(name)}
    texts = {_installed(name) for name in names - waiting}
    done: set[str] = set()
    while waiting:
        top = waiting.pop()
        done.add(top)
        contents = {place: path.read_bytes() for place, path in _local_files(top).items()}
        texts.add(f"{top} {_digest(contents)[:16]}")
        imports = frozenset[str]().union(*map(imports_of, contents.values()))
        waiting |= {name for name in imports - done if is_local(name)}
    loaded = _loaded(done)
    _note(loaded)
    return _Version(", ".join(sorted(texts)), frozenset(done), loaded)


def _loaded(tops: Set[str]) -> dict[str, ModuleSpec]:
    """Return the specs of the loaded modules of some top-level modules, by name."""
    names = [name for name in list(sys.modules) if name.partition(".")[0] in tops] if tops else []
    specs = ((name, getattr(sys.modules.get(name), "__spec__", None)) for name in names)
    return {name: spec for name, spec in specs if spec is not None}


def _is_same(one: dict[str, ModuleSpec], two: dict[str, ModuleSpec]) -> bool:
    return one.keys() == two.keys() and all(one[name] is two[name] for name in one)


def _note(loaded: dict[str, ModuleSpec]) -> None:
    """Note the files of loaded modules in `_seen`; raise ValueError if code may be older than its file.

    A single module may be reloaded after an edit. Others that were loaded before may still have what they
    imported from it.
    """
    now = {}
    for name, spec in loaded.items():
        file = spec.origin or ""
        now[name] = spec, hashlib.sha256(Path(file).read_bytes()).hexdigest() if file.endswith(".py") else ""
        before = _seen.get(name)
        edited = before is not None and before[1] != now[name][1]
        kept = before is not None and before[0] is spec
        if (edited and kept) or (not kept and _is_older(spec)):
            raise ValueError(f"{file} has changed since {name} was imported: restart Python")
        noticed, then = _edited.get(name, (None, {}))
        if edited and noticed is not spec:
            modules = list(sys.modules.items())
            then = {other: getattr(module, "__spec__", None) for other, module in modules}
            _edited[name] = spec, then
        if old := [other for other in loaded if other != name and then.get(other) is loaded[other]]:
            problem = f"was edited and reloaded, but {old[0]} may have its old values"
            raise ValueError(f"{file} {problem}: restart Python")
    _seen.update(now)


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


def _spec_of(name: str) -> ModuleSpec | None:
    try:
        return importlib.util.find_spec(name)
    except (ImportError, ValueError):  # ValueError: a module that was not imported from a file
        return None


def _local_files(name: str) -> dict[str, Path]:
    """Return the Python files of a local top-level module or package, by their path relative to it."""
    spec = _spec_of(name)
    if spec is None or isinstance(spec.loader, zipimporter):
        return {}
    places = spec.submodule_search_locations
    tops = [Path(place) for place in places or [spec.origin or ""] if not _is_installed(Path(place))]
    if places is None:
        return {"": tops[0]} if tops and tops[0].suffix == ".py" else {}
    found: dict[str, Path] = {}
    walked = set()
    for top in tops:
        for folder, folders, files in os.walk(top, followlinks=True):
            if (real := os.path.realpath(folder)) in walked:
                folders.clear()
                continue
            walked.add(real)
            folders[:] = [each for each in sorted(folders) if _is_part(Path(folder, each), top)]
            paths = [Path(folder, file) for file in files if file.endswith(".py")]
            # Of the folders of a package without __init__.py, Python imports a file from the first.
            found = {path.relative_to(top).as_posix(): path for path in paths if os.path.isfile(path)} | found
    return found


def _is_part(folder: Path, package: Path) -> bool:
    """Return whether a folder within a package is walked, to find Python files of the package."""
    # Leave out files that cannot be imported, such as those in .ipynb_checkpoints, and environments.
    if not folder.name.isidentifier() or os.path.exists(folder / "pyvenv.cfg"):
        return False
    # Links can lead to large folders of data, or to a folder that contains the package.
    return not folder.is_symlink() or (
        any(folder.glob("*.py")) and not package.resolve().is_relative_to(folder.resolve())
    )


def _is_installed(place: Path) -> bool:
    """Return whether a place is in a folder of Python or of installed packages."""
    return (
        not _OF_PACKAGES.isdisjoint(place.parts)
        or any(map(place.is_relative_to, _OF_PYTHON))
        # `pip install --target` installs into any folder, which may have modules of the user too.
        or (any(place.parent.glob("*.dist-info")) and _is_listed(place))
    )


def _is_listed(place: Path) -> bool:
    """Return whether a package that is installed in the folder of a top-level module lists the module."""
    packages = _distributions().get(place.name.partition(".")[0], ())
    folders = [metadata.distribution(each).locate_file("") for each in packages]
    return place.parent.resolve() in [Path(str(each)).resolve() for each in folders]


@functools.cache
def _installed(name: str) -> str:
    """Return the package of a top-level module that is installed, and its version, or a hash of its file."""
    for package in _distributions().get(name, ()):
        return f"{package} {metadata.version(package)}"
    spec = _spec_of(name)
    if spec is None or not os.path.isfile(spec.origin or ""):
        return name
    return f"{name} {hashlib.sha256(Path(spec.origin or '').read_bytes()).hexdigest()[:16]}"


@functools.cache
def _distributions() -> dict[str, list[str]]:
    """Return the packages that install a module, by the module's name."""
    return {name: sorted(set(packages)) for name, packages in metadata.packages_distributions().items()}
