"""Make a process look as if it ran on another machine, by the text of a ``sitecustomize.py`` file.

Python runs such a file, found in a folder of ``PYTHONPATH``, before anything else, also in processes that a
nanny starts. The fork server runs it in a fork, except when the imports themselves differ.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import platformdirs

from .processes import NEW_INTERPRETER

_WITHOUT = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == {package!r}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""
_OTHER_VERSION = """
import importlib.metadata
import {package}

true = importlib.metadata.version
importlib.metadata.version = lambda name: {version!r} if name == {package!r} else true(name)
{package}.__version__ = {version!r}
"""
_OTHER_FILE = """
import builtins, functools, io, os

def elsewhere(function):
    @functools.wraps(function)
    def call(path, *arguments, **more):
        if isinstance(path, (str, os.PathLike)) and os.path.abspath(os.fspath(path)) == {path!r}:
            path = {instead!r}
        return function(path, *arguments, **more)
    return call

builtins.open = io.open = elsewhere(io.open)
for name in ("open", "stat", "lstat"):
    setattr(os, name, elsewhere(getattr(os, name)))
"""
_FULL_DISK = """
import errno, os

def full(function):
    def call(path, *arguments, **more):
        if isinstance(path, (str, os.PathLike)) and os.fspath(path).startswith({folder!r}):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), os.fspath(path))
        return function(path, *arguments, **more)
    return call

os.mkdir = full(os.mkdir)
"""


def with_full_disk(folder: Path) -> dict[str, str]:
    """Return the environment of a process whose cache is empty and on a full disk."""
    cache = folder / "cache"
    return {**_customised(folder, _FULL_DISK.format(folder=str(cache))), "SINGLEPASS_CACHE": str(cache)}


def without(folder: Path, package: str) -> dict[str, str]:
    """Return the environment of a process in which a package cannot be imported; `folder` must be new."""
    return {**_customised(folder, _WITHOUT.format(package=package)), NEW_INTERPRETER: "1"}


def with_version(folder: Path, package: str, version: str) -> dict[str, str]:
    """Return the environment of a process in which a package reports another version."""
    return _customised(folder, _OTHER_VERSION.format(package=package, version=version))


def with_file(folder: Path, path: Path, instead: Path) -> dict[str, str]:
    """Return the environment of a process that finds `instead` (none if it is missing) at `path`."""
    return _customised(folder, _OTHER_FILE.format(path=str(path), instead=str(instead)))


def with_code(folder: Path, module: str, line: str) -> dict[str, str]:
    """Return the environment of a process that runs a copy of this checkout with one more line.

    `folder` must be new. `module` is a file's path in the checkout; `line` is appended to it.
    """
    checkout = Path(__file__).parents[2]
    for top in ("learners", "pipeline", "workflows"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(checkout / top, folder / "singlepass" / top, ignore=ignored)
    with (folder / "singlepass" / module).open("a") as file:
        file.write(f"{line}\n")
    return {"PYTHONPATH": str(folder), NEW_INTERPRETER: "1"}


def with_cache(folder: Path) -> dict[str, str]:
    """Return the environment of a process with a separate cache that contains only compiled loops."""
    loops = Path(os.environ.get("SINGLEPASS_CACHE") or platformdirs.user_cache_dir()) / "singlepass" / "numba"
    loops.mkdir(parents=True, exist_ok=True)
    (folder / "singlepass").mkdir(parents=True)
    (folder / "singlepass" / "numba").symlink_to(loops)
    return {"SINGLEPASS_CACHE": str(folder)}


def _customised(folder: Path, text: str) -> dict[str, str]:
    folder.mkdir(parents=True)
    (folder / "sitecustomize.py").write_text(text)
    return {"PYTHONPATH": str(folder)}
