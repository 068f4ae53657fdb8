"""Compile functions and cache the machine code on disk.

Numba's disk cache checks the file of a function, but not the files of the functions that it calls, so an edit
of a function that loops call would leave stale code of the loops behind. The cache folder is therefore named
by a hash of the learners' sources and, for a function of another package of the project, of that package's
sources. A compiled function must not call code outside these packages.

Code from outside the project is compiled in each process: functions that others define, and loops of the
project for a rule that others define.
"""

import contextlib
import functools
import hashlib
import itertools
import os
import shutil
import sys
import tempfile
import threading
import time
import uuid
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeVar

import filelock
import numba
import platformdirs
from numba import extending, types
from numba.core.caching import FunctionCache, IndexDataCacheFile

# Options of the small functions that compiled loops call for each row. Without them, LLVM inlines few of the
# functions. A call that is not inlined passes seven machine words and counts a reference for each array,
# which takes up to a fifth of the time of a short row.
INLINE = {"forceinline": True}

# Numba gives each function a wrapper for calls from C. Compiling the wrappers takes a tenth of the compile
# time, and nothing calls them.
_NO_WRAPPER = {"no_cfunc_wrapper": True}

# Counting up to this many numbers takes some tens of microseconds and keeps the GIL, because releasing the
# GIL and getting it back would take longer.
_FEW = 1 << 14

# The cache folder of an older version of the sources is removed if it was not used for this long.
_KEEP_SECONDS = 30 * 24 * 3600


# Longest wait for a cache folder's lock. A process that saves code holds the lock for milliseconds, so a
# longer wait means that the file system has no working locks.
_LOCK_SECONDS = 10.0

# Cache folders whose file system has no working locks; no lock is tried there again.
_WITHOUT_LOCKS: set[Path] = set()

# Classes that `tell_apart` has given a name, and the numbers in these names.
_TOLD_APART: weakref.WeakSet[type] = weakref.WeakSet()
_NUMBERS = itertools.count(1)
_MARK = "_told_apart_"
_TELLING = threading.Lock()

_Values = TypeVar("_Values", bound=tuple[Any, ...])

# The name of the learners' package, such as "singlepass.learners", and its folder.
_LEARNERS, _LEARNERS_FOLDER = __name__.rsplit(".", 2)[0], Path(__file__).parents[1]


def _package_of(thing: Any) -> str | None:
    """Return the project package that defines a function or class; None for other code."""
    package = ".".join(thing.__module__.split(".")[:2])
    return package if package.startswith(f"{_LEARNERS.split('.')[0]}.") else None


def tell_apart(values: _Values) -> _Values:
    """Return a tuple of arguments, after giving each rule class of others a name that no other class has.

    Numba names the code of a function after the names of its arguments' types, and takes two functions of one
    name for the same. So a rule would run the code of an earlier rule of its name. A class gets its name
    before its first call, because a call takes classes of one name for the same as well.
    """
    kind = type(values)
    if kind is not tuple and kind not in _TOLD_APART and _package_of(kind) is None:
        with _TELLING:
            if kind not in _TOLD_APART:
                kind.__name__ = f"{plain_name(kind)}{_MARK}{next(_NUMBERS)}"
                _TOLD_APART.add(kind)
    for value in values:
        if isinstance(value, tuple):
            tell_apart(value)
    return values


def plain_name(kind: type) -> str:
    """Return the name of a class without what `tell_apart` adds."""
    return kind.__name__.partition(_MARK)[0]


def _can_be_saved(kind: types.Type) -> bool:
    """Return whether code for arguments of a type is determined by the project's sources.

    A rule of a user's module is not: Numba compares its class by name only, and cannot read the index of a
    cache at all if the index names a module that is gone.
    """
    if isinstance(kind, types.BaseTuple):
        own = not isinstance(kind, types.BaseNamedTuple) or _package_of(kind.instance_class) is not None
        return own and all(map(_can_be_saved, kind))
    return isinstance(kind, types.Array | types.Number | types.Boolean | types.NoneType | types.Omitted)


def _source_hash(package: str) -> str:
    """Return 16 hex digits that change whenever a source file of the learners or of `package` changes."""
    roots = [_LEARNERS_FOLDER]
    if package != _LEARNERS:
        roots.append(Path(sys.modules[package].__path__[0]))
    digest = hashlib.sha256()
    for root in roots:
        for path in sorted(root.rglob("*.py")):
            digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _remove_stale(parent: Path, keep: Path) -> None:
    """Remove the siblings of folder `keep` that have not been used for `_KEEP_SECONDS`."""
    oldest = time.time() - _KEEP_SECONDS
    for folder in parent.iterdir():
        with contextlib.suppress(OSError):
            if folder != keep and folder.stat().st_mtime < oldest:
                # The folder is renamed first, so that only one process removes it, and no process loads code
                # from a folder that is partly removed.
                doomed = Path(tempfile.mkdtemp(prefix=".removing-", dir=parent))
                folder.rename(doomed / folder.name)
                shutil.rmtree(doomed, ignore_errors=True)


