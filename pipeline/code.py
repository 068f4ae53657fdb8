"""Which code this is: an editable install has it change under one version."""

from __future__ import annotations

import functools
import hashlib
from pathlib import Path


@functools.cache
def code_digest() -> str:
    """Return a digest of the sources that outcomes depend on: of learners and pipeline, not of workflows."""
    top = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for folder in ("learners", "pipeline"):
        for path in sorted((top / folder).rglob("*.py")):
            digest.update(path.relative_to(top).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()
