"""Make a certificate authority for a test, and certificates for a cluster."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def openssl() -> str | None:
    """Return the path of openssl, or None if it is not installed."""
    return shutil.which("openssl")


def make_authority(folder: Path) -> dict[str, str]:
    """Make an authority and one certificate for scheduler, workers and client; return Dask's settings.

    `folder` must be new. The settings are environment variables ``DASK_DISTRIBUTED__COMM__…`` of a process
    that takes part.
    """
    folder.mkdir()
    program = openssl()
    assert program is not None

    def run(*arguments: str) -> None:
        subprocess.run([program, *arguments], cwd=folder, check=True, capture_output=True, timeout=60)

    new = ["req", "-newkey", "rsa:2048", "-nodes"]
    run(*new, "-x509", "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem")
    run(*new, "-subj", "/CN=127.0.0.1", "-keyout", "own.key", "-out", "own.csr")
    signed_by = ["-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial"]
    run("x509", "-req", "-in", "own.csr", *signed_by, "-days", "2", "-out", "own.pem")
    settings = {"TLS__CA_FILE": folder / "ca.pem", "REQUIRE_ENCRYPTION": True}
    for role in ("CLIENT", "SCHEDULER", "WORKER"):
        settings[f"TLS__{role}__CERT"] = folder / "own.pem"
        settings[f"TLS__{role}__KEY"] = folder / "own.key"
    return {f"DASK_DISTRIBUTED__COMM__{name}": str(value) for name, value in settings.items()}
