"""What computes: versions, code and processor of a process, and how those of two processes differ."""

from __future__ import annotations

import functools
import os
import platform
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from .. import data
from ..code import code_digest

# Those that decide outcomes are compared; the others are told.
COMPARED = ("singlepass", "numba", "numpy", "scipy", "python")
_TOLD = ("scikit-learn", "dask", "distributed", "pandas", "pyarrow")


@dataclass(frozen=True)
class Environment:
    """What a process computes with.

    Attributes
    ----------
    versions : dict of str to str or None
        Of packages and of Python, by name; None where one is missing.
    code : str
        Digest of this package's own sources: an editable install has them change under one version.
    platform, cpu : str
    host : str
        Of the machine.
    pid : int
    cache : str
        Folder of its cache: processes of one host that share it share its tables.
    """

    versions: dict[str, str | None]
    code: str
    platform: str
    cpu: str
    host: str = field(compare=False)
    pid: int = field(compare=False)
    cache: str = field(compare=False)

    @property
    def place(self) -> tuple[str, str]:
        """What processes share that share tables."""
        return self.host, self.cache

    def shown(self, name: str) -> str:
        """Return a version as a table shows it; of this package with the digest of its code."""
        version = self.versions[name] or "missing"
        return f"{version} ({self.code[:8]})" if name == "singlepass" else version


def this_environment() -> Environment:
    """Return what this process computes with."""
    versions = {name: _version(name) for name in ("singlepass", "numba", "numpy", "scipy", *_TOLD)}
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
    """Return what differs of what decides outcomes: name, here, there.

    The version of this package is a label; its code is what is compared.
    """
    names = [
        name for name in COMPARED if name != "singlepass" and here.versions[name] != there.versions[name]
    ]
    if here.code != there.code:
        names.insert(0, "singlepass")
    return [(name, here.shown(name), there.shown(name)) for name in names]


def table_of(here: Environment, others: Mapping[str, list[tuple[str, str, str]] | str]) -> str:
    """Return lines that set side by side what differs.

    Parameters
    ----------
    here : Environment
    others : mapping of str to list of (name, here, there), or str
        By address; a text says why a worker could not be asked.
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