def cache_folder(package: str = _LEARNERS) -> Path | None:
    """Create and return the cache folder for the current sources of the learners and of `package`.

    It is ``<base>/singlepass/numba/<hash>``, where the base is the environment variable ``SINGLEPASS_CACHE``
    or the user's cache folder. The result is None if the folder cannot be written to; compiled code then
    lives in memory only.
    """
    base = os.environ.get("SINGLEPASS_CACHE") or platformdirs.user_cache_dir()
    try:
        folder = Path(os.path.expanduser(base)).absolute() / "singlepass" / "numba" / _source_hash(package)
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            os.utime(folder)
        _remove_stale(folder.parent, folder)
    except OSError:
        return None
    return folder


# The cache folder of a package, computed only once per process.
_folder_of = functools.cache(cache_folder)


class _Index(IndexDataCacheFile):
    """The index of a cache; one that cannot be read is empty, and so is code that cannot be read."""

    def load(self, key: Any) -> Any:
        try:
            return super().load(key)
        except Exception:  # after a power loss a file can be empty; saving the code again replaces it
            return None

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # unpickling a damaged file, or types of modules that are gone, raises any error
            return {}

    def _data_name(self, number: int) -> str:
        # A random number. An index that cannot be read counts as empty, and counting from it would give new
        # code the name of a file that has other code.
        return super()._data_name(uuid.uuid4().int >> 64)


class _SharedCache(FunctionCache):
    """Numba's disk cache of one function, safe for several processes that compile at the same time.

    Numba reads the index, picks a free file name, and writes the code and the index. Two processes doing so
    at once can pick the same name for different argument types, and the index then points to the wrong code.
    So saving takes a lock. Code that cannot be saved (disk full, folder removed) is still used from memory.
    """

    def __init__(self, function: Callable[..., Any], folder: Path, nogil: bool) -> None:
        super().__init__(function)
        self._folder, self._nogil = folder, nogil
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _Index(self._cache_path, self._impl.filename_base, stamp)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # Numba's key also has hashes of the function's bytecode and closure. The closure's hash differs
        # between processes if the closure holds functions. Both are left out, because the name of the cache
        # folder contains the hash of the sources. Numba's key lacks whether the GIL is released, and some
        # functions are compiled in both ways.
        return sig, codegen.magic_tuple(), self._nogil

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        return super().load_overload(sig, target_context) if all(map(_can_be_saved, sig)) else None

    def save_overload(self, sig: Any, data: Any) -> None:
        if not all(map(_can_be_saved, sig)):
            return
        with contextlib.ExitStack() as held:
            if self._folder not in _WITHOUT_LOCKS:
                # Each save creates a new lock object, so that a forked process does not inherit one.
                lock = filelock.FileLock(self._folder / "lock", timeout=_LOCK_SECONDS)
                try:
                    held.enter_context(lock)
                except (OSError, RuntimeError):  # a timeout, or a file system that does not support locks
                    _WITHOUT_LOCKS.add(self._folder)
            with contextlib.suppress(OSError):
                super().save_overload(sig, data)


def overload(
    function: Callable[..., Any], jit_options: Mapping[str, bool] = MappingProxyType({}), strict: bool = True
) -> Any:
    """Return a decorator that declares the compiled form of a Python function, as Numba's `overload` does."""
    return extending.overload(function, jit_options={**_NO_WRAPPER, **jit_options}, strict=strict)


def register_jitable(*function: Callable[..., Any], **options: bool) -> Any:
    """Let compiled functions call a Python function, as Numba's `register_jitable` does."""
    decorate = extending.register_jitable(**_NO_WRAPPER, **options)
    return decorate(*function) if function else decorate


def entry_point(dispatcher: Any, arguments: tuple[Any, ...], rest: tuple[Any, ...] | None = None) -> Any:
    """Call a compiled function, and return the callable machine code for arguments of these types.

    `rest` has the values of a variadic parameter such as ``*state``; the callable takes them as one tuple.
    Calling it directly skips Numba's choice by argument types, which takes longer than learning a short row.
    """
    dispatcher(*arguments, *(rest or ()))
    given = arguments if rest is None else (*arguments, rest)
    return dispatcher.get_overload(tuple([numba.typeof(each) for each in given]))


def compiled(function: Callable[..., Any], *, nogil: bool = True) -> Any:
    """Compile a function of plain loops over arrays on its first call, and cache the project's code on disk.

    Fast-math is off, so that results do not depend on the machine's vector width. With
    ``error_model="numpy"`` Numba does not check divisions for zero, so loops with divisions vectorize; the
    functions must avoid zero denominators themselves. A function is compiled for the argument types of its
    calls. A function of a few microseconds should keep the GIL (``nogil=False``), because getting the GIL
    back takes ten times as long.
    """
    options = {"nogil": nogil, "error_model": "numpy", **_NO_WRAPPER}
    package = _package_of(function)
    folder = _folder_of(package) if package else None
    if folder is None:
        return numba.njit(**options)(function)
    # Numba reads its setting CACHE_DIR when it decorates a function. The user's value is restored right
    # afterwards, because the setting also applies to the user's own compiled functions.
    users_choice = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(folder)
    try:
        dispatcher = numba.njit(**options)(function)
        # This does the same as Numba's option cache=True, but is safe if several processes compile at once.
        dispatcher._cache = _SharedCache(function, folder, nogil)
        return dispatcher
    finally:
        numba.config.CACHE_DIR = users_choice


def by_size(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile a loop that counts over its first argument, an array, and that keeps the GIL if it is short."""
    holding, releasing = compiled(function, nogil=False), compiled(function)
    return lambda first, *rest: (holding if first.size <= _FEW else releasing)(first, *rest)
