"""Identify this package's code by a digest: in an editable install it changes without a new version."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path


@functools.cache
def code_digest() -> str:
    """Return a digest of the source files that affect results: those of learners and pipeline."""
    top = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for folder in ("learners", "pipeline"):
        for path in sorted((top / folder).rglob("*.py")):
            digest.update(path.relative_to(top).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
