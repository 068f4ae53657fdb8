"""The one way a function of this package becomes machine code, and where that code is kept.

Numba's disk cache looks at the file a function is written in, not at the files of the functions it calls, so
an edit to a row primitive would leave stale kernels behind. The cache folder is therefore named by a hash of
all sources of the package: new sources, new folder.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile
import time
from pathlib import Path

import numba
import platformdirs
from numba.core.caching import FunctionCache

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None

# Options of the primitives that kernels call once a row. LLVM keeps most of them out of line when left to
# itself, and a call with arrays (seven words each, and a reference count) costs up to a fifth of a short row.
INLINE = {"forceinline": True}

# A folder of other sources (an older version) is removed once nobody has used it for this long.
_KEEP_SECONDS = 30 * 24 * 3600


def _source_hash():
    """Return 16 hex digits that change whenever a source file of the package does."""
    root = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(str(path.relative_to(root)).encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def _remove_stale(parent, keep):
    """Remove the siblings of folder `keep` that have not been used for `_KEEP_SECONDS`."""
    oldest = time.time() - _KEEP_SECONDS
    for folder in parent.iterdir():
        with contextlib.suppress(OSError):
            if folder != keep and folder.stat().st_mtime < oldest:
                # Renamed first: of two processes only one gets it, and nobody loads from half a folder.
                doomed = Path(tempfile.mkdtemp(prefix=".removing-", dir=parent))
                folder.rename(doomed / folder.name)
                shutil.rmtree(doomed, ignore_errors=True)


def cache_folder():
    """Create and return the folder for compiled kernels of these sources.

    Returns
    -------
    pathlib.Path or None
        ``<base>/singlepass/numba/<hash>`` where the base is the environment variable ``SINGLEPASS_CACHE`` or
        else the user's cache folder; None where it cannot be written: kernels then live in memory only.
    """
    base = os.environ.get("SINGLEPASS_CACHE") or platformdirs.user_cache_dir()
    try:
        folder = Path(base).absolute() / "singlepass" / "numba" / _source_hash()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            os.utime(folder)
        _remove_stale(folder.parent, folder)
    except (OSError, RuntimeError):  # RuntimeError: no home folder
        return None
    return folder


_CACHE_FOLDER = cache_folder()


class _SharedCache(FunctionCache):
    """Numba's disk cache of one function, safe for several processes that compile at the same time.

    Numba reads the index, picks a free file name and writes both; two processes doing so at once can take the
    same name for different argument types, and the index then points at the wrong code. So one saves at a
    time. Code that cannot be saved (disk full, folder gone) is still used from memory.
    """

    def save_overload(self, sig, data):
        with contextlib.suppress(OSError), open(_CACHE_FOLDER / "lock", "ab") as lock:
            if fcntl is not None:
                with contextlib.suppress(OSError):  # a file system without locks
                    fcntl.flock(lock, fcntl.LOCK_EX)
            super().save_overload(sig, data)


def compiled(function):
    """Compile a function on first call, without the GIL, and keep the code on disk.

    No fast-math: a result must not depend on the machine's vector width. ``error_model="numpy"``: a division
    is a division, not a test and a Python exception, so that loops with divisions vectorise; kernels guard
    their own denominators. Signatures are lazy.

    Parameters
    ----------
    function : function
        Plain loops over arrays, in the subset of Python that Numba compiles.

    Returns
    -------
    numba.core.dispatcher.Dispatcher
    """
    options = {"nogil": True, "error_model": "numpy"}
    if _CACHE_FOLDER is None:
        return numba.njit(**options)(function)
    # Numba reads the setting while it decorates. It is put back at once: it belongs to the user's own code.
    users_choice = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(_CACHE_FOLDER)
    try:
        dispatcher = numba.njit(**options)(function)
        # What Numba's own cache=True does, with the class above.
        dispatcher._cache = _SharedCache(function)
        return dispatcher
    finally:
        numba.config.CACHE_DIR = users_choice
