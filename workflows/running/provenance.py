"""What a run is made with: versions, machine, commit, fingerprints."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

_PACKAGES = (
    "singlepass",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "dask",
    "distributed",
    "pandas",
    "pyarrow",
)


def provenance(fingerprints: Mapping[str, str], command: str | None) -> dict[str, Any]:
    """Return what a run that begins now is made with.

    Parameters
    ----------
    fingerprints : mapping of str to str
        Of the data, by label of the task.
    command : str or None
        The command line that asked for the run.

    Returns
    -------
    dict
        Plain values, for JSON.
    """
    return {
        "command": command,
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "packages": {name: _version(name) for name in _PACKAGES},
        "platform": platform.platform(),
        "cpu": _cpu(),
        "git": _git_commit(),
        "fingerprints": dict(fingerprints),
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _cpu() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text(errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _git_commit() -> str | None:
    """Return the commit of the checkout this code runs from, None when it is installed."""
    checkout = Path(__file__).resolve().parents[2]
    if not (checkout / ".git").exists():
        return None
    try:
        found = subprocess.run(
            ["git", "-C", str(checkout), "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
            capture_output=True,
            text=True,
            timeout=5,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return found.stdout.strip()
