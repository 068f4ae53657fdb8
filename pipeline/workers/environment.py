"""Describe the package versions and the machine of a process, to compare workers with this process."""

from __future__ import annotations

import functools
import os
import platform
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

import numba

from .. import data
from ..code import code_digest

# Results depend on the packages in COMPARED, so their versions must match (for singlepass: the digest of its
# code). Versions of the other packages are only reported.
COMPARED = ("singlepass", "numba", "numpy", "scipy", "python")
_TOLD = ("scikit-learn", "dask", "distributed", "pandas", "pyarrow")


@dataclass(frozen=True)
class Environment:
    """The package versions and the machine of a process that runs cells."""

    # Version by package name, and of "python"; None if a package is missing.
    versions: dict[str, str | None]
    # Digest of this package's source code, because in an editable install it changes without a new version.
    code: str
    platform: str
    cpu: str
    host: str = field(compare=False)
    pid: int = field(compare=False)
    # Cache folder of the process, in which it finds data tables.
    cache: str = field(compare=False)

    def shown(self, name: str) -> str:
        """Return a package's version as text for users; for this package also the digest of its code."""
        version = self.versions[name] or "missing"
        return f"{version} ({self.code[:8]})" if name == "singlepass" else version


def this_environment() -> Environment:
    """Return the package versions and the machine of this process."""
    versions = {name: _version(name) for name in ("singlepass", "numba", "numpy", "scipy", *_TOLD)}
    # On a worker, compiled learners fail with this setting.
    if numba.config.DISABLE_JIT:
        versions["numba"] = f"{versions['numba']} (NUMBA_DISABLE_JIT)"
    versions["python"] = platform.python_version()
    return Environment(
        versions,
        code_digest(),
        platform.platform(),
        _cpu(),
        socket.gethostname(),
        os.getpid(),
        str(data.cache_folder()),
    )


def differences(here: Environment, there: Environment) -> list[tuple[str, str, str]]:
    """Return (package, version here, version there) for each difference that can change results."""
    names = [
        name for name in COMPARED if name != "singlepass" and here.versions[name] != there.versions[name]
    ]
    if here.code != there.code:
        names.insert(0, "singlepass")
    return [(name, here.shown(name), there.shown(name)) for name in names]


def table_of(here: Environment, others: Mapping[str, list[tuple[str, str, str]] | str]) -> str:
    """Return a text table that shows how the versions of workers differ from those of this process.

    `others` has the `differences` of each worker, or a text why its versions are unknown, by its address.
    """
    rows = [("worker", "", "here", "there")]
    for address, found in others.items():
        if isinstance(found, str):
            rows.append((address, "singlepass", here.shown("singlepass"), found))
        else:
            rows += [(address, *each) for each in found]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows
    )


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


@functools.cache
def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
