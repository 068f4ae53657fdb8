"""What makes a process look as if it ran on another machine: the text of ``sitecustomize.py`` files.

Python runs such a file of a folder in ``PYTHONPATH`` before anything else, also in the processes that a nanny
starts.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import platformdirs

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


def without(folder: Path, package: str) -> dict[str, str]:
    """Return the environment of a process in which a package cannot be imported.

    Parameters
    ----------
    folder : Path
        A new one, for the file that does it.
    package : str
    """
    return _customised(folder, _WITHOUT.format(package=package))


def with_version(folder: Path, package: str, version: str) -> dict[str, str]:
    """Return the environment of a process in which a package says that it is of another version."""
    return _customised(folder, _OTHER_VERSION.format(package=package, version=version))


def with_file(folder: Path, path: Path, instead: Path) -> dict[str, str]:
    """Return the environment of a process that finds at a path what lies at another: nothing, if that is."""
    return _customised(folder, _OTHER_FILE.format(path=str(path), instead=str(instead)))


def with_code(folder: Path, module: str, line: str) -> dict[str, str]:
    """Return the environment of a process that runs a copy of this checkout with one line more.

    Parameters
    ----------
    folder : Path
        A new one, for the copy.
    module : str
        The module's file, from the checkout's folder.
    line : str
        Its new last line.
    """
    checkout = Path(__file__).parents[2]
    for top in ("learners", "pipeline", "workflows"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(checkout / top, folder / "singlepass" / top, ignore=ignored)
    with (folder / "singlepass" / module).open("a") as file:
        file.write(f"{line}\n")
    return {"PYTHONPATH": str(folder)}


def with_cache(folder: Path) -> dict[str, str]:
    """Return the environment of a process with a cache of its own that holds compiled loops alone."""
    loops = Path(os.environ.get("SINGLEPASS_CACHE") or platformdirs.user_cache_dir()) / "singlepass" / "numba"
    loops.mkdir(parents=True, exist_ok=True)
    (folder / "singlepass").mkdir(parents=True)
    (folder / "singlepass" / "numba").symlink_to(loops)
    return {"SINGLEPASS_CACHE": str(folder)}


def _customised(folder: Path, text: str) -> dict[str, str]:
    folder.mkdir(parents=True)
    (folder / "sitecustomize.py").write_text(text)
    return {"PYTHONPATH": str(folder)}
