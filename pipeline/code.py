"""Identify the code that runs: in an editable install it changes without a new version number."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path


@functools.cache
def code_digest() -> str:
    """Return a digest of the sources that affect results: learners and pipeline, not workflows."""
    top = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for folder in ("learners", "pipeline"):
        for path in sorted((top / folder).rglob("*.py")):
            digest.update(path.relative_to(top).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
